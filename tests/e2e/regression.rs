//! A bug in a node that has passed: found, fixed from the failing node, and verified by all
//! dependents.

use serde_json::json;

use crate::world::{Plot, World, assert_same, tree};

const WRONG: &str = "2 * x if x < 4 or x > 6 else 0";

/// Returns five nodes. `scaled`, the third, is wrong for values that neither its own tests nor
/// those of `far` use.
pub(crate) fn chain() -> Plot {
    let mut plot = Plot::default()
        .function("one", "basic", &[], &[], "x + 1")
        .tests("one", "basic", [2, 3, 4])
        .function("two", "basic", &["one"], &[], "one(x) + 1")
        .tests("two", "basic", [3, 4, 5])
        .function("scaled", "middle", &["two"], &[], WRONG)
        .tests("scaled", "middle", [2, 4, 6])
        .function("far", "top", &["scaled"], &[], "scaled(x + 8)")
        .tests("far", "top", [18, 20, 22])
        .function("total", "top", &["scaled"], &[], "scaled(x) + scaled(x + 3)")
        .tests("total", "top", [10, 14, 18]);
    let scaled =
        |body: &str| format!("```python\ndef scaled(x: int) -> int:\n    return {body}\n```\n");
    plot.reply("total", "fix", 0, &scaled("2 * x if x < 7 else 0"));
    plot.reply("total", "fix", 1, &scaled("2 * x"));
    plot
}

/// The seed's scenario: modifying node 3 of 5 triggers its regression tests; the first fix breaks
/// node 4 and is undone, the second is kept.
#[test]
fn fixing_a_node_that_has_passed_runs_the_tests_of_all_that_build_on_it() {
    let world = World::new();
    let summary = world.grow(&chain(), &["--jobs=1"]).exits(0).json();
    assert_eq!((&summary["passed"], &summary["passedByFixes"]), (&5.into(), &json!([4, 0, 1])));
    let regressions = world.journal("regression");
    let told: Vec<(bool, u64)> = (regressions.iter())
        .map(|it| (it["outcome"] == "passed", it["failed"].as_u64().expect("a number")))
        .collect();
    // Twice, since a single failure may be flaky.
    assert_eq!(told, [(false, 3), (false, 3), (true, 0)], "{regressions:?}");
    for it in &regressions {
        assert_eq!((&it["node"], &it["modified"]), (&"total".into(), &json!(["scaled"])));
        assert_eq!(it["rerun"], json!(["scaled", "far"]));
    }
    assert!(world.read("out/src/lib/middle.py").contains("return 2 * x\n"));
    // The next run finds the accepted state.
    let _ = world.grow(&chain(), &["--jobs=1"]).exits(0);
    assert!(world.read("out/src/lib/middle.py").contains("return 2 * x\n"));
    // The same for any number of jobs: a change of a dependency waits until no dependent is being
    // worked on.
    let again = World::new();
    let _ = again.grow(&chain(), &["--jobs=4"]).exits(0);
    assert_same(&tree(&again.out()), &world.tree());
}

/// Suspects and searches are in the journal; the model sees the suspect's text.
#[test]
fn where_it_was_looked_is_in_the_journal_and_the_report() {
    let world = World::new();
    let _ = world.grow(&chain(), &[]).exits(0);
    let searches = world.journal("localization");
    let tools: Vec<&str> = searches.iter().filter_map(|it| it["tool"].as_str()).collect();
    assert!(tools.contains(&"spectrum") && tools.contains(&"references"), "{searches:?}");
    let suspects = searches.iter().filter(|it| it["node"] == "total" && it["tool"] == "spectrum");
    for it in suspects {
        let found = it["found"].as_array().expect("a list");
        assert!(found.contains(&"scaled".into()), "{it}");
    }
    let report = world.read("out/docs/generation_report.md");
    assert!(report.contains("**Localization by spectrum**"), "{report}");
    let notes = world.journal("note");
    assert!(
        notes
            .iter()
            .any(|it| it["what"] == "upstream-fix-taken-back" || it["what"] == "regression"),
        "{notes:?}"
    );
}

/// Disagreeing votes leave a page for the person who takes over.
#[test]
fn a_person_who_is_called_finds_a_page_to_begin_with() {
    let world = World::new();
    let mut plot = Plot::default().function("odd", "basic", &[], &["x"], "x + 1").tests(
        "odd",
        "basic",
        [2, 3, 4],
    );
    for (vote, letter) in ["A", "A", "B", "B", "C"].iter().enumerate() {
        plot.reply("odd", "diagnosis", vote, letter);
    }
    let summary = world.grow(&plot, &[]).exits(2).json();
    let reason = summary["failures"]["odd"].as_str().expect("a reason");
    assert!(reason.starts_with("needs_human: the votes on a failure are split"), "{reason}");
    let page = world.read("out/.trellis/debug/odd.md");
    assert!(page.contains("# `odd` needs your review") && page.contains("return x\n"), "{page}");
    let data: serde_json::Value =
        serde_json::from_str(&world.read("out/.trellis/debug/odd.json")).expect("JSON");
    assert_eq!((&data["node"], &data["version"]), (&"odd".into(), &1.into()));
}

/// The seed's scenario: five nodes, tests from entry (node 1) to exit (node 5). One of five tests
/// expects something that the plan does not say; four are enough.
#[test]
fn a_finished_subgraph_is_tested_from_where_data_comes_in_to_where_the_result_comes_out() {
    let world = World::new();
    let plot = line(&[
        ("first_to_last", "last(3) == 24"),
        ("again", "last(1) == 16"),
        ("none", "last(0) == 12"),
    ]);
    let summary = world.grow(&plot, &["--jobs=1"]).exits(0).json();
    let flows = &summary["integration"]["chain"];
    assert_eq!(
        (&flows["outcome"], &flows["passed"], &flows["failed"]),
        (&"passed".into(), &4.into(), &1.into())
    );
    let left_out = flows["leftOut"][0].as_str().expect("a test");
    assert!(left_out.contains("::test_unsaid: AssertionError"), "{left_out}");
    let kept = world.read("out/tests/integration/test_chain_flow.py");
    assert!(kept.contains("def test_first_to_last") && !kept.contains("test_unsaid"), "{kept}");
    let report = world.read("out/docs/generation_report.md");
    for told in [
        "- **Test Functions**: 20 written, 19 kept, 1 removed; 19 of those kept pass (100%)",
        "  - unit: 15 written, 15 kept, 0 removed\n",
        "  - integration: 5 written, 4 kept, 1 removed\n",
    ] {
        assert!(report.contains(told), "`{told}` is missing in {report}");
    }
    assert_eq!(summary["suite"]["passed"], 19, "{summary}");
    let asked = world.journal("integration").len();
    let _ = world.grow(&plot, &["--jobs=1"]).exits(0);
    assert_eq!(world.journal("integration").len(), asked, "a second run asks nothing");
    let again = World::new();
    let _ = again.grow(&plot, &["--jobs=4"]).exits(0);
    assert_same(&tree(&again.out()), &world.tree());
}

/// Parts that passed alone and by subgraph are finally tested together as a user would use them.
#[test]
fn the_whole_library_is_tested_at_its_end() {
    let names = [("basic", "double"), ("top", "negated")];
    let expect =
        |last: i64| Plot::garden().library(&names, &format!("negated(double(1)) == {last}"));
    let world = World::new();
    let summary = world.grow(&expect(-8), &["--jobs=1"]).exits(0).json();
    let flows = &summary["integration"]["the whole library"];
    assert_eq!((&flows["outcome"], &flows["passed"]), (&"passed".into(), &1.into()), "{summary}");
    assert!(world.read("out/tests/integration/test_library_flow.py").contains("def test_there"));
    let asked = world.journal("integration");
    assert_eq!(asked.last().expect("a result")["subgraph"], "the whole library", "{asked:?}");
    let _ = world.grow(&expect(-8), &["--jobs=1"]).exits(0);
    assert_eq!(world.journal("integration").len(), asked.len(), "a second run asks nothing");
    let again = World::new();
    let _ = again.grow(&expect(-8), &["--jobs=4"]).exits(0);
    assert_same(&tree(&again.out()), &world.tree());
    // A failure of the whole is reported, whatever each part did alone.
    let world = World::new();
    let summary = world.grow(&expect(-9), &[]).exits(1).json();
    assert_eq!(summary["integration"]["the whole library"]["outcome"], "failed", "{summary}");
    let report = world.read("out/docs/generation_report.md");
    assert!(!report.contains("ready for validation"), "{report}");
}

#[test]
fn too_few_passing_integration_tests_are_told_and_not_kept() {
    let world = World::new();
    let plot = line(&[
        ("first_to_last", "last(3) == 1"),
        ("again", "last(1) == 1"),
        ("none", "last(0) == 12"),
    ]);
    let summary = world.grow(&plot, &[]).exits(1).json();
    let flows = &summary["integration"]["chain"];
    assert_eq!(
        (&flows["outcome"], &flows["passed"], &flows["failed"]),
        (&"failed".into(), &2.into(), &3.into())
    );
    let told = flows["leftOut"].as_array().expect("a list").last().and_then(|it| it.as_str());
    assert!(told.is_some_and(|it| it.starts_with("suspects: ")), "{flows}");
    assert!(!world.out().join("tests/integration").exists());
    let report = world.read("out/docs/generation_report.md");
    assert!(
        report.contains("- **Integration Tests**: 5 cases generated, 2 passing (40%)"),
        "{report}"
    );
}

/// Returns `entry -> second -> third -> fourth -> last`, each doubling or adding, with these
/// integration tests.
fn line(tests: &[(&str, &str)]) -> Plot {
    let mut plot = Plot::default()
        .function("entry", "chain", &[], &[], "x + 1")
        .tests("entry", "chain", [2, 3, 4])
        .function("second", "chain", &["entry"], &[], "entry(x) + 1")
        .tests("second", "chain", [3, 4, 5])
        .function("third", "chain", &["second"], &[], "second(x) * 2")
        .tests("third", "chain", [6, 8, 10])
        .function("fourth", "chain", &["third"], &[], "third(x) + 2")
        .tests("fourth", "chain", [8, 10, 12])
        .function("last", "chain", &["fourth"], &[], "fourth(x) * 2")
        .tests("last", "chain", [16, 20, 24]);
    let mut text = "```python\nfrom lib.chain import entry, last\n".to_owned();
    let more = [("entry", "entry(1) == 2"), ("unsaid", "last(-9) == 0")];
    for (name, check) in tests.iter().chain(&more) {
        text += &format!("\n\ndef test_{name}():\n    assert {check}\n");
    }
    plot.reply("chain", "integration_tests", 0, &(text + "```\n"));
    plot
}

/// Two nodes want to change the same one. The second starts over from the first one's change, like
/// a node of a later run, since its own fix was for another text.
#[test]
fn who_waited_while_its_view_was_changed_begins_again() {
    let mut plot = chain().function("other", "side", &["scaled"], &[], "scaled(x + 4)").tests(
        "other",
        "side",
        [10, 12, 14],
    );
    let scaled = "```python\ndef scaled(x: int) -> int:\n    return 2 * x + 0\n```\n";
    plot.reply("other", "fix", 0, scaled);
    let at_once = World::new();
    let summary = at_once.grow(&plot, &["--jobs=1"]).exits(0).json();
    assert_eq!(summary["passedByFixes"], json!([5, 1]), "{summary}");
    assert!(at_once.read("out/src/lib/middle.py").contains("return 2 * x + 0\n"));
    let notes = at_once.journal("note");
    assert!(
        notes.iter().any(|it| it["node"] == "total" && it["what"] == "begun-again"),
        "{notes:?}"
    );
    let jobs = World::new();
    let _ = jobs.grow(&plot, &["--jobs=4"]).exits(0);
    assert_same(&tree(&jobs.out()), &at_once.tree());
}

/// Ids of cases may contain anything; the kept tests must pass without those left out.
#[test]
fn what_is_kept_of_integration_tests_passes_alone() {
    let module = |more: &str| {
        let good = [
            ("first_to_last", "last(3) == 24"),
            ("again", "last(1) == 16"),
            ("none", "last(0) == 12"),
        ];
        let mut plot = line(&good);
        let reply = &mut plot.replies.last_mut().expect("a reply")["reply"];
        let text = reply
            .as_str()
            .expect("text")
            .replace("def test_unsaid():\n    assert last(-9) == 0\n", more);
        *reply = text.into();
        plot
    };
    let world = World::new();
    let odd = "@__import__('pytest').mark.parametrize('x', [1], ids=['a::b'])\ndef test_odd(x):\n    assert last(x) == 0\n";
    let summary = world.grow(&module(odd), &[]).exits(0).json();
    assert_eq!(summary["integration"]["chain"]["outcome"], "passed", "{summary}");
    assert!(!world.read("out/tests/integration/test_chain_flow.py").contains("test_odd"));
    let world = World::new();
    let order = "SEEN = []\n\n\ndef test_aaa():\n    SEEN.append(1)\n    assert last(1) == 0\n\n\ndef test_bbb():\n    assert SEEN\n";
    let summary = world.grow(&module(order), &[]).exits(1).json();
    assert_eq!(summary["integration"]["chain"]["outcome"], "failed", "{summary}");
    assert_eq!(summary["suite"]["outcome"], "passed", "{summary}");
}

/// An assertion of several lines is compared with the documentation as a whole: its first line
/// alone would suggest that the test expects something else.
#[test]
fn an_assertion_of_many_lines_is_compared_as_a_whole() {
    let mut plot = Plot::default().function("spread", "basic", &[], &["[x] * 29"], "[x] * 30");
    let seven = vec!["7"; 30].join(", ");
    let signature = "def spread(x: int) -> list[int]";
    plot.nodes[0]["docstring"] = format!("Give x 30 times.\n\n`spread(7) == [{seven}]`").into();
    plot.nodes[0]["signature"] = signature.into();
    for reply in &mut plot.replies {
        let text = reply["reply"].as_str().expect("a text");
        reply["reply"] = text.replace("def spread(x: int) -> int", signature).into();
    }
    let tests = format!(
        "```python\nfrom lib.basic import spread\n\n\ndef test_spread():\n    assert spread(7) == [{seven}]\n\n\n\
         def test_length():\n    assert len(spread(1)) == 30\n\n\ndef test_first():\n    assert spread(2)[0] == 2\n```"
    );
    plot.reply("spread", "tests", 0, &tests);
    let world = World::new();
    let summary = world.grow(&plot, &[]).exits(0).json();
    assert_eq!(summary["passedByFixes"], json!([0, 1]), "{summary}");
    let notes = world.journal("note");
    let said = notes.iter().find(|it| it["what"] == "diagnosed").expect("a diagnosis");
    let text = said["text"].as_str().expect("a text");
    assert!(text.contains("the documentation has the example that fails"), "{text}");
}
