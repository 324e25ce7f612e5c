//! Maps the indentation of a search/replace edit to that of the lines found.

use std::collections::{HashMap, HashSet};

use super::partial_code::{PartialCode, indent_of};

/// The indentation of lines found, by that of the searched lines.
pub(super) struct Indents {
    from: String,
    to: String,
    known: HashMap<String, String>,
    /// The inside of strings is indented like their code.
    moves_strings: bool,
}

impl Indents {
    /// Compares searched lines with those found, given as indexes of searched lines and lines.
    pub(super) fn of(wanted: &[&str], found: &[(usize, &str)]) -> Indents {
        let strings = lines_in_strings(wanted);
        let indents = found.iter().filter(|(number, _)| !wanted[*number].trim().is_empty());
        let indents = indents.map(|(number, line)| {
            let [from, to] = [wanted[*number], line].map(|it| indent_of(it).to_owned());
            (strings.contains(number), from, to)
        });
        let (inside, code): (Vec<_>, Vec<_>) = indents.partition(|(is_inside, ..)| *is_inside);
        let mut known = HashMap::new();
        for (_, from, to) in &code {
            known.entry(from.clone()).or_insert(to.clone());
        }
        let (_, from, to) = code.into_iter().next().unwrap_or_default();
        Indents { from, to, known, moves_strings: inside.iter().any(|(_, from, to)| from != to) }
    }

    /// Reindents lines, but not the inside of strings, unless that of the search is moved.
    pub(super) fn moved(&self, new: &[&str]) -> Vec<String> {
        let strings = if self.moves_strings { HashSet::new() } else { lines_in_strings(new) };
        let lines = new.iter().enumerate().map(|(number, line)| {
            let stays = line.trim().is_empty() || strings.contains(&number);
            if stays { (*line).to_owned() } else { self.moved_line(line) }
        });
        lines.collect()
    }

    /// Reindents a line. The line keeps its distance from the first line, which may be the deeper
    /// one.
    fn moved_line(&self, line: &str) -> String {
        let Indents { from, to, known, .. } = self;
        if let Some(indent) = known.get(indent_of(line)) {
            return format!("{indent}{}", line.trim_start());
        }
        if let Some(more) = to.strip_suffix(from.as_str()) {
            return format!("{more}{line}");
        }
        let rest = match from.strip_suffix(to.as_str()) {
            Some(less) => line.strip_prefix(less).map(str::to_owned),
            None => line.strip_prefix(from.as_str()).map(|rest| format!("{to}{rest}")),
        };
        rest.unwrap_or_else(|| line.to_owned())
    }
}

/// Returns the indexes of the lines that start inside a string, if the lines are code.
fn lines_in_strings(lines: &[&str]) -> HashSet<usize> {
    let code = || PartialCode::of(&lines.join("\n"));
    let opens = |line: &&str| line.contains("\"\"\"") || line.contains("'''");
    let code = if lines.iter().any(opens) { code() } else { None };
    code.map(|it| it.lines_in_strings()).unwrap_or_default()
}
