//! Lowers names that are put together from strings: `"visit_" + kind`, `f"{kind}_handler"`.

use ruff_python_ast::{self as ast, Expr as Ast, ExprStringLiteral, InterpolatedStringElement};
use ruff_text_size::{TextRange, TextSize};

use super::Lower;
use super::exprs::is_identifier;
use crate::semantics::ir::*;

impl Lower<'_> {
    /// Records the beginning and the end of a name in `"visit_" + kind` or `kind + "_handler"`.
    pub(super) fn sum(&mut self, left: &Ast, right: &Ast) {
        if let Ast::StringLiteral(it) = left {
            self.affix(it, Quoted::Prefix(rest(right)));
        }
        if let Ast::StringLiteral(it) = right {
            self.affix(it, Quoted::Suffix(rest(left)));
            self.tail_string(it);
        }
    }

    pub(super) fn affixes_of(&mut self, strings: &[Ast], role: Quoted) {
        let literals = strings.iter().filter_map(Ast::as_string_literal_expr);
        literals.for_each(|it| self.affix(it, role));
    }

    fn affix(&mut self, it: &ExprStringLiteral, role: Quoted) {
        if let Some(range) = self.plain_content(it) {
            self.affix_at(range, role);
        }
    }

    fn affix_at(&mut self, range: TextRange, role: Quoted) {
        let text = self.text(range);
        let joins = match role {
            Quoted::Prefix(_) => is_identifier(text),
            _ => text.starts_with('_') && is_identifier(text),
        };
        if joins && text.len() > 1 {
            self.occurs(range, Role::Quoted(role));
        }
    }

    /// Records the ends of a template such as `"visit_%s"` or `"visit_{}"`, which `filled` fills.
    pub(super) fn template(&mut self, it: &Ast, (open, close): (char, char), filled: Option<&Ast>) {
        let Ast::StringLiteral(literal) = it else { return };
        let Some(range) = self.plain_content(literal) else { return };
        let text = self.text(range);
        let (Some(first), Some(last)) = (text.find(open), text.rfind(close)) else { return };
        let is_single = matches!((open, last - first), ('%', 0) | ('{', 1));
        let filled = |is_all: bool| match filled.filter(|_| is_single && is_all) {
            Some(it) => rest(it),
            None => Rest::Unknown,
        };
        let (of_prefix, of_suffix) = (filled(text.len() == first + 2), filled(first == 0));
        let before = TextRange::at(range.start(), TextSize::new(first as u32));
        self.affix_at(before, Quoted::Prefix(of_prefix));
        let after = TextRange::new(range.start() + TextSize::new(last as u32 + 1), range.end());
        // The letter of `%s` is not part of the name.
        let skipped = TextSize::new(u32::from(open == '%'));
        if after.len() > skipped {
            let after = TextRange::new(after.start() + skipped, after.end());
            self.affix_at(after, Quoted::Suffix(of_suffix));
            self.tail(after);
        }
    }

    /// Records the parts of names in an f-string: words beside an interpolation.
    pub(super) fn interpolated_names(&mut self, it: &ast::ExprFString) {
        let elements: Vec<_> = it.value.elements().collect();
        if let [.., _, InterpolatedStringElement::Literal(last)] = elements.as_slice() {
            self.tail(last.range);
        }
        for pair in elements.windows(2) {
            let (text, other, is_prefix) = match pair {
                [InterpolatedStringElement::Literal(text), other] => (text, other, true),
                [other, InterpolatedStringElement::Literal(text)] => (text, other, false),
                _ => continue,
            };
            let word = self.word_at_end(text.range, is_prefix);
            let rest = match other {
                InterpolatedStringElement::Interpolation(it)
                    if elements.len() == 2 && word == text.range =>
                {
                    rest(&it.expression)
                }
                _ => Rest::Unknown,
            };
            let rule = if is_prefix { Quoted::Prefix(rest) } else { Quoted::Suffix(rest) };
            self.affix_at(word, rule);
        }
    }

    /// Returns the range of the word at the end or at the start of a range.
    fn word_at_end(&self, range: TextRange, is_last: bool) -> TextRange {
        let text = self.text(range);
        let is_edge = |c: char| c != '_' && !c.is_alphanumeric();
        let word = if is_last { text.rsplit(is_edge).next() } else { text.split(is_edge).next() };
        let length = TextSize::of(word.unwrap_or_default());
        if is_last {
            TextRange::new(range.end() - length, range.end())
        } else {
            TextRange::at(range.start(), length)
        }
    }
}

/// Returns what the rest of a name is: the name of a class if it is `type(x).__name__`,
/// `x.__class__.__name__` or `cls.__name__`.
fn rest(it: &Ast) -> Rest {
    let Ast::Attribute(it) = it else { return Rest::Unknown };
    let is_class = match &*it.value {
        Ast::Call(it) => it.func.as_name_expr().is_some_and(|it| it.id.as_str() == "type"),
        Ast::Attribute(it) => it.attr.as_str() == "__class__",
        Ast::Name(it) => it.id.as_str() == "cls",
        _ => false,
    };
    if is_class && it.attr.as_str() == "__name__" { Rest::ClassName } else { Rest::Unknown }
}
