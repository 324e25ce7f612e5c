//! Rendering of prompt sections within a budget: the most important first, with a note on
//! omissions.

/// Assumed bytes per token. Code and English have three to four; the budget is a bound, not an
/// exact count.
const TOKEN_BYTES: usize = 4;
/// Minimum part of a section worth showing, in bytes.
const LEAST: usize = 200;

/// One titled part of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub title: String,
    pub body: String,
    /// Priority: the smaller, the longer the section stays if the budget is short. Rank 0 is never
    /// cut; rank 1 is never left out.
    pub rank: u32,
    /// True for a section that is shown whole or not at all.
    pub is_whole: bool,
}

impl Section {
    pub fn new(rank: u32, title: impl Into<String>, body: impl Into<String>) -> Section {
        Section { title: title.into(), body: body.into(), rank, is_whole: false }
    }

    /// Creates a section that is shown whole or not at all; its rank is greater than 1.
    pub fn whole(rank: u32, title: impl Into<String>, body: impl Into<String>) -> Section {
        Section { is_whole: true, ..Section::new(rank, title, body) }
    }

    fn bytes(&self) -> usize {
        self.body.len() + self.overhead()
    }

    /// Returns the bytes besides the body.
    fn overhead(&self) -> usize {
        self.title.len() + 6
    }
}

/// Estimates the number of tokens of a text.
pub(crate) fn tokens(text: &str) -> usize {
    text.len().div_ceil(TOKEN_BYTES)
}

/// Joins sections in the given order within `tokens`. If they do not fit, sections of the greatest
/// rank are cut in the middle or left out, and the text ends with their titles; of equal ranks the
/// later is cut first. Sections of rank 0 stay whole, and those of rank 1 share the room left,
/// whatever the budget. A section that is shown whole or not at all makes room for later ones.
pub fn build(sections: &[Section], tokens: usize) -> String {
    let rooms = rooms(sections, tokens * TOKEN_BYTES);
    let mut out = String::new();
    let mut missing: Vec<&str> = Vec::new();
    for (section, room) in sections.iter().zip(rooms) {
        if room.is_none_or(|room| room < section.body.len()) {
            missing.push(&section.title);
        }
        if let Some(room) = room {
            let body = cut_middle(&section.body, room);
            out += &format!("## {}\n{}\n\n", section.title, body.trim_end());
        }
    }
    if !missing.is_empty() {
        missing.sort_unstable();
        out += &format!("(Cut or left out for want of room: {}.)\n\n", missing.join("; "));
    }
    out
}

/// Returns the bytes for the body of each section; `None` for a section that is left out.
fn rooms(sections: &[Section], bytes: usize) -> Vec<Option<usize>> {
    let mut rooms = vec![None; sections.len()];
    let mut left = bytes;
    for (section, room) in sections.iter().zip(&mut rooms).filter(|(it, _)| it.rank == 0) {
        *room = Some(section.body.len());
        left = left.saturating_sub(section.bytes());
    }
    left = share(sections, left, &mut rooms);
    let mut rest: Vec<usize> = (0..sections.len()).filter(|at| sections[*at].rank > 1).collect();
    rest.sort_by_key(|at| sections[*at].rank);
    for at in rest {
        let section = &sections[at];
        let room = left.saturating_sub(section.overhead());
        if section.bytes() > left && (section.is_whole || room < LEAST) {
            continue;
        }
        rooms[at] = Some(room.min(section.body.len()));
        left = left.saturating_sub(section.bytes());
    }
    rooms
}

/// Gives sections of rank 1 equal shares plus the room that short ones leave, but at least
/// [`LEAST`] bytes. Returns the room that is left.
fn share(sections: &[Section], bytes: usize, rooms: &mut [Option<usize>]) -> usize {
    let mut core: Vec<usize> = (0..sections.len()).filter(|at| sections[*at].rank == 1).collect();
    core.sort_by_key(|at| sections[*at].bytes());
    let (mut left, count) = (bytes, core.len());
    for (done, at) in core.into_iter().enumerate() {
        let section = &sections[at];
        let fair = (left / (count - done)).saturating_sub(section.overhead());
        let room = section.body.len().min(fair.max(LEAST));
        rooms[at] = Some(room);
        left = left.saturating_sub(room + section.overhead());
    }
    left
}

/// Cuts `text` in the middle to about `limit` bytes, with a note on the omission.
pub fn cut_middle(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(limit / 2);
    let tail = text.ceil_char_boundary(text.len() - limit / 2);
    format!("{}\n[… {} bytes left out …]\n{}", &text[..head], tail - head, &text[tail..])
}
