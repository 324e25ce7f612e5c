//! Kills each workflow before steps that change the disk, with the crash points of a debug build
//! (`TRELLIS_CRASH_POINT`).

use std::os::unix::process::ExitStatusExt as _;

use super::Workflow;
use super::workflows::{Generate, Implement, Repair, Tasks, WriteTests};
use crate::repair::{CALCULATOR, below, git, mended, repair};
use crate::world::{Plot, World};

/// Environment variable with the number of the step before which the process is killed.
const POINT: &str = "TRELLIS_CRASH_POINT";

/// Environment variable with the path of a file that grows by one byte per step.
const COUNTED: &str = "TRELLIS_CRASH_POINTS";

/// Runs the work of one round undisturbed; returns its number of steps.
fn steps(workflow: &impl Workflow, round: u64) -> u64 {
    let world = workflow.world(round);
    let count = world.root().join("count");
    let status = workflow.command(&world, round).env(COUNTED, &count).status();
    assert!(status.expect("trellis starts").success());
    std::fs::metadata(&count).expect("a build for tests has crash points").len()
}

/// Kills the work before the step of this number; false if the work ended before.
fn is_killed_at(workflow: &impl Workflow, world: &World, point: u64, round: u64) -> bool {
    let status = workflow.command(world, round).env(POINT, point.to_string()).status();
    let status = status.expect("trellis starts");
    assert!(status.signal().is_some() || status.success(), "point {point}: {status}");
    status.signal() == Some(9)
}

/// Kills the work of one round before its first step, before every `apart`-th later one, and before
/// the last, and resumes it each time, in separate folders. `cargo xtask soak points` takes every
/// step.
fn at_points(workflow: &impl Workflow, round: u64, apart: usize) {
    let said = std::env::var("TRELLIS_POINTS_APART").ok();
    let apart = said.and_then(|it| it.parse().ok()).unwrap_or(apart);
    let last = steps(workflow, round);
    let mut killed = 0;
    for point in (1..last).step_by(apart).chain([last]) {
        let world = workflow.world(round);
        // Parallel work may end with one step less.
        if is_killed_at(workflow, &world, point, round) {
            killed += 1;
            eprintln!("killed at point {point} of {last}");
            workflow.assert_whole(&world, round);
            workflow.end(&world, round);
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

/// Commits two fixes in a project below the top of its repository; killed at a point.
fn commits_until(point: u64) -> World {
    let world = below();
    let _ = is_killed_at(&Repair, &world, point, 1);
    world
}

/// Returns the last point before the second fix is in the tree.
fn point_between_fixes() -> u64 {
    let (mut least, mut most) = (1, steps(&Repair, 1));
    while most - least > 1 {
        let middle = least.midpoint(most);
        let code = commits_until(middle).read("p/calculator.py");
        let has_both = code.contains("raise ValueError");
        (least, most) = if has_both { (least, middle) } else { (middle, most) };
    }
    least
}

#[test]
fn a_fix_that_stayed_before_a_kill_is_committed_by_the_next_start_unless_a_person_did_so() {
    let point = point_between_fixes();
    let log = |world: &World| git(world.root(), &["log", "--format=%s"]);
    let (one, two) =
        ("Repair test_calculator.py::test_add", "Repair test_calculator.py::test_divide");
    let world = commits_until(point);
    assert_eq!(world.read("p/calculator.py"), CALCULATOR.replace("a - b", "a + b"));
    // Commits are made only on request.
    let _ = repair(&world, &["--approve", "supervised"]).exits(2);
    assert_eq!(log(&world), "start\n");
    let _ =
        repair(&world, &["--commit"]).exits(0).says("were not committed; they are committed now");
    let titles = log(&world);
    let titles: Vec<&str> = titles.lines().collect();
    let is_told = titles.len() == 3 && titles[1].starts_with(one) && titles[0].starts_with(two);
    assert!(is_told, "{titles:?}");
    assert_eq!(git(world.root(), &["show", "HEAD:p/calculator.py"]), mended());
    assert!(!world.root().join("p/.trellis/repair/uncommitted.json").exists());
    // Committed by a person, or undone and applied again: neither is committed a second time.
    for (command, commits) in [
        (&["commit", "--quiet", "-am", "mine"][..], 3),
        (&["checkout", "--quiet", "p/calculator.py"], 2),
    ] {
        let world = commits_until(point);
        git(world.root(), command);
        let ran = repair(&world, &["--commit"]).exits(0);
        assert!(!ran.stderr.contains("earlier repair"), "{}", ran.stderr);
        assert_eq!(log(&world).lines().count(), commits, "{command:?}");
        assert_eq!(git(world.root(), &["show", "HEAD:p/calculator.py"]), mended());
    }
}
