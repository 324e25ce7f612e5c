//! Faults at the steps of each workflow that change the disk: kills, a full disk, an error of the
//! disk, and a step that is not permitted.

use std::num::NonZero;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::{self, available_parallelism};

use super::Workflow;
use super::faults::{ERRORS, Fault, KILLS, is_ended_by, steps};
use super::issues::{
    Implement, ImplementAgain, ImplementEdited, ImplementEditedMeanwhile, ImplementHalfWritten,
};
use super::workflows::{Decision, Generate, Repair, Rollback, Tasks, WriteTests};
use crate::implement::records;
use crate::repair::{CALCULATOR, below, git, mended, repair};
use crate::world::{Plot, World};

/// Returns the faults of one point: all for the soak, else a kill at every second point and the
/// others by turns between them.
fn faults_of(place: usize, every: bool) -> Vec<&'static str> {
    let others = [ERRORS[0], KILLS[1], ERRORS[1], ERRORS[2]];
    match (every, place % 2) {
        (true, _) => [&KILLS[..], &ERRORS].concat(),
        (false, 0) => vec![KILLS[0]],
        (false, _) => vec![others[place / 2 % others.len()]],
    }
}

/// Has the work of one round meet a fault at its first step, at every `apart`-th later one, and at
/// the last, and resumes it each time, in separate folders. `cargo xtask soak points` takes every
/// step with every fault, several at a time.
fn at_points(workflow: &(impl Workflow + Sync), round: u64, apart: usize) {
    let said = std::env::var("TRELLIS_POINTS_APART").ok();
    let said: Option<usize> = said.and_then(|it| it.parse().ok());
    let steps = steps(workflow, round);
    let last = steps.len() as u64;
    let points = (1..last).step_by(said.unwrap_or(apart)).chain([last]).enumerate();
    let faults = points.flat_map(|(place, point)| {
        faults_of(place, said.is_some()).into_iter().map(move |name| Fault { point, name })
    });
    let (faults, ended) = (Mutex::new(faults), AtomicUsize::new(0));
    let each = || {
        while let Some(fault) = { faults.lock().expect("no panic").next() } {
            eprintln!("{fault:?} of {last}, {}", steps[fault.point as usize - 1]);
            ended.fetch_add(goes_on_from(workflow, round, fault).into(), Relaxed);
        }
    };
    let workers = said.and(available_parallelism().ok()).map_or(1, NonZero::get);
    thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(each))));
    let ended = ended.into_inner();
    assert!(ended > 2, "this work was ended {ended} times");
}

/// Resumes the work of one round after a fault. Returns whether the fault ended it.
fn goes_on_from(workflow: &impl Workflow, round: u64, fault: Fault) -> bool {
    let world = workflow.world(round);
    // Parallel work may end with one step less.
    let ended = is_ended_by(workflow, &world, fault, round);
    workflow.assert_whole(&world, round);
    if !workflow.is_over(&world) {
        workflow.end(&world, round);
    }
    ended
}

#[test]
fn a_generation_goes_on_from_any_point() {
    at_points(&Generate::new(Plot::three()), 0, 11);
}

#[test]
fn a_rollback_goes_on_from_any_point() {
    at_points(&Rollback::new(), 0, 2);
}

#[test]
fn a_generation_goes_on_from_any_point_of_a_rollback() {
    at_points(&Rollback::new(), 1, 4);
}

#[test]
fn a_repair_goes_on_from_any_point() {
    at_points(&Repair, 0, 27);
}

#[test]
fn a_repair_that_commits_goes_on_from_any_point() {
    at_points(&Repair, 1, 27);
}

#[test]
fn a_repair_in_a_worktree_goes_on_from_any_point() {
    at_points(&Repair, 2, 11);
}

#[test]
fn an_issue_goes_on_from_any_point() {
    at_points(&Implement, 0, 3);
}

#[test]
fn an_issue_with_edits_of_a_person_goes_on_from_any_point() {
    at_points(&ImplementEdited, 0, 4);
}

#[test]
fn an_issue_edited_meanwhile_goes_on_from_any_point() {
    at_points(&ImplementEditedMeanwhile::default(), 0, 4);
}

#[test]
fn an_issue_half_written_and_edited_goes_on_from_any_point() {
    at_points(&ImplementHalfWritten, 0, 4);
}

#[test]
fn an_issue_that_is_begun_again_goes_on_from_any_point() {
    at_points(&ImplementAgain, 0, 5);
}

#[test]
fn tasks_go_on_from_any_point() {
    let tasks = [("base", &[][..], 0), ("left", &["base"][..], 1), ("alone", &[][..], 0)];
    at_points(&Tasks::new(&tasks), 0, 29);
}

#[test]
fn a_decision_on_a_fix_can_be_taken_again_from_any_point() {
    (0..2).for_each(|round| at_points(&Decision, round, 1));
}

#[test]
fn tests_for_a_function_go_on_from_any_point() {
    at_points(&WriteTests::new(), 0, 1);
}

/// A fix is stored before its files are written, and its state is stored after that.
#[test]
fn a_repair_killed_while_it_writes_a_fix_leaves_none_that_waits() {
    let steps = steps(&Repair, 0);
    let is_of_a_fix =
        |it: &(u64, &String)| ["/proposals/", "/edits/"].iter().any(|part| it.1.contains(part));
    let points: Vec<u64> = (1..).zip(&steps).filter(is_of_a_fix).map(|it| it.0).collect();
    // Those of the first of two fixes.
    for point in &points[..points.len() / 2] {
        eprintln!("killed at point {point}, {}", steps[*point as usize - 1]);
        let world = Repair.world(0);
        let fault = Fault { point: *point, name: KILLS[0] };
        assert!(is_ended_by(&Repair, &world, fault, 0));
        Repair.end(&world, 0);
    }
}

/// A git that cannot start says nothing about the person's files: the work ends as with each other
/// error of the machine, and a later start goes on.
fn without_git(workflow: &impl Workflow, round: u64) {
    let steps = steps(workflow, round);
    let starts_git = |it: &(u64, &String)| it.1.contains("trellis_git/src/git.rs");
    let mut ended = 0;
    for (point, _) in (1..).zip(&steps).filter(starts_git) {
        eprintln!("no git at point {point}");
        let fault = Fault { point, name: ERRORS[1] };
        ended += usize::from(goes_on_from(workflow, round, fault));
    }
    assert!(ended > 1, "this work was ended {ended} times");
}

#[test]
fn an_issue_goes_on_from_any_git_that_cannot_start() {
    without_git(&Implement, 0);
}

#[test]
fn a_repair_that_commits_goes_on_from_any_git_that_cannot_start() {
    without_git(&Repair, 1);
}

/// git writes the files of a merge, then the index, and moves the branch last.
#[test]
fn an_issue_goes_on_from_a_git_that_was_killed_before_it_moved_the_branch() {
    let (_, world) = killed_before_the_branch_moved(steps(&Implement, 0).len() as u64);
    Implement.end(&world, 0);
}

/// A person may commit what such a git left in the index.
#[test]
fn what_a_person_commits_after_a_killed_merge_stays() {
    let (point, world) = killed_before_the_branch_moved(steps(&Implement, 0).len() as u64);
    let p = world.root().join("p");
    git(&p, &["commit", "--quiet", "-m", "mine"]);
    let mine = git(&p, &["rev-parse", "main"]);
    let status = git(&p, &["status", "--short"]);
    let ended = Implement.command(&world, 0).stderr(Stdio::null()).status();
    assert!(ended.is_ok(), "after a kill at {point}");
    assert_eq!(git(&p, &["status", "--short"]), status);
    assert_eq!(git(&p, &["diff", "--stat", mine.trim(), "main"]), "");
}

/// Another commit of a person takes nothing of the merge, which is rolled back below it.
#[test]
fn a_killed_merge_is_rolled_back_below_what_a_person_commits() {
    let (_, world) = killed_before_the_branch_moved(steps(&Implement, 0).len() as u64);
    let p = world.root().join("p");
    world.write("p/notes.txt", "mine\n");
    git(&p, &["add", "notes.txt"]);
    git(&p, &["commit", "--quiet", "-m", "mine", "--only", "notes.txt"]);
    let ended = Implement.command(&world, 0).stderr(Stdio::null()).status();
    assert!(ended.is_ok_and(|it| it.success()));
    assert_eq!(git(&p, &["show", "main:shop/discount.py"]), world.read("p/shop/discount.py"));
    assert_eq!(git(&p, &["status", "--short"]).trim(), "M shop/cart.py");
}

/// Kills a merge after git wrote the index, and returns the last point at which that is possible.
fn killed_before_the_branch_moved(last: u64) -> (u64, World) {
    let begun = (1..=last).rev().find_map(|point| {
        let world = Implement.world(0);
        let _ = is_ended_by(&Implement, &world, Fault { point, name: KILLS[0] }, 0);
        Some((point, started_merge(&world)?, world))
    });
    let (point, commit, world) = begun.expect("a merge that was begun");
    git(&world.root().join("p"), &["read-tree", "-m", "-u", "main", &commit]);
    (point, world)
}

/// Returns the commit that the branch should move to, if it has not moved.
fn started_merge(world: &World) -> Option<String> {
    let record = records(world).into_iter().find(|it| it.ends_with(".json"))?;
    let record: serde_json::Value =
        serde_json::from_str(&world.read(&format!("p/.trellis/worktrees/{record}"))).expect("JSON");
    let merging = &record["merging"];
    let is_old = || git(&world.root().join("p"), &["rev-parse", "main"]).trim() == merging["old"];
    merging["last"].as_str().filter(|_| is_old()).map(str::to_owned)
}

/// Commits two fixes in a project below the top of its repository; killed at a point.
fn commits_until(point: u64) -> World {
    let world = below();
    let _ = is_ended_by(&Repair, &world, Fault { point, name: KILLS[0] }, 1);
    world
}

/// Returns the last point before the second fix is in the tree: the second replacement of a file
/// of the project.
fn point_between_fixes() -> u64 {
    let steps = steps(&Repair, 1);
    let replaces = |it: &str| it.contains("trellis_project/src/edits/files.rs");
    let mut replaced = (1..).zip(&steps).filter(|(_, place)| replaces(place));
    replaced.nth(1).expect("two fixes").0
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
