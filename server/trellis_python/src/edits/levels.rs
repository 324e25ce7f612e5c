//! Learns which white space is one level of indentation, in an edit and in the file.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::partial_code::indent_of;

/// White space of one level in an edit, and in the file.
pub(super) struct Levels<'t> {
    edit: &'t str,
    file: &'t str,
}

impl<'t> Levels<'t> {
    /// Learns the levels from pairs of lines, of the edit and of the file: those that open a block
    /// and the next ones, else, if the new lines and the file around say nothing else, those that
    /// are next in depth.
    pub(super) fn of(
        pairs: &[(&'t str, &'t str)],
        new: &[&'t str],
        around: impl FnOnce() -> Option<&'t str>,
    ) -> Option<Levels<'t>> {
        let blocks = pairs.windows(2).filter(|pair| opens_block(pair[0].0));
        let blocks = blocks.filter_map(|pair| steps(indents(pair[0]), indents(pair[1])));
        let (edit, file) = most(blocks).or_else(|| {
            let depths = depths(pairs);
            let by_file = level_of(new.iter().copied()).zip(around());
            by_file
                .filter(|it| agrees(*it, &depths))
                .or_else(|| depths.into_iter().min_by_key(|(edit, _)| edit.len()))
        })?;
        Some(Levels { edit, file })
    }

    /// Converts white space of the edit to that of the file. What is less than a level stays.
    pub(super) fn converted(&self, space: &str) -> String {
        let rest = space.trim_start_matches(self.edit);
        let count = (space.len() - rest.len()) / self.edit.len();
        self.file.repeat(count) + rest
    }
}

/// Returns whether a line is the last one before a block.
pub(super) fn opens_block(line: &str) -> bool {
    line.split(" #").next().unwrap_or(line).trim_end().ends_with(':')
}

fn indents<'t>((edit, file): (&'t str, &'t str)) -> (&'t str, &'t str) {
    (indent_of(edit), indent_of(file))
}

/// Returns what the second indentations add to the first ones, if both are deeper.
fn steps<'t>(outer: (&str, &str), inner: (&'t str, &'t str)) -> Option<(&'t str, &'t str)> {
    let added = (inner.0.strip_prefix(outer.0)?, inner.1.strip_prefix(outer.1)?);
    (!added.0.is_empty() && !added.1.is_empty()).then_some(added)
}

/// Returns the most frequent item, the first one of several.
fn most<T: Copy + Eq + std::hash::Hash>(items: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: HashMap<T, (usize, usize)> = HashMap::new();
    for (number, item) in items.enumerate() {
        counts.entry(item).or_insert((0, number)).0 += 1;
    }
    let best = counts.into_iter().max_by_key(|(_, (count, first))| (*count, usize::MAX - first));
    best.map(|(item, _)| item)
}

/// Returns the steps from each indentation to the next deeper one.
fn depths<'t>(pairs: &[(&'t str, &'t str)]) -> Vec<(&'t str, &'t str)> {
    let mut all: Vec<_> = pairs.iter().map(|it| indents(*it)).collect();
    all.sort_by_key(|(edit, _)| edit.len());
    all.dedup_by_key(|(edit, _)| *edit);
    all.windows(2).filter_map(|pair| steps(pair[0], pair[1])).collect()
}

fn agrees((edit, file): (&str, &str), depths: &[(&str, &str)]) -> bool {
    let levels = Levels { edit, file };
    depths.iter().all(|(edit, file)| levels.converted(edit) == *file)
}

/// Returns the white space that most blocks of a text add.
fn level_of<'t>(lines: impl Iterator<Item = &'t str>) -> Option<&'t str> {
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with('#');
    let mut above = "";
    let added = lines.filter(is_code).filter_map(|line| {
        let outer = std::mem::replace(&mut above, line);
        let added = indent_of(line).strip_prefix(indent_of(outer))?;
        (opens_block(outer) && !added.is_empty()).then_some(added)
    });
    most(added)
}

/// The levels of a file.
pub(super) struct FileLevels<'t> {
    pub(super) text: &'t str,
    most: OnceCell<Option<&'t str>>,
}

/// Largest number of lines between a line and the one that opens its block.
const NEAR: usize = 200;

impl<'t> FileLevels<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        FileLevels { text, most: OnceCell::new() }
    }

    /// Returns the white space of the level of the line at an offset, else that of most blocks.
    pub(super) fn at(&self, offset: usize) -> Option<&'t str> {
        let here = indent_of(self.text[offset..].lines().find(|it| !it.trim().is_empty())?);
        let mut above = self.text[..offset].lines().rev().take(NEAR);
        let outer = above.find(|it| !it.trim().is_empty() && indent_of(it).len() < here.len());
        let own = outer.filter(|it| opens_block(it));
        let own = own.and_then(|it| here.strip_prefix(indent_of(it)));
        own.or_else(|| *self.most.get_or_init(|| level_of(self.text.lines())))
    }
}
