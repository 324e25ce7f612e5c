//! Evaluates decorators, and the kinds of functions that they tell.

use super::Eval;
use super::solve::Solution;
use crate::index::FileId;
use crate::semantics::bundle;
use crate::semantics::ir::*;
use crate::semantics::names::{KNOWN, Name};
use crate::semantics::types::{FunctionType, PartialType, Type, Wrapper};

impl Eval<'_> {
    /// Returns the last names of a function's decorators: `setter` of `@size.setter`.
    fn decorator_names(&self, file: FileId, function: FunctionId) -> impl Iterator<Item = Name> {
        let module = self.module(file);
        module.function(function).decorators.iter().filter_map(|it| {
            let target = module.call(*it).map_or(*it, |call| call.function);
            match module.expr(target) {
                Expr::Name(name, ..) | Expr::Attribute(_, name, _) => Some(name),
                _ => None,
            }
        })
    }

    pub(crate) fn has_decorator(&self, file: FileId, function: FunctionId, name: Name) -> bool {
        self.decorator_names(file, function).any(|it| it == name)
    }

    pub(crate) fn is_property(&self, file: FileId, function: FunctionId) -> bool {
        let of_property = |it: Name| {
            [
                KNOWN.property,
                KNOWN.cached_property,
                KNOWN.setter,
                KNOWN.getter,
                KNOWN.deleter,
                KNOWN.abstractproperty,
            ]
            .contains(&it)
        };
        self.module(file).function(function).class.is_some()
            && self.decorator_names(file, function).any(of_property)
    }

    pub(super) fn is_class_method(&self, file: FileId, function: FunctionId) -> bool {
        let name = self.module(file).function(function).name;
        let by_name = name.is_some_and(|it| {
            matches!(it.text(), "__new__" | "__init_subclass__" | "__class_getitem__")
        });
        by_name || self.has_decorator(file, function, KNOWN.classmethod)
    }

    /// Returns whether the first parameter of a function is the object or class it is called on.
    pub(super) fn has_receiver(&self, file: FileId, function: FunctionId) -> bool {
        self.module(file).function(function).class.is_some()
            && !self.has_decorator(file, function, KNOWN.staticmethod)
    }

    /// Returns a function's type after its decorators.
    pub(super) fn decorated(&self, file: FileId, function: FunctionId) -> Type {
        let plain = self.plain_function(file, function);
        let module = self.module(file);
        let of = module.function(function);
        if self.is_property(file, function) {
            return plain;
        }
        let mut result = plain.clone();
        for decorator in of.decorators.iter().rev() {
            result = self.decorate(file, *decorator, result);
        }
        result
    }

    /// Applies a decorator. An unknown decorator, or one that returns a wrapper, leaves the type
    /// unchanged.
    fn decorate(&self, file: FileId, decorator: ExprId, it: Type) -> Type {
        let module = self.module(file);
        let target = module.call(decorator).map_or(decorator, |call| call.function);
        let (Expr::Name(name, ..) | Expr::Attribute(_, name, _)) = module.expr(target) else {
            return it;
        };
        let transparent = [
            KNOWN.staticmethod,
            KNOWN.classmethod,
            KNOWN.overload,
            KNOWN.contextmanager,
            KNOWN.asynccontextmanager,
            KNOWN.wraps,
        ];
        if transparent.contains(&name) {
            return it;
        }
        let result = match self.expr(file, decorator) {
            Type::Function(decorator) if bundle::number(decorator.file).is_none() => {
                self.decorator_result(&decorator, &it)
            }
            Type::Class(class) if bundle::number(class.file).is_none() => Type::Instance(class),
            Type::Callable(inner) if !self.is_from_bundle(file, target) => {
                self.applied(&inner, &it)
            }
            _ => return it,
        };
        match &result {
            Type::Instance(_) | Type::Class(_) => result,
            Type::Function(wrapper) if !self.takes_anything(wrapper) => result,
            Type::Callable(inner) => self.with_result(it, &inner.1),
            _ => it,
        }
    }

    /// Returns the result of a `Callable` for one argument.
    fn applied(&self, callee: &(Option<Vec<Type>>, Type), given: &Type) -> Type {
        let mut solution = Solution::default();
        if let Some([wanted]) = callee.0.as_deref() {
            self.solve(wanted, given, &mut solution);
        }
        solution.apply(&callee.1)
    }

    /// Returns a function with the result that its decorator declares, if it is known and another
    /// one.
    fn with_result(&self, it: Type, result: &Type) -> Type {
        let Type::Function(function) = &it else { return it };
        let is_known = matches!(result, Type::Instance(_) | Type::Tuple(_) | Type::Union(_));
        let is_open = result.is_vague() || self.returns(function, None) == *result;
        if !is_known || is_open || has_variable(result) {
            return it;
        }
        let partial =
            PartialType { callee: it.clone(), given: Vec::new(), result: Some(result.clone()) };
        let partial = Type::Partial(partial.into());
        match self.module(function.file).function(function.function).class {
            Some(_) => Type::Wrapped(Wrapper::Method, partial.into()),
            None => partial,
        }
    }

    /// Returns whether an expression is a function or class of the bundle.
    fn is_from_bundle(&self, file: FileId, id: ExprId) -> bool {
        match self.expr(file, id) {
            Type::Function(function) => bundle::number(function.file).is_some(),
            Type::Class(class) => bundle::number(class.file).is_some(),
            _ => false,
        }
    }

    fn decorator_result(&self, decorator: &FunctionType, given: &Type) -> Type {
        let first = usize::from(decorator.bound.is_some());
        self.returned_for(decorator, vec![(first, given.clone())])
    }

    /// Returns whether a function takes any arguments (`def wrapper(*args, **kwargs)`) and so
    /// stands for the wrapped function.
    fn takes_anything(&self, it: &FunctionType) -> bool {
        let parameters = &self.module(it.file).function(it.function).parameters;
        parameters.iter().any(|it| it.kind == ParameterKind::Variadic)
            && parameters.iter().any(|it| it.kind == ParameterKind::Keywords)
    }
}

fn has_variable(it: &Type) -> bool {
    match it {
        Type::Variable(..) => true,
        Type::Union(inner) | Type::Tuple(inner) => inner.iter().any(has_variable),
        Type::Instance(class) => class.arguments.iter().any(has_variable),
        _ => false,
    }
}
