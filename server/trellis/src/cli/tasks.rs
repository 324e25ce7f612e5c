//! `trellis tasks`: generates a repository from a list of tasks.

use std::path::Path;

use crate::cli::test_output::{plain, pushed};
use crate::output::Output;
use trellis_server::api::tasks::{TasksArgs, TasksResult};
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::job_control::JobControl;
use trellis_workflows::tasks::{TasksReport, tasks};

pub(crate) async fn run(args: TasksArgs, output: &mut Output) -> Result<Exit, Fault> {
    let order = args.order(Path::new(""));
    let control = JobControl::of_signals()?;
    let result = tasks(&order, output.reporter(), &control).await?;
    if output.is_json() {
        output.json(&TasksResult::from(result.clone()))?;
    } else {
        output.text(human(&result))?;
    }
    Ok(Exit::of_result(result.exit_code))
}

fn human(it: &TasksReport) -> String {
    let mut out = String::new();
    for (kind, tasks) in [("failed", &it.failed_tasks), ("blocked", &it.blocked_tasks)] {
        for (id, why) in tasks {
            let why = why.lines().next().unwrap_or_default();
            out += &format!("{}\n", plain(&format!("{id}: {kind}: {why}")));
        }
    }
    if !it.failed_tasks.is_empty() {
        out += "Failed work is on the branch trellis/task-ID, in .trellis/worktrees/task-ID. Fix it there or leave it, and run the same command again.\n";
    }
    it.notes.iter().for_each(|note| out += &format!("note: {}\n", plain(note)));
    out += &pushed(&it.pushed);
    let (done, total) = (it.completed_tasks.len(), it.total_tasks);
    if let Some(why) = &it.reason {
        out += &format!("{}\n", plain(why));
    }
    out + &format!("{}: {done} of {total} tasks are merged in {}", it.status, plain(&it.out))
}
