//! One node of a plan, and the types of its fields.

use std::fmt;
use std::sync::Arc;

use crate::extra_fields::ExtraFields;

/// Index of a node in its plan: compact, cheap to copy, meaningless for another plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIx(u32);

impl NodeIx {
    /// Creates an index. `read` refuses files of 4 GiB and more, so every node count fits.
    pub(crate) fn new(index: usize) -> Self {
        debug_assert!(u32::try_from(index).is_ok());
        NodeIx(index as u32)
    }

    /// Returns the position in [`Plan::nodes`](crate::Plan::nodes), from 0, in file order.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Kind of the definition, from the `type` field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Function,
    Class,
    Method,
    Module,
    /// Any other word, kept as written (`package`, `constant`, `feature`, …).
    Other(Box<str>),
}

impl Kind {
    /// Parses the word of a `type` field, ignoring case.
    pub fn parse(word: &str) -> Self {
        match word {
            _ if word.eq_ignore_ascii_case("function") => Kind::Function,
            _ if word.eq_ignore_ascii_case("class") => Kind::Class,
            _ if word.eq_ignore_ascii_case("method") => Kind::Method,
            _ if word.eq_ignore_ascii_case("module") => Kind::Module,
            _ => Kind::Other(word.into()),
        }
    }

    /// Returns the word in the `type` field.
    pub fn name(&self) -> &str {
        match self {
            Kind::Function => "function",
            Kind::Class => "class",
            Kind::Method => "method",
            Kind::Module => "module",
            Kind::Other(word) => word,
        }
    }

    /// Returns whether such a node is one Python definition and therefore a leaf, unless the file
    /// sets another level.
    pub(crate) fn is_definition(&self) -> bool {
        matches!(self, Kind::Function | Kind::Class | Kind::Method)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Level of a node: generated, or only a group of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// A definition to generate.
    Leaf,
    /// A module, package or feature. Composites appear in the order and never in the counts.
    Composite,
}

/// Requirement that the tests of a node fail before its implementation is requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RedGate {
    #[default]
    Required,
    Skip,
}

/// A node as described in the plan. The [`Plan`](crate::Plan) has its dependencies.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Id; never empty, and unique unless `check` reports a duplicate.
    pub id: Box<str>,
    /// A Python name, or `Class.method`; any text for composites.
    pub name: Box<str>,
    pub kind: Kind,
    pub level: Level,
    /// Relative path, with `/`; safe only if `check` found nothing.
    pub file_path: Option<Arc<str>>,
    pub docstring: Option<Box<str>>,
    /// `subgraph_id`, or for a leaf without one the id of its nearest composite ancestor.
    pub subgraph: Option<Arc<str>>,
    /// Planned signature, `def …`; not checked here.
    pub signature: Option<Box<str>>,
    /// Example uses; an example that is not a string is kept as its JSON.
    pub examples: Vec<String>,
    /// Third-party packages that the node needs.
    pub libraries: Vec<String>,
    pub red_gate: RedGate,
    /// Fields unknown to this crate, in file order, exported unchanged.
    pub extra: ExtraFields,
}

impl Node {
    /// Creates a node with an id, a name, a kind and the level of that kind; everything else is
    /// empty.
    pub(crate) fn new(id: &str, name: &str, kind: Kind) -> Self {
        let level = if kind.is_definition() { Level::Leaf } else { Level::Composite };
        Node {
            id: id.into(),
            name: name.into(),
            kind,
            level,
            file_path: None,
            docstring: None,
            subgraph: None,
            signature: None,
            examples: Vec::new(),
            libraries: Vec::new(),
            red_gate: RedGate::Required,
            extra: ExtraFields::default(),
        }
    }

    /// Returns whether this node is generated and counted.
    pub fn is_leaf(&self) -> bool {
        self.level == Level::Leaf
    }

    /// Returns the name after the `def` or `class` keyword: `method` of `Class.method`.
    pub fn definition_name(&self) -> &str {
        match self.name.rsplit_once('.') {
            Some((_, last)) => last,
            None => &self.name,
        }
    }

    /// Returns the class part of a `Class.method` name.
    pub(crate) fn class_part(&self) -> Option<&str> {
        self.name.rsplit_once('.').map(|(class, _)| class)
    }
}
