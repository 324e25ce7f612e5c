//! What an edit would change, as people read it.

use similar::TextDiff;

/// A unified diff with three lines around every change; empty when nothing changes. `path` is shown as the
/// name of both sides.
pub fn unified_diff(path: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff().header(&format!("a/{path}"), &format!("b/{path}")).to_string()
}
