//! A start after the plan changed: changed nodes are generated again, and what builds on them keeps
//! its text while its tests and the contracts that it uses hold.

use std::collections::BTreeSet;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::world::{Plot, World, eventually};

/// Returns six functions with an integration test.
fn library() -> Plot {
    Plot::garden().library(&[("middle", "summed"), ("top", "negated")], "negated(2) == -summed(2)")
}

/// Changes the description of the node at `index`.
fn changed(mut plot: Plot, index: usize, docstring: &str) -> Plot {
    plot.nodes[index]["docstring"] = docstring.into();
    plot
}

/// Returns the nodes of journal lines behind the first `skipped` ones.
fn nodes(lines: &[Value], skipped: usize) -> BTreeSet<&str> {
    lines[skipped..].iter().filter_map(|it| it["node"].as_str()).collect()
}

/// Returns the nodes for which a model was asked in the second start.
fn asked_by(world: &World, second: impl FnOnce()) -> BTreeSet<String> {
    let before = world.journal("model_call").len();
    second();
    let calls = world.journal("model_call");
    nodes(&calls, before).into_iter().map(str::to_owned).collect()
}

#[test]
fn dependents_of_a_changed_node_keep_their_code_while_their_tests_pass() {
    let world = World::new();
    let plot = library();
    let _ = world.grow(&plot, &[]).exits(0);
    let (before, spent) = (world.read("out/src/lib/top.py"), world.checkpoint()["negated"].clone());
    let plot = changed(plot, 1, "Return the square of x, that is x times x.");
    let asked = asked_by(&world, || {
        let ran = world.grow(&plot, &[]).exits(0);
        let ran = ran.says("1 node changed in the graph and will be generated again: square");
        let ran = ran.says("2 nodes build on changed ones: summed, negated;");
        assert_eq!(ran.json()["kept"], 2);
    });
    assert_eq!(asked, BTreeSet::from(["square".to_owned()]));
    assert_eq!(world.read("out/src/lib/top.py"), before);
    let now = world.checkpoint()["negated"].clone();
    for field in ["retry_count", "model", "test_results"] {
        assert_eq!(now[field], spent[field], "{field}");
    }
    let runs = world.journal("test_run").len();
    assert_eq!(world.grow(&plot, &[]).exits(0).json()["kept"], 0);
    assert_eq!(world.journal("test_run").len(), runs, "all of it is proved");
}

/// Returns `three`, or more, where `square` has another result, and with it everything above.
fn with_another_square(plot: &Plot) -> Plot {
    let mut plot = changed(plot.clone(), 1, "Return x * x + 1.");
    plot.replies.retain(|it| it["node"] == "double" || it["node"] == "tenfold");
    let replies = Plot::default()
        .function("square", "basic", &[], &[], "x * x + 1")
        .tests("square", "basic", [2, 5, 10])
        .function("summed", "middle", &["double", "square"], &[], "square(x) + double(x)")
        .tests("summed", "middle", [4, 9, 16])
        .function("negated", "top", &["summed"], &[], "0 - summed(x)")
        .tests("negated", "top", [-4, -9, -16]);
    plot.replies.extend(replies.replies);
    plot
}

#[test]
fn dependents_whose_tests_fail_are_generated_again() {
    let world = World::new();
    let plot = Plot::garden();
    let _ = world.grow(&plot, &[]).exits(0);
    let ran = world.grow(&with_another_square(&plot), &[]).exits(0).json();
    assert_eq!((&ran["kept"], &ran["passed"]), (&json!(0), &json!(6)));
    let notes = world.journal("note");
    let outdated: Vec<Value> = notes.into_iter().filter(|it| it["what"] == "outdated").collect();
    assert_eq!(nodes(&outdated, 0), BTreeSet::from(["summed", "negated"]));
    assert!(world.read("out/src/lib/middle.py").contains("square(x) + double(x)"));
    assert!(world.read("out/tests/test_top.py").contains("negated(1) == -4"));
}

#[test]
fn direct_dependents_are_generated_again_if_the_signature_they_use_changed() {
    let with = |signature: &str| {
        let world = World::new();
        let mut plot = library();
        let _ = world.grow(&plot, &[]).exits(0);
        plot.nodes[1]["signature"] = signature.into();
        let asked = asked_by(&world, || {
            let _ = world.grow(&plot, &[]).exits(0);
        });
        let outdated = world.journal("outdated");
        (asked.into_iter().collect::<Vec<_>>(), outdated)
    };
    let (asked, outdated) = with("def square(x: int) -> float");
    assert_eq!(asked, ["square", "summed"], "negated uses only the signature of summed");
    assert_eq!(outdated[0]["reason"], "the signature of square changed");
    let (asked, outdated) = with("def square(x: int, power: int = 2) -> int");
    assert_eq!(asked, ["square"]);
    assert!(outdated.is_empty());
}

#[test]
fn a_new_dependency_further_down_changes_only_the_node_that_needs_it() {
    let world = World::new();
    let plot = library();
    let _ = world.grow(&plot, &[]).exits(0);
    let mut plot = plot.function("one", "units", &[], &[], "1").tests("one", "units", [1, 1, 1]);
    plot.nodes[1]["dependencies"] = json!(["one"]);
    plot.edges.push(json!({ "source": "square", "target": "one", "type": "function_call" }));
    let asked = asked_by(&world, || {
        let _ = world.grow(&plot, &[]).exits(0).says("1 node changed");
    });
    assert_eq!(asked, ["one", "square", "the whole library"].map(str::to_owned).into());
}

#[test]
fn a_start_that_was_killed_leaves_no_dependent_untested() {
    let world = World::new();
    let plot = Plot::three();
    let _ = world.grow(&plot, &[]).exits(0);
    let mut changes = changed(plot.clone(), 0, "Return 2 * x + 1.");
    changes.replies.retain(|it| it["node"] == "square");
    let double = Plot::default()
        .function("double", "basic", &[], &[], "2 * x + 1")
        .tests("double", "basic", [3, 5, 7])
        .function("summed", "middle", &["double", "square"], &[], "square(x) + double(x)")
        .tests("summed", "middle", [4, 9, 16]);
    changes.replies.extend(double.replies);

    // The start is killed once `double` is accepted, and before anything that uses it.
    let mut slow = changed(changes.clone(), 1, "Return x times x.");
    let of_square = slow.replies.iter_mut().filter(|it| it["node"] == "square");
    of_square.for_each(|it| it["latency_ms"] = 600_000.into());
    let arguments = world.plant(&slow);
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments.push("--replay-latency");
    let mut command = world.command(&arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("trellis starts");
    let at_work = || world.checkpoint()["square"]["status"] == "in_progress";
    eventually(at_work, || "square is at work");
    child.kill().expect("it can be killed");
    child.wait().expect("it ended");

    // Now the plan's `square` is the accepted one, so nothing but the kill makes `summed` doubtful.
    let ran = world.grow(&changes, &[]).exits(0);
    assert_eq!(ran.json()["passed"], 3);
    assert!(world.read("out/tests/test_middle.py").contains("summed(1) == 4"));
}
