//! Repairs failing tests of repositories that Trellis did not generate.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::mock::KEY;
use crate::models::{Service, prompt, said};
use crate::runs::{call, editor, ended, result, start, until};
use crate::world::{Ran, World, assert_same, repository, tree};

pub(crate) const CALCULATOR: &str = "\
\"\"\"A small calculator.\"\"\"


def add(a, b):
    return a - b


def divide(a, b):
    \"\"\"a by b; ValueError where b is 0.\"\"\"
    return a / b


def mean(values):
    return divide(add(sum(values), 0), len(values))
";

pub(crate) const TESTS: &str = "\
import pytest

from calculator import add, divide, mean


def test_add():
    assert add(2, 3) == 5


def test_add_negative():
    assert add(-2, -3) == -5


def test_divide():
    assert divide(6, 3) == 2


def test_divide_by_zero():
    with pytest.raises(ValueError):
        divide(1, 0)


def test_mean():
    assert mean([1, 2, 3]) == 2
";

pub(crate) const ADD: &str = "test_calculator.py::test_add";
const ZERO: &str = "test_calculator.py::test_divide_by_zero";

pub(crate) fn block(search: &str, replace: &str) -> String {
    format!("calculator.py\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n")
}

pub(crate) fn good_add() -> String {
    block("    return a - b", "    return a + b")
}

pub(crate) fn good_zero() -> String {
    block(
        "    return a / b",
        "    if b == 0:\n        raise ValueError('b is 0')\n    return a / b",
    )
}

pub(crate) fn mended() -> String {
    CALCULATOR.replace("a - b", "a + b").replace(
        "    return a / b",
        "    if b == 0:\n        raise ValueError('b is 0')\n    return a / b",
    )
}

/// Creates a calculator with two bugs below `p`, and a model's replies about each of them.
pub(crate) fn calculator(add: &[&str], zero: &[&str]) -> World {
    let world = World::new();
    world.write("p/calculator.py", CALCULATOR);
    world.write("p/test_calculator.py", TESTS);
    let lines = [(ADD, add), (ZERO, zero)].into_iter().flat_map(|(node, replies)| {
        replies.iter().enumerate().map(move |(attempt, reply)| {
            json!({ "node": node, "stage": "repair", "attempt": attempt, "reply": reply })
        })
    });
    let lines: Vec<String> = lines.map(|it| it.to_string()).collect();
    world.write("replies.jsonl", &(lines.join("\n") + "\n"));
    world
}

pub(crate) fn both() -> World {
    calculator(&[&good_add()], &[&good_zero()])
}

/// Without trials of small edits, which would mend some of the bugs before a model is asked.
pub(crate) const ARGUMENTS: [&str; 8] = [
    "repair",
    "p",
    "--json",
    "--trials=0",
    "--sandbox",
    "local",
    "--model",
    "recorded:replies.jsonl",
];

pub(crate) fn repair(world: &World, more: &[&str]) -> Ran {
    world.trellis(&[&ARGUMENTS, more].concat())
}

/// Returns the project's files, without those of Trellis and git.
pub(crate) fn files(world: &World) -> BTreeMap<String, String> {
    let mut files = tree(&world.root().join("p"));
    files.retain(|path, _| !path.starts_with(".trellis/") && !path.starts_with(".git/"));
    files
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Returns a diagnosis with a proposed change.
fn report(search: &str, replace: &str) -> String {
    let changes =
        json!([{ "file_path": "calculator.py", "search_text": search, "replace_text": replace }]);
    let fixes = json!([{ "description": "mend it", "confidence": 0.9, "changes": changes }]);
    format!(
        "add(2, 3) gives -1.\n\n{}",
        json!({ "root_cause": "`add` subtracts", "suggested_fixes": fixes })
    )
}

/// Creates a calculator whose models reply from a list of lines: node, stage, attempt, reply.
fn answered(lines: &[(&str, &str, u32, String)]) -> World {
    let world = calculator(&[], &[&good_zero()]);
    let line = |(node, stage, attempt, reply): &(&str, &str, u32, String)| {
        json!({ "node": node, "stage": stage, "attempt": attempt, "reply": reply }).to_string()
    };
    let more: Vec<String> = lines.iter().map(line).collect();
    world.write("replies.jsonl", &(world.read("replies.jsonl") + &more.join("\n") + "\n"));
    world
}

fn calls(world: &World) -> Vec<(String, String)> {
    let journal = world.read("p/.trellis/journal.jsonl");
    let lines = journal.lines().map(|it| serde_json::from_str::<Value>(it).expect("a line"));
    let calls = lines.filter(|it| it["event"]["kind"] == "model_call");
    let calls = calls.filter(|it| it["event"]["error"].is_null());
    calls.map(|it| (text(&it["event"]["node"]), text(&it["event"]["stage"]))).collect()
}

#[test]
fn what_the_diagnosis_suggests_is_tried_before_anything_is_asked() {
    let world = answered(&[(ADD, "report", 0, report("return a - b", "return a + b"))]);
    let result = repair(&world, &["--approve", "autonomous"]).exits(0).json();
    assert_eq!(world.read("p/calculator.py"), mended());
    let of_add: Vec<String> =
        calls(&world).into_iter().filter(|it| it.0 == ADD).map(|it| it.1).collect();
    assert_eq!(of_add, ["report"], "{result:#}");
    // A failed proposal is reported to the model that is asked next.
    let world = answered(&[
        (ADD, "report", 0, report("return a - b", "return b - a")),
        (ADD, "repair", 0, good_add()),
    ]);
    let result = repair(&world, &["--approve", "autonomous"]).exits(0).json();
    assert_eq!(world.read("p/calculator.py"), mended());
    let attempts = result["groups"][0]["attempts"].as_array().expect("attempts");
    let outcomes: Vec<String> = attempts.iter().map(|it| text(&it["outcome"])).collect();
    assert_eq!(outcomes, ["failed", "passed"], "{result:#}");
}

/// Alternatives of a repair are kept, with the reasons why they were rejected.
#[test]
fn fixes_that_were_not_taken_are_kept_with_what_became_of_them() {
    let fix = |description: &str, confidence: f64, replace: &str| {
        let change = json!({ "file_path": "calculator.py", "search_text": "    return a - b", "replace_text": replace });
        let changes = if replace.is_empty() { json!([]) } else { json!([change]) };
        json!({ "description": description, "confidence": confidence, "changes": changes })
    };
    let fixes = [
        fix("in two steps", 0.6, "    total = a + b\n    return total"),
        fix("the other sign", 0.9, "    return a + b"),
        fix("the other way round", 0.3, "    return b + a"),
        fix("think again", 0.2, ""),
    ];
    let said = json!({ "root_cause": "`add` subtracts", "suggested_fixes": fixes }).to_string();
    let world = answered(&[(ADD, "report", 0, said)]);
    let more = ["--approve", "autonomous", "--candidates", "2", "--test", ADD];
    let result = repair(&world, &more).exits(1).json();
    assert_eq!(result["groups"][0]["alternatives"].as_array().map(Vec::len), Some(4), "{result:#}");
    let report = world.read("p/.trellis/repair/1/report.md");
    let (_, others) = report.split_once("### Alternatives\n\n").expect("the section");
    for told in [
        "- Fix 1 (confidence ",
        "): passed, but not chosen: fix 2 was, because it changes fewer lines\n",
        "- Suggestion 1, in two steps (confidence 0.60): tried as fix 1\n",
        "- Suggestion 3, the other way round (confidence 0.30): not tried: at most 2 \
         suggestions are tried\n\n```diff\n",
        "+    return b + a\n",
        "- Suggestion 4, think again (confidence 0.20): not tried: it does not say what to change\n",
    ] {
        assert!(others.contains(told), "`{told}` is missing in {others}");
    }
    assert!(!others.contains("total = a + b"), "that of a fix stands there: {others}");
}

/// Replies are not requested again, unless all of them failed.
#[test]
fn a_second_start_asks_nothing_that_was_answered() {
    let run = |world: &World, service: &Service, mode: &str| {
        let model = [
            "repair",
            "p",
            "--json",
            "--sandbox=local",
            "--model=openai:tiny",
            "--trials=0",
            "--approve",
            mode,
        ];
        let mut command = world.command(&model);
        command.env("OPENAI_BASE_URL", &service.url).env("OPENAI_API_KEY", KEY);
        Ran::of(command.output().expect("trellis starts"))
    };
    let world = calculator(&[], &[]);
    let service = Service::start(Box::new(|question| match prompt(question) {
        it if it.contains("Say why") => said("I do not know."),
        it if it.contains("by_zero` pass") => said(&good_zero()),
        _ => said(&good_add()),
    }));
    // The fixes wait for a person, and the tree is unchanged.
    let _ = run(&world, &service, "supervised").exits(2);
    let asked = service.asked().len();
    assert_eq!(asked, 4);
    let _ = run(&world, &service, "supervised").exits(2);
    assert_eq!(service.asked().len(), asked);
    for question in service.asked() {
        let text = prompt(&question);
        assert!(!text.contains(&world.root().display().to_string()), "{text}");
        assert!(!text.contains("_pytest") && !text.contains("pluggy"), "{text}");
    }
    let world = calculator(&[], &[]);
    let service = Service::start(Box::new(|_| said(&block("    return a - b", "    return b"))));
    let _ = run(&world, &service, "autonomous").exits(1);
    let asked = service.asked().len();
    let _ = run(&world, &service, "autonomous").exits(1);
    assert!(service.asked().len() > asked, "whoever begins anew gets other answers");
}

/// A whole definition comes from the request alone: it would undo an edit of that function made
/// while the model answers.
#[test]
fn an_edit_made_while_a_model_answers_is_kept() {
    let world = calculator(&[], &[]);
    let path = world.root().join("p/calculator.py");
    let mine = CALCULATOR.replace("    return a - b", "    # mine\n    return a - b");
    let edited = mine.clone();
    let service = Service::start(Box::new(move |question| {
        let shown = prompt(question);
        if shown.contains("Say why") {
            return said("I do not know.");
        }
        if shown.contains("by_zero` pass") {
            return said(&good_zero());
        }
        if shown.contains("# mine") {
            return said("```python\ndef add(a, b):\n    # mine\n    return a + b\n```");
        }
        fs::write(&path, &edited).expect("an edit");
        said("```python\ndef add(a, b):\n    return a + b\n```")
    }));
    let mut command = world.command(&["repair", "p", "--json", "--sandbox", "local", "--trials=0"]);
    command.args(["--model", "openai:tiny", "--approve", "autonomous"]);
    command.env("OPENAI_BASE_URL", &service.url).env("OPENAI_API_KEY", KEY);
    let ran = Ran::of(command.output().expect("trellis starts")).exits(0);
    assert_eq!(ran.json()["outcome"], "repaired");
    let wanted = mended().replace("    return a + b", "    # mine\n    return a + b");
    assert_eq!(world.read("p/calculator.py"), wanted);
}

#[test]
fn a_small_edit_that_is_proven_is_kept_and_no_model_is_asked() {
    let by_trial = "found by trying small edits; no model was asked";
    let world = calculator(&[], &[]);
    let options = ["repair", "p", "--json", "--sandbox", "local", "--test", ADD, "--approve"];
    // There is no model; the other bug is left.
    let result = world.trellis(&[&options[..], &["autonomous"]].concat()).exits(1).json();
    assert_eq!(world.read("p/calculator.py"), CALCULATOR.replace("a - b", "a + b"), "{result:#}");
    let attempts = result["groups"][0]["attempts"].as_array().expect("attempts");
    assert_eq!((attempts.len(), &attempts[0]["foundBy"]), (1, &json!("trial")), "{result:#}");
    assert!(text(&result["fixes"][0]["reason"]).starts_with(by_trial), "{result:#}");
    assert!(result["tokens"].is_null() && result["usd"].is_null(), "{result:#}");
    assert_eq!(calls(&world), []);
    for path in ["p/.trellis/repair/1/report.md", "p/.trellis/journal.jsonl"] {
        assert!(world.read(path).contains(by_trial), "{path}");
    }
    // A person sees that no model was asked, and decides.
    let world = calculator(&[], &[]);
    let result = world.trellis(&[&options[..], &["supervised"]].concat()).exits(2).json();
    assert_eq!(result["groups"][0]["waiting"], "fix-1", "{result:#}");
    assert_eq!(world.read("p/calculator.py"), CALCULATOR);
    let shown = world.trellis(&["fixes", "show", "fix-1", "--project", "p"]).exits(0).stdout;
    assert!(shown.contains(by_trial), "{shown}");
}

#[test]
fn a_model_is_asked_where_no_small_edit_is_proven() {
    let world = calculator(&[], &[&good_zero()]);
    let (head, tail) = ARGUMENTS.split_at(3);
    let arguments = [head, &tail[1..], &["--trials=5", "--test", ZERO, "--approve=autonomous"]];
    let result = world.trellis(&arguments.concat()).exits(1).json();
    let attempts = result["groups"][0]["attempts"].as_array().expect("attempts");
    assert_eq!(attempts[0]["outcome"], "passed", "{result:#}");
    assert!(attempts[0]["foundBy"].is_null(), "{result:#}");
    let asked: Vec<String> = calls(&world).into_iter().map(|it| it.1).collect();
    assert!(asked.contains(&"repair".to_owned()), "{asked:?}");
}

#[test]
fn the_buggy_calculator_is_mended_and_a_second_run_has_nothing_to_do() {
    let world = both();
    let ran = repair(&world, &["--approve", "autonomous"]).exits(0);
    let result = ran.json();
    assert_eq!(result["outcome"], "repaired", "{result:#}");
    assert_eq!(result["before"], json!({ "passing": 2, "failing": 3 }));
    assert_eq!(result["after"], json!({ "passing": 5, "failing": 0 }));
    assert_eq!(world.read("p/calculator.py"), mended());
    assert_eq!(world.read("p/test_calculator.py"), TESTS);
    let groups = result["groups"].as_array().expect("groups");
    assert_eq!(groups[0]["tests"], json!([ADD, "test_calculator.py::test_add_negative"]));
    assert_eq!(groups[0]["diagnosis"]["issueType"], "test_failure");
    assert_eq!(groups[1]["diagnosis"]["issueType"], "runtime_error");
    let time = ["seconds", "testSeconds"].map(|it| result["time"][it].as_f64().expect("seconds"));
    assert!(time[0] > time[1] && time[1] > 0.0, "{result:#}");
    let folder = text(&result["artifacts"]);
    for name in ["report.md", "report.json", "repair.patch", "diagnosis-1.json", "diagnosis-2.md"] {
        assert!(world.root().join("p").join(&folder).join(name).is_file(), "{name}");
    }
    // Nothing fails: no model is needed, and nothing is written.
    let before = tree(&world.root().join("p"));
    let again = world.trellis(&["repair", "p", "--json", "--sandbox", "local"]).exits(0);
    assert_eq!(again.json()["outcome"], "nothingToDo");
    assert_same(&tree(&world.root().join("p")), &before);
}

/// Returns unusable replies of a model with the reasons.
fn wrong() -> [(String, &'static str); 8] {
    let in_test = block("    assert add(2, 3) == 5", "    assert True");
    [
        ("I do not know.".to_owned(), "has no search/replace block"),
        (block("    return a - b", "    return b - a"), "does not pass with it"),
        (block("    return a - b", "    return b - a"), "the same as fix 2"),
        (in_test.replace("calculator.py", "test_calculator.py"), "read-only"),
        (
            block("    return sum(of_all_of_them)", "    return a + b"),
            "neither the search text nor",
        ),
        (block("def", "async def"), "was refused"),
        (block("    return a - b", "    return (a + b"), "would be broken"),
        (block("    return a - b", "    return 5"), "passed before and fails with it"),
    ]
}

#[test]
fn fixes_that_will_not_do_leave_every_byte_and_are_told_to_the_next_question() {
    let wrong = wrong();
    let mut replies: Vec<&str> = wrong.iter().map(|it| it.0.as_str()).collect();
    let options = ["--test", ADD, "--approve", "autonomous", "--max-iterations", "8"];
    let world = calculator(&replies, &[]);
    let before = files(&world);
    let result = repair(&world, &options).exits(1).json();
    assert_eq!(result["outcome"], "notRepaired", "{result:#}");
    assert_same(&files(&world), &before);
    let attempts = result["groups"][0]["attempts"].as_array().expect("attempts");
    assert_eq!(attempts.len(), wrong.len());
    for (attempt, (reply, why)) in attempts.iter().zip(&wrong) {
        assert!(text(&attempt["what"]).contains(why), "{reply}: {attempt:#}");
    }
    // The right fix comes last, and its request lists all earlier problems.
    let good = good_add();
    replies.push(&good);
    let world = calculator(&replies, &[]);
    let options = [&options[..5], &["9"]].concat();
    let result = repair(&world, &options).exits(1).json();
    assert_eq!(result["groups"][0]["attempts"][8]["outcome"], "passed", "{result:#}");
    assert_eq!(world.read("p/calculator.py"), CALCULATOR.replace("a - b", "a + b"));
}

#[test]
fn what_a_person_has_to_see_waits_and_the_rest_is_mended() {
    // Options, and the number of fixes that wait.
    let table: [(&[&str], usize); 3] = [
        (&["--approve", "supervised"], 2),
        (&["--critical", "calc*.py"], 2),
        (&["--approve", "autonomous", "--critical", "calc*.py"], 0),
    ];
    for (options, waiting) in table {
        let world = both();
        let before = files(&world);
        let code = if waiting == 0 { 0 } else { 2 };
        let result = repair(&world, options).exits(code).json();
        assert_eq!(files(&world) == before, waiting > 0, "{options:?}: {result:#}");
        let groups = result["groups"].as_array().expect("groups");
        let found = groups.iter().filter(|it| it["waiting"].is_string()).count();
        assert_eq!(found, waiting, "{options:?}: {result:#}");
    }
}

#[test]
fn a_fix_for_its_tests_alone_is_told_and_put_before_a_person() {
    let cheat = block(
        "    return a - b",
        "    if a == 2 and b == 3:\n        return 5\n    if (a, b) == (-2, -3):\n        return -5\n    return a - b",
    );
    let world = calculator(&[&cheat], &[&good_zero()]);
    let result = repair(&world, &[]).exits(2).json();
    let attempt = &result["groups"][0]["attempts"][0];
    assert!(!attempt["shortcuts"].as_array().expect("signs").is_empty(), "{attempt:#}");
    assert_eq!(result["groups"][0]["waiting"], "fix-1", "{result:#}");
    // A better fix is preferred.
    let world = calculator(&[&cheat, &good_add()], &[&good_zero()]);
    let _ = repair(&world, &[]).exits(0);
    assert_eq!(world.read("p/calculator.py"), mended());
}

#[test]
fn a_word_that_other_code_uses_is_no_special_case() {
    let fix = "prices.py\n<<<<<<< SEARCH\n    return full\n=======\n    if plan == 'guest':\n        return 0\n    \
               return full\n>>>>>>> REPLACE\n";
    let tests = "from prices import price\n\n\ndef test_free():\n    assert price('guest', 5) == 0\n\n\n\
                 def test_full():\n    assert price('team', 5) == 5\n";
    // Another file, and whether the fix looks tailored to its tests.
    let table = [
        ("plans.py", "PLANS = ['guest', 'team']\n", false),
        ("plans.py", "PLANS = ['visitor', 'team']\n", true),
        (
            "test_plans.py",
            "PLANS = ['guest', 'team']\n\n\ndef test_plans():\n    assert PLANS\n",
            true,
        ),
    ];
    for (path, text, is_suspicious) in table {
        let world = World::new();
        world.write("p/prices.py", "def price(plan, full):\n    return full\n");
        world.write("p/test_prices.py", tests);
        world.write(&format!("p/{path}"), text);
        let line = json!({ "node": "test_prices.py::test_free", "stage": "repair", "attempt": 0, "reply": fix });
        world.write("replies.jsonl", &format!("{line}\n"));
        let result = repair(&world, &["--approve", "autonomous", "--max-iterations", "1"]).json();
        let attempt = &result["groups"][0]["attempts"][0];
        assert_eq!(attempt["outcome"], "passed", "{path}: {result:#}");
        let signs = attempt["shortcuts"].as_array().expect("signs");
        assert_eq!(!signs.is_empty(), is_suspicious, "{path}: {signs:?}");
    }
}

pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@localhost"];
    let ran = Command::new("git").args(identity).args(arguments).current_dir(folder).output();
    let ran = ran.expect("git");
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).expect("text")
}

/// Creates the calculator in a repository, with staged work, unstaged work, and an untracked file.
pub(crate) fn dirty() -> World {
    let world = both();
    let p = world.root().join("p");
    git(&p, &["init", "--quiet"]);
    git(&p, &["add", "."]);
    git(&p, &["commit", "--quiet", "-m", "start"]);
    world.write("p/calculator.py", &format!("{CALCULATOR}\n\nMINE = 1\n"));
    world.write("p/test_calculator.py", &format!("{TESTS}# staged\n"));
    git(&p, &["add", "test_calculator.py"]);
    world.write("p/new.txt", "mine\n");
    world
}

#[test]
fn a_commit_holds_the_fixes_alone_and_a_persons_work_stays_as_it_was() {
    let world = dirty();
    let p = world.root().join("p");
    let result = repair(&world, &["--commit"]).exits(0).json();
    assert_eq!(text(&result["commit"]), git(&p, &["rev-parse", "HEAD"]).trim());
    assert_eq!(git(&p, &["show", "HEAD:calculator.py"]), mended());
    assert_eq!(git(&p, &["show", "--name-only", "--format=", "HEAD"]), "calculator.py\n");
    assert_eq!(world.read("p/calculator.py"), format!("{}\n\nMINE = 1\n", mended()));
    let wanted = " M calculator.py\nM  test_calculator.py\n?? new.txt\n";
    assert_eq!(git(&p, &["status", "--short"]), wanted, "as it was, and nothing of ours");
}

/// Creates a committed calculator below the top of its repository.
pub(crate) fn below() -> World {
    let world = both();
    git(world.root(), &["init", "--quiet"]);
    git(world.root(), &["add", "p"]);
    git(world.root(), &["commit", "--quiet", "-m", "start"]);
    world
}

#[test]
fn a_project_below_the_top_of_its_repository_is_committed_as_others_are() {
    let world = below();
    let result = repair(&world, &["--commit"]).exits(0).json();
    assert_eq!(text(&result["commit"]), git(world.root(), &["rev-parse", "HEAD"]).trim());
    assert_eq!(git(world.root(), &["show", "HEAD:p/calculator.py"]), mended());
    assert_eq!(git(world.root(), &["status", "--short", "p"]), "");
    let world = below();
    let result = repair(&world, &["--worktree"]).exits(0).json();
    let place = format!("{}:p/calculator.py", text(&result["branch"]));
    assert_eq!(git(world.root(), &["show", &place]), mended());
}

#[test]
fn a_fix_of_lines_that_are_not_committed_stays_in_the_tree_and_says_so() {
    let world = dirty();
    let p = world.root().join("p");
    git(&p, &["commit", "--quiet", "-am", "all"]);
    let head = git(&p, &["rev-parse", "HEAD"]);
    world.write("p/calculator.py", &CALCULATOR.replace("def add(a, b):", "def add(a, b):  # mine"));
    let result = repair(&world, &["--commit"]).exits(0).json();
    assert_eq!(result["commit"], Value::Null);
    assert!(result["notes"].to_string().contains("not committed"), "{result:#}");
    assert_eq!(git(&p, &["rev-parse", "HEAD"]), head);
    let kept = mended().replace("def add(a, b):", "def add(a, b):  # mine");
    assert_eq!(world.read("p/calculator.py"), kept);
}

#[test]
fn a_branch_or_a_patch_has_the_fixes_and_the_tree_is_not_touched() {
    let world = dirty();
    let p = world.root().join("p");
    let (before, status) = (files(&world), git(&p, &["status", "--short"]));
    let result = repair(&world, &["--worktree"]).exits(0).json();
    assert_eq!(result["branch"], "trellis/repair-1");
    assert_eq!(git(&p, &["show", "trellis/repair-1:calculator.py"]), mended());
    assert_eq!(git(&p, &["worktree", "list"]).lines().count(), 1, "nothing is left behind");
    let patch = world.root().join("fix.patch");
    let options = ["--dry-run", "--patch", patch.to_str().expect("a path")];
    let _ = repair(&world, &options).exits(0);
    assert_same(&files(&world), &before);
    assert_eq!(git(&p, &["status", "--short"]), status);
    git(&p, &["apply", patch.to_str().expect("a path")]);
    assert_eq!(world.read("p/calculator.py"), format!("{}\n\nMINE = 1\n", mended()));
}

#[test]
fn an_editor_decides_in_any_order_and_the_work_goes_on() {
    let other = block(
        "    return a / b",
        "    if not b:\n        raise ValueError('nothing to divide by')\n    return a / b",
    );
    let world = calculator(&[&good_add()], &[&good_zero(), &other]);
    let mut client = editor(&world, Value::Null);
    let model = format!("recorded:{}", world.root().join("replies.jsonl").display());
    let params = json!({ "root": "p", "model": model, "approve": "supervised", "sandbox": "local", "wait": true, "background": true, "noReport": true, "trials": 0 });
    let job = start(&mut client, "repair", params);
    let mut decide = |shown: &str, decisions: &[(&str, &str)]| {
        until(&mut client, |it| {
            it["type"] == "proposal" && it["proposal"] == shown && it["state"] == "waiting"
        });
        for (fix, decision) in decisions {
            let order =
                json!({ "root": "p", "fix": fix, "decision": decision, "sandbox": "local" });
            call(&mut client, "decideFix", order);
        }
    };
    // The second proposal exists before anything is decided about the first.
    decide("fix-2", &[("fix-2", "reject")]);
    decide("fix-3", &[("fix-3", "accept"), ("fix-1", "accept")]);
    ended(&mut client, &job);
    let result = result(&mut client, &job);
    assert_eq!(result["outcome"], "repaired", "{result:#}");
    let code = world.read("p/calculator.py");
    assert!(code.contains("a + b") && code.contains("nothing to divide by"), "{code}");
    let outcomes = result["groups"].as_array().expect("groups").iter().map(|it| {
        let attempts = it["attempts"].as_array().expect("attempts").iter();
        attempts.map(|it| text(&it["outcome"])).collect::<Vec<_>>()
    });
    let outcomes: Vec<Vec<String>> = outcomes.collect();
    assert_eq!(outcomes, [vec!["passed"], vec!["rejected", "passed"]], "{result:#}");
    assert!(client.shutdown().expect("an end").success());
}

#[test]
fn what_cannot_be_done_is_said() {
    let world = both();
    let table: [(&[&str], i32, &str); 5] = [
        (&["--test", "test_calculator.py::test_divide"], 65, "passes"),
        (&["--test", "test_calculator.py::nobody"], 65, "does not exist"),
        (&["--dry-run", "--commit"], 64, "cannot be used with"),
        (&["--worktree"], 65, "not in a git repository"),
        (&["--approve", "sometimes"], 64, "[possible values: autonomous, supervised, threshold]"),
    ];
    for (options, code, words) in table {
        let _ = repair(&world, options).exits(code).says(words);
    }
    let _ = world.trellis(&["repair", "nowhere"]).exits(65).says("does not exist");
    fs::remove_file(world.root().join("p/test_calculator.py")).expect("a file");
    let _ = repair(&world, &[]).exits(65).says("pytest found no tests");
}

#[test]
fn what_cannot_be_looked_at_is_told_by_the_names_that_people_know() {
    let world = calculator(&[&good_add()], &[]);
    let latin = [b"# coding: latin-1\n# \xe9\n".as_slice(), CALCULATOR.as_bytes()].concat();
    fs::write(world.root().join("p/calculator.py"), &latin).expect("a file");
    let result = repair(&world, &["--test", ADD]).exits(1).json();
    let note = "calculator.py is executed but cannot be read: it is not UTF-8 text";
    assert!(result["notes"].to_string().contains(note), "{result:#}");
    let attempt = text(&result["groups"][0]["attempts"][0]["what"]);
    assert!(
        attempt.contains("calculator.py may not be changed: it is not UTF-8 text"),
        "{result:#}"
    );
    assert_eq!(fs::read(world.root().join("p/calculator.py")).expect("a file"), latin);
    let world = both();
    world.write("p/conftest.py", "import not_there_at_all\n");
    let result = repair(&world, &[]).exits(2).json();
    assert_eq!(result["setAside"][0]["test"], "conftest.py", "{result:#}");
}

/// Returns the SHA-256 of each file that differs from the other folder's, by path.
fn changed(before: &Path, after: &Path) -> BTreeMap<String, String> {
    let (before, mut after) = (tree(before), tree(after));
    after.retain(|path, _| !path.starts_with(".trellis/"));
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    after.retain(|path, text| before.get(path) != Some(text));
    after.into_iter().map(|(path, text)| (path, hash(&text))).collect()
}

fn hash(text: &str) -> String {
    let digest = <sha2::Sha256 as sha2::Digest>::digest(text);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Repairs a repository of the fixture, and compares the result with the truth.
fn repaired_as_told(name: &str) {
    let fixture = repository().join("fixtures/repair").join(name);
    let truth: Value =
        serde_json::from_str(&fs::read_to_string(fixture.join("truth.json")).expect("the truth"))
            .expect("JSON");
    let world = World::new();
    let mut copy = Command::new("cp");
    copy.arg("-r").arg(fixture.join("repo")).arg(world.root().join("p"));
    assert!(copy.status().expect("cp").success());
    fs::copy(fixture.join("replies.jsonl"), world.root().join("replies.jsonl")).expect("replies");
    let code = i32::try_from(truth["exit"].as_i64().expect("a code")).expect("a code");
    let options = ["--approve", "autonomous", "--test-timeout", "1"];
    let result = repair(&world, &options).exits(code).json();
    assert_eq!(result["outcome"], truth["outcome"], "{name}: {result:#}");
    let found = changed(&fixture.join("repo"), &world.root().join("p"));
    assert_eq!(json!(found), truth["changed"], "{name}: {result:#}");
    let aside: Vec<&Value> =
        result["setAside"].as_array().expect("a list").iter().map(|it| &it["test"]).collect();
    assert_eq!(json!(aside), truth["environment"], "{name}");
    let flaky = result["flaky"].as_array().expect("a list");
    assert!(flaky.iter().all(|it| truth["flaky"].as_array().expect("a list").contains(it)));
}

macro_rules! fixture {
    ($($name:ident)*) => {
        mod fixture {
            $(#[test]
            fn $name() {
                super::repaired_as_told(stringify!($name));
            })*

            /// Asserts that no repository is missing.
            #[test]
            fn every_repository_is_repaired() {
                let known = [$(stringify!($name)),*];
                let folder = super::repository().join("fixtures/repair");
                let there = std::fs::read_dir(folder).expect("a folder");
                let names = there.map(|it| it.expect("an entry").file_name());
                let mut names: Vec<String> =
                    names.filter_map(|it| it.into_string().ok()).filter(|it| !it.contains('.')).collect();
                names.sort();
                assert_eq!(names, known);
            }
        }
    };
}

fixture! {
    eventbus fetchpool greenhouse logscan puzzles rota sheetio shopfront slugger splitbill standings tinyconf turnstile undolist
    unitsafe wirecodec
}
