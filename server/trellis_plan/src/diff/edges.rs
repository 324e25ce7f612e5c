//! Compares the edges of two plans.

use rustc_hash::FxHashMap;

use super::pairing::Pairs;
use crate::edge::Role;
use crate::extra_fields::ExtraFields;
use crate::node::NodeIx;
use crate::plan::Plan;

/// A difference between the edges of two plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeChange {
    pub kind: EdgeChangeKind,
    /// Id of the source: that of the new plan for a node of both.
    pub source: String,
    /// Id of the target, likewise.
    pub target: String,
    pub role: Role,
    /// Words for the edge in the old plan's `edges`, sorted; empty if only `dependencies` has it.
    pub old_types: Vec<String>,
    /// Words for the edge in the new plan's `edges`, likewise.
    pub new_types: Vec<String>,
}

/// Kind of a difference between edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeChangeKind {
    Added,
    Removed,
    /// The two plans use other words for the same edge, or give it other fields.
    Changed,
}

type Key<'a> = (&'a str, &'a str, Role);

/// Words and fields that a plan gives an edge.
#[derive(Default, PartialEq)]
struct Stated<'a> {
    types: Vec<&'a str>,
    extra: Vec<&'a ExtraFields>,
}

/// The edges of a plan in file order.
#[derive(Default)]
struct Relations<'a> {
    order: Vec<Key<'a>>,
    stated: FxHashMap<Key<'a>, Stated<'a>>,
}

impl<'a> Relations<'a> {
    /// Collects edges and `dependencies`. `name` returns the id under which a node is compared.
    fn of(plan: &'a Plan, name: impl Fn(NodeIx) -> &'a str) -> Relations<'a> {
        let mut out = Relations::default();
        let mut extra = plan.edge_extra.iter().peekable();
        for (at, edge) in plan.edges.iter().enumerate() {
            let kind = plan.edge_kind(edge);
            let extra = extra.next_if(|(place, _)| *place as usize == at).map(|(_, it)| it);
            out.add((name(edge.source), name(edge.target), kind.role), Some(&kind.name), extra);
        }
        for (source, target) in plan.listed.pairs() {
            out.add((name(source), name(target), Role::Dependency), None, None);
        }
        for edge in &plan.unknown {
            let [source, target] =
                [&edge.source, &edge.target].map(|id| plan.find(id).map_or(&**id, &name));
            let kind = edge.kind.map(|kind| &plan.kinds[kind as usize]);
            let role = kind.map_or(Role::Dependency, |it| it.role);
            out.add((source, target, role), kind.map(|it| &*it.name), Some(&edge.extra));
        }
        out.stated.values_mut().for_each(|it| it.types.sort_unstable());
        out
    }

    fn add(&mut self, key: Key<'a>, kind: Option<&'a str>, extra: Option<&'a ExtraFields>) {
        let order = &mut self.order;
        let stated = self.stated.entry(key).or_insert_with(|| {
            order.push(key);
            Stated::default()
        });
        stated.types.extend(kind);
        stated.extra.extend(extra.filter(|it| !it.is_empty()));
    }

    fn types(&self, key: &Key<'a>) -> Vec<String> {
        let found = self.stated.get(key).map(|it| it.types.as_slice()).unwrap_or_default();
        found.iter().map(|&it| it.to_owned()).collect()
    }
}

/// Returns added edges in the order of the new plan, removed ones in the order of the old plan, and
/// then edges with other words; those only for plans of one dialect.
pub(super) fn changes(
    old: &Plan,
    new: &Plan,
    pairs: &Pairs,
    same_dialect: bool,
) -> Vec<EdgeChange> {
    let before = Relations::of(old, |ix| pairs.new_of(ix).map_or(old.id(ix), |it| new.id(it)));
    let after = Relations::of(new, |ix| new.id(ix));
    let change = |key: &Key<'_>, kind| EdgeChange {
        kind,
        source: key.0.to_owned(),
        target: key.1.to_owned(),
        role: key.2,
        old_types: before.types(key),
        new_types: after.types(key),
    };
    let added = after.order.iter().filter(|key| !before.stated.contains_key(*key));
    let removed = before.order.iter().filter(|key| !after.stated.contains_key(*key));
    let differs = |key: &&Key<'_>| {
        before.stated.get(*key).is_some_and(|it| same_dialect && *it != after.stated[*key])
    };
    (added.map(|key| change(key, EdgeChangeKind::Added)))
        .chain(removed.map(|key| change(key, EdgeChangeKind::Removed)))
        .chain(after.order.iter().filter(differs).map(|key| change(key, EdgeChangeKind::Changed)))
        .collect()
}
