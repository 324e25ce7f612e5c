//! State of earlier versions: read, continued and decided by this one; state of newer ones refused.

mod newer;
mod recorded;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use self::recorded::{record, restored, versions};
use crate::affected::{FREE, Project, SHIPPING};
use crate::edits::{CART, cart};
use crate::fixes::proposed;
use crate::models::{Service, generate, grows, plant};
use crate::plan_draft::paid::{answered, run};
use crate::plan_draft::{replies, world as drafted};
use crate::reviews::{decide, listed, waiting};
use crate::runs::{call, editor};
use crate::shown::said;
use crate::tasks::list;
use crate::tasks_paid;
use crate::world::{Ran, World};
use crate::write_tests::{ARGUMENTS, added_to, registered};

/// If set, what is missing of this version's state is recorded.
const RECORD: &str = "TRELLIS_RECORD_STATE";

/// The projects of a recording.
const PROJECTS: [&str; 9] =
    ["draft", "edit", "finished", "fix", "ran", "review", "stopped", "tasks", "tests"];

/// Makes the state that is recorded, with real runs.
fn record_all() {
    let service = Service::start(Box::new(grows));
    let finished = World::new();
    plant(&finished, 1);
    let _ = generate(&finished, &service, &[]).exits(0);
    record("finished", &finished);
    let stopped = World::new();
    plant(&stopped, 2);
    // Each request has 1,000 tokens: one node passes, and the other has its tests.
    let _ = generate(&stopped, &service, &["--budget-tokens", "11000", "--jobs", "1"]).exits(69);
    record("stopped", &stopped);
    record("fix", &proposed());
    let (draft, service) = (drafted(&replies()), Service::start(Box::new(answered)));
    let _ = run(&draft, &service, &["--stepwise"]).exits(2);
    let _ = run(&draft, &service, &["--stepwise", "--accept"]).exits(2);
    record("draft", &draft);
    let tests = added_to();
    let _ = tests.trellis(&ARGUMENTS).exits(0);
    record("tests", &tests);
    let edit = cart();
    let _ = edit.trellis(&REPLACED).exits(0);
    record("edit", &edit);
    record("review", &waiting());
    let tasks = list(&[tasks_paid::BASE], (Vec::new(), Vec::new()));
    let service = Service::start(Box::new(tasks_paid::answered));
    let mut command = tasks_paid::command(&tasks, &service, "reply");
    command.args(["--budget-tokens", "10500", "--jobs", "1"]);
    let _ = Ran::of(command.output().expect("trellis starts")).exits(69);
    record("tasks", &tasks);
    let mut ran = Project::shop();
    ran.run(&[]);
    record("ran", &ran.world);
}

/// The edit of the recording.
const REPLACED: [&str; 5] =
    ["symbols", "replace-body", "Cart/total", "--in=lib", "--text=return sum(self.items)"];

/// A new version needs a recording: `TRELLIS_RECORD_STATE=1`, and the test again.
#[test]
fn the_state_of_this_version_is_recorded() {
    if std::env::var_os(RECORD).is_some() {
        record_all();
    }
    let version = env!("CARGO_PKG_VERSION");
    let there = |it: &&str| recorded::folder().join(version).join(it).is_dir();
    let missing: Vec<&str> = PROJECTS.into_iter().filter(|it| !there(it)).collect();
    assert!(missing.is_empty(), "fixtures/state/{version}: {missing:?}; run this with {RECORD}=1");
}

/// Calls `check` with a copy of a project in each version.
fn each(project: &str, check: impl Fn(&World)) {
    let versions = versions();
    assert!(!versions.is_empty());
    for version in versions {
        eprintln!("version {version}");
        check(&restored(&version, project));
    }
}

/// Returns the requests in a journal, as the next run looks for their replies.
fn asked(world: &World, journal: &str) -> Vec<Value> {
    let text = world.read(journal);
    let lines = text.lines().map(|it| serde_json::from_str::<Value>(it).expect("a line"));
    let calls = lines.map(|it| it["event"].clone()).filter(|it| it["kind"] == "model_call");
    let key = |it: Value| json!([it["node"], it["stage"], it["attempt"], it["prompt"]]);
    calls.map(key).collect()
}

#[test]
fn a_finished_run_is_read_and_nothing_is_generated_again() {
    each("finished", |world| {
        let status = world.trellis(&["status", "out", "--json"]).exits(0).json();
        assert_eq!((&status["counts"]["passed"], &status["total"]), (&json!(1), &json!(1)));
        let log = world.trellis(&["log", "out"]).exits(0);
        let journal = world.read("out/.trellis/journal.jsonl");
        assert_eq!(
            (log.stdout.lines().count(), log.stderr.as_str()),
            (journal.lines().count(), "")
        );
        let _ = world.trellis(&["log", "out", "--verify"]).exits(0);
        let service = Service::start(Box::new(grows));
        let ran = generate(world, &service, &[]).exits(0).json();
        assert_eq!((&ran["passed"], service.asked().len()), (&json!(1), 0));
        assert!(world.read("out/.trellis/journal.jsonl").starts_with(&journal));
        let _ = world.trellis(&["log", "out", "--verify"]).exits(0);
    });
}

#[test]
fn a_stopped_run_is_continued_without_a_request_that_was_answered() {
    each("stopped", |world| {
        let journal = "out/.trellis/journal.jsonl";
        let (before, lines) = (asked(world, journal), world.read(journal).lines().count());
        let accepted: Vec<Value> = world.journal("accepted");
        let accepted: BTreeSet<&str> =
            accepted.iter().filter_map(|it| it["node"].as_str()).collect();
        assert!(!accepted.is_empty() && before.len() > 2 * accepted.len(), "{before:?}");
        let service = Service::start(Box::new(grows));
        let ran = generate(world, &service, &[]).exits(0).json();
        assert_eq!(ran["passed"], 2);
        let new = asked(world, journal).split_off(before.len());
        assert!(!new.is_empty() && new.len() == service.asked().len(), "{new:?}");
        for request in new {
            assert!(!before.contains(&request), "{request} was answered");
            assert!(!accepted.contains(request[0].as_str().expect("a node")), "{request}");
        }
        assert!(world.read(journal).lines().count() > lines);
        let _ = world.trellis(&["log", "out", "--verify"]).exits(0);
    });
}

#[test]
fn a_milestone_is_restored_from_the_history() {
    each("finished", |world| {
        let code = world.read("out/src/lib/f0.py");
        world.write("out/src/lib/f0.py", "mine = 1\n");
        let _ = world.trellis(&["rollback", "out", "--to", "f0"]).exits(65).says("f0.py");
        world.write("out/src/lib/f0.py", &code);
        let _ = world.trellis(&["rollback", "out", "--to", "f0"]).exits(0);
        assert_eq!(world.read("out/src/lib/f0.py"), code);
    });
}

#[test]
fn a_fix_that_waits_is_shown_and_accepted() {
    each("fix", |world| {
        let listed = world.trellis(&["fixes", "list"]).exits(0).stdout;
        assert!(listed.starts_with("fix-1    waiting"), "{listed}");
        let _ = world.trellis(&["fixes", "accept", "fix-1", "--sandbox", "local"]).exits(0);
        assert!(world.read("rooms/bookings.py").contains("one.start < other.end"));
        let _ = world.trellis(&["fixes", "undo", "fix-1"]).exits(0);
        assert!(world.read("rooms/bookings.py").contains("one.start <= other.end"));
        let _ = world.trellis(&["log", "--verify"]).exits(0);
    });
}

#[test]
fn a_draft_continues_at_the_part_that_waits() {
    each("draft", |world| {
        let journal = ".trellis/journal.jsonl";
        let before = asked(world, journal);
        let service = Service::start(Box::new(answered));
        let next = run(world, &service, &["--stepwise", "--accept"]).exits(2).json();
        let part = next["part"].as_str().expect("a part");
        assert!(part.starts_with("interface of "), "{part}");
        let new = asked(world, journal).split_off(before.len());
        assert_eq!(new.len(), service.asked().len());
        assert!(new.iter().all(|it| !before.contains(it)), "{new:?} after {before:?}");
    });
}

#[test]
fn tests_of_a_function_stay_registered() {
    each("tests", |world| {
        let before = registered(world).expect("registered");
        let tests = world.read("app/trellis_tests/test_cart.py");
        let _ = world.trellis(&["log", "app"]).exits(0);
        let _ = world.trellis(&ARGUMENTS).exits(0);
        let after = registered(world).expect("registered");
        assert_eq!(after[0], before[0]);
        let names = |it: &Value| -> BTreeSet<String> {
            it[1].as_array().into_iter().flatten().map(Value::to_string).collect()
        };
        assert!(names(&before).is_subset(&names(&after)), "{before} became {after}");
        let now = world.read("app/trellis_tests/test_cart.py");
        assert!(tests.lines().all(|line| now.contains(line)), "{now}");
    });
}

#[test]
fn an_edit_is_undone() {
    each("edit", |world| {
        assert!(world.read("lib/cart.py").contains("return sum(self.items)"));
        let _ = world.trellis(&["symbols", "undo", "1", "--in=lib"]).exits(0);
        assert_eq!(world.read("lib/cart.py"), CART);
    });
}

#[test]
fn a_change_that_waits_is_listed_and_merged() {
    each("review", |world| {
        let mut client = editor(world, Value::Null);
        let all = listed(&mut client);
        assert_eq!(all.len(), 1, "{all:#?}");
        assert_eq!(all[0]["title"], "Issue 42: A discount");
        let decided = decide(&mut client, "approve", json!({}));
        assert_eq!(decided["outcome"], "merged", "{decided:#}");
        assert!(world.root().join("p/shop/discount.py").exists());
        assert_eq!(listed(&mut client), Vec::<Value>::new());
    });
}

#[test]
fn tasks_are_continued_without_a_request_that_was_answered() {
    each("tasks", |world| {
        let journal = "out/.trellis/journal.jsonl";
        let before = asked(world, journal);
        assert!(!before.is_empty());
        let service = Service::start(Box::new(tasks_paid::answered));
        let next = tasks_paid::command(world, &service, "reply").output();
        let result = Ran::of(next.expect("trellis starts")).exits(0).json();
        assert_eq!(result["progress"], 100, "{result:#}");
        let new = asked(world, journal).split_off(before.len());
        assert!(!new.is_empty() && new.len() == service.asked().len(), "{new:?}");
        assert!(new.iter().all(|it| !before.contains(it)), "{new:?} after {before:?}");
    });
}

#[test]
fn results_and_what_tests_executed_are_known() {
    for version in versions() {
        let mut project = Project::in_world(restored(&version, "ran"));
        let file = project.world.root().join("p/tests/test_cart.py");
        project.client.open(&file).expect("a file");
        while said(&mut project.client, &file).is_empty() {
            let _ = call(&mut project.client, "listTests", json!({}));
        }
        project.edit("shop/cart.py", "return 0 if", "return 0.0 if");
        assert_eq!(project.affected(&["shop/cart.py"]), [FREE, SHIPPING]);
    }
}
