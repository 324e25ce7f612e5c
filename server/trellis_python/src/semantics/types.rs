//! What a value can be, as far as its attributes and calls need it.

use std::sync::Arc;

use super::ir::{ClassId, FunctionId, SymbolId};
use super::names::Name;
use crate::index::FileId;

/// A class and what its type parameters stand for; no arguments: nobody said.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ClassType {
    pub(crate) file: FileId,
    pub(crate) class: ClassId,
    pub(crate) arguments: Arc<[Type]>,
}

/// A function, and what it is bound to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FunctionType {
    pub(crate) file: FileId,
    pub(crate) function: FunctionId,
    /// The class that it was found in, and the object that it was asked of.
    pub(crate) bound: Option<(ClassType, Type)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Type {
    Unknown,
    /// Of what never happens, and of what is just being found out.
    Never,
    None,
    Module(Name),
    /// A class itself.
    Class(ClassType),
    Instance(ClassType),
    /// A tuple whose elements are told apart.
    Tuple(Arc<[Type]>),
    Function(Arc<FunctionType>),
    /// `Callable[[…], …]`: parameters if they are known, and what it returns.
    Callable(Arc<(Option<Vec<Type>>, Type)>),
    /// A type variable.
    Variable(FileId, SymbolId),
    /// `super()`: lookup starts behind the class, on behalf of the object.
    Super(Arc<(ClassType, Type)>),
    /// `functools.partial(f, …)`
    Partial(Arc<Type>),
    /// A special form of `typing`, by its name.
    Special(Name),
    /// A type written as an expression (`Optional[int]`, `A | B`): the values it stands for.
    Form(Arc<Type>),
    /// `Self`
    Receiver,
    Union(Arc<[Type]>),
}

/// Members of a union beyond these are dropped: nobody reads them, and loops could make them endless.
const MOST_MEMBERS: usize = 24;
/// Types nested deeper are unknown.
const DEEPEST: usize = 8;

impl Type {
    pub(crate) fn members(&self) -> &[Type] {
        match self {
            Type::Union(members) => members,
            one => std::slice::from_ref(one),
        }
    }

    /// One of several; without duplicates, in the order of first sight.
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

    /// Each member changed, and united again.
    pub(crate) fn map(&self, change: impl FnMut(&Type) -> Type) -> Type {
        Type::union(self.members().iter().map(change))
    }

    /// Whether an unknown hides anywhere inside.
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
            Type::Form(it) | Type::Partial(it) => 1 + it.depth(),
            Type::Super(it) => 1 + it.1.depth(),
            Type::Function(it) => 1 + it.bound.as_ref().map_or(0, |it| it.1.depth()),
            _ => 0,
        }
    }

    /// The type itself, or nothing known where it is nested so deep that it must be a circle.
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
