//! Every door, killed before steps that change the disk: a build for tests counts them (`TRELLIS_CRASH_POINT`).

use std::os::unix::process::ExitStatusExt as _;

use super::Door;
use super::doors::{Generate, Implement, Repair, Tasks, WriteTests};
use crate::world::{Plot, World};

/// Environment variable with the number of the step before which the process is killed.
const POINT: &str = "TRELLIS_CRASH_POINT";

/// Environment variable with the file that grows by a byte for each step.
const COUNTED: &str = "TRELLIS_CRASH_POINTS";

/// Does the work of one round undisturbed; returns its number of steps.
fn steps(door: &impl Door, round: u64) -> u64 {
    let world = door.world(round);
    let count = world.root().join("count");
    let status = door.command(&world, round).env(COUNTED, &count).status();
    assert!(status.expect("trellis starts").success());
    std::fs::metadata(&count).expect("a build for tests has crash points").len()
}

/// Kills work before its step of this number; false where it came to its end before that.
fn is_killed_at(door: &impl Door, world: &World, point: u64, round: u64) -> bool {
    let status = door.command(world, round).env(POINT, point.to_string()).status();
    let status = status.expect("trellis starts");
    assert!(status.signal().is_some() || status.success(), "point {point}: {status}");
    status.signal() == Some(9)
}

/// Kills the work of one round before its first step, each one that is so many steps further, and the last, and goes on with it
/// each time in a folder of its own. `cargo xtask soak points` takes every step.
fn at_points(door: &impl Door, round: u64, apart: usize) {
    let said = std::env::var("TRELLIS_POINTS_APART").ok();
    let apart = said.and_then(|it| it.parse().ok()).unwrap_or(apart);
    let last = steps(door, round);
    let mut killed = 0;
    for point in (1..last).step_by(apart).chain([last]) {
        let world = door.world(round);
        // Work side by side may end with a step less.
        if is_killed_at(door, &world, point, round) {
            killed += 1;
            eprintln!("killed at point {point} of {last}");
            door.assert_whole(&world, round);
            door.end(&world, round);
        }
    }
    assert!(killed > 2, "this work was killed {killed} times");
}

#[test]
fn a_generation_goes_on_from_any_point() {
    at_points(&Generate::new(Plot::three()), 0, 5);
}

#[test]
fn a_repair_goes_on_from_any_point() {
    at_points(&Repair, 0, 9);
}

#[test]
fn a_repair_that_commits_goes_on_from_any_point() {
    at_points(&Repair, 1, 9);
}

#[test]
fn a_repair_in_a_worktree_goes_on_from_any_point() {
    at_points(&Repair, 2, 4);
}

#[test]
fn an_issue_goes_on_from_any_point() {
    at_points(&Implement, 0, 3);
}

#[test]
fn tasks_go_on_from_any_point() {
    let tasks = [("base", &[][..], 0), ("left", &["base"][..], 1), ("alone", &[][..], 0)];
    at_points(&Tasks::new(&tasks), 0, 20);
}

#[test]
fn tests_for_a_function_go_on_from_any_point() {
    at_points(&WriteTests::new(), 0, 1);
}
