//! No edit makes a file worse.

use std::collections::HashMap;

use super::refused::Refused;
use super::text_edits::TextEdits;
use crate::syntax::{SyntaxError, line_start, syntax_error_at};
use crate::tree::Tree;

/// Refuses edits after which the file has a syntax error it does not have now: what is new must be Python,
/// and errors elsewhere may go, but not come or wander.
pub fn no_worse(source: &str, edits: &TextEdits) -> Result<(), Refused> {
    let before = Tree::of(source).map_err(|error| Refused::TooDeep { error })?;
    no_worse_than(&before, edits)
}

/// The same for a file that has been parsed.
pub(super) fn no_worse_than(before: &Tree<'_>, edits: &TextEdits) -> Result<(), Refused> {
    let text = edits.apply(before.source);
    let after = Tree::of(&text).map_err(|error| Refused::Worse { error })?;
    // By line: where in its line an error is reported depends on what stands above.
    let mut known: HashMap<usize, usize> = HashMap::new();
    for line in before.wounds.iter().map(|at| line_start(before.source, *at)) {
        if let Some(line) = edits.moved(line) {
            *known.entry(line).or_default() += 1;
        }
    }
    for at in &after.wounds {
        match known.get_mut(&line_start(&text, *at)) {
            Some(count) if *count > 0 => *count -= 1,
            _ => return Err(Refused::Worse { error: error_at(&after, *at) }),
        }
    }
    Ok(())
}

fn error_at(tree: &Tree<'_>, at: usize) -> SyntaxError {
    let place = syntax_error_at(tree.source, at, "the text around it does not fit");
    let same = |it: &&SyntaxError| (it.line, it.column) == (place.line, place.column);
    tree.errors.iter().find(same).cloned().unwrap_or(place)
}
