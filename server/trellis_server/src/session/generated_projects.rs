//! Generated projects around files: the nodes of definitions, and their states.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use trellis_engine::assembly::Layout;
use trellis_plan::{NodeIx, Plan};

use trellis_store::checkpoint::{self, Checkpoint};
use trellis_workflows::node_status;

/// The graph that a run exports.
const GRAPH: &str = "docs/rpg.json";
/// Folder that a generated project has besides the graph.
const MARK: &str = ".trellis";

/// A project generated from a graph.
pub struct GeneratedProject {
    /// The project's folder.
    pub root: PathBuf,
    plan: Plan,
    checkpoint: Checkpoint,
    layout: Layout,
    /// Nodes by path and qualified name.
    nodes: HashMap<(Arc<str>, String), NodeIx>,
}

/// State of a node, in a form for people.
#[derive(Debug, PartialEq)]
pub struct NodeState {
    /// Id in the graph.
    pub id: String,
    /// `pending`, `in_progress`, `passed`, `failed` or `skipped`.
    pub status: String,
    pub reason: Option<String>,
    pub subgraph: Option<String>,
    /// Names of the node's dependencies.
    pub needs: Vec<String>,
    /// The planned docstring.
    pub docstring: Option<String>,
    /// Last counts of passed and failed tests.
    pub tests: (usize, usize),
    /// pytest ids of the node's tests, relative to the folder; empty if the run did not record
    /// them.
    pub test_ids: Vec<String>,
    /// File of the node's tests, relative to the folder.
    pub test_path: String,
}

impl NodeState {
    /// Returns whether the node can be retried.
    pub fn is_open(&self) -> bool {
        matches!(self.status.as_str(), "failed" | "skipped")
    }
}

impl GeneratedProject {
    fn read(root: &Path) -> Option<GeneratedProject> {
        let say = |why: &dyn std::fmt::Display| {
            tracing::warn!("{}: {why}; its nodes are not shown", root.join(GRAPH).display());
        };
        let bytes = trellis_os::files::read(root.join(GRAPH)).map_err(|error| say(&error)).ok()?;
        let plan = trellis_plan::read(&bytes, None).map_err(|error| say(&error)).ok()?;
        let checkpoint = node_status::checkpoint(root).map_err(|fault| say(&fault)).ok()?;
        let leaves = plan.indices().filter(|ix| plan.node(*ix).is_leaf());
        let nodes: HashMap<(Arc<str>, String), NodeIx> = leaves
            .filter_map(|ix| {
                let path = plan.node(ix).file_path.clone()?;
                Some(((path, plan.qualified_name(ix).into_owned()), ix))
            })
            .collect();
        let layout = Layout::of(nodes.keys().map(|(path, _)| &**path));
        let checkpoint = checkpoint.unwrap_or_default();
        Some(GeneratedProject { root: root.to_owned(), plan, checkpoint, layout, nodes })
    }

    /// Returns the node of a definition, by the path of its file below the folder and its name,
    /// such as `Class.method`.
    pub fn node(&self, path: &str, name: &str) -> Option<NodeState> {
        let ix = *self.nodes.get(&(Arc::from(path), name.to_owned()))?;
        let node = self.plan.node(ix);
        let entry = self.checkpoint.get(&*node.id);
        let planned = || node.extra.text("status");
        let status = entry.map(|it| it.status.clone()).or_else(planned)?;
        let needs = self.plan.needs(ix).iter();
        Some(NodeState {
            id: node.id.to_string(),
            status,
            reason: entry.and_then(|it| it.failure_reason.clone()),
            subgraph: node.subgraph.as_deref().map(str::to_owned),
            needs: needs.map(|it| self.plan.qualified_name(*it).into_owned()).collect(),
            docstring: node.docstring.as_deref().map(str::to_owned),
            tests: entry.map_or((0, 0), |it| (it.test_results.passed, it.test_results.failed)),
            test_ids: entry.map(|it| it.tests.clone()).unwrap_or_default(),
            test_path: self.layout.test_path(path).to_owned(),
        })
    }

    /// Returns failed nodes of a code or test file, with their names, in the plan's order.
    pub fn failed_in(&self, path: &str) -> Vec<(String, NodeState)> {
        let is_here = |own: &str| own == path || self.layout.test_path(own) == path;
        let mut here: Vec<(&NodeIx, &(Arc<str>, String))> = self
            .nodes
            .iter()
            .filter(|((own, _), _)| is_here(own))
            .map(|(it, ix)| (ix, it))
            .collect();
        here.sort();
        let states = here
            .into_iter()
            .filter_map(|(_, (own, name))| Some((name.clone(), self.node(own, name)?)));
        states.filter(|(_, it)| it.status == "failed").collect()
    }
}

/// Size and time of the two files that a [`GeneratedProject`] is read from.
type Stamps = [Option<(u64, SystemTime)>; 2];

/// A project as read at these stamps; `None` if it could not be read.
type Read = (Stamps, Option<Arc<GeneratedProject>>);

/// Generated projects, read on demand and again when their files change.
#[derive(Default)]
pub struct GeneratedProjects(Mutex<HashMap<PathBuf, Read>>);

impl GeneratedProjects {
    /// Returns the nearest generated project around a file, with the file's path in it.
    pub fn around(&self, file: &Path) -> Option<(Arc<GeneratedProject>, String)> {
        let is_generated = |it: &&Path| it.join(GRAPH).is_file() && it.join(MARK).is_dir();
        let root = file.ancestors().skip(1).find(is_generated)?;
        let path = file.strip_prefix(root).ok()?.to_str()?.to_owned();
        Some((self.at(root)?, path))
    }

    fn at(&self, root: &Path) -> Option<Arc<GeneratedProject>> {
        let stamp = |path: &str| {
            let found = fs::metadata(root.join(path)).ok()?;
            Some((found.len(), found.modified().ok()?))
        };
        let stamps = [stamp(GRAPH), stamp(checkpoint::PATH)];
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, generated)) = known.get(root).filter(|(before, _)| *before == stamps) {
            return generated.clone();
        }
        let generated = GeneratedProject::read(root).map(Arc::new);
        known.insert(root.to_owned(), (stamps, generated.clone()));
        generated
    }
}
