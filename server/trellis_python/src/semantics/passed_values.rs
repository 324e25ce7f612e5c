//! Evaluates what pytest passes to the parameters of tests: fixtures and listed values.

use super::eval::Eval;
use super::ir::*;
use super::meaning::Target;
use super::names::{KNOWN, Name};
use super::types::Type;
use crate::index::FileId;

impl Eval<'_> {
    /// Returns the value that pytest passes to a parameter of a test: one of those that `parametrize`
    /// lists, or that of a fixture.
    pub(crate) fn passed_value(
        &self,
        file: FileId,
        function: FunctionId,
        index: u32,
    ) -> Option<Type> {
        let of = self.module(file).function(function);
        let name = of.parameters[index as usize].name;
        let mut marks = of.parametrized.iter();
        match marks.find(|it| it.name == name && !self.is_indirect(file, it)) {
            Some(mark) => Some(self.listed_value(file, mark)),
            None => self.fixture_value(file, function, index),
        }
    }

    /// Returns whether the values of a `parametrize` mark go to a fixture: `indirect=True`, or a list
    /// of names. A list with only some of the names is taken for all of them.
    fn is_indirect(&self, file: FileId, mark: &ParametrizedName) -> bool {
        let module = self.module(file);
        let arguments = module.call(mark.call).map(|it| module.arguments_of(it));
        let mut arguments = arguments.into_iter().flatten();
        arguments
            .any(|it| matches!(it.kind, ArgumentKind::Keyword(name) if name.text() == "indirect"))
    }

    /// Returns the type of the values of one name in a `parametrize` mark.
    fn listed_value(&self, file: FileId, mark: &ParametrizedName) -> Type {
        let module = self.module(file);
        let Some(call) = module.call(mark.call) else { return Type::Unknown };
        let is_values = |it: &&Argument| matches!(it.kind, ArgumentKind::Keyword(name) if name.text() == "argvalues");
        let arguments = module.arguments_of(call);
        let values = arguments.iter().find(is_values).or_else(|| arguments.get(1));
        let Some(values) = values else { return Type::Unknown };
        let (Expr::List(rows) | Expr::Tuple(rows)) = module.expr(values.value) else {
            return Type::Unknown;
        };
        let row = |it: &ExprId| match (module.expr(*it), mark.part) {
            (Expr::Call(_), part) if case(module, *it).is_some() => {
                let argument =
                    case(module, *it).and_then(|all| all.get(part.unwrap_or(0) as usize));
                argument.map_or(Type::Unknown, |it| self.expr(file, it.value))
            }
            (Expr::Tuple(parts) | Expr::List(parts), Some(part)) => {
                let part = module.list(parts).get(part as usize);
                part.map_or(Type::Unknown, |it| self.expr(file, *it))
            }
            (_, None) => self.expr(file, *it),
            _ => Type::Unknown,
        };
        Type::union(module.list(rows).iter().map(row))
    }

    /// Returns the value of `request.param` in a fixture: one of its `params`.
    pub(crate) fn fixture_param(&self, file: FileId, object: ExprId, name: Name) -> Option<Type> {
        let module = self.module(file);
        let Expr::Name(_, Some(symbol), _) = module.expr(object) else { return None };
        let [only] = module.symbol(symbol).bindings.as_slice() else { return None };
        let BindingKind::Parameter(function, _) = module.binding(*only).kind else { return None };
        let asks = name == KNOWN.param && module.symbol(symbol).name == KNOWN.request;
        if !asks || !self.is_fixture(file, function) {
            return None;
        }
        let marks = module.function(function).decorators.iter();
        let is_params = |it: &&Argument| it.kind == ArgumentKind::Keyword(KNOWN.params);
        let params = marks
            .filter_map(|it| module.call(*it))
            .find_map(|it| module.arguments_of(it).iter().find(is_params))?;
        let one = |it: &ExprId| match case(module, *it) {
            Some(arguments) => {
                arguments.first().map_or(Type::Unknown, |it| self.expr(file, it.value))
            }
            None => self.expr(file, *it),
        };
        Some(match module.expr(params.value) {
            Expr::List(all) | Expr::Tuple(all) => Type::union(module.list(all).iter().map(one)),
            _ => self.element(&self.expr(file, params.value), false),
        })
    }

    /// Returns the value that a fixture passes to a parameter.
    fn fixture_value(&self, file: FileId, function: FunctionId, index: u32) -> Option<Type> {
        let requested = self.requested(file, function, index)?;
        let value = |it: Target| match it {
            Target::Symbol(file, symbol) => {
                let functions = self.fixtures_of((file, symbol));
                Type::union(functions.map(|it| self.passed(file, it)))
            }
            Target::Outside(_) => {
                let name = self.module(file).function(function).parameters[index as usize].name;
                let known = self.built_in_fixture(name);
                known.map_or(Type::Unknown, |(file, it)| self.passed(file, it))
            }
            _ => Type::Unknown,
        };
        Some(Type::union(requested.into_iter().map(value)))
    }
}

/// Returns the arguments of `pytest.param(…)`.
fn case(module: &Module, it: ExprId) -> Option<&[Argument]> {
    let call = module.call(it)?;
    let is_case = matches!(module.expr(call.function),
        Expr::Name(name, ..) | Expr::Attribute(_, name, _) if name == KNOWN.param);
    is_case.then(|| module.arguments_of(call))
}
