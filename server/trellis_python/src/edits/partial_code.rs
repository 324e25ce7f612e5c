//! Reads pieces of Python code: lines at any indentation, such as an `else` without its `if`.

use std::collections::HashSet;

use ruff_python_ast::ModModule;
use ruff_python_ast::token::TokenKind;
use ruff_python_parser::Parsed;
use ruff_text_size::Ranged;

use crate::reindent::StringLines;
use crate::syntax;

/// Lines of code within a text that parses.
pub(super) struct PartialCode {
    source: String,
    /// Offset of the lines in the source.
    start: usize,
    parsed: Parsed<ModModule>,
}

impl PartialCode {
    /// Parses lines after a statement that they may follow; `None` if there is no such statement.
    pub(super) fn of(text: &str) -> Option<PartialCode> {
        let lines: Vec<&str> = text.lines().filter(|it| !it.trim().is_empty()).collect();
        let (margin, end) = (indent_of(lines.first()?), end_of(lines.last()?));
        heads(margin).into_iter().find_map(|head| {
            let source = format!("{head}{text}\n{end}");
            let parsed = syntax::parse(&source).ok()?;
            Some(PartialCode { start: head.len(), source, parsed })
        })
    }

    /// Returns the indexes of the lines whose starts are as wanted.
    fn lines_where(&self, is_wanted: impl Fn(usize) -> bool) -> HashSet<usize> {
        let mut at = self.start;
        let lines = self.source[self.start..].split_inclusive('\n').enumerate();
        let wanted = lines.filter(|(_, line)| {
            at += line.len();
            is_wanted(at - line.len())
        });
        wanted.map(|(number, _)| number).collect()
    }
}

/// The indexes of lines that start inside a string.
#[derive(Default)]
pub(super) struct LinesInStrings {
    /// Without docstrings.
    pub(super) fixed: HashSet<usize>,
    pub(super) all: HashSet<usize>,
}

impl LinesInStrings {
    /// Finds them if the lines are code.
    pub(super) fn of(lines: &[&str]) -> LinesInStrings {
        let opens = |line: &&str| line.contains("\"\"\"") || line.contains("'''");
        let code = || PartialCode::of(&lines.join("\n"));
        let Some(code) = lines.iter().any(opens).then(code).flatten() else {
            return LinesInStrings::default();
        };
        let strings = StringLines::of(&code.source, &code.parsed);
        let tokens = code.parsed.tokens().iter().filter(|it| it.kind() == TokenKind::String);
        let ranges: Vec<_> = tokens.map(|it| it.range().to_std_range()).collect();
        let fixed = code.lines_where(|at| strings.hold(at));
        let mut all = code.lines_where(|at| ranges.iter().any(|it| it.start < at && at < it.end));
        all.extend(&fixed);
        LinesInStrings { fixed, all }
    }
}

/// Returns texts after which lines with this indentation may stand.
fn heads(margin: &str) -> Vec<String> {
    let after = |statement: &str| match margin {
        "" => statement.to_owned(),
        _ => format!("if 1:\n{margin}{statement}"),
    };
    let block = if margin.is_empty() { "" } else { "if 1:\n" };
    let cases = if margin.is_empty() { "" } else { "match 1:\n" };
    vec![block.to_owned(), after("if 1: pass\n"), after("try: pass\n"), cases.to_owned()]
}

/// Returns what a last line needs after it.
fn end_of(last: &str) -> String {
    let margin = indent_of(last);
    match last.trim() {
        it if it.ends_with(':') => format!("{margin} pass\n"),
        it if it.starts_with('@') => format!("{margin}def f(): pass\n"),
        _ => String::new(),
    }
}

/// Returns whether a replacement was cut out of a file after the indentation of its first line, as
/// the search was: its other lines have the file's indentation.
pub(super) fn is_cut_out(margin: &str, search: &str, replace: &str) -> bool {
    let others = |text: &'_ str| {
        let mut lines = text.lines().skip(1).filter(|it| !it.trim().is_empty()).peekable();
        lines.peek().is_some().then(|| lines.all(|it| it.starts_with(margin)))
    };
    if let Some(is_cut_out) = others(search) {
        return is_cut_out;
    }
    let cut_out = || PartialCode::of(&format!("{margin}{replace}")).is_some();
    others(replace) == Some(true) && (cut_out() || PartialCode::of(replace).is_none())
}

pub(super) fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}
