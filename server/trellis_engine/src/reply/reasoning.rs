//! Reasoning that some models put before a reply.

/// Tags around reasoning.
const TAGS: [&str; 3] = ["think", "thinking", "reasoning"];

/// Returns a reply without the reasoning before it. Reasoning without an end leaves nothing: the
/// reply was cut off.
pub(crate) fn answer_of(text: &str) -> &str {
    let start = text.trim_start();
    for tag in TAGS {
        if start.starts_with(&format!("<{tag}>")) {
            return start.split_once(&format!("</{tag}>")).map_or("", |it| it.1);
        }
    }
    end(text).map_or(text, |end| &text[end..])
}

/// Returns the end of reasoning that began in the prompt: the first line that ends with a closing
/// tag, outside of fences and blocks.
fn end(text: &str) -> Option<usize> {
    let (mut at, mut around) = (0, Around::Nothing);
    for line in text.split_inclusive('\n') {
        at += line.len();
        if around == Around::Nothing && closes(line.trim_end()) {
            return Some(at);
        }
        around = around.after(line.trim());
    }
    None
}

/// Returns whether a line ends reasoning, and does not only quote a tag.
fn closes(line: &str) -> bool {
    let before = TAGS.iter().find_map(|tag| line.strip_suffix(&format!("</{tag}>")));
    let is_quoted = |it: &str| it.contains(['"', '\'', '`', '<']) || it.starts_with([' ', '\t']);
    before.is_some_and(|it| !is_quoted(it))
}

/// The text around a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    Block,
    /// A fence of this mark.
    Fence(char),
}

impl Around {
    fn after(self, line: &str) -> Around {
        let mark = ['`', '~'].into_iter().find(|it| line.starts_with(&it.to_string().repeat(3)));
        match (self, mark) {
            (Around::Nothing, _) if line.starts_with("<<<<<<<") => Around::Block,
            (Around::Block, _) if line.starts_with(">>>>>>>") => Around::Nothing,
            (Around::Nothing, Some(mark)) => Around::Fence(mark),
            (Around::Fence(own), Some(mark)) if own == mark => Around::Nothing,
            (around, _) => around,
        }
    }
}
