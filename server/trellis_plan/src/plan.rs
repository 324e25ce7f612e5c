//! The plan: nodes, edges and what can be asked of them.

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

/// A planning graph, whichever dialect it came in. It may still contradict itself; see [`check`](crate::check()).
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) dialect: Dialect,
    pub(crate) nodes: Vec<Node>,
    pub(crate) ids: IdTable,
    /// The `dependencies` lists as written, known ids only.
    pub(crate) listed: Csr,
    pub(crate) edges: Vec<Edge>,
    /// Unknown fields of edges, by the edge's position; few edges have any.
    pub(crate) edge_extra: Vec<(u32, ExtraFields)>,
    pub(crate) kinds: Vec<EdgeKind>,
    pub(crate) unknown: Vec<UnknownEdge>,
    pub(crate) metadata: ExtraFields,
    pub(crate) extra: ExtraFields,
    pub(crate) warnings: Vec<String>,
    pub(crate) graph: Graph,
}

impl Plan {
    /// The dialect the file was read in.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// All nodes in file order, composites among them; [`NodeIx::index`] is the position.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Every node's place, in file order.
    pub fn indices(&self) -> impl DoubleEndedIterator<Item = NodeIx> + ExactSizeIterator + use<> {
        (0..self.nodes.len()).map(NodeIx::new)
    }

    /// The node at a place of this plan.
    pub fn node(&self, ix: NodeIx) -> &Node {
        &self.nodes[ix.index()]
    }

    /// The id of a node, as bytes to compare and text to print.
    pub fn id(&self, ix: NodeIx) -> &str {
        &self.nodes[ix.index()].id
    }

    /// The first node with that id.
    pub fn find(&self, id: &str) -> Option<NodeIx> {
        self.ids.find(&self.nodes, id)
    }

    /// Up to `limit` nodes whose id or name resembles `word`, most alike first.
    pub fn near(&self, word: &str, limit: usize) -> Vec<NodeIx> {
        did_you_mean::near(self, word, limit)
    }

    /// The entries of `edges` between known nodes, in file order.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The kind of an edge of this plan.
    pub fn edge_kind(&self, edge: &Edge) -> &EdgeKind {
        &self.kinds[edge.kind as usize]
    }

    /// Edges and `dependencies` that name a node the plan does not have.
    pub fn unknown_edges(&self) -> &[UnknownEdge] {
        &self.unknown
    }

    /// How many edges the plan states: the entries of `edges`, and of `dependencies` those no edge repeats; entries that
    /// name an unknown node are counted too.
    pub fn edge_count(&self) -> usize {
        let dependency = |edge: &&Edge| self.edge_kind(edge).role == Role::Dependency;
        let stated = self.edges.iter().filter(dependency).map(|edge| (edge.source, edge.target));
        let mut stated: Vec<(NodeIx, NodeIx)> = stated.collect();
        stated.sort_unstable();
        let listed = Csr::from_pairs(self.nodes.len(), self.listed.pairs());
        let unstated = listed.pairs().filter(|pair| stated.binary_search(pair).is_err()).count();
        self.edges.len() + unstated + self.unknown.len()
    }

    /// Every node that has to go before `ix`: its dependencies, what feeds it, what contains it, a method's class.
    /// In file order, without repetitions.
    pub fn needs(&self, ix: NodeIx) -> &[NodeIx] {
        self.graph.needs.row(ix)
    }

    /// Every node that has to wait for `ix`; the counterpart of [`needs`](Self::needs).
    pub fn needed_by(&self, ix: NodeIx) -> &[NodeIx] {
        self.graph.needed_by.row(ix)
    }

    /// What `ix` depends on, a method's class included; data flow and hierarchy are not dependencies.
    pub fn depends_on(&self, ix: NodeIx) -> &[NodeIx] {
        self.graph.depends_on.row(ix)
    }

    /// Who depends on `ix`; the counterpart of [`depends_on`](Self::depends_on).
    pub fn dependents(&self, ix: NodeIx) -> &[NodeIx] {
        self.graph.dependents.row(ix)
    }

    /// The nodes right below `ix` in the hierarchy.
    pub fn children(&self, ix: NodeIx) -> &[NodeIx] {
        self.graph.children.row(ix)
    }

    /// The nodes right above `ix` in the hierarchy; more than one only in odd plans.
    pub fn parents(&self, ix: NodeIx) -> &[NodeIx] {
        self.graph.parents.row(ix)
    }

    /// Why `ix` needs `other`, one of its [`needs`](Self::needs).
    pub fn reason(&self, ix: NodeIx, other: NodeIx) -> Role {
        self.graph.reason(ix, other)
    }

    /// The class node `ix` is a method of.
    pub fn class_of(&self, ix: NodeIx) -> Option<NodeIx> {
        self.graph.class_of[ix.index()]
    }

    /// What a node of a list of tasks says as a task; `None` in every other dialect.
    pub fn task(&self, ix: NodeIx) -> Option<Task> {
        (self.dialect == Dialect::Tasks).then(|| Task::of(self.node(ix)))
    }

    /// How much work a node is: the story points of a task, 1 for any other leaf (and for a task whose points are left
    /// out or [wrong](crate::ProblemKind::InvalidPoints)), 0 for a composite.
    pub fn weight(&self, ix: NodeIx) -> u32 {
        match self.node(ix) {
            node if !node.is_leaf() => 0,
            node if self.dialect == Dialect::Tasks => task::points(node).unwrap_or(1),
            _ => 1,
        }
    }

    /// `Class.method` for methods, the name for everything else.
    pub fn qualified_name(&self, ix: NodeIx) -> Cow<'_, str> {
        let node = self.node(ix);
        match self.class_of(ix) {
            Some(class) if node.class_part().is_none() => {
                Cow::Owned(format!("{}.{}", self.node(class).name, node.name))
            }
            _ => Cow::Borrowed(&node.name),
        }
    }

    /// The fields of `metadata`, in file order.
    pub fn metadata(&self) -> &ExtraFields {
        &self.metadata
    }

    /// `metadata.project_name`, or `metadata.name`.
    pub fn project_name(&self) -> Option<String> {
        self.metadata.text("project_name").or_else(|| self.metadata.text("name"))
    }

    /// `metadata.description`.
    pub fn description(&self) -> Option<String> {
        self.metadata.text("description")
    }

    /// `metadata.author`.
    pub fn author(&self) -> Option<String> {
        self.metadata.text("author")
    }

    /// `metadata.version`.
    pub fn version(&self) -> Option<String> {
        self.metadata.text("version")
    }

    /// `metadata.nl_spec_path`, as written.
    pub fn nl_spec_path(&self) -> Option<String> {
        self.metadata.text("nl_spec_path")
    }

    /// Top-level fields this crate does not know.
    pub fn extra(&self) -> &ExtraFields {
        &self.extra
    }

    /// What was taken in good faith while reading, e.g. an unknown edge kind.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// All nodes sorted by id as bytes; nodes of equal id in file order.
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

/// Equal in what they plan. The dialect, and what an export adds about a run (`status` of nodes,
/// `metadata.generation`), do not count.
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
