//! Evaluates objects that stand for a function: partial calls, `staticmethod(f)` and similar, and
//! functions registered for another one.

use std::sync::Arc;

use super::Eval;
use super::attributes::{Found, Member};
use super::functions::CallSite;
use super::matching::keyword_parameter;
use crate::index::FileId;
use crate::semantics::bundle;
use crate::semantics::ir::*;
use crate::semantics::names::{KNOWN, Name};
use crate::semantics::types::{FunctionType, PartialType, Type, Wrapper};

impl Eval<'_> {
    /// Evaluates `partial(f, …)`, `partialmethod(f, …)`, `staticmethod(f)`, `classmethod(f)` and
    /// `property(f)`; `None` for a class of another name.
    pub(super) fn wrapped(&self, name: Name, site: CallSite<'_>) -> Option<Type> {
        let arguments = self.module(site.file).arguments_of(site.call);
        let wrapper = match name {
            _ if name == KNOWN.partial => None,
            _ if name == KNOWN.partialmethod => Some(Wrapper::Method),
            _ if name == KNOWN.staticmethod => Some(Wrapper::Static),
            _ if name == KNOWN.classmethod => Some(Wrapper::Class),
            _ if name == KNOWN.property => Some(Wrapper::Property),
            _ => return None,
        };
        let is_function = |it: &&Argument| {
            it.kind == ArgumentKind::Positional || it.kind == ArgumentKind::Keyword(KNOWN.fget)
        };
        let function = self.expr(site.file, arguments.first().filter(is_function)?.value);
        if !matches!(wrapper, None | Some(Wrapper::Method)) {
            return wrapper.map(|it| Type::Wrapped(it, function.into()));
        }
        let partial = PartialType { callee: function, given: self.given_first(site), result: None };
        let partial = Type::Partial(partial.into());
        Some(match wrapper {
            Some(wrapper) => Type::Wrapped(wrapper, partial.into()),
            None => partial,
        })
    }

    /// Returns the arguments behind the first one, up to one that is unpacked.
    fn given_first(&self, site: CallSite<'_>) -> Vec<(Option<Name>, Type)> {
        let arguments = self.module(site.file).arguments_of(site.call).iter().skip(1);
        let mut is_open = false;
        let mut given = Vec::new();
        for it in arguments {
            let name = match it.kind {
                ArgumentKind::Positional if !is_open => None,
                ArgumentKind::Keyword(name) => Some(name),
                ArgumentKind::Starred => {
                    is_open = true;
                    continue;
                }
                _ => continue,
            };
            given.push((name, self.expr(site.file, it.value)));
        }
        given
    }

    /// Returns the result of a call of a partial object; without a site, of a call with any
    /// arguments.
    pub(super) fn completed(&self, partial: &PartialType, site: Option<CallSite<'_>>) -> Type {
        if let Some(result) = &partial.result {
            return result.clone();
        }
        let mut given = partial.given.clone();
        if let Some(site) = site {
            let arguments = self.module(site.file).arguments_of(site.call);
            for it in arguments {
                match it.kind {
                    ArgumentKind::Positional => given.push((None, self.expr(site.file, it.value))),
                    ArgumentKind::Keyword(name) => {
                        given.retain(|(known, _)| *known != Some(name));
                        given.push((Some(name), self.expr(site.file, it.value)));
                    }
                    ArgumentKind::Starred | ArgumentKind::Keywords => {}
                }
            }
        }
        partial.callee.map(|it| match it {
            Type::Function(function) => self.returned_with(function, &given),
            Type::Class(class) => Type::Instance(class.clone()),
            Type::Partial(inner) => {
                let given = [inner.given.clone(), given.clone()].concat();
                self.completed(&PartialType { given, ..(**inner).clone() }, None)
            }
            Type::Callable(inner) => inner.1.clone(),
            _ => Type::Unknown,
        })
    }

    /// Returns the result of a function for arguments by position or name.
    fn returned_with(&self, function: &FunctionType, given: &[(Option<Name>, Type)]) -> Type {
        let function = self.chosen(function, None);
        let parameters = &self.module(function.file).function(function.function).parameters;
        let mut next = usize::from(function.bound.is_some());
        let mut pairs = Vec::new();
        for (name, value) in given {
            let index = match name {
                Some(name) => keyword_parameter(parameters, *name),
                None => {
                    next += 1;
                    Some(next - 1)
                }
            };
            pairs.extend(index.map(|it| (it, value.clone())));
        }
        self.returned_for(&function, pairs)
    }

    pub(super) fn partial_attribute(&self, partial: &PartialType, name: Name, found: &mut Found) {
        let before = found.types.len();
        self.instance_attribute(&self.bundled("functools", KNOWN.partial, &[]), name, found);
        if name == KNOWN.func {
            found.types.truncate(before);
            found.types.push(partial.callee.clone());
        }
    }

    /// Returns what an attribute that wraps a function gives on access.
    pub(super) fn unwrapped(
        &self,
        (wrapper, inner): (Wrapper, &Type),
        member: &Member,
        receiver: &Type,
        is_instance: bool,
    ) -> Type {
        let bind = |object: Type| bound(inner, member, object);
        match wrapper {
            Wrapper::Static => inner.clone(),
            Wrapper::Class => bind(match receiver {
                Type::Class(_) => receiver.clone(),
                other => self.class_of(other).map_or(Type::Unknown, Type::Class),
            }),
            Wrapper::Method if is_instance => bind(receiver.clone()),
            Wrapper::Method => inner.clone(),
            Wrapper::Property if is_instance => bind(receiver.clone()).map(|it| match it {
                Type::Function(function) => self.returns(function, None),
                _ => Type::Unknown,
            }),
            Wrapper::Property => Type::Unknown,
        }
    }

    /// Returns the object that a lambda in `property(lambda self: …)` receives.
    pub(super) fn wrapped_receiver(
        &self,
        file: FileId,
        lambda: FunctionId,
        call: &Call,
    ) -> Option<Type> {
        let module = self.module(file);
        let around = module.scopes[module.function(lambda).scope.index()].parent?;
        let ScopeKind::Class(class) = module.scopes[around.index()].kind else { return None };
        match self.expr(file, call.function) {
            Type::Class(it) if self.is_bundled(&it, KNOWN.property) => {
                Some(Type::Instance(self.own_class_type(file, class)))
            }
            _ => None,
        }
    }

    /// Returns the functions that a function with `@singledispatch` may call, as far as its file
    /// registers them.
    pub(super) fn registered(&self, function: &FunctionType) -> Vec<FunctionType> {
        if bundle::number(function.file).is_some() || !self.dispatches(function) {
            return Vec::new();
        }
        let module = self.module(function.file);
        let Some(binding) = module.function(function.function).binding else { return Vec::new() };
        let symbol = module.binding(binding).symbol;
        let decorated =
            module.functions.iter().enumerate().filter(|(_, it)| {
                it.decorators.iter().any(|it| is_registration(module, *it, symbol))
            });
        let decorated = decorated.map(|(number, _)| FunctionId(number as u32));
        let given = module.calls.iter().filter_map(|it| registered_by(module, it, symbol));
        let given = given.filter_map(|it| match self.expr(function.file, it) {
            Type::Function(it) if it.file == function.file => Some(it.function),
            _ => None,
        });
        let of = |it: FunctionId| FunctionType { function: it, ..function.clone() };
        decorated.chain(given).map(of).collect()
    }

    /// Returns whether a function chooses between registered ones.
    pub(super) fn dispatches(&self, function: &FunctionType) -> bool {
        [KNOWN.singledispatch, KNOWN.singledispatchmethod]
            .into_iter()
            .any(|it| self.has_decorator(function.file, function.function, it))
    }
}

/// Binds a function, or the function of a partial object, to an object.
fn bound(it: &Type, member: &Member, object: Type) -> Type {
    it.map(|it| match it {
        Type::Function(function) if function.bound.is_none() => {
            Type::Function(Arc::new(FunctionType {
                bound: Some((member.owner.clone(), object.clone())),
                ..(**function).clone()
            }))
        }
        Type::Partial(partial) => Type::Partial(Arc::new(PartialType {
            callee: bound(&partial.callee, member, object.clone()),
            ..(**partial).clone()
        })),
        other => other.clone(),
    })
}

/// Returns whether an expression is `f.register` or `f.register(…)`.
fn is_registration(module: &Module, id: ExprId, of: SymbolId) -> bool {
    let target = module.call(id).map_or(id, |it| it.function);
    match module.expr(target) {
        Expr::Attribute(object, name, _) if name == KNOWN.register => {
            matches!(module.expr(object), Expr::Name(_, Some(symbol), _) if symbol == of)
        }
        _ => false,
    }
}

/// Returns the function in `f.register(…)(function)` or `f.register(cls, function)`.
fn registered_by(module: &Module, call: &Call, of: SymbolId) -> Option<ExprId> {
    if !is_registration(module, call.function, of) {
        return None;
    }
    let place = usize::from(module.call(call.function).is_none());
    module.arguments_of(call).get(place).map(|it| it.value)
}
