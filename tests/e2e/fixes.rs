//! Proposed fixes, decided on the command line.

use std::fs;

use serde_json::Value;

use crate::crash::faults::{Fault, KILLS};
use crate::world::{World, repository};

/// Creates the example of a project to repair, with one fix that needs a review.
pub(crate) fn proposed() -> World {
    let world = World::new();
    let example = repository().join("fixtures/examples/repair");
    for path in [
        "pytest.ini",
        "rooms/__init__.py",
        "rooms/bookings.py",
        "rooms/room.py",
        "tests/test_room.py",
    ] {
        world.write(path, &fs::read_to_string(example.join(path)).expect("a file of the example"));
    }
    let model = format!("recorded:{}", example.join("replies.jsonl").display());
    let ran = world
        .trellis(&[
            "repair",
            "--trials=0",
            "--model",
            &model,
            "--approve",
            "supervised",
            "--sandbox",
            "local",
        ])
        .exits(2);
    assert!(ran.stderr.contains("trellis fixes list"), "{}", ran.stderr);
    world
}

#[test]
fn a_fix_is_listed_shown_accepted_and_undone() {
    let world = proposed();
    let before = world.read("rooms/bookings.py");
    let listed = world.trellis(&["fixes", "list"]).exits(0).stdout;
    assert!(listed.starts_with("fix-1    waiting  tests/test_room.py::"), "{listed}");
    let shown = world.trellis(&["fixes", "show", "fix-1"]).exits(0).stdout;
    for line in [
        "hunk 1: rooms/bookings.py",
        "-    return one.start <= other.end",
        "+    return one.start < other.end",
    ] {
        assert!(shown.contains(line), "{line} is missing in {shown}");
    }
    assert_eq!(world.read("rooms/bookings.py"), before, "nothing is written before");
    let accepted = world
        .trellis(&["fixes", "accept", "fix-1", "--sandbox", "local", "--json"])
        .exits(0)
        .json();
    assert_eq!(
        (&accepted["state"], &accepted["written"][0]),
        (&"accepted".into(), &"rooms/bookings.py".into())
    );
    assert!(world.read("rooms/bookings.py").contains("one.start < other.end"));
    let _ = world.trellis(&["test", "--sandbox", "local"]).exits(0);
    assert_eq!(world.trellis(&["fixes", "list"]).exits(0).stdout, "no fix needs your review\n");
    let _ = world.trellis(&["fixes", "undo", "fix-1"]).exits(0);
    assert_eq!(world.read("rooms/bookings.py"), before);
}

#[test]
fn a_fix_is_rejected_and_an_unknown_one_is_named() {
    let world = proposed();
    let before = world.read("rooms/bookings.py");
    let rejected = world.trellis(&["fixes", "reject", "fix-1", "--note", "not like this"]).exits(0);
    assert_eq!(rejected.stdout, "fix-1 is rejected\n");
    assert_eq!(world.read("rooms/bookings.py"), before, "rejecting changes no file");
    let listed = world.trellis(&["fixes", "list", "--all", "--json"]).exits(0).json();
    assert_eq!(listed["fixes"][0]["state"], "rejected");
    let _ = world.trellis(&["fixes", "show", "fix-9"]).exits(65).says("trellis fixes list");
}

/// Asserts of each step at which an undo can be killed that the same command then undoes the last
/// acceptance, and no other one.
fn is_undone_once(world: impl Fn() -> World, is_right: impl Fn(&str) -> bool) {
    let undo = ["fixes", "undo", "fix-1"];
    for point in 1.. {
        let world = world();
        let mut killed = world.command(&undo);
        Fault { point, name: KILLS[0] }.happens_in(&mut killed);
        if killed.output().expect("trellis starts").status.success() {
            assert!(point > 5, "an undo has more steps");
            break;
        }
        let _ = world.trellis(&undo).exits(0);
        let text = world.read("rooms/bookings.py");
        assert!(is_right(&text), "killed at point {point}: {text}");
    }
}

#[test]
fn a_killed_undo_of_hunks_undoes_no_others() {
    let accepted_one_by_one = || {
        let world = proposed();
        let path = ".trellis/proposals/fix-1.json";
        let mut fix: Value = serde_json::from_str(&world.read(path)).expect("JSON");
        let text = &mut fix["files"][0]["proposed"];
        *text = format!("# top\n{}", text.as_str().expect("a text")).into();
        world.write(path, &fix.to_string());
        for hunk in ["2", "1"] {
            let _ = world
                .trellis(&["fixes", "accept", "fix-1", "--hunks", hunk, "--sandbox", "local"])
                .exits(0);
        }
        world
    };
    is_undone_once(accepted_one_by_one, |it| {
        !it.contains("# top") && it.contains("one.start < other.end")
    });
}

#[test]
fn a_killed_undo_is_not_taken_for_one_of_an_edit() {
    let undone_and_redone = || {
        let world = proposed();
        let _ = world.trellis(&["fixes", "accept", "fix-1", "--sandbox", "local"]).exits(0);
        for edit in ["1", "2"] {
            let _ = world.trellis(&["symbols", "undo", edit, "--in", "rooms/bookings.py"]).exits(0);
        }
        world
    };
    is_undone_once(undone_and_redone, |it| it.contains("one.start <= other.end"));
}
