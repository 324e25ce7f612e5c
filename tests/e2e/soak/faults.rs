//! Faults at random steps of each workflow, several in one piece of work: a start that resumes after
//! one fault may meet the next.

use crate::crash::Workflow;
use crate::crash::faults::{ERRORS, Fault, KILLS, is_ended_by, steps};
use crate::crash::issues::Implement;
use crate::crash::workflows::{Generate, Repair, Tasks, WriteTests};
use crate::random::{Random, rounds};
use crate::tasks::Task;
use crate::world::Plot;

/// Starts work up to four times per round, each with a fault at a random step, and ends it
/// undisturbed.
fn at_random_steps(workflow: &impl Workflow) {
    let last = steps(workflow, 0).len() as u64;
    let names = [&KILLS[..], &ERRORS, &["slow"]].concat();
    let mut random = Random::of_soak();
    for round in rounds() {
        let world = workflow.world(round);
        for _ in 0..1 + random.below(4) {
            if workflow.is_over(&world) {
                break;
            }
            let name = names[random.below(names.len() as u64) as usize];
            let fault = Fault { point: 1 + random.below(last), name };
            eprintln!("round {round}: {fault:?}");
            is_ended_by(workflow, &world, fault, round);
            workflow.assert_whole(&world, round);
        }
        if !workflow.is_over(&world) {
            workflow.end(&world, round);
        }
    }
}

#[test]
fn a_generation_ends_in_the_same_bytes() {
    at_random_steps(&Generate::new(Plot::three()));
}

#[test]
fn a_repair_leaves_whole_files() {
    at_random_steps(&Repair);
}

#[test]
fn an_issue_loses_no_commit_and_leaves_no_half_merge() {
    at_random_steps(&Implement);
}

#[test]
fn tasks_end_in_the_same_tree() {
    let tasks: [Task; 3] = [("base", &[], 0), ("left", &["base"], 1), ("alone", &[], 0)];
    at_random_steps(&Tasks::new(&tasks));
}

#[test]
fn tests_for_a_function_are_whole() {
    at_random_steps(&WriteTests::new());
}
