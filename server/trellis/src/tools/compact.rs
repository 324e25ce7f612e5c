//! Conversations within a number of tokens: the results of old calls are cut, the newest stay whole.

use trellis_llm::Message;

/// Bytes taken for one token. Code and English come to three to four; a budget is a bound, not a bill.
const TOKEN_BYTES: usize = 4;
/// Bytes of an old result that stay.
const KEPT: usize = 200;

/// Cuts old results, the oldest first, once a conversation has more tokens than this: down to half, so that it is seldom
/// done (providers remember a conversation by its start). What the model itself said is left as it is: providers want
/// it back unchanged.
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

/// The start of a text and a word on the rest; `None` if that would not be shorter.
fn shortened(text: &str) -> Option<String> {
    let start = &text[..text.floor_char_boundary(KEPT)];
    let start = start.rfind('\n').map_or(start, |end| &start[..end]);
    let left = text.len() - start.len();
    let short = format!(
        "{start}\n… {left} bytes of this older result were cut; call the tool again to see them"
    );
    (short.len() < text.len()).then_some(short)
}
