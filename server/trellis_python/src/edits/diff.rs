//! What an edit would change, as people read it.

use similar::{ChangeTag, TextDiff};

/// A unified diff with three lines around every change; empty when nothing changes. `path` is shown as the
/// name of both sides.
pub fn unified_diff(path: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff().header(&format!("a/{path}"), &format!("b/{path}")).to_string()
}

/// Lines of `new`, from 1, that `old` does not have there.
pub fn changed_lines(old: &str, new: &str) -> Vec<u32> {
    let diff = TextDiff::from_lines(old, new);
    let inserted = diff.iter_all_changes().filter(|it| it.tag() == ChangeTag::Insert);
    inserted.filter_map(|it| it.new_index()).map(|at| at as u32 + 1).collect()
}
