//! Lowers marks and decorators of pytest that name parameters and fixtures.

use ruff_python_ast::{Decorator, Expr as Ast, ExprStringLiteral};
use ruff_text_size::{TextRange, TextSize};

use super::Lower;
use super::exprs::is_identifier;
use crate::semantics::ir::*;
use crate::semantics::names::Name;
use crate::test_discovery::last_name;

impl Lower<'_> {
    /// Records the parameters that `parametrize` names, in decorators of a function or class.
    pub(super) fn parametrized_by(&mut self, decorators: &[Decorator], of: Parametrized) {
        decorators.iter().for_each(|it| self.parametrize(&it.expression, of));
    }

    /// Records which values of its `parametrize` marks each parameter of a test gets.
    pub(super) fn parametrized_values(&mut self, decorators: &[Decorator], function: FunctionId) {
        for (number, it) in decorators.iter().enumerate() {
            let Ast::Call(mark) = &it.expression else { continue };
            let names = mark.arguments.find_argument_value("argnames", 0);
            let Some(names) = names.filter(|_| last_name(&mark.func) == Some("parametrize")) else {
                continue;
            };
            let is_several = matches!(names, Ast::List(_) | Ast::Tuple(_));
            let names: Vec<Name> = strings_of(names)
                .flat_map(|it| it.value.to_str().split(',').map(|it| Name::of(it.trim())))
                .collect();
            let is_several = is_several || names.len() > 1;
            let of = &mut self.module.functions[function.index()];
            let call = of.decorators[number];
            let parts = names.into_iter().zip(0..);
            let marked = parts.map(|(name, part)| ParametrizedName {
                name,
                call,
                part: is_several.then_some(part),
            });
            of.parametrized.extend(marked);
        }
    }

    /// Records the parameters in `pytestmark = …` of a module or class.
    pub(super) fn marks(&mut self, targets: &[Ast], value: &Ast) {
        let of = match self.module.scopes[self.scope.index()].kind {
            ScopeKind::Module => Parametrized::Module,
            ScopeKind::Class(class) => Parametrized::Class(class),
            _ => return,
        };
        if targets.iter().any(|it| last_name(it) == Some("pytestmark")) {
            self.parametrize(value, of);
        }
    }

    /// Records the parameters that a `parametrize` mark, or a list of marks, names.
    pub(super) fn parametrize(&mut self, mark: &Ast, of: Parametrized) {
        match mark {
            Ast::List(it) => it.elts.iter().for_each(|it| self.parametrize(it, of)),
            Ast::Tuple(it) => it.elts.iter().for_each(|it| self.parametrize(it, of)),
            Ast::Call(it) if last_name(&it.func) == Some("parametrize") => {
                let keyword = |name: &str| it.arguments.find_keyword(name).map(|it| &it.value);
                let names = it.arguments.args.first().or_else(|| keyword("argnames"));
                for text in names.into_iter().chain(keyword("indirect")) {
                    self.parameter_names(text, of);
                }
            }
            _ => {}
        }
    }

    /// Records `"a, b"`, `("a", "b")` or `["a", "b"]`.
    fn parameter_names(&mut self, names: &Ast, of: Parametrized) {
        for text in strings_of(names) {
            let Some(range) = self.plain_content(text) else { continue };
            let mut at = range.start();
            for part in self.text(range).split(',') {
                let lead = TextSize::of(part) - TextSize::of(part.trim_start());
                let name = TextRange::at(at + lead, TextSize::of(part.trim()));
                if is_identifier(part.trim()) {
                    self.occurs(name, Role::Quoted(Quoted::Parameter(of)));
                }
                at += TextSize::of(part) + TextSize::new(1);
            }
        }
    }

    /// Binds the name in `@fixture(name="…")`. It is no name of the scope, only one of a fixture.
    pub(super) fn fixture_name(&mut self, decorators: &[Decorator], function: FunctionId) {
        let named = |it: &Decorator| match &it.expression {
            Ast::Call(it) if last_name(&it.func) == Some("fixture") => {
                it.arguments.find_keyword("name").map(|it| it.value.clone())
            }
            _ => None,
        };
        let Some(Ast::StringLiteral(text)) = decorators.iter().find_map(named) else { return };
        let Some(range) = self.plain_content(&text).filter(|it| is_identifier(self.text(*it)))
        else {
            return;
        };
        let (name, scope) = (self.name(range), self.scope);
        let symbol = SymbolId(self.module.symbols.len() as u32);
        let bindings = Vec::new();
        self.module.symbols.push(Symbol { scope, name, bindings, on_instance: false });
        let binding = self.add_binding(symbol, range, BindingKind::Function(function));
        self.occurs(range, Role::Binding(binding));
        self.module.functions[function.index()].fixture = Some(symbol);
    }
}

/// Returns the strings of a list or tuple, or one string.
fn strings_of(names: &Ast) -> impl Iterator<Item = &ExprStringLiteral> {
    let items: &[Ast] = match names {
        Ast::List(it) => &it.elts,
        Ast::Tuple(it) => &it.elts,
        one => std::slice::from_ref(one),
    };
    items.iter().filter_map(Ast::as_string_literal_expr)
}
