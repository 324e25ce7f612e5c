//! Circular imports between the files of a repository, with a suggestion where to cut (A2).

use std::collections::BTreeMap;
use std::fmt;

use trellis_plan::{NodeIx, Plan};
use trellis_python::import_cycles::{ImportGraph, cycles};

use crate::assembly::imports::imports;
use crate::assembly::layout::module_path;

/// Modules that import each other in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportCycle {
    /// Modules in import order; the last imports the first.
    pub modules: Vec<String>,
    /// A suggestion how to break the circle.
    pub suggestion: String,
}

/// Imports between modules, with the names that each import takes.
type Graph = ImportGraph<String, Vec<String>>;

/// Returns the shortest circle through each module that is on one, each circle once.
pub fn import_cycles(files: &BTreeMap<String, String>) -> Vec<ImportCycle> {
    let graph = graph(files);
    let reported =
        |modules: Vec<String>| ImportCycle { suggestion: suggest(&graph, &modules), modules };
    cycles(&graph).into_iter().map(reported).collect()
}

/// Planned files that would import one another in a circle, although their definitions do not
/// depend on each other in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCycle {
    /// Paths as planned, the smallest first; each file would import the next, the last the first.
    pub files: Vec<String>,
    /// One pair of ids per file: a definition in the file, and its dependency in the next file.
    pub links: Vec<(String, String)>,
}

impl fmt::Display for PlannedCycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.files.join(" -> "), self.files[0])?;
        for (number, (from, to)) in self.links.iter().enumerate() {
            write!(f, "{} `{from}` depends on `{to}`", if number == 0 { ":" } else { "," })?;
        }
        let (from, to) = &self.links[self.links.len() - 1];
        write!(f, "; plan `{from}` and `{to}` in one file, or import within the function")
    }
}

/// Returns the shortest circle through each planned file that is on one, each once.
pub fn planned_cycles(plan: &Plan) -> Vec<PlannedCycle> {
    // Leaves alone count, because a module imports on behalf of its leaves.
    let file = |ix: NodeIx| {
        let node = plan.node(ix);
        node.file_path.as_deref().filter(|_| node.is_leaf())
    };
    let mut imports: ImportGraph<&str, (NodeIx, NodeIx)> = ImportGraph::new();
    for from in plan.indices() {
        let Some(here) = file(from) else { continue };
        for to in plan.depends_on(from) {
            let Some(there) = file(*to).filter(|it| *it != here) else { continue };
            imports.entry(here).or_default().entry(there).or_insert((from, *to));
        }
    }
    let link = |(from, to): (&&str, &&str)| {
        let (from, to) = imports[from][to];
        (plan.id(from).to_owned(), plan.id(to).to_owned())
    };
    let reported = |files: Vec<&str>| PlannedCycle {
        links: files.iter().zip(files.iter().cycle().skip(1)).map(link).collect(),
        files: files.into_iter().map(str::to_owned).collect(),
    };
    cycles(&imports).into_iter().map(reported).collect()
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

/// Suggests to cut the circle at the import with the fewest names.
fn suggest(graph: &Graph, modules: &[String]) -> String {
    let next = modules.iter().cycle().skip(1);
    let edges = modules
        .iter()
        .zip(next)
        .filter_map(|(from, to)| Some((from, to, graph.get(from)?.get(to)?)));
    match edges.min_by_key(|(.., names)| names.len()) {
        Some((from, to, names)) => format!(
            "move {} from `{to}` into a separate module, or import it inside the functions of \
             `{from}` that use it",
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        ),
        None => String::new(),
    }
}
