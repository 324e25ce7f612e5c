//! Evaluates calls: the function that runs, the parameter of each argument, and the result.

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
        if let Some(module) = self.imported_by_call(file, call) {
            return module;
        }
        let callee = self.expr(file, call.function);
        let site = CallSite { file, call };
        if let Some(instance) = self.created(site, &callee) {
            return instance;
        }
        callee.map(|it| self.called(it, site))
    }

    /// Returns the module of `import_module("package.module")`.
    fn imported_by_call(&self, file: FileId, call: &Call) -> Option<Type> {
        let module = self.module(file);
        let (Expr::Name(name, ..) | Expr::Attribute(_, name, _)) = module.expr(call.function)
        else {
            return None;
        };
        let [path] = module.arguments_of(call) else { return None };
        if name != KNOWN.import_module {
            return None;
        }
        let path = ModulePath { level: 0, name: *module.texts.get(&path.value)? };
        match self.expr(file, call.function) {
            Type::Function(own) if bundle::number(own.file).is_none() => None,
            _ => self.resolve(file, path).map(Type::Module),
        }
    }

    /// Returns the result of `super().__new__(cls, …)` of the library: an instance of the class that
    /// is passed.
    fn created(&self, site: CallSite<'_>, callee: &Type) -> Option<Type> {
        let module = self.module(site.file);
        let Expr::Attribute(_, name, _) = module.expr(site.call.function) else { return None };
        let Type::Function(function) = callee else { return None };
        if name != KNOWN.new || bundle::number(function.file).is_none() {
            return None;
        }
        let class = module.arguments_of(site.call).first()?;
        match self.expr(site.file, class.value) {
            Type::Class(class) => Some(Type::Instance(class)),
            _ => None,
        }
    }

    fn called(&self, callee: &Type, site: CallSite<'_>) -> Type {
        match callee {
            Type::Function(function) => self.called_function(function, site),
            Type::Class(class) => self.constructed(class, site),
            Type::Callable(inner) => self.called_back(inner, site),
            Type::Instance(class) => match self.bound_member(class, KNOWN.call) {
                Some(Type::Function(function)) => self.returns(&function, Some(site)),
                _ => Type::Unknown,
            },
            Type::Partial(partial) => self.completed(partial, Some(site)),
            Type::Wrapped(_, inner) => self.called(inner, site),
            Type::Form(inner) => (**inner).clone(),
            Type::Variable(file, symbol) => match self.bound_of(*file, *symbol) {
                Some(bound) if bound != *callee => self.called(&bound, site),
                _ => Type::Unknown,
            },
            _ => Type::Unknown,
        }
    }

    fn called_function(&self, function: &FunctionType, site: CallSite<'_>) -> Type {
        if let Some(field) = self.field_taken(function, site) {
            return field;
        }
        let registered = self.registered(function);
        let others = registered.iter().map(|it| self.returns(it, Some(site)));
        Type::union([self.returns(function, Some(site))].into_iter().chain(others))
    }

    /// Returns the result of a call of a value that is only known as `Callable[[…], …]`.
    fn called_back(&self, callee: &(Option<Vec<Type>>, Type), site: CallSite<'_>) -> Type {
        let mut solution = Solution::default();
        let arguments = self.module(site.file).arguments_of(site.call);
        let given = arguments.iter().take_while(|it| it.kind == ArgumentKind::Positional);
        for (wanted, argument) in callee.0.iter().flatten().zip(given) {
            self.solve(wanted, &self.expr(site.file, argument.value), &mut solution);
        }
        solution.apply(&callee.1)
    }

    /// Returns a method of an instance of a class, bound to it.
    pub(super) fn bound_member(&self, class: &ClassType, name: Name) -> Option<Type> {
        let member = self.member(class, name, 0)?;
        let object = Type::Instance(class.clone());
        Some(self.member_type_of(&member, &object, Some(class)))
    }

    /// Returns the functions that a call may run, bound. For a class, returns its constructor.
    pub(crate) fn candidates(&self, callee: &Type) -> Vec<FunctionType> {
        let mut all = Vec::new();
        for member in callee.members() {
            match member {
                Type::Function(function) => {
                    all.push((**function).clone());
                    all.extend(self.registered(function));
                }
                Type::Partial(inner) => all.extend(self.candidates(&inner.callee)),
                Type::Wrapped(_, inner) => all.extend(self.candidates(inner)),
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

    pub(super) fn learn(
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
            self.solve(&wanted, &self.argument(site, argument), into);
        }
    }
}

/// Returns whether a parameter of a type takes a function.
fn is_callback(wanted: &Type) -> bool {
    wanted.members().iter().any(|it| matches!(it, Type::Callable(_)))
}

/// Returns the function that a type is.
pub(super) fn function_of(it: Type) -> Option<FunctionType> {
    match it {
        Type::Function(function) => Some((*function).clone()),
        _ => None,
    }
}
