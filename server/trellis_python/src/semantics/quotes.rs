//! Rules for names in strings, and the places of dict displays whose keys are such names.

use super::ir::{ClassId, ExpectationId, ExprId, FunctionId, SymbolId};
use super::names::Name;
use crate::index::DocumentKind;

/// The rule that gives a name in a string its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quoted {
    /// An attribute of a value: `getattr(x, "name")`.
    Attribute(ExprId),
    /// A key of a value: `x["name"]`, `x.get("name")`, `"name" in x`.
    Key(ExprId),
    /// A key of a dict display.
    Entry(ExpectationId),
    /// A part of a dotted path: the path up to it, and whether it is the last one.
    Path(Name, bool),
    /// A pytest fixture: `usefixtures("name")`.
    Fixture,
    /// A parameter of tests: `parametrize("name", …)`.
    Parameter(Parametrized),
    /// The attribute that a call looks up on an unknown object.
    LookedUp,
    /// The beginning of a name that is put together: `"visit_" + kind`.
    Prefix(Rest),
    /// The end of a name that is put together: `kind + "_handler"`.
    Suffix(Rest),
    /// A string without a known rule.
    Plain,
    /// A word of the code in a string: `eval("name + 1")`.
    Code,
    /// A part of a dotted path whose beginning is put before it: `f"{MODULE}.name"`.
    Tail,
    /// A parameter of a function, in a string of the function's decorators.
    Decorator(FunctionId),
    /// A name in code beside a syntax error, which the parser passed over.
    Unparsed,
    /// A word of a document.
    Mention(DocumentKind),
}

/// The rest of a name that is put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// The name of a class: `type(node).__name__`.
    ClassName,
    Unknown,
}

/// A name in a `parametrize` mark.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParametrizedName {
    pub(crate) name: Name,
    /// The mark.
    pub(crate) call: ExprId,
    /// Index of the name; `None` if it is the only one, so that each value is one of its own.
    pub(crate) part: Option<u32>,
}

/// The tests to which a `parametrize` mark belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parametrized {
    Function(FunctionId),
    Class(ClassId),
    Module,
}

/// The place that decides the type of a dict display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expectation {
    /// The value of a name or attribute with this annotation.
    Annotation(ExprId),
    /// The value of a symbol.
    Symbol(SymbolId),
    /// The items that a loop gives to a symbol, one after the other.
    Iterated(SymbolId),
    /// The n-th argument of a call.
    Argument(ExprId, u32),
    /// The argument of a call with this keyword.
    Keyword(ExprId, Name),
    /// The keywords of a call: `f(**{…})`.
    Unpacked(ExprId),
    /// A result of a function.
    Returned(FunctionId),
    /// An element of a display.
    Element(ExpectationId),
    /// A value of a dict display, with its key if that is an identifier.
    Value(ExpectationId, Option<Name>),
    /// The other side of a comparison.
    Compared(ExprId),
    Nothing,
}
