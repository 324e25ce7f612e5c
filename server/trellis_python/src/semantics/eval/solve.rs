//! Solves type variables from arguments.

use std::sync::Arc;

use super::{ClassInfo, Eval};
use crate::index::FileId;
use crate::semantics::bundle;
use crate::semantics::ir::SymbolId;
use crate::semantics::names::{KNOWN, Name};
use crate::semantics::types::{ClassType, FunctionType, PartialType, Type};

/// Types of the solved variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Solution {
    known: Vec<((FileId, SymbolId), Type)>,
    /// Type that `Self` stands for.
    pub(crate) receiver: Option<Type>,
}

impl Solution {
    /// Returns the solution given by a class's arguments.
    pub(crate) fn of_class(class: &ClassType, info: &ClassInfo) -> Solution {
        let argument = |index: usize| class.arguments.get(index).cloned().unwrap_or(Type::Unknown);
        let known = info.parameters.iter().enumerate().map(|(index, it)| (*it, argument(index)));
        // Inside the class itself the parameters stand for themselves.
        let known = if class.arguments.is_empty() { Vec::new() } else { known.collect() };
        Solution { known, receiver: None }
    }

    fn get(&self, variable: (FileId, SymbolId)) -> Option<&Type> {
        self.known.iter().find(|(it, _)| *it == variable).map(|(_, known)| known)
    }

    fn add(&mut self, variable: (FileId, SymbolId), value: Type) {
        match self.known.iter_mut().find(|(it, _)| *it == variable) {
            Some((_, known)) if *known == Type::Unknown => *known = value,
            Some((_, known)) => *known = Type::union([known.clone(), value]).bounded(),
            None => self.known.push((variable, value.bounded())),
        }
    }

    pub(crate) fn in_class(&self, class: &ClassType) -> ClassType {
        let arguments = class.arguments.iter().map(|it| self.apply(it)).collect();
        ClassType { arguments, ..class.clone() }
    }

    /// Replaces the solved variables in a type.
    pub(crate) fn apply(&self, it: &Type) -> Type {
        if self.known.is_empty() && self.receiver.is_none() {
            return it.clone();
        }
        let all = |list: &[Type]| -> Vec<Type> { list.iter().map(|it| self.apply(it)).collect() };
        match it {
            Type::Variable(file, symbol) => {
                self.get((*file, *symbol)).cloned().unwrap_or_else(|| it.clone())
            }
            Type::Receiver => self.receiver.clone().unwrap_or(Type::Receiver),
            Type::Class(class) => Type::Class(self.in_class(class)),
            Type::Instance(class) => Type::Instance(self.in_class(class)),
            Type::Tuple(inner) => Type::Tuple(all(inner).into()),
            Type::Union(inner) => Type::union(all(inner)),
            Type::Form(inner) => match self.apply(inner) {
                Type::Instance(class) => Type::Class(class),
                other => Type::Form(other.into()),
            },
            Type::Callable(inner) => {
                let parameters = inner.0.as_ref().map(|it| all(it));
                Type::Callable(Arc::new((parameters, self.apply(&inner.1))))
            }
            other => other.clone(),
        }
    }

    /// Replaces the solved variables in a type; unsolved ones become their bound or unknown.
    pub(crate) fn finish(&self, it: &Type, eval: &Eval<'_>) -> Type {
        match it {
            Type::Variable(file, symbol) => match self.get((*file, *symbol)) {
                Some(known) => known.clone(),
                None => eval.bound_of(*file, *symbol).unwrap_or(Type::Unknown),
            },
            Type::Union(inner) => Type::union(inner.iter().map(|it| match it {
                Type::Variable(file, symbol) => {
                    self.get((*file, *symbol)).cloned().unwrap_or(Type::Unknown)
                }
                other => self.apply(other),
            })),
            other => self.apply(other),
        }
    }
}

impl Eval<'_> {
    /// Learns the variables of `wanted` from a value given for it.
    pub(super) fn solve(&self, wanted: &Type, given: &Type, into: &mut Solution) {
        match wanted {
            Type::Variable(file, symbol) if *given != Type::Never => {
                into.add((*file, *symbol), given.clone());
            }
            Type::Union(members) => self.solve_union(members, given, into),
            Type::Instance(class) => {
                for member in given.members() {
                    self.solve_instance(class, member, into);
                }
            }
            Type::Class(class) => {
                for member in given.members() {
                    if let Type::Class(other) = member {
                        self.solve_arguments(class, other, into);
                    }
                }
            }
            // `type[T]`
            Type::Form(inner) => match given {
                Type::Class(class) => self.solve(inner, &Type::Instance(class.clone()), into),
                Type::Form(other) => self.solve(inner, other, into),
                _ => {}
            },
            Type::Tuple(members) => {
                if let Type::Tuple(others) = given {
                    members
                        .iter()
                        .zip(others.iter())
                        .for_each(|(it, other)| self.solve(it, other, into));
                } else {
                    members.iter().enumerate().for_each(|(index, it)| {
                        self.solve(it, &self.part(given, index as i32), into);
                    });
                }
            }
            Type::Callable(inner) => self.solve_callable(inner, given, into),
            _ => {}
        }
    }

    fn solve_union(&self, wanted: &[Type], given: &Type, into: &mut Solution) {
        // Types accepted by other members do not go to the variable: `T | None` given `int | None`.
        let (open, fixed): (Vec<&Type>, Vec<&Type>) =
            wanted.iter().partition(|it| matches!(it, Type::Variable(..)));
        let taken =
            |it: &Type| fixed.iter().any(|other| *it == **other || self.is_same_class(it, other));
        let rest = Type::union(given.members().iter().filter(|it| !taken(it)).cloned());
        for it in &fixed {
            self.solve(it, given, into);
        }
        for it in open {
            self.solve(it, &rest, into);
        }
    }

    fn is_same_class(&self, it: &Type, other: &Type) -> bool {
        match (it, other) {
            (Type::Instance(it), Type::Instance(other)) => it.is_same(other),
            _ => false,
        }
    }

    fn solve_instance(&self, wanted: &ClassType, given: &Type, into: &mut Solution) {
        if wanted.arguments.is_empty() {
            return;
        }
        let own = match given {
            Type::Class(class) => {
                // A class is iterable if its metaclass is, and it is callable.
                return self.solve_by_iterating(wanted, &Type::Class(class.clone()), into);
            }
            other => self.class_of(other),
        };
        let Some(own) = own else { return };
        match self.as_base(&own, wanted) {
            Some(base) => {
                let pairs = wanted.arguments.iter().zip(base.arguments.iter());
                pairs.for_each(|(it, given)| self.solve(it, given, into));
            }
            None => self.solve_by_iterating(wanted, given, into),
        }
    }

    /// Solves `Iterable[T]` and similar from a value that only has `__iter__` or `__getitem__`.
    fn solve_by_iterating(&self, wanted: &ClassType, given: &Type, into: &mut Solution) {
        const ITERATED: [&str; 6] =
            ["Iterable", "Iterator", "Collection", "Container", "Sequence", "Reversible"];
        let name = self.module(wanted.file).class(wanted.class).name;
        let is = |text: &&str| name == Name::of(text);
        if ITERATED.iter().any(is) && self.is_bundled(wanted, name) {
            let element = self.element(given, false);
            self.solve(&wanted.arguments[0], &element, into);
        } else if self.is_bundled(wanted, Name::of("Awaitable")) {
            self.solve(&wanted.arguments[0], &self.awaited(given), into);
        } else {
            self.solve_by_methods(wanted, given, into);
        }
    }

    /// Solves the parameters of a protocol, or of an abstract class of the bundle, from methods of
    /// the same name that return one of the parameters.
    fn solve_by_methods(&self, wanted: &ClassType, given: &Type, into: &mut Solution) {
        let info = self.class(wanted.file, wanted.class);
        let is_abstract = bundle::file("contextlib") == Some(wanted.file);
        let Some(own) = self.class_of(given).filter(|_| info.is_protocol || is_abstract) else {
            return;
        };
        let module = self.module(wanted.file);
        let scope = module.class(wanted.class).scope;
        for it in &module.functions {
            let of_class = module.scopes[it.scope.index()].parent == Some(scope);
            let (Some(name), Some(returns), true) = (it.name, it.returns, of_class) else {
                continue;
            };
            let declared = self.annotation(wanted.file, returns);
            if let (Type::Variable(..), Some(Type::Function(method))) =
                (&declared, self.bound_member(&own, name))
            {
                let result = self.returns(&method, None);
                let result = if it.is_async { self.awaited(&result) } else { result };
                let wanted = Solution::of_class(wanted, &info).apply(&declared);
                self.solve(&wanted, &result, into);
            }
        }
    }

    fn solve_arguments(&self, wanted: &ClassType, given: &ClassType, into: &mut Solution) {
        if let Some(base) = self.as_base(given, wanted) {
            let pairs = wanted.arguments.iter().zip(base.arguments.iter());
            pairs.for_each(|(it, given)| self.solve(it, given, into));
        }
    }

    fn solve_callable(
        &self,
        wanted: &(Option<Vec<Type>>, Type),
        given: &Type,
        into: &mut Solution,
    ) {
        let (parameters, returns) = wanted;
        for member in given.members() {
            match member {
                Type::Callable(other) => {
                    if let (Some(parameters), Some(others)) = (parameters, &other.0) {
                        parameters
                            .iter()
                            .zip(others)
                            .for_each(|(it, other)| self.solve(it, other, into));
                    }
                    self.solve(returns, &other.1, into);
                }
                Type::Function(function) => {
                    for (index, it) in parameters.iter().flatten().enumerate() {
                        let skipped = usize::from(function.bound.is_some());
                        let known = self.parameter_of(function, index + skipped);
                        if known != Type::Unknown {
                            self.solve(it, &known, into);
                        }
                    }
                    let first = usize::from(function.bound.is_some());
                    let given = parameters.iter().flatten().map(|it| into.apply(it));
                    let given = given.enumerate().map(|(at, it)| (first + at, it)).collect();
                    let function = self.chosen(function, None);
                    self.solve(returns, &self.returned_for(&function, given), into);
                }
                Type::Class(class) => {
                    self.solve(returns, &Type::Instance(class.clone()), into);
                }
                Type::Partial(inner) => {
                    let given = parameters.iter().flatten().map(|it| (None, into.apply(it)));
                    let given = inner.given.iter().cloned().chain(given).collect();
                    let whole = PartialType { given, ..(**inner).clone() };
                    self.solve(returns, &self.completed(&whole, None), into);
                }
                _ => {}
            }
        }
    }

    fn parameter_of(&self, it: &FunctionType, index: usize) -> Type {
        let count = self.module(it.file).function(it.function).parameters.len();
        if index < count { self.parameter(it.file, it.function, index) } else { Type::Unknown }
    }

    /// Returns whether a value is assignable to a declared type.
    pub(super) fn fits(&self, value: &Type, declared: &Type) -> bool {
        let fits_one = |it: &Type| {
            declared.members().iter().any(|wanted| match (it, wanted) {
                (Type::Instance(own), Type::Instance(wanted)) => {
                    self.derives(own, wanted)
                        && (wanted.arguments.is_empty() || !own.arguments.is_empty())
                }
                (Type::Class(own), Type::Class(wanted)) => self.derives(own, wanted),
                (Type::Tuple(_), Type::Tuple(_)) | (Type::None, Type::None) => true,
                (Type::Tuple(_), Type::Instance(wanted)) => self.is_bundled(wanted, KNOWN.tuple),
                (Type::Function(_), Type::Callable(_)) | (Type::Class(_), Type::Callable(_)) => {
                    true
                }
                (it, wanted) => it == wanted,
            })
        };
        value.members().iter().all(fits_one)
    }
}
