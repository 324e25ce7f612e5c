//! `trellis status` and `trellis report`: show the result of a run, or the progress of a list of
//! tasks.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use trellis_os::wording::counted;

use crate::cli::test_output::plain;
use crate::output::{Output, color};
use trellis_server::api::status::Entry;
use trellis_server::api::status::{ReportParams, StatusParams, report as report_of, status};
use trellis_server::api::tasks_status::{TasksStatusParams, TasksStatusResult, tasks_status};
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::tasks;

/// Show the state of every node or task of a run.
#[derive(Args)]
pub(crate) struct StatusArgs {
    /// Output folder of `trellis generate` or `trellis tasks`.
    #[arg(default_value = ".")]
    project: PathBuf,
}

/// Print the report of a generated repository.
#[derive(Args)]
pub(crate) struct ReportArgs {
    /// Output folder of `trellis generate`.
    #[arg(default_value = ".")]
    project: PathBuf,
}

pub(crate) fn run(args: &StatusArgs, output: &mut Output) -> Result<Exit, Fault> {
    if tasks::is_there(&args.project) {
        return of_tasks(args, output);
    }
    let result = status(&StatusParams { out: args.project.clone() })?;
    if output.is_json() {
        output.json(&result)?;
        return Ok(Exit::Done);
    }
    output.stream(|out| {
        for (id, entry) in &result.nodes {
            let state = color::state(&format!("{:<12}", entry.status));
            writeln!(out, "{state} {id}{}", plain(&details(entry)))?;
        }
        let counts: Vec<String> =
            result.counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
        writeln!(out, "{}", counts.join(", "))
    })?;
    Ok(Exit::Done)
}

/// Returns the counts of tests and fixes of a node, and the reason of its failure.
fn details(entry: &Entry) -> String {
    let results = &entry.test_results;
    let counts = [
        (results.passed, counted(results.passed, "test passed", "tests passed")),
        (results.failed, counted(results.failed, "test failed", "tests failed")),
        (entry.retry_count as usize, counted(entry.retry_count as usize, "fix", "fixes")),
    ];
    let known: Vec<String> =
        counts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect();
    let counts = if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) };
    let reason = entry.failure_reason.as_ref().map(|it| format!(": {it}")).unwrap_or_default();
    counts + &reason
}

fn of_tasks(args: &StatusArgs, output: &mut Output) -> Result<Exit, Fault> {
    let result = tasks_status(&TasksStatusParams { out: args.project.clone() })?;
    if output.is_json() {
        output.json(&result)?;
    } else {
        output.text(human(&result))?;
    }
    Ok(Exit::Done)
}

fn human(it: &TasksStatusResult) -> String {
    let mut out = String::new();
    let mut row = |state: &str, id: &str| {
        out += &format!("{} {}\n", color::state(&format!("{state:<8}")), plain(id));
    };
    it.completed_tasks.iter().for_each(|id| row("merged", id));
    it.current_tasks.iter().for_each(|id| row("running", id));
    for (state, tasks) in [("failed", &it.failed_tasks), ("blocked", &it.blocked_tasks)] {
        for (id, why) in tasks {
            row(state, &format!("{id}: {}", why.lines().next().unwrap_or_default()));
        }
    }
    if let Some(why) = &it.reason {
        out += &format!("{}\n", plain(why));
    }
    let (done, total) = (it.completed_tasks.len(), it.total_tasks);
    let work = if it.running { "running" } else { "not running" };
    out + &format!("{}: {done} of {total} tasks are merged ({}%); {work}", it.status, it.progress)
}

pub(crate) fn report(args: &ReportArgs, output: &mut Output) -> Result<Exit, Fault> {
    let result = report_of(&ReportParams { out: args.project.clone() })?;
    if output.is_json() {
        output.json(&result)?;
    } else {
        output.text(result.markdown.trim_end())?;
    }
    Ok(Exit::Done)
}
