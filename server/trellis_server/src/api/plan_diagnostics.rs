//! `planDiagnostics`: problems of a planning graph or list of tasks at their places in the text.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_engine::assembly::planned_cycles;
use trellis_plan::{IdPositions, Plan, Problem, ProblemKind, ReadError, TextPosition};
use trellis_workflows::fault::Fault;

/// Reports the problems of a planning graph or list of tasks with their lines, also those of text that is not saved
/// or not valid JSON.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanDiagnosticsParams {
    /// The planning graph or list of tasks, a JSON file.
    pub graph: PathBuf,
    /// The text to check instead of the file's.
    #[serde(default)]
    pub text: Option<String>,
}

/// Problems with their places.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanDiagnosticsResult {
    /// In a fixed order; empty for a valid graph.
    pub diagnostics: Vec<PlanDiagnostic>,
}

/// A problem in the text.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanDiagnostic {
    /// The place; null for the file as a whole.
    pub range: Option<PlanRange>,
    pub severity: PlanSeverity,
    /// The kind of problem, such as `duplicate-id`, `malformed` or `circular-import`.
    pub kind: &'static str,
    /// The id of the node to check first; null for the file as a whole.
    pub node: Option<String>,
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub hint: Option<String>,
}

/// A place on one line, from 1, in characters.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanRange {
    pub line: usize,
    pub column: usize,
    /// The column behind the last character.
    pub end_column: usize,
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PlanSeverity {
    /// Nothing can be generated.
    Error,
    /// A graph may have this, but should not.
    Warning,
}

impl From<TextPosition> for PlanRange {
    fn from(it: TextPosition) -> PlanRange {
        PlanRange { line: it.line, column: it.column, end_column: it.end_column }
    }
}

pub fn plan_diagnostics(params: &PlanDiagnosticsParams) -> Result<PlanDiagnosticsResult, Fault> {
    let text = match &params.text {
        Some(text) => text.clone(),
        None => read(&params.graph)?,
    };
    let diagnostics = match trellis_plan::read(text.as_bytes(), None) {
        Ok(plan) => of_plan(&plan, &text),
        Err(error) => vec![malformed(error, &text)],
    };
    Ok(PlanDiagnosticsResult { diagnostics })
}

fn read(path: &Path) -> Result<String, Fault> {
    trellis_os::files::read_text(path).map_err(|error| {
        Fault::input(trellis_os::wording::cannot_read(path.display(), &error))
            .hint("give a planning graph or a list of tasks")
    })
}

fn of_plan(plan: &Plan, text: &str) -> Vec<PlanDiagnostic> {
    let positions = IdPositions::of(text);
    let problems = trellis_plan::check(plan).into_iter().map(|it| error(it, &positions));
    let cycles = planned_cycles(plan).into_iter().map(|cycle| {
        let node = cycle.links.first().map(|(from, _)| from.clone());
        PlanDiagnostic {
            range: node.as_deref().and_then(|id| positions.find(id, 0)).map(PlanRange::from),
            severity: PlanSeverity::Warning,
            kind: "circular-import",
            node,
            message: format!("circular import {cycle}"),
            hint: None,
        }
    });
    problems.chain(cycles).collect()
}

fn error(problem: Problem, positions: &IdPositions<'_>) -> PlanDiagnostic {
    // The second node with an id is the one to rename.
    let number = usize::from(problem.kind == ProblemKind::DuplicateId);
    let named = problem.unknown.as_deref().and_then(|id| positions.find_mention(&problem.node, id));
    PlanDiagnostic {
        range: named.or_else(|| positions.find(&problem.node, number)).map(PlanRange::from),
        severity: PlanSeverity::Error,
        kind: problem.kind.code(),
        node: Some(problem.node),
        message: problem.message,
        hint: Some(problem.hint),
    }
}

/// Returns the diagnostic of text that is no plan, up to the end of its line.
fn malformed(error: ReadError, text: &str) -> PlanDiagnostic {
    let line = text.lines().nth(error.line - 1).unwrap_or_default();
    let before = line.floor_char_boundary(error.column - 1);
    let column = 1 + line[..before].chars().count();
    let end_column = (1 + line.chars().count()).max(column);
    PlanDiagnostic {
        range: Some(PlanRange { line: error.line, column, end_column }),
        severity: PlanSeverity::Error,
        kind: "malformed",
        node: None,
        message: error.message,
        hint: error.hint,
    }
}
