//! Intermediate representation of a file: bindings of names by scope, and expressions in flat
//! tables. The syntax tree itself is not kept.

use rustc_hash::FxHashMap;

pub(crate) use super::keys::{Index, Key};
use super::names::Name;
pub(crate) use super::quotes::{Expectation, Parametrized, ParametrizedName, Quoted, Rest};

/// Defines types for row numbers of the tables.
macro_rules! ids {
    ($($id:ident),*) => {$(
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $id(pub(crate) u32);
        impl $id {
            pub(crate) fn index(self) -> usize { self.0 as usize }
        }
    )*};
}
ids!(ScopeId, SymbolId, BindingId, ExprId, FunctionId, ClassId, FlowId, KeyId, ExpectationId);

/// The scope of a file's top level.
pub(crate) const MODULE: ScopeId = ScopeId(0);

/// A run of rows of [`Module::lists`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct List {
    pub(crate) start: u32,
    pub(crate) length: u32,
}

/// The tables of one file.
#[derive(Debug, Default)]
pub(crate) struct Module {
    pub(crate) scopes: Vec<Scope>,
    /// Names that each scope binds; for a class also those that its methods bind on `self`.
    pub(crate) names: FxHashMap<(ScopeId, Name), SymbolId>,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) functions: Vec<Function>,
    pub(crate) classes: Vec<Class>,
    pub(crate) exprs: Vec<Expr>,
    pub(crate) lists: Vec<ExprId>,
    pub(crate) calls: Vec<Call>,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) flows: Vec<Flow>,
    /// Antecedents of [`Flow::Join`]s.
    pub(crate) joins: Vec<Vec<FlowId>>,
    /// All identifiers in source order.
    pub(crate) occurrences: Vec<Occurrence>,
    /// `from m import *` statements, with their scope.
    pub(crate) stars: Vec<(ScopeId, ModulePath)>,
    /// Entries of `__all__`; `None` if it is missing.
    pub(crate) all: Option<Vec<Export>>,
    /// Names and attributes that the flow can assign or narrow.
    pub(crate) keys: Vec<Key>,
    pub(crate) key_of: FxHashMap<Key, KeyId>,
    /// Expectations of dict displays.
    pub(crate) expectations: Vec<Expectation>,
    /// Symbols that another scope assigns too, by `global` or `nonlocal`.
    pub(crate) shared: rustc_hash::FxHashSet<SymbolId>,
    /// Attributes and items that are assigned, with their values.
    pub(crate) stores: Vec<(ExprId, ExprId)>,
    /// Texts of strings that are the key of an item.
    pub(crate) texts: FxHashMap<ExprId, Name>,
    /// Byte ranges of the lines with syntax errors.
    pub(crate) broken: Vec<std::ops::Range<u32>>,
    /// True if the text could not be read at all.
    pub(crate) unread: bool,
}

/// A module as an import statement names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ModulePath {
    /// Number of leading dots.
    pub(crate) level: u32,
    /// `a.b.c`; empty for `from . import x`.
    pub(crate) name: Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Export {
    Name(Name),
    /// `__all__ += other.__all__`
    AllOf(ExprId),
    /// An entry known only when the module runs.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    Module,
    Class(ClassId),
    Function(FunctionId),
    Comprehension,
    /// The scope around a definition with type parameters.
    TypeParameters,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub(crate) kind: ScopeKind,
    pub(crate) parent: Option<ScopeId>,
}

#[derive(Debug)]
pub(crate) struct Symbol {
    pub(crate) scope: ScopeId,
    pub(crate) name: Name,
    pub(crate) bindings: Vec<BindingId>,
    /// True if every binding is an assignment to an attribute of `self`.
    pub(crate) on_instance: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    pub(crate) symbol: SymbolId,
    /// Offset of the name.
    pub(crate) at: u32,
    pub(crate) kind: BindingKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BindingKind {
    Function(FunctionId),
    Class(ClassId),
    /// `name = value`, and equivalent bindings.
    Value(ExprId),
    /// `name: annotation = value`
    Annotated(ExprId, Option<ExprId>),
    /// The n-th parameter.
    Parameter(FunctionId, u32),
    /// `import a.b`, which binds `a`.
    Import(ModulePath),
    /// `import a.b as c`
    ImportAs(ModulePath),
    /// `from m import member`, under its own name.
    From(ModulePath, Name),
    /// `from m import member as other`
    FromAs(ModulePath, Name),
    /// A type parameter of PEP 695 with its bound.
    TypeParameter(Option<ExprId>),
    /// `type name = value`
    TypeAlias(ExprId),
    /// A binding without a known value.
    Other,
}

impl BindingKind {
    /// Returns whether the bound name is also the name of its source elsewhere.
    pub(crate) fn is_transparent(self) -> bool {
        matches!(self, BindingKind::From(..) | BindingKind::Import(_))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterKind {
    PositionalOnly,
    Ordinary,
    Variadic,
    KeywordOnly,
    Keywords,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: Name,
    pub(crate) kind: ParameterKind,
    pub(crate) symbol: SymbolId,
    pub(crate) annotation: Option<ExprId>,
    pub(crate) default: Option<ExprId>,
}

/// A `def` or a lambda.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: Option<Name>,
    pub(crate) scope: ScopeId,
    /// Binding of the definition.
    pub(crate) binding: Option<BindingId>,
    /// Names in `parametrize` marks of the definition.
    pub(crate) parametrized: Vec<ParametrizedName>,
    /// Symbol of the name in `@fixture(name="…")`.
    pub(crate) fixture: Option<SymbolId>,
    /// Class whose body contains the definition.
    pub(crate) class: Option<ClassId>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) returns: Option<ExprId>,
    pub(crate) returned: Vec<ExprId>,
    pub(crate) yielded: Vec<ExprId>,
    /// Values of `yield from`.
    pub(crate) delegated: Vec<ExprId>,
    pub(crate) decorators: Vec<ExprId>,
    pub(crate) is_async: bool,
    /// The call that has the lambda as an argument, and the argument's index.
    pub(crate) argument_of: Option<(ExprId, u32)>,
    /// Byte range of the whole definition.
    pub(crate) range: (u32, u32),
    pub(crate) inside: Inside,
}

/// Rows of the tables that belong to a function's body, with those of nested definitions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inside {
    pub(crate) exprs: std::ops::Range<u32>,
    pub(crate) scopes: std::ops::Range<u32>,
    pub(crate) joins: std::ops::Range<u32>,
}

#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) name: Name,
    pub(crate) scope: ScopeId,
    pub(crate) binding: BindingId,
    pub(crate) bases: Vec<ExprId>,
    pub(crate) keywords: Vec<(Name, ExprId)>,
    pub(crate) decorators: Vec<ExprId>,
    /// Symbols of PEP 695's type parameters.
    pub(crate) type_parameters: Vec<SymbolId>,
    pub(crate) range: (u32, u32),
}

/// An expression, with the detail that its type needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expr {
    /// A name, its symbol if this file binds it, and its place in the flow.
    Name(Name, Option<SymbolId>, FlowId),
    Attribute(ExprId, Name, FlowId),
    Call(u32),
    /// An item of a value, and its place in the flow.
    Subscript(ExprId, ExprId, FlowId),
    Await(ExprId),
    Starred(ExprId),
    /// Any of the values, as in `a if c else b`.
    Either(List),
    And(List),
    Or(List),
    Not(ExprId),
    /// `left op right`, with the dunder method of the operator.
    Binary(ExprId, ExprId, Name),
    Unary(ExprId),
    /// `left == right` and other comparisons.
    Compare(Comparison, ExprId, ExprId),
    Tuple(List),
    List(List),
    Set(List),
    /// Keys and values, alternating.
    Dict(List),
    ListComp(ExprId),
    SetComp(ExprId),
    DictComp(ExprId, ExprId),
    Generator(ExprId),
    Lambda(FunctionId),
    String,
    Bytes,
    /// The value, if it is small.
    Int(Option<i32>),
    Float,
    Bool,
    None,
    Ellipsis,
    Slice,
    /// An element of an iterable; the flag is true for `async for`.
    Element(ExprId, bool),
    /// The n-th part of an unpacked value; a negative index counts from the end.
    Part(ExprId, i32),
    /// The value matched by the n-th positional part of a class pattern.
    Positional(ExprId, u32),
    /// The starred part of an unpacked value: a list.
    Rest(ExprId),
    /// The value of `with … as`; the flag is true for `async with`.
    Entered(ExprId, bool),
    /// An item of the first expression, after the second was assigned to it.
    Stored(ExprId, ExprId),
    /// An instance of a class, or of one of a tuple of classes.
    InstanceOf(ExprId),
    /// The value of `yield from`: what the generator returned.
    Delegated(ExprId),
    /// A group of exceptions of a class, or of one of a tuple of classes.
    GroupOf(ExprId),
    /// The value of a `yield` expression of a function.
    Sent(FunctionId),
    /// The first expression, narrowed by the second being true.
    Narrowed(ExprId, ExprId),
    /// `isinstance(first, second)`, implied by a pattern.
    IsInstance(ExprId, ExprId),
    /// An expression of unknown type.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Is,
    IsNot,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    Other,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) function: ExprId,
    /// Rows of [`Module::arguments`].
    pub(crate) arguments: List,
    /// The innermost scope around the call, for `super()`.
    pub(crate) scope: ScopeId,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Argument {
    pub(crate) value: ExprId,
    pub(crate) kind: ArgumentKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentKind {
    Positional,
    Starred,
    Keyword(Name),
    Keywords,
}

/// The events before a place in the code, linked backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The beginning of a module, class or function body.
    Start(ScopeId),
    Assigned {
        key: KeyId,
        to: Assigned,
        before: FlowId,
    },
    /// A test with its outcome.
    Tested {
        test: ExprId,
        outcome: bool,
        before: FlowId,
    },
    /// Row of [`Module::joins`].
    Join(u32),
    Unreachable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Assigned {
    Binding(BindingId),
    Value(ExprId),
    /// `del`, or an assignment of an unknown value.
    Unknown,
}

/// An identifier in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Occurrence {
    pub(crate) at: u32,
    /// Length in bytes of the text, which may differ from the normalized name.
    pub(crate) length: u32,
    pub(crate) name: Name,
    pub(crate) role: Role,
    /// Scope of the identifier.
    pub(crate) scope: ScopeId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Binding(BindingId),
    /// A name that is read, or assigned in place.
    Name(ExprId),
    Attribute(ExprId),
    /// A keyword of a call.
    Keyword(ExprId),
    /// A keyword in the header of a class.
    ClassKeyword(ClassId),
    /// The member of `from m import member as other`.
    Member(ModulePath),
    /// The n-th part (from 0) of a module's path in an import statement.
    Part(ModulePath, u32),
    /// A name in `global x` or `nonlocal x`.
    Declared(SymbolId),
    /// An entry of `__all__`.
    Export,
    /// A name in a string.
    Quoted(Quoted),
    /// An entry of `__slots__`.
    Slot(ClassId),
    /// An entry of `__match_args__`.
    MatchArgument(ClassId),
}

impl Expr {
    /// Returns the expressions whose values make up the value of this one; of a name or a call,
    /// none.
    pub(crate) fn parts(self, module: &Module) -> Vec<ExprId> {
        match self {
            Expr::Either(all) | Expr::And(all) | Expr::Or(all) | Expr::Tuple(all) => {
                module.list(all).to_vec()
            }
            Expr::List(all) | Expr::Set(all) | Expr::Dict(all) => module.list(all).to_vec(),
            Expr::Binary(left, right, _) | Expr::Compare(_, left, right) => vec![left, right],
            Expr::Subscript(of, other, _) | Expr::DictComp(of, other) => vec![of, other],
            Expr::Attribute(of, ..)
            | Expr::Await(of)
            | Expr::Starred(of)
            | Expr::Unary(of)
            | Expr::ListComp(of)
            | Expr::SetComp(of)
            | Expr::Generator(of)
            | Expr::Element(of, _)
            | Expr::Part(of, _)
            | Expr::Positional(of, _)
            | Expr::Rest(of)
            | Expr::Delegated(of)
            | Expr::Entered(of, _)
            | Expr::Narrowed(of, _)
            | Expr::InstanceOf(of) => vec![of],
            _ => Vec::new(),
        }
    }
}

impl Occurrence {
    /// Returns the byte range in the text.
    pub(crate) fn range(&self) -> std::ops::Range<usize> {
        self.at as usize..(self.at + self.length) as usize
    }
}
