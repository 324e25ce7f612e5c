//! A timeout of tests names the limit and the way to raise it.

use crate::implement::{code, implement, made, new_tests, shop};
use crate::mock::KEY;
use crate::models::{Service, prompt, said};
use crate::repair::{block, calculator, good_zero};
use crate::world::{Plot, Ran, World};

const ENDLESS: &str = "def test_a():\n    while True:\n        pass\n";

fn endless() -> World {
    let world = World::new();
    world.write("p/test_a.py", ENDLESS);
    world.write("p/pyproject.toml", "");
    world
}

#[test]
fn tests_that_are_run_or_looked_at_are_ended_by_a_limit_that_is_named() {
    let one =
        "(the limit of one test; `--test-timeout` (in the editor `trellis.testTimeout`) raises it)";
    let all = "(the limit of a run; `--run-timeout` (in the editor `trellis.allow.runSeconds`) raises it)";
    let measured = "(the limit of one test, doubled because lines are measured; `--test-timeout` (in the \
         editor `trellis.testTimeout`) raises it)";
    let table: [(&[&str], String); 3] = [
        (&["test", "p", "--timeout=1"], format!("one test or import was stopped after 1 s {one}")),
        (&["test", "p", "--run-timeout=2"], format!("the whole run was stopped after 2 s {all}")),
        (
            &["localize", "p", "--timeout=1", "--trials=0"],
            format!("still running after 2 s {measured}"),
        ),
    ];
    for (arguments, words) in table {
        let world = endless();
        let ran = world.trellis(&[arguments, &["--sandbox=local", "--json"]].concat());
        assert!(ran.stdout.contains(&words), "{words}:\n{}\n{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn a_limit_of_runs_that_no_flag_raises_names_the_setting() {
    let world = World::new();
    world.write("home/.config/trellis/trellis.toml", "[sandbox]\nrun_seconds = 2\n");
    let words = "the whole run was stopped after 2 s (the limit of a run; `run_seconds` in trellis.toml (in the editor `trellis.allow.runSeconds`) raises it)";
    assert!(grown(&world, &[]).contains(words));
    let words = "one test or import was stopped after 1 s (the limit of one test; `--test-timeout` (in the editor `trellis.testTimeout`) raises it)";
    assert!(grown(&World::new(), &["--test-timeout=1"]).contains(words));
}

/// Returns the journal of a plan whose only function never returns.
fn grown(world: &World, more: &[&str]) -> String {
    world.plant(&Plot::default().function("f0", "f0", &[], &[], "x + 1"));
    let service = Service::start(Box::new(|question| match prompt(question) {
        it if it.contains("VERDICT: A, B or C") => said("A"),
        it if it.contains("Write a pytest module") => crate::models::grows(question),
        _ => said("```python\ndef f0(x: int) -> int:\n    while True:\n        pass\n```"),
    }));
    let arguments = ["generate", "rpg.json", "--out=out", "--sandbox=local", "--model=openai:tiny"];
    let mut command = world.command(&[&arguments, more].concat());
    command.env("OPENAI_BASE_URL", &service.url).env("OPENAI_API_KEY", KEY);
    let ran = Ran::of(command.output().expect("trellis starts"));
    assert_ne!(ran.code, Some(0), "{}", ran.stderr);
    world.read("out/.trellis/journal.jsonl")
}

#[test]
fn an_issue_whose_code_never_returns_is_told_the_limit() {
    let table = [
        (
            "--test-timeout=1",
            "(the limit of one test; `--test-timeout` (in the editor `trellis.testTimeout`) raises it)",
        ),
        (
            "--run-timeout=3",
            "(the limit of a run; `--run-timeout` (in the editor `trellis.allow.runSeconds`) raises it)",
        ),
    ];
    for (limit, words) in table {
        let loops = "def discounted(prices, percent):\n    while True:\n        pass\n";
        let world = shop(&[
            ("scaffold", &[new_tests()]),
            ("implementation", &[made(loops)]),
            ("fix", &[code()]),
        ]);
        let result = implement(&world, &["--approve", "autonomous", limit]).json();
        assert!(result["history"].to_string().contains(words), "{result:#}");
    }
}

/// The first run measures lines, which takes time; the runs of a fix get the given time as well.
#[test]
fn a_repair_names_the_limit_that_ended_a_test_before_and_with_a_fix() {
    let endless = block("    return a - b", "    while True:\n        pass");
    let world = calculator(&[&endless], &[&good_zero()]);
    let arguments = "repair p --trials 0 --sandbox local --test-timeout 1 --max-iterations 1 --no-report --json --approve autonomous --model recorded:replies.jsonl";
    let ran = world.trellis(&arguments.split(' ').collect::<Vec<_>>());
    let words = "was stopped after 1 s (the limit of one test; `--test-timeout` (in the editor `trellis.testTimeout`) raises it)";
    assert!(ran.stdout.contains(words), "{}\n{}", ran.stdout, ran.stderr);
    world.write("p/test_calculator.py", ENDLESS);
    let ran = world.trellis(&arguments.split(' ').collect::<Vec<_>>());
    let words = "still running after 2 s (the limit of one test, doubled because lines are measured; \
         `--test-timeout` (in the editor `trellis.testTimeout`) raises it)";
    assert!(ran.stdout.contains(words), "{}\n{}", ran.stdout, ran.stderr);
}
