//! The planning graph of an existing repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use trellis_engine::assembly::{PlannedCycle, planned_cycles};
use trellis_os::wording::counted;
use trellis_project::code_plan::code_plan;
use trellis_project::edits;
use trellis_workflows::fault::Fault;

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
    /// Files that cannot be read, definitions that share a name, files that depend on each other; as sentences.
    pub notes: Vec<String>,
}

pub fn plan_from_code(params: &PlanFromCodeParams) -> Result<PlanFromCodeResult, Fault> {
    let mut workspace = folder::open(Some(&params.root))?;
    let name = project_name(&params.root);
    let made = workspace.ask(|index| code_plan(index, &name, params.tests));
    if made.files == 0 {
        let tests = if made.tests > 0 { " but tests" } else { "" };
        return Err(Fault::input(format!("{} has no Python files{tests}", params.root.display()))
            .hint("give the folder of a Python project"));
    }
    let text = format!("{:#}\n", made.graph);
    let plan = trellis_plan::read(text.as_bytes(), None).map_err(Fault::internal)?;
    let mut problems: BTreeMap<&'static str, usize> = BTreeMap::new();
    for it in trellis_plan::check(&plan) {
        *problems.entry(it.kind.code()).or_default() += 1;
    }
    let mut notes = made.notes;
    notes.extend(workspace.problems());
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
    if out.symlink_metadata().is_ok() {
        return Err(Fault::input(format!("{} already exists", out.display()))
            .hint("give a new file with `--out`"));
    }
    Ok(edits::create(out, text)?)
}

fn project_name(root: &Path) -> String {
    let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let name = if real.is_file() { real.file_stem() } else { real.file_name() };
    let name = name.map(|it| it.to_string_lossy().into_owned());
    name.unwrap_or_else(|| "project".to_owned())
}
