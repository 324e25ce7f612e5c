//! Replaces a symbol's definition or body.

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use super::refused::Refused;
use super::snippet::{Snippet, Style, code_end, unit_of};
use super::syntax_guard::no_worse_than;
use super::target::{File, SymbolSelector, Target, line_break_near};
use super::text_edits::{TextEdit, TextEdits};
use crate::outline::{Outline, Symbol};
use crate::syntax::{full_range, line_of};

/// Replaces a symbol's body, or the whole symbol, with new text.
///
/// A text that defines the symbol itself (`def`, `async def` or `class` with its name) replaces
/// header and body. Its decorators replace the old ones; if it has none, the old ones stay. The
/// same holds for the comments right above. Any other text is a body: it replaces all statements,
/// the docstring included, and the comments between them. Decorators, header and the rest of the
/// file stay byte for byte. For a variable or an attribute the text is an assignment, or an
/// expression as its new value.
///
/// Indentation and line breaks are adapted to the file. The inside of multi-line strings is not
/// changed.
pub fn replace_symbol_body<'a>(
    source: &str,
    symbol: impl Into<SymbolSelector<'a>>,
    text: &str,
) -> Result<TextEdits, Refused> {
    let file = File::of(source)?;
    let target = file.target(symbol.into())?;
    let unit = unit_of(&file.tree).unwrap_or("    ");
    let new = New::of(&target, Snippet::parse(text, target.margin(), unit)?, unit)?;
    let edits = match &new.what {
        What::Definition(symbol) => new.definition(symbol)?,
        What::Body => new.body()?,
        What::Statement => new.statement()?,
        What::Value => new.value()?,
    };
    let edits = TextEdits::new(source, edits).map_err(|_| target.not_intact())?;
    no_worse_than(&file.tree, &edits)?;
    Ok(edits)
}

/// The part of a symbol that a new text replaces.
enum What {
    /// The whole symbol, as found in the new text's outline.
    Definition(Symbol),
    Body,
    /// A statement that replaces an assignment.
    Statement,
    /// An expression that replaces an assignment's value.
    Value,
}

struct New<'t> {
    target: &'t Target<'t>,
    snippet: Snippet,
    what: What,
    /// White space of one indentation level in the file.
    unit: &'t str,
    line_break: &'t str,
}

impl<'t> New<'t> {
    fn of(target: &'t Target<'t>, snippet: Snippet, unit: &'t str) -> Result<New<'t>, Refused> {
        let what = if target.symbol.header.is_some() {
            definition_or_body(target, &snippet)?
        } else {
            statement_or_value(target, &snippet)?
        };
        let line_break = line_break_near(target.source(), target.start());
        Ok(New { target, snippet, what, unit, line_break })
    }

    fn laid_out(&self, from: usize, to: usize, margin: &str) -> Result<String, Refused> {
        let style = Style { margin, unit: self.unit, line_break: self.line_break };
        self.snippet.laid_out(from..to, &style)
    }

    /// Returns the same text as `laid_out`, but for a place after the margin.
    fn behind_margin(&self, from: usize, to: usize) -> Result<String, Refused> {
        let margin = self.target.margin();
        let text = self.laid_out(from, to, margin)?;
        Ok(text.strip_prefix(margin).map(str::to_owned).unwrap_or(text))
    }

    fn definition(&self, new: &Symbol) -> Result<Vec<TextEdit>, Refused> {
        let (old, end) = (self.target.symbol, self.snippet.text.len());
        let header = |it: &Symbol| it.header.as_ref().map_or(it.range.start, |it| it.start);
        let (from, at) = if new.decorators.is_empty() {
            (header(new), header(old))
        } else {
            (new.range.start, self.target.start())
        };
        let text = self.behind_margin(from, end)?;
        let mut edits = vec![TextEdit { range: at..self.target.end(), text }];
        if new.range.start > 0 {
            let text = self.laid_out(0, new.range.start, self.target.margin())?;
            edits.push(TextEdit { range: self.target.comments()..self.target.line(), text });
        }
        Ok(edits)
    }

    fn body(&self) -> Result<Vec<TextEdit>, Refused> {
        let (target, tree) = (self.target, &self.target.file.tree);
        let first = target.inner().first().ok_or_else(|| target.not_intact())?;
        let start = full_range(first).start().to_usize();
        let colon = tree.colon_before(start).ok_or_else(|| target.not_intact())?;
        let end = target.end();
        if let Some(newline) = tree.newline_from(colon).filter(|it| *it < start) {
            let line = crate::syntax::line_start(target.source(), start);
            let text = self.laid_out(0, self.snippet.text.len(), &target.source()[line..start])?;
            let text = format!("{}{text}", self.line_break);
            return Ok(vec![TextEdit { range: newline..end, text }]);
        }
        let last = target.stmt().end().to_usize();
        if self.is_one_simple_statement()? {
            return Ok(vec![TextEdit { range: start..last, text: self.snippet.text.clone() }]);
        }
        // The comment on the line of a one-line definition stays with the header.
        let comment = target.source()[last..end].trim_start_matches(';');
        let margin = format!("{}{}", target.margin(), self.unit);
        let text = self.laid_out(0, self.snippet.text.len(), &margin)?;
        let text = format!("{comment}{}{text}", self.line_break);
        Ok(vec![TextEdit { range: colon + 1..end, text }])
    }

    fn statement(&self) -> Result<Vec<TextEdit>, Refused> {
        let target = self.target;
        if self.is_one_simple_statement()? {
            let text = self.behind_margin_anywhere()?;
            return Ok(vec![TextEdit { range: target.start()..target.stmt().end().into(), text }]);
        }
        if !target.begins_line() || !target.ends_line() {
            return Err(target.shared_line());
        }
        let text = self.behind_margin(0, self.snippet.text.len())?;
        Ok(vec![TextEdit { range: target.start()..target.end(), text }])
    }

    fn value(&self) -> Result<Vec<TextEdit>, Refused> {
        let target = self.target;
        let (at, before) = match target.stmt() {
            Stmt::Assign(it) => (it.value.range(), ""),
            Stmt::TypeAlias(it) => (it.value.range(), ""),
            Stmt::AnnAssign(it) => match &it.value {
                Some(value) => (value.range(), ""),
                None => (ruff_text_size::TextRange::empty(it.end()), " = "),
            },
            _ => return Err(target.not_intact()),
        };
        let text = format!("{before}{}", self.behind_margin_anywhere()?);
        Ok(vec![TextEdit { range: at.start().into()..at.end().into(), text }])
    }

    /// Returns the text for a place after the margin. A simple statement may follow others on its
    /// line, whose margin it then shares.
    fn behind_margin_anywhere(&self) -> Result<String, Refused> {
        if self.target.begins_line() {
            self.behind_margin(0, self.snippet.text.len())
        } else {
            self.laid_out(0, self.snippet.text.len(), "")
        }
    }

    /// Returns whether the text is exactly one statement, without a body or a comment.
    fn is_one_simple_statement(&self) -> Result<bool, Refused> {
        let tree = self.snippet.tree()?;
        let simple = match tree.body() {
            [one] => {
                crate::syntax::blocks(one).is_empty() && full_range(one).start().to_usize() == 0
            }
            _ => false,
        };
        Ok(simple && code_end(&tree) == self.snippet.text.len())
    }
}

/// Classifies the new text for a function or class.
fn definition_or_body(target: &Target<'_>, snippet: &Snippet) -> Result<What, Refused> {
    let tree = snippet.tree()?;
    let outline = Outline::of_tree(&tree);
    let is_class = |stmt: &Stmt| stmt.is_class_def_stmt();
    let class = is_class(target.stmt());
    let name_of = |stmt: &Stmt| match stmt {
        Stmt::FunctionDef(it) => Some(it.name.to_string()),
        Stmt::ClassDef(it) => Some(it.name.to_string()),
        _ => None,
    };
    let same = |stmt: &&Stmt| {
        is_class(stmt) == class && name_of(stmt).as_ref() == Some(&target.symbol.name)
    };
    let own = tree.body().iter().find(same);
    match (own, tree.body()) {
        (_, []) => Err(Refused::Empty),
        (Some(own), [_]) => {
            let start = full_range(own).start().to_usize();
            let found = outline.symbols.into_iter().find(|it| it.range.start == start);
            found.map(What::Definition).ok_or_else(|| target.not_intact())
        }
        (Some(_), _) => Err(Refused::MoreThanOne { symbol: target.path.clone() }),
        // A class may consist of one method, but a function that only defines another function is a
        // mistake.
        (None, [one]) if is_class(one) || !class => match name_of(one) {
            Some(found) => Err(Refused::OtherName { symbol: target.path.clone(), found }),
            None => Ok(What::Body),
        },
        _ => Ok(What::Body),
    }
}

/// Classifies the new text for a variable or attribute. The new statement must bind all names that
/// the old one binds.
fn statement_or_value(target: &Target<'_>, snippet: &Snippet) -> Result<What, Refused> {
    let tree = snippet.tree()?;
    let symbol = target.path.clone();
    match tree.body() {
        [] => return Err(Refused::Empty),
        [Stmt::Expr(it)] if !matches!(*it.value, Expr::Yield(_) | Expr::YieldFrom(_)) => {
            return if code_end(&tree) == snippet.text.len()
                && full_range(&tree.body()[0]).start().to_usize() == 0
            {
                Ok(What::Value)
            } else {
                Err(Refused::MoreThanOne { symbol })
            };
        }
        [_] => {}
        _ => return Err(Refused::MoreThanOne { symbol }),
    }
    let new = Outline::of_tree(&tree);
    let bound = |name: &str| new.symbols.iter().any(|it| it.parent.is_none() && it.name == name);
    if !bound(&target.symbol.name) {
        let found =
            new.symbols.first().map_or_else(|| "something else".to_owned(), |it| it.name.clone());
        return Err(Refused::OtherName { symbol, found });
    }
    let names = target.also_bound().into_iter().filter(|name| !bound(name));
    let names: Vec<String> = names.map(str::to_owned).collect();
    if !names.is_empty() {
        return Err(Refused::AlsoBinds { names, line: line_of(target.source(), target.start()) });
    }
    Ok(What::Statement)
}
