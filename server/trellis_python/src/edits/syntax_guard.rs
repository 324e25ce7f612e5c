//! Refuses edits that add syntax errors to a file.

use std::collections::HashMap;

use super::compile_errors::compile_errors;
use super::refused::Refused;
use super::text_edits::TextEdits;
use crate::syntax::{SyntaxError, line_start, syntax_error_at};
use crate::tree::Tree;

/// Refuses edits that add a syntax error to the file. New text must be valid Python; old errors may
/// disappear, but no error may appear or move.
pub fn check_no_new_errors(source: &str, edits: &TextEdits) -> Result<(), Refused> {
    let before = Tree::of(source).map_err(|error| Refused::TooDeep { error })?;
    no_worse_than(&before, edits)
}

/// Does the same as [`check_no_new_errors`] for a parsed file.
pub(super) fn no_worse_than(before: &Tree<'_>, edits: &TextEdits) -> Result<(), Refused> {
    let text = edits.apply(before.source);
    let after = Tree::of(&text).map_err(|error| Refused::Worse { error })?;
    // Errors are compared by line, because the column of an error depends on the text above it.
    let by_line = |faults: Vec<(usize, SyntaxError)>| {
        let mut lines: HashMap<usize, usize> = HashMap::new();
        let starts = faults.iter().map(|(at, _)| line_start(before.source, *at));
        starts.filter_map(|at| edits.moved(at)).for_each(|at| *lines.entry(at).or_default() += 1);
        lines
    };
    let (mut broken, mut refused) = (by_line(errors(before)), by_line(of_compiler(before)));
    let mut replaced = replaced_errors(before, edits);
    for (at, error) in errors(&after) {
        let line = line_start(&text, at);
        let is_known = consume_error(&mut broken, line)
            || edits.is_new(line) && consume_message(&mut replaced, &error.message);
        if !is_known {
            return Err(Refused::Worse { error });
        }
    }
    // A line that parses only now may turn out to hold what the compiler refuses. That is not a new
    // error.
    for (at, error) in of_compiler(&after) {
        let line = line_start(&text, at);
        if !consume_error(&mut refused, line) && !consume_error(&mut broken, line) {
            return Err(Refused::Worse { error });
        }
    }
    Ok(())
}

/// Returns the messages of errors in lines whose beginnings are replaced: new text there may have
/// the same errors, which come from the code above.
fn replaced_errors(before: &Tree<'_>, edits: &TextEdits) -> Vec<String> {
    let is_replaced = |at: usize| edits.moved(line_start(before.source, at)).is_none();
    let replaced = errors(before).into_iter().filter(|(at, _)| is_replaced(*at));
    replaced.map(|(_, error)| error.message).collect()
}

/// Consumes one error with a message. Returns whether there was one.
fn consume_message(known: &mut Vec<String>, message: &str) -> bool {
    let found = known.iter().position(|it| it == message);
    found.map(|it| known.swap_remove(it)).is_some()
}

/// Consumes one known error of a line. Returns whether there was one.
fn consume_error(known: &mut HashMap<usize, usize>, line: usize) -> bool {
    let left = known.get_mut(&line).filter(|count| **count > 0);
    left.map(|count| *count -= 1).is_some()
}

/// Returns the parser's errors with their byte offsets.
fn errors(tree: &Tree<'_>) -> Vec<(usize, SyntaxError)> {
    tree.wounds.iter().copied().zip(tree.errors.iter().cloned()).collect()
}

/// Returns the errors of Python's compiler in what the parser accepts.
fn of_compiler(tree: &Tree<'_>) -> Vec<(usize, SyntaxError)> {
    let all = compile_errors(tree.source, tree.body()).into_iter();
    all.map(|(at, why)| (at, syntax_error_at(tree.source, at, &why))).collect()
}
