//! The planning graph derived from existing code: its functions, calls and files. It is stored with
//! the repairs and searched by the tools.

use std::path::Path;
use std::sync::Arc;

use trellis_plan::{DerivedEdge, DerivedNode, Kind, NodeIx, Plan};
use trellis_python::{CallNode, Index, SymbolKind};

use super::artifacts::{cannot, own_folder};
use crate::fault::Fault;
use crate::plan_search::SemanticPlanSearch;
use crate::tools::{PlanSearch, PlannedNode};
use trellis_store::disk;

/// Path below the project; `trellis plan` can read the file.
const PATH: &str = ".trellis/repair/graph.json";
/// Maximum number of functions that one search returns.
const TOP: usize = 5;
/// Maximum number of functions named on each side of a call.
const NEIGHBOURS: usize = 8;

/// A planning graph to read and search.
pub(super) struct CodeGraph {
    plan: Plan,
    graph: SemanticPlanSearch,
    text: String,
}

impl CodeGraph {
    /// Derives the graph from all sources of an index. Resolves every use in them, on a separate
    /// thread.
    pub(super) async fn of(index: Index, project: String) -> Result<CodeGraph, Fault> {
        let made = tokio::task::spawn_blocking(move || {
            let text = text(&index, &project);
            let plan = trellis_plan::read(text.as_bytes(), None);
            plan.map(|plan| CodeGraph { graph: SemanticPlanSearch::of(&plan), plan, text })
        });
        let failed = |why: String| {
            Fault::internal(format!("cannot derive a planning graph from the code: {why}"))
                .hint("this is a bug in Trellis; no fix was written")
        };
        let made = made.await.map_err(|error| failed(error.to_string()))?;
        made.map_err(|error| failed(error.to_string()))
    }

    /// Replaces the stored code graph.
    pub(super) fn keep(&self, home: &Path) -> Result<(), Fault> {
        let kept = own_folder(home).and_then(|()| disk::write(home, PATH, &self.text));
        kept.map_err(|error| cannot(home, &error))
    }

    /// Returns a search over the functions of the wanted files.
    pub(super) fn search(
        self: &Arc<CodeGraph>,
        is_wanted: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Arc<PlanSearch> {
        let (code_graph, runtime) = (self.clone(), tokio::runtime::Handle::current());
        Arc::new(move |words| {
            let wanted = runtime.block_on(code_graph.graph.prepare(vec![words.to_owned()]));
            let Some(wanted) = wanted.first() else { return Ok(Vec::new()) };
            let plan = &code_graph.plan;
            let found = code_graph.graph.find(plan, wanted, None, plan.nodes().len())?;
            let is_wanted = |ix: &NodeIx| {
                let it = plan.node(*ix);
                it.is_leaf() && it.file_path.as_deref().is_some_and(&is_wanted)
            };
            let found = found.into_iter().filter(is_wanted).take(TOP);
            Ok(found.map(|ix| planned(plan, ix)).collect())
        })
    }
}

fn text(index: &Index, project: &str) -> String {
    let calls = trellis_python::calls(index);
    let edges = calls.edges.iter().map(|it| DerivedEdge {
        caller: it.caller,
        callee: it.callee,
        uncertainty: it.uncertainty,
    });
    let made = trellis_plan::derived(project, calls.nodes.iter().map(node), edges);
    format!("{made:#}\n")
}

fn node(it: &CallNode) -> DerivedNode<'_> {
    let is_method = matches!(it.kind, SymbolKind::Method | SymbolKind::Property);
    DerivedNode {
        path: &it.path,
        name: &it.name,
        kind: if is_method { Kind::Method } else { Kind::Function },
        signature: &it.signature,
        docstring: &it.docstring,
        lines: (it.first, it.last),
        definitions: Vec::new(),
        inner: Vec::new(),
    }
}

/// Describes a function: signature, docstring, callees and callers.
fn planned(plan: &Plan, ix: NodeIx) -> PlannedNode {
    let it = plan.node(ix);
    let part = |text: &Option<Box<str>>| text.as_deref().map(str::to_owned);
    let parts = [
        part(&it.signature),
        part(&it.docstring),
        neighbours("calls", plan, plan.depends_on(ix)),
        neighbours("called by", plan, plan.dependents(ix)),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    PlannedNode {
        id: plan.id(ix).to_owned(),
        path: it.file_path.as_deref().unwrap_or_default().to_owned(),
        symbol: it.name.to_string(),
        docstring: parts.join("\n"),
    }
}

fn neighbours(what: &str, plan: &Plan, all: &[NodeIx]) -> Option<String> {
    let ids: Vec<&str> = all.iter().take(NEIGHBOURS).map(|ix| plan.id(*ix)).collect();
    let more = match all.len().saturating_sub(NEIGHBOURS) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    (!ids.is_empty()).then(|| format!("{what} {}{more}", ids.join(", ")))
}
