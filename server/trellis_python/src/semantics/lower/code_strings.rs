//! Lowers strings that a call executes, fills or follows: code, templates and targets of patches.

use ruff_python_ast::{self as ast, Expr as Ast, ExprStringLiteral};
use ruff_text_size::{TextRange, TextSize};

use super::Lower;
use super::exprs::is_identifier;
use super::templates;
use crate::semantics::ir::*;

/// Attributes of mocks that a dotted name in a string ends with.
const OF_MOCKS: [&str; 2] = ["return_value", "side_effect"];

impl Lower<'_> {
    /// Records every word of the strings that a call executes: `eval("f(1)")`.
    pub(super) fn code(&mut self, it: &ast::ExprCall) {
        let named = it.arguments.keywords.iter().map(|it| &it.value);
        for argument in it.arguments.args.iter().chain(named) {
            if let Some(range) = self.content_of(argument) {
                self.words(range, Quoted::Code);
            }
        }
    }

    /// Records the fields of `"{name}".format(**mapping)` as keys of the mapping.
    pub(super) fn fields_of_format(&mut self, it: &ast::ExprCall, mapping: ExprId) {
        let Ast::Attribute(method) = &*it.func else { return };
        let Some(range) = self.content_of(&method.value) else { return };
        for (at, length) in templates::fields(self.text(range)) {
            let at = range.start() + TextSize::new(at as u32);
            let field = TextRange::at(at, TextSize::new(length as u32));
            self.occurs(field, Role::Quoted(Quoted::Key(mapping)));
        }
    }

    /// Records the names behind dollars in `Template("$name").substitute(mapping)` as keys.
    pub(super) fn substituted(&mut self, it: &ast::ExprCall, mapping: ExprId) {
        if let Ast::Attribute(method) = &*it.func
            && let Ast::Call(template) = &*method.value
        {
            self.dollars(template, Quoted::Key(mapping));
        }
    }

    /// Records the names behind dollars in `Template("$name")`.
    pub(super) fn dollars(&mut self, it: &ast::ExprCall, rule: Quoted) {
        let first = it.arguments.args.first();
        let Some(range) = first.and_then(|it| self.content_of(it)) else { return };
        let text = self.text(range);
        for (at, _) in text.match_indices('$') {
            let start = at + 1 + usize::from(text[at + 1..].starts_with('{'));
            let end = text[start..].find(|c: char| c != '_' && !c.is_alphanumeric());
            let end = end.map_or(text.len(), |it| start + it);
            if is_identifier(&text[start..end]) {
                self.occurs(part(range, start, end), Role::Quoted(rule));
            }
        }
    }

    /// Records the names of a dotted path that is put together with its beginning, as in
    /// `f"{MODULE}.name"`.
    pub(super) fn tail(&mut self, range: TextRange) {
        let Some(path) = self.text(range).strip_prefix('.') else { return };
        if path.split('.').all(is_identifier) {
            self.words(range, Quoted::Tail);
        }
    }

    /// Does the same as [`Lower::tail`] for a string.
    pub(super) fn tail_string(&mut self, it: &ExprStringLiteral) {
        if let Some(range) = self.plain_content(it) {
            self.tail(range);
        }
    }

    /// Records the names of `"name.return_value"`, a keyword of mocks. Returns whether a path is one.
    pub(super) fn of_mock(&mut self, range: TextRange) -> bool {
        let Some((names, last)) = self.text(range).rsplit_once('.') else { return false };
        let is_it = OF_MOCKS.contains(&last) && names.split('.').all(is_identifier);
        if is_it {
            self.words(part(range, 0, names.len()), Quoted::LookedUp);
        }
        is_it
    }

    /// Records each word of a range by one rule.
    pub(super) fn words(&mut self, range: TextRange, rule: Quoted) {
        let text = self.text(range);
        let words = text.split(|c: char| c != '_' && !c.is_alphanumeric());
        for word in words.filter(|it| is_identifier(it)) {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            self.occurs(part(range, start, start + word.len()), Role::Quoted(rule));
        }
    }

    fn content_of(&self, it: &Ast) -> Option<TextRange> {
        self.plain_content(it.as_string_literal_expr()?)
    }
}

/// Returns a part of a range, by offsets in it.
fn part(range: TextRange, start: usize, end: usize) -> TextRange {
    let at = |it: usize| range.start() + TextSize::new(it as u32);
    TextRange::new(at(start), at(end))
}
