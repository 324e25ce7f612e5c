//! Evaluates functions: their kind, their parameters, and their results.

use super::narrowing::without_none;
use super::solve::Solution;
use super::{Eval, Question};
use crate::index::FileId;
use crate::semantics::ir::*;
use crate::semantics::names::{KNOWN, Name};
use crate::semantics::types::{ClassType, FunctionType, Type};

/// A call and its file.
#[derive(Clone, Copy)]
pub(crate) struct CallSite<'a> {
    pub(crate) file: FileId,
    pub(crate) call: &'a Call,
}

impl Eval<'_> {
    /// Returns a function as its definition creates it.
    pub(super) fn plain_function(&self, file: FileId, function: FunctionId) -> Type {
        let around = self.context.get();
        Type::Function(FunctionType { file, function, bound: None, around }.into())
    }

    // Parameters

    pub(crate) fn parameter(&self, file: FileId, function: FunctionId, index: usize) -> Type {
        let module = self.module(file);
        let of = module.function(function);
        let parameter = of.parameters[index];
        if let Some(annotation) = parameter.annotation {
            let declared = self.annotation(file, annotation);
            let open =
                |it: &Type| matches!(it, Type::Receiver | Type::Variable(..) | Type::Unknown);
            let is_open = match &declared {
                Type::Form(inner) => open(inner),
                other => open(other),
            };
            // `self: Self` and `self: T` only say that the parameter is the receiver.
            if !(index == 0 && of.class.is_some() && is_open) {
                return self.collected(parameter.kind, declared);
            }
        }
        if let (0, Some(class)) = (index, of.class)
            && !self.has_decorator(file, function, KNOWN.staticmethod)
        {
            let own = self.own_class_type(file, class);
            let is_class = self.is_class_method(file, function);
            return if is_class { Type::Class(own) } else { Type::Instance(own) };
        }
        if let Some(value) = self.enum_parameter(file, function, index) {
            return value;
        }
        if of.argument_of.is_some() {
            return self.lambda_parameter(file, function, index);
        }
        if let Some(passed) = self.passed_value(file, function, index as u32) {
            return passed;
        }
        let inherited = self.inherited_parameter(file, function, index, parameter.name);
        let default =
            || parameter.default.map(|it| self.expr(file, it)).filter(|it| *it != Type::None);
        // A call may give a value of another type than the default.
        let default = || default().map(|it| Type::union([it, Type::Unknown]));
        let known = inherited.or_else(default).unwrap_or(Type::Unknown);
        self.collected(parameter.kind, known)
    }

    /// Returns the collected type of a parameter: `*args: T` is a tuple of T, `**kwargs: T` a dict.
    fn collected(&self, kind: ParameterKind, each: Type) -> Type {
        match kind {
            ParameterKind::Variadic => self.builtin_of(KNOWN.tuple, [each]),
            ParameterKind::Keywords => self.builtin_of(KNOWN.dict, [self.builtin(KNOWN.str), each]),
            _ => each,
        }
    }

    /// Returns a class with its own type parameters as arguments.
    pub(crate) fn own_class_type(&self, file: FileId, class: ClassId) -> ClassType {
        let info = self.class(file, class);
        let arguments =
            info.parameters.iter().map(|(file, symbol)| Type::Variable(*file, *symbol)).collect();
        ClassType { file, class, arguments }
    }

    /// Returns the type of a parameter according to the overridden method of a base.
    fn inherited_parameter(
        &self,
        file: FileId,
        function: FunctionId,
        index: usize,
        name: Name,
    ) -> Option<Type> {
        let of = self.module(file).function(function);
        let own = self.own_class_type(file, of.class?);
        let member = self.member(&own, of.name?, 1)?;
        let module = self.module(member.file);
        let bindings = &module.symbol(member.symbol).bindings;
        let base = bindings.iter().find_map(|it| match module.binding(*it).kind {
            BindingKind::Function(function) => Some(function),
            _ => None,
        })?;
        let parameter = module.function(base).parameters.get(index).filter(|it| it.name == name)?;
        let declared = self.annotation(member.file, parameter.annotation?);
        let info = self.class(member.owner.file, member.owner.class);
        Some(Solution::of_class(&member.owner, &info).apply(&declared))
    }

    /// Returns the type of a parameter of a lambda that is an argument, from the called function's
    /// declaration of its callback.
    fn lambda_parameter(&self, file: FileId, lambda: FunctionId, index: usize) -> Type {
        let module = self.module(file);
        let Some((expr, argument)) = module.function(lambda).argument_of else {
            return Type::Unknown;
        };
        let Some(call) = module.call(expr) else { return Type::Unknown };
        let site = CallSite { file, call };
        if let Some(own) = self.wrapped_receiver(file, lambda, call).filter(|_| index == 0) {
            return own;
        }
        let of = |callee: &Type| self.callback_parameter(callee, site, argument as usize, index);
        self.expr(file, call.function).map(of)
    }

    fn callback_parameter(
        &self,
        callee: &Type,
        site: CallSite<'_>,
        argument: usize,
        index: usize,
    ) -> Type {
        for function in self.candidates(callee) {
            let function = self.chosen(&function, Some(site));
            let matched = self.matched(&function, site);
            let Some((parameter, _)) = matched.iter().find(|(_, it)| *it == argument) else {
                continue;
            };
            let declared = self.parameter(function.file, function.function, *parameter);
            let wanted = declared.members().iter().find_map(|it| match it {
                Type::Callable(inner) => inner.0.as_ref()?.get(index).cloned(),
                _ => None,
            });
            if let Some(wanted) = wanted {
                let solution = self.solution(&function, Some(site), false);
                return solution.finish(&wanted, self);
            }
        }
        Type::Unknown
    }

    // Results

    /// Returns the result type of a function, without data on a particular call.
    pub(super) fn raw_returns(&self, file: FileId, function: FunctionId) -> Type {
        self.ask(Question::Returns(file, function), || self.raw_returns_now(file, function))
    }

    fn raw_returns_now(&self, file: FileId, function: FunctionId) -> Type {
        let of = self.module(file).function(function);
        let is_generator = !of.yielded.is_empty() || !of.delegated.is_empty();
        let result = match of.returns {
            Some(annotation) => self.annotation(file, annotation),
            None if is_generator => self.generated(file, of),
            None => {
                let results = of.returned.iter().map(|it| self.returned_value(file, function, *it));
                let results = Type::union(results);
                // No `return` is reachable, so the function may be an abstract method.
                if results == Type::Never { Type::Unknown } else { results }
            }
        };
        let result = if of.is_async && !is_generator {
            self.typing_of(KNOWN.coroutine, [Type::Unknown, Type::Unknown, result])
        } else {
            result
        };
        self.managed(file, function, result)
    }

    /// Returns the value that a fixture passes: what it yields, or its awaited result.
    pub(crate) fn passed(&self, file: FileId, function: FunctionId) -> Type {
        let of = self.module(file).function(function);
        let result = self.raw_returns(file, function);
        match !of.yielded.is_empty() {
            true => self.element(&result, of.is_async),
            false if of.is_async => self.awaited(&result),
            false => result,
        }
    }

    /// Returns the type of a returned value. A method that returns its own object returns the class
    /// of the receiver.
    fn returned_value(&self, file: FileId, function: FunctionId, value: ExprId) -> Type {
        let of = self.module(file).function(function);
        if self.has_receiver(file, function) && self.is_own(file, of, value) {
            return Type::Receiver;
        }
        self.expr(file, value)
    }

    /// Returns whether a value is the method's own object or class: `self`, `cls(…)`,
    /// `self.__class__(…)`, `type(self)(…)`, or a name assigned only one of these.
    fn is_own(&self, file: FileId, of: &Function, value: ExprId) -> bool {
        let module = self.module(file);
        let Some(first) = of.parameters.first() else { return false };
        let is_first = |it: ExprId| matches!(module.expr(it), Expr::Name(_, Some(symbol), _) if symbol == first.symbol);
        let Some(class_method) = of.name.map(|_| first.name == KNOWN.cls) else { return false };
        match module.expr(value) {
            Expr::Name(_, Some(symbol), _) if symbol == first.symbol => !class_method,
            Expr::Name(_, Some(symbol), _) => match module.symbol(symbol).bindings.as_slice() {
                [one] => match module.binding(*one).kind {
                    BindingKind::Value(value) => self.is_own(file, of, value),
                    _ => false,
                },
                _ => false,
            },
            Expr::Call(row) => {
                let function = module.calls[row as usize].function;
                match module.expr(function) {
                    Expr::Name(..) => class_method && is_first(function),
                    Expr::Attribute(object, name, _) => name == KNOWN.class && is_first(object),
                    Expr::Call(row) => {
                        let inner = &module.calls[row as usize];
                        let arguments = module.arguments_of(inner);
                        matches!(module.expr(inner.function), Expr::Name(name, None, _) if name == KNOWN.type_)
                            && arguments.len() == 1
                            && is_first(arguments[0].value)
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    fn generated(&self, file: FileId, of: &Function) -> Type {
        let yielded = of.yielded.iter().map(|it| self.expr(file, *it));
        let delegated = of.delegated.iter().map(|it| self.element(&self.expr(file, *it), false));
        let element = Type::union(yielded.chain(delegated));
        if of.is_async {
            return self.typing_of(KNOWN.async_generator, [element, Type::Unknown]);
        }
        let returned = Type::union(of.returned.iter().map(|it| self.expr(file, *it)));
        self.typing_of(KNOWN.generator, [element, Type::Unknown, without_none(&returned)])
    }

    /// Turns the result of a generator with `@contextmanager` into a context manager.
    fn managed(&self, file: FileId, function: FunctionId, result: Type) -> Type {
        if self.has_decorator(file, function, KNOWN.contextmanager) {
            let element = self.element(&result, false);
            return self.bundled("contextlib", KNOWN.context_manager, &[element]);
        }
        if self.has_decorator(file, function, KNOWN.asynccontextmanager) {
            let element = self.element(&result, true);
            return self.bundled("contextlib", KNOWN.async_context_manager, &[element]);
        }
        result
    }

    /// Returns the result type of a call.
    pub(crate) fn returns(&self, function: &FunctionType, site: Option<CallSite<'_>>) -> Type {
        self.returned(&self.chosen(function, site), site)
    }

    /// Returns the result type of a call of one overload.
    pub(super) fn returned(&self, function: &FunctionType, site: Option<CallSite<'_>>) -> Type {
        let context = self.context_for(function, site);
        let raw = self.within(context.unwrap_or(function.around), || {
            self.raw_returns(function.file, function.function)
        });
        self.solution(function, site, true).finish(&raw, self)
    }
}
