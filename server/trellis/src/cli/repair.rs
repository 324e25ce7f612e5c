//! `trellis repair`: fixes failing tests.

use std::path::Path;

use trellis_os::wording::counted;

use crate::cli::test_output::plain;
use crate::output::{Output, color};
use trellis_server::api::repair::{RepairArgs, RepairResult};
use trellis_server::results::Results;
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::job_control::JobControl;
use trellis_workflows::repair::report::{GroupReport, RepairReport};
use trellis_workflows::repair::{Approver, Terminal, repair};

pub(crate) async fn run(args: RepairArgs, output: &mut Output) -> Result<Exit, Fault> {
    let is_dry = args.dry_run;
    let order = args.order(Path::new(""))?;
    let control = JobControl::of_signals()?;
    let terminal = Terminal::here().filter(|_| !output.is_json());
    let person = terminal.map_or(Approver::Nobody, Approver::Terminal);
    let results = Results::default();
    let reporter = results.watching(output.reporter());
    let result = repair(&order, &person, &reporter, &control).await;
    results.keep();
    let result = result?;
    if output.is_json() {
        output.json(&RepairResult::from(result.clone()))?;
    } else {
        output.text(human(&result, is_dry))?;
    }
    let exit = Exit::of_result(result.exit_code);
    if exit == Exit::NeedsHuman {
        output.note(format_args!("next: `trellis fixes list --project {}`", order.root.display()));
    }
    Ok(exit)
}

fn human(it: &RepairReport, is_dry: bool) -> String {
    let mut out = String::new();
    for fix in &it.fixes {
        fix.diff.lines().for_each(|line| out += &format!("{}\n", color::diff(&plain(line))));
    }
    it.groups.iter().for_each(|group| out += &line(group));
    for aside in &it.set_aside {
        out += &plain(&format!("{}: set aside: {}", aside.test, aside.why));
        out.push('\n');
    }
    it.flaky.iter().for_each(|id| out += &plain(&format!("{id}: flaky, passes when run again\n")));
    it.notes.iter().for_each(|note| out += &format!("note: {}\n", plain(note)));
    let places = [
        it.branch.as_ref().map(|it| format!("branch: {it}")),
        it.commit.as_ref().map(|it| format!("commit: {it}")),
        it.patch.as_ref().map(|it| format!("patch: {it}")),
        it.artifacts.as_ref().map(|it| format!("report: {it}/report.md")),
    ];
    places.into_iter().flatten().for_each(|it| out += &format!("{it}\n"));
    out += &ending(it, is_dry);
    out
}

fn line(group: &GroupReport) -> String {
    let more = match group.tests.len() {
        0 | 1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let first = group.tests.first().map_or("", String::as_str);
    format!("{}\n", plain(&format!("{first}{more}: {}", group.end())))
}

fn ending(it: &RepairReport, is_dry: bool) -> String {
    let after = &it.after;
    if is_dry && it.outcome != "nothingToDo" {
        let (passing, failing) = (after.passing, after.failing);
        return format!(
            "dry run, no file changed: with these fixes {passing} tests would pass, {failing} fail"
        );
    }
    let passing = counted(after.passing, "test passes", "tests pass");
    format!("{}: {passing}, {} fail", it.ending(), after.failing)
}
