//! Renders edits as diffs for people.

use similar::{ChangeTag, TextDiff};

/// Returns a unified diff with three lines around every change; empty if nothing changes. `path` is
/// the name of both sides.
pub fn unified_diff(path: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff().header(&format!("a/{path}"), &format!("b/{path}")).to_string()
}

/// Returns the 1-based numbers of the lines of `new` that are not in `old` at that place.
pub fn changed_lines(old: &str, new: &str) -> Vec<u32> {
    let diff = TextDiff::from_lines(old, new);
    let inserted = diff.iter_all_changes().filter(|it| it.tag() == ChangeTag::Insert);
    inserted.filter_map(|it| it.new_index()).map(|at| at as u32 + 1).collect()
}
