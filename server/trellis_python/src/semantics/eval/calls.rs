//! Evaluates calls: the function that runs, the parameter of each argument, and the result.

use std::sync::Arc;

use super::Eval;
use super::functions::CallSite;
use super::solve::Solution;
use crate::index::FileId;
use crate::semantics::bundle;
use crate::semantics::ir::*;
use crate::semantics::names::{KNOWN, Name};
use crate::semantics::types::{ClassType, FunctionType, Type};

impl Eval<'_> {
    pub(super) fn call(&self, file: FileId, call: &Call) -> Type {
        let callee = self.expr(file, call.function);
        let site = CallSite { file, call };
        callee.map(|it| self.called(it, site))
    }

    fn called(&self, callee: &Type, site: CallSite<'_>) -> Type {
        match callee {
            Type::Function(function) => self
                .field_taken(function, site)
                .unwrap_or_else(|| self.returns(function, Some(site))),
            Type::Class(class) => self.constructed(class, site),
            Type::Callable(inner) => inner.1.clone(),
            Type::Instance(class) => match self.bound_member(class, KNOWN.call) {
                Some(Type::Function(function)) => self.returns(&function, Some(site)),
                _ => Type::Unknown,
            },
            Type::Partial(inner) => match &**inner {
                Type::Function(function) => self.returns(function, None),
                Type::Class(class) => Type::Instance(class.clone()),
                _ => Type::Unknown,
            },
            Type::Form(inner) => (**inner).clone(),
            Type::Variable(file, symbol) => match self.bound_of(*file, *symbol) {
                Some(bound) if bound != *callee => self.called(&bound, site),
                _ => Type::Unknown,
            },
            _ => Type::Unknown,
        }
    }

    /// Returns a method of an instance of a class, bound to it.
    pub(super) fn bound_member(&self, class: &ClassType, name: Name) -> Option<Type> {
        let member = self.member(class, name, 0)?;
        let object = Type::Instance(class.clone());
        Some(self.member_type_of(&member, &object, Some(class)))
    }

    fn constructed(&self, class: &ClassType, site: CallSite<'_>) -> Type {
        if bundle::number(class.file).is_some()
            && let Some(special) = self.constructed_specially(class, site)
        {
            return special;
        }
        if let Some(reported) = self.decided_by_new(class, site) {
            return reported;
        }
        let info = self.class(class.file, class.class);
        if info.parameters.is_empty() || !class.arguments.is_empty() {
            return Type::Instance(class.clone());
        }
        let own = self.own_class_type(class.file, class.class);
        let mut solution = Solution::default();
        for constructor in self.candidates(&Type::Class(class.clone())).into_iter().take(1) {
            let constructor = self.chosen(&constructor, Some(site));
            self.learn(&constructor, site, true, &mut solution);
            // Expressed in terms of the called class, not of the class that has the constructor.
            let owner = constructor.bound.as_ref().map(|(owner, _)| owner.clone());
            if let Some(owner) = owner.filter(|it| !it.is_same(class)) {
                let base = self.as_base(&own, &owner);
                let mut through = Solution::default();
                let info = self.class(owner.file, owner.class);
                for (wanted, (file, symbol)) in
                    base.iter().flat_map(|it| it.arguments.iter()).zip(&info.parameters)
                {
                    self.solve(
                        wanted,
                        &solution.finish(&Type::Variable(*file, *symbol), self),
                        &mut through,
                    );
                }
                solution = through;
            }
        }
        if info.has_fields {
            self.learn_fields(class, site, &mut solution);
        }
        let unknown = |it: &Type| match solution.apply(it) {
            Type::Variable(..) => Type::Unknown,
            known => known,
        };
        let arguments = own.arguments.iter().map(unknown).collect();
        Type::Instance(ClassType { arguments, ..own })
    }

    /// Returns the return type of an annotated `__new__`.
    fn decided_by_new(&self, class: &ClassType, site: CallSite<'_>) -> Option<Type> {
        let constructor = self.candidates(&Type::Class(class.clone())).pop()?;
        let of = self.module(constructor.file).function(constructor.function);
        if of.name != Some(KNOWN.new) || of.returns.is_none() {
            return None;
        }
        Some(self.returns(&constructor, Some(site))).filter(|it| *it != Type::Unknown)
    }

    /// Evaluates `super()`, `type(x)`, `partial(f, …)` and `NewType("X", Base)`.
    fn constructed_specially(&self, class: &ClassType, site: CallSite<'_>) -> Option<Type> {
        let arguments = self.module(site.file).arguments_of(site.call);
        let first = || arguments.first().map(|it| self.expr(site.file, it.value));
        let name = self.module(class.file).class(class.class).name;
        if name == KNOWN.super_ {
            return Some(self.super_object(site));
        }
        if name == KNOWN.type_ && arguments.len() == 1 {
            return Some(first()?.map(|it| match it {
                Type::Instance(class) => Type::Class(class.clone()),
                Type::Variable(..) => Type::Form(it.clone().into()),
                _ => Type::Unknown,
            }));
        }
        if name == KNOWN.partial {
            return Some(Type::Partial(first()?.into()));
        }
        if name == KNOWN.new_type {
            let base = arguments.get(1)?;
            return Some(self.expr(site.file, base.value));
        }
        None
    }

    fn super_object(&self, site: CallSite<'_>) -> Type {
        let module = self.module(site.file);
        let arguments = module.arguments_of(site.call);
        if let [class, object] = arguments {
            return match self.expr(site.file, class.value) {
                Type::Class(class) => {
                    Type::Super(Arc::new((class, self.expr(site.file, object.value))))
                }
                _ => Type::Unknown,
            };
        }
        let around =
            module.outwards(site.call.scope).find_map(|it| match module.scopes[it.index()].kind {
                ScopeKind::Function(function) => {
                    let of = module.function(function);
                    Some((function, of.class?))
                }
                _ => None,
            });
        let Some((function, class)) = around else { return Type::Unknown };
        let own = self.own_class_type(site.file, class);
        let is_class = self.is_class_method(site.file, function);
        let object = if is_class { Type::Class(own.clone()) } else { Type::Instance(own.clone()) };
        Type::Super(Arc::new((own, object)))
    }

    /// Returns the functions that a call may run, bound. For a class, returns its constructor.
    pub(crate) fn candidates(&self, callee: &Type) -> Vec<FunctionType> {
        let mut all = Vec::new();
        for member in callee.members() {
            match member {
                Type::Function(function) => all.push((**function).clone()),
                Type::Partial(inner) => all.extend(self.candidates(inner)),
                Type::Instance(class) => {
                    all.extend(self.bound_member(class, KNOWN.call).and_then(function_of))
                }
                Type::Class(class) => all.extend(self.constructor(class)),
                Type::Form(inner) => {
                    if let Type::Instance(class) = &**inner {
                        all.extend(self.constructor(class));
                    }
                }
                _ => {}
            }
        }
        all
    }

    /// Returns `__init__`, or `__new__` if only that is defined outside `object`.
    fn constructor(&self, class: &ClassType) -> Option<FunctionType> {
        let own = if class.arguments.is_empty() {
            self.own_class_type(class.file, class.class)
        } else {
            class.clone()
        };
        let object = |it: &super::attributes::Member| self.is_bundled(&it.owner, KNOWN.object);
        let init = self.member(&own, KNOWN.init, 0).filter(|it| !object(it));
        let member = init.or_else(|| self.member(&own, KNOWN.new, 0).filter(|it| !object(it)))?;
        let instance = Type::Instance(own.clone());
        function_of(self.member_type_of(&member, &instance, Some(&own)))
    }

    /// Returns the first overload that accepts the arguments.
    pub(super) fn chosen(
        &self,
        function: &FunctionType,
        site: Option<CallSite<'_>>,
    ) -> FunctionType {
        let overloads = self.overloads(function);
        let of = |it: &FunctionId| FunctionType { function: *it, ..function.clone() };
        let (Some(site), Some(first)) = (site, overloads.first()) else {
            return overloads.first().map_or_else(|| function.clone(), of);
        };
        let fits = overloads.iter().map(of).find(|it| self.takes(it, site));
        fits.unwrap_or_else(|| of(first))
    }

    /// Returns the functions marked `@overload` under a function's name, in order.
    pub(crate) fn overloads(&self, function: &FunctionType) -> Vec<FunctionId> {
        let module = self.module(function.file);
        let Some(binding) = module.function(function.function).binding else { return Vec::new() };
        let bindings = &module.symbol(module.binding(binding).symbol).bindings;
        if bindings.len() < 2 {
            return Vec::new();
        }
        let overload = |it: &BindingId| match module.binding(*it).kind {
            BindingKind::Function(it) if self.has_decorator(function.file, it, KNOWN.overload) => {
                Some(it)
            }
            _ => None,
        };
        bindings.iter().filter_map(overload).collect()
    }

    fn takes(&self, function: &FunctionType, site: CallSite<'_>) -> bool {
        let module = self.module(function.file);
        let parameters = &module.function(function.function).parameters;
        let arguments = self.module(site.file).arguments_of(site.call);
        let matched = self.matched(function, site);
        let open = arguments
            .iter()
            .any(|it| matches!(it.kind, ArgumentKind::Starred | ArgumentKind::Keywords));
        if matched.len() < arguments.len() && !open {
            return false;
        }
        let first = usize::from(function.bound.is_some());
        let is_given = |index: usize| matched.iter().any(|(parameter, _)| *parameter == index);
        let needs = |it: &Parameter| {
            it.default.is_none()
                && !matches!(it.kind, ParameterKind::Variadic | ParameterKind::Keywords)
        };
        let missing = parameters
            .iter()
            .enumerate()
            .skip(first)
            .any(|(index, it)| needs(it) && !is_given(index));
        if missing && !open {
            return false;
        }
        matched.iter().all(|(parameter, argument)| {
            let wanted = self.parameter(function.file, function.function, *parameter);
            let given = self.expr(site.file, arguments[*argument].value);
            self.may_be(&given, &wanted)
        })
    }

    /// Returns whether a value may be given for a parameter, as far as the types are known.
    fn may_be(&self, given: &Type, wanted: &Type) -> bool {
        let one = |it: &Type, wanted: &Type| match (it, wanted) {
            (Type::Unknown | Type::Never, _) => true,
            (_, Type::Unknown | Type::Variable(..) | Type::Receiver) => true,
            (Type::None, other) => *other == Type::None,
            (Type::Instance(own), Type::Instance(wanted)) => {
                let info = self.class(own.file, own.class);
                let is_protocol = self.class(wanted.file, wanted.class).is_protocol
                    || bundle::number(wanted.file).is_some() && self.is_abstract(wanted);
                self.derives(own, wanted)
                    || !info.complete
                    || is_protocol && self.has_members_of(own, wanted)
            }
            (Type::Tuple(_), Type::Instance(wanted)) => {
                self.is_bundled(wanted, KNOWN.tuple) || self.is_abstract(wanted)
            }
            (Type::Function(_) | Type::Callable(_) | Type::Class(_), Type::Callable(_)) => true,
            (Type::Class(own), Type::Class(wanted)) => self.derives(own, wanted),
            (Type::Class(_), Type::Form(_)) | (Type::Tuple(_), Type::Tuple(_)) => true,
            (Type::Instance(_), Type::Tuple(_) | Type::None | Type::Class(_) | Type::Form(_)) => {
                false
            }
            _ => false,
        };
        given.members().iter().any(|it| wanted.members().iter().any(|wanted| one(it, wanted)))
    }

    fn is_abstract(&self, class: &ClassType) -> bool {
        bundle::file("typing") == Some(class.file)
    }

    /// Returns whether a class has every member that an interface names.
    pub(crate) fn has_members_of(&self, own: &ClassType, wanted: &ClassType) -> bool {
        let module = self.module(wanted.file);
        let scope = module.class(wanted.class).scope;
        let mut names = module.names.keys().filter(|(of, _)| *of == scope).map(|(_, name)| *name);
        names.all(|name| self.member(own, name, 0).is_some())
    }

    /// Returns the indexes of parameters and arguments that correspond.
    pub(crate) fn matched(
        &self,
        function: &FunctionType,
        site: CallSite<'_>,
    ) -> Vec<(usize, usize)> {
        let parameters = &self.module(function.file).function(function.function).parameters;
        let arguments = self.module(site.file).arguments_of(site.call);
        let mut pairs = Vec::new();
        let mut next = usize::from(function.bound.is_some());
        for (index, argument) in arguments.iter().enumerate() {
            match argument.kind {
                ArgumentKind::Positional => {
                    let Some(parameter) = parameters.get(next) else { continue };
                    match parameter.kind {
                        ParameterKind::Variadic => pairs.push((next, index)),
                        ParameterKind::PositionalOnly | ParameterKind::Ordinary => {
                            pairs.push((next, index));
                            next += 1;
                        }
                        _ => {}
                    }
                }
                ArgumentKind::Keyword(name) => {
                    pairs.extend(keyword_parameter(parameters, name).map(|it| (it, index)))
                }
                // An unpacked argument may fill any later parameter.
                ArgumentKind::Starred => next = parameters.len(),
                ArgumentKind::Keywords => {}
            }
        }
        pairs
    }

    /// Returns the known type variables of a call.
    pub(super) fn solution(
        &self,
        function: &FunctionType,
        site: Option<CallSite<'_>>,
        with_lambdas: bool,
    ) -> Solution {
        let mut solution = Solution::default();
        let of = self.module(function.file).function(function.function);
        let own = of.class.map(|it| Type::Instance(self.own_class_type(function.file, it)));
        solution.receiver = own;
        if let Some((owner, receiver)) = &function.bound {
            let info = self.class(owner.file, owner.class);
            solution = Solution::of_class(owner, &info);
            solution.receiver = Some(match receiver {
                Type::Class(class) => Type::Instance(class.clone()),
                other => other.clone(),
            });
            // `def create(cls: type[T]) -> T`
            let parameters = &self.module(function.file).function(function.function).parameters;
            if let Some(annotation) = parameters.first().and_then(|it| it.annotation) {
                let wanted = self.annotation(function.file, annotation);
                self.solve(&wanted, receiver, &mut solution);
            }
        }
        if let Some(site) = site {
            self.learn(function, site, with_lambdas, &mut solution);
        }
        solution
    }

    fn learn(
        &self,
        function: &FunctionType,
        site: CallSite<'_>,
        with_lambdas: bool,
        into: &mut Solution,
    ) {
        let module = self.module(site.file);
        let arguments = module.arguments_of(site.call);
        let parameters = &self.module(function.file).function(function.function).parameters;
        let is_lambda =
            |argument: usize| matches!(module.expr(arguments[argument].value), Expr::Lambda(_));
        let mut matched = self.matched(function, site);
        matched.retain(|(parameter, argument)| {
            parameters[*parameter].annotation.is_some() && (with_lambdas || !is_lambda(*argument))
        });
        let wanted = |parameter: usize| {
            let annotation = parameters[parameter].annotation;
            annotation.map_or(Type::Unknown, |it| self.annotation(function.file, it))
        };
        let mut pairs: Vec<(Type, usize)> = matched
            .into_iter()
            .map(|(parameter, argument)| (wanted(parameter), argument))
            .collect();
        // Callbacks come last, because their results may depend on types learned from the other
        // arguments.
        pairs.sort_by_key(|(wanted, _)| is_callback(wanted));
        for (wanted, argument) in pairs {
            self.solve(&wanted, &self.expr(site.file, arguments[argument].value), into);
        }
    }

    /// Learns a dataclass's type parameters from the arguments for its fields, as from a
    /// constructor's parameters.
    fn learn_fields(&self, class: &ClassType, site: CallSite<'_>, into: &mut Solution) {
        let arguments = self.module(site.file).arguments_of(site.call);
        let fields = self.fields(class);
        for (index, argument) in arguments.iter().enumerate() {
            let field = match argument.kind {
                ArgumentKind::Positional => fields.get(index),
                ArgumentKind::Keyword(name) => fields
                    .iter()
                    .find(|(file, symbol)| self.module(*file).symbol(*symbol).name == name),
                _ => None,
            };
            if let Some((file, symbol)) = field {
                let given = self.expr(site.file, argument.value);
                self.solve(&self.symbol(*file, *symbol), &given, into);
            }
        }
    }

    /// Returns the annotated names of a class and its bases, bases first: the parameters of a
    /// dataclass's constructor.
    pub(crate) fn fields(&self, class: &ClassType) -> Vec<(FileId, SymbolId)> {
        let mut fields: Vec<(FileId, SymbolId)> = Vec::new();
        for base in self.class(class.file, class.class).mro.iter().rev() {
            if bundle::number(base.file).is_some() {
                continue;
            }
            let module = self.module(base.file);
            let scope = module.class(base.class).scope;
            let own = module.symbols.iter().enumerate().filter(|(_, it)| {
                let annotated =
                    |it: &BindingId| matches!(module.binding(*it).kind, BindingKind::Annotated(..));
                it.scope == scope && !it.on_instance && it.bindings.first().is_some_and(annotated)
            });
            for (number, it) in own {
                let same = |(file, symbol): &(FileId, SymbolId)| {
                    self.module(*file).symbol(*symbol).name == it.name
                };
                let field = (base.file, SymbolId(number as u32));
                match fields.iter().position(same) {
                    Some(place) => fields[place] = field,
                    None => fields.push(field),
                }
            }
        }
        fields
    }
}

/// Returns whether a parameter of a type takes a function.
fn is_callback(wanted: &Type) -> bool {
    wanted.members().iter().any(|it| matches!(it, Type::Callable(_)))
}

fn function_of(it: Type) -> Option<FunctionType> {
    match it {
        Type::Function(function) => Some((*function).clone()),
        _ => None,
    }
}

/// Returns the index of the parameter that a keyword fills. Positional-only parameters do not
/// count.
pub(crate) fn keyword_parameter(parameters: &[Parameter], name: Name) -> Option<usize> {
    let named = |it: &Parameter| {
        it.name == name && matches!(it.kind, ParameterKind::Ordinary | ParameterKind::KeywordOnly)
    };
    parameters.iter().position(named)
}
