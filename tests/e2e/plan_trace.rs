//! A specification followed to nodes, tests and their states.

use serde_json::{Value, json};

use crate::world::{Plot, World};

const SPEC: &str = "# Numbers\n\nIt doubles a number. It squares one. It adds both.\n\nThe author likes numbers.\n";

/// Returns a garden of three nodes that serve the sentences 2, 3 and 4.
fn described(plot: &Plot) -> Value {
    let mut graph = plot.graph();
    for (at, node) in graph["nodes"].as_array_mut().expect("nodes").iter_mut().enumerate() {
        node["serves"] = json!([at + 2]);
    }
    let texts = [
        "Numbers",
        "It doubles a number.",
        "It squares one.",
        "It adds both.",
        "The author likes numbers.",
    ];
    let sentence = |(at, text): (usize, &&str)| {
        let kind = if at == 0 { "heading" } else { "sentence" };
        json!({ "number": at + 1, "kind": kind, "text": text })
    };
    let sentences: Vec<Value> = texts.iter().enumerate().map(sentence).collect();
    graph["metadata"]["spec"] =
        json!({ "path": "SPEC.md", "sentences": sentences, "background": [5] });
    graph
}

#[test]
fn each_sentence_leads_to_the_tests_that_proved_it() {
    let world = World::new();
    let plot = Plot::three();
    let graph = described(&plot);
    world.write("SPEC.md", SPEC);
    let arguments = world.plant(&plot);
    world.write("rpg.json", &graph.to_string());
    let before = world.trellis(&["plan", "trace", "rpg.json"]).exits(0).stdout;
    assert!(before.contains("  3  It squares one.\n       square\n"), "{before}");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let summary = world.trellis(&arguments).exits(0).json();
    assert_eq!(summary["specification"], json!({ "sentences": 3, "proved": 3 }));
    let report = world.read("out/docs/generation_report.md");
    let row = "| 4. It adds both. | `summed` | 3 | yes |";
    assert!(report.contains("3 of 3 sentences are proved by tests.") && report.contains(row));
    let shown = world.trellis(&["plan", "trace", "rpg.json", "--run", "out"]).exits(0).stdout;
    assert!(shown.contains("       square  passed, 3 tests passed\n"), "{shown}");
    assert!(shown.contains("  5  The author likes numbers.  (background)\n"), "{shown}");
    assert!(shown.ends_with("no problems; nodes serve 3 of 5 sentences\n"), "{shown}");
    // The exported graph keeps both, and knows its own run.
    let run = ["plan", "trace", "out/docs/rpg.json", "--spec", "SPEC.md", "--json"];
    let found = world.trellis(&run).exits(0).json();
    let summed = &found["sentences"][3];
    assert_eq!(
        (&summed["status"], &summed["nodes"][0]["id"]),
        (&json!("passed"), &json!("summed"))
    );
    let tests = summed["nodes"][0]["tests"].as_array().expect("tests");
    assert!(tests[0].as_str().is_some_and(|it| it.contains("test_summed_0")), "{found}");
    let _ = world.trellis(&["plan", "trace", "rpg.json", "--run", "."]).exits(65).says("no run");
}

#[test]
fn a_sentence_whose_node_fails_is_not_proved() {
    let world = World::new();
    let mut plot = Plot::three();
    plot.replies.retain(|it| it["node"] != "square");
    let mut graph = described(&plot);
    graph["nodes"][2]["serves"] = json!([2, 4]);
    let arguments = world.plant(&plot);
    world.write("rpg.json", &graph.to_string());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let summary = world.trellis(&arguments).exits(1).json();
    assert_eq!(summary["specification"], json!({ "sentences": 3, "proved": 0 }));
    let report = world.read("out/docs/generation_report.md");
    for row in
        ["| 2. It doubles a number. | `double`, `summed` | 3 | no |", "| `square` | 0 | no |"]
    {
        assert!(report.contains(row), "{report}");
    }
}

#[test]
fn gaps_and_changes_are_problems() {
    let world = World::new();
    let mut graph = described(&Plot::three());
    graph["nodes"][2]["serves"] = json!([9]);
    world.write("rpg.json", &graph.to_string());
    world.write("SPEC.md", &SPEC.replace("It squares one.", "It squares a number. It halves one."));
    let found = world.trellis(&["plan", "trace", "rpg.json"]).exits(65).stdout;
    for line in [
        "problem: [unserved-sentence] no node serves sentence 4: \"It adds both.\"",
        "problem: [unknown-sentence] `summed` serves sentence 9, which does not exist",
        "problem: [changed-sentence] sentence 3 was \"It squares one.\" and is \"It squares a number.\" (served by square)",
        "problem: [added-sentence] the specification has a new sentence: \"It halves one.\"",
    ] {
        assert!(found.contains(line), "`{line}` is missing in\n{found}");
    }
    let found = world.trellis(&["plan", "trace", "rpg.json", "--json"]).exits(65).json();
    assert_eq!(found["problems"].as_array().map(Vec::len), Some(4), "{found}");
    assert_eq!(found["problems"][2]["nodes"], json!(["square"]));
}

#[test]
fn a_description_is_numbered_before_any_node_serves_it() {
    let world = World::new();
    world.write("rpg.json", &Plot::three().graph().to_string());
    let trace = |more: &[&str]| world.trellis(&[&["plan", "trace", "rpg.json"], more].concat());
    let _ = trace(&[]).exits(65).says("there is no specification").says("--spec");
    world.write("SPEC.md", SPEC);
    let found = trace(&["--spec", "SPEC.md"]).exits(65).stdout;
    assert!(found.contains("  2  It doubles a number.\n  3  It squares one.\n"), "{found}");
    assert!(found.contains("none of the 3 nodes serves one of the 4 sentences"), "{found}");
    let _ = trace(&["--spec", "none.md"]).exits(65).says("none.md");
    std::fs::write(world.root().join("raw.md"), [0xff, 0xfe]).expect("a file");
    let _ = trace(&["--spec", "raw.md"]).exits(65).says("UTF-8");
    world.write("long.md", &"It adds. ".repeat(600_000));
    let _ = trace(&["--spec", "long.md"]).exits(65).says("longer than 4 MiB");
    world.write("empty.md", "");
    let _ = trace(&["--spec", "empty.md"]).exits(65).says("has no sentences");
}

/// A foreign graph shows no file outside of its folder.
#[test]
fn only_files_below_the_graph_are_read_without_being_named() {
    let world = World::new();
    world.write("secret.txt", "A secret.");
    let mut graph = described(&Plot::three());
    for path in ["../secret.txt", &world.root().join("secret.txt").display().to_string()] {
        graph["metadata"]["spec"]["path"] = json!(path);
        world.write("p/rpg.json", &graph.to_string());
        let ran = world.trellis(&["plan", "trace", "p/rpg.json"]).exits(0);
        let ran = ran.says("is not below the folder of the graph");
        assert!(!ran.stdout.contains("secret"), "{}", ran.stdout);
    }
}
