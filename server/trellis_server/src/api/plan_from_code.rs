//! The planning graph of an existing repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use trellis_engine::assembly::{PlannedCycle, planned_cycles};
use trellis_engine::describe::Undescribed;
use trellis_os::wording::counted;
use trellis_plan::Grouping;
use trellis_project::code_plan::{CodePlan, CodePlanOptions, code_plan, undescribed};
use trellis_project::edits;
use trellis_python::Index;
use trellis_workflows::describe::{DescribeReport, describe};
use trellis_workflows::fault::Fault;
use trellis_workflows::job_control::JobControl;
use trellis_workflows::models::ModelArgs;
use trellis_workflows::reporter::Reporter;

use super::folder;

/// Derives the planning graph of a repository from its code.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanFromCodeParams {
    /// The folder of the repository.
    pub root: PathBuf,
    /// A new file for the graph; nothing is written if left out.
    #[serde(default)]
    pub out: Option<PathBuf>,
    /// Whether files of tests are part of the graph.
    #[serde(default)]
    pub tests: bool,
    /// The rule by which definitions form subgraphs; default: `package`.
    #[serde(default)]
    pub subgraphs: SubgraphRule,
}

/// The rule by which definitions form subgraphs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SubgraphRule {
    /// Each folder.
    #[default]
    Package,
    /// Definitions that use each other, in any folder.
    Cohesion,
}

impl From<SubgraphRule> for Grouping {
    fn from(rule: SubgraphRule) -> Grouping {
        match rule {
            SubgraphRule::Package => Grouping::Package,
            SubgraphRule::Cohesion => Grouping::Cohesion,
        }
    }
}

/// The planning graph of a repository.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanFromCodeResult {
    /// The graph, in the format `rpg`; null if it was written.
    pub graph: Option<Value>,
    /// The file with the graph; null if nothing was written.
    pub written: Option<PathBuf>,
    /// The number of files.
    pub files: usize,
    /// The number of functions, methods and classes.
    pub definitions: usize,
    /// The number of dependencies that are certain.
    pub certain: usize,
    /// The number of dependencies that are only possible; the graph has the reason as `doubt`.
    pub possible: usize,
    /// The number of test files that were left out.
    pub tests: usize,
    /// The number of problems of the graph, by kind; code has some that a plan must not have.
    pub problems: BTreeMap<&'static str, usize>,
    /// Docstrings that a model wrote; null if none was asked.
    pub described: Option<DescribedDefinitions>,
    /// Files that cannot be read, definitions that share a name, files that depend on each other; as sentences.
    pub notes: Vec<String>,
}

/// Docstrings of a model. Their nodes have `"described": "model"`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DescribedDefinitions {
    /// The number of docstrings that it wrote.
    pub docstrings: usize,
    /// Definitions without a usable docstring.
    pub missing: Vec<MissingDocstring>,
    /// Number of requests to the model, those of earlier starts included.
    pub requests: u32,
    /// Tokens of this start.
    pub tokens: u64,
    /// Price of this start in US dollars.
    pub usd: f64,
}

/// A definition that the model did not describe.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MissingDocstring {
    /// Id of the node.
    pub node: String,
    /// A fragment on what was wrong with the reply.
    pub problem: String,
}

/// Derives the graph of a repository as its code has it.
pub fn plan_from_code(params: &PlanFromCodeParams) -> Result<PlanFromCodeResult, Fault> {
    let (made, problems) = derive(params, |_, _| ())?;
    finish(params, made.0, problems, None)
}

/// Derives the graph of a repository, and asks a model for the docstrings that the code does not
/// have. The journal of the requests is in `.trellis` beside the new file.
pub async fn plan_from_described_code(
    params: &PlanFromCodeParams,
    model: &ModelArgs,
    reporter: &Reporter,
    control: &JobControl,
) -> Result<PlanFromCodeResult, Fault> {
    let out = params.out.as_ref().ok_or_else(|| {
        Fault::input("docstrings of a model need a file for the graph").hint("give it with --out")
    })?;
    refuse_existing(out)?;
    let ((mut made, all), problems) = derive(params, undescribed)?;
    let report =
        describe(&home(out)?, all.into_iter().map(asked).collect(), model, reporter, control)
            .await?;
    let DescribeReport { descriptions, requests, spent } = report;
    made.describe(&descriptions.docstrings);
    let missing = descriptions.missing.into_iter();
    let described = DescribedDefinitions {
        docstrings: descriptions.docstrings.len(),
        missing: missing.map(|(node, problem)| MissingDocstring { node, problem }).collect(),
        requests,
        tokens: spent.tokens,
        usd: spent.usd,
    };
    finish(params, made, problems, Some(described))
}

fn asked(it: trellis_project::code_plan::Undescribed) -> Undescribed {
    Undescribed { id: it.id, path: it.path, name: it.name, source: it.source }
}

/// Returns the canonical folder of a file that is written.
fn home(out: &Path) -> Result<PathBuf, Fault> {
    let folder = out.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    folder.canonicalize().map_err(|error| {
        let message = format!("cannot write into {}: {error}", folder.display());
        Fault::input(message).hint("create the folder, or give another --out")
    })
}

/// Derives the plan, with what `also` takes from the code, and problems of the workspace.
fn derive<T>(
    params: &PlanFromCodeParams,
    also: impl Fn(&Index, &Value) -> T,
) -> Result<((CodePlan, T), Vec<String>), Fault> {
    let mut workspace = folder::open(Some(&params.root))?;
    let name = project_name(&params.root);
    let options = CodePlanOptions { with_tests: params.tests, grouping: params.subgraphs.into() };
    let made = workspace.ask(|index| {
        let made = code_plan(index, &name, options);
        let more = also(index, &made.graph);
        (made, more)
    });
    if made.0.files == 0 {
        let tests = if made.0.tests > 0 { " but tests" } else { "" };
        return Err(Fault::input(format!("{} has no Python files{tests}", params.root.display()))
            .hint("give the folder of a Python project"));
    }
    let problems = workspace.problems();
    Ok((made, problems))
}

/// Checks the graph, and writes it.
fn finish(
    params: &PlanFromCodeParams,
    made: CodePlan,
    unread: Vec<String>,
    described: Option<DescribedDefinitions>,
) -> Result<PlanFromCodeResult, Fault> {
    let text = format!("{:#}\n", made.graph);
    let plan = trellis_plan::read(text.as_bytes(), None).map_err(Fault::internal)?;
    let mut problems: BTreeMap<&'static str, usize> = BTreeMap::new();
    for it in trellis_plan::check(&plan) {
        *problems.entry(it.kind.code()).or_default() += 1;
    }
    let mut notes = made.notes;
    notes.extend(unread);
    notes.extend(circles(&planned_cycles(&plan)));
    let result = PlanFromCodeResult {
        graph: Some(made.graph),
        written: None,
        files: made.files,
        definitions: made.definitions,
        certain: made.certain,
        possible: made.possible,
        tests: made.tests,
        problems,
        described,
        notes,
    };
    match &params.out {
        Some(out) => result.written_to(out),
        None => Ok(result),
    }
}

impl PlanFromCodeResult {
    /// Writes the graph to a new file.
    pub fn written_to(self, out: &Path) -> Result<PlanFromCodeResult, Fault> {
        if let Some(graph) = &self.graph {
            write(out, &format!("{graph:#}\n"))?;
        }
        Ok(PlanFromCodeResult { graph: None, written: Some(out.to_owned()), ..self })
    }
}

/// Largest number of circles that are named; in a large repository, many run through each other.
const CIRCLES: usize = 3;

/// Names the shortest circles of files.
fn circles(all: &[PlannedCycle]) -> Vec<String> {
    let mut shortest: Vec<&PlannedCycle> = all.iter().collect();
    shortest.sort_by_key(|it| it.files.len());
    let shown = shortest.iter().take(CIRCLES).map(|it| {
        format!("files that depend on each other: {} -> {}", it.files.join(" -> "), it.files[0])
    });
    let more = all.len().saturating_sub(CIRCLES);
    let more = (more > 0).then(|| format!("{} of files more", counted(more, "circle", "circles")));
    shown.chain(more).collect()
}

/// Writes a new file.
pub(super) fn write(out: &Path, text: &str) -> Result<(), Fault> {
    refuse_existing(out)?;
    Ok(edits::create(out, text)?)
}

fn refuse_existing(out: &Path) -> Result<(), Fault> {
    if out.symlink_metadata().is_ok() {
        return Err(Fault::input(format!("{} already exists", out.display()))
            .hint("give a new file with `--out`"));
    }
    Ok(())
}

fn project_name(root: &Path) -> String {
    let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let name = if real.is_file() { real.file_stem() } else { real.file_name() };
    let name = name.map(|it| it.to_string_lossy().into_owned());
    name.unwrap_or_else(|| "project".to_owned())
}
