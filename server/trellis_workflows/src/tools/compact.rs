//! Keeps conversations within a number of tokens: results of old calls are cut, the newest stay
//! complete.

use trellis_llm::Message;

/// Bytes counted as one token. Code and English have three to four; the budget is only a bound.
const TOKEN_BYTES: usize = 4;
/// Bytes kept of an old result.
const KEPT: usize = 200;

/// Cuts old results, oldest first, once a conversation exceeds `tokens`. Cuts down to half, so that
/// cutting is rare (providers cache a conversation by its prefix). The model's own messages stay,
/// since providers require them unchanged.
pub(super) fn shorten(messages: &mut [Message], tokens: usize) {
    let most = tokens.saturating_mul(TOKEN_BYTES);
    let mut bytes: usize = messages.iter().map(Message::bytes).sum();
    if bytes <= most {
        return;
    }
    let newest = messages.iter().rposition(|it| !it.results.is_empty()).unwrap_or(0);
    for result in messages[..newest].iter_mut().flat_map(|it| &mut it.results) {
        if bytes <= most / 2 {
            return;
        }
        let before = result.text.len();
        if let Some(text) = shortened(&result.text) {
            bytes -= before - text.len();
            result.text = text;
        }
    }
}

/// Returns the start of a text with a note on the rest; `None` if that is not shorter.
fn shortened(text: &str) -> Option<String> {
    let start = &text[..text.floor_char_boundary(KEPT)];
    let start = start.rfind('\n').map_or(start, |end| &start[..end]);
    let left = text.len() - start.len();
    let short = format!(
        "{start}\n… {left} bytes of this older result were cut; call the tool again to see them"
    );
    (short.len() < text.len()).then_some(short)
}
