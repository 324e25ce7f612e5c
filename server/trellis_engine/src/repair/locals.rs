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
        let after: Vec<&str> = after.copied().collect();
        let of_frame: Vec<Local> = assignments(&after).iter().filter_map(|it| local(it)).collect();
        if !of_frame.is_empty() {
            out.insert((path.to_owned(), number), of_frame);
        }
    }
    out
}

/// Returns the lines `name      = value`, each with the lines that its value goes on in.
fn assignments<'e>(lines: &[&'e str]) -> Vec<Vec<&'e str>> {
    let mut all: Vec<Vec<&str>> = Vec::new();
    let mut is_open = false;
    for line in lines {
        let is_first = named(line).is_some();
        is_open = is_first || is_open && !line.trim().is_empty() && place(line).is_none();
        match all.last_mut() {
            Some(value) if is_open && !is_first => value.push(line),
            _ if is_first => all.push(vec![line]),
            _ => {}
        }
    }
    all
}

/// Returns the name and the beginning of the value.
fn named(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(" = ")?;
    let name = name.trim_end();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then_some((name, value))
}

/// Reads a variable; `None` if its value says nothing.
fn local(lines: &[&str]) -> Option<Local> {
    let (first, rest) = lines.split_first()?;
    let (name, value) = named(first)?;
    let value = on_one_line(value, rest);
    // Addresses, numbers of mocks and temporary folders differ from run to run.
    let is_new_each_time = [" at 0x", " id='", "/tmp/"].iter().any(|it| value.contains(it));
    let is_plain_self = name == "self" && value.starts_with('<');
    (!is_new_each_time && !is_plain_self)
        .then(|| Local { name: name.to_owned(), value: cut_at(&value, VALUE) })
}

/// Joins the lines of a value. pytest puts a long string into parentheses, in several literals.
fn on_one_line(first: &str, rest: &[&str]) -> String {
    let mut value = first.trim_end().to_owned();
    let mut literals = 0;
    for line in rest.iter().map(|it| it.trim()) {
        let quote = value.chars().next_back().filter(|it| matches!(it, '"' | '\''));
        match quote.and_then(|it| line.strip_prefix(it)) {
            Some(more) => {
                value.pop();
                value += more;
                literals += 1;
            }
            None => value += &format!(" {line}"),
        }
    }
    let inner = value.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
    let is_string = literals > 0 && literals == rest.len();
    inner.filter(|_| is_string).map(str::to_owned).unwrap_or(value)
}

fn cut_at(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
