//! Progress of a list of tasks in all interfaces, and its generated files.

use std::fs;

use ::lsp::{Failure, patience};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::implement::file;
use crate::repair::{git, text};
use crate::runs::{call, editor, ended, result, start, until};
use crate::tasks::{Task, in_out, list, names, run};
use crate::transports::Served;
use crate::world::World;

/// More than half of the tasks pass.
const TASKS: [Task; 5] = [
    ("base", &[], 0),
    ("next", &["base"], 0),
    ("bad", &[], 9),
    ("after", &["bad"], 0),
    ("alone", &[], 0),
];

fn plain(tasks: &[Task]) -> World {
    list(tasks, (Vec::new(), Vec::new()))
}

fn status(world: &World) -> Value {
    world.trellis(&["status", "out", "--json"]).exits(0).json()
}

/// Returns the parameters of an editor's start.
fn params() -> Value {
    json!({
        "file": "tasks.json", "stack": "plain-python", "out": "out", "sandbox": "local",
        "model": "recorded:replies.jsonl", "maxRetries": 0, "background": true,
    })
}

/// Returns the reported states of one task, in order.
fn told<'a>(events: &'a [Value], task: &str) -> Vec<&'a str> {
    let of_task = events.iter().filter(|it| it["type"] == "node" && it["node"] == task);
    of_task.filter_map(|it| it["status"].as_str()).collect()
}

#[test]
fn every_workflow_tells_how_far_a_list_of_tasks_is() {
    let world = plain(&TASKS);
    world.write("out/.keep", "");
    let _ = world.trellis(&["status", "out"]).exits(65).says("or `trellis tasks`");
    fs::remove_dir_all(world.out()).expect("removed");
    let came = run(&world, &["--max-retries", "0"]).exits(1).json();
    let now = status(&world);
    assert_eq!(
        (&now["status"], &now["running"], &now["progress"], &now["stack"]),
        (&json!("COMPLETE"), &json!(false), &json!(60), &json!("plain-python")),
        "{now:#}"
    );
    for field in ["totalTasks", "completedTasks", "failedTasks", "blockedTasks"] {
        assert_eq!(now[field], came[field], "{field}");
    }
    assert_eq!((&now["currentTasks"], &now["totalTasks"]), (&json!([]), &json!(5)));
    assert_eq!(
        (names(&now["failedTasks"]), names(&now["blockedTasks"])),
        (vec!["bad".to_owned()], vec!["after".to_owned()])
    );
    let list = world.root().join("tasks.json").display().to_string();
    assert_eq!(now["file"], list);
    let said = world.trellis(&["status", "out"]).exits(0).stdout;
    for line in [
        "merged   base\n",
        "failed   bad: ",
        "blocked  after: ",
        "COMPLETE: 3 of 5 tasks are merged (60%); not running",
    ] {
        assert!(said.contains(line), "{line:?} in {said}");
    }
    let served = Served::start(&world, &[]);
    assert_eq!(served.ask("trellis/tasksStatus", json!({ "out": "out" }))["result"], now);
    let mut client = editor(&world, Value::Null);
    assert_eq!(call(&mut client, "tasksStatus", json!({ "out": "out" })), now);
    let runs = call(&mut client, "listRuns", json!({}))["runs"].take();
    let wanted = json!([{ "out": world.out(), "kind": "tasks", "state": "finished", "passed": 3, "total": 5, "graph": list }]);
    assert_eq!(runs, wanted);
    // There are no nodes to report, which is an error.
    match client
        .request("trellis/status", json!({ "out": "out" }), patience())
        .expect_err("refused")
    {
        Failure::Refused { message, data, .. } => {
            assert!(message.contains("generation_checkpoint.json"), "{message}");
            assert!(text(&data["hint"]).contains("trellis/tasksStatus"), "{data}");
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_view_that_is_torn_missing_or_of_somebody_else_is_told_with_what_to_do() {
    let world = plain(&[("base", &[], 0)]);
    let _ = run(&world, &[]).exits(0);
    let (view, whole) = ("out/.trellis/tasks.json", world.read("out/.trellis/tasks.json"));
    let table = [
        (&whole[..40], "EOF"),
        ("1", "invalid type"),
        ("{}", "missing field"),
        ("{\"version\": 2}", "has version 2"),
        ("{\"version\": 1}", "missing field"),
    ];
    for (bad, why) in table {
        world.write(view, bad);
        let _ = world.trellis(&["status", "out"]).exits(65).says(why);
        let _ = world.trellis(&["status", "out"]).exits(65).says("run `trellis tasks` again");
    }
    // The next start writes the file again, also a missing one.
    let _ = run(&world, &[]).exits(0);
    assert_eq!(world.read(view), whole);
    fs::remove_file(world.root().join(view)).expect("removed");
    let served = Served::start(&world, &[]);
    let missing = served.ask("trellis/tasksStatus", json!({ "out": "out" }));
    assert_eq!(missing["error"]["data"]["kind"], "noTasks", "{missing}");
    assert!(text(&missing["error"]["data"]["hint"]).contains("as `out`"), "{missing}");
    let _ = run(&world, &[]).exits(0);
    assert_eq!(world.read(view), whole);
}

/// Creates a list whose task runs an endless test.
fn endless() -> World {
    let world = plain(&[("base", &[], 0), ("stuck", &["base"], 0)]);
    let tests = "import threading\n\n\ndef test_stuck():\n    threading.Event().wait()\n";
    let stuck = json!({ "node": "stuck", "stage": "scaffold", "attempt": 0, "reply": file("tests/test_stuck.py", tests) });
    let replies = world.read("replies.jsonl");
    let others = replies.lines().filter(|it| !it.contains("\"node\":\"stuck\""));
    let lines: Vec<String> = others.map(str::to_owned).chain([stuck.to_string()]).collect();
    world.write("replies.jsonl", &lines.join("\n"));
    world
}

#[test]
fn while_it_runs_tasks_are_under_way_and_after_a_kill_none_are() {
    let world = endless();
    let mut client = editor(&world, Value::Null);
    let mut given = params();
    given["testTimeout"] = json!(80_000);
    start(&mut client, "tasks", given);
    let begun =
        |it: &Value| it["type"] == "node" && it["node"] == "stuck" && it["status"] == "in_progress";
    until(&mut client, begun);
    let now = call(&mut client, "tasksStatus", json!({ "out": "out" }));
    let fields = ["status", "running", "progress", "completedTasks", "currentTasks"];
    let of = |it: &Value| fields.map(|field| it[field].clone());
    assert_eq!(
        of(&now),
        [json!("GENERATING"), json!(true), json!(50), json!(["base"]), json!(["stuck"])]
    );
    assert_eq!(call(&mut client, "listRuns", json!({}))["runs"][0]["state"], "active");
    // Another process sees the same.
    assert_eq!(status(&world), now);
    let pid = i32::try_from(client.process_id()).ok().and_then(Pid::from_raw).expect("a number");
    kill_process(pid, Signal::KILL).expect("killed");
    // The pipe closes once the process is gone.
    assert!(client.notice("trellis/nothing", patience()).is_err());
    let now = status(&world);
    assert_eq!(
        of(&now),
        [json!("GENERATING"), json!(false), json!(50), json!(["base"]), json!([])]
    );
    let mut next = editor(&world, Value::Null);
    assert_eq!(call(&mut next, "listRuns", json!({}))["runs"][0]["state"], "stopped");
}

#[test]
fn clients_are_told_each_change_of_a_task_to_the_very_last() {
    let world = plain(&[("bad", &[], 9), ("a", &["bad"], 0), ("b", &["a"], 0)]);
    let mut client = editor(&world, Value::Null);
    let job = start(&mut client, "tasks", params());
    let events = ended(&mut client, &job);
    assert_eq!(result(&mut client, &job)["status"], "FAILED");
    assert_eq!(told(&events, "bad"), ["pending", "in_progress", "failed"]);
    for blocked in ["a", "b"] {
        assert_eq!(told(&events, blocked), ["pending", "skipped"], "{blocked}");
    }
    let last = events.iter().rfind(|it| it["type"] == "progress").expect("progress");
    assert_eq!((&last["done"], &last["total"]), (&json!(3), &json!(3)));
    let why = events.iter().rfind(|it| it["node"] == "bad" && it["type"] == "node").expect("told");
    assert!(text(&why["reason"]).contains("the only attempt failed"), "{why}");
}

#[test]
fn the_files_that_tasks_were_made_into_are_listed_and_read_and_no_others() {
    let world = plain(&[("base", &[], 0)]);
    let _ = run(&world, &[]).exits(0);
    world.write("out/own.txt", "a person's\n");
    world.write("out/a \"b\\\n.txt", "odd\n");
    let odd = [
        &["add", "--", "a \"b\\\n.txt"][..],
        &["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "--quiet", "-m", "odd"],
    ];
    odd.iter().for_each(|it| drop(git(&world.out(), it)));
    let served = Served::start(&world, &[]);
    let files = || {
        let listed = served.ask("trellis/listFiles", json!({ "out": "out" }));
        let all = listed["result"]["files"].as_array().unwrap_or_else(|| panic!("{listed}"));
        all.iter()
            .map(|it| (text(&it["path"]), text(&it["state"]), it["size"].clone()))
            .collect::<Vec<_>>()
    };
    let paths: Vec<String> = files().into_iter().map(|it| it.0).collect();
    let known: Vec<String> = in_out(
        &world,
        &["-c", "core.quotePath=false", "ls-tree", "-r", "-z", "--name-only", "HEAD"],
    )
    .split_terminator('\0')
    .map(str::to_owned)
    .collect();
    assert_eq!(paths, known);
    assert!(paths.contains(&"app/base.py".to_owned()) && !paths.contains(&"own.txt".to_owned()));
    assert!(files().iter().all(|it| it.1 == "written"), "{:?}", files());
    world.write("out/app/base.py", "mine\n");
    fs::remove_file(world.out().join("tests/test_base.py")).expect("removed");
    let changed: Vec<_> = files().into_iter().filter(|it| it.1 != "written").collect();
    let wanted =
        [("app/base.py", "edited", json!(5)), ("tests/test_base.py", "missing", Value::Null)];
    assert_eq!(
        changed,
        wanted.map(|(path, state, size)| (path.to_owned(), state.to_owned(), size))
    );
    let read = |path: &str| served.ask("trellis/readFile", json!({ "out": "out", "path": path }));
    assert_eq!(read("app/base.py")["result"]["text"], "mine\n");
    for inner in [".git/config", "./.trellis/tasks.json", ".GIT/config", "app/../.git/config"] {
        let refused = read(inner);
        assert!(
            text(&refused["error"]["data"]["hint"]).contains("trellis/listFiles"),
            "{inner}: {refused}"
        );
    }
    fs::remove_dir_all(world.out().join(".git")).expect("removed");
    let gone = served.ask("trellis/listFiles", json!({ "out": "out" }));
    assert!(text(&gone["error"]["message"]).contains("is not a git repository"), "{gone}");
}

#[test]
fn a_start_that_comes_to_nothing_changes_nothing_that_was_known() {
    let world = plain(&[("base", &[], 0)]);
    let replies = world.read("replies.jsonl");
    let nothing = || {
        fs::remove_file(world.root().join("replies.jsonl")).expect("removed");
        let _ = run(&world, &[]).exits(69);
        world.write("replies.jsonl", &replies);
    };
    nothing();
    let now = status(&world);
    let wanted = (&json!("PENDING"), &json!(false), &json!(0), &json!(1));
    let of = (&now["status"], &now["running"], &now["progress"], &now["totalTasks"]);
    assert_eq!(of, wanted, "{now:#}");
    let _ = run(&world, &[]).exits(0);
    let whole = status(&world);
    assert_eq!(whole["status"], "COMPLETE");
    nothing();
    assert_eq!(status(&world), whole);
}
