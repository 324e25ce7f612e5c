//! Edges, and the table that defines the direction of each kind of edge.

use crate::extra_fields::ExtraFields;
use crate::node::NodeIx;

/// Effect of an edge on the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The source needs the target: the target goes first, and its failure skips the source.
    Dependency,
    /// The source feeds the target: the source goes first, but its failure skips no node.
    DataFlow,
    /// The source contains the target: the source goes first.
    Hierarchy,
    /// The two are related; the order is not affected.
    Related,
}

impl Role {
    /// Returns `(dependent, needed)` for an edge with this role; `None` if the role does not order
    /// its ends.
    pub fn needs<T>(self, source: T, target: T) -> Option<(T, T)> {
        match self {
            Role::Dependency => Some((source, target)),
            Role::DataFlow | Role::Hierarchy => Some((target, source)),
            Role::Related => None,
        }
    }

    /// Returns `dependency`, `data_flow`, `hierarchy` or `related`.
    pub fn name(self) -> &'static str {
        match self {
            Role::Dependency => "dependency",
            Role::DataFlow => "data_flow",
            Role::Hierarchy => "hierarchy",
            Role::Related => "related",
        }
    }
}

/// All known edge kinds of all dialects, with their roles. Kinds are compared in lowercase with `-`
/// read as `_`.
///
/// `composes` is a hierarchy edge, as ZeroRepo uses it; rpg-encoder's dependency of that name is
/// read as `composition`.
const KINDS: &[(&str, Role)] = &[
    ("call", Role::Dependency),
    ("calls", Role::Dependency),
    ("composition", Role::Dependency),
    ("depends_on", Role::Dependency),
    ("dependency", Role::Dependency),
    ("dispatches", Role::Dependency),
    ("extends", Role::Dependency),
    ("function_call", Role::Dependency),
    ("implements", Role::Dependency),
    ("import", Role::Dependency),
    ("imports", Role::Dependency),
    ("inherit", Role::Dependency),
    ("inheritance", Role::Dependency),
    ("inherits", Role::Dependency),
    ("instantiates", Role::Dependency),
    ("invokes", Role::Dependency),
    ("method_call", Role::Dependency),
    ("reads_state", Role::Dependency),
    ("references", Role::Dependency),
    ("renders", Role::Dependency),
    ("requires", Role::Dependency),
    ("uses", Role::Dependency),
    ("writes_state", Role::Dependency),
    ("data_flow", Role::DataFlow),
    ("dataflow", Role::DataFlow),
    ("feeds", Role::DataFlow),
    ("composes", Role::Hierarchy),
    ("contains", Role::Hierarchy),
    ("contains_base_class", Role::Hierarchy),
    ("hierarchy", Role::Hierarchy),
    ("parent", Role::Hierarchy),
    ("parent_child", Role::Hierarchy),
    ("same_unit", Role::Related),
];

/// Returns the role of an edge kind; `None` if the table does not have it.
pub(crate) fn role_of(kind: &str) -> Option<Role> {
    let same = |known: &str| {
        known.len() == kind.len()
            && known
                .bytes()
                .zip(kind.bytes())
                .all(|(k, b)| k == b.to_ascii_lowercase() || (k == b'_' && b == b'-'))
    };
    KINDS.iter().find(|(known, _)| same(known)).map(|&(_, role)| role)
}

/// A kind of edge as named in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeKind {
    /// The word in the `type` field.
    pub name: Box<str>,
    /// Role of the kind. An unknown kind is read as a dependency, with a warning.
    pub role: Role,
}

/// An edge between two nodes of the plan, as listed under `edges`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub source: NodeIx,
    pub target: NodeIx,
    /// Index in the plan's table of edge kinds; see [`Plan::edge_kind`](crate::Plan::edge_kind).
    pub(crate) kind: u32,
}

/// An edge, or an entry of `dependencies`, with at least one end that is not a node of the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownEdge {
    pub source: Box<str>,
    pub target: Box<str>,
    /// Index in the table of edge kinds; `None` for an entry of the source's `dependencies`.
    pub(crate) kind: Option<u32>,
    pub(crate) extra: ExtraFields,
}
