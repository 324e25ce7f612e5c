//! Lower bounds on the time of a run: the longest chain of nodes, the total work, the processors.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use super::timeline::Timeline;

/// Dependencies of each leaf, by id.
pub(crate) type Plan = BTreeMap<String, BTreeSet<String>>;

pub(super) struct Bound {
    plan: Plan,
    /// The longest chain, first to last, each with its seconds.
    chain: Vec<(String, f64)>,
    /// The longest chain if a node also waits for earlier nodes of its file, as in the engine,
    /// where every number of jobs must give tests the same files.
    in_files: Vec<(String, f64)>,
    /// The chain with the most nodes.
    deepest: Vec<String>,
    /// Seconds of all nodes, divided by the jobs.
    shared: f64,
    /// Processor seconds, divided by the processors.
    processors: f64,
}

impl Bound {
    /// Computes the bounds for a planning graph from a run with one job; `processor` is in seconds.
    pub(super) fn of(
        graph: &Value,
        alone: &Timeline,
        jobs: usize,
        processor: f64,
    ) -> Result<Bound, String> {
        let plan = dependencies(graph);
        let cores = std::thread::available_parallelism().map_err(|e| e.to_string())?;
        let cost = |id: &str| alone.cost(id).unwrap_or(0.0);
        let chain = longest(&plan, &cost);
        let in_files = longest(&with_files(&plan, graph, alone.order()), &cost);
        let deepest = longest(&plan, &|_| 1.0).into_iter().map(|(id, _)| id).collect();
        Ok(Bound {
            plan,
            chain,
            in_files,
            deepest,
            shared: alone.total() / jobs as f64,
            processors: processor / cores.get() as f64,
        })
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(super) fn seconds(&self) -> f64 {
        self.critical().max(self.shared).max(self.processors)
    }

    /// Returns the bound for an engine that keeps the order within files.
    pub(super) fn in_files(&self) -> f64 {
        seconds(&self.in_files).max(self.seconds())
    }

    fn critical(&self) -> f64 {
        seconds(&self.chain)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "lower bound {:.1} s: critical path {:.1} s, everything shared by the jobs {:.1} s, processor time by \
             cores {:.1} s (getrusage of the child and all below it)",
            self.seconds(),
            self.critical(),
            self.shared,
            self.processors
        )?;
        writeln!(f, "critical path: {}", shown(&self.chain))?;
        writeln!(
            f,
            "with the order within files that the engine keeps, {:.1} s: {}",
            self.in_files(),
            shown(&self.in_files)
        )?;
        write!(f, "longest chain, {} nodes: {}", self.deepest.len(), self.deepest.join(" -> "))
    }
}

pub(crate) fn seconds(chain: &[(String, f64)]) -> f64 {
    chain.iter().map(|(_, seconds)| seconds).sum()
}

pub(crate) fn shown(chain: &[(String, f64)]) -> String {
    let nodes = chain.iter().map(|(id, seconds)| format!("{id} {seconds:.1} s"));
    nodes.collect::<Vec<_>>().join(" -> ")
}

/// Adds dependencies on the earlier leaves of the same file.
fn with_files(plan: &Plan, graph: &Value, order: &[String]) -> Plan {
    let path = |id: &str| {
        let nodes = graph["nodes"].as_array().into_iter().flatten();
        nodes.filter(|node| node["id"] == id).find_map(|node| node["file_path"].as_str())
    };
    let mut out = plan.clone();
    let mut last: BTreeMap<&str, &String> = BTreeMap::new();
    for id in order {
        let (Some(path), Some(needs)) = (path(id), out.get_mut(id)) else { continue };
        needs.extend(last.insert(path, id).cloned());
    }
    out
}

/// Returns the dependencies in a graph in the seeds' format: data flows from source to target, a
/// class precedes its methods, and any other edge points to the dependency.
fn dependencies(graph: &Value) -> Plan {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut plan: Plan = (list(&graph["nodes"]).iter())
        .filter(|node| node["node_type"] == "leaf")
        .map(|node| (text(&node["id"]), list(&node["dependencies"]).iter().map(text).collect()))
        .collect();
    for edge in list(&graph["edges"]) {
        let (source, target) = (text(&edge["source"]), text(&edge["target"]));
        let (first, then) = match edge["type"].as_str() {
            Some("data_flow" | "hierarchy") => (source, target),
            _ => (target, source),
        };
        if plan.contains_key(&first)
            && let Some(needs) = plan.get_mut(&then)
        {
            needs.insert(first);
        }
    }
    let leaves: BTreeSet<String> = plan.keys().cloned().collect();
    plan.values_mut().for_each(|needs| needs.retain(|it| leaves.contains(it)));
    plan
}

/// Returns the most expensive chain, first to last.
pub(crate) fn longest(plan: &Plan, cost: &dyn Fn(&str) -> f64) -> Vec<(String, f64)> {
    let mut known: BTreeMap<String, (f64, Option<String>)> = BTreeMap::new();
    let mut last: Option<(f64, &String)> = None;
    for id in plan.keys() {
        let length = length(plan, cost, id, &mut known);
        if last.is_none_or(|(best, _)| length > best) {
            last = Some((length, id));
        }
    }
    let mut chain = Vec::new();
    let mut next = last.map(|(_, id)| id.clone());
    while let Some(id) = next {
        chain.push((id.clone(), cost(&id)));
        next = known.get(&id).and_then(|(_, before)| before.clone());
    }
    chain.reverse();
    chain
}

/// Returns the length of the longest chain that ends with `id`; the run has checked the graph for
/// cycles.
fn length(
    plan: &Plan,
    cost: &dyn Fn(&str) -> f64,
    id: &str,
    known: &mut BTreeMap<String, (f64, Option<String>)>,
) -> f64 {
    if let Some((length, _)) = known.get(id) {
        return *length;
    }
    let mut best = (0.0, None);
    for need in &plan[id] {
        let before = length(plan, cost, need, known);
        if before > best.0 {
            best = (before, Some(need.clone()));
        }
    }
    let all = best.0 + cost(id);
    known.insert(id.to_owned(), (all, best.1));
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{dependencies, longest, with_files};

    #[test]
    fn the_longest_chain_follows_needs_flows_and_classes() {
        let leaf = |id: &str| json!({"id": id, "node_type": "leaf", "dependencies": []});
        let plan = dependencies(&json!({
            "nodes": [leaf("a"), leaf("b"), leaf("b.m"), leaf("c"), {"id": "all", "node_type": "composite"}],
            "edges": [
                {"source": "b", "target": "a", "type": "function_call"},
                {"source": "b", "target": "b.m", "type": "hierarchy"},
                {"source": "b.m", "target": "c", "type": "data_flow"},
                {"source": "all", "target": "a", "type": "hierarchy"},
            ],
        }));
        let chain = longest(&plan, &|id| if id == "c" { 2.0 } else { 1.0 });
        assert_eq!(
            chain.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(),
            ["a", "b", "b.m", "c"]
        );
        assert_eq!(chain.iter().map(|(_, seconds)| seconds).sum::<f64>(), 5.0);
    }

    #[test]
    fn a_leaf_may_also_wait_for_the_one_before_it_in_its_file() {
        let leaf = |id: &str, path: &str| json!({"id": id, "node_type": "leaf", "file_path": path});
        let graph = json!({"nodes": [leaf("a", "x.py"), leaf("b", "y.py"), leaf("c", "x.py")]});
        let order = ["c", "b", "a"].map(str::to_owned);
        let plan = with_files(&dependencies(&graph), &graph, &order);
        let needs: Vec<usize> = ["a", "b", "c"].iter().map(|id| plan[*id].len()).collect();
        assert_eq!((needs, plan["a"].contains("c")), (vec![1, 0, 0], true));
    }
}
