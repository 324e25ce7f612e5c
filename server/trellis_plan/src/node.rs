//! One node of the plan and the words it is described with.

use std::fmt;
use std::sync::Arc;

use crate::extra_fields::ExtraFields;

/// The place of a node in its plan: compact, cheap to copy, meaningless in another plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIx(u32);

impl NodeIx {
    /// `read` refuses files of 4 GiB and more, so every node count fits.
    pub(crate) fn new(index: usize) -> Self {
        debug_assert!(u32::try_from(index).is_ok());
        NodeIx(index as u32)
    }

    /// The position in [`Plan::nodes`](crate::Plan::nodes), from 0, in file order.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node defines, as its `type` says.
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
    /// The kind a `type` field names; letter case does not matter.
    pub fn parse(word: &str) -> Self {
        match word {
            _ if word.eq_ignore_ascii_case("function") => Kind::Function,
            _ if word.eq_ignore_ascii_case("class") => Kind::Class,
            _ if word.eq_ignore_ascii_case("method") => Kind::Method,
            _ if word.eq_ignore_ascii_case("module") => Kind::Module,
            _ => Kind::Other(word.into()),
        }
    }

    /// The word in the `type` field.
    pub fn name(&self) -> &str {
        match self {
            Kind::Function => "function",
            Kind::Class => "class",
            Kind::Method => "method",
            Kind::Module => "module",
            Kind::Other(word) => word,
        }
    }

    /// Whether such a node is one Python definition, so that it is a leaf unless the file says otherwise.
    pub(crate) fn is_definition(&self) -> bool {
        matches!(self, Kind::Function | Kind::Class | Kind::Method)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Whether a node is generated or only groups others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// A definition to generate.
    Leaf,
    /// A module, package or feature; it appears in the order and never in the counts.
    Composite,
}

/// Whether the tests of a node must fail before its implementation is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RedGate {
    #[default]
    Required,
    Skip,
}

/// A node as the plan describes it. What it depends on is asked of the [`Plan`](crate::Plan).
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Never empty; unique unless `check` says otherwise.
    pub id: Box<str>,
    /// A Python name, or `Class.method`; any text for composites.
    pub name: Box<str>,
    pub kind: Kind,
    pub level: Level,
    /// Relative, with `/`; safe only when `check` found nothing.
    pub file_path: Option<Arc<str>>,
    pub docstring: Option<Box<str>>,
    /// `subgraph_id`, or for a leaf without one the id of its nearest composite ancestor.
    pub subgraph: Option<Arc<str>>,
    /// `def …` as planned; not checked here.
    pub signature: Option<Box<str>>,
    /// Example usages; an example that is not a string is kept as its JSON.
    pub examples: Vec<String>,
    /// Third-party packages the node wants.
    pub libraries: Vec<String>,
    pub red_gate: RedGate,
    /// Fields this crate does not know, in file order, exported again as they were.
    pub extra: ExtraFields,
}

impl Node {
    /// A node with an id, a name, a kind and the level that goes with the kind; everything else empty.
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

    /// Whether this node is generated and counted.
    pub fn is_leaf(&self) -> bool {
        self.level == Level::Leaf
    }

    /// The name after the `def` or `class` keyword: `method` of `Class.method`.
    pub fn definition_name(&self) -> &str {
        match self.name.rsplit_once('.') {
            Some((_, last)) => last,
            None => &self.name,
        }
    }

    /// The class part of a `Class.method` name.
    pub(crate) fn class_part(&self) -> Option<&str> {
        self.name.rsplit_once('.').map(|(class, _)| class)
    }
}
