//! Small edits that pass all tests and take something from the program.

use serde_json::json;

use crate::world::World;

const WORKER: &str = "\
class Worker:
    def __init__(self, name, last_active):
        self.name = name
        self.last_active = last_active
        self.started = 7

    def is_idle(self, now):
        return now - self.last_active > 10
";

const TESTS: &str = "\
from worker import Worker


def test_new():
    assert not Worker('a', None).is_idle(8)


def test_idle():
    assert Worker('b', 1).is_idle(20)


def test_active():
    worker = Worker('c', 1)
    worker.last_active = 30
    assert not worker.is_idle(35)
";

const NEW: &str = "test_worker.py::test_new";

/// Creates a project with a bug below `p`, and a model's reply about it. The only small edit that
/// passes sets `last_active` in place of `started`.
fn project() -> World {
    let world = World::new();
    world.write("p/worker.py", WORKER);
    world.write("p/test_worker.py", TESTS);
    let reply = format!(
        "worker.py\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n",
        old = "        return now - self.last_active > 10",
        new = "        return self.last_active is not None and now - self.last_active > 10",
    );
    let line = json!({ "node": NEW, "stage": "repair", "attempt": 0, "reply": reply });
    world.write("replies.jsonl", &format!("{line}\n"));
    world
}

#[test]
fn an_edit_by_which_an_attribute_is_lost_is_no_proof() {
    let world = project();
    let arguments = ["localize", "p", "--json", "--sandbox=local", "--trials=60"];
    let found = world.trellis(&arguments).exits(0).json();
    let suspects = found["suspects"].as_array().expect("a list");
    let repaired: Vec<_> = suspects.iter().filter(|it| !it["repair"].is_null()).collect();
    assert!(!repaired.is_empty(), "{found:#}");
    assert!(repaired.iter().all(|it| it["isProven"] == false), "{found:#}");
    let said = "breaks none (but `started` is then bound nowhere)";
    assert!(repaired[0].to_string().contains(said), "{found:#}");
}

#[test]
fn a_repair_by_which_an_attribute_is_lost_is_not_kept_without_a_model() {
    let world = project();
    let arguments = ["repair", "p", "--json", "--sandbox=local", "--trials=60"];
    let model = ["--model=recorded:replies.jsonl", "--approve=autonomous"];
    let result = world.trellis(&[&arguments[..], &model].concat()).exits(0).json();
    let attempts = result["groups"][0]["attempts"].as_array().expect("attempts");
    assert!(attempts.iter().all(|it| it["foundBy"].is_null()), "{result:#}");
    let code = world.read("p/worker.py");
    assert!(code.contains("self.started = 7") && code.contains("is not None and"), "{code}");
}

#[test]
fn an_undefined_name_is_replaced_by_one_in_scope() {
    let world = World::new();
    let code = "\
def writer(output):
    if output is None:
        return print
    def write(text):
        with open(output_path, 'a') as file:
            file.write(text)
        return len(text)
    return write
";
    let tests = "\
from worker import writer


def test_print():
    assert writer(None) is print


def test_file(tmp_path):
    writer(tmp_path / 'it')('text')
    assert (tmp_path / 'it').read_text() == 'text'
";
    world.write("p/worker.py", code);
    world.write("p/test_worker.py", tests);
    let arguments = ["localize", "p", "--json", "--sandbox=local", "--trials=60"];
    let found = world.trellis(&arguments).exits(0).json();
    let first = &found["suspects"][0];
    assert_eq!(first["symbol"], "writer.write", "{found:#}");
    assert!(first.to_string().contains("changing `output_path` to `output`"), "{found:#}");
    assert!(first.to_string().contains("+        with open(output, 'a') as file:"), "{found:#}");
}
