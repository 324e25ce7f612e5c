//! Status of a run's nodes, and its report.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use trellis_store::checkpoint;
use trellis_workflows::fault::Fault;
use trellis_workflows::node_status;

/// Shows the status of every node of a generated repository.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StatusParams {
    /// The output folder of the run.
    pub out: PathBuf,
}

/// The status of the nodes of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusResult {
    /// How many nodes have each status.
    pub counts: BTreeMap<String, usize>,
    /// All nodes.
    pub total: usize,
    /// The number of nodes that passed, failed or were skipped.
    pub completed: usize,
    /// The share of these, in percent.
    pub percent: usize,
    /// Ids of running nodes.
    pub current: Vec<String>,
    /// Ids of nodes that failed.
    pub failed: Vec<String>,
    /// Ids of skipped nodes, mostly because a dependency failed.
    pub blocked: Vec<String>,
    /// By id, as in the run's checkpoint.
    pub nodes: BTreeMap<String, Entry>,
}

/// Appendix B's `test_results`.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct TestResults {
    pub passed: usize,
    pub failed: usize,
}

/// One node, as appendix B has it; `subgraph`, `coverage`, `tests`, `flaky` and `model` are ours.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Entry {
    pub status: String,
    pub timestamp: String,
    #[serde(default)]
    pub test_results: TestResults,
    #[serde(default)]
    pub retry_count: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subgraph: Option<String>,
    /// Percent of its statements that the whole suite executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<u32>,
    /// pytest's ids of its tests, including test classes, as in the files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// Tests that failed once and passed unchanged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<String>,
    /// Its prompts and their cost; left out if no model counts tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelCost>,
}

/// The cost of a node's prompts, in its last attempt.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ModelCost {
    pub calls: usize,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// US dollars.
    pub usd: f64,
}

impl From<checkpoint::Entry> for Entry {
    fn from(it: checkpoint::Entry) -> Entry {
        Entry {
            status: it.status,
            timestamp: it.timestamp,
            test_results: TestResults {
                passed: it.test_results.passed,
                failed: it.test_results.failed,
            },
            retry_count: it.retry_count,
            failure_reason: it.failure_reason,
            subgraph: it.subgraph,
            coverage: it.coverage,
            tests: it.tests,
            flaky: it.flaky,
            model: it.model.map(|it| ModelCost {
                calls: it.calls,
                input_tokens: it.input_tokens,
                output_tokens: it.output_tokens,
                usd: it.usd,
            }),
        }
    }
}

pub fn status(params: &StatusParams) -> Result<StatusResult, Fault> {
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
    let nodes = nodes.into_iter().map(|(id, it)| (id, it.into())).collect();
    Ok(StatusResult { counts, total, completed, percent, current, failed, blocked, nodes })
}

/// Returns the generation report of a generated repository.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReportParams {
    /// The output folder of the run.
    pub out: PathBuf,
}

/// A generation report.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportResult {
    /// Where it lies.
    pub path: PathBuf,
    pub markdown: String,
}

pub fn report(params: &ReportParams) -> Result<ReportResult, Fault> {
    let path = params.out.join("docs/generation_report.md");
    let markdown = trellis_os::files::read_text(&path).map_err(|e| {
        Fault::input(trellis_os::wording::cannot_read(path.display(), &e)).hint(
            "`trellis generate` writes the report at its end; `trellis status` shows a run \
                 in progress",
        )
    })?;
    Ok(ReportResult { path, markdown })
}
