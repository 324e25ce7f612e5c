//! Collects nodes and edges while a file is read, and builds a plan of them.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::csr::Csr;
use crate::dialect::Dialect;
use crate::edge::{Edge, EdgeKind, Role, UnknownEdge, role_of};
use crate::export::{EDGE_FIELDS, NODE_FIELDS, PLAN_FIELDS};
use crate::extra_fields::ExtraFields;
use crate::graph::Graph;
use crate::node::{Node, NodeIx};
use crate::plan::Plan;

/// Maps ids to nodes without a second copy of the ids: the table holds indexes, the nodes hold the
/// text.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdTable(HashTable<NodeIx>);

impl IdTable {
    pub(crate) fn find(&self, nodes: &[Node], id: &str) -> Option<NodeIx> {
        self.0.find(hash(id), |ix| &*nodes[ix.index()].id == id).copied()
    }

    /// Adds a node unless an earlier one has its id.
    fn add(&mut self, nodes: &[Node], ix: NodeIx) {
        let id = &nodes[ix.index()].id;
        let same = |other: &NodeIx| nodes[other.index()].id == *id;
        self.0.entry(hash(id), same, |other| hash(&nodes[other.index()].id)).or_insert(ix);
    }
}

fn hash(id: &str) -> u64 {
    FxBuildHasher.hash_one(id)
}

/// A plan under construction. Nodes are added first, each followed by its dependencies, then the
/// edges.
#[derive(Default)]
pub(crate) struct Builder<'a> {
    nodes: Vec<Node>,
    ids: IdTable,
    /// Interned file paths and subgraphs, which many nodes share.
    strings: FxHashSet<Arc<str>>,
    /// `dependencies` of all nodes, concatenated; `listed_ends[i]` is the end of node `i`'s part.
    listed: Vec<NodeIx>,
    listed_ends: Vec<u32>,
    /// Indexes in `listed` whose node was not read yet, with the node's id.
    pending: Vec<(u32, Cow<'a, str>)>,
    edges: Vec<Edge>,
    edge_extra: Vec<(u32, ExtraFields)>,
    kinds: Vec<EdgeKind>,
    kind_places: FxHashMap<Box<str>, u32>,
    unknown: Vec<UnknownEdge>,
    warnings: Vec<String>,
}

impl<'a> Builder<'a> {
    pub(crate) fn shared(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.strings.get(text) {
            return known.clone();
        }
        let new: Arc<str> = text.into();
        self.strings.insert(new.clone());
        new
    }

    pub(crate) fn node(&mut self, mut node: Node) -> NodeIx {
        node.extra.rename(&NODE_FIELDS);
        let ix = NodeIx::new(self.nodes.len());
        self.nodes.push(node);
        self.ids.add(&self.nodes, ix);
        self.listed_ends.push(self.listed.len() as u32);
        ix
    }

    /// Adds to the `dependencies` of the node added last.
    pub(crate) fn dependency(&mut self, target: Cow<'a, str>) {
        let found = self.find(&target);
        if found.is_none() {
            self.pending.push((self.listed.len() as u32, target));
        }
        self.listed.push(found.unwrap_or(NodeIx::new(0)));
        if let Some(end) = self.listed_ends.last_mut() {
            *end += 1;
        }
    }

    pub(crate) fn edge(&mut self, source: &str, target: &str, kind: &str, mut extra: ExtraFields) {
        extra.rename(&EDGE_FIELDS);
        let kind = self.kind(kind);
        let (Some(source), Some(target)) = (self.find(source), self.find(target)) else {
            self.unknown.push(UnknownEdge {
                source: source.into(),
                target: target.into(),
                kind: Some(kind),
                extra,
            });
            return;
        };
        if !extra.is_empty() {
            self.edge_extra.push((self.edges.len() as u32, extra));
        }
        self.edges.push(Edge { source, target, kind });
    }

    /// Adds an edge between two nodes that were already read.
    pub(crate) fn link(&mut self, source: NodeIx, target: NodeIx, kind: &str) {
        let kind = self.kind(kind);
        self.edges.push(Edge { source, target, kind });
    }

    pub(crate) fn link_unknown(&mut self, source: NodeIx, target: &str, kind: &str) {
        let kind = Some(self.kind(kind));
        let source = self.nodes[source.index()].id.clone();
        self.unknown.push(UnknownEdge {
            source,
            target: target.into(),
            kind,
            extra: ExtraFields::default(),
        });
    }

    pub(crate) fn find(&self, id: &str) -> Option<NodeIx> {
        self.ids.find(&self.nodes, id)
    }

    /// Returns the ids of composites by name; the first one if several have the same name.
    pub(crate) fn composites_by_name(&self) -> FxHashMap<Box<str>, Box<str>> {
        let mut ids = FxHashMap::default();
        for node in self.nodes.iter().filter(|node| !node.is_leaf()) {
            ids.entry(node.name.clone()).or_insert_with(|| node.id.clone());
        }
        ids
    }

    pub(crate) fn nodes_mut(&mut self) -> &mut [Node] {
        &mut self.nodes
    }

    pub(crate) fn hierarchy_pairs(&self) -> impl Iterator<Item = (NodeIx, NodeIx)> {
        let inner =
            self.edges.iter().filter(|edge| self.kinds[edge.kind as usize].role == Role::Hierarchy);
        inner.map(|edge| (edge.source, edge.target))
    }

    /// Returns, for every node, whether it has a child.
    pub(crate) fn parents(&self) -> Vec<bool> {
        let mut parents = vec![false; self.nodes.len()];
        for (parent, _) in self.hierarchy_pairs() {
            parents[parent.index()] = true;
        }
        parents
    }

    /// Adds a warning on input that was accepted by assumption.
    pub(crate) fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    fn kind(&mut self, name: &str) -> u32 {
        if let Some(&known) = self.kind_places.get(name) {
            return known;
        }
        let role = role_of(name).unwrap_or_else(|| {
            self.warnings.push(format!(
                "the unknown edge kind `{name}` is read as a dependency: source needs target"
            ));
            Role::Dependency
        });
        let place = self.kinds.len() as u32;
        self.kinds.push(EdgeKind { name: name.into(), role });
        self.kind_places.insert(name.into(), place);
        place
    }

    pub(crate) fn finish(
        mut self,
        dialect: Dialect,
        metadata: ExtraFields,
        mut extra: ExtraFields,
    ) -> Plan {
        extra.rename(&PLAN_FIELDS);
        let listed = self.resolve_dependencies();
        let graph = Graph::new(&mut self.nodes, &listed, &self.edges, &self.kinds);
        self.edges.shrink_to_fit();
        self.nodes.shrink_to_fit();
        Plan {
            dialect,
            nodes: self.nodes,
            ids: self.ids,
            listed,
            edges: self.edges,
            edge_extra: self.edge_extra,
            kinds: self.kinds,
            unknown: self.unknown,
            metadata,
            extra,
            warnings: self.warnings,
            graph,
        }
    }

    /// Resolves the pending dependencies, and moves unknown ones out of the lists.
    fn resolve_dependencies(&mut self) -> Csr {
        let mut missing = Vec::new();
        for (place, id) in std::mem::take(&mut self.pending) {
            match self.find(&id) {
                Some(target) => self.listed[place as usize] = target,
                None => missing.push((place, id)),
            }
        }
        let mut missing = missing.into_iter().peekable();
        let mut starts = vec![0];
        let mut items = Vec::with_capacity(self.listed.len());
        let mut place = 0;
        for (owner, &end) in self.listed_ends.iter().enumerate() {
            while place < end {
                if let Some((_, id)) = missing.next_if(|(missing, _)| *missing == place) {
                    let source = self.nodes[owner].id.clone();
                    let target = id.into_owned().into();
                    self.unknown.push(UnknownEdge {
                        source,
                        target,
                        kind: None,
                        extra: ExtraFields::default(),
                    });
                } else {
                    items.push(self.listed[place as usize]);
                }
                place += 1;
            }
            starts.push(items.len() as u32);
        }
        Csr::from_rows(starts, items)
    }
}
