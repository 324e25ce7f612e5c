//! Local variables of frames, read from pytest's rendering of a failure.

use std::collections::BTreeMap;

use crate::failures::{divided_entries, place};

/// Maximum length of a value, in characters.
const VALUE: usize = 160;

/// A local variable.
pub(super) struct Local {
    pub(super) name: String,
    /// Its `repr`, cut.
    pub(super) value: String,
}

/// Reads the local variables of each frame from pytest's rendering, by path and line.
pub(super) fn locals(traceback: &str) -> BTreeMap<(String, u32), Vec<Local>> {
    let mut out = BTreeMap::new();
    for entry in divided_entries(traceback) {
        let found = entry.iter().rev().find_map(|it| Some((place(it)?, it)));
        let Some((path, text)) = found else { continue };
        let number = text[path.len() + 1..].split(':').next().and_then(|it| it.parse().ok());
        let Some(number) = number else { continue };
        let after = entry.iter().skip_while(|it| !it.starts_with('>')).skip(1);
        let of_frame: Vec<Local> = after.filter_map(|it| local(it)).collect();
        if !of_frame.is_empty() {
            out.insert((path.to_owned(), number), of_frame);
        }
    }
    out
}

/// Reads a line `name      = value`; `None` for one that says nothing about the value.
fn local(line: &str) -> Option<Local> {
    let (name, value) = line.split_once(" = ")?;
    let name = name.trim_end();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    // Addresses, numbers of mocks and temporary folders differ from run to run.
    let is_new_each_time = [" at 0x", " id='", "/tmp/"].iter().any(|it| value.contains(it));
    let is_plain_self = name == "self" && value.starts_with('<');
    let is_telling = !is_new_each_time && !is_plain_self;
    (is_name && is_telling && !line.starts_with(' '))
        .then(|| Local { name: name.to_owned(), value: cut_at(value, VALUE) })
}

fn cut_at(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
