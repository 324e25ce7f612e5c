//! `trellis symbols planned`: a planning graph held against the code that is there.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use code::Index;
use plan::{Dialect, NodeIx, Plan};
use serde_json::{Value, json};

use super::links::Links;
use crate::error::{Exit, Fault};
use crate::output::Output;
use crate::plan_file;
use crate::sources::Workspace;
use crate::symbols::shapes::spot;

/// Check the planned dependencies of a graph against what the code really uses.
#[derive(Args)]
pub(crate) struct PlannedArgs {
    /// The planning graph, a JSON file.
    rpg: PathBuf,
    /// Folder with the code.
    #[arg(long, default_value = ".", value_name = "DIR")]
    r#in: PathBuf,
    /// Read the graph as rpg, zerorepo, codermind or rpg-encoder, whatever it looks like.
    #[arg(long, value_name = "D")]
    dialect: Option<Dialect>,
}

/// From a node to one it needs, or uses.
type Pair = (NodeIx, NodeIx);

/// A plan beside the code.
struct Compared {
    confirmed: Vec<Pair>,
    /// Planned, not real, and whether a possible use may be the one.
    missing: Vec<(Pair, bool)>,
    /// Real, not planned, and where the first use is, as `(file, line)` and as text.
    unplanned: Vec<(Pair, (String, usize))>,
    unused: Vec<NodeIx>,
    absent: Vec<NodeIx>,
    /// Found in another file than the plan says: in which.
    moved: Vec<(NodeIx, String)>,
    /// Planned dependencies that cannot be checked, since one of the two is no definition.
    unchecked: usize,
}

pub(crate) fn run(args: &PlannedArgs, output: &mut Output) -> Result<Exit, Fault> {
    let plan = plan_file::read(&args.rpg, args.dialect)?;
    plan.warnings().iter().for_each(|it| output.note(format_args!("warning: {it}")));
    let mut workspace = Workspace::open(&args.r#in)?;
    let compared = workspace.ask(|index| compare(&plan, index));
    let problems = workspace.problems();
    if output.is_json() {
        output.json(&shape(&plan, &compared, &problems))?;
    } else {
        output.text(text(&plan, &compared).trim_end())?;
        problems.iter().for_each(|it| output.note(format_args!("not complete: {it}")));
    }
    Ok(Exit::Done)
}

fn compare(plan: &Plan, index: &Index) -> Compared {
    let found = Links::of(plan, index);
    let there: BTreeSet<NodeIx> = found.grown.iter().map(|it| it.ix).collect();
    let planned: BTreeSet<Pair> = plan.indices().flat_map(|ix| dependencies(plan, ix)).collect();
    let (checked, unchecked): (Vec<Pair>, Vec<Pair>) =
        planned.iter().partition(|(from, to)| there.contains(from) && there.contains(to));
    let link = |pair: &Pair| found.links.get(pair);
    let certain = |pair: &Pair| link(pair).is_some_and(|it| !it.possible);
    let (confirmed, missing): (Vec<Pair>, Vec<Pair>) =
        checked.into_iter().partition(|it| certain(it));
    let unplanned = found.links.iter().filter(|((from, to), link)| {
        !link.possible && !plan.needs(*from).contains(to) && !are_nested(plan, *from, *to)
    });
    let place = |pair: &Pair, place: &code::Place| {
        let shown = spot(index, place);
        let line = shown.rsplit(':').nth(1).and_then(|it| it.parse().ok()).unwrap_or(1);
        (*pair, (index.path(place.file).to_owned(), line))
    };
    let wanted = |ix: &NodeIx| planned.iter().any(|(_, to)| to == ix);
    let idle = there.iter().filter(|ix| !found.used.contains(ix) && !wanted(ix));
    let elsewhere = found.grown.iter().filter(|it| it.moved);
    Compared {
        missing: missing.iter().map(|it| (*it, link(it).is_some())).collect(),
        confirmed,
        unplanned: unplanned.map(|(pair, link)| place(pair, &link.place)).collect(),
        unused: idle.copied().collect(),
        moved: elsewhere.map(|it| (it.ix, index.path(it.symbol.file).to_owned())).collect(),
        absent: found.absent,
        unchecked: unchecked.len(),
    }
}

/// What a leaf is planned to depend on. That a method needs its own class says where it stands, not what
/// it uses; data that flows need not leave a trace in the code.
fn dependencies(plan: &Plan, ix: NodeIx) -> impl Iterator<Item = Pair> + '_ {
    let needed = if plan.node(ix).is_leaf() { plan.depends_on(ix) } else { &[] };
    needed.iter().map(move |to| (ix, *to)).filter(|(from, to)| !are_nested(plan, *from, *to))
}

/// Whether one is a method of the other.
fn are_nested(plan: &Plan, a: NodeIx, b: NodeIx) -> bool {
    plan.class_of(a) == Some(b) || plan.class_of(b) == Some(a)
}

/// `{confirmedShare, planned, confirmed: [{from, to}], missing: [{from, to, possible}], unplanned: [{from,
/// to, file, line}], unused: [id], absent: [id], moved: [{id, file}], unchecked, complete, reasons}`; the
/// share is null where nothing could be checked.
fn shape(plan: &Plan, it: &Compared, problems: &[String]) -> Value {
    let pair = |(from, to): &Pair| json!({ "from": plan.id(*from), "to": plan.id(*to) });
    let ids = |all: &[NodeIx]| all.iter().map(|ix| plan.id(*ix).to_owned()).collect::<Vec<_>>();
    let missing = |(of, possible): &(Pair, bool)| {
        let mut shape = pair(of);
        shape["possible"] = (*possible).into();
        shape
    };
    let unplanned = |(of, (file, line)): &(Pair, (String, usize))| {
        let mut shape = pair(of);
        shape["file"] = file.as_str().into();
        shape["line"] = (*line).into();
        shape
    };
    let moved = |(ix, file): &(NodeIx, String)| json!({ "id": plan.id(*ix), "file": file });
    json!({
        "confirmedShare": share(it),
        "planned": it.confirmed.len() + it.missing.len(),
        "confirmed": it.confirmed.iter().map(pair).collect::<Vec<_>>(),
        "missing": it.missing.iter().map(missing).collect::<Vec<_>>(),
        "unplanned": it.unplanned.iter().map(unplanned).collect::<Vec<_>>(),
        "unused": ids(&it.unused),
        "absent": ids(&it.absent),
        "moved": it.moved.iter().map(moved).collect::<Vec<_>>(),
        "unchecked": it.unchecked,
        "complete": problems.is_empty(),
        "reasons": problems,
    })
}

fn share(it: &Compared) -> Option<f64> {
    let (confirmed, planned) = (it.confirmed.len(), it.confirmed.len() + it.missing.len());
    (planned > 0).then(|| confirmed as f64 / planned as f64)
}

fn text(plan: &Plan, it: &Compared) -> String {
    let (confirmed, planned) = (it.confirmed.len(), it.confirmed.len() + it.missing.len());
    let percent = share(it).map_or_else(String::new, |it| format!(" ({:.0} %)", it * 100.0));
    let mut out = format!("{confirmed} of {planned} planned dependencies are real{percent}\n");
    let mut list = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            out += &format!("{} {title}:\n", lines.len());
            lines.iter().for_each(|line| out += &format!("  {line}\n"));
        }
    };
    let pair = |(from, to): &Pair| format!("{} -> {}", plan.id(*from), plan.id(*to));
    let ids = |all: &[NodeIx]| all.iter().map(|ix| plan.id(*ix).to_owned()).collect();
    let missing = |(of, possible): &(Pair, bool)| {
        pair(of) + if *possible { "  (a use of unknown type may be it)" } else { "" }
    };
    let unplanned =
        |(of, (file, line)): &(Pair, (String, usize))| format!("{}  {file}:{line}", pair(of));
    list("planned, not found in the code", it.missing.iter().map(missing).collect());
    list("in the code, not planned", it.unplanned.iter().map(unplanned).collect());
    list("used by nothing but tests, entry points among them", ids(&it.unused));
    list("without a definition", ids(&it.absent));
    let moved = it.moved.iter().map(|(ix, file)| format!("{}  {file}", plan.id(*ix)));
    list("in another file than planned", moved.collect());
    if it.unchecked > 0 {
        let count = it.unchecked;
        out +=
            &format!("{count} planned dependencies not checked: an end of them is no definition\n");
    }
    out
}
