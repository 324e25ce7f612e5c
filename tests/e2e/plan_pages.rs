//! Facts for the editor's pages: a node that failed, and a plan before its run.

use std::fs;

use serde_json::{Value, json};

use crate::runs::{call, editor};
use crate::world::{Plot, World};

/// A run in which `wrong` fails after two fixes, so that `after` is skipped.
fn failed_run(world: &World) {
    let plot = Plot::default()
        .function("double", "basic", &[], &[], "2 * x")
        .tests("double", "basic", [2, 4, 6])
        .function("wrong", "basic", &[], &["x", "x - 1"], "x - 2")
        .tests("wrong", "basic", [50, 100, 150])
        .function("after", "top", &["wrong"], &[], "wrong(x)")
        .tests("after", "top", [50, 100, 150]);
    let _ = world.grow(&plot, &[]).exits(1);
}

fn texts(all: &Value, field: &str) -> Vec<String> {
    let all = all.as_array().expect("a list").iter();
    all.map(|it| it[field].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_failed_node_has_its_test_its_values_its_attempts_and_what_it_blocks() {
    let world = World::new();
    failed_run(&world);
    let mut client = editor(&world, Value::Null);
    let node = call(&mut client, "node", json!({ "out": "out", "node": "wrong" }));
    assert_eq!(node["status"], "failed", "{node:#}");
    assert!(node["test"].as_str().is_some_and(|it| it.ends_with("test_wrong_0")), "{node:#}");
    let failure = &node["failure"];
    assert_eq!(
        [&failure["expected"], &failure["actual"], &failure["exception"]],
        [&json!("50"), &json!("-1"), &json!("AssertionError")],
        "{failure:#}"
    );
    let attempts = &node["attempts"];
    let changes = texts(attempts, "change");
    assert!(changes[0].contains("+    return x\n"), "{attempts:#}");
    assert!(changes[1].contains("-    return x\n+    return x - 1\n"), "{attempts:#}");
    assert!(changes[2].contains("-    return x - 1\n+    return x - 2\n"), "{attempts:#}");
    assert!(texts(attempts, "outcome").iter().all(|it| it.contains("50")), "{attempts:#}");
    let actual = texts(attempts, "actual");
    assert_eq!(actual[..3], ["1", "0", "-1"], "{attempts:#}");
    assert!(node["tests"].as_str().is_some_and(|it| it.contains("def test_wrong_0")));
    assert!(node["implementation"].as_str().is_some_and(|it| it.contains("return x - 2")));
    assert_eq!(texts(&node["blocks"], "id"), ["after"]);
    assert_eq!(node["blocks"][0]["status"], "skipped");
    assert!(node["graph"].as_str().is_some_and(|it| it.ends_with("rpg.json")), "{node:#}");

    let passed = call(&mut client, "node", json!({ "out": "out", "node": "double" }));
    assert_eq!([&passed["status"], &passed["failure"]], [&json!("passed"), &Value::Null]);
    assert!(passed["implementation"].as_str().is_some_and(|it| it.contains("2 * x")));
    let unknown = json!({ "out": "out", "node": "wrung" });
    let refused = client.request("trellis/node", unknown, lsp::patience()).expect_err("refused");
    assert!(refused.to_string().contains("wrung"), "{refused}");
}

#[test]
fn a_journal_of_an_earlier_version_has_attempts_without_texts() {
    let world = World::new();
    failed_run(&world);
    let path = world.root().join("out/.trellis/journal.jsonl");
    let journal = fs::read_to_string(&path).expect("a journal");
    let older = journal.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).expect("a line");
        let event = line["event"].as_object_mut().expect("an event");
        if event["kind"] == "test_run" {
            event.remove("implementation");
            event.remove("failure");
        }
        format!("{line}\n")
    });
    fs::write(&path, older.collect::<String>()).expect("written");
    let mut client = editor(&world, Value::Null);
    let node = call(&mut client, "node", json!({ "out": "out", "node": "wrong" }));
    let attempts = node["attempts"].as_array().expect("a list");
    assert_eq!((attempts.len(), &attempts[0]["change"]), (3, &Value::Null), "{node:#}");
    assert!(node["implementation"].as_str().is_some_and(|it| it.contains("return x - 2")));
}

#[test]
fn problems_of_a_plan_have_their_places_in_unsaved_text_as_well() {
    let world = World::new();
    let node = |id: &str, needs: &str| {
        format!(
            "    {{\"id\": \"{id}\", \"name\": \"{id}\", \"type\": \"function\", \"docstring\": \"Does.\",\n     \
             \"file_path\": \"src/lib/a.py\", \"dependencies\": [{needs}]}}"
        )
    };
    let text = format!(
        "{{\"nodes\": [\n{},\n{}\n  ], \"edges\": []}}\n",
        node("a", ""),
        node("b", "\"gone\"")
    );
    world.write("rpg.json", &text);
    let mut client = editor(&world, Value::Null);
    let found = call(&mut client, "planDiagnostics", json!({ "graph": "rpg.json" }));
    let problem = &found["diagnostics"][0];
    assert_eq!(
        [&problem["kind"], &problem["node"], &problem["severity"]],
        [&json!("unknown-id"), &json!("b"), &json!("error")],
        "{found:#}"
    );
    assert_eq!(problem["range"], json!({ "line": 5, "column": 52, "endColumn": 58 }), "{found:#}");
    let fixed = text.replace("\"gone\"", "\"a\"");
    let found = call(&mut client, "planDiagnostics", json!({ "graph": "rpg.json", "text": fixed }));
    assert_eq!(found["diagnostics"], json!([]));
    let torn = fixed.replace("]}", "]");
    let found = call(&mut client, "planDiagnostics", json!({ "graph": "rpg.json", "text": torn }));
    let problem = &found["diagnostics"][0];
    assert_eq!(
        (&problem["kind"], &problem["range"]["line"]),
        (&json!("malformed"), &json!(4)),
        "{found:#}"
    );
}

#[test]
fn an_estimate_has_requests_tokens_and_the_price_of_the_model() {
    let world = World::new();
    let plot = Plot::default().function("double", "basic", &[], &[], "2 * x").function(
        "after",
        "top",
        &["double"],
        &[],
        "double(x)",
    );
    world.write("rpg.json", &json!({ "nodes": plot.nodes, "edges": plot.edges }).to_string());
    let mut client = editor(&world, Value::Null);
    let ask = json!({ "graph": "rpg.json", "model": "openai:gpt-5-mini" });
    let priced = call(&mut client, "planEstimate", ask);
    let shape =
        ["nodes", "subgraphs", "levels", "problems", "chain", "model"].map(|it| priced[it].clone());
    let chain = json!(["double", "after"]);
    assert_eq!(json!(shape), json!([2, 2, 2, 0, chain, "openai:gpt-5-mini"]), "{priced:#}");
    let (least, usual) = (&priced["least"], &priced["usual"]);
    assert_eq!(least["requests"], 4);
    assert!(usual["requests"].as_u64() > least["requests"].as_u64(), "{priced:#}");
    assert!(least["usd"].as_f64().is_some_and(|it| it > 0.0 && it < 0.1), "{priced:#}");
    assert!(least["tokens"].as_u64().is_some_and(|it| it > 1000), "{priced:#}");
    let unpriced = call(&mut client, "planEstimate", json!({ "graph": "rpg.json" }));
    assert_eq!([&unpriced["model"], &unpriced["least"]["usd"]], [&Value::Null, &Value::Null]);
    assert!(unpriced["noModel"].as_str().is_some_and(|it| it.contains("no model")), "{unpriced:#}");
}
