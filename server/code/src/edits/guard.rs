//! No edit makes a file worse.

use std::collections::HashMap;

use ruff_python_ast::Stmt;
use ruff_text_size::Ranged;

use super::refused::Refused;
use super::text_edits::TextEdits;
use crate::syntax::{SyntaxError, blocks, line_start, syntax_error_at};
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
    for (at, _) in faults(before) {
        let line = line_start(before.source, at);
        if let Some(line) = edits.moved(line) {
            *known.entry(line).or_default() += 1;
        }
    }
    for (at, error) in faults(&after) {
        match known.get_mut(&line_start(&text, at)) {
            Some(count) if *count > 0 => *count -= 1,
            _ => return Err(Refused::Worse { error }),
        }
    }
    Ok(())
}

/// What Python would refuse: what the parser does, and statements that stand where they may not.
fn faults(tree: &Tree<'_>) -> Vec<(usize, SyntaxError)> {
    let mut strays = Vec::new();
    stray(tree.body(), false, false, &mut strays);
    let strays = strays.into_iter().map(|(at, why)| (at, syntax_error_at(tree.source, at, why)));
    tree.wounds.iter().copied().zip(tree.errors.iter().cloned()).chain(strays).collect()
}

fn stray(body: &[Stmt], function: bool, repeats: bool, found: &mut Vec<(usize, &'static str)>) {
    for stmt in body {
        let why = match stmt {
            Stmt::Return(_) if !function => Some("`return` outside a function"),
            Stmt::Break(_) if !repeats => Some("`break` outside a loop"),
            Stmt::Continue(_) if !repeats => Some("`continue` outside a loop"),
            _ => None,
        };
        found.extend(why.map(|why| (stmt.start().to_usize(), why)));
        let is_loop = matches!(stmt, Stmt::For(_) | Stmt::While(_));
        for (index, block) in blocks(stmt).into_iter().enumerate() {
            match stmt {
                Stmt::FunctionDef(_) => stray(block, true, false, found),
                Stmt::ClassDef(_) => stray(block, false, false, found),
                // The second block of a loop is its `else`.
                _ => stray(block, function, repeats || (is_loop && index == 0), found),
            }
        }
    }
}
