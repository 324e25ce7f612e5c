//! Finds the nodes of two plans that belong together.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::node::NodeIx;
use crate::plan::Plan;

/// Nodes of two plans that belong together.
pub(super) struct Pairs {
    new_of: Vec<Option<NodeIx>>,
    old_of: Vec<Option<NodeIx>>,
}

impl Pairs {
    /// Returns the counterpart of a node of the old plan.
    pub(super) fn new_of(&self, old: NodeIx) -> Option<NodeIx> {
        self.new_of[old.index()]
    }

    /// Returns the counterpart of a node of the new plan.
    pub(super) fn old_of(&self, new: NodeIx) -> Option<NodeIx> {
        self.old_of[new.index()]
    }

    /// Returns all pairs, old and new, in the order of the new plan.
    pub(super) fn both(&self) -> impl Iterator<Item = (NodeIx, NodeIx)> + '_ {
        let pair = |(new, old): (usize, &Option<NodeIx>)| Some(((*old)?, NodeIx::new(new)));
        self.old_of.iter().enumerate().filter_map(pair)
    }

    fn join(&mut self, old: NodeIx, new: NodeIx) {
        self.new_of[old.index()] = Some(new);
        self.old_of[new.index()] = Some(old);
    }
}

/// Content by which a node may be known again; `None` if the node does not have it.
type Evidence = fn(&Facts<'_>) -> Option<[String; 3]>;

/// Evidence that two nodes are the same, the strongest first.
const EVIDENCE: [Evidence; 5] = [
    |it| Some([it.name.clone(), it.file?.to_owned(), String::new()]),
    |it| Some([it.name.clone(), it.signature?.to_owned(), it.docstring?.to_owned()]),
    |it| Some([it.name.clone(), it.signature?.to_owned(), String::new()]),
    |it| Some([it.name.clone(), it.docstring?.to_owned(), String::new()]),
    |it| Some([it.file?.to_owned(), it.docstring?.to_owned(), String::new()]),
];

/// Pairs nodes by id, then by their content, the strongest evidence first. Content that several
/// nodes of one plan share pairs nothing.
pub(super) fn pair(old: &Plan, new: &Plan) -> Pairs {
    let (olds, news) = (old.nodes().len(), new.nodes().len());
    let mut pairs = Pairs { new_of: vec![None; olds], old_of: vec![None; news] };
    by_id(old, new, &mut pairs);
    for key in EVIDENCE {
        by_key(old, new, &mut pairs, |plan, ix| key(&Facts::of(plan, ix)));
    }
    pairs
}

/// Pairs nodes of the same id. An id that occurs several times pairs occurrence by occurrence.
fn by_id(old: &Plan, new: &Plan, pairs: &mut Pairs) {
    let mut waiting: FxHashMap<&str, Vec<NodeIx>> = FxHashMap::default();
    for ix in old.indices().rev() {
        waiting.entry(old.id(ix)).or_default().push(ix);
    }
    for ix in new.indices() {
        if let Some(found) = waiting.get_mut(new.id(ix)).and_then(Vec::pop) {
            pairs.join(found, ix);
        }
    }
}

/// Facts that identify a node beside its id; empty texts are none.
struct Facts<'a> {
    /// `Class.method`, with the level: a package and a function never belong together.
    name: String,
    file: Option<&'a str>,
    signature: Option<&'a str>,
    docstring: Option<&'a str>,
}

impl<'a> Facts<'a> {
    fn of(plan: &'a Plan, ix: NodeIx) -> Facts<'a> {
        let node = plan.node(ix);
        let level = if node.is_leaf() { "leaf" } else { "group" };
        Facts {
            name: format!("{level} {}", plan.qualified_name(ix)),
            file: node.file_path.as_deref().filter(|it| !it.is_empty()),
            signature: node.signature.as_deref().filter(|it| !it.is_empty()),
            docstring: node.docstring.as_deref().filter(|it| !it.trim().is_empty()),
        }
    }
}

/// Pairs nodes without a counterpart whose key is unique in both plans.
fn by_key<K: Hash + Eq>(
    old: &Plan,
    new: &Plan,
    pairs: &mut Pairs,
    key: impl Fn(&Plan, NodeIx) -> Option<K>,
) {
    // The old and the new nodes of a key; more than one of either are ambiguous.
    let mut found: FxHashMap<K, [Vec<NodeIx>; 2]> = FxHashMap::default();
    for ix in old.indices().filter(|&ix| pairs.new_of(ix).is_none()) {
        key(old, ix).into_iter().for_each(|it| found.entry(it).or_default()[0].push(ix));
    }
    for ix in new.indices().filter(|&ix| pairs.old_of(ix).is_none()) {
        key(new, ix).into_iter().for_each(|it| found.entry(it).or_default()[1].push(ix));
    }
    for [olds, news] in found.into_values() {
        if let ([old], [new]) = (olds.as_slice(), news.as_slice()) {
            pairs.join(*old, *new);
        }
    }
}
