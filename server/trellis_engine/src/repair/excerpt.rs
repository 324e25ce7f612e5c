//! Lines of one file as a question shows them: numbered, with marks.

use std::collections::{BTreeMap, BTreeSet};

/// Lines of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// Path relative to the root.
    pub path: String,
    /// The shown lines by number, from 1.
    pub lines: BTreeMap<u32, String>,
    /// Numbers of marked lines.
    pub marked: BTreeSet<u32>,
    /// True if these are all lines of the file.
    pub is_whole: bool,
}

impl Excerpt {
    /// Selects lines of a file; numbers beyond its end are ignored.
    pub fn of(path: &str, text: &str, shown: &BTreeSet<u32>) -> Excerpt {
        let all = (1..).zip(text.lines());
        let lines: BTreeMap<u32, String> = all
            .filter(|(number, _)| shown.contains(number))
            .map(|(number, line)| (number, line.to_owned()))
            .collect();
        let is_whole = lines.len() == text.lines().count();
        Excerpt { path: path.to_owned(), lines, marked: BTreeSet::new(), is_whole }
    }

    /// Selects a whole file.
    pub fn whole(path: &str, text: &str) -> Excerpt {
        let count = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        Excerpt::of(path, text, &(1..=count).collect())
    }

    /// Marks lines.
    #[must_use]
    pub fn marking(self, marked: impl IntoIterator<Item = u32>) -> Excerpt {
        let marked = marked.into_iter().filter(|it| self.lines.contains_key(it)).collect();
        Excerpt { marked, ..self }
    }

    /// Renders the lines with their numbers, `>` before marked ones, and `…` for gaps.
    pub(crate) fn render(&self) -> String {
        let width = self.lines.last_key_value().map_or(1, |(it, _)| it.to_string().len());
        let mut out = String::new();
        let mut before = 0;
        for (number, line) in &self.lines {
            if *number != before + 1 {
                out += &format!("{:width$}…\n", "", width = width + 1);
            }
            let mark = if self.marked.contains(number) { '>' } else { ' ' };
            out += format!("{mark}{number:>width$} | {line}").trim_end();
            out.push('\n');
            before = *number;
        }
        out
    }
}

/// Removes numbers and marks of a question from lines that repeat them all.
pub(crate) fn without_numbers(text: &str) -> Option<String> {
    let lines = text.lines().filter(|it| !it.trim().is_empty()).collect::<Vec<_>>();
    let is_numbered = !lines.is_empty() && lines.iter().all(|it| unnumbered(it).is_some());
    let plain = |line: &str| format!("{}\n", unnumbered(line).unwrap_or_default());
    is_numbered.then(|| text.lines().map(plain).collect())
}

/// Returns the rest of a line after its number.
fn unnumbered(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(['>', ' ']);
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = after.len() < rest.len();
    let text = after.strip_prefix(" |")?;
    is_number.then(|| text.strip_prefix(' ').unwrap_or(text))
}
