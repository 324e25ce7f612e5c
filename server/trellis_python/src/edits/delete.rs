//! Deletes a symbol from its file.

use ruff_python_ast::Stmt;
use ruff_text_size::Ranged;

use super::refused::Refused;
use super::syntax_guard::no_worse_than;
use super::target::{File, SymbolSelector, Target};
use super::text_edits::{TextEdit, TextEdits};
use crate::syntax::{full_range, line_end, line_of, line_start};

/// Deletes a symbol with its decorators and the comments right above it. A body left empty becomes
/// `pass`. Of the blank lines around the symbol the longer run stays. Remaining uses of the symbol
/// are not checked.
pub fn delete_symbol<'a>(
    source: &str,
    symbol: impl Into<SymbolSelector<'a>>,
) -> Result<TextEdits, Refused> {
    let file = File::of(source)?;
    let target = file.target(symbol.into())?;
    let names: Vec<String> = target.also_bound().into_iter().map(str::to_owned).collect();
    if !names.is_empty() {
        return Err(Refused::AlsoBinds { names, line: line_of(source, target.start()) });
    }
    let edit = if needs_pass(&target) {
        let from = if target.begins_line() { first_line_start(&target) } else { target.start() };
        TextEdit { range: from..pass_end(&target), text: "pass".to_owned() }
    } else if !target.begins_line() || !target.ends_line() {
        TextEdit { range: on_shared_line(&target), text: String::new() }
    } else {
        TextEdit { range: whole_lines(&target), text: String::new() }
    };
    let edits = TextEdits::new(source, [edit]).map_err(|_| target.not_intact())?;
    no_worse_than(&file.tree, &edits)?;
    Ok(edits)
}

/// Returns whether the symbol is the only statement in a block.
fn needs_pass(target: &Target<'_>) -> bool {
    let module = target.file.tree.body();
    target.place.body.len() == 1 && !std::ptr::eq(target.place.body, module)
}

/// Returns the offset after the margin of the target's first line, comments included.
fn first_line_start(target: &Target<'_>) -> usize {
    let line = target.comments();
    if line == target.line() { target.start() } else { line + target.margin().len() }
}

fn pass_end(target: &Target<'_>) -> usize {
    if target.begins_line() { target.end() } else { target.stmt().end().to_usize() }
}

/// Returns the statement's range with the semicolon that separates it from the next statement on
/// its line, else from the previous one.
fn on_shared_line(target: &Target<'_>) -> std::ops::Range<usize> {
    match (target.ends_line(), target.next(), target.previous()) {
        (false, Some(next), _) => target.start()..full_range(next).start().to_usize(),
        (_, _, Some(previous)) => Stmt::end(previous).to_usize()..target.stmt().end().to_usize(),
        _ => target.start()..target.stmt().end().to_usize(),
    }
}

fn whole_lines(target: &Target<'_>) -> std::ops::Range<usize> {
    let source = target.source();
    let (start, end) = (target.comments(), line_end(source, target.end()));
    let above = blank_above(source, start);
    let below = blank_below(source, end);
    let last = target.file.tree.code_from(end) == source.len() && below.0 == source.len();
    if last {
        return at_end_of_file(target, above.0, start);
    }
    let first = source[..above.0].trim_start_matches('\u{feff}').is_empty();
    // Deleting the last statement of a block leaves only the blank lines that separate the block
    // from the code below it.
    let closes =
        target.next().is_none() && !std::ptr::eq(target.place.body, target.file.tree.body());
    let opens = target.previous().is_none();
    if first || (opens && !closes) || (!closes && above.1 >= below.1) {
        start..below.0
    } else {
        above.0..end
    }
}

/// The last statement of a file is deleted with the blank lines above it. A file without a final
/// line break still has none afterward.
fn at_end_of_file(target: &Target<'_>, above: usize, start: usize) -> std::ops::Range<usize> {
    let source = target.source();
    let bare = !source.ends_with(['\n', '\r']);
    let from = if bare { source[..above].trim_end_matches(['\n', '\r']).len() } else { above };
    let nothing_left = source[..above].trim_start_matches('\u{feff}').is_empty();
    if nothing_left { start..source.len() } else { from..source.len() }
}

/// Returns the start of the run of blank lines above a line, and the number of blank lines.
pub(super) fn blank_above(source: &str, line: usize) -> (usize, usize) {
    let (mut at, mut count) = (line, 0);
    while at > 0 {
        let before = &source[..at];
        let content =
            before.strip_suffix('\n').map_or(before, |it| it.strip_suffix('\r').unwrap_or(it));
        let content =
            if content.len() == at { before.strip_suffix('\r').unwrap_or(before) } else { content };
        let start = line_start(source, content.len());
        if content.len() == at || !content[start..].trim_matches(['\u{feff}', ' ', '\t']).is_empty()
        {
            break;
        }
        if content[start..].contains('\u{feff}') {
            return (start + '\u{feff}'.len_utf8(), count + 1);
        }
        (at, count) = (start, count + 1);
    }
    (at, count)
}

/// Returns the end of the run of blank lines that starts at `line`, and the number of blank lines.
pub(super) fn blank_below(source: &str, line: usize) -> (usize, usize) {
    let (mut at, mut count) = (line, 0);
    loop {
        let end = line_end(source, at);
        // A form feed parts sections, and stays.
        if end == at
            || !source[at..end].trim_matches(['\u{feff}', ' ', '\t', '\r', '\n']).is_empty()
        {
            return (at, count);
        }
        (at, count) = (end, count + 1);
    }
}
