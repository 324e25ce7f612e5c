//! Files that never end, or never begin, in places that the sidecar reads.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use ::lsp::patience;
use serde_json::{Value, json};

use crate::protocol::{greeted, memory, notification, request};
use crate::runs::editor;
use crate::world::World;

fn pipe(world: &World, path: &str) {
    world.write(path, "");
    let path = world.root().join(path);
    fs::remove_file(&path).expect("a file");
    assert!(Command::new("mkfifo").arg(path).status().is_ok_and(|it| it.success()));
}

fn endless(world: &World, path: &str) {
    world.write(path, "");
    let path = world.root().join(path);
    fs::remove_file(&path).expect("a file");
    symlink("/dev/zero", path).expect("a link");
}

#[test]
fn what_is_no_regular_file_is_refused_in_words() {
    // The path, a request that reads it, and whether the response is an error or mentions it.
    let table: [(&str, &str, Value); 9] = [
        ("g.json", "planCheck", json!({ "graph": "g.json" })),
        ("out/docs/generation_checkpoint.json", "status", json!({ "out": "out" })),
        ("out/docs/generation_report.md", "report", json!({ "out": "out" })),
        ("out/.trellis/journal.jsonl", "listFiles", json!({ "out": "out" })),
        ("out/.trellis/journal.jsonl", "generate", json!({ "out": "out" })),
        ("out/.trellis/journal.jsonl", "log", json!({ "root": "out" })),
        (".trellis/registry.json", "listTests", json!({})),
        (".trellis/proposals/fix-1.json", "listFixes", json!({})),
        (".trellis/proposals/fix-1.json", "getFix", json!({ "fix": "fix-1" })),
    ];
    for make in [pipe, endless] {
        for (path, method, params) in &table {
            let world = World::new();
            make(&world, path);
            let mut client = editor(&world, Value::Null);
            let answer = client.request(&format!("trellis/{method}"), params.clone(), patience());
            let said = answer.map_or_else(|refused| refused.to_string(), |it| it.to_string());
            assert!(said.contains("not a regular file"), "{method} of {path}: {said}");
            let used = memory(client.process_id(), "VmHWM");
            assert!(used < 300 << 20, "{method} of {path} took {used} bytes");
        }
    }
}

#[test]
fn settings_that_never_end_cost_a_run_nothing() {
    for make in [pipe, endless] {
        let world = World::new();
        world.write("tests/test_a.py", "def test_a(): ...\n");
        make(&world, "pyproject.toml");
        make(&world, "package.json");
        let mut client = editor(&world, Value::Null);
        let params = json!({ "testPath": "tests/test_a.py", "sandbox": "local" });
        let result = client.request("trellis/runTests", params, patience()).expect("an answer");
        assert_eq!(result["outcome"], "passed", "{result}");
        let used = memory(client.process_id(), "VmHWM");
        assert!(used < 300 << 20, "{used} bytes");
    }
}

#[test]
fn rules_of_git_that_never_begin_or_never_end_hold_up_no_question_and_no_end() {
    for make in [pipe, endless] {
        let world = World::new();
        make(&world, "below/.gitignore");
        world.write("below/b.py", "def hidden(): ...\n");
        world.write("a.py", "def shown(): ...\n");
        let mut client = editor(&world, Value::Null);
        let find = |name: &str| json!({ "namePath": name });
        let found = client.request("trellis/findSymbol", find("shown"), patience());
        assert_eq!(found.expect("an answer")["symbols"][0]["file"], "a.py");
        let hidden = client.request("trellis/findSymbol", find("hidden"), patience());
        let hidden = hidden.expect("an answer");
        assert_eq!(hidden["symbols"], json!([]), "rules that cannot be read leave a folder out");
        let uses = client.request("trellis/findReferencingSymbols", find("shown"), patience());
        let uses = uses.expect("an answer");
        assert_eq!(uses["complete"], false, "{uses}");
        assert!(uses.to_string().contains("not a regular file"), "{uses}");
        // At the root such rules are skipped.
        make(&world, ".gitignore");
        let mut raw = greeted(&world, Value::Null);
        raw.send(&request(1, "trellis/findSymbol", find("shown")));
        assert_eq!(raw.answer(patience())["result"]["symbols"][0]["file"], "a.py");
        raw.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "shutdown" }));
        raw.send(&notification("exit", Value::Null));
        let status = raw.end(patience()).expect("it goes on");
        assert!(status.success(), "{status}");
    }
}
