//! `cargo xtask bench tasks`: compares the run of a list of tasks with the fastest possible one,
//! with a slow model.

mod list;
mod spent;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::models::bound::{longest, seconds, shown};
use crate::models::{GOAL, Run, load, measured};
use crate::{Outcome, setup};
use spent::Spent;

#[derive(Args)]
pub(crate) struct TasksArgs {
    /// This binary instead of a release build of the working tree.
    #[arg(long, value_name = "FILE")]
    trellis: Option<PathBuf>,
}

/// Jobs in the measured run.
const JOBS: usize = 3;

/// A stack that needs nothing installed.
const STACK: &str = include_str!("../../../fixtures/tasks/plain-python.yaml");

pub(crate) fn run(args: &TasksArgs) -> Outcome {
    let trellis = match &args.trellis {
        Some(it) => it.canonicalize().map_err(|e| format!("{}: {e}", it.display()))?,
        None => setup::released()?,
    };
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text);
    fs::create_dir(folder.path().join("trellis-stacks"))
        .and_then(|()| write("trellis-stacks/plain.yaml", STACK))
        .and_then(|()| write("tasks.json", &list::tasks().to_string()))
        .and_then(|()| write("replies.jsonl", &list::recording()))
        .map_err(|e| e.to_string())?;
    println!("load before: {}", load());
    // Environments are created before the timing.
    made(&trellis, folder.path(), "warm", JOBS, false)?;
    let timed = |jobs: usize, out: &str| -> Result<(Run, Spent), String> {
        let run = made(&trellis, folder.path(), out, jobs, true)?;
        println!(
            "--jobs {jobs}: {:.1} s, processor time {:.1} s, load {}",
            run.wall,
            run.processor,
            load()
        );
        Ok((run, Spent::read(&folder.path().join(out).join(".trellis/journal.jsonl"))?))
    };
    let (many, together) = timed(JOBS, "many")?;
    let (one, alone) = timed(1, "one")?;
    told(&many, &together, &alone)?;
    println!("--jobs 1 took {:.1} times as long", one.wall / many.wall);
    Ok(())
}

/// Prints the lower bound, from the run in which tasks do not disturb each other, and the other
/// run's distance to it.
fn told(many: &Run, together: &Spent, alone: &Spent) -> Outcome {
    let plan = list::plan();
    let cores = std::thread::available_parallelism().map_err(|e| e.to_string())?;
    let chain = longest(&plan, &|id| alone.cost(id));
    let depth = longest(&plan, &|_| 1.0).len();
    let critical = seconds(&chain);
    let shared = alone.total() / JOBS as f64;
    let processors = many.processor / cores.get() as f64;
    let bound = critical.max(shared).max(processors);
    println!("{} tasks in {depth} levels; critical path: {}", plan.len(), shown(&chain));
    println!(
        "lower bound {bound:.1} s: critical path {critical:.1} s, everything shared by {JOBS} {shared:.1} s, processor time \
         by cores {processors:.1} s (getrusage of the child and all below it)"
    );
    println!(
        "--jobs {JOBS} took {:.2} times the lower bound (goal: at most {GOAL}); {:.1} s of it before the first task and \
         after the last, {} merges behind {} runs of the tests, {:.1} s of those",
        many.wall / bound,
        many.wall - together.tasks,
        plan.len(),
        together.merges,
        together.merging
    );
    Ok(())
}

/// Generates a repository from the list, with the model's latencies if `slow`.
fn made(trellis: &Path, folder: &Path, out: &str, jobs: usize, slow: bool) -> Result<Run, String> {
    let jobs = jobs.to_string();
    let words = ["tasks", "tasks.json", "--stack", "plain-python", "--json", "--jobs", &jobs];
    let mut arguments: Vec<OsString> = words.map(OsString::from).to_vec();
    // The bound covers tasks only.
    arguments.push("--skip-integration".into());
    arguments.extend(["--model=recorded:replies.jsonl", "--out", out].map(OsString::from));
    arguments.extend(slow.then(|| OsString::from("--replay-latency")));
    measured(trellis, &arguments, folder, 0)
}
