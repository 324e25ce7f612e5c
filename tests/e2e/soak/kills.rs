//! Kills at random instants, alone or with every child, which cover the middle of git's steps that
//! fault points cannot reach.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::crash::Workflow;
use crate::crash::issues::Implement;
use crate::crash::workflows::{Generate, Repair, Tasks, WriteTests};
use crate::random::{Random, rounds};
use crate::tasks::Task;
use crate::world::Plot;

/// Kills work up to three times per round, and resumes it.
fn at_random_instants(workflow: &impl Workflow) {
    let started = Instant::now();
    workflow.end(&workflow.world(0), 0);
    let whole = started.elapsed().as_millis() as u64;
    let mut random = Random::of_soak();
    for round in rounds() {
        let world = workflow.world(round);
        for _ in 0..1 + random.below(3) {
            if workflow.is_over(&world) {
                break;
            }
            let mut child = workflow.command(&world, round).spawn().expect("trellis starts");
            let pid = Pid::from_child(&child);
            // The moment is the point of the test; the assertions do not depend on it.
            std::thread::sleep(Duration::from_millis(random.below(whole)));
            // Alone, as when memory runs out, or with its children, as when the machine fails.
            let killed = match random.below(2) {
                0 => kill_process(pid, Signal::KILL),
                _ => kill_process_group(pid, Signal::KILL),
            };
            killed.expect("it can be killed");
            child.wait().expect("it ended");
            workflow.assert_whole(&world, round);
        }
        workflow.end(&world, round);
    }
}

#[test]
fn a_generation_ends_in_the_same_bytes() {
    at_random_instants(&Generate::new(Plot::garden()));
}

#[test]
fn a_repair_leaves_whole_files() {
    at_random_instants(&Repair);
}

#[test]
fn an_issue_loses_no_commit_and_leaves_no_half_merge() {
    at_random_instants(&Implement);
}

#[test]
fn tasks_end_in_the_same_tree() {
    let tasks: [Task; 5] = [
        ("base", &[], 0),
        ("left", &["base"], 1),
        ("right", &["base"], 0),
        ("top", &["left", "right"], 0),
        ("alone", &[], 0),
    ];
    at_random_instants(&Tasks::new(&tasks));
}

#[test]
fn tests_for_a_function_are_whole() {
    at_random_instants(&WriteTests::new());
}
