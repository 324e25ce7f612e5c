//! Edits of a planning graph on disk.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use trellis_os::wording::counted;
use trellis_plan::{EditError, Edited, PlanEdit, Problem, diff, edit};
use trellis_project::edits;
use trellis_workflows::fault::Fault;

use super::plan::{PlanProblem, problem, unknown};
use super::plan_diff::{self, PlanDiffResult};
use super::plan_from_code;

/// Where the edited graph goes.
#[derive(Clone, Debug, Default)]
pub struct EditTarget {
    /// A new file; the graph itself if left out.
    pub out: Option<PathBuf>,
    /// Whether problems that the edit makes are accepted.
    pub force: bool,
    /// Whether nothing is written.
    pub dry_run: bool,
}

/// An edited graph.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanEditResult {
    /// The file with the edited graph; null if nothing was written.
    pub written: Option<PathBuf>,
    /// What changed, and what the next run does.
    pub diff: PlanDiffResult,
    /// Problems that the edit made and `--force` accepted.
    pub new_problems: Vec<PlanProblem>,
    /// Consequences to check.
    pub notes: Vec<String>,
}

pub fn plan_edit(
    graph: &Path,
    wanted: &PlanEdit,
    to: &EditTarget,
) -> Result<PlanEditResult, Fault> {
    let text = edits::read(graph)?;
    let edited = edit(&text, wanted).map_err(|error| impossible(graph, &text, &error))?;
    if !to.force && !edited.new_problems.is_empty() {
        return Err(refused(&edited.new_problems));
    }
    let written = match (&to.out, to.dry_run) {
        (_, true) => None,
        (None, false) if edited.text == text => None,
        (None, false) => {
            edits::replace(graph, &text, &edited.text)?;
            Some(graph.to_owned())
        }
        (Some(out), false) => {
            plan_from_code::write(out, &edited.text)?;
            Some(out.clone())
        }
    };
    Ok(result(edited, written))
}

fn result(it: Edited, written: Option<PathBuf>) -> PlanEditResult {
    let found = diff(&it.before, &it.after);
    PlanEditResult {
        written,
        diff: plan_diff::result(&it.before, &it.after, found),
        new_problems: it.new_problems.into_iter().map(problem).collect(),
        notes: it.notes,
    }
}

fn refused(problems: &[Problem]) -> Fault {
    let lines: Vec<String> = problems.iter().map(|it| format!("  {it}\n    {}", it.hint)).collect();
    let count = counted(problems.len(), "problem", "problems");
    Fault::input(format!("the edit would make {count}:\n{}", lines.join("\n")))
        .hint("nothing was changed; `--force` edits all the same")
}

fn impossible(graph: &Path, text: &str, error: &EditError) -> Fault {
    match error {
        EditError::UnknownNode(id) => match trellis_plan::read(text.as_bytes(), None) {
            Ok(plan) => unknown(&plan, id),
            Err(_) => Fault::input(error),
        },
        EditError::Unreadable(source) => {
            let fault = Fault::input(format!("{}: {source}", graph.display()));
            fault.hint(source.hint.as_deref().unwrap_or("fix the file"))
        }
        EditError::Dialect(_) => Fault::input(format!("{}: {error}", graph.display()))
            .hint("a run writes any graph in the format rpg, as docs/rpg.json"),
        EditError::Exists(_) => Fault::input(error).hint("choose another id"),
        EditError::HasParts { .. } => {
            Fault::input(error).hint("edit the parts first; `remove --with-parts` removes all")
        }
        EditError::NotLinked { .. } => {
            Fault::input(error).hint("`trellis plan deps` shows the dependencies of a node")
        }
        EditError::Spec(_) => Fault::input(format!("{}: {error}", graph.display()))
            .hint("correct or remove `metadata.spec` and `serves`"),
        EditError::Incomplete(_) => Fault::input(error).hint("see `trellis plan edit --help`"),
    }
}
