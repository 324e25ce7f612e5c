//! Circular imports between the files of a repository, with a place to cut (A2).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::assembly::imports::imports;
use crate::assembly::layout::module_path;

/// Modules that import each other in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportCycle {
    /// In import order; the last imports the first.
    pub modules: Vec<String>,
    /// A way out.
    pub suggestion: String,
}

type Graph = BTreeMap<String, BTreeMap<String, Vec<String>>>;

/// The shortest circle through each module that is on one, each circle once.
pub fn import_cycles(files: &BTreeMap<String, String>) -> Vec<ImportCycle> {
    let graph = graph(files);
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for start in graph.keys() {
        let Some(modules) = shortest(&graph, start) else { continue };
        if seen.insert(modules.iter().cloned().collect::<BTreeSet<_>>()) {
            out.push(ImportCycle { suggestion: suggest(&graph, &modules), modules });
        }
    }
    out
}

fn graph(files: &BTreeMap<String, String>) -> Graph {
    let is_source = |path: &str| {
        path.ends_with(".py") && !path.ends_with("__init__.py") && !path.starts_with("tests/")
    };
    let sources: BTreeMap<String, &String> = (files.iter())
        .filter(|(path, _)| is_source(path))
        .map(|(path, text)| (module_path(path), text))
        .collect();
    let mut graph = Graph::new();
    for (module, text) in &sources {
        let targets = graph.entry(module.clone()).or_default();
        for import in imports(text) {
            let name = import.name.unwrap_or_else(|| import.module.clone());
            // `from pkg import mod` loads the module like `import pkg.mod`.
            let inner = format!("{}.{name}", import.module);
            let target = [import.module, inner].into_iter().find(|it| sources.contains_key(it));
            if let Some(target) = target {
                targets.entry(target).or_default().push(name);
            }
        }
    }
    graph
}

fn shortest(graph: &Graph, start: &str) -> Option<Vec<String>> {
    let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(module) = queue.pop_front() {
        for target in graph.get(module).into_iter().flat_map(BTreeMap::keys) {
            if target == start {
                let mut path = vec![module.to_owned()];
                let mut at = module;
                while let Some(before) = came_from.get(at) {
                    path.push((*before).to_owned());
                    at = before;
                }
                path.reverse();
                return Some(path);
            }
            if !came_from.contains_key(target.as_str()) {
                came_from.insert(target, module);
                queue.push_back(target);
            }
        }
    }
    None
}

/// Cut where the fewest names cross.
fn suggest(graph: &Graph, modules: &[String]) -> String {
    let next = modules.iter().cycle().skip(1);
    let edges = modules
        .iter()
        .zip(next)
        .filter_map(|(from, to)| Some((from, to, graph.get(from)?.get(to)?)));
    match edges.min_by_key(|(.., names)| names.len()) {
        Some((from, to, names)) => format!(
            "move {} from `{to}` into a module of its own, or import it inside the functions of `{from}` that use it",
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        ),
        None => String::new(),
    }
}
