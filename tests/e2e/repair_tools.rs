//! A repair's code graph, and a model that searches it with tools.

use std::fs;

use serde_json::{Value, json};

use crate::models::{Service, called, said};
use crate::repair::{ADD, CALCULATOR, TESTS, both, calculator, mended, repair, text};
use crate::world::{Ran, World};

#[test]
fn functions_and_calls_are_kept_as_a_planning_graph_of_the_code_as_it_is() {
    let world = both();
    let _ = repair(&world, &["--approve", "autonomous"]).exits(0);
    let graph = "p/.trellis/repair/graph.json";
    let nodes: Value = serde_json::from_str(&world.read(graph)).expect("JSON");
    let mean = nodes["nodes"].as_array().expect("nodes").iter();
    let mean = mean.clone().find(|it| it["id"] == "calculator.py:mean").expect("a node");
    let at = mended().lines().position(|it| it.starts_with("def mean")).expect("a line") + 1;
    assert_eq!(mean["lines"], json!([at, at + 1]), "as both fixes left it");
    let shown = world.trellis(&["plan", "show", graph, "--json"]).exits(0).json();
    let shown = shown["nodes"].as_array().expect("nodes").clone();
    let table = [
        ("calculator.py:mean", json!(["calculator.py:add", "calculator.py:divide"])),
        ("test_calculator.py:test_mean", json!(["calculator.py:mean"])),
        ("calculator.py:add", json!([])),
    ];
    for (id, calls) in table {
        let node = shown.iter().find(|it| it["id"] == id).expect("a node");
        assert_eq!(node["dependsOn"], calls, "{id}");
        assert_eq!(node["parents"], json!([id.split(':').next()]), "its file");
    }
}

/// Searches the graph, tries forbidden edits, fixes the function, and is done.
fn mends_with_tools(question: &Value) -> (u16, Value) {
    let messages = question["messages"].as_array().expect("messages");
    let edit = |path: &str, search: &str, replace: &str| {
        called("edit_file", &json!({ "path": path, "search": search, "replace": replace }))
    };
    match messages.iter().filter(|it| it["role"] == "tool").count() {
        _ if question["tools"].is_null() => said("{}"),
        0 => called("search_plan", &json!({ "words": "mean of values" })),
        1 => edit("test_calculator.py", "assert add(2, 3) == 5", "assert True"),
        2 => called("write_file", &json!({ "path": "conftest.py", "text": "x = 1\n" })),
        3 => edit("calculator.py", "    return a - b", "    return a + b"),
        _ => called("done", &json!({ "summary": "adds" })),
    }
}

/// Repairs the first bug with tools that a service calls.
fn with_tools(world: &World, service: &Service) -> Ran {
    let options = ["repair", "p", "--json", "--sandbox", "local", "--approve", "autonomous"];
    let more = ["--trials=0", "--test", ADD, "--fix-with", "tools", "--model", "openai:tiny"];
    let mut command = world.command(&[&options[..], &more, &["--max-iterations", "1"]].concat());
    command.env("OPENAI_BASE_URL", &service.url).env("OPENAI_API_KEY", "sk-of-nobody");
    Ran::of(command.output().expect("trellis starts"))
}

#[test]
fn a_model_with_tools_searches_the_graph_and_edits_code_alone() {
    let world = calculator(&[], &[]);
    let service = Service::start(Box::new(mends_with_tools));
    let result = with_tools(&world, &service).exits(1).json();
    assert_eq!(result["groups"][0]["attempts"].as_array().map(Vec::len), Some(1), "{result:#}");
    assert_eq!(world.read("p/calculator.py"), CALCULATOR.replace("a - b", "a + b"));
    assert_eq!(world.read("p/test_calculator.py"), TESTS);
    assert!(!world.root().join("p/conftest.py").exists());
    let asked = service.asked();
    let last = asked.last().expect("a question")["messages"].as_array().expect("messages").clone();
    let results: Vec<String> =
        last.iter().filter(|it| it["role"] == "tool").map(|it| text(&it["content"])).collect();
    // The expected result of each tool call.
    let wanted: [&[&str]; 4] = [
        &[
            "mean in calculator.py (node calculator.py:mean)",
            "calls calculator.py:add",
            "def mean(values)",
        ],
        &["read-only"],
        &["files of the code that are there"],
        &["calculator.py"],
    ];
    assert_eq!(results.len(), wanted.len(), "{results:#?}");
    for (result, wanted) in results.iter().zip(wanted) {
        assert!(wanted.iter().all(|it| result.contains(it)), "{wanted:?} in {result}");
    }
    assert!(!results[0].contains("test_mean in"), "tests are no code: {}", results[0]);
}

#[test]
fn work_with_tools_that_cannot_be_taken_leaves_what_a_person_wrote() {
    let deletes = called("delete_file", &json!({ "path": "calculator.py" }));
    let edit = json!({ "path": "calculator.py", "search": "    return a - b", "replace": "    return a + b" });
    let edits = called("edit_file", &edit);
    let mine = format!("{CALCULATOR}\n\nMINE = 1\n");
    // The model's action, a person's concurrent text, and the reason for the refusal.
    let table = [
        (deletes, CALCULATOR, "a repair cannot delete files"),
        (edits, &mine, "someone else changed"),
    ];
    for (call, written, why) in table {
        let world = calculator(&[], &[]);
        let (path, person) = (world.root().join("p/calculator.py"), written.to_owned());
        let service = Service::start(Box::new(move |question| {
            let messages = question["messages"].as_array().expect("messages");
            match messages.iter().filter(|it| it["role"] == "tool").count() {
                _ if question["tools"].is_null() => said("{}"),
                0 => call.clone(),
                _ => {
                    fs::write(&path, &person).expect("written");
                    called("done", &json!({ "summary": "done" }))
                }
            }
        }));
        let result = with_tools(&world, &service).exits(1).json();
        let attempt = &result["groups"][0]["attempts"][0];
        assert_eq!(attempt["outcome"], "unusable", "{why}: {attempt:#}");
        assert!(text(&attempt["what"]).contains(why), "{attempt:#}");
        assert_eq!(world.read("p/calculator.py"), written, "{why}");
    }
}
