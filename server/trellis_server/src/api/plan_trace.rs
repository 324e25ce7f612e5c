//! Follows the sentences of a specification to nodes, tests and their states.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_os::wording::cannot_read;
use trellis_plan::{
    NodeIx, Plan, Sentence, Spec, Trace, TraceProblem, sentence_changes, sentences, trace,
};
use trellis_store::checkpoint::Checkpoint;
use trellis_store::disk;
use trellis_workflows::fault::Fault;
use trellis_workflows::node_status::{self, NodeStatuses};

use super::plan::{DialectName, ids, read};

/// Largest specification, in bytes.
const LARGEST: usize = 4 << 20;

/// Follows the sentences of a specification to the nodes that serve them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanTraceParams {
    /// The planning graph, a JSON file.
    pub graph: PathBuf,
    /// Read the graph in this format, instead of detecting it.
    #[serde(default)]
    pub dialect: Option<DialectName>,
    /// The specification, in Markdown or text; default: the file that the graph names.
    #[serde(default)]
    pub spec: Option<PathBuf>,
    /// The output folder of a run, for tests and states; default: that of the graph, if it is in the run's `docs`.
    #[serde(default)]
    pub run: Option<PathBuf>,
}

/// A specification with the nodes that serve it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanTraceResult {
    /// The specification that was read; null if only the graph has its sentences.
    pub spec: Option<PathBuf>,
    /// In the order of the specification.
    pub sentences: Vec<TracedSentence>,
    /// Sentences that no node serves, nodes that serve no sentence, sentences that changed; in a fixed order.
    pub problems: Vec<TraceGap>,
    /// What could not be read or may be out of date, as sentences.
    pub notes: Vec<String>,
}

/// A sentence with its nodes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TracedSentence {
    /// The number that `serves` of a node names.
    pub number: usize,
    /// `sentence`, `heading`, `code` or `table`.
    pub kind: &'static str,
    pub text: String,
    /// Whether it describes nothing to build.
    pub background: bool,
    /// The least advanced state of its nodes; null without a run or without nodes.
    pub status: Option<String>,
    /// Nodes that serve it, in the order of the graph.
    pub nodes: Vec<ServingNode>,
}

/// A node that serves a sentence.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServingNode {
    pub id: String,
    /// `pending`, `in_progress`, `passed`, `failed` or `skipped`; null without a run.
    pub status: Option<String>,
    /// Ids of its tests, as pytest prints them.
    pub tests: Vec<String>,
    /// The number of its tests that passed.
    pub passed: usize,
    /// The number of its tests that failed.
    pub failed: usize,
}

/// A gap between a specification and a graph.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TraceGap {
    /// The kind of gap, such as `unserved-sentence`.
    pub kind: &'static str,
    /// The number of the sentence, if there is one.
    pub sentence: Option<usize>,
    /// Ids of nodes to check.
    pub nodes: Vec<String>,
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub hint: String,
}

/// Follows the sentences of the specification of a graph.
pub fn plan_trace(params: &PlanTraceParams) -> Result<PlanTraceResult, Fault> {
    Ok(TracedPlan::of(params)?.result())
}

/// A plan with its specification and the state of a run.
struct TracedPlan {
    plan: Plan,
    described: Described,
    checkpoint: Checkpoint,
    found: Trace,
}

impl TracedPlan {
    fn of(params: &PlanTraceParams) -> Result<TracedPlan, Fault> {
        let plan = read(&params.graph, params.dialect)?;
        let described = Described::of(&plan, params)?;
        let checkpoint = match &params.run {
            Some(run) => node_status::checkpoint(run)?.ok_or_else(|| node_status::no_run(run))?,
            None => NodeStatuses::of_exported_plan(&params.graph)?.into_checkpoint(),
        };
        let Described { base, background, current, .. } = &described;
        let changes = current.as_ref().map(|it| sentence_changes(base, it)).unwrap_or_default();
        let found = trace(&plan, base, background, &changes);
        Ok(TracedPlan { plan, described, checkpoint, found })
    }

    fn result(&self) -> PlanTraceResult {
        let rows = self.described.base.iter().zip(&self.found.nodes);
        PlanTraceResult {
            spec: self.described.path.clone(),
            sentences: rows.map(|(it, nodes)| self.sentence(it, nodes)).collect(),
            problems: self.found.problems.iter().map(|it| self.gap(it)).collect(),
            notes: self.described.notes.clone(),
        }
    }

    fn sentence(&self, it: &Sentence, nodes: &[NodeIx]) -> TracedSentence {
        let nodes: Vec<ServingNode> = nodes.iter().map(|&ix| self.node(ix)).collect();
        TracedSentence {
            number: it.number,
            kind: it.kind.name(),
            text: it.text.clone(),
            background: self.described.background.contains(&it.number),
            status: least(&nodes).map(str::to_owned),
            nodes,
        }
    }

    fn node(&self, ix: NodeIx) -> ServingNode {
        let id = self.plan.id(ix);
        let entry = self.checkpoint.get(id);
        let written = || self.plan.node(ix).extra.text("status");
        ServingNode {
            id: id.to_owned(),
            status: entry.map(|it| it.status.clone()).or_else(written),
            tests: entry.map(|it| it.tests.clone()).unwrap_or_default(),
            passed: entry.map_or(0, |it| it.test_results.passed),
            failed: entry.map_or(0, |it| it.test_results.failed),
        }
    }

    fn gap(&self, it: &TraceProblem) -> TraceGap {
        TraceGap {
            kind: it.kind.code(),
            sentence: it.sentence,
            nodes: ids(&self.plan, &it.nodes),
            message: it.message.clone(),
            hint: it.hint.clone(),
        }
    }
}

/// Returns the least advanced status; none if a node has none.
fn least(nodes: &[ServingNode]) -> Option<&str> {
    const WORST_FIRST: [&str; 5] = ["failed", "skipped", "in_progress", "pending", "passed"];
    let known: BTreeSet<&str> = nodes.iter().filter_map(|it| it.status.as_deref()).collect();
    let is_complete = nodes.iter().all(|it| it.status.is_some());
    WORST_FIRST.into_iter().find(|it| known.contains(it)).filter(|_| is_complete)
}

/// The sentences of a specification.
struct Described {
    path: Option<PathBuf>,
    /// Sentences that `serves` numbers.
    base: Vec<Sentence>,
    background: Vec<usize>,
    /// Sentences of the file, if the graph has its own.
    current: Option<Vec<Sentence>>,
    notes: Vec<String>,
}

impl Described {
    fn of(plan: &Plan, params: &PlanTraceParams) -> Result<Described, Fault> {
        let spec = plan.spec().map_err(|error| {
            Fault::input(format!("{}: {error}", params.graph.display()))
                .hint("correct or remove `metadata.spec`")
        })?;
        let spec = spec.unwrap_or_default();
        let named = spec.path.clone().or_else(|| plan.nl_spec_path());
        let mut notes = Vec::new();
        let file = match (&params.spec, named) {
            (Some(path), _) => Some((path.clone(), text(path)?)),
            (None, Some(named)) => {
                beside(&params.graph, &named).map_err(|missing| notes.push(missing)).ok()
            }
            (None, None) => None,
        };
        match (spec.sentences.is_empty(), file) {
            (true, None) => Err(nothing_described(&params.graph, &notes)),
            (true, Some((path, text))) => Described::of_file(&spec, path, &text, notes),
            (false, file) => {
                let (path, text) = file.unzip();
                let current = text.map(|it| sentences(&it));
                let (base, background) = (spec.sentences, spec.background);
                Ok(Described { path, base, background, current, notes })
            }
        }
    }

    /// Numbers the sentences of a file, for a graph without its own.
    fn of_file(
        spec: &Spec,
        path: PathBuf,
        text: &str,
        mut notes: Vec<String>,
    ) -> Result<Described, Fault> {
        if spec.sha256.as_ref().is_some_and(|it| *it != disk::hash(text)) {
            notes.push(format!(
                "warning: {} changed since the graph was made; numbers in `serves` may mean other \
                 sentences",
                path.display()
            ));
        }
        let (base, background) = (sentences(text), spec.background.clone());
        if base.is_empty() {
            return Err(no_sentences(&path));
        }
        Ok(Described { path: Some(path), base, background, current: None, notes })
    }
}

fn nothing_described(graph: &Path, notes: &[String]) -> Fault {
    let reason = notes.first().map(|it| format!(": {it}")).unwrap_or_default();
    Fault::input(format!("there is no specification for {}{reason}", graph.display()))
        .hint("name it with `--spec`, or in `metadata.spec.path` of the graph")
}

/// Reads a specification to keep in a graph. A file below the folder of the graph is named by its
/// path from there.
pub fn read_spec(graph: &Path, file: &Path, background: Vec<usize>) -> Result<Spec, Fault> {
    let text = text(file)?;
    let found = sentences(&text);
    let known = |number: &usize| found.iter().any(|it| it.number == *number);
    if let Some(unknown) = background.iter().find(|it| !known(it)) {
        return Err(Fault::input(format!("{} has no sentence {unknown}", file.display()))
            .hint("`trellis plan trace --spec` shows the numbers"));
    }
    if found.is_empty() {
        return Err(no_sentences(file));
    }
    let folder = graph.parent().filter(|it| !it.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize().unwrap_or_default();
    let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let path = real.strip_prefix(&folder).unwrap_or(file).to_string_lossy().into_owned();
    let sha256 = Some(disk::hash(&text));
    Ok(Spec { path: Some(path), sha256, sentences: found, background, features: Vec::new() })
}

fn no_sentences(file: &Path) -> Fault {
    Fault::input(format!("{} has no sentences", file.display()))
        .hint("describe what the repository should do")
}

/// Reads the specification that a graph names. Only files below the folder of the graph are read, so
/// that a foreign graph cannot show others.
fn beside(graph: &Path, named: &str) -> Result<(PathBuf, String), String> {
    let is_below = Path::new(named)
        .components()
        .all(|it| matches!(it, Component::Normal(_) | Component::CurDir));
    if !is_below {
        return Err(format!("`{named}` is not below the folder of the graph; use `--spec`"));
    }
    let path = graph.parent().unwrap_or(Path::new("")).join(named);
    let text = text(&path).map_err(|fault| fault.message)?;
    Ok((path, text))
}

fn text(path: &Path) -> Result<String, Fault> {
    let text = trellis_os::files::read_text(path)
        .map_err(|error| Fault::input(cannot_read(path.display(), &error)))
        .map_err(|fault| fault.hint("give a specification in Markdown or plain text, in UTF-8"))?;
    if text.len() > LARGEST {
        return Err(Fault::input(format!("{} is longer than 4 MiB", path.display()))
            .hint("give a shorter specification"));
    }
    Ok(text)
}
