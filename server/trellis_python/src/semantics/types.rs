//! Types of values, as far as attribute lookups and calls need them.

use std::sync::Arc;

use super::eval::ContextId;
use super::ir::{ClassId, FunctionId, SymbolId};
use super::names::Name;
use crate::index::FileId;

/// A class and its type arguments; empty if they are unknown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ClassType {
    pub(crate) file: FileId,
    pub(crate) class: ClassId,
    pub(crate) arguments: Arc<[Type]>,
}

/// A function, and the object it is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FunctionType {
    pub(crate) file: FileId,
    pub(crate) function: FunctionId,
    /// The class in which the function was found, and the object on which it was accessed.
    pub(crate) bound: Option<(ClassType, Type)>,
    /// The call during which the function was defined, if it was inside another function.
    pub(crate) around: ContextId,
}

/// A callable with the first of its arguments, some of them by name, or with another result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PartialType {
    pub(crate) callee: Type,
    pub(crate) given: Vec<(Option<Name>, Type)>,
    /// The result, if it is not that of the callable.
    pub(crate) result: Option<Type>,
}

/// The kind of method that an attribute of a class makes of the function that it wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wrapper {
    /// `staticmethod(f)`
    Static,
    /// `classmethod(f)`
    Class,
    /// `property(f)`
    Property,
    /// `partialmethod(f, …)`
    Method,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Type {
    Unknown,
    /// Type of code that is never executed, and of questions still being answered.
    Never,
    None,
    Module(Name),
    /// A class itself.
    Class(ClassType),
    Instance(ClassType),
    /// A tuple whose elements have separate types.
    Tuple(Arc<[Type]>),
    Function(Arc<FunctionType>),
    /// `Callable[[…], …]`: parameters if they are known, and the result.
    Callable(Arc<(Option<Vec<Type>>, Type)>),
    /// A type variable.
    Variable(FileId, SymbolId),
    /// `super()`: lookup starts after the class, on behalf of the object.
    Super(Arc<(ClassType, Type)>),
    /// `functools.partial(f, …)`
    Partial(Arc<PartialType>),
    /// `staticmethod(f)` and similar: a function that a class keeps in an attribute.
    Wrapped(Wrapper, Arc<Type>),
    /// A special form of `typing`, by its name.
    Special(Name),
    /// A type written as an expression (`Optional[int]`, `A | B`): the values that the type allows.
    Form(Arc<Type>),
    /// `Self`
    Receiver,
    Union(Arc<[Type]>),
}

/// Largest number of members of a union; more are dropped, because loops could make unions endless.
const MOST_MEMBERS: usize = 24;
/// Largest nesting depth of a type; deeper types are unknown.
const DEEPEST: usize = 8;

impl Type {
    pub(crate) fn members(&self) -> &[Type] {
        match self {
            Type::Union(members) => members,
            one => std::slice::from_ref(one),
        }
    }

    /// Returns a union, without duplicates, in order of first occurrence.
    pub(crate) fn union(types: impl IntoIterator<Item = Type>) -> Type {
        let mut members: Vec<Type> = Vec::new();
        for it in types {
            for member in it.members() {
                let counts = *member != Type::Never;
                if counts && !members.contains(member) && members.len() < MOST_MEMBERS {
                    members.push(member.clone());
                }
            }
        }
        match members.len() {
            0 => Type::Never,
            1 => members.remove(0),
            _ => Type::Union(members.into()),
        }
    }

    /// Applies `change` to each member and unites the results.
    pub(crate) fn map(&self, change: impl FnMut(&Type) -> Type) -> Type {
        Type::union(self.members().iter().map(change))
    }

    /// Returns whether a type contains an unknown part.
    pub(crate) fn is_vague(&self) -> bool {
        match self {
            Type::Unknown => true,
            Type::Union(inner) | Type::Tuple(inner) => inner.iter().any(Type::is_vague),
            Type::Instance(it) | Type::Class(it) => it.arguments.iter().any(Type::is_vague),
            _ => false,
        }
    }

    pub(crate) fn depth(&self) -> usize {
        let deepest = |all: &[Type]| all.iter().map(Type::depth).max().unwrap_or(0);
        match self {
            Type::Union(inner) => deepest(inner),
            Type::Tuple(inner) => 1 + deepest(inner),
            Type::Instance(it) | Type::Class(it) => 1 + deepest(&it.arguments),
            Type::Callable(it) => {
                1 + it.1.depth().max(deepest(it.0.as_deref().unwrap_or_default()))
            }
            Type::Form(it) | Type::Wrapped(_, it) => 1 + it.depth(),
            Type::Partial(it) => {
                let given = it.given.iter().map(|(_, it)| it.depth()).max().unwrap_or(0);
                1 + given.max(it.callee.depth())
            }
            Type::Super(it) => 1 + it.1.depth(),
            Type::Function(it) => 1 + it.bound.as_ref().map_or(0, |it| it.1.depth()),
            _ => 0,
        }
    }

    /// Returns the type itself, or unknown if it is nested so deeply that it must be cyclic.
    pub(crate) fn bounded(self) -> Type {
        if self.depth() > DEEPEST { Type::Unknown } else { self }
    }
}

impl ClassType {
    pub(crate) fn bare(file: FileId, class: ClassId) -> ClassType {
        ClassType { file, class, arguments: Arc::new([]) }
    }

    pub(crate) fn is_same(&self, other: &ClassType) -> bool {
        (self.file, self.class) == (other.file, other.class)
    }
}
