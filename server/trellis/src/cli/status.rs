//! `trellis status` and `trellis report`: what a run did.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;

use crate::error::{Exit, Fault};
use crate::methods::status::{ReportParams, StatusParams, report as report_of, status};
use crate::output::Output;

/// Show where every node of a grown repository stands.
#[derive(Args)]
pub(crate) struct StatusArgs {
    /// The output folder of `trellis generate`.
    dir: PathBuf,
}

/// Print the generation report of a grown repository.
#[derive(Args)]
pub(crate) struct ReportArgs {
    /// The output folder of `trellis generate`.
    dir: PathBuf,
}

pub(crate) fn run(args: &StatusArgs, output: &mut Output) -> Result<Exit, Fault> {
    let result = status(&StatusParams { out: args.dir.clone() })?;
    if output.is_json() {
        output.json(&result)?;
        return Ok(Exit::Done);
    }
    output.stream(|out| {
        for (id, entry) in &result.nodes {
            let results = &entry.test_results;
            let reason = entry.failure_reason.as_deref().unwrap_or_default();
            writeln!(
                out,
                "{:<12} {id} ({} tests passed, {} failed, {} fixes) {reason}",
                entry.status, results.passed, results.failed, entry.retry_count
            )?;
        }
        let counts: Vec<String> =
            result.counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
        writeln!(out, "{}", counts.join(", "))
    })?;
    Ok(Exit::Done)
}

pub(crate) fn report(args: &ReportArgs, output: &mut Output) -> Result<Exit, Fault> {
    let result = report_of(&ReportParams { out: args.dir.clone() })?;
    if output.is_json() {
        output.json(&result)?;
    } else {
        output.text(result.markdown.trim_end())?;
    }
    Ok(Exit::Done)
}
