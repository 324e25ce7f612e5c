//! The sidecar's methods for symbols: from the newest text, with the results of the command line.

use std::time::Duration;

use ::lsp::{Client, patience};
use serde_json::{Value, json};

use crate::runs::{call, editor, ended, result, start, until};
use crate::world::{Plot, World};

fn world() -> World {
    let world = World::new();
    world.write("shop/cart.py", "import math\n\n\nclass Cart:\n    def total(self):\n        return math.fsum([1])\n\n\ndef unused():\n    return 1\n");
    world.write(
        "shop/till.py",
        "from shop.cart import Cart\n\n\ndef pay(cart: Cart):\n    return cart.total()\n",
    );
    world.write("pyproject.toml", "[project]\nname = \"shop\"\n");
    world
}

fn refused(client: &mut Client, method: &str, params: Value) -> String {
    let answer = client.request(&format!("trellis/{method}"), params, patience());
    answer.expect_err("a refusal").to_string()
}

#[test]
fn methods_answer_as_the_command_line_does() {
    let world = world();
    let mut client = editor(&world, Value::Null);
    let table: [(&str, Value, &[&str]); 7] = [
        (
            "findSymbol",
            json!({ "namePath": "Cart/total", "body": true }),
            &["symbols", "find", "Cart/total", "--body"],
        ),
        (
            "findReferencingSymbols",
            json!({ "namePath": "Cart/total" }),
            &["symbols", "refs", "Cart/total"],
        ),
        ("findCallers", json!({ "namePath": "Cart/total" }), &["symbols", "callers", "Cart/total"]),
        (
            "findDefinition",
            json!({ "at": { "file": "shop/till.py", "line": 5, "column": 17 } }),
            &["symbols", "definition", "--at", "shop/till.py:5:17"],
        ),
        ("findUnused", json!({}), &["symbols", "unused"]),
        (
            "documentSymbols",
            json!({ "file": "shop/till.py" }),
            &["symbols", "document", "shop/till.py"],
        ),
        (
            "renameSymbol",
            json!({ "namePath": "Cart/total", "newName": "sum", "dryRun": true }),
            &["symbols", "rename", "Cart/total", "sum", "--dry-run"],
        ),
    ];
    for (method, params, arguments) in table {
        let mut arguments = arguments.to_vec();
        arguments.push("--json");
        let (mut said, mut told) =
            (world.trellis(&arguments).exits(0).json(), call(&mut client, method, params));
        // The command line names the file as given.
        said.as_object_mut().map(|it| it.remove("file"));
        told.as_object_mut().map(|it| it.remove("file"));
        assert_eq!(told, said, "{method}");
    }
}

#[test]
fn graphs_and_runs_are_shown_as_the_command_line_does() {
    let world = World::new();
    // Two nodes fail or are skipped, so that there is something to report.
    let plot = Plot::default()
        .function("double", "basic", &[], &[], "2 * x")
        .tests("double", "basic", [2, 4, 6])
        .function("wrong", "basic", &[], &["x", "x - 1"], "x - 2")
        .tests("wrong", "basic", [50, 100, 150])
        .function("after", "top", &["wrong"], &[], "wrong(x)")
        .tests("after", "top", [50, 100, 150]);
    let _ = world.grow(&plot, &[]).exits(1);
    let mut client = editor(&world, Value::Null);
    let table: [(&str, Value, &[&str], i32); 12] = [
        ("planCheck", json!({ "graph": "rpg.json" }), &["plan", "check", "rpg.json"], 0),
        ("planOrder", json!({ "graph": "rpg.json" }), &["plan", "order", "rpg.json"], 0),
        ("planShow", json!({ "graph": "rpg.json" }), &["plan", "show", "rpg.json"], 0),
        ("planLevels", json!({ "graph": "rpg.json" }), &["plan", "levels", "rpg.json"], 0),
        ("planFlows", json!({ "graph": "rpg.json" }), &["plan", "flows", "rpg.json"], 0),
        (
            "planDeps",
            json!({ "graph": "out/docs/rpg.json", "node": "after" }),
            &["plan", "deps", "out/docs/rpg.json", "after"],
            0,
        ),
        (
            "planSearch",
            json!({ "graph": "rpg.json", "query": "twice" }),
            &["plan", "search", "rpg.json", "twice"],
            0,
        ),
        (
            "diffPlans",
            json!({ "old": "rpg.json", "new": "out/docs/rpg.json" }),
            &["plan", "diff", "rpg.json", "out/docs/rpg.json"],
            0,
        ),
        (
            "editPlan",
            json!({
                "graph": "rpg.json", "dryRun": true,
                "edit": { "operation": "rename", "node": "double", "name": "twice" },
            }),
            &["plan", "edit", "rpg.json", "rename", "double", "twice", "--dry-run"],
            0,
        ),
        ("status", json!({ "out": "out" }), &["status", "out"], 0),
        (
            "codeView",
            json!({ "what": "double", "root": "out" }),
            &["code", "view", "double", "--root", "out"],
            0,
        ),
        ("report", json!({ "out": "out" }), &["report", "out"], 0),
    ];
    for (method, params, arguments, code) in table {
        let mut arguments = arguments.to_vec();
        arguments.push("--json");
        let mut said = world.trellis(&arguments).exits(code).json();
        let mut told = call(&mut client, method, params);
        // The command line names the folder as given.
        if method == "report" {
            said.as_object_mut().map(|it| it.remove("path"));
            told.as_object_mut().map(|it| it.remove("path"));
        }
        assert_eq!(told, said, "{method}");
    }
    let seen = call(&mut client, "codeView", json!({ "what": "double", "root": "out" }));
    let tests = seen["testPath"].as_str().expect("a file of tests");
    assert!(world.read(&format!("out/{tests}")).contains("double"), "{tests}");
    let status = call(&mut client, "status", json!({ "out": "out" }));
    let figures = ["total", "completed", "percent", "current", "failed", "blocked"];
    let figures = figures.map(|name| status[name].clone());
    assert_eq!(json!(figures), json!([3, 3, 100, [], ["wrong"], ["after"]]));
}

#[test]
fn questions_see_unsaved_text_and_edits_wait_until_it_is_saved() {
    let world = world();
    let mut client = editor(&world, Value::Null);
    let file = world.root().join("shop/cart.py");
    client.open(&file).expect("a file");
    let saved = world.read("shop/cart.py");
    let unsaved = saved
        .replace("def unused():", "def fresh():\n    return Cart().total()\n\n\ndef unused():");
    client.change(&file, &unsaved);
    let found = call(&mut client, "findSymbol", json!({ "namePath": "fresh" }));
    assert_eq!(found["symbols"][0]["file"], "shop/cart.py", "{found}");
    // A folder below the workspace's sees the unsaved text as well.
    let below = call(&mut client, "findSymbol", json!({ "namePath": "fresh", "root": "shop" }));
    assert_eq!(below["symbols"][0]["file"], "cart.py", "{below}");
    let tree = call(&mut client, "documentSymbols", json!({ "file": "shop/cart.py" }));
    assert!(tree.to_string().contains("fresh"), "{tree}");

    let rename = json!({ "namePath": "Cart/total", "newName": "sum" });
    let body = json!({ "namePath": "unused", "text": "return 2", "path": "shop/cart.py" });
    for (method, params) in [("renameSymbol", &rename), ("replaceSymbolBody", &body)] {
        let why = refused(&mut client, method, params.clone());
        assert!(why.contains("is not saved") && why.contains("(code 65)"), "{why}");
    }
    assert_eq!(world.read("shop/cart.py"), saved, "nothing was written");
    world.write("shop/cart.py", &unsaved);
    let renamed = call(&mut client, "renameSymbol", rename);
    assert_eq!(renamed["undo"], 1, "{renamed}");
    assert!(world.read("shop/till.py").contains("cart.sum()"));
    assert!(world.read("shop/cart.py").contains("Cart().sum()"));
    let undone = call(&mut client, "undoEdit", json!({}));
    assert_eq!(world.read("shop/cart.py"), unsaved);
    // All edits and undos name files relative to the folder.
    let mut results = vec![undone, renamed];
    results.push(call(&mut client, "replaceSymbolBody", body));
    results.push(call(&mut client, "undoEdit", json!({})));
    for result in results {
        let diff = result["diff"].as_str().expect("a diff");
        assert!(diff.contains("--- a/shop/cart.py\n+++ b/shop/cart.py\n"), "{diff}");
        assert!(!diff.contains("//"), "{diff}");
        let of_files = |it: &Value| it["file"].as_str().is_some_and(|it| it.starts_with("shop/"));
        assert!(result["edits"].as_array().is_some_and(|it| it.iter().all(of_files)), "{result}");
    }
}

#[test]
fn refusals_have_codes_hints_and_change_nothing() {
    let world = world();
    let mut client = editor(&world, Value::Null);
    let before = crate::world::tree(world.root());
    let table = [
        ("safeDeleteSymbol", json!({ "namePath": "Cart" }), "(code 65)", "still used"),
        ("findSymbol", json!({ "namePath": "a//b" }), "(code -32602)", ""),
        ("findSymbol", json!({ "name": "x" }), "(code -32602)", "namePath"),
        ("findSymbol", json!({ "namePath": "x", "root": "none" }), "(code 65)", "none"),
        (
            "renameSymbol",
            json!({ "namePath": "Cart", "newName": "class" }),
            "(code -32602)",
            "keyword",
        ),
        (
            "replaceSymbolBody",
            json!({ "namePath": "pay", "text": "return (" }),
            "(code 65)",
            "not edited",
        ),
        (
            "replaceText",
            json!({ "path": "/etc/hostname", "search": "a", "replace": "b", "occurrence": 0, "dryRun": true }),
            "(code 65)",
            "",
        ),
        ("noSuchMethod", json!({}), "(code -32601)", ""),
    ];
    for (method, params, code, words) in table {
        let why = refused(&mut client, method, params);
        assert!(why.contains(code) && why.contains(words), "{method}: {why}");
    }
    assert_eq!(crate::world::tree(world.root()), before);
    // Not even through a link.
    let outside = World::new();
    let victim = outside.write("victim.py", "SECRET = 1\n");
    std::os::unix::fs::symlink(&victim, world.root().join("link.py")).expect("a link");
    for path in ["link.py", victim.to_str().expect("text")] {
        let params = json!({ "path": path, "search": "1", "replace": "2" });
        let why = refused(&mut client, "replaceText", params);
        assert!(why.contains("outside the workspace"), "{why}");
    }
    assert_eq!(outside.read("victim.py"), "SECRET = 1\n");
}

const SLOW: &str = "import time\n\n\ndef test_quick():\n    assert 1 + 1 == 2\n\n\ndef test_wrong():\n    assert 1 + 1 == 3\n\n\ndef test_slow():\n    time.sleep(600)\n";

#[test]
fn tests_run_from_the_editor_tell_each_result_and_can_be_cancelled() {
    let world = World::new();
    world.write("pytest.ini", "[pytest]\n");
    world.write("tests/test_a.py", SLOW);
    let mut client = editor(&world, Value::Null);
    let params = json!({ "testPath": "tests/test_a.py::test_wrong", "sandbox": "local" });
    let ran = call(&mut client, "runTests", params);
    assert_eq!(
        (&ran["outcome"], &ran["tests"][0]["outcome"]),
        (&"failed".into(), &"failed".into())
    );
    assert_eq!(ran["tests"][0]["failure"]["line"], 9, "{ran}");
    let project = json!(world.root().canonicalize().expect("a folder"));
    assert_eq!(ran["root"], project, "{ran}");
    let sides = json!({ "operator": "==", "actual": "2", "expected": "3" });
    assert_eq!(ran["tests"][0]["failure"]["comparison"], sides, "{ran}");
    let told = until(&mut client, |it| it["type"] == "test");
    let told = told.last().expect("a test");
    assert_eq!((&told["outcome"], &told["line"]), (&"failed".into(), &8.into()), "{told}");
    assert_eq!((&told["root"], &told["path"]), (&project, &"tests/test_a.py".into()), "{told}");
    // In the background, and cancelled during a slow test.
    let job = start(
        &mut client,
        "runTests",
        json!({ "testPath": "tests/test_a.py", "sandbox": "local", "timeout": 900, "background": true }),
    );
    until(&mut client, |it| {
        it["type"] == "test" && it["id"] == "tests/test_a.py::test_wrong" && it["job"] == job
    });
    call(&mut client, "cancelJob", json!({ "job": job }));
    let events = ended(&mut client, &job);
    assert_eq!(events.last().map(|it| it["state"].clone()), Some("cancelled".into()));
    // Cancelling a request cancels its job.
    let params =
        json!({ "testPath": "tests/test_a.py::test_slow", "sandbox": "local", "timeout": 900 });
    let late = client.request("trellis/runTests", params, Duration::from_millis(1));
    assert!(late.is_err(), "it ended in no time");
    let last = until(&mut client, |it| it["type"] == "job" && it["state"] == "cancelled");
    assert_eq!(last.last().map(|it| it["method"].clone()), Some("runTests".into()));
    let unsaved = world.root().join("tests/test_a.py");
    client.open(&unsaved).expect("a file");
    client.change(&unsaved, "def test_new(): ...\n");
    let params = json!({ "testPath": "tests/test_a.py::test_quick", "sandbox": "local" });
    assert_eq!(call(&mut client, "runTests", params)["outcome"], "passed");
    let warned = until(&mut client, |it| it["level"] == "warning");
    let warned = warned.last().map(|it| it["message"].to_string()).unwrap_or_default();
    assert!(warned.contains("not saved") && warned.contains("tests/test_a.py"), "{warned}");
}

#[test]
fn tests_for_a_function_are_written_from_the_editor() {
    let world = World::new();
    world.write("pytest.ini", "[pytest]\n");
    world.write("shop/__init__.py", "");
    world.write("shop/cart.py", "def add(a: int, b: int) -> int:\n    return a + b\n");
    let reply = "```python\nfrom shop.cart import add\n\n\ndef test_add_one():\n    assert add(1, 1) == 2\n\n\ndef test_add_two():\n    assert add(2, 2) == 4\n\n\ndef test_add_off():\n    assert add(1, 1) == 3\n```\n";
    let reply = json!({ "node": "shop/cart.py::add", "stage": "write_tests", "attempt": 0, "reply": reply });
    let replies = world.write("replies.jsonl", &format!("{reply}\n"));
    let mut client = editor(&world, Value::Null);
    let file = world.root().join("shop/cart.py");
    client.open(&file).expect("a file");
    client.change(&file, "# moved\n\n\ndef add(a: int, b: int) -> int:\n    return a + b\n");
    // The text in the editor is parsed.
    let parsed = call(&mut client, "parseFile", json!({ "filePath": "shop/cart.py" }));
    assert_eq!(parsed["functions"][0]["line"], 4, "{parsed}");
    let valid = call(&mut client, "validateSyntax", json!({ "code": "def f(:" }));
    assert_eq!((&valid["valid"], &valid["line"]), (&false.into(), &1.into()), "{valid}");
    let params = json!({
        "function": parsed["functions"][0], "projectRoot": ".", "framework": "pytest", "sandbox": "local",
        "model": format!("recorded:{}", replies.display()),
    });
    let written = call(&mut client, "generateTests", params);
    assert_eq!(
        (&written["outcome"], &written["written"]),
        (&"failed".into(), &true.into()),
        "{written}"
    );
    let listed = call(&mut client, "listTests", json!({}));
    let function = &listed["functions"][0];
    assert_eq!(
        (&function["function"], &function["lastStatus"]),
        (&"shop/cart.py::add".into(), &"failed".into())
    );
    // A run of the passing tests alone is recorded.
    let quick =
        json!({ "paths": ["trellis_tests/test_cart.py::test_add_one"], "sandbox": "local" });
    assert_eq!(call(&mut client, "runTests", quick)["outcome"], "passed");
    let listed = call(&mut client, "listTests", json!({}));
    assert_eq!(listed["functions"][0]["lastStatus"], "passed", "{listed}");
}

#[test]
fn runs_at_the_same_time_do_not_get_into_each_other_s_way() {
    let world = World::new();
    world.write("pytest.ini", "[pytest]\n");
    // Ends when the other run, which it outlasts, has left its mark in the project. A file that
    // appears meanwhile may be missed, but a changed text is seen.
    world.write("done", "");
    let waits = "import pathlib, time\n\n\ndef test_waits(tmp_path):\n    while not pathlib.Path('done').read_text():\n        time.sleep(0.01)\n    (tmp_path / 'a').write_text('b')\n    assert 1 + 1 == 3\n";
    world.write("tests/test_waits.py", waits);
    world.write("tests/test_quick.py", "def test_quick():\n    assert True\n");
    let mut client = editor(&world, Value::Null);
    let params = json!({ "testPath": "tests/test_waits.py", "sandbox": "local", "timeout": 300, "background": true });
    let job = start(&mut client, "runTests", params);
    for _ in 0..2 {
        let quick = json!({ "testPath": "tests/test_quick.py", "sandbox": "local" });
        assert_eq!(call(&mut client, "runTests", quick)["outcome"], "passed");
    }
    world.write("done", "yes");
    ended(&mut client, &job);
    let ran = result(&mut client, &job);
    let message = ran["tests"][0]["failure"]["message"].to_string();
    assert!(message.contains("assert (1 + 1) == 3"), "{ran}");
}
