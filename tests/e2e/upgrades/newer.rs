//! State of newer versions: refused with one line, and left as it is.

use std::fs;

use super::recorded::{files, restored};
use super::*;
use crate::implement::implement;
use crate::world::{Ran, repository};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns a recorded project of this version.
fn current(project: &str) -> World {
    restored(VERSION, project)
}

/// Appends a line to a journal.
fn append(world: &World, journal: &str, line: &str) {
    world.write(journal, &(world.read(journal) + line + "\n"));
}

/// A line of a format that this version does not know.
const NEWER: &str = r#"{"v":2,"at":"2030-01-01T00:00:00Z","event":{"kind":"accepted"}}"#;

/// Asserts that a command is refused with one line and a hint, and that no file changed.
fn is_refused(world: &World, what: &str, command: impl FnOnce() -> Ran) {
    let before = files(world.root());
    let ran = command().exits(65);
    let errors: Vec<&str> = ran.stderr.lines().filter(|it| it.starts_with("error: ")).collect();
    assert!(
        matches!(errors.as_slice(), [one] if one.contains("a newer Trellis wrote")),
        "{errors:?}"
    );
    let _ = ran.says("use that version of Trellis here");
    let after = files(world.root());
    let changed: Vec<&String> =
        after.keys().filter(|it| before.get(*it) != after.get(*it)).collect();
    assert!(before.len() == after.len() && changed.is_empty(), "{what} changed {changed:?}");
}

#[test]
fn no_command_works_on_a_journal_of_a_newer_version() {
    let service = Service::start(Box::new(grows));
    let stopped = current("stopped");
    append(&stopped, "out/.trellis/journal.jsonl", NEWER);
    is_refused(&stopped, "generate", || generate(&stopped, &service, &[]));
    is_refused(&stopped, "rollback", || stopped.trellis(&["rollback", "out", "--to", "f0"]));
    let _ = stopped.trellis(&["status", "out"]).exits(0);
    let _ = stopped.trellis(&["log", "out"]).exits(0).says("its format is 2, and not 1");
    let draft = current("draft");
    append(&draft, ".trellis/journal.jsonl", NEWER);
    is_refused(&draft, "plan draft", || run(&draft, &service, &["--stepwise", "--accept"]));
    let fix = current("fix");
    append(&fix, ".trellis/journal.jsonl", NEWER);
    for decision in ["accept", "reject"] {
        is_refused(&fix, decision, || fix.trellis(&["fixes", decision, "fix-1"]));
    }
    let model = repository().join("fixtures/examples/repair/replies.jsonl");
    let model = format!("--model=recorded:{}", model.display());
    is_refused(&fix, "repair", || fix.trellis(&["repair", &model, "--sandbox=local"]));
    let tests = current("tests");
    append(&tests, "app/.trellis/journal.jsonl", NEWER);
    is_refused(&tests, "write-tests", || tests.trellis(&ARGUMENTS));
    let tasks = current("tasks");
    append(&tasks, "out/.trellis/journal.jsonl", NEWER);
    let again = || tasks_paid::command(&tasks, &service, "reply").output().expect("trellis starts");
    is_refused(&tasks, "tasks", || Ran::of(again()));
    let review = current("review");
    append(&review, "p/.trellis/journal.jsonl", NEWER);
    is_refused(&review, "implement", || implement(&review, &[]));
    assert_eq!(service.asked().len(), 0);
}

#[test]
fn no_edit_of_a_newer_version_is_undone() {
    for folder in ["1", "1.pending"] {
        let world = World::new();
        world.write("pyproject.toml", "");
        world.write("a.py", "new\n");
        world.write(".trellis/.gitignore", "*\n");
        let record = json!({ "version": 3, "id": 1, "what": "test", "undoes": null, "files": [] });
        world.write(&format!(".trellis/edits/{folder}/edit.json"), &record.to_string());
        is_refused(&world, folder, || world.trellis(&["symbols", "undo", "--in=a.py"]));
    }
}

/// Replaces the number of a file's format.
fn raise(world: &World, path: &str) {
    let mut document: Value = serde_json::from_str(&world.read(path)).expect("JSON");
    assert_eq!(document["version"], 1, "{path}");
    document["version"] = json!(2);
    world.write(path, &document.to_string());
}

#[test]
fn no_command_decides_on_what_a_newer_version_stored() {
    let fix = current("fix");
    raise(&fix, ".trellis/proposals/fix-1.json");
    for decision in ["accept", "reject"] {
        is_refused(&fix, decision, || fix.trellis(&["fixes", decision, "fix-1"]));
    }
    let listed = fix.trellis(&["fixes", "list", "--json"]).exits(0).stdout;
    assert!(listed.contains("a newer Trellis wrote"), "{listed}");
    let (draft, service) = (current("draft"), Service::start(Box::new(answered)));
    raise(&draft, ".trellis/drafts/plan.json");
    is_refused(&draft, "plan draft", || run(&draft, &service, &["--stepwise", "--accept"]));
    assert_eq!(service.asked().len(), 0);
}

#[test]
fn fields_and_events_that_this_version_does_not_know_are_kept() {
    let stopped = current("stopped");
    let journal = "out/.trellis/journal.jsonl";
    let new = r#"{"v":1,"at":"2030-01-01T00:00:00Z","event":{"kind":"weighed","grams":3}}"#;
    append(&stopped, journal, new);
    let known = r#"{"v":1,"at":"2030-01-01T00:00:00Z","place":"x","event":{"kind":"note","node":"f0","what":"w","text":"t","size":3}}"#;
    append(&stopped, journal, known);
    let service = Service::start(Box::new(grows));
    let ran = generate(&stopped, &service, &[]).exits(0).says("cannot be read");
    assert_eq!(ran.json()["passed"], 2);
    let text = stopped.read(journal);
    assert!(text.contains(new) && text.contains(known), "{text}");
    let log = stopped.trellis(&["log", "out"]).exits(0).says("it is not an event of this version");
    assert!(log.stdout.contains("w: t"), "{}", log.stdout);

    let (fix, path) = (current("fix"), ".trellis/proposals/fix-1.json");
    add_field(&fix, path);
    let _ = fix.trellis(&["fixes", "reject", "fix-1"]).exits(0);
    assert!(has_field(&fix, path) && fix.read(path).contains("rejected"));
    let (draft, path) = (current("draft"), ".trellis/drafts/plan.json");
    add_field(&draft, path);
    let service = Service::start(Box::new(answered));
    let _ = run(&draft, &service, &["--stepwise", "--accept"]).exits(2);
    assert!(has_field(&draft, path), "{}", draft.read(path));
}

fn add_field(world: &World, path: &str) {
    let mut document: Value = serde_json::from_str(&world.read(path)).expect("JSON");
    document["weight"] = json!({ "grams": 3 });
    world.write(path, &document.to_string());
}

fn has_field(world: &World, path: &str) -> bool {
    let document: Value = serde_json::from_str(&world.read(path)).expect("JSON");
    document["weight"] == json!({ "grams": 3 })
}

/// The first drafts had no number of their format.
#[test]
fn a_draft_without_the_number_of_its_format_is_read() {
    let (draft, path) = (current("draft"), ".trellis/drafts/plan.json");
    let mut document: Value = serde_json::from_str(&draft.read(path)).expect("JSON");
    document.as_object_mut().expect("an object").remove("version");
    fs::write(draft.root().join(path), document.to_string()).expect("written");
    let service = Service::start(Box::new(answered));
    let next = run(&draft, &service, &["--stepwise", "--accept"]).exits(2).json();
    assert!(next["part"].as_str().is_some_and(|it| it.starts_with("interface of ")), "{next}");
    let written: Value = serde_json::from_str(&draft.read(path)).expect("JSON");
    assert_eq!(written["version"], 1);
}
