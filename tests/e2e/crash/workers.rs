//! Workers of the sandbox that are killed in mid-work, as when memory runs out: their runs are
//! repeated, and the work ends as without the kill.

use std::collections::BTreeSet;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::Workflow;
use super::issues::Implement;
use super::workflows::{Generate, Repair, Tasks, WriteTests};
use crate::processes::{Life, command_line, descendants, living};
use crate::tasks::Task;
use crate::world::Plot;

/// Time between two looks at the processes.
const LOOK: Duration = Duration::from_millis(10);

/// Start of the program of a worker, which its command line shows.
const BOOT: &str = "-c # Passed with `-c`: reads the bundle";

/// Returns the workers of a process that are ready for a run: they have forked its process.
fn workers(of: &Child) -> Vec<Life> {
    let runs_boot = |it: &Life| {
        let line = command_line(it);
        !line.contains("bwrap ") && line.contains(BOOT)
    };
    let all: Vec<Life> = descendants(of.id()).into_iter().filter(runs_boot).collect();
    let parents: BTreeSet<i32> = all.iter().filter_map(|it| Some(living(it.0)?.0)).collect();
    let is_first = |it: &Life| {
        living(it.0).is_some_and(|(parent, _)| all.iter().all(|other| other.0 != parent))
    };
    all.iter().filter(|it| is_first(it) && parents.contains(&it.0)).cloned().collect()
}

/// Does the work of one round while its worker of this number, from 1 in the order in which they
/// appear, is killed; returns whether there was one.
fn loses_a_worker(workflow: &impl Workflow, round: u64, number: usize) -> bool {
    let world = workflow.world(round);
    let mut command = workflow.command(&world, round);
    let mut child = command.stderr(Stdio::piped()).spawn().expect("trellis starts");
    let (mut seen, mut is_killed): (Vec<Life>, _) = (Vec::new(), false);
    while child.try_wait().expect("a state").is_none() {
        let now = workers(&child);
        seen.extend(now.into_iter().filter(|it| !seen.contains(it)).collect::<Vec<_>>());
        if let Some(life) = seen.get(number - 1).filter(|_| !is_killed) {
            let pid = Pid::from_raw(life.0).expect("a number");
            is_killed = kill_process(pid, Signal::KILL).is_ok();
        }
        std::thread::sleep(LOOK);
    }
    let output = child.wait_with_output().expect("it ended");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "worker {number}, round {round}, {}: {said}", output.status);
    if !workflow.is_over(&world) {
        workflow.end(&world, round);
    }
    is_killed
}

/// Does the work again and again, each time without another one of its workers: the first, and for
/// the soak all others.
fn loses_each_worker(workflow: &impl Workflow, round: u64) {
    assert!(loses_a_worker(workflow, round, 1), "this work has no worker");
    if std::env::var_os("TRELLIS_POINTS_APART").is_some() {
        for number in 2.. {
            if !loses_a_worker(workflow, round, number) {
                break;
            }
        }
    }
}

#[test]
fn a_generation_goes_on_without_a_worker() {
    loses_each_worker(&Generate::new(Plot::three()), 0);
}

#[test]
fn a_repair_goes_on_without_a_worker() {
    loses_each_worker(&Repair, 1);
}

#[test]
fn an_issue_goes_on_without_a_worker() {
    loses_each_worker(&Implement, 0);
}

#[test]
fn tasks_go_on_without_a_worker() {
    let tasks: [Task; 2] = [("base", &[], 0), ("left", &["base"], 1)];
    loses_each_worker(&Tasks::new(&tasks), 0);
}

#[test]
fn tests_for_a_function_go_on_without_a_worker() {
    loses_each_worker(&WriteTests::new(), 0);
}
