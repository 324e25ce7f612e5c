//! Plans that change: differences, and what the next run makes of them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::world::{Plot, World};

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().filter_map(Value::as_str).collect()
}

#[test]
fn a_diff_says_which_nodes_the_next_run_generates_again() {
    let world = World::new();
    let plot = Plot::garden();
    let _ = world.grow(&plot, &[]).exits(0);
    world.write("old.json", &plot.graph().to_string());
    let mut graph = plot.graph();
    graph["nodes"][1]["docstring"] = json!("Return the square of an int x.");
    graph["metadata"]["version"] = json!("0.3.0");
    world.write("new.json", &graph.to_string());
    let found = world.trellis(&["plan", "diff", "old.json", "new.json", "--json"]).exits(0).json();
    let work = &found["regeneration"];
    assert_eq!(ids(&work["again"]), ["square"], "{found}");
    assert_eq!(ids(&work["dependents"]), ["summed", "negated"], "{found}");
    assert_eq!(found["changed"][0]["fields"][0]["field"], "docstring");
    assert_eq!(found["metadata"][0]["new"], "0.3.0");

    let before = world.journal("accepted").len();
    let (graph, replies) = (world.root().join("new.json"), world.root().join("replies.jsonl"));
    let (model, out) = (format!("--model=recorded:{}", replies.display()), world.out());
    let (graph, out) = (graph.display().to_string(), format!("--out={}", out.display()));
    let _ = world.trellis(&["generate", &graph, &model, &out]).exits(0);
    let accepted = world.journal("accepted").split_off(before);
    let again: BTreeSet<&str> = accepted.iter().filter_map(|it| it["node"].as_str()).collect();
    assert_eq!(again, BTreeSet::from(["square", "summed", "negated"]), "{accepted:?}");
}

#[test]
fn a_diff_is_an_error_only_on_request() {
    let world = World::new();
    let plot = Plot::three();
    world.write("old.json", &plot.graph().to_string());
    let mut graph = plot.graph();
    graph["nodes"][0]["file_path"] = json!("src/lib/other.py");
    graph["nodes"].as_array_mut().expect("nodes").remove(1);
    world.write("new.json", &graph.to_string());
    let diff = |more: &[&str]| world.trellis(&[&["plan", "diff", "old.json"], more].concat());
    assert_eq!(diff(&["old.json", "--exit-code"]).exits(0).stdout, "no differences\n");
    let found = diff(&["new.json"]).exits(0).stdout;
    let expected = "removed function square  src/lib/basic.py  (square)\n\
         moved double\n  file_path: src/lib/basic.py -> src/lib/other.py\n\
         remove with --drop-removed (1): square\n";
    let has_all = expected.lines().all(|line| found.lines().any(|it| it == line));
    assert!(has_all, "{found}");
    let _ = diff(&["new.json", "--exit-code"]).exits(1);
    let _ = diff(&["new.json", "--exit-code", "--json"]).exits(1).json();
    let _ = diff(&["none.json"]).exits(65).says("none.json");
    world.write("broken.json", "{");
    let _ = diff(&["broken.json"]).exits(65).says("broken.json");
}
