//! `trellis status` and `trellis report`: what a run did.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::error::{Exit, Fault};
use crate::output::Output;
use crate::statuses;

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
    let checkpoint = statuses::checkpoint(&args.dir)?;
    let checkpoint = checkpoint.ok_or_else(|| statuses::no_run(&args.dir))?;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    checkpoint.values().for_each(|entry| *counts.entry(entry.status.as_str()).or_default() += 1);
    if output.is_json() {
        output.json(&json!({ "counts": counts, "nodes": checkpoint }))?;
        return Ok(Exit::Done);
    }
    output.stream(|out| {
        use std::io::Write;
        for (id, entry) in &checkpoint {
            let results = &entry.test_results;
            let reason = entry.failure_reason.as_deref().unwrap_or_default();
            writeln!(
                out,
                "{:<12} {id} ({} tests passed, {} failed, {} fixes) {reason}",
                entry.status, results.passed, results.failed, entry.retry_count
            )?;
        }
        let counts: Vec<String> =
            counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
        writeln!(out, "{}", counts.join(", "))
    })?;
    Ok(Exit::Done)
}

pub(crate) fn report(args: &ReportArgs, output: &mut Output) -> Result<Exit, Fault> {
    let path = args.dir.join("docs/generation_report.md");
    let text = fs::read_to_string(&path).map_err(|e| {
        Fault::input(format!("cannot read {}: {e}", path.display()))
            .hint("the report is written at the end of `trellis generate`; `trellis status` shows a run under way")
    })?;
    if output.is_json() {
        output.json(&json!({ "path": path, "markdown": text }))?;
    } else {
        output.text(text.trim_end())?;
    }
    Ok(Exit::Done)
}
