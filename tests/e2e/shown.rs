//! Test results in an editor: the last ones from any source, independent of the project's settings.

use std::path::Path;

use ::lsp::{Client, Encoding, patience, uri_of};
use serde_json::{Value, json};

use crate::runs::{call, editor};
use crate::world::{Plot, World};

const DISCOUNT: &str =
    "def discounted(price, percent):\n    return price * (100 + percent) / 100\n";

/// Creates a project whose settings name only `tests`, with a bug that only a generated test
/// reveals.
fn project() -> World {
    let world = World::new();
    world.write("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n");
    world.write("ledger/__init__.py", "");
    world.write("ledger/discount.py", DISCOUNT);
    world.write("tests/__init__.py", "");
    world.write(
        "tests/test_none.py",
        "from ledger.discount import discounted\n\n\ndef test_none():\n    assert discounted(9, 0) == 9\n",
    );
    world.write("trellis_tests/__init__.py", "");
    world.write("trellis_tests/test_discount.py", GENERATED);
    let entry = json!({
        "testFile": "trellis_tests/test_discount.py", "testNames": ["test_half", "test_tenth"],
        "generatedAt": "2026-01-01T00:00:00Z",
    });
    let registry = json!({ "version": 1, "mappings": { "ledger/discount.py::discounted": entry } });
    world.write(".trellis/registry.json", &registry.to_string());
    world
}

const GENERATED: &str = "\
from ledger.discount import discounted


def test_half():
    assert discounted(100, 50) == 50


def test_tenth():
    assert discounted(100, 10) == 90
";

const HALF: &str = "trellis_tests/test_discount.py::test_half";

fn run(client: &mut Client, paths: &[&str]) -> Value {
    call(client, "runTests", json!({ "paths": paths, "sandbox": "local" }))
}

/// Returns tests as `id outcome`.
fn outcomes(result: &Value) -> Vec<String> {
    let word = |it: &Value| it.as_str().expect("a word").to_owned();
    let tests = result["tests"].as_array().expect("tests").iter();
    let mut all: Vec<String> =
        tests.map(|it| format!("{} {}", word(&it["id"]), word(&it["outcome"]))).collect();
    all.sort();
    all
}

pub(crate) fn lenses(client: &mut Client, file: &Path) -> Vec<Value> {
    let document = json!({ "textDocument": { "uri": uri_of(file) } });
    let all = client.request("textDocument/codeLens", document, patience()).expect("lenses");
    all.as_array().expect("lenses").clone()
}

/// Returns the titles of a file's lenses about tests.
pub(crate) fn said(client: &mut Client, file: &Path) -> Vec<String> {
    let all = lenses(client, file);
    let titles = all.iter().map(|it| it["command"]["title"].as_str().expect("a title").to_owned());
    titles.filter(|it| it.starts_with(['\u{2713}', '\u{2717}'])).collect()
}

/// Records the one reply that fixes the bug.
fn reply(world: &World, test: &str) -> String {
    let fix = "ledger/discount.py\n<<<<<<< SEARCH\n    return price * (100 + percent) / 100\n=======\n    return price * (100 - percent) / 100\n>>>>>>> REPLACE\n";
    let line = json!({ "node": test, "stage": "repair", "attempt": 0, "reply": fix });
    let file = world.write("replies.jsonl", &format!("{line}\n"));
    format!("recorded:{}", file.display())
}

#[test]
fn all_tests_are_those_that_are_known_whatever_testpaths_say() {
    let world = project();
    world.write("extra/test_more.py", "def test_more():\n    assert 1 == 2\n");
    let file = world.root().join("ledger/discount.py");
    let mut client = editor(&world, Value::Null);
    client.open(&file).expect("a file");
    let all = run(&mut client, &[]);
    let mut wanted = vec![
        "tests/test_none.py::test_none passed",
        "trellis_tests/test_discount.py::test_half failed",
        "trellis_tests/test_discount.py::test_tenth failed",
    ];
    assert_eq!(outcomes(&all), wanted);
    assert_eq!(said(&mut client, &file), ["\u{2717} 2 of 2 failed"]);
    // A test that ran once by its name is known.
    let _ = run(&mut client, &["extra/test_more.py::test_more"]);
    wanted.insert(0, "extra/test_more.py::test_more failed");
    assert_eq!(outcomes(&run(&mut client, &[])), wanted);
    // The command line finds generated tests as well.
    let ran = world.trellis(&["test", ".", "--sandbox=local", "--json"]).exits(1);
    assert_eq!(outcomes(&ran.json()), wanted[1..]);
    // The same for tests that an option deselects.
    world.write("pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-k none\"\n");
    let left = run(&mut client, &[]);
    assert_eq!(outcomes(&left), ["tests/test_none.py::test_none passed"]);
    assert_eq!(
        said(&mut client, &file),
        ["\u{2717} 2 of 2 failed"],
        "what was not run is as it was"
    );
    assert!(client.shutdown().expect("an end").success());
}

#[test]
fn a_failing_test_that_the_settings_leave_out_is_mended_and_so_is_all_that_the_fix_mends() {
    for settings in ["testpaths = [\"tests\"]", "addopts = \"-k none\""] {
        let world = project();
        world.write("pyproject.toml", &format!("[tool.pytest.ini_options]\n{settings}\n"));
        world.write(
            "tests/test_more.py",
            "from ledger.discount import discounted\n\n\ndef test_none_more():\n    assert discounted(10, 20) == 8\n",
        );
        // Known only from a run of the person's.
        world.write(
            "extra/test_extra.py",
            "from ledger.discount import discounted\n\n\ndef test_extra():\n    assert discounted(10, 20) == 8\n",
        );
        let model = reply(&world, HALF);
        let file = world.root().join("ledger/discount.py");
        let mut client = editor(&world, Value::Null);
        client.open(&file).expect("a file");
        let _ = run(&mut client, &["extra/test_extra.py::test_extra"]);
        let params = json!({ "test": HALF, "model": model, "sandbox": "local", "trials": 0 });
        let fix = call(&mut client, "proposeFix", params);
        assert_eq!(fix["test"]["id"], HALF, "{settings}");
        assert!(said(&mut client, &file)[0].starts_with('\u{2717}'), "the run for it is a run");
        let params = json!({ "fix": fix["fix"], "decision": "accept", "sandbox": "local" });
        let decided = call(&mut client, "decideFix", params);
        assert_eq!(decided["state"], "accepted", "{settings}: {decided:#}");
        let mended = decided["mended"].as_array().expect("tests");
        for known in ["tests/test_more.py::test_none_more", "extra/test_extra.py::test_extra"] {
            assert!(mended.contains(&known.into()), "{settings}: {decided:#}");
        }
        assert_eq!(run(&mut client, &[HALF, "tests"])["outcome"], "passed", "{settings}");
        assert!(client.shutdown().expect("an end").success());
    }
}

#[test]
fn after_a_fix_every_test_that_it_mends_is_shown_as_passed() {
    let world = project();
    let model = reply(&world, HALF);
    let file = world.root().join("ledger/discount.py");
    let mut client = editor(&world, Value::Null);
    client.open(&file).expect("a file");
    let _ = run(&mut client, &[]);
    assert_eq!(said(&mut client, &file), ["\u{2717} 2 of 2 failed"]);
    let params = json!({ "test": HALF, "model": model, "sandbox": "local", "trials": 0 });
    let fix = call(&mut client, "proposeFix", params);
    assert_eq!(fix["failing"], json!(["trellis_tests/test_discount.py::test_tenth"]));
    let params = json!({ "fix": fix["fix"], "decision": "accept", "sandbox": "local" });
    let decided = call(&mut client, "decideFix", params);
    assert_eq!(decided["mended"], json!([HALF, "trellis_tests/test_discount.py::test_tenth"]));
    reloaded(&mut client, &file);
    assert_eq!(said(&mut client, &file), ["\u{2713} 2 passed"]);
    assert!(client.shutdown().expect("an end").success());
}

#[test]
fn a_file_that_cannot_be_imported_is_red_and_the_others_run() {
    let world = project();
    let broken = world.write("tests/test_broken.py", "import nowhere\n\n\ndef test_lost(): ...\n");
    let mut client = editor(&world, Value::Null);
    client.open(&broken).expect("a file");
    let all = run(&mut client, &[]);
    assert_eq!(all["tests"].as_array().map(Vec::len), Some(3), "{all:#}");
    assert_eq!(all["outcome"], "collectionError");
    assert_eq!(all["collectionErrors"][0]["path"], "tests/test_broken.py");
    let mut told = || {
        let told = client.notice("textDocument/publishDiagnostics", patience());
        let told = told.expect("diagnostics");
        (told["uri"] == uri_of(&broken)).then(|| told["diagnostics"].clone())
    };
    let first = std::iter::from_fn(|| Some(told())).flatten().find(|it| it[0].is_object());
    let message = first.expect("a problem")[0]["message"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains("nowhere"), "{message}");
    // Other tests do not affect the result; its own do.
    world.write("tests/test_broken.py", "def test_lost(): ...\n");
    reloaded(&mut client, &broken);
    let _ = run(&mut client, &["tests/test_none.py"]);
    let _ = run(&mut client, &["tests/test_broken.py"]);
    assert_eq!(said(&mut client, &broken), ["\u{2713} passed"]);
    assert!(client.shutdown().expect("an end").success());
}

#[test]
fn the_run_of_a_repair_marks_what_it_finds() {
    let world = project();
    let file = world.root().join("ledger/discount.py");
    let mut client = editor(&world, Value::Null);
    client.open(&file).expect("a file");
    assert_eq!(said(&mut client, &file), Vec::<String>::new());
    let model = reply(&world, HALF);
    let params = json!({ "model": model, "sandbox": "local", "trials": 0, "noReport": true, "approve": "supervised" });
    let ended = call(&mut client, "repair", params);
    assert_eq!(ended["outcome"], "needsHuman", "{ended:#}");
    assert_eq!(said(&mut client, &file), ["\u{2717} 2 of 2 failed"]);
    assert!(client.shutdown().expect("an end").success());
}

/// Updates an open file to its text on the disk, as editors do.
fn reloaded(client: &mut Client, file: &Path) {
    client.change(file, &std::fs::read_to_string(file).expect("a file"));
}

/// Reports that a file was saved.
fn saved(client: &Client, file: &Path) {
    let document = json!({ "textDocument": { "uri": uri_of(file) } });
    client.notify("textDocument/didSave", document);
}

/// Returns the last status of the function's tests in the registry.
fn last_run(world: &World) -> String {
    let registry: Value =
        serde_json::from_str(&world.read(".trellis/registry.json")).expect("JSON");
    let run = &registry["mappings"]["ledger/discount.py::discounted"]["lastRun"];
    run["status"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_result_that_is_older_than_the_code_says_so() {
    let world = project();
    let (file, tests) =
        (world.root().join("ledger/discount.py"), world.root().join("tests/test_none.py"));
    let mut client = editor(&world, Value::Null);
    client.open(&file).expect("a file");
    client.open(&tests).expect("a file");
    let _ = run(&mut client, &[]);
    assert_eq!(said(&mut client, &tests), ["\u{2713} passed"]);
    world.write("ledger/discount.py", "def discounted(price, percent): return 0\n");
    saved(&client, &file);
    assert_eq!(said(&mut client, &tests), ["\u{2713} passed before your change"]);
    // A result of a text that was never saved is outdated, too.
    let _ = run(&mut client, &["tests"]);
    assert_eq!(said(&mut client, &tests), ["\u{2717} failed"]);
    let text = world.read("tests/test_none.py");
    client.change(&tests, &format!("# mine\n{text}"));
    assert_eq!(said(&mut client, &tests), ["\u{2717} failed before your change"]);
    client.change(&tests, &text);
    assert_eq!(said(&mut client, &tests), ["\u{2717} failed"]);
    world.write("ledger/discount.py", DISCOUNT);
    saved(&client, &file);
    // Another window shows the same.
    let mut other = editor(&world, Value::Null);
    other.open(&tests).expect("a file");
    while said(&mut other, &tests).is_empty() {
        let _ = call(&mut other, "listTests", json!({}));
    }
    assert_eq!(said(&mut other, &tests), ["\u{2717} failed before your change"]);
    let _ = run(&mut client, &["tests"]);
    assert_eq!(said(&mut client, &tests), ["\u{2713} passed"]);
    assert!(client.shutdown().expect("an end").success());
}

#[test]
fn what_the_command_line_runs_shows_in_every_window() {
    let world = project();
    let file = world.root().join("ledger/discount.py");
    let mut client = editor(&world, Value::Null);
    client.open(&file).expect("a file");
    // By now the server listens.
    let _ = run(&mut client, &["tests"]);
    assert_eq!(said(&mut client, &file), Vec::<String>::new());
    let _ = world.trellis(&["test", "trellis_tests", "--sandbox=local"]).exits(1);
    let told = crate::runs::until(&mut client, |it| it["type"] == "results");
    let tests = told.last().expect("an event")["tests"].clone();
    let half = json!({
        "id": HALF, "outcome": "failed", "message": tests[0]["message"], "textOf": tests[0]["textOf"],
        "failedPath": "trellis_tests/test_discount.py", "failedLine": 5,
    });
    assert_eq!(tests[0], half, "{tests:#}");
    assert_eq!(tests.as_array().map(Vec::len), Some(2));
    assert_eq!(said(&mut client, &file), ["\u{2717} 2 of 2 failed"]);
    assert_eq!(last_run(&world), "failed");
    // A repair on the command line is a run as well.
    let model = reply(&world, HALF);
    let model = format!("--model={model}");
    let repair = [
        "repair",
        ".",
        "--trials=0",
        "--sandbox=local",
        &model,
        "--no-report",
        "--approve=autonomous",
    ];
    let _ = world.trellis(&repair).exits(0);
    reloaded(&mut client, &file);
    while said(&mut client, &file) != ["\u{2713} 2 passed"] {
        let _ = crate::runs::until(&mut client, |it| it["type"] == "results");
    }
    assert_eq!(last_run(&world), "passed");
    assert!(client.shutdown().expect("an end").success());
}

#[test]
fn a_grown_function_shows_the_last_run_of_its_own_tests_and_a_failed_one_can_be_tried_again() {
    let world = World::new();
    let wrong = ["x", "x - 1", "x - 2", "x - 3", "x - 4", "x - 5", "x - 6", "x - 7"];
    let plot = Plot::default()
        .function("fine", "a", &[], &[], "x + 1")
        .tests("fine", "a", [2, 3, 4])
        .function("twice", "a", &[], &[], "x * 2")
        .tests("twice", "a", [2, 4, 6])
        .function("half", "a", &[], &wrong, "x - 8")
        .tests("half", "a", [50, 100, 150]);
    let _ = world.grow(&plot, &[]).exits(1);
    let file = world.out().join("src/lib/a.py");
    let mut client = editor(&world, Value::Null);
    client.open(&file).expect("a file");
    let passed = "\u{2713} 3 passed";
    assert_eq!(said(&mut client, &file), [passed, passed]);
    let all = lenses(&mut client, &file);
    let retry = all.iter().find(|it| it["command"]["title"] == "Retry half (failed)");
    let retry = retry.unwrap_or_else(|| panic!("{all:#?}"));
    assert_eq!(retry["range"]["start"]["line"], 0);
    assert_eq!(retry["command"]["arguments"], json!([{ "node": "half", "out": world.out() }]));
    let run_lens = all.iter().find(|it| it["command"]["command"] == "trellis.runTests");
    let paths = &run_lens.expect("a lens")["command"]["arguments"][0]["paths"];
    // Code broken by hand shows once its tests have run, from any source.
    world.write("out/src/lib/a.py", &world.read("out/src/lib/a.py").replace("x + 1", "x + 2"));
    reloaded(&mut client, &file);
    saved(&client, &file);
    let params = json!({ "root": world.out(), "paths": paths, "sandbox": "local" });
    let ran = call(&mut client, "runTests", params);
    assert_eq!(ran["tests"].as_array().map(Vec::len), Some(3), "its own tests and no others");
    assert_eq!(said(&mut client, &file)[0], "\u{2717} 3 of 3 failed");
    let tests = world.out().join("tests/test_a.py");
    client.open(&tests).expect("a file");
    let titles = lenses(&mut client, &tests);
    assert!(titles.iter().any(|it| it["command"]["title"] == "Retry half (failed)"), "{titles:#?}");
    assert!(client.shutdown().expect("an end").success());
}

#[test]
fn what_a_registry_says_of_older_code_says_so() {
    let world = project();
    let registry = world.read(".trellis/registry.json");
    let mut registry: Value = serde_json::from_str(&registry).expect("JSON");
    registry["mappings"]["ledger/discount.py::discounted"]["lastRun"] =
        json!({ "status": "passed", "runAt": "2026-01-01T00:00:00Z" });
    world.write(".trellis/registry.json", &registry.to_string());
    let file = world.root().join("ledger/discount.py");
    let mut client = editor(&world, Value::Null);
    client.open(&file).expect("a file");
    assert_eq!(said(&mut client, &file), ["\u{2713} passed"]);
    world.write("ledger/discount.py", DISCOUNT);
    assert_eq!(said(&mut client, &file), ["\u{2713} passed before your change"]);
    assert!(client.shutdown().expect("an end").success());
}

#[test]
fn a_folder_that_is_opened_by_a_link_is_the_same_project() {
    let world = World::new();
    world.write("real/pytest.ini", "[pytest]\n");
    world.write("real/one.py", "def one():\n    return 1\n");
    let text = "from one import one\n\n\ndef test_one():\n    assert one() == 1\n";
    world.write("real/test_one.py", text);
    let link = world.root().join("link");
    std::os::unix::fs::symlink(world.root().join("real"), &link).expect("a link");
    let mut client = Client::start(world.command(&["lsp"]), &link).expect("a server");
    client.initialize(&[Encoding::Utf8], &Value::Null, patience()).expect("a handshake");
    let tests = link.join("test_one.py");
    client.open(&tests).expect("a file");
    let _ = run(&mut client, &[]);
    assert_eq!(said(&mut client, &tests), ["\u{2713} passed"]);
    world.write("real/one.py", "def one():\n    return 2\n");
    saved(&client, &link.join("one.py"));
    assert_eq!(said(&mut client, &tests), ["\u{2713} passed before your change"]);
    assert!(client.shutdown().expect("an end").success());
}
