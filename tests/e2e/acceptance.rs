//! Acceptance tests of a specification's features: written before any node, red without code, and run
//! on the finished files.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::world::{Plot, World, eventually};

/// Returns tests in the file of a reply.
fn tests(cases: &[(&str, &str)]) -> String {
    let case = |(name, asserted): &(&str, &str)| {
        format!("\n\ndef test_{name}():\n    assert {asserted}\n")
    };
    let cases: String = cases.iter().map(case).collect();
    format!(
        "```python\nfrom lib.basic import double, square\nfrom lib.middle import summed\n{cases}```\n"
    )
}

/// Returns three functions with two features, and replies with acceptance tests.
fn described(doubles: &[&str], sums: &[&str]) -> Plot {
    let mut plot = Plot::three();
    for (node, sentences) in [(0, json!([2])), (1, json!([3])), (2, json!([3]))] {
        plot.nodes[node]["serves"] = sentences;
    }
    let sentence = |number: u32, text: &str| json!({ "number": number, "text": text });
    plot.spec = json!({
        "sentences": [sentence(1, "A little library."), sentence(2, "Numbers are doubled."),
                      sentence(3, "Squares are added to doubles.")],
        "background": [1],
        "features": [{ "name": "Doubles", "sentences": [2] }, { "name": "Sums", "sentences": [3] }],
    });
    for (feature, replies) in [("Doubles", doubles), ("Sums", sums)] {
        for (attempt, reply) in replies.iter().enumerate() {
            plot.reply(feature, "acceptance_tests", attempt, reply);
        }
    }
    plot
}

/// Returns the outcomes of the features.
fn outcomes(summary: &Value) -> Vec<&str> {
    let all = summary["acceptance"].as_array().expect("features");
    all.iter().filter_map(|it| it["outcome"].as_str()).collect()
}

/// Returns the questions about a feature.
fn questions(world: &World, feature: &str) -> usize {
    world.journal("model_call").iter().filter(|it| it["node"] == feature).count()
}

#[test]
fn features_are_tested_before_any_node_and_hold_at_the_end() {
    let world = World::new();
    let (doubles, sums) =
        (tests(&[("doubled", "double(21) == 42")]), tests(&[("sum", "summed(4) == 24")]));
    let plot = described(&[&doubles], &[&sums]);
    let ran = world.grow(&plot, &["--jobs", "2"]).exits(0).json();
    assert_eq!(outcomes(&ran), ["holds", "holds"]);
    assert_eq!(ran["suite"]["passed"], 11, "nine unit tests, and one for each feature");
    let text = world.read("out/.trellis/journal.jsonl");
    let lines = text.lines().flat_map(serde_json::from_str::<Value>);
    let lines: Vec<Value> = lines.map(|it| it["event"].clone()).collect();
    let is_node = |it: &Value| it["kind"] == "state" && it["status"] == "in_progress";
    let first = lines.iter().position(is_node).expect("a node");
    let written = lines[..first].iter().filter(|it| it["kind"] == "acceptance");
    assert_eq!(written.count(), 2);
    assert!(world.read("out/tests/acceptance/test_sums_feature.py").contains("summed(4) == 24"));
    let report = world.read("out/docs/generation_report.md");
    assert!(report.contains("2 of 2 features hold"), "{report}");

    // Nothing is asked or run again.
    let (calls, runs) = (world.journal("model_call").len(), world.journal("acceptance_run").len());
    let tree = world.tree();
    assert_eq!(outcomes(&world.grow(&plot, &[]).exits(0).json()), ["holds", "holds"]);
    assert_eq!(world.journal("model_call").len(), calls);
    assert_eq!(world.journal("acceptance_run").len(), runs);
    crate::world::assert_same(&world.tree(), &tree);
}

#[test]
fn tests_that_prove_nothing_are_sent_back_and_then_left_out() {
    let world = World::new();
    let both = tests(&[("nothing", "double is not None"), ("doubled", "double(21) == 42")]);
    let misused = tests(&[("sum", "summed.of(4) == 24")]);
    let unknown = tests(&[]) + &tests(&[("sum", "1")]).replace("summed", "total");
    let plot = described(&[&both, &both, &both], &[&misused, &unknown, &unknown]);
    let ran = world.grow(&plot, &[]).exits(0).json();
    assert_eq!(outcomes(&ran), ["holds", "untested"]);
    let reason = ran["acceptance"][1]["reason"].as_str().expect("a reason");
    assert!(reason.contains("cannot be collected") && reason.contains("total"), "{reason}");
    assert_eq!(questions(&world, "Doubles"), 3);
    let kept = world.read("out/tests/acceptance/test_doubles_feature.py");
    assert!(kept.contains("double(21) == 42") && !kept.contains("test_nothing"), "{kept}");
    assert!(!world.out().join("tests/acceptance/test_sums_feature.py").exists());
}

#[test]
fn tests_that_never_ran_or_reached_no_part_are_sent_back() {
    let world = World::new();
    let crashed = tests(&[("doubled", "double(21) == 42"), ("end", "__import__('os')._exit(3)")]);
    let apart = tests(&[("doubled", "double(21) == 42"), ("else", "len('four') == 5")]);
    let plot = described(
        &[&crashed, &tests(&[("doubled", "double(21) == 42")])],
        &[&apart, &tests(&[("sum", "summed(4) == 24")])],
    );
    assert_eq!(outcomes(&world.grow(&plot, &[]).exits(0).json()), ["holds", "holds"]);
    assert_eq!((questions(&world, "Doubles"), questions(&world, "Sums")), (2, 2));
    let kept = world.read("out/tests/acceptance/test_sums_feature.py");
    assert!(!kept.contains("test_else"), "{kept}");
}

#[test]
fn tests_may_expect_a_planned_exception() {
    let world = World::new();
    let sums = tests(&[("sum", "issubclass(Refused, ValueError) and summed(4) == 24")]);
    let sums = sums.replace("import summed", "import Refused, summed");
    let mut plot = described(&[&tests(&[("doubled", "double(21) == 42")])], &[&sums]);
    plot.nodes.push(json!({
        "id": "Refused", "name": "Refused", "type": "class", "node_type": "leaf",
        "file_path": "src/lib/middle.py", "signature": "class Refused(ValueError)",
        "docstring": "A number that cannot be added.", "dependencies": [], "subgraph_id": "middle",
    }));
    let code = "```python\nclass Refused(ValueError):\n    \"\"\"A number that cannot be added.\"\"\"\n```\n";
    plot.reply("Refused", "implementation", 0, code);
    let cases: String = (1..4)
        .map(|it| {
            format!("\n\ndef test_refused_{it}():\n    assert str(Refused({it})) == \"{it}\"\n")
        })
        .collect();
    let unit = format!("```python\nfrom lib.middle import Refused\n{cases}```\n");
    plot.reply("Refused", "tests", 0, &unit);
    assert_eq!(outcomes(&world.grow(&plot, &[]).exits(0).json()), ["holds", "holds"]);
    assert_eq!(questions(&world, "Sums"), 1);
}

#[test]
fn features_of_one_name_are_one_feature() {
    let world = World::new();
    let both = tests(&[("doubled", "double(21) == 42"), ("sum", "summed(4) == 24")]);
    let mut plot = described(&[&both], &[]);
    plot.spec["features"][1]["name"] = "Doubles".into();
    let ran = world.grow(&plot, &[]).exits(0).json();
    assert_eq!(outcomes(&ran), ["holds"]);
    assert_eq!(ran["acceptance"][0]["sentences"], json!([2, 3]));
    assert_eq!(questions(&world, "Doubles"), 1);
}

#[test]
fn a_feature_with_another_name_keeps_its_tests() {
    let world = World::new();
    let mut plot = described(
        &[&tests(&[("doubled", "double(21) == 42")])],
        &[&tests(&[("sum", "summed(4) == 24")])],
    );
    let _ = world.grow(&plot, &[]).exits(0);
    plot.spec["features"][1]["name"] = "Totals".into();
    assert_eq!(outcomes(&world.grow(&plot, &[]).exits(0).json()), ["holds", "holds"]);
    assert_eq!(questions(&world, "Totals"), 0);
    assert!(world.read("out/tests/acceptance/test_totals_feature.py").contains("summed(4) == 24"));
    assert!(!world.out().join("tests/acceptance/test_sums_feature.py").exists());
}

#[test]
fn tests_edited_by_hand_stay_and_are_not_reported_as_the_specification_s() {
    let world = World::new();
    let plot = described(
        &[&tests(&[("doubled", "double(21) == 42")])],
        &[&tests(&[("sum", "summed(4) == 24")])],
    );
    let _ = world.grow(&plot, &[]).exits(0);
    let path = "out/tests/acceptance/test_sums_feature.py";
    let mine = world.read(path) + "\n\ndef test_mine():\n    assert summed(0) == 0\n";
    world.write(path, &mine);
    let _ = world.grow(&plot, &[]).exits(65).says("test_sums_feature.py");
    let ran = world.grow(&plot, &["--keep-edits"]).exits(0).json();
    assert_eq!(outcomes(&ran), ["holds", "edited"]);
    assert_eq!(ran["acceptance"][1]["path"], "tests/acceptance/test_sums_feature.py");
    assert_eq!(world.read(path), mine);
    let report = world.read("out/docs/generation_report.md");
    assert!(report.contains("1 of 2 features hold"), "{report}");
    assert_eq!(outcomes(&world.grow(&plot, &[]).exits(0).json()), ["holds", "edited"]);
    assert_eq!(questions(&world, "Sums"), 1);
}

#[test]
fn a_feature_does_not_hold_if_its_tests_fail_in_the_whole_suite() {
    let world = World::new();
    let sums = tests(&[("sum", "summed(4) == 24 and 'UNIT' not in os.environ")]);
    let marked = |text: &str, name: &str| {
        let text = text.replace("```python\n", "```python\nimport os\n");
        let mark = format!("\nMARK = os.environ.setdefault('{name}', 'yes')\n\n\ndef");
        text.replacen("\n\ndef", &mark, 1)
    };
    let sums = marked(&sums, "ACCEPTANCE");
    let mut plot = described(&[&tests(&[("doubled", "double(21) == 42")])], &[&sums]);
    let unit = plot.replies.iter_mut().find(|it| it["node"] == "double" && it["stage"] == "tests");
    let unit = unit.expect("unit tests of double");
    let text = marked(unit["reply"].as_str().expect("text"), "UNIT");
    unit["reply"] = text.replace("== 6", "== 6 and 'ACCEPTANCE' not in os.environ").into();
    let ran = world.grow(&plot, &[]).exits(1).json();
    assert_eq!(outcomes(&ran), ["holds", "fails"]);
    let reason = ran["acceptance"][1]["reason"].as_str().expect("a reason");
    assert!(reason.contains("test_sum") && reason.contains("whole suite"), "{reason}");
}

#[test]
fn a_feature_that_does_not_hold_is_reported_with_its_tests() {
    let world = World::new();
    let (doubles, sums) =
        (tests(&[("doubled", "double(21) == 42")]), tests(&[("sum", "summed(4) == 25")]));
    let plot = described(&[&doubles], &[&sums]);
    let ran = world.grow(&plot, &[]).exits(1).json();
    assert_eq!(outcomes(&ran), ["holds", "fails"]);
    assert_eq!((&ran["passed"], &ran["suite"]["outcome"]), (&json!(3), &json!("passed")));
    let reason = ran["acceptance"][1]["reason"].as_str().expect("a reason");
    assert!(reason.contains("test_sum") && reason.contains("24 == 25"), "{reason}");
    assert!(!world.out().join("tests/acceptance/test_sums_feature.py").exists());
    let report = world.read("out/docs/generation_report.md");
    assert!(report.contains("assert summed(4) == 25"), "{report}");
    assert!(report.contains("Compare the failing acceptance tests"), "{report}");
    assert_eq!(outcomes(&world.grow(&plot, &[]).exits(1).json()), ["holds", "fails"]);
    assert_eq!(questions(&world, "Sums"), 1);
}

#[test]
fn only_a_change_of_sentences_or_signatures_asks_again() {
    let world = World::new();
    let sums = tests(&[("sum", "summed(4) == 24")]);
    let mut plot = described(&[], &[&sums]);
    plot.spec["features"] = json!([{ "name": "Sums", "sentences": [3] }]);
    let _ = world.grow(&plot, &[]).exits(0);
    plot.nodes[1]["docstring"] = "Return the square of x.".into();
    let _ = world.grow(&plot, &[]).exits(0);
    assert_eq!(questions(&world, "Sums"), 1);
    plot.spec["sentences"][2]["text"] = "Doubles are added to squares.".into();
    assert_eq!(outcomes(&world.grow(&plot, &[]).exits(0).json()), ["holds"]);
    assert_eq!(questions(&world, "Sums"), 2);
    plot.nodes[1]["signature"] = "def square(x: int, power: int = 2) -> int".into();
    let _ = world.grow(&plot, &[]).exits(0);
    assert_eq!(questions(&world, "Sums"), 3);
}

#[test]
fn a_start_after_a_kill_does_not_pay_again() {
    let world = World::new();
    let sums = tests(&[("sum", "summed(4) == 24")]);
    let plot = described(&[&tests(&[("doubled", "double(21) == 42")])], &[&sums]);
    let mut slow = plot.clone();
    let of_double = slow.replies.iter_mut().filter(|it| it["node"] == "double");
    of_double.for_each(|it| it["latency_ms"] = 600_000.into());
    let mut arguments = world.plant(&slow);
    arguments.push("--replay-latency".to_owned());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut command = world.command(&arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("trellis starts");
    let at_work = || {
        let journal = world.out().join(".trellis/journal.jsonl");
        std::fs::read_to_string(journal).is_ok_and(|it| it.contains("\"in_progress\""))
    };
    eventually(at_work, || "a node is at work");
    child.kill().expect("it can be killed");
    child.wait().expect("it ended");
    assert_eq!(outcomes(&world.grow(&plot, &[]).exits(0).json()), ["holds", "holds"]);
    assert_eq!((questions(&world, "Doubles"), questions(&world, "Sums")), (1, 1));
}
