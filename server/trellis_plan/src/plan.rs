//! The plan: nodes, edges, and queries on them.

use std::borrow::Cow;

use crate::build::IdTable;
use crate::csr::Csr;
use crate::dialect::Dialect;
use crate::did_you_mean;
use crate::edge::{Edge, EdgeKind, Role, UnknownEdge};
use crate::extra_fields::ExtraFields;
use crate::graph::Graph;
use crate::node::{Node, NodeIx};
use crate::task::{self, Task};

/// A planning graph, read from any dialect. It may contain contradictions; see
/// [`check`](crate::check()).
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) dialect: Dialect,
    pub(crate) nodes: Vec<Node>,
    pub(crate) ids: IdTable,
    /// The `dependencies` lists as written, known ids only.
    pub(crate) listed: Csr,
    pub(crate) edges: Vec<Edge>,
    /// Unknown fields of edges, by the edge's index; few edges have any.
    pub(crate) edge_extra: Vec<(u32, ExtraFields)>,
    pub(crate) kinds: Vec<EdgeKind>,
    pub(crate) unknown: Vec<UnknownEdge>,
    pub(crate) metadata: ExtraFields,
    pub(crate) extra: ExtraFields,
    pub(crate) warnings: Vec<String>,
    pub(crate) graph: Graph,
}

impl Plan {
    /// Returns the dialect in which the file was read.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns all nodes in file order, composites included; [`NodeIx::index`] is the position.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the indexes of all nodes, in file order.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = NodeIx> + ExactSizeIterator + use<> {
        (0..self.nodes.len()).map(NodeIx::new)
    }

    /// Returns the node at an index of this plan.
    pub fn node(&self, ix: NodeIx) -> &Node {
        &self.nodes[ix.index()]
    }

    /// Returns the id of a node.
    pub fn id(&self, ix: NodeIx) -> &str {
        &self.nodes[ix.index()].id
    }

    /// Returns the first node with an id.
    pub fn find(&self, id: &str) -> Option<NodeIx> {
        self.ids.find(&self.nodes, id)
    }

    /// Returns up to `limit` nodes whose id or name resembles `word`, most similar first.
    pub fn near(&self, word: &str, limit: usize) -> Vec<NodeIx> {
        did_you_mean::near(self, word, limit)
    }

    /// Returns the entries of `edges` between known nodes, in file order.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Returns the kind of an edge of this plan.
    pub fn edge_kind(&self, edge: &Edge) -> &EdgeKind {
        &self.kinds[edge.kind as usize]
    }

    /// Returns edges and `dependencies` with a node that the plan does not have.
    pub fn unknown_edges(&self) -> &[UnknownEdge] {
        &self.unknown
    }

    /// Returns the number of edges that the plan states: the entries of `edges`, and those of
    /// `dependencies` that no edge repeats. Entries with an unknown node are counted too.
    pub fn edge_count(&self) -> usize {
        let dependency = |edge: &&Edge| self.edge_kind(edge).role == Role::Dependency;
        let stated = self.edges.iter().filter(dependency).map(|edge| (edge.source, edge.target));
        let mut stated: Vec<(NodeIx, NodeIx)> = stated.collect();
        stated.sort_unstable();
        let listed = Csr::from_pairs(self.nodes.len(), self.listed.pairs());
        let unstated = listed.pairs().filter(|pair| stated.binary_search(pair).is_err()).count();
        self.edges.len() + unstated + self.unknown.len()
    }

    /// Returns every node that must go before `ix`: its dependencies, the nodes that feed or
    /// contain it, a method's class. In file order, without repetitions.
    pub fn needs(&self, ix: NodeIx) -> &[NodeIx] {
        self.graph.needs.row(ix)
    }

    /// Returns every node that must wait for `ix`; the inverse of [`needs`](Self::needs).
    pub fn needed_by(&self, ix: NodeIx) -> &[NodeIx] {
        self.graph.needed_by.row(ix)
    }

    /// Returns the nodes that `ix` depends on, a method's class included; data flow and hierarchy
    /// are not dependencies.
    pub fn depends_on(&self, ix: NodeIx) -> &[NodeIx] {
        self.graph.depends_on.row(ix)
    }

    /// Returns the nodes that depend on `ix`; the inverse of [`depends_on`](Self::depends_on).
    pub fn dependents(&self, ix: NodeIx) -> &[NodeIx] {
        self.graph.dependents.row(ix)
    }

    /// Returns the nodes directly below `ix` in the hierarchy.
    pub fn children(&self, ix: NodeIx) -> &[NodeIx] {
        self.graph.children.row(ix)
    }

    /// Returns the nodes directly above `ix` in the hierarchy; more than one only in unusual plans.
    pub fn parents(&self, ix: NodeIx) -> &[NodeIx] {
        self.graph.parents.row(ix)
    }

    /// Returns the reason why `ix` needs `other`, one of its [`needs`](Self::needs).
    pub fn reason(&self, ix: NodeIx, other: NodeIx) -> Role {
        self.graph.reason(ix, other)
    }

    /// Returns the class that node `ix` is a method of.
    pub fn class_of(&self, ix: NodeIx) -> Option<NodeIx> {
        self.graph.class_of[ix.index()]
    }

    /// Returns a node of a list of tasks as a task; `None` in every other dialect.
    pub fn task(&self, ix: NodeIx) -> Option<Task> {
        (self.dialect == Dialect::Tasks).then(|| Task::of(self.node(ix)))
    }

    /// Returns the amount of work of a node: the story points of a task, 1 for any other leaf (and
    /// for a task whose points are missing or [invalid](crate::ProblemKind::InvalidPoints)), 0 for
    /// a composite.
    pub fn weight(&self, ix: NodeIx) -> u32 {
        match self.node(ix) {
            node if !node.is_leaf() => 0,
            node if self.dialect == Dialect::Tasks => task::points(node).unwrap_or(1),
            _ => 1,
        }
    }

    /// Returns `Class.method` for methods, the name for all other nodes.
    pub fn qualified_name(&self, ix: NodeIx) -> Cow<'_, str> {
        let node = self.node(ix);
        match self.class_of(ix) {
            Some(class) if node.class_part().is_none() => {
                Cow::Owned(format!("{}.{}", self.node(class).name, node.name))
            }
            _ => Cow::Borrowed(&node.name),
        }
    }

    /// Returns the fields of `metadata`, in file order.
    pub fn metadata(&self) -> &ExtraFields {
        &self.metadata
    }

    /// Returns `metadata.project_name`, or `metadata.name`.
    pub fn project_name(&self) -> Option<String> {
        self.metadata.text("project_name").or_else(|| self.metadata.text("name"))
    }

    /// Returns `metadata.description`.
    pub fn description(&self) -> Option<String> {
        self.metadata.text("description")
    }

    /// Returns `metadata.author`.
    pub fn author(&self) -> Option<String> {
        self.metadata.text("author")
    }

    /// Returns `metadata.version`.
    pub fn version(&self) -> Option<String> {
        self.metadata.text("version")
    }

    /// Returns `metadata.nl_spec_path`, as written.
    pub fn nl_spec_path(&self) -> Option<String> {
        self.metadata.text("nl_spec_path")
    }

    /// Returns the top-level fields unknown to this crate.
    pub fn extra(&self) -> &ExtraFields {
        &self.extra
    }

    /// Returns the warnings on assumptions made while reading, such as on an unknown edge kind.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns all nodes sorted by id as bytes; nodes of equal id in file order.
    pub(crate) fn by_id(&self) -> Vec<NodeIx> {
        let mut sorted: Vec<NodeIx> = self.indices().collect();
        sorted.sort_by(|&a, &b| self.id(a).cmp(self.id(b)));
        sorted
    }

    fn named_edges(&self) -> impl Iterator<Item = (NodeIx, NodeIx, &str)> {
        self.edges.iter().map(|edge| (edge.source, edge.target, &*self.edge_kind(edge).name))
    }

    fn named_unknown(&self) -> impl Iterator<Item = (&str, &str, Option<&str>, &ExtraFields)> {
        self.unknown.iter().map(|edge| {
            let kind = edge.kind.map(|kind| &*self.kinds[kind as usize].name);
            (&*edge.source, &*edge.target, kind, &edge.extra)
        })
    }
}

/// Plans are equal if they plan the same. The dialect, and the fields that an export adds on a run
/// (`status` of nodes, `metadata.generation`), do not count.
impl PartialEq for Plan {
    fn eq(&self, other: &Self) -> bool {
        let same_node = |(a, b): (&Node, &Node)| {
            let rest = |node: &Node| Node { extra: ExtraFields::default(), ..node.clone() };
            a.extra.same_but(&b.extra, "status") && rest(a) == rest(b)
        };
        self.nodes.len() == other.nodes.len()
            && self.nodes.iter().zip(&other.nodes).all(same_node)
            && self.listed == other.listed
            && self.named_edges().eq(other.named_edges())
            && self.edge_extra == other.edge_extra
            && self.named_unknown().eq(other.named_unknown())
            && self.metadata.same_but(&other.metadata, "generation")
            && self.extra == other.extra
    }
}
