//! Repositories generated from lists of tasks.

use std::fs;

use serde_json::{Value, json};

use crate::implement::file;
use crate::mock::KEY;
use crate::models::{Service, prompt, said};
use crate::repair::{git, text};
use crate::world::{Ran, World};

/// A stack that needs nothing installed.
const STACK: &str = include_str!("../../fixtures/tasks/plain-python.yaml");

/// A task: its id, its dependencies, and how often its code is wrong before it is right; 9 means
/// always.
pub(crate) type Task = (&'static str, &'static [&'static str], usize);

fn task((id, needs, _): &Task) -> Value {
    json!({ "id": id, "description": format!("Do {id}"), "implementation_details": format!("`app/{id}.py`"), "depends_on": needs, "story_points": 1 })
}

/// Returns the replies of a task, whose function returns the number of all its dependencies, plus
/// one.
pub(crate) fn replies((id, needs, wrong): &Task) -> Vec<Value> {
    let imports: String = needs.iter().map(|it| format!("from app.{it} import {it}\n")).collect();
    let calls: String = needs.iter().map(|it| format!(" + {it}()")).collect();
    let code = |one: usize| {
        file(
            &format!("app/{id}.py"),
            &format!("{imports}\n\ndef {id}():\n    return {one}{calls}\n"),
        )
    };
    let tests = file(
        &format!("tests/test_{id}.py"),
        &format!(
            "{imports}from app.{id} import {id}\n\n\ndef test_{id}():\n    assert {id}() == 1{calls}\n"
        ),
    );
    let line = |stage: &str, attempt: usize, reply: String| json!({ "node": id, "stage": stage, "attempt": attempt, "reply": reply });
    let mut out = vec![line("scaffold", 0, tests), line("implementation", 0, code(1 + wrong))];
    out.extend((1..=*wrong).map(|it| line("fix", it - 1, code(1 + wrong - it))));
    out
}

/// Returns two tasks that change the same line. They have the highest weight, so that both begin
/// before any merge.
pub(crate) fn rivals() -> (Vec<Value>, Vec<Value>) {
    let ids = ["rival_a", "rival_b"];
    let tasks = ids
        .map(|id| json!({ "id": id, "description": format!("Register {id}"), "depends_on": [], "story_points": 8 }));
    let lines = ids.iter().flat_map(|id| {
        let tests = file(
            &format!("tests/test_{id}.py"),
            &format!(
                "from app.registry import ALL\n\n\ndef test_{id}():\n    assert '{id}' in ALL\n"
            ),
        );
        let code = format!(
            "app/registry.py\n<<<<<<< SEARCH\nALL = []\n=======\nALL = ['{id}']\n>>>>>>> REPLACE\n"
        );
        [("scaffold", tests), ("implementation", code)].map(
            |(stage, reply)| json!({ "node": id, "stage": stage, "attempt": 0, "reply": reply }),
        )
    });
    (tasks.to_vec(), lines.collect())
}

/// Tests of all tasks together, which use only the common parts of every project.
pub(crate) const TOGETHER: &str =
    "from app.registry import ALL\n\n\ndef test_together():\n    assert isinstance(ALL, list)\n";

fn together(tests: &str) -> Value {
    let reply = file("tests/test_together.py", tests);
    json!({ "node": "integration", "stage": "integration", "attempt": 0, "reply": reply })
}

pub(crate) fn list(tasks: &[Task], more: (Vec<Value>, Vec<Value>)) -> World {
    let world = World::new();
    world.write("trellis-stacks/plain.yaml", STACK);
    let all: Vec<Value> = tasks.iter().map(task).chain(more.0).collect();
    world.write("tasks.json", &json!({ "tasks": all }).to_string());
    let lines = tasks.iter().flat_map(replies).chain(more.1).chain([together(TOGETHER)]);
    let lines: Vec<String> = lines.map(|it| it.to_string()).collect();
    world.write("replies.jsonl", &lines.join("\n"));
    world
}

pub(crate) const ARGUMENTS: [&str; 11] = [
    "tasks",
    "tasks.json",
    "--stack",
    "plain-python",
    "--out",
    "out",
    "--json",
    "--sandbox",
    "local",
    "--model",
    "recorded:replies.jsonl",
];

pub(crate) fn run(world: &World, more: &[&str]) -> Ran {
    world.trellis(&[&ARGUMENTS, more].concat())
}

pub(crate) fn in_out(world: &World, arguments: &[&str]) -> String {
    git(&world.out(), arguments).trim().to_owned()
}

pub(crate) fn names(value: &Value) -> Vec<String> {
    match value {
        Value::Array(all) => all.iter().map(text).collect(),
        Value::Object(all) => all.keys().cloned().collect(),
        other => panic!("{other} is no list"),
    }
}

/// Asserts that all tests pass, with the interpreter that trellis provides.
fn passes(world: &World) {
    let ran = world.trellis(&["test", "out", "--json", "--sandbox", "local"]).exits(0).json();
    assert_eq!(ran["outcome"], "passed", "{ran:#}");
}

#[test]
fn twelve_tasks_with_a_diamond_a_failing_branch_and_two_rivals() {
    let tasks: [Task; 10] = [
        ("base", &[], 0),
        ("left", &["base"], 1),
        ("right", &["base"], 0),
        ("top", &["left", "right"], 0),
        ("one", &[], 0),
        ("two", &["one"], 2),
        ("bad", &[], 9),
        ("after_bad", &["bad"], 0),
        ("alone", &[], 0),
        ("last", &["top", "two"], 0),
    ];
    let world = list(&tasks, rivals());
    let result = run(&world, &[]).exits(1).json();
    assert_eq!(result["status"], "COMPLETE", "{result:#}");
    assert_eq!(
        (&result["totalTasks"], &result["progress"]),
        (&json!(12), &json!(75)),
        "{result:#}"
    );
    assert_eq!(names(&result["blockedTasks"]), ["after_bad"]);
    let failed = names(&result["failedTasks"]);
    assert!(
        failed.len() == 2 && failed[0] == "bad" && failed[1].starts_with("rival_"),
        "{failed:?}"
    );
    assert!(text(&result["failedTasks"]["bad"]).contains("4 attempts failed"), "{result:#}");
    // One of the rivals is merged, and the other one's work is kept on its branch.
    let loser = &failed[1];
    let winner = if loser == "rival_a" { "rival_b" } else { "rival_a" };
    assert!(text(&result["failedTasks"][loser]).contains("app/registry.py"), "{result:#}");
    assert_eq!(world.read("out/app/registry.py"), format!("ALL = ['{winner}']\n"));
    let kept = in_out(&world, &["show", &format!("trellis/task-{loser}:app/registry.py")]);
    assert_eq!(kept, format!("ALL = ['{loser}']"));
    // One commit per task, each with its name, and nothing else.
    let log = in_out(
        &world,
        &["log", "--format=%(trailers:key=Trellis-Task,valueonly,separator=%x2C)", "main"],
    );
    let mut merged: Vec<&str> = log.lines().filter(|it| !it.is_empty()).collect();
    merged.sort_unstable();
    let mut wanted = names(&result["completedTasks"]);
    wanted.sort();
    assert_eq!(merged, wanted);
    assert_eq!(in_out(&world, &["status", "--short"]), "");
    assert!(!world.out().join("app/bad.py").exists());
    passes(&world);
    // Nothing is done again, and failed tasks may be retried.
    let before = in_out(&world, &["rev-parse", "main"]);
    let again = run(&world, &[]).exits(1).json();
    assert_eq!(again["completedTasks"], result["completedTasks"]);
    assert_eq!(in_out(&world, &["rev-parse", "main"]), before);
    let log = world.trellis(&["log", "out", "--verify"]).exits(0);
    assert!(log.stdout.contains("chain intact"), "{}", log.stdout);
}

#[test]
fn what_a_kill_left_half_made_is_made_whole_and_no_id_speaks_for_another() {
    let world = list(&[("a", &[], 0)], (Vec::new(), Vec::new()));
    // An id whose second line would claim that the other task is merged.
    let sly = json!({ "id": "b\nTrellis-Task: a", "description": "Do b" });
    world.write("tasks.json", &json!({ "tasks": [sly] }).to_string());
    let line = |stage: &str, path: &str, body: &str| {
        json!({ "node": "*", "stage": stage, "reply": file(path, body) }).to_string()
    };
    let tests = line(
        "scaffold",
        "tests/test_b.py",
        "from app.b import b\n\n\ndef test_b():\n    assert b() == 1\n",
    );
    let code = line("implementation", "app/b.py", "def b():\n    return 1\n");
    let replies_of_a = world.read("replies.jsonl");
    world.write("replies.jsonl", &[tests, code].join("\n"));
    let left = world.root().join(".trellis-scratch-4194305-x");
    fs::create_dir(&left).expect("a folder of a process that cannot be");
    let _ = run(&world, &[]).exits(0);
    assert!(!left.exists());
    world.write("tasks.json", &json!({ "tasks": [task(&("a", &[], 0))] }).to_string());
    world.write("replies.jsonl", &replies_of_a);
    let result = run(&world, &[]).exits(0).json();
    assert!(world.out().join("app/a.py").exists(), "{result:#}");
    // git was killed while it recorded the worktree of another task.
    world.write("out/.git/worktrees/task-zz/commondir", "");
    world.write(
        "tasks.json",
        &json!({ "tasks": [task(&("a", &[], 0)), task(&("c", &[], 0))] }).to_string(),
    );
    let more: Vec<String> = replies(&("c", &[], 0)).iter().map(ToString::to_string).collect();
    world.write("replies.jsonl", &format!("{replies_of_a}\n{}", more.join("\n")));
    let _ = run(&world, &["--skip-integration"]).exits(0);
    // git was killed while it held these locks.
    for lock in
        ["index", "HEAD", "packed-refs", "config", "refs/heads/main", "refs/heads/trellis/task-d"]
    {
        world.write(&format!("out/.git/{lock}.lock"), "");
    }
    let tasks = [task(&("a", &[], 0)), task(&("c", &[], 0)), task(&("d", &[], 0))];
    world.write("tasks.json", &json!({ "tasks": tasks }).to_string());
    let more: Vec<String> = replies(&("d", &[], 0)).iter().map(ToString::to_string).collect();
    world.write("replies.jsonl", &more.join("\n"));
    let _ = run(&world, &["--skip-integration"]).exits(0);
    assert!(!world.out().join(".git/packed-refs.lock").exists());
    // git was killed while it created the repository.
    let half = list(&[("a", &[], 0)], (Vec::new(), Vec::new()));
    let _ = run(&half, &[]).exits(0);
    fs::remove_dir_all(half.out().join(".git")).expect("removed");
    fs::remove_dir_all(half.out().join(".trellis/worktrees")).expect("removed");
    fs::remove_file(half.out().join("app/a.py")).expect("removed");
    fs::remove_file(half.out().join("tests/test_a.py")).expect("removed");
    fs::create_dir_all(half.out().join(".git/objects")).expect("half a repository");
    let _ = run(&half, &[]).exits(0);
    assert!(half.out().join("app/a.py").exists());
}

#[test]
fn more_than_half_blocked_fails_and_keeps_what_was_merged() {
    let tasks: [Task; 4] =
        [("bad", &[], 9), ("a", &["bad"], 0), ("b", &["a"], 0), ("good", &[], 0)];
    let world = list(&tasks, (Vec::new(), Vec::new()));
    let result = run(&world, &["--max-retries", "0"]).exits(1).json();
    assert_eq!(
        (&result["status"], &result["completedTasks"]),
        (&json!("FAILED"), &json!(["good"])),
        "{result:#}"
    );
    assert_eq!(names(&result["blockedTasks"]), ["a", "b"]);
    assert!(world.out().join("app/good.py").exists());
}

#[test]
fn lists_and_folders_that_will_not_do_are_refused_and_left_alone() {
    let world = list(&[("a", &[], 0)], (Vec::new(), Vec::new()));
    let _ = world
        .trellis(&["tasks", "tasks.json", "--stack", "cobol", "--out", "out"])
        .exits(65)
        .says("no template `cobol`");
    world.write("out/mine.txt", "mine\n");
    let _ = run(&world, &[]).exits(65).says("is not empty");
    assert_eq!(fs::read_dir(world.out()).expect("a folder").count(), 1);
    world.write(
        "tasks.json",
        &json!({ "tasks": [task(&("a", &["b"], 0)), task(&("b", &["a"], 0))] }).to_string(),
    );
    let _ = run(&world, &["--out", "new"]).exits(64);
    world.write("none.json", "{\"tasks\": []}");
    let _ = world
        .trellis(&["tasks", "none.json", "--stack", "plain-python", "--out", "new"])
        .exits(65)
        .says("has no tasks");
    let _ = world
        .trellis(&["tasks", "tasks.json", "--stack", "plain-python", "--out", "new"])
        .exits(65)
        .says("nothing was started");
    assert!(!world.root().join("new").exists());
}

/// Records replies about a file that both rivals have changed, in either order.
fn merges(world: &World, answers: &[&str]) {
    let line = |(attempt, body): (usize, &&str)| {
        json!({ "node": "*", "stage": "merge", "attempt": attempt, "reply": body }).to_string()
    };
    let lines: Vec<String> = answers.iter().enumerate().map(line).collect();
    world.write("replies.jsonl", &format!("{}\n{}", world.read("replies.jsonl"), lines.join("\n")));
}

#[test]
fn a_conflict_is_settled_by_the_model_and_proven_by_the_tests_of_both() {
    let world = list(&[("one", &[], 0)], rivals());
    let both = file("app/registry.py", "ALL = ['rival_a', 'rival_b']\n");
    merges(
        &world,
        &[
            "I would take both.",
            // One side alone always loses the other one's test.
            &file("app/registry.py", "ALL = ['rival_a']\n"),
            &file("app/registry.py", "<<<<<<< x\nALL = []\n"),
            &both,
        ],
    );
    let result = run(&world, &[]).exits(0).json();
    assert_eq!((&result["status"], &result["progress"]), (&json!("COMPLETE"), &json!(100)));
    assert_eq!(world.read("out/app/registry.py"), "ALL = ['rival_a', 'rival_b']\n");
    passes(&world);
    let settled = in_out(
        &world,
        &["log", "--format=%(trailers:key=Trellis-Settled,valueonly,separator=%x2C)", "main"],
    );
    assert_eq!(settled.trim(), "app/registry.py");
    assert_eq!(in_out(&world, &["branch", "--format=%(refname:short)"]), "main");
    let log = world.trellis(&["log", "out"]).exits(0).stdout;
    let told = ["merge conflict", "conflict resolved"];
    assert!(told.iter().all(|it| log.contains(it)), "{log}");
}

#[test]
fn a_merge_that_loses_what_one_side_has_is_refused_and_both_are_kept() {
    let world = list(&[], rivals());
    let lost = file("app/registry.py", "ALL = []\n");
    merges(&world, &[lost.as_str(); 3]);
    let result = run(&world, &[]).exits(1).json();
    let failed = names(&result["failedTasks"]);
    let [loser] = &failed[..] else { panic!("{result:#}") };
    let why = text(&result["failedTasks"][loser]);
    assert!(why.contains("merged this way, ") && why.contains("both versions are kept"), "{why}");
    let kept = in_out(&world, &["show", &format!("trellis/task-{loser}:app/registry.py")]);
    assert_eq!(kept, format!("ALL = ['{loser}']"));
    passes(&world);
}

#[test]
fn what_connects_the_tasks_is_written_where_their_tests_together_fail() {
    let tasks: [Task; 2] = [("one", &[], 0), ("two", &[], 0)];
    let world = list(&tasks, (Vec::new(), Vec::new()));
    let tests = "from app import one, two\n\n\ndef test_sum():\n    assert one() + two() == 2\n";
    let lines: Vec<Value> = (tasks.iter().flat_map(replies)).collect();
    let write = |more: &[Value]| {
        let lines: Vec<String> = lines.iter().chain(more).map(ToString::to_string).collect();
        world.write("replies.jsonl", &lines.join("\n"));
    };
    // Without a reply the tasks stay merged, and the next start continues from there.
    write(&[]);
    let result = run(&world, &[]).exits(1).json();
    assert_eq!((&result["status"], &result["progress"]), (&json!("FAILED"), &json!(100)));
    let said = text(&result["reason"]);
    assert!(said.contains("no recorded reply for integration integration 0"), "{said}");
    let code = file("app/__init__.py", "from app.one import one\nfrom app.two import two\n");
    let code =
        json!({ "node": "integration", "stage": "implementation", "attempt": 0, "reply": code });
    write(&[together(tests), code]);
    let result = run(&world, &[]).exits(0).json();
    assert_eq!(result["status"], "COMPLETE", "{result:#}");
    assert!(world.read("out/app/__init__.py").contains("import two"));
    passes(&world);
    // Integration runs once.
    let before = in_out(&world, &["rev-parse", "main"]);
    write(&[]);
    assert_eq!(run(&world, &[]).exits(0).json()["status"], "COMPLETE");
    assert_eq!(in_out(&world, &["rev-parse", "main"]), before);
    // Another task makes another set; existing tests are enough.
    write(&[together(tests)]);
    let more = replies(&("three", &[], 0));
    let more: Vec<String> = more.iter().map(|it| text(&it["reply"])).collect();
    own(&world, "three", &[], &[("scaffold", &more[0]), ("implementation", &more[1])], 0);
    assert_eq!(run(&world, &[]).exits(0).json()["status"], "COMPLETE");
    assert_eq!(in_out(&world, &["branch", "--format=%(refname:short)"]), "main");
    let skipped = list(&tasks, (Vec::new(), Vec::new()));
    skipped.write(
        "replies.jsonl",
        &lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    );
    let result = run(&skipped, &["--skip-integration"]).exits(0).json();
    assert_eq!(result["status"], "COMPLETE", "{result:#}");
}

#[test]
fn a_task_is_made_with_tools_and_asked_for_again_where_the_failure_may_pass() {
    let world = list(&[], (Vec::new(), Vec::new()));
    world.write("tasks.json", &json!({ "tasks": [task(&("a", &[], 0))] }).to_string());
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    let line = |stage: &str, calls: &[Value]| json!({ "node": "a", "stage": stage, "attempt": 0, "tool_calls": calls });
    let tests = "from app.a import a\n\n\ndef test_a():\n    assert a() == 1\n";
    let overloaded =
        json!({ "node": "a", "stage": "scaffold", "attempt": 0, "error": { "status": 429 } });
    let done = || call("done", json!({ "summary": "it is there" }));
    let mut lines = vec![overloaded; 5];
    lines.extend([
        line("scaffold", &[call("read_file", json!({ "path": "app/registry.py" }))]),
        line(
            "scaffold",
            &[
                call("write_file", json!({ "path": "tests/test_a.py", "text": tests })),
                // A code file before the tests are done.
                call(
                    "write_file",
                    json!({ "path": "app/a.py", "text": "def a():\n    return 1\n" }),
                ),
            ],
        ),
        line("scaffold", &[done()]),
        line(
            "implementation",
            &[
                call("write_file", json!({ "path": "tests/test_a.py", "text": "" })),
                call("write_file", json!({ "path": "../a.py", "text": "" })),
                call(
                    "write_file",
                    json!({ "path": "app/a.py", "text": "def a():\n    return 1\n" }),
                ),
            ],
        ),
        line("implementation", &[done()]),
    ]);
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    world.write("replies.jsonl", &lines.join("\n"));
    let result = run(&world, &[]).exits(0).json();
    assert_eq!(result["progress"], 100, "{result:#}");
    assert_eq!(world.read("out/tests/test_a.py"), tests);
    assert_eq!(world.read("out/app/a.py"), "def a():\n    return 1\n");
    let log = world.trellis(&["log", "out"]).exits(0).stdout;
    assert!(log.contains("write_file"), "{log}");
    // One more attempt is too many.
    let world = list(&[], (Vec::new(), Vec::new()));
    world.write("tasks.json", &json!({ "tasks": [task(&("a", &[], 0))] }).to_string());
    world.write(
        "replies.jsonl",
        &[vec![lines[0].clone(); 6], lines[5..].to_vec()].concat().join("\n"),
    );
    let result = run(&world, &[]).exits(1).json();
    assert!(text(&result["failedTasks"]["a"]).contains("429"), "{result:#}");
}

/// Runs the tasks of the list separately, with a service as the model.
fn asking(world: &World, service: &Service) -> Ran {
    let arguments = "tasks tasks.json --stack plain-python --out out --json --sandbox local --model openai:tiny --skip-integration";
    let mut command = world.command(&arguments.split(' ').collect::<Vec<_>>());
    command.env("OPENAI_BASE_URL", &service.url).env("OPENAI_API_KEY", KEY);
    Ran::of(command.output().expect("trellis starts"))
}

#[test]
fn a_person_at_work_on_one_task_stops_no_other() {
    let tasks: [Task; 2] = [("a", &[], 0), ("b", &[], 0)];
    let world = list(&tasks, (Vec::new(), Vec::new()));
    let place = world.out().join(".trellis/worktrees/task-b/app/__init__.py");
    let (all, written) = (tasks.map(|it| replies(&it)), place.clone());
    let service = Service::start(Box::new(move |question| {
        let prompt = prompt(question);
        let is_tests = prompt.contains("Write tests for");
        let [a, b] = &all;
        let of = if prompt.contains("Do a") { a } else { b };
        if !is_tests && prompt.contains("Do b") {
            fs::write(&written, "MINE = 1\n").expect("written");
        }
        said(&text(&of[usize::from(!is_tests)]["reply"]))
    }));
    let run = || asking(&world, &service);
    let result = run().exits(1).json();
    assert_eq!(result["completedTasks"], json!(["a"]), "{result:#}");
    let why = text(&result["failedTasks"]["b"]);
    assert!(why.contains("was edited in the worktree"), "{why}");
    // The person's text continues with the work.
    assert_eq!(fs::read_to_string(&place).expect("the file"), "MINE = 1\n");
    // On the branch that it was begun for, and on no other.
    in_out(&world, &["switch", "--quiet", "-c", "other"]);
    let result = run().exits(1).json();
    let why = text(&result["failedTasks"]["b"]);
    assert!(why.contains("task-b was begun for main, and other is checked out"), "{why}");
    in_out(&world, &["switch", "--quiet", "main"]);
    let result = run().exits(0).json();
    assert_eq!(result["progress"], 100, "{result:#}");
    assert_eq!(world.read("out/app/__init__.py"), "MINE = 1\n");
}

/// Adds a task with replies of its own.
fn own(world: &World, id: &str, needs: &[&str], replies: &[(&str, &str)], latency: u64) -> String {
    let mut list: Value = serde_json::from_str(&world.read("tasks.json")).expect("a list");
    let tasks = list["tasks"].as_array_mut().expect("tasks");
    tasks.push(json!({ "id": id, "description": format!("Do {id}"), "depends_on": needs }));
    world.write("tasks.json", &list.to_string());
    let line = |(stage, reply): &(&str, &str)| {
        json!({ "node": id, "stage": stage, "attempt": 0, "reply": reply, "latency_ms": latency })
            .to_string()
    };
    let lines: Vec<String> = replies.iter().map(line).collect();
    let known = world.read("replies.jsonl");
    world.write("replies.jsonl", &format!("{known}\n{}", lines.join("\n")));
    lines.join("\n")
}

#[test]
fn tests_that_a_merge_would_silence_keep_it_out() {
    let tests = |id: &str| {
        file(
            &format!("tests/test_{id}.py"),
            &format!("from app.{id} import {id}\n\n\ndef test_{id}():\n    assert {id}() == 1\n"),
        )
    };
    let made = |id: &str| file(&format!("app/{id}.py"), &format!("def {id}():\n    return 1\n"));
    // A task whose code deselects the tests of the other, which it never saw; it is the slower one.
    let world = list(&[("aa", &[], 0)], (Vec::new(), Vec::new()));
    let sly = format!(
        "{}pyproject.toml\n<<<<<<< SEARCH\npythonpath = ['.']\n=======\npythonpath = ['.']\naddopts = '--ignore=tests/test_aa.py'\n>>>>>>> REPLACE\n",
        made("bb")
    );
    own(&world, "bb", &[], &[("scaffold", &tests("bb")), ("implementation", &sly)], 1500);
    let result = run(&world, &["--replay-latency"]).exits(1).json();
    assert_eq!(result["completedTasks"], json!(["aa"]), "{result:#}");
    let why = text(&result["failedTasks"]["bb"]);
    assert!(why.contains("do not pass any more") && why.contains("test_aa"), "{why}");
    // A task whose code makes passing tests skip.
    let world = list(&[("aa", &[], 0)], (Vec::new(), Vec::new()));
    let later = file("app/aa.py", "import pytest\n\n\ndef aa():\n    pytest.skip('later')\n");
    let code = format!("{}{later}", made("bb"));
    own(&world, "bb", &["aa"], &[("scaffold", &tests("bb")), ("implementation", &code)], 0);
    let result = run(&world, &["--max-retries", "0"]).exits(1).json();
    assert_eq!(result["completedTasks"], json!(["aa"]), "{result:#}");
    assert!(world.read("out/app/aa.py").ends_with("def aa():\n    return 1\n"));
}

#[test]
fn what_git_was_told_to_ignore_is_a_persons_all_the_same() {
    let world = list(&[("aa", &[], 0)], (Vec::new(), Vec::new()));
    let _ = run(&world, &[]).exits(0);
    world.write("out/.git/info/exclude", "/local\n/notes\nprivate.env\n");
    world.write("out/notes", "mine\n");
    std::os::unix::fs::symlink("/tmp", world.out().join("local")).expect("a link");
    let tests = file(
        "tests/test_bb.py",
        "from app.bb import bb\n\n\ndef test_bb():\n    assert bb() == 1\n",
    );
    let code = [
        file("app/bb.py", "def bb():\n    return 1\n"),
        file("notes/x.txt", "theirs\n"),
        file("local/z.txt", "theirs\n"),
    ];
    own(&world, "bb", &[], &[("scaffold", &tests), ("implementation", &code.concat())], 0);
    let result = run(&world, &["--skip-integration"]).exits(1).json();
    let why = text(&result["failedTasks"]["bb"]);
    assert!(why.contains("notes/x.txt") && why.contains("local/z.txt"), "{why}");
    assert_eq!(world.read("out/notes"), "mine\n");
    assert!(world.out().join("local").is_symlink());
    // Also in the worktree of failed work: it is archived, and keeps a person's files.
    world.write("out/.trellis/worktrees/task-bb/private.env", "KEY=1\n");
    let _ = run(&world, &["--skip-integration"]).exits(1);
    let kept = fs::read_dir(world.out().join(".trellis/kept")).expect("a folder");
    let kept: Vec<_> = kept.map(|it| it.expect("an entry").path().join("private.env")).collect();
    assert_eq!(fs::read_to_string(&kept[0]).expect("the file"), "KEY=1\n");
}

#[test]
fn a_person_may_switch_branches_and_nothing_of_theirs_is_taken() {
    let tasks: [Task; 2] = [("a", &[], 0), ("b", &["a"], 0)];
    let world = list(&tasks, (Vec::new(), Vec::new()));
    let all = tasks.map(|it| replies(&it));
    let out = world.out();
    let service = Service::start(Box::new(move |question| {
        let prompt = prompt(question);
        let is_tests = prompt.contains("Write tests for");
        let of = if prompt.contains("Do b") { &all[1] } else { &all[0] };
        if prompt.contains("Do a") && !is_tests {
            git(&out, &["switch", "--quiet", "-c", "private"]);
            fs::write(out.join("diary.txt"), "mine\n").expect("written");
            git(&out, &["add", "diary.txt"]);
            git(&out, &["commit", "--quiet", "-m", "mine"]);
        }
        said(&text(&of[usize::from(!is_tests)]["reply"]))
    }));
    let run = || asking(&world, &service);
    let result = run().exits(0).json();
    assert_eq!(result["progress"], 100, "{result:#}");
    assert_eq!(in_out(&world, &["symbolic-ref", "--short", "HEAD"]), "private");
    assert_eq!(in_out(&world, &["log", "--format=%s", "main..private"]), "mine");
    assert!(in_out(&world, &["ls-tree", "--name-only", "main", "app/"]).contains("app/b.py"));
    // On a branch without the project nothing is begun or committed.
    in_out(&world, &["switch", "--quiet", "--orphan", "pages"]);
    world.write("out/index.html", "mine\n");
    in_out(&world, &["add", "index.html"]);
    in_out(&world, &["commit", "--quiet", "-m", "pages"]);
    world.write("out/draft.html", "mine\n");
    let _ = run().exits(65).says("pages has no project from a template");
    assert_eq!(in_out(&world, &["log", "--format=%s", "pages"]), "pages");
    // A person may switch the branch in a worktree as well.
    in_out(&world, &["switch", "--quiet", "main"]);
    let bad = replies(&("c", &[], 9));
    own(
        &world,
        "c",
        &[],
        &[("scaffold", &text(&bad[0]["reply"])), ("implementation", &text(&bad[1]["reply"]))],
        0,
    );
    let recorded =
        ["--model", "recorded:replies.jsonl", "--max-retries", "0", "--skip-integration"];
    let again = || {
        let arguments = [&ARGUMENTS[..9], &recorded].concat();
        world.trellis(&arguments)
    };
    let _ = again().exits(1);
    let inside = world.out().join(".trellis/worktrees/task-c");
    git(&inside, &["switch", "--quiet", "-c", "mine"]);
    let tip = git(&inside, &["rev-parse", "mine"]);
    let result = again().exits(1).json();
    let why = text(&result["failedTasks"]["c"]);
    assert!(why.contains("a branch other than trellis/task-c is checked out"), "{why}");
    assert_eq!(git(&inside, &["rev-parse", "mine"]), tip);
}

#[test]
fn an_id_of_several_lines_speaks_for_itself_alone() {
    let world = list(&[("bb", &[], 9)], (Vec::new(), Vec::new()));
    let id = "aa\nTrellis-Task: bb\nx";
    let tests = file(
        "tests/test_aa.py",
        "from app.aa import aa\n\n\ndef test_aa():\n    assert aa() == 1\n",
    );
    let code = file("app/aa.py", "def aa():\n    return 1\n");
    own(&world, id, &[], &[("scaffold", &tests), ("implementation", &code)], 0);
    for _ in 0..2 {
        let result = run(&world, &["--max-retries", "0", "--skip-integration"]).exits(1).json();
        assert_eq!(names(&result["failedTasks"]), ["bb"], "{result:#}");
    }
}
