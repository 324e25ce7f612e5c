//! Inserts text next to a symbol, with the blank lines that PEP 8 requires.

use ruff_python_ast::Stmt;
use ruff_text_size::Ranged;

use super::delete::{blank_above, blank_below};
use super::refused::Refused;
use super::snippet::{Snippet, Style, unit_of};
use super::syntax_guard::no_worse_than;
use super::target::{File, SymbolSelector, Target, line_break_near};
use super::text_edits::{TextEdit, TextEdits};
use crate::fragment::is_string;
use crate::syntax::{full_range, line_end, line_start};
use crate::tree::is_space;

/// Inserts statements above a symbol, its decorators and the comments right above it. The text is
/// indented like the symbol, with two blank lines around definitions at the left margin, one around
/// other definitions and none between plain statements. Existing blank lines stay.
pub fn insert_before_symbol<'a>(
    source: &str,
    symbol: impl Into<SymbolSelector<'a>>,
    text: &str,
) -> Result<TextEdits, Refused> {
    let file = File::of(source)?;
    let target = file.target(symbol.into())?;
    let new = New::of(&target, text)?;
    checked(&target, new.before()?)
}

/// Inserts statements below a symbol, with the rules of [`insert_before_symbol`].
pub fn insert_after_symbol<'a>(
    source: &str,
    symbol: impl Into<SymbolSelector<'a>>,
    text: &str,
) -> Result<TextEdits, Refused> {
    let file = File::of(source)?;
    let target = file.target(symbol.into())?;
    let new = New::of(&target, text)?;
    checked(&target, vec![new.after()?])
}

/// Inserts statements at the end of a class. A body of nothing but `pass` or `...` is replaced.
pub fn insert_into_class<'a>(
    source: &str,
    class: impl Into<SymbolSelector<'a>>,
    text: &str,
) -> Result<TextEdits, Refused> {
    let file = File::of(source)?;
    let target = file.target(class.into())?;
    if !target.stmt().is_class_def_stmt() {
        return Err(Refused::NoClass { symbol: target.path.clone() });
    }
    let new = New::of(&target, text)?;
    checked(&target, new.inside()?)
}

fn checked(target: &Target<'_>, edits: Vec<TextEdit>) -> Result<TextEdits, Refused> {
    let edits = TextEdits::new(target.source(), edits).map_err(|_| target.not_intact())?;
    no_worse_than(&target.file.tree, &edits)?;
    Ok(edits)
}

/// Kind of a statement, which determines the blank lines around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Definition,
    Import,
    Plain,
    /// Comments only; they are attached to the statement below them.
    Comment,
}

fn kind_of(stmt: &Stmt) -> Kind {
    match stmt {
        Stmt::FunctionDef(_) | Stmt::ClassDef(_) => Kind::Definition,
        Stmt::Import(_) | Stmt::ImportFrom(_) => Kind::Import,
        _ => Kind::Plain,
    }
}

struct New<'t> {
    target: &'t Target<'t>,
    snippet: Snippet,
    first: Kind,
    last: Kind,
    unit: &'t str,
    line_break: &'t str,
}

impl<'t> New<'t> {
    fn of(target: &'t Target<'t>, text: &str) -> Result<New<'t>, Refused> {
        let unit = unit_of(&target.file.tree).unwrap_or("    ");
        let snippet = Snippet::parse(text, target.margin(), unit)?;
        let (first, last) = {
            let tree = snippet.tree()?;
            let kind = |stmt: Option<&Stmt>| stmt.map_or(Kind::Comment, kind_of);
            (kind(tree.body().first()), kind(tree.body().last()))
        };
        let line_break = line_break_near(target.source(), target.start());
        Ok(New { target, snippet, first, last, unit, line_break })
    }

    fn text(&self, margin: &str) -> Result<String, Refused> {
        let style = Style { margin, unit: self.unit, line_break: self.line_break };
        self.snippet.laid_out(0..self.snippet.text.len(), &style)
    }

    fn breaks(&self, count: usize) -> String {
        self.line_break.repeat(count)
    }

    fn before(&self) -> Result<Vec<TextEdit>, Refused> {
        let target = self.target;
        if !target.begins_line() {
            return Err(target.shared_line());
        }
        let at = target.comments();
        let top = target.margin().is_empty();
        let above = blank_above(target.source(), at);
        let opens = target.source()[..above.0].trim_start_matches('\u{feff}').is_empty();
        let wanted = match target.previous() {
            Some(previous) => self.gap(kind_of(previous), self.first, top, previous),
            None if opens || !self.is_in_module() => 0,
            None => usize::from(self.first == Kind::Definition) * 2,
        };
        let more = self.breaks(wanted.saturating_sub(above.1));
        let below = self.gap(self.last, kind_of(target.stmt()), top, target.stmt());
        let text = format!("{more}{}{}", self.text(target.margin())?, self.breaks(below + 1));
        Ok(vec![TextEdit { range: at..at, text }])
    }

    fn after(&self) -> Result<TextEdit, Refused> {
        let target = self.target;
        if !target.ends_line() {
            return Err(target.shared_line());
        }
        let margin = self.margin_of_line()?;
        self.below(target.stmt(), target.next(), margin, target.end())
    }

    /// Returns the edit that inserts the text below the statement `above`, whose text, trailing
    /// comments included, ends at `at`.
    fn below(
        &self,
        above: &Stmt,
        next: Option<&Stmt>,
        margin: &str,
        at: usize,
    ) -> Result<TextEdit, Refused> {
        let top = margin.is_empty();
        let gap = self.gap(kind_of(above), self.first, top, above);
        let there = blank_below(self.target.source(), line_end(self.target.source(), at)).1;
        let wanted = next.map_or(0, |next| self.gap(self.last, kind_of(next), top, next));
        let more = self.breaks(wanted.saturating_sub(there));
        let text = format!("{}{}{more}", self.breaks(gap + 1), self.text(margin)?);
        Ok(TextEdit { range: at..at, text })
    }

    /// Returns the white space before the first statement on the target's line.
    fn margin_of_line(&self) -> Result<&'t str, Refused> {
        let source = self.target.source();
        let on_line = |stmt: &&Stmt| {
            let (from, to) = (stmt.end().to_usize(), self.target.start());
            to < from || !self.target.file.tree.line_ends_between(from, to)
        };
        let body = &self.target.place.body[..=self.target.place.index];
        let first = body.iter().rev().take_while(on_line).last().unwrap_or(self.target.stmt());
        let start = full_range(first).start().to_usize();
        let before = &source[line_start(source, start)..start];
        if is_space(before) {
            Ok(before.trim_start_matches(['\u{feff}', '\u{c}']))
        } else {
            Err(self.target.shared_line())
        }
    }

    fn inside(&self) -> Result<Vec<TextEdit>, Refused> {
        let (target, tree) = (self.target, &self.target.file.tree);
        let (source, body) = (target.source(), target.inner());
        let (Some(first), Some(last)) = (body.first(), body.last()) else {
            return Err(target.not_intact());
        };
        let start = full_range(first).start().to_usize();
        let colon = tree.colon_before(start).ok_or_else(|| target.not_intact())?;
        let end = target.end();
        let own_line = tree.line_ends_between(colon, start);
        let deeper = format!("{}{}", target.margin(), self.unit);
        let margin = if own_line { &source[line_start(source, start)..start] } else { &deeper };
        if matches!(body, [one] if is_filler(one)) {
            let (from, before) = if own_line {
                (line_start(source, start), String::new())
            } else {
                (colon + 1, format!("{}{}", &source[last.end().to_usize()..end], self.line_break))
            };
            let to = if own_line { tree.newline_from(start).unwrap_or(end) } else { end };
            let text = format!("{before}{}", self.text(margin)?);
            return Ok(vec![TextEdit { range: from..to, text }]);
        }
        let mut edits = vec![self.below(last, None, margin, end)?];
        if !own_line {
            let text = format!("{}{margin}", self.line_break);
            edits.push(TextEdit { range: colon + 1..start, text });
        }
        Ok(edits)
    }

    fn is_in_module(&self) -> bool {
        std::ptr::eq(self.target.place.body, self.target.file.tree.body())
    }

    /// Returns the number of blank lines between two neighbors. `there` is the one already in the
    /// file.
    fn gap(&self, above: Kind, below: Kind, top: bool, there: &Stmt) -> usize {
        match (above, below) {
            (Kind::Comment, _) => 0,
            (Kind::Definition, _) | (_, Kind::Definition) if self.is_packed(there) => 0,
            (Kind::Definition, _) | (_, Kind::Definition) => 1 + usize::from(top),
            (Kind::Import, Kind::Plain) | (Kind::Plain, Kind::Import) => usize::from(top),
            _ if is_string(there) => usize::from(top),
            _ => 0,
        }
    }

    /// Returns whether the new definition goes next to its neighbor without a blank line: one-line
    /// definitions, as in stub files, are packed if those in the file are.
    fn is_packed(&self, there: &Stmt) -> bool {
        let source = self.target.source();
        let one_line = |stmt: &Stmt| {
            let range = full_range(stmt);
            kind_of(stmt) == Kind::Definition
                && !source[range.start().to_usize()..range.end().to_usize()].contains('\n')
        };
        let close = |a: &Stmt, b: &Stmt| {
            line_end(source, a.end().to_usize()) == line_start(source, full_range(b).start().into())
        };
        let packed =
            |pair: &[Stmt]| one_line(&pair[0]) && one_line(&pair[1]) && close(&pair[0], &pair[1]);
        !self.snippet.text.contains('\n')
            && one_line(there)
            && self.target.place.body.windows(2).any(packed)
    }
}

/// Returns whether a statement only fills an empty body.
fn is_filler(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Pass(_) => true,
        Stmt::Expr(it) => it.value.is_ellipsis_literal_expr(),
        _ => false,
    }
}
