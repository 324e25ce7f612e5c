//! Lowers the names of a function's parameters in the strings of its decorators: options and routes
//! fill the parameters by these names.

use memchr::memmem;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Decorator, Expr as Ast};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::Lower;
use crate::semantics::ir::*;
use crate::semantics::names::Name;

impl Lower<'_> {
    /// Records the words of decorators' strings that are parameters of the decorated function, as in
    /// `@app.get("/items/{item_id}")` and `@option("--dry-run")`.
    pub(super) fn decorator_words(&mut self, function: FunctionId, decorators: &[Decorator]) {
        let mut strings = Strings::default();
        decorators.iter().for_each(|it| strings.visit_expr(&it.expression));
        let of = &self.module.functions[function.index()];
        let names: Vec<Name> = of.parameters.iter().map(|it| it.name).collect();
        for (range, name) in
            strings.0.iter().flat_map(|it| names.iter().map(move |name| (*it, *name)))
        {
            self.words_like(range, name, function);
        }
    }

    /// Records a name in a string, also if dashes stand for its underscores.
    fn words_like(&mut self, range: TextRange, name: Name, function: FunctionId) {
        let text = self.text(range);
        let mut spellings = vec![name.text().to_owned(), name.text().replace('_', "-")];
        spellings.dedup();
        for at in spellings.iter().flat_map(|it| whole_words(text, it)) {
            let at = range.start() + TextSize::new(at as u32);
            let found = TextRange::at(at, TextSize::of(name.text()));
            self.occurs_as(found, name, Role::Quoted(Quoted::Decorator(function)));
        }
    }
}

/// Ranges of the strings of expressions, with their quotes.
#[derive(Default)]
struct Strings(Vec<TextRange>);

impl<'a> Visitor<'a> for Strings {
    fn visit_expr(&mut self, expr: &'a Ast) {
        match expr {
            Ast::StringLiteral(it) => self.0.extend(it.value.iter().map(Ranged::range)),
            _ => visitor::walk_expr(self, expr),
        }
    }
}

/// Returns the offsets of a word in a text.
fn whole_words(text: &str, word: &str) -> Vec<usize> {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    let is_whole = |at: &usize| {
        let (before, after) = (&text[..*at], &text[at + word.len()..]);
        !before.ends_with(is_word) && !after.starts_with(is_word)
    };
    memmem::find_iter(text.as_bytes(), word).filter(is_whole).collect()
}
