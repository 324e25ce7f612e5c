//! Maps the indentation of a search/replace edit to that of the lines found.

use std::collections::HashMap;

use super::levels::Levels;
use super::partial_code::{LinesInStrings, indent_of};

/// A searched line and the line found for it.
pub(super) struct Pair<'t> {
    /// Index of the searched line.
    pub(super) number: usize,
    pub(super) wanted: &'t str,
    pub(super) found: &'t str,
}

/// Reindents new lines like the searched lines that were found, but not the inside of strings,
/// unless that of the search is reindented. `around` returns one level of the file at the place.
pub(super) fn moved<'t>(
    wanted: &[&str],
    found: Vec<Pair<'t>>,
    new: &[&'t str],
    around: impl FnOnce() -> Option<&'t str>,
) -> Vec<String> {
    let strings = LinesInStrings::of(new);
    let is_code = |number: &usize| !strings.all.contains(number);
    let code: Vec<&str> = (0..new.len()).filter(is_code).map(|number| new[number]).collect();
    let indents = Indents::of(&LinesInStrings::of(wanted), found, &code, around);
    let lines = new.iter().enumerate().map(|(number, line)| {
        let stays = strings.fixed.contains(&number) && !indents.moves_strings;
        if stays || line.trim().is_empty() { (*line).to_owned() } else { indents.moved(line) }
    });
    lines.collect()
}

/// The indentation of lines found, by that of the searched lines.
struct Indents<'t> {
    known: HashMap<&'t str, &'t str>,
    levels: Option<Levels<'t>>,
    /// The inside of strings is indented like the code around.
    moves_strings: bool,
}

impl<'t> Indents<'t> {
    fn of(
        strings: &LinesInStrings,
        mut found: Vec<Pair<'t>>,
        new: &[&'t str],
        around: impl FnOnce() -> Option<&'t str>,
    ) -> Self {
        found.retain(|it| !it.wanted.trim().is_empty());
        let is_fixed = |it: &Pair<'_>| strings.fixed.contains(&it.number);
        let (inside, outside): (Vec<_>, Vec<_>) = found.into_iter().partition(is_fixed);
        let mut known = HashMap::new();
        for it in &outside {
            known.entry(indent_of(it.wanted)).or_insert(indent_of(it.found));
        }
        let code = outside.iter().filter(|it| !strings.all.contains(&it.number));
        let code: Vec<_> = code.map(|it| (it.wanted, it.found)).collect();
        let moves_strings = inside.iter().any(|it| indent_of(it.wanted) != indent_of(it.found));
        Indents { known, levels: Levels::of(&code, new, around), moves_strings }
    }

    /// Reindents a line, also one that is less deep than all the lines found.
    fn moved(&self, line: &str) -> String {
        let indent = indent_of(line);
        let known = self.known.get(indent).map(|it| (*it).to_owned());
        let to = known.or_else(|| self.deeper(indent)).or_else(|| self.shallower(indent));
        format!("{}{}", to.as_deref().unwrap_or(indent), line.trim_start())
    }

    fn deeper(&self, indent: &str) -> Option<String> {
        let outer = self.known.iter().filter(|(from, _)| indent.starts_with(**from));
        let (from, to) = outer.max_by_key(|(from, _)| from.len())?;
        Some(format!("{to}{}", self.converted(&indent[from.len()..])))
    }

    fn shallower(&self, indent: &str) -> Option<String> {
        let inner = self.known.iter().filter(|(from, _)| from.starts_with(indent));
        let (from, to) = inner.min_by_key(|(from, _)| (from.len(), **from))?;
        Some(to.strip_suffix(&self.converted(&from[indent.len()..]))?.to_owned())
    }

    fn converted(&self, space: &str) -> String {
        self.levels.as_ref().map_or_else(|| space.to_owned(), |it| it.converted(space))
    }
}
