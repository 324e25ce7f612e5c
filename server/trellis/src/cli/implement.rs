//! `trellis implement`: implements one issue, test-first.

use std::path::Path;

use crate::cli::test_output::{plain, pushed};
use crate::output::{Output, color};
use trellis_server::api::implement::{ImplementArgs, ImplementResult};
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::issue::{IssueOutcome, IssueReport, Reviewer, implement, plan};
use trellis_workflows::job_control::JobControl;
use trellis_workflows::repair::Terminal;

pub(crate) async fn run(args: ImplementArgs, output: &mut Output) -> Result<Exit, Fault> {
    let dry_run = args.dry_run;
    let (order, given) = args.order(Path::new(""))?;
    let result = if dry_run {
        IssueReport::planned(&order, plan(&order, &given)?)
    } else {
        let control = JobControl::of_signals()?;
        let terminal = Terminal::here().filter(|_| !output.is_json());
        let reviewer = terminal.map_or(Reviewer::Nobody, Reviewer::Terminal);
        implement(&order, &given, &reviewer, output.reporter(), &control).await?
    };
    if output.is_json() {
        output.json(&ImplementResult::from(result.clone()))?;
    } else {
        output.text(human(&result))?;
    }
    Ok(Exit::of_result(result.exit_code))
}

fn human(it: &IssueReport) -> String {
    if let Some(plan) = &it.plan {
        return lines(plan);
    }
    let mut out: String =
        it.diff.lines().map(|line| format!("{}\n", color::diff(&plain(line)))).collect();
    for (number, entry) in it.history.iter().enumerate() {
        out += &lines(&format!("attempt {}: {entry}", number + 1));
    }
    it.doubts.iter().chain(&it.notes).for_each(|note| out += &format!("note: {}\n", plain(note)));
    out += &pushed(&it.pushed);
    let places = [
        it.commit.as_ref().map(|it| format!("commit: {it}")),
        it.branch.as_ref().map(|it| format!("branch: {it}")),
        it.worktree.as_ref().map(|it| format!("worktree: {it}")),
        it.reports.as_ref().map(|it| format!("reports: {it}")),
    ];
    places.into_iter().flatten().for_each(|it| out += &format!("{it}\n"));
    let reason = it.reason.as_deref().map(|it| format!(": {}", plain(it))).unwrap_or_default();
    let tests = it.all_tests.map_or_else(String::new, |all| {
        let failing = match all.failed {
            0 => String::new(),
            failed => format!("; {failed} failed before, too"),
        };
        format!(", {} tests pass ({} before){failing}", all.passed, it.passed_before)
    });
    out += &match it.outcome {
        IssueOutcome::Merged => format!("issue {} is merged{tests}", it.issue),
        IssueOutcome::NeedsHuman => format!("needs your review{reason}"),
        IssueOutcome::Left => "left on its branch".to_owned(),
        IssueOutcome::Failed | IssueOutcome::Planned => format!("not implemented{reason}"),
    };
    out
}

/// Returns a text line by line, with control characters escaped.
fn lines(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", plain(line))).collect()
}
