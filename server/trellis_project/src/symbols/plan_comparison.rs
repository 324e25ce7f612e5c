//! Comparison of a planning graph with the existing code.

use std::collections::BTreeSet;

use trellis_plan::{NodeIx, Plan};
use trellis_python::Index;

use super::locations::spot;
use super::plan_links::Links;

/// A planning graph compared with the code.
#[derive(Clone, Debug)]
pub struct PlanComparison {
    /// The share of planned dependencies found in the code, 0 to 1; null if none could be checked.
    pub confirmed_share: Option<f64>,
    /// The number of checked dependencies.
    pub planned: usize,
    /// Planned and found in the code.
    pub confirmed: Vec<Dependency>,
    /// Planned, but not found in the code.
    pub missing: Vec<MissingDependency>,
    /// In the code, but not planned.
    pub unplanned: Vec<UnplannedDependency>,
    /// Ids of nodes that only tests use; entry points are among them.
    pub unused: Vec<String>,
    /// Ids of nodes without a definition.
    pub absent: Vec<String>,
    /// Nodes found in another file than planned.
    pub moved: Vec<MovedNode>,
    /// The number of planned dependencies that cannot be checked, because an end of them is not a definition.
    pub unchecked: usize,
    /// True if every file could be read.
    pub complete: bool,
    /// Files that could not be read, as sentences.
    pub reasons: Vec<String>,
}

/// A dependency between two nodes.
#[derive(Clone, Debug)]
pub struct Dependency {
    /// Id of the dependent node.
    pub from: String,
    /// Id of the node that it depends on.
    pub to: String,
}

/// A planned dependency that is not in the code.
#[derive(Clone, Debug)]
pub struct MissingDependency {
    /// Id of the dependent node.
    pub from: String,
    /// Id of the node that it depends on.
    pub to: String,
    /// A use of unknown type may be this dependency.
    pub possible: bool,
}

/// A dependency in the code that is not planned.
#[derive(Clone, Debug)]
pub struct UnplannedDependency {
    /// Id of the node that uses the other.
    pub from: String,
    /// Id of the used node.
    pub to: String,
    /// The place of the first use, relative to the folder.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
}

/// A node found in another file.
#[derive(Clone, Debug)]
pub struct MovedNode {
    pub id: String,
    /// The file that defines it, relative to the folder.
    pub file: String,
}

/// A node, and a node that it needs or uses.
type Pair = (NodeIx, NodeIx);

/// Compares a plan with an index.
pub fn compare(index: &Index, plan: &Plan) -> PlanComparison {
    let found = Links::of(plan, index);
    let there: BTreeSet<NodeIx> = found.generated.iter().map(|it| it.ix).collect();
    let planned: BTreeSet<Pair> = plan.indices().flat_map(|ix| dependencies(plan, ix)).collect();
    let (checked, unchecked): (Vec<Pair>, Vec<Pair>) =
        planned.iter().partition(|(from, to)| there.contains(from) && there.contains(to));
    // Code that uses a method of an object uses its class, even if it does not name it.
    let links = |pair: &Pair| {
        [found.links.get(pair), found.through_members.get(pair)].into_iter().flatten()
    };
    let certain = |pair: &Pair| links(pair).any(|it| !it.possible);
    let (confirmed, missing): (Vec<Pair>, Vec<Pair>) =
        checked.into_iter().partition(|it| certain(it));
    let unplanned = found.links.iter().filter(|((from, to), link)| {
        !link.possible && !plan.needs(*from).contains(to) && !are_nested(plan, *from, *to)
    });
    let id = |ix: NodeIx| plan.id(ix).to_owned();
    let real = |(from, to): &Pair| Dependency { from: id(*from), to: id(*to) };
    let missed = |pair: &Pair| {
        let possible = links(pair).next().is_some();
        MissingDependency { from: id(pair.0), to: id(pair.1), possible }
    };
    let unforeseen = |(from, to): &Pair, place: &trellis_python::Place| {
        let shown = spot(index, place);
        let line = shown.rsplit(':').nth(1).and_then(|it| it.parse().ok()).unwrap_or(1);
        let file = index.path(place.file).to_owned();
        UnplannedDependency { from: id(*from), to: id(*to), file, line }
    };
    let wanted = |ix: &NodeIx| planned.iter().any(|(_, to)| to == ix);
    let idle = there.iter().filter(|ix| !found.used.contains(ix) && !wanted(ix));
    let elsewhere = found.generated.iter().filter(|it| it.moved);
    let moved = elsewhere
        .map(|it| MovedNode { id: id(it.ix), file: index.path(it.symbol.file).to_owned() });
    let checked = confirmed.len() + missing.len();
    PlanComparison {
        confirmed_share: (checked > 0).then(|| confirmed.len() as f64 / checked as f64),
        planned: checked,
        missing: missing.iter().map(missed).collect(),
        confirmed: confirmed.iter().map(real).collect(),
        unplanned: unplanned.map(|(pair, link)| unforeseen(pair, &link.place)).collect(),
        unused: idle.map(|ix| id(*ix)).collect(),
        moved: moved.collect(),
        absent: found.absent.iter().map(|ix| id(*ix)).collect(),
        unchecked: unchecked.len(),
        complete: true,
        reasons: Vec::new(),
    }
}

/// Returns the planned dependencies of a leaf. A method's dependency on its own class states its
/// place, not a use; a data flow need not appear in the code.
fn dependencies(plan: &Plan, ix: NodeIx) -> impl Iterator<Item = Pair> + '_ {
    let needed = if plan.node(ix).is_leaf() { plan.depends_on(ix) } else { &[] };
    needed.iter().map(move |to| (ix, *to)).filter(|(from, to)| !are_nested(plan, *from, *to))
}

/// Returns whether one node is a method of the other.
fn are_nested(plan: &Plan, a: NodeIx, b: NodeIx) -> bool {
    plan.class_of(a) == Some(b) || plan.class_of(b) == Some(a)
}
