//! Targets of an identifier, and the reasons why they may be uncertain.

use super::ir::SymbolId;
use super::names::Name;
use crate::index::{DocumentKind, FileId};

/// The object that a name refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Target {
    /// A symbol bound in a scope of a file.
    Symbol(FileId, SymbolId),
    /// A module or package.
    Module(Name),
    /// An object outside the workspace, by its dotted name.
    Outside(Name),
}

/// The targets of an identifier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Meaning {
    pub(crate) targets: Vec<Target>,
    /// The reason why the identifier may refer to any symbol of its name, if no target is known.
    pub(crate) uncertainty: Option<Uncertainty>,
    /// The reason why it may refer to other symbols of its name besides its targets.
    pub(crate) others: Option<Uncertainty>,
}

/// The reason why the target of a name is uncertain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Uncertainty {
    Receiver,
    Callee,
    Forwarded,
    Star,
    /// A name in a string that a function looks up.
    LookedUp,
    /// A key of a mapping of unknown origin.
    Key,
    /// A part of a name that is put together.
    Composed,
    /// A key of an enum that only a run knows.
    Computed,
    /// A member or parameter of what stands in for the target's class or function.
    StandIn,
    /// A keyword of attrs for a private field.
    Private,
    /// Variables that are read by names that only a run knows.
    Variables,
    /// A name of a package that makes its attributes on demand.
    Lazy,
    /// The name of an enum's member, as data.
    MemberName,
    /// A mapping of unknown keys that a call unpacks.
    Unpacked,
    /// A name that another one is a part of.
    Compound,
    /// A parameter of a test for which no fixture is known.
    Fixture,
    /// A word of the code in a string.
    Code,
    /// A word in a string of the function's own decorators.
    Decorator,
    /// A name beside a syntax error.
    Unparsed,
    /// Any other string.
    Plain,
    /// A word of a document.
    Document(DocumentKind),
}

impl Uncertainty {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Uncertainty::Receiver => "the type of the object before the dot is unknown",
            Uncertainty::Callee => "the called function is unknown",
            Uncertainty::Forwarded => "the keyword is passed on through **kwargs",
            Uncertainty::Star => {
                "the name may come from a star import of a module outside the workspace"
            }
            Uncertainty::LookedUp => "the name is in a string that is used to look up an attribute",
            Uncertainty::Key => "the name is a key of a mapping, which may hold attributes",
            Uncertainty::Composed => "code looks up names that it puts together with this text",
            Uncertainty::Computed => "members are looked up here by names that only a run knows",
            Uncertainty::StandIn => "it is used in place of the renamed one",
            Uncertainty::Private => "attrs passes the field without its underscores",
            Uncertainty::Variables => "variables are read here by names that only a run knows",
            Uncertainty::Lazy => "the module makes attributes on demand (`__getattr__`)",
            Uncertainty::Document(DocumentKind::Settings) => "a command line has the name",
            Uncertainty::MemberName => "the names of members are read here",
            Uncertainty::Unpacked => "the call unpacks a mapping, which may have the name as a key",
            Uncertainty::Compound => {
                "code looks up names that it puts together from the names of classes"
            }
            Uncertainty::Document(DocumentKind::Notebook) => "a notebook has the name",
            Uncertainty::Document(DocumentKind::Template) => "a template has the name",
            Uncertainty::Document(_) => "the documentation has the name",
            Uncertainty::Fixture => "a test asks for a fixture of this name, which may be this one",
            Uncertainty::Code => "a string with code has the name",
            Uncertainty::Decorator => "a decorator has the name in a string",
            Uncertainty::Unparsed => "the name is beside a syntax error",
            Uncertainty::Plain => "a string is the name",
        }
    }
}

impl Meaning {
    pub(super) fn certain(targets: Vec<Target>) -> Meaning {
        Meaning { targets, ..Meaning::default() }
    }

    pub(super) fn doubtful(uncertainty: Uncertainty) -> Meaning {
        Meaning { uncertainty: Some(uncertainty), ..Meaning::default() }
    }

    /// Returns the meaning with its doubt about other symbols if a target is known.
    pub(super) fn if_unresolved(self) -> Meaning {
        match self.targets.is_empty() {
            true => self,
            false => {
                Meaning { uncertainty: None, others: self.uncertainty.or(self.others), ..self }
            }
        }
    }

    /// Returns the meaning, with a doubt of another kind if no target is known.
    pub(super) fn unless_known(self, uncertainty: Uncertainty) -> Meaning {
        let is_open = self.targets.is_empty() && self.uncertainty.is_some();
        if is_open { Meaning::doubtful(uncertainty) } else { self.if_unresolved() }
    }

    pub(super) fn add(&mut self, target: Target) {
        if !self.targets.contains(&target) {
            self.targets.push(target);
        }
    }
}
