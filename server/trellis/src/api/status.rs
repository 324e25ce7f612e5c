//! Status of a run's nodes, and its report.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Fault;
use crate::node_status;
use crate::workspace::checkpoint::Checkpoint;

/// Shows the status of every node of a generated repository.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StatusParams {
    /// The output folder of the run.
    pub(crate) out: PathBuf,
}

/// The status of the nodes of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatusResult {
    /// How many nodes have each status.
    pub(crate) counts: BTreeMap<String, usize>,
    /// All nodes.
    pub(crate) total: usize,
    /// The number of nodes that passed, failed or were skipped.
    pub(crate) completed: usize,
    /// The share of these, in percent.
    pub(crate) percent: usize,
    /// Ids of running nodes.
    pub(crate) current: Vec<String>,
    /// Ids of nodes that failed.
    pub(crate) failed: Vec<String>,
    /// Ids of skipped nodes, mostly because a dependency failed.
    pub(crate) blocked: Vec<String>,
    /// By id, as in the run's checkpoint.
    pub(crate) nodes: Checkpoint,
}

pub(crate) fn status(params: &StatusParams) -> Result<StatusResult, Fault> {
    let nodes = node_status::checkpoint(&params.out)?;
    let nodes = nodes.ok_or_else(|| node_status::no_run(&params.out))?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    nodes.values().for_each(|entry| *counts.entry(entry.status.clone()).or_default() += 1);
    let ids = |status: &str| -> Vec<String> {
        nodes.iter().filter(|(_, it)| it.status == status).map(|(id, _)| id.clone()).collect()
    };
    let (current, failed, blocked) = (ids("in_progress"), ids("failed"), ids("skipped"));
    let total = nodes.len();
    let completed = ids("passed").len() + failed.len() + blocked.len();
    let percent = completed * 100 / total.max(1);
    Ok(StatusResult { counts, total, completed, percent, current, failed, blocked, nodes })
}

/// Returns the generation report of a generated repository.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ReportParams {
    /// The output folder of the run.
    pub(crate) out: PathBuf,
}

/// A generation report.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReportResult {
    /// Where it lies.
    pub(crate) path: PathBuf,
    pub(crate) markdown: String,
}

pub(crate) fn report(params: &ReportParams) -> Result<ReportResult, Fault> {
    let path = params.out.join("docs/generation_report.md");
    let markdown = trellis_sandbox::files::read_text(&path).map_err(|e| {
        Fault::input(trellis_sandbox::wording::cannot_read(path.display(), &e)).hint(
            "`trellis generate` writes the report at its end; `trellis status` shows a run \
                 in progress",
        )
    })?;
    Ok(ReportResult { path, markdown })
}
