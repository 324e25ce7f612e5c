//! Lowers `def`, `class`, `lambda` and `type`.

use ruff_python_ast::{
    self as ast, AnyParameterRef, Parameters, StmtClassDef, StmtFunctionDef, TypeParam, TypeParams,
};
use ruff_text_size::{Ranged, TextRange};

use super::bound::Bound;
use super::{Lower, MODULE, UNREACHABLE};
use crate::semantics::ir::*;

/// State saved while a nested body is lowered.
pub(super) struct OuterState {
    scope: ScopeId,
    flow: FlowId,
    function: Option<FunctionId>,
    loops: Vec<(u32, u32)>,
    tries: Vec<Vec<FlowId>>,
    /// The tables' lengths before the body; the scope of the body is the last one.
    before: Inside,
}

impl Lower<'_> {
    pub(super) fn enter(&mut self, scope: ScopeId, function: Option<FunctionId>) -> OuterState {
        let outside = OuterState {
            scope: std::mem::replace(&mut self.scope, scope),
            flow: self.flow,
            function: std::mem::replace(&mut self.function, function),
            loops: std::mem::take(&mut self.loops),
            tries: std::mem::take(&mut self.tries),
            before: self.rows_from(scope),
        };
        self.flow = self.push_flow(Flow::Start(scope));
        outside
    }

    /// Returns the rows that are added from now on, with a scope that is already there.
    fn rows_from(&self, scope: ScopeId) -> Inside {
        let rows = |length: usize| length as u32..length as u32;
        let scopes = scope.0..self.module.scopes.len() as u32;
        Inside {
            exprs: rows(self.module.exprs.len()),
            scopes,
            joins: rows(self.module.joins.len()),
        }
    }

    pub(super) fn leave(&mut self, outside: OuterState) {
        if let Some(function) = self.function {
            let mut inside = outside.before;
            inside.exprs.end = self.module.exprs.len() as u32;
            inside.scopes.end = self.module.scopes.len() as u32;
            inside.joins.end = self.module.joins.len() as u32;
            self.module.functions[function.index()].inside = inside;
        }
        (self.scope, self.flow) = (outside.scope, outside.flow);
        (self.function, self.loops, self.tries) = (outside.function, outside.loops, outside.tries);
    }

    pub(super) fn function(&mut self, def: &StmtFunctionDef) {
        let decorators = def.decorator_list.iter().map(|it| self.expr(&it.expression)).collect();
        let defaults = self.defaults(&def.parameters);
        let around = self.scope;
        self.type_parameters(def.type_params.as_deref());
        let annotations = self.parameter_annotations(&def.parameters);
        let returns = def.returns.as_ref().map(|it| self.annotation(it));
        let class = match self.module.scopes[around.index()].kind {
            ScopeKind::Class(class) => Some(class),
            _ => None,
        };
        let scope = self.open(ScopeKind::Comprehension);
        let function = self.add_function(scope, def.range());
        self.scope = around;
        let binding = (!def.name.range.is_empty())
            .then(|| self.bind(&def.name, BindingKind::Function(function)));
        let name = binding.map(|_| self.name(def.name.range));
        let it = &mut self.module.functions[function.index()];
        (it.name, it.binding, it.class) = (name, binding, class);
        (it.returns, it.decorators, it.is_async) = (returns, decorators, def.is_async);
        self.parametrized_by(&def.decorator_list, Parametrized::Function(function));
        self.parametrized_values(&def.decorator_list, function);
        self.fixture_name(&def.decorator_list, function);
        let outside = self.enter(scope, Some(function));
        self.parameters(function, &def.parameters, annotations, defaults);
        self.decorator_words(function, &def.decorator_list);
        self.declare(&Bound::of(&def.body));
        self.body(&def.body);
        self.ends_without_return(function);
        self.leave(outside);
    }

    /// Adds the result `None` to a function whose end is reachable.
    fn ends_without_return(&mut self, function: FunctionId) {
        if self.flow != UNREACHABLE {
            let none = self.push(Expr::None);
            self.module.functions[function.index()].returned.push(none);
        }
    }

    pub(super) fn add_function(&mut self, scope: ScopeId, range: TextRange) -> FunctionId {
        let function = FunctionId(self.module.functions.len() as u32);
        self.module.scopes[scope.index()].kind = ScopeKind::Function(function);
        self.module.functions.push(Function {
            name: None,
            scope,
            binding: None,
            parametrized: Vec::new(),
            fixture: None,
            class: None,
            parameters: Vec::new(),
            returns: None,
            returned: Vec::new(),
            yielded: Vec::new(),
            delegated: Vec::new(),
            decorators: Vec::new(),
            is_async: false,
            argument_of: None,
            range: (range.start().to_u32(), range.end().to_u32()),
            inside: Inside::default(),
        });
        function
    }

    /// Lowers defaults, which are evaluated at the definition.
    fn defaults(&mut self, parameters: &Parameters) -> Vec<Option<ExprId>> {
        in_order(parameters).map(|(it, _)| it.default().map(|it| self.expr(it))).collect()
    }

    fn parameter_annotations(&mut self, parameters: &Parameters) -> Vec<Option<ExprId>> {
        in_order(parameters).map(|(it, _)| it.annotation().map(|it| self.annotation(it))).collect()
    }

    fn parameters(
        &mut self,
        function: FunctionId,
        parameters: &Parameters,
        annotations: Vec<Option<ExprId>>,
        defaults: Vec<Option<ExprId>>,
    ) {
        let given = annotations.into_iter().zip(defaults);
        for (index, ((it, kind), (annotation, default))) in
            in_order(parameters).zip(given).enumerate()
        {
            let range = it.as_parameter().name.range();
            let name = self.name(range);
            let symbol = self.symbol_in(self.scope, name);
            let parameter = Parameter { name, kind, symbol, annotation, default };
            self.module.functions[function.index()].parameters.push(parameter);
            self.bind_at(range, BindingKind::Parameter(function, index as u32));
        }
    }

    pub(super) fn lambda(&mut self, it: &ast::ExprLambda) -> FunctionId {
        let none = Parameters::default();
        let parameters = it.parameters.as_deref().unwrap_or(&none);
        let defaults = self.defaults(parameters);
        let annotations = vec![None; defaults.len()];
        let scope = self.open(ScopeKind::Comprehension);
        let function = self.add_function(scope, it.range());
        let outside = self.enter(scope, Some(function));
        self.parameters(function, parameters, annotations, defaults);
        self.declare(&Bound::of_expr(&it.body));
        let value = self.expr(&it.body);
        self.module.functions[function.index()].returned.push(value);
        self.leave(outside);
        function
    }

    pub(super) fn class(&mut self, def: &StmtClassDef) {
        let decorators = def.decorator_list.iter().map(|it| self.expr(&it.expression)).collect();
        let around = self.scope;
        let type_parameters = self.type_parameters(def.type_params.as_deref());
        let (mut bases, mut keywords) = (Vec::new(), Vec::new());
        for argument in def.arguments.iter().flat_map(|it| it.args.iter()) {
            bases.push(self.annotation(argument));
        }
        let class = ClassId(self.module.classes.len() as u32);
        for keyword in def.arguments.iter().flat_map(|it| it.keywords.iter()) {
            let value = self.expr(&keyword.value);
            if let Some(name) = &keyword.arg {
                keywords.push((self.name(name.range), value));
                self.occurs(name.range, Role::ClassKeyword(class));
            }
        }
        let scope = self.open(ScopeKind::Comprehension);
        self.module.scopes[scope.index()].kind = ScopeKind::Class(class);
        let name = self.name(def.name.range);
        let range = (def.start().to_u32(), def.end().to_u32());
        let binding = BindingId(u32::MAX);
        self.module.classes.push(Class {
            name,
            scope,
            binding,
            bases,
            keywords,
            decorators,
            type_parameters,
            range,
        });
        self.parametrized_by(&def.decorator_list, Parametrized::Class(class));
        // The body runs before the name is bound, in the flow of the enclosing scope.
        let outside = self.enter(scope, None);
        self.declare(&Bound::of(&def.body));
        self.body(&def.body);
        self.leave(outside);
        self.scope = around;
        let binding = self.bind(&def.name, BindingKind::Class(class));
        self.module.classes[class.index()].binding = binding;
    }

    /// Opens the scope of type parameters, if there are any. The caller restores the scope.
    fn type_parameters(&mut self, parameters: Option<&TypeParams>) -> Vec<SymbolId> {
        let Some(parameters) = parameters else { return Vec::new() };
        self.scope = self.open(ScopeKind::TypeParameters);
        let mut symbols = Vec::new();
        for parameter in &parameters.type_params {
            let (name, bound) = match parameter {
                TypeParam::TypeVar(it) => (&it.name, it.bound.as_deref()),
                TypeParam::TypeVarTuple(it) => (&it.name, None),
                TypeParam::ParamSpec(it) => (&it.name, None),
            };
            let bound = bound.map(|it| self.annotation(it));
            let binding = self.bind(name, BindingKind::TypeParameter(bound));
            symbols.push(self.module.binding(binding).symbol);
        }
        symbols
    }

    pub(super) fn type_alias(&mut self, it: &ast::StmtTypeAlias) {
        let around = self.scope;
        self.type_parameters(it.type_params.as_deref());
        let value = self.annotation(&it.value);
        self.scope = around;
        if let Some(name) = it.name.as_name_expr() {
            self.bind_at(name.range, BindingKind::TypeAlias(value));
        }
    }

    /// Returns whether the current scope is the module's.
    pub(super) fn at_top(&self) -> bool {
        self.scope == MODULE
    }
}

/// Returns the parameters in source order.
fn in_order(all: &Parameters) -> impl Iterator<Item = (AnyParameterRef<'_>, ParameterKind)> {
    let kind = |it: &AnyParameterRef<'_>| match it {
        AnyParameterRef::Variadic(one) => {
            if all.vararg.as_ref().is_some_and(|it| it.range == one.range) {
                ParameterKind::Variadic
            } else {
                ParameterKind::Keywords
            }
        }
        AnyParameterRef::NonVariadic(one) => {
            let among =
                |list: &[ast::ParameterWithDefault]| list.iter().any(|it| it.range == one.range);
            if among(&all.posonlyargs) {
                ParameterKind::PositionalOnly
            } else if among(&all.kwonlyargs) {
                ParameterKind::KeywordOnly
            } else {
                ParameterKind::Ordinary
            }
        }
    };
    all.iter_source_order().map(move |it| {
        let kind = kind(&it);
        (it, kind)
    })
}
