//! What a model is shown, within a budget: the most telling first, and a word on what was left out.

/// Bytes taken for one token. Code and English come to three to four; a budget is a bound, not a bill.
const TOKEN_BYTES: usize = 4;
/// The least of a section that is worth showing, in bytes.
const LEAST: usize = 200;

/// One titled part of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub title: String,
    pub body: String,
    /// The smaller, the longer it stays when room gets short.
    pub rank: u32,
}

impl Section {
    pub fn new(rank: u32, title: impl Into<String>, body: impl Into<String>) -> Section {
        Section { title: title.into(), body: body.into(), rank }
    }

    fn bytes(&self) -> usize {
        self.title.len() + self.body.len() + 6
    }
}

/// Puts sections together in the order given, within `tokens`. Where they do not fit, those of the greatest
/// rank are cut in the middle or left out, and the text ends with what was; of equal ranks the later goes first.
pub fn build(sections: &[Section], tokens: usize) -> String {
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by_key(|at| sections[*at].rank);
    let mut left = tokens * TOKEN_BYTES;
    let mut shown: Vec<Option<String>> = vec![None; sections.len()];
    let mut missing: Vec<&str> = Vec::new();
    for at in order {
        let section = &sections[at];
        let room = left.saturating_sub(section.title.len() + 6);
        if section.bytes() <= left {
            shown[at] = Some(section.body.clone());
        } else if room >= LEAST {
            shown[at] = Some(cut_middle(&section.body, room));
            missing.push(&section.title);
        } else {
            missing.push(&section.title);
            continue;
        }
        left = left.saturating_sub(section.bytes());
    }
    let mut out = String::new();
    for (section, body) in sections.iter().zip(shown) {
        if let Some(body) = body {
            out += &format!("## {}\n{}\n\n", section.title, body.trim_end());
        }
    }
    if !missing.is_empty() {
        missing.sort_unstable();
        out += &format!("(Cut or left out for want of room: {}.)\n\n", missing.join("; "));
    }
    out
}

/// `text` in at most `limit` bytes or so, with a note where something is missing.
pub(crate) fn cut_middle(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(limit / 2);
    let tail = text.ceil_char_boundary(text.len() - limit / 2);
    format!("{}\n[… {} bytes left out …]\n{}", &text[..head], tail - head, &text[tail..])
}
