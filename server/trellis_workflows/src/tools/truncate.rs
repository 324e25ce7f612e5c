//! Texts within a number of bytes, cut at line ends, with a note on the omitted rest.

use trellis_python::{Lines, Unit};

/// Bytes reserved for the final note.
const NOTE: usize = 240;
/// Maximum bytes shown of one line.
const LINE: usize = 2000;

/// Lines, added while there is room.
pub(super) struct Truncated {
    text: String,
    room: usize,
    left: usize,
}

impl Truncated {
    pub(super) fn new(room: usize) -> Truncated {
        Truncated { text: String::new(), room: room.saturating_sub(NOTE), left: 0 }
    }

    /// Adds a line (or several that belong together), cut if very long, unless it or an earlier one
    /// does not fit. Returns whether it was added. The first line always is.
    pub(super) fn line(&mut self, line: &str) -> bool {
        let short: Vec<String> = line.split('\n').map(|it| clipped(it, LINE + NOTE)).collect();
        let line = short.join("\n");
        let fits = self.text.is_empty() || self.text.len() + line.len() < self.room;
        if self.left > 0 || !fits {
            self.left += 1;
            return false;
        }
        self.text.push_str(&line);
        self.text.push('\n');
        true
    }

    /// Returns the text; if lines were omitted, `word` makes the final note from their number.
    pub(super) fn end(mut self, word: impl FnOnce(usize) -> String) -> String {
        match self.left {
            0 => self.text.truncate(self.text.trim_end_matches('\n').len()),
            left => self.text.push_str(&word(left)),
        }
        self.text
    }
}

/// Returns the lines of a text with their numbers from 1.
pub(super) fn lines(text: &str) -> impl ExactSizeIterator<Item = (usize, &str)> {
    let lines = Lines::of(text);
    let count = count(text);
    (0..count).map(move |it| (it + 1, &text[lines.line(it)]))
}

/// Returns the number of lines; a final line break starts no line.
pub(super) fn count(text: &str) -> usize {
    let (last, column) = Lines::of(text).position(text.len(), Unit::Utf8);
    last + usize::from(column > 0)
}

/// Returns a line with its number, cut if very long.
pub(super) fn numbered(number: usize, line: &str) -> String {
    format!("{number:>5}  {}", clipped(line, LINE))
}

/// Returns a line, or the first `most` bytes of a longer line with a note on its length.
pub(super) fn clipped(line: &str, most: usize) -> String {
    if line.len() <= most {
        return line.to_owned();
    }
    let shown = &line[..line.floor_char_boundary(most)];
    format!("{shown}… (a line of {} bytes)", line.len())
}

/// Cuts a text to a number of bytes.
pub(super) fn cut(text: String, room: usize) -> String {
    if text.len() <= room {
        return text;
    }
    if room <= NOTE {
        return text[..text.floor_char_boundary(room)].to_owned();
    }
    let most = text.floor_char_boundary(room - NOTE);
    // A single line may be longer than the available room.
    let end = text[..most].rfind('\n').filter(|it| *it > most / 2).unwrap_or(most);
    let left = text.len() - end;
    format!("{}\n… {left} more bytes were left out; ask for less at a time", &text[..end])
}

/// Returns `1 line`, `2 lines`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
