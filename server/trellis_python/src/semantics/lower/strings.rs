//! Lowers names in strings: attributes that are looked up, keys, dotted paths, fixtures and parameters
//! of tests.

use ruff_python_ast::{self as ast, Expr as Ast, ExprStringLiteral};
use ruff_text_size::{TextRange, TextSize};

use super::Lower;
use super::exprs::is_identifier;
use crate::semantics::ir::*;
use crate::semantics::names::Name;

/// Length in bytes of the longest string that is read as a dotted path.
const LONGEST_PATH: usize = 160;

impl Lower<'_> {
    /// Returns the range of a string's text, if the source spells it without escapes.
    pub(super) fn plain_content(
        &self,
        it: &ExprStringLiteral,
    ) -> Option<ruff_text_size::TextRange> {
        let literal = it.as_single_part_string()?;
        let range = literal.content_range();
        (self.text(range) == literal.as_str()).then_some(range)
    }

    /// Records the names of a string that no other rule explains: one identifier, or a dotted path
    /// such as `package.module.name` or `package.module:name`.
    pub(super) fn plain_string(&mut self, it: &ExprStringLiteral) {
        let Some(range) = self.plain_content(it) else { return };
        let text = self.text(range);
        if text.contains(['{', '%']) {
            return self.embedded(range);
        }
        if text.len() > LONGEST_PATH {
            return;
        }
        match text.contains([',', ' ', '=']) {
            true => self.listed_names(range),
            false => self.path(range, true),
        }
    }

    /// Records one identifier, or the parts of a dotted path. `is_whole` tells that the string has
    /// nothing else.
    fn path(&mut self, range: TextRange, is_whole: bool) {
        if self.of_mock(range) {
            return;
        }
        let text = self.text(range);
        let parts: Vec<&str> = text.split(['.', ':']).collect();
        if !parts.iter().all(|it| is_identifier(it)) {
            return;
        }
        let mut at = range.start();
        for (number, part) in parts.iter().enumerate() {
            let part = TextRange::at(at, TextSize::of(*part));
            let path = text[..(part.end() - range.start()).to_usize()].replace(':', ".");
            let role = match parts.len() {
                1 => Quoted::Plain,
                count => Quoted::Path(Name::of(&path), is_whole && number + 1 == count),
            };
            self.occurs(part, Role::Quoted(role));
            at = part.end() + TextSize::new(1);
        }
    }

    /// Records the words of `"first, second"`, and paths between other words: `"run = app.cli:main"`.
    fn listed_names(&mut self, range: TextRange) {
        let text = self.text(range);
        let is_list = text.split(',').all(|it| is_identifier(it.trim()));
        let is_edge = |c: char| matches!(c, ',' | ' ' | '=');
        let mut at = range.start();
        for word in text.split(is_edge) {
            if is_list && is_identifier(word) || word.contains(['.', ':']) {
                self.path(TextRange::at(at, TextSize::of(word)), false);
            }
            at += TextSize::of(word) + TextSize::new(1);
        }
    }

    /// Records the names in a template: attributes in `{0.name}`, keys in `%(name)s`, and every name
    /// between the braces of a template language.
    fn embedded(&mut self, range: TextRange) {
        let text = self.text(range);
        for (at, length, rule) in super::templates::names(text) {
            let at = range.start() + TextSize::new(at as u32);
            self.occurs(TextRange::at(at, TextSize::new(length as u32)), Role::Quoted(rule));
        }
    }

    /// Records a string that is one identifier.
    fn quoted(&mut self, it: &Ast, role: Quoted) {
        let Ast::StringLiteral(text) = it else { return };
        if let Some(range) = self.plain_content(text).filter(|it| is_identifier(self.text(*it))) {
            self.occurs(range, Role::Quoted(role));
        }
    }

    /// Records the names in the string arguments of a call whose function is known by its name.
    pub(super) fn strings_of_call(
        &mut self,
        it: &ast::ExprCall,
        function: ExprId,
        arguments: &[Argument],
    ) {
        let (name, receiver) = match self.module.expr(function) {
            Expr::Name(name, ..) => (name, None),
            Expr::Attribute(object, name, _) => (name, Some(object)),
            _ => return,
        };
        let args = &it.arguments.args;
        let first = || arguments.first().map(|it| it.value);
        let unpacked = || arguments.iter().find(|it| it.kind == ArgumentKind::Keywords);
        match name.text() {
            "getattr" | "setattr" | "hasattr" | "delattr" | "object" | "spy" | "__setattr__"
            | "__getattribute__" | "__delattr__" => {
                let by_receiver = name.text().starts_with("__")
                    && args.first().is_some_and(Ast::is_string_literal_expr);
                let (object, text) =
                    if by_receiver { (receiver, args.first()) } else { (first(), args.get(1)) };
                if let (Some(object), Some(text)) = (object, text) {
                    self.quoted(text, Quoted::Attribute(object));
                }
            }
            "get" | "pop" | "setdefault" => {
                if let (Some(object), Some(text)) = (receiver, args.first()) {
                    self.quoted(text, Quoted::Key(object));
                }
            }
            "attrgetter" | "methodcaller" | "import_string" | "patch" => {
                args.iter().for_each(|it| self.quoted(it, Quoted::LookedUp));
            }
            "usefixtures" | "getfixturevalue" | "getfuncargvalue" | "lazy_fixture" | "lf" => {
                args.iter().for_each(|it| self.quoted(it, Quoted::Fixture));
            }
            "parametrize" => args.iter().take(1).for_each(|it| self.quoted(it, Quoted::LookedUp)),
            "update" => {
                if let Some(object) = receiver {
                    self.keyword_names(it, Quoted::Key(object));
                }
            }
            // `patch.multiple(object, name=…)`
            "multiple" => {
                let of_path = args.first().is_some_and(Ast::is_string_literal_expr);
                let rule = match first() {
                    Some(object) if !of_path => Quoted::Attribute(object),
                    _ => Quoted::LookedUp,
                };
                self.keyword_names(it, rule);
            }
            // `patch.dict("module.__dict__", name=…)`
            "dict" if receiver.is_some() && args.first().is_some_and(is_namespace) => {
                self.keyword_names(it, Quoted::LookedUp);
            }
            "startswith" | "removeprefix" => self.affixes_of(args, Quoted::Prefix(Rest::Unknown)),
            "endswith" | "removesuffix" => self.affixes_of(args, Quoted::Suffix(Rest::Unknown)),
            "eval" | "exec" | "timeit" | "repeat" | "Timer" => self.code(it),
            "Template" => self.dollars(it, Quoted::LookedUp),
            "substitute" | "safe_substitute" => {
                first().into_iter().for_each(|of| self.substituted(it, of));
            }
            "format_map" => first().into_iter().for_each(|of| self.fields_of_format(it, of)),
            "format" => {
                unpacked().into_iter().for_each(|of| self.fields_of_format(it, of.value));
                if let Ast::Attribute(method) = &*it.func {
                    self.template(&method.value, ('{', '}'), args.first());
                }
            }
            _ => {}
        }
    }

    /// Records the keywords of a call as names in strings.
    pub(super) fn keyword_names(&mut self, it: &ast::ExprCall, role: Quoted) {
        for name in it.arguments.keywords.iter().filter_map(|it| it.arg.as_ref()) {
            self.occurs(name.range, Role::Quoted(role));
        }
    }

    // Keys

    /// Records a key of a value: the index of a subscript, or the left side of `in`.
    pub(super) fn key_string(&mut self, key: &Ast, of: ExprId) {
        self.quoted(key, Quoted::Key(of));
    }

    /// Records a key of a dict display.
    pub(super) fn entry_string(&mut self, key: &Ast, expectation: ExpectationId) {
        self.quoted(key, Quoted::Entry(expectation));
    }

    /// Lowers an expression for which a place decides the type. The place is stored only if the
    /// expression has a dict display with names as keys.
    pub(super) fn expected(&mut self, expr: &Ast, place: Expectation) -> ExprId {
        if !holds_entries(expr) {
            return self.expr(expr);
        }
        self.module.expectations.push(place);
        let next = ExpectationId(self.module.expectations.len() as u32 - 1);
        self.expectation = next;
        let lowered = self.expr(expr);
        self.expectation = NOTHING;
        lowered
    }

    /// Lowers an expression whose place is known only later. Returns the row of the place, if the
    /// expression needs one.
    pub(super) fn pending(&mut self, expr: &Ast) -> (ExprId, Option<ExpectationId>) {
        let next = ExpectationId(self.module.expectations.len() as u32);
        let lowered = self.expected(expr, Expectation::Nothing);
        (lowered, holds_entries(expr).then_some(next))
    }
}

/// Returns whether an expression is the namespace of an object: `x.__dict__`, or its path in a string.
fn is_namespace(it: &Ast) -> bool {
    match it {
        Ast::StringLiteral(it) => it.value.to_str().ends_with(".__dict__"),
        Ast::Attribute(it) => it.attr.as_str() == "__dict__",
        _ => false,
    }
}

/// The expectation of an expression that no place decides.
pub(super) const NOTHING: ExpectationId = ExpectationId(0);

/// Returns whether an expression has a dict display with names as keys, as far as its first
/// elements tell.
fn holds_entries(expr: &Ast) -> bool {
    let is_empty = |it: &&Ast| matches!(it, Ast::Dict(it) if it.items.is_empty());
    let first = |all: &[Ast]| all.iter().find(|it| !is_empty(it)).is_some_and(holds_entries);
    match expr {
        Ast::Dict(it) => it.items.iter().any(|it| {
            it.key.as_ref().is_some_and(Ast::is_string_literal_expr) || holds_entries(&it.value)
        }),
        // `dict(name=…)`
        Ast::Call(it) => is_dict(it),
        Ast::List(it) => first(&it.elts),
        Ast::Tuple(it) => first(&it.elts),
        Ast::Set(it) => first(&it.elts),
        Ast::ListComp(it) => holds_entries(&it.elt),
        Ast::If(it) => holds_entries(&it.body) || holds_entries(&it.orelse),
        _ => false,
    }
}

/// Returns whether a call is `dict(name=…)`.
pub(super) fn is_dict(it: &ast::ExprCall) -> bool {
    it.func.as_name_expr().is_some_and(|it| it.id.as_str() == "dict")
        && !it.arguments.keywords.is_empty()
}
