//! One issue, from its description to a merge, in git repositories.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::mock::KEY;
use crate::models::{Service, prompt, said};
use crate::repair::{git, text};
use crate::stacks::{Project, has_go, installed};
use crate::world::{Ran, World};

pub(crate) const CART: &str = "\
from shop.audit import AuditLog

log = AuditLog()


def total(prices):
    log.write('total')
    return sum(prices)
";

const AUDIT: &str = "\
class AuditLog:
    def __init__(self):
        self.lines = []

    def write(self, line):
        self.lines.append(line)
";

const OLD_TESTS: &str =
    "from shop.cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n";

const LLD: &str = "\
# A discount

`shop/discount.py` gets `discounted(prices, percent)`: the total less so many percent; ValueError below 0 and above 100.
";

/// Returns a file in the format of a reply.
pub(crate) fn file(path: &str, text: &str) -> String {
    format!("{path}\n```python\n{text}```\n")
}

pub(crate) fn new_tests() -> String {
    file(
        "tests/test_discount.py",
        "import pytest\n\nfrom shop.discount import discounted\n\n\ndef test_half():\n    assert discounted([10, 10], 50) == 10\n\n\n@pytest.mark.parametrize('percent', [-1, 101])\ndef test_bounds(percent):\n    with pytest.raises(ValueError):\n        discounted([1], percent)\n",
    )
}

pub(crate) const CODE: &str = "from shop.cart import total\n\n\ndef discounted(prices, percent):\n    if not 0 <= percent <= 100:\n        raise ValueError(f'no percentage: {percent}')\n    return total(prices) * (100 - percent) / 100\n";

/// Returns a reply with the requested module.
pub(crate) fn made(text: &str) -> String {
    file("shop/discount.py", text)
}

pub(crate) fn code() -> String {
    made(CODE)
}

/// Returns code that passes no test, different for each number.
fn wrong(number: u32) -> String {
    file("shop/discount.py", &format!("def discounted(prices, percent):\n    return {number}\n"))
}

/// Creates a committed shop below `p`, and a model's replies by stage.
pub(crate) fn shop(replies: &[(&str, &[String])]) -> World {
    let world = World::new();
    world.write("p/shop/__init__.py", "");
    world.write("p/shop/cart.py", CART);
    world.write("p/shop/audit.py", AUDIT);
    world.write("p/tests/test_cart.py", OLD_TESTS);
    world.write("p/docs/lld.md", LLD);
    world.write("p/docs/standards.md", "Say what is wrong with an argument.\n");
    begin(&world, replies);
    world
}

/// Commits the files below `p`, configures their tests, and records a model's replies for issue 42,
/// by stage.
pub(crate) fn begin(world: &World, replies: &[(&str, &[String])]) {
    world.write("p/pyproject.toml", "[tool.pytest.ini_options]\npythonpath = ['.']\n");
    let p = world.root().join("p");
    git(&p, &["init", "--quiet", "--initial-branch=main"]);
    git(&p, &["add", "."]);
    git(&p, &["commit", "--quiet", "-m", "start"]);
    answer(world, replies);
}

/// Records a model's replies for issue 42, by stage, in place of earlier ones.
pub(crate) fn answer(world: &World, replies: &[(&str, &[String])]) {
    let lines = replies.iter().flat_map(|(stage, all)| {
        all.iter().enumerate().map(move |(attempt, reply)| {
            json!({ "node": "42", "stage": stage, "attempt": attempt, "reply": reply })
        })
    });
    let lines: Vec<String> = lines.map(|it| it.to_string()).collect();
    world.write("replies.jsonl", &(lines.join("\n") + "\n"));
}

pub(crate) const ARGUMENTS: [&str; 11] = [
    "implement",
    "p",
    "--issue",
    "42",
    "--lld",
    "p/docs/lld.md",
    "--json",
    "--sandbox",
    "local",
    "--model",
    "recorded:replies.jsonl",
];

pub(crate) fn implement(world: &World, more: &[&str]) -> Ran {
    world.trellis(&[&ARGUMENTS, more].concat())
}

pub(crate) const ALONE: [&str; 2] = ["--approve", "autonomous"];

pub(crate) fn in_p(world: &World, arguments: &[&str]) -> String {
    git(&world.root().join("p"), arguments).trim().to_owned()
}

/// Asserts that completed work leaves no branch, worktree or record.
fn assert_nothing_left(world: &World) {
    assert_eq!(in_p(world, &["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(in_p(world, &["worktree", "list"]).lines().count(), 1);
    assert_eq!(records(world), Vec::<String>::new());
}

/// Returns the engine's records of unfinished work.
pub(crate) fn records(world: &World) -> Vec<String> {
    let all = fs::read_dir(world.root().join("p/.trellis/worktrees")).into_iter().flatten();
    let names = all.flatten().map(|it| it.file_name().to_string_lossy().into_owned());
    names.filter(|it| !it.ends_with(".lock")).collect()
}

/// Returns the stages and observations in the journal.
pub(crate) fn states(world: &World) -> Vec<String> {
    let journal = world.read("p/.trellis/journal.jsonl");
    let lines = journal.lines().map(|it| serde_json::from_str::<Value>(it).expect("a line"));
    let states = lines.filter(|it| it["event"]["kind"] == "stage");
    states.map(|it| text(&it["event"]["stage"])).collect()
}

#[test]
fn an_issue_is_made_test_first_and_merged_as_one_commit() {
    let world = shop(&[("scaffold", &[new_tests()]), ("implementation", &[code()])])
        .with_only(&["git", "python3"]);
    // A person's own work is in progress in the same tree.
    world.write("p/shop/cart.py", &format!("{CART}\n# mine\n"));
    world.write("p/notes.txt", "mine\n");
    let status = in_p(&world, &["status", "--short"]);
    let start = in_p(&world, &["rev-parse", "HEAD"]);
    let result = implement(&world, &ALONE).exits(0).json();
    assert_eq!(result["outcome"], "merged", "{result:#}");
    assert_eq!(result["files"], json!(["shop/discount.py", "tests/test_discount.py"]));
    assert_eq!(result["newTests"], json!({ "passed": 3, "failed": 0 }));
    assert_eq!(result["allTests"], json!({ "passed": 4, "failed": 0 }));
    assert_eq!(result["passedBefore"], 1);
    assert_eq!(world.read("p/shop/discount.py"), CODE);
    assert_eq!(text(&result["commit"]), in_p(&world, &["rev-parse", "main"]));
    assert_eq!(in_p(&world, &["rev-parse", "main^"]), start, "one commit");
    assert_eq!(in_p(&world, &["log", "-1", "--format=%s"]), "Issue 42: A discount");
    assert_eq!(in_p(&world, &["status", "--short"]), status, "as it was");
    assert_eq!(world.read("p/shop/cart.py"), format!("{CART}\n# mine\n"));
    assert_nothing_left(&world);
    let stages = [
        "tests 1",
        "red gate",
        "the new tests",
        "passed",
        "code 1",
        "green gate",
        "all tests",
        "the new tests",
        "all tests",
        "passed",
        "lint",
        "no linter ran",
        "reports",
        "review",
        "reviewed",
        "merge",
        "merged",
    ];
    assert_eq!(states(&world), stages);
    let folder = text(&result["reports"]);
    assert!(world.read(&format!("p/{folder}/implementation-report.md")).contains("docs/lld.md"));
    assert!(
        world.read(&format!("p/{folder}/test-report.md")).contains("test_discount.py::test_half")
    );
}

/// Report of all tests before and after, for different initial tests.
#[test]
fn the_report_of_all_tests_is_true_whatever_was_there_before() {
    let failing = format!("{OLD_TESTS}\n\ndef test_broken():\n    assert total([1]) == 2\n");
    let table = [
        (OLD_TESTS, "- Before: 1 pass, 0 fail\n- After: 4 pass, 0 fail\n"),
        (
            failing.as_str(),
            "- Before: 1 pass, 1 fail\n- After: 4 pass, 1 fail; none of the failing tests \
             passed before\n",
        ),
        ("", "- Before: 0 pass, 0 fail\n- After: 3 pass, 0 fail\n"),
    ];
    for (old, words) in table {
        let world = shop(&[("scaffold", &[new_tests()]), ("implementation", &[code()])]);
        world.write("p/tests/test_cart.py", old);
        let _ = git(&world.root().join("p"), &["commit", "--quiet", "--allow-empty", "-am", "old"]);
        let result = implement(&world, &ALONE).exits(0).json();
        let report = world.read(&format!("p/{}/test-report.md", text(&result["reports"])));
        assert!(report.contains(&format!("## All tests\n\n{words}")), "{report}");
    }
}

#[test]
fn tests_that_pass_before_the_code_are_sent_back() {
    let passing = file("tests/test_discount.py", "def test_nothing():\n    assert True\n");
    let world =
        shop(&[("scaffold", &[passing.clone(), new_tests()]), ("implementation", &[code()])]);
    let result = implement(&world, &ALONE).exits(0).json();
    let history = text(&result["history"][0]);
    assert!(history.contains("tests must fail before the implementation"), "{result:#}");
    // A model that insists gets no code written.
    let world = shop(&[("scaffold", &[passing.clone(), passing.clone(), passing])]);
    let start = in_p(&world, &["rev-parse", "main"]);
    let result = implement(&world, &[]).exits(2).json();
    assert!(text(&result["reason"]).contains("there are no tests that fail"), "{result:#}");
    assert_eq!(in_p(&world, &["rev-parse", "main"]), start);
    assert!(!states(&world).iter().any(|it| it.starts_with("code")), "{:?}", states(&world));
}

#[test]
fn the_fourth_attempt_goes_to_a_person_who_may_go_on() {
    let fixes = [wrong(2), wrong(3), wrong(4)];
    let replies: [(&str, &[String]); 3] =
        [("scaffold", &[new_tests()]), ("implementation", &[wrong(1)]), ("fix", &fixes)];
    let world = shop(&replies);
    let _ = implement(&world, &ALONE).exits(1);
    let world = shop(&replies);
    let start = in_p(&world, &["rev-parse", "main"]);
    let result = implement(&world, &[]).exits(2).json();
    let history: Vec<String> =
        result["history"].as_array().expect("a list").iter().map(text).collect();
    assert_eq!(history.len(), 4, "{result:#}");
    for (number, entry) in history.iter().enumerate() {
        assert!(entry.contains(&format!("assert {} == 10", number + 1)), "{entry}");
    }
    assert_eq!(in_p(&world, &["rev-parse", "main"]), start);
    assert_eq!(
        in_p(&world, &["show", "trellis/issue-42:shop/discount.py"]) + "\n",
        "def discounted(prices, percent):\n    return 4\n"
    );
    // A person fixes the code in the worktree, and no model is asked again.
    let worktree = text(&result["worktree"]);
    fs::write(format!("{worktree}/shop/discount.py"), CODE).expect("written");
    world.write("replies.jsonl", "");
    let result = implement(&world, &ALONE).exits(0).json();
    assert_eq!(result["outcome"], "merged", "{result:#}");
    assert_eq!(world.read("p/shop/discount.py"), CODE);
    assert_nothing_left(&world);
}

#[test]
fn work_that_ended_is_put_aside_and_begun_anew() {
    let world = shop(&[("scaffold", &[new_tests()]), ("implementation", &[wrong(1)])]);
    let _ = implement(&world, &["--max-retries", "0"]).exits(2);
    let tip = in_p(&world, &["rev-parse", "trellis/issue-42"]);
    let again = shop(&[("scaffold", &[new_tests()]), ("implementation", &[code()])]);
    fs::copy(again.root().join("replies.jsonl"), world.root().join("replies.jsonl"))
        .expect("copied");
    let _ = implement(&world, &ALONE).exits(0).says("trellis/aside/issue-42-1");
    assert_eq!(in_p(&world, &["rev-parse", "trellis/aside/issue-42-1"]), tip, "nothing is lost");
    assert_eq!(world.read("p/shop/discount.py"), CODE);
}

#[test]
fn what_the_context_has_is_in_the_questions_and_not_made_again() {
    let own = file("shop/discount.py", &format!("class AuditLog:\n    pass\n\n\n{}", CODE));
    let world =
        shop(&[("scaffold", &[new_tests()]), ("implementation", &[own]), ("fix", &[code()])]);
    let context = ["--context", "p/shop/audit.py", "p/docs/standards.md"];
    let plan = implement(&world, &[&context[..], &["--dry-run"]].concat()).exits(0).json();
    let plan = text(&plan["plan"]);
    for words in [
        "Specification",
        "# A discount",
        "Project context",
        "class AuditLog:",
        "Coding standards",
        "Say what is wrong",
        "red gate",
    ] {
        assert!(plan.contains(words), "`{words}` is missing in:\n{plan}");
    }
    assert!(!world.root().join("p/.trellis").exists(), "nothing is written");
    let result = implement(&world, &[&context[..], &ALONE].concat()).exits(0).json();
    let history = text(&result["history"][0]);
    assert!(history.contains("class `AuditLog` in shop/audit.py"), "{result:#}");
    assert_eq!(world.read("p/shop/discount.py"), CODE);
}

#[test]
fn a_change_waits_for_a_person_and_survives_what_others_do_meanwhile() {
    let replies: [(&str, &[String]); 2] =
        [("scaffold", &[new_tests()]), ("implementation", &[code()])];
    let world = shop(&replies);
    let start = in_p(&world, &["rev-parse", "main"]);
    let waiting = implement(&world, &[]).exits(2).json();
    assert_eq!(waiting["outcome"], "needsHuman");
    assert!(text(&waiting["diff"]).contains("+def discounted"), "{waiting:#}");
    assert_eq!(in_p(&world, &["rev-parse", "main"]), start);
    assert_eq!(in_p(&world, &["rev-parse", "trellis/issue-42"]), text(&waiting["tip"]));
    // Others commit elsewhere: the merged result is tested before the merge.
    world.write("p/shop/tax.py", "VAT = 20\n");
    in_p(&world, &["add", "."]);
    in_p(&world, &["commit", "--quiet", "-m", "tax"]);
    let result = implement(&world, &ALONE).exits(0).json();
    assert_eq!(result["outcome"], "merged", "{result:#}");
    assert!(states(&world).contains(&"tests of the merged result".to_owned()));
    assert_eq!(
        (world.read("p/shop/tax.py").as_str(), world.read("p/shop/discount.py").as_str()),
        ("VAT = 20\n", CODE)
    );
    assert_nothing_left(&world);
}

/// Path of the code in the worktree.
const WAITING: &str = "p/.trellis/worktrees/issue-42/shop/discount.py";

/// Returns a project whose waiting code a person has edited, and the edited text.
fn edited() -> (World, String) {
    let world = shop(&[("scaffold", &[new_tests()]), ("implementation", &[code()])]);
    let _ = implement(&world, &[]).exits(2);
    let mine = format!("{CODE}\n\nMINE = 1\n");
    world.write(WAITING, &mine);
    (world, mine)
}

#[test]
fn what_a_person_made_of_it_is_never_played_over() {
    let (world, mine) = edited();
    // Adopted, tested, and waiting again; after any number of starts it stays the person's text.
    for _ in 0..3 {
        let waiting = implement(&world, &[]).exits(2).json();
        assert!(text(&waiting["diff"]).contains("+MINE = 1"), "{waiting:#}");
        assert_eq!(world.read(WAITING), mine);
    }
    let result = implement(&world, &ALONE).exits(0).json();
    assert_eq!(world.read("p/shop/discount.py"), mine, "{result:#}");
    assert_nothing_left(&world);
    // The work is done: the same command reports that, and asks no model.
    let before = in_p(&world, &["rev-parse", "main"]);
    let again = implement(&world, &[]).exits(0).json();
    assert_eq!((&again["outcome"], text(&again["commit"])), (&json!("merged"), before));
    assert_nothing_left(&world);
}

/// Moves everything to another folder.
fn moved(world: &World) -> World {
    let elsewhere = World::new();
    for entry in fs::read_dir(world.root()).expect("a folder") {
        let entry = entry.expect("an entry");
        fs::rename(entry.path(), elsewhere.root().join(entry.file_name())).expect("moved");
    }
    elsewhere
}

#[test]
fn what_a_person_wrote_in_the_worktree_of_a_moved_project_stays() {
    let (world, mine) = edited();
    let world = moved(&world);
    let waiting = implement(&world, &[]).exits(2).json();
    assert!(text(&waiting["diff"]).contains("+MINE = 1"), "{waiting:#}");
    assert_eq!(world.read(WAITING), mine);
    // git forgets the folder where it does not find it.
    let world = moved(&world);
    in_p(&world, &["worktree", "prune"]);
    let _ = implement(&world, &[]).exits(65).says("git does not know the worktree");
    assert_eq!(world.read(WAITING), mine);
}

#[test]
fn a_worktree_of_a_person_on_a_disk_that_is_not_there_stays_known_to_git() {
    let world = shop(&[("scaffold", &[new_tests()]), ("implementation", &[code()])]);
    let [there, away] = ["mine", "away"].map(|it| world.root().join(it));
    in_p(&world, &["worktree", "add", "--quiet", "--detach", there.to_str().expect("text")]);
    fs::rename(&there, &away).expect("moved");
    let _ = implement(&world, &ALONE).exits(0);
    fs::rename(&away, &there).expect("moved");
    assert!(git(&there, &["status", "--short"]).is_empty());
}

#[test]
fn work_that_a_person_mends_goes_on_from_there() {
    let world = shop(&[("scaffold", &[new_tests()]), ("implementation", &[wrong(1)])]);
    let _ = implement(&world, &["--max-retries", "0"]).exits(2);
    let place = "p/.trellis/worktrees/issue-42/shop/discount.py";
    world.write(place, CODE);
    let _ = implement(&world, &["--max-retries", "0"]).exits(2);
    let result = implement(&world, &[&ALONE[..], &["--max-retries", "0"]].concat()).exits(0);
    assert_eq!(world.read("p/shop/discount.py"), CODE, "{}", result.stdout);
}

#[test]
fn a_merge_that_cannot_be_changes_nothing_and_can_be_tried_again() {
    let replies: [(&str, &[String]); 2] =
        [("scaffold", &[new_tests()]), ("implementation", &[code()])];
    // A person's file exists at the path of a new one.
    let world = shop(&replies);
    world.write("p/shop/discount.py", "mine\n");
    let start = in_p(&world, &["rev-parse", "main"]);
    let result = implement(&world, &ALONE).exits(2).json();
    assert!(text(&result["reason"]).contains("would be overwritten"), "{result:#}");
    assert_eq!(
        (world.read("p/shop/discount.py").as_str(), in_p(&world, &["rev-parse", "main"])),
        ("mine\n", start)
    );
    fs::remove_file(world.root().join("p/shop/discount.py")).expect("removed");
    let _ = implement(&world, &ALONE).exits(0);
    assert_eq!(world.read("p/shop/discount.py"), CODE);
    assert_nothing_left(&world);
    // Both sides created the same file: both stay.
    let world = shop(&replies);
    let _ = implement(&world, &[]).exits(2);
    world.write("p/shop/discount.py", "theirs = 1\n");
    in_p(&world, &["add", "."]);
    in_p(&world, &["commit", "--quiet", "-m", "theirs"]);
    let result = implement(&world, &ALONE).exits(2).json();
    assert!(text(&result["reason"]).contains("shop/discount.py in the meantime"), "{result:#}");
    assert_eq!(world.read("p/shop/discount.py"), "theirs = 1\n");
    assert_eq!(in_p(&world, &["show", "trellis/issue-42:shop/discount.py"]) + "\n", CODE);
    assert_eq!(in_p(&world, &["status", "--short"]), "");
    // The merged result breaks a test of the other side: no merge.
    let world = shop(&replies);
    let _ = implement(&world, &[]).exits(2);
    world.write("p/tests/test_no_discount.py", "import importlib.util\n\n\ndef test_none():\n    assert importlib.util.find_spec('shop.discount') is None\n");
    in_p(&world, &["add", "."]);
    in_p(&world, &["commit", "--quiet", "-m", "no discounts"]);
    let theirs = in_p(&world, &["rev-parse", "main"]);
    let result = implement(&world, &ALONE).exits(2).json();
    assert!(text(&result["reason"]).contains("test_none"), "{result:#}");
    assert_eq!(in_p(&world, &["rev-parse", "main"]), theirs);
}

#[test]
fn no_file_of_a_person_goes_however_like_the_new_one_it_is() {
    let both = code() + &file("shop/cart.py", &format!("{CART}\n\nVAT = 1\n"));
    let replies: [(&str, &[String]); 2] =
        [("scaffold", &[new_tests()]), ("implementation", &[both])];
    // Content at the path of the new file: empty, its beginning, all of it.
    for mine in ["", &CODE[..20], CODE] {
        let world = shop(&replies);
        world.write("p/shop/discount.py", mine);
        let result = implement(&world, &ALONE).exits(2).json();
        assert!(text(&result["reason"]).contains("shop/discount.py"), "{result:#}");
        assert_eq!(
            (world.read("p/shop/discount.py").as_str(), world.read("p/shop/cart.py").as_str()),
            (mine, CART)
        );
    }
    // A text that a person has staged, while the file is as in the commit.
    let world = shop(&replies);
    let staged = format!("{CART}\n\nVAT = 1\n");
    world.write("p/shop/cart.py", &staged);
    in_p(&world, &["add", "."]);
    world.write("p/shop/cart.py", CART);
    let result = implement(&world, &ALONE).exits(2).json();
    assert!(text(&result["reason"]).contains("shop/cart.py"), "{result:#}");
    assert_eq!(in_p(&world, &["show", ":shop/cart.py"]) + "\n", staged);
    // A file that a person deleted does not come back.
    let world = shop(&replies);
    fs::remove_file(world.root().join("p/shop/cart.py")).expect("removed");
    let result = implement(&world, &ALONE).exits(2).json();
    assert!(text(&result["reason"]).contains("shop/cart.py"), "{result:#}");
    assert_eq!(in_p(&world, &["status", "--short"]), "D shop/cart.py");
}

#[test]
fn a_git_that_waits_for_an_editor_keeps_its_lock() {
    let replies: [(&str, &[String]); 2] =
        [("scaffold", &[new_tests()]), ("implementation", &[code()])];
    let world = shop(&replies);
    for pipe in ["begun", "go"] {
        let made = Command::new("mkfifo").arg(world.root().join(pipe)).status();
        assert!(made.is_ok_and(|it| it.success()));
    }
    world.write("editor", "#!/bin/sh\necho > ../begun\nread line < ../go\necho notes > \"$1\"\n");
    world.write("p/notes.txt", "mine\n");
    in_p(&world, &["add", "notes.txt"]);
    let mut commit = Command::new("git");
    commit.args([
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@localhost",
        "commit",
        "--quiet",
        "--all",
    ]);
    commit.current_dir(world.root().join("p")).env("GIT_EDITOR", "sh ../editor");
    let mut commit = commit.stdin(Stdio::null()).spawn().expect("git starts");
    // Ends once the editor is open.
    world.read("begun");
    let lock = world.root().join("p/.git/index.lock");
    assert!(lock.exists(), "git holds its lock while the editor is open");
    let _ = implement(&world, &ALONE).exits(2);
    assert!(lock.exists(), "it still does");
    world.write("go", "go\n");
    assert!(commit.wait().expect("it ends").success());
    assert_eq!(in_p(&world, &["log", "-1", "--format=%s"]), "notes");
    let _ = implement(&world, &ALONE).exits(0);
    assert_eq!(world.read("p/shop/discount.py"), CODE);
    assert_eq!(world.read("p/notes.txt"), "mine\n");
}

#[test]
fn what_is_broken_by_the_code_is_no_success() {
    let breaking =
        format!("{}{}", code(), file("shop/cart.py", "def total(prices):\n    return 20\n"));
    let world = shop(&[("scaffold", &[new_tests()]), ("implementation", &[breaking])]);
    let result = implement(&world, &["--max-retries", "0"]).exits(2).json();
    assert!(text(&result["history"][0]).contains("tests/test_cart.py::test_total"), "{result:#}");
}

/// A project of a stack, with tests and code, each as path and text; `HALF` stands for the operator
/// that is right or wrong.
struct Stacked {
    stack: &'static str,
    tests: (&'static str, &'static str),
    code: (&'static str, &'static str),
}

const STACKED: [Stacked; 3] = [
    Stacked {
        stack: "nodejs-api",
        tests: (
            "tests/half.test.js",
            "const { half } = require('../src/half');\n\ntest('half', () => {\n  expect(half(4)).toBe(2);\n});\n",
        ),
        code: ("src/half.js", "module.exports = { half: (x) => x HALF 2 };\n"),
    },
    Stacked {
        stack: "react-spa",
        tests: (
            "tests/half.test.js",
            "import { expect, test } from 'vitest';\n\nimport { half } from '../src/half.js';\n\ntest('half', () => {\n  expect(half(4)).toBe(2);\n});\n",
        ),
        code: ("src/half.js", "export const half = (x) => x HALF 2;\n"),
    },
    Stacked {
        stack: "go-api",
        tests: (
            "internal/half/half_test.go",
            "package half\n\nimport \"testing\"\n\nfunc TestHalf(t *testing.T) {\n\tif Half(4) != 2 {\n\t\tt.Errorf(\"half of 4 is %d\", Half(4))\n\t}\n}\n",
        ),
        code: (
            "internal/half/half.go",
            "// Package half halves.\npackage half\n\n// Half of a number.\nfunc Half(x int) int {\n\treturn x HALF 2\n}\n",
        ),
    },
];

/// Implements an issue in a project of each stack in another language.
pub(crate) fn other_languages() {
    for it in STACKED.iter().filter(|it| it.stack != "go-api" || has_go()) {
        let lock = (it.stack != "go-api").then_some("package-lock.json");
        let Project { world, root, .. } = installed(it.stack, lock);
        let wrong = it.code.1.replace("HALF", "*");
        let right = it.code.1.replace("HALF", "/");
        let replies = [
            ("scaffold", file(it.tests.0, it.tests.1)),
            ("implementation", file(it.code.0, &wrong)),
            ("fix", file(it.code.0, &right)),
        ];
        let line = |(stage, reply): &(&str, String)| json!({ "node": "42", "stage": stage, "reply": reply });
        let lines: Vec<String> = replies.iter().map(|it| line(it).to_string()).collect();
        world.write("replies.jsonl", &lines.join("\n"));
        world.write("hello-shop/docs/lld.md", &format!("# Half\n\n`{}` halves.\n", it.code.0));
        let git = |arguments: &[&str]| git(&root, arguments);
        git(&["init", "--quiet", "--initial-branch=main"]);
        git(&["add", "."]);
        git(&["commit", "--quiet", "-m", "start"]);
        let arguments = "implement hello-shop --issue 42 --lld hello-shop/docs/lld.md --json --sandbox local --model recorded:replies.jsonl --approve autonomous";
        let ran = world.trellis(&arguments.split(' ').collect::<Vec<_>>());
        let result = ran.exits(0).json();
        assert_eq!(
            result["newTests"],
            json!({ "passed": 1, "failed": 0 }),
            "{}: {result:#}",
            it.stack
        );
        assert!(result["passedBefore"].as_u64() > Some(0), "{}: {result:#}", it.stack);
        assert_eq!(result["history"].as_array().map(Vec::len), Some(1), "{}: {result:#}", it.stack);
        assert_eq!(
            fs::read_to_string(root.join(it.code.0)).expect("the code"),
            right,
            "{}",
            it.stack
        );
        assert_eq!(git(&["status", "--short"]), "", "{}", it.stack);
        assert_eq!(git(&["worktree", "list"]).lines().count(), 1, "{}", it.stack);
    }
}

#[test]
fn words_stay_inside_and_names_are_nobody_elses() {
    let world = shop(&[]);
    world.write("outside.md", "secret\n");
    world.write("p/docs/data.txt", "x\n");
    std::os::unix::fs::symlink("../../outside.md", world.root().join("p/docs/link.md"))
        .expect("a link");
    let table: [(&[&str], i32, &str); 6] = [
        (&["--context", "outside.md"], 65, "outside the project"),
        (&["--context", "p/docs/link.md"], 65, "outside the project"),
        (&["--context", "p/docs/data.txt"], 65, "cannot be used as context"),
        (&["--context", "p/docs/none.md"], 65, "does not exist"),
        (&["--lld", "p/docs/none.md"], 64, "cannot be used multiple times"),
        (&["--issue", "../x"], 64, "cannot be used multiple times"),
    ];
    for (arguments, exit, words) in table {
        let _ = implement(&world, arguments).exits(exit).says(words);
    }
    for issue in ["../x", "", "a..b", "-x", "a b", "x.lock"] {
        let issue = format!("--issue={issue}");
        let _ = world
            .trellis(&["implement", "p", &issue, "--lld", "p/docs/lld.md"])
            .exits(64)
            .says("cannot name an issue");
    }
    in_p(&world, &["branch", "trellis/issue-42"]);
    let tip = in_p(&world, &["rev-parse", "trellis/issue-42"]);
    let _ = implement(&world, &[]).exits(65).says("Trellis did not create it");
    assert_eq!(in_p(&world, &["rev-parse", "trellis/issue-42"]), tip);
    in_p(&world, &["branch", "-D", "trellis/issue-42"]);
    in_p(&world, &["checkout", "--quiet", "--detach"]);
    let _ = implement(&world, &[]).exits(65).says("no branch is checked out");
    let bare = World::new();
    bare.write("p/docs/lld.md", LLD);
    let _ = implement(&bare, &[]).exits(65).says("not in a git repository");
}

/// Runs issue 42 with a service as its model.
pub(crate) fn asking(world: &World, service: &Service) -> Ran {
    Ran::of(command_asking(world, &service.url).output().expect("trellis starts"))
}

/// Starts a model for the issue, beside which a person acts whenever it is asked for code.
pub(crate) fn model_beside(act: impl Fn() + Send + 'static) -> Service {
    Service::start(Box::new(move |question| {
        if prompt(question).contains("nothing but tests") {
            return said(&new_tests());
        }
        act();
        said(&code())
    }))
}

/// Returns the command that implements the issue alone with the replies of a service.
pub(crate) fn command_asking(world: &World, url: &str) -> std::process::Command {
    let arguments = "implement p --issue 42 --lld p/docs/lld.md --sandbox local --model openai:tiny --approve autonomous";
    let mut command = world.command(&arguments.split(' ').collect::<Vec<_>>());
    command.env("OPENAI_BASE_URL", url).env("OPENAI_API_KEY", KEY);
    command
}

#[test]
fn what_a_person_writes_in_the_worktree_meanwhile_stays() {
    let world = shop(&[]);
    let worktree = world.root().join("p/.trellis/worktrees/issue-42");
    let (mine, place) = (format!("{CART}\n# mine\n"), worktree.join("shop/cart.py"));
    let (text, written) = (mine.clone(), place.clone());
    let service = model_beside(move || fs::write(&written, &text).expect("written"));
    let run = || asking(&world, &service);
    let _ = run().exits(2).says("shop/cart.py was edited in the worktree");
    assert_eq!(fs::read_to_string(&place).expect("the file"), mine);
    let _ = run().exits(0);
    assert_eq!(
        (world.read("p/shop/cart.py"), world.read("p/shop/discount.py")),
        (mine, CODE.to_owned())
    );
    assert_eq!(service.asked().len(), 2);
    assert_nothing_left(&world);
}

#[test]
fn what_was_paid_is_not_paid_again() {
    let world = shop(&[]);
    let service = Service::start(Box::new(|question| {
        let prompt = prompt(question);
        match prompt {
            _ if prompt.contains("nothing but tests") => said(&new_tests()),
            // The code prints a different text in every run.
            _ if prompt.contains("Write the code of") => said(&made(
                "import time\n\n\ndef discounted(prices, percent):\n    raise KeyError(object(), f'{time.perf_counter()} s')\n",
            )),
            _ => said(&code()),
        }
    }));
    let run = |more: &[&str]| {
        let model = [
            "implement",
            "p",
            "--issue=42",
            "--lld=p/docs/lld.md",
            "--json",
            "--sandbox=local",
            "--model=openai:tiny",
        ];
        let mut command = world.command(&[&model, more].concat());
        command.env("OPENAI_BASE_URL", &service.url).env("OPENAI_API_KEY", KEY);
        Ran::of(command.output().expect("trellis starts"))
    };
    let _ = run(&[]).exits(2);
    assert_eq!(service.asked().len(), 3);
    let _ = run(&ALONE).exits(0);
    assert_eq!(service.asked().len(), 3, "all of it had been asked before");
    assert_eq!(world.read("p/shop/discount.py"), CODE);
}
