//! Runs that an editor starts, pauses, stops, resumes and retries.

use std::collections::BTreeSet;
use std::time::Duration;

use ::lsp::{Client, Encoding, Failure, Question, patience};
use serde_json::{Value, json};

use crate::world::{Plot, World, assert_same, tree};

const ASK: &str = "trellis/askModel";

/// Starts a server for a world, whose client plays the editor's models if asked.
pub(crate) fn editor(world: &World, options: Value) -> Client {
    let mut client = Client::start(world.command(&["lsp"]), world.root()).expect("a server");
    client.reserve(ASK);
    client.initialize(&[Encoding::Utf8], &options, patience()).expect("a handshake");
    client
}

pub(crate) fn call(client: &mut Client, method: &str, params: Value) -> Value {
    let answer = client.request(&format!("trellis/{method}"), params, patience());
    answer.unwrap_or_else(|failure| panic!("{method}: {failure}"))
}

/// Starts a job and returns its id.
pub(crate) fn start(client: &mut Client, method: &str, params: Value) -> String {
    let started = call(client, method, params);
    started["job"].as_str().unwrap_or_else(|| panic!("no job: {started}")).to_owned()
}

/// Returns all events up to and including the first wanted one.
pub(crate) fn until(client: &mut Client, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
    let mut events = Vec::new();
    loop {
        let event = client.notice("trellis/event", patience());
        let event = event.unwrap_or_else(|failure| panic!("{failure} after {events:#?}"));
        let last = wanted(&event);
        events.push(event);
        if last {
            return events;
        }
    }
}

/// Returns all events until a job has ended.
pub(crate) fn ended(client: &mut Client, job: &str) -> Vec<Value> {
    until(client, |it| {
        let state = it["state"].as_str().unwrap_or_default();
        it["type"] == "job" && it["job"] == job && !["running", "paused"].contains(&state)
    })
}

/// Returns the result of a job, which must be done.
pub(crate) fn result(client: &mut Client, job: &str) -> Value {
    let mut shape = call(client, "job", json!({ "job": job }));
    assert_eq!(shape["state"], "done", "{shape}");
    shape["result"].take()
}

/// Returns the last reported status of a node.
fn last_status(events: &[Value], node: &str) -> String {
    let of_node = |it: &&Value| it["type"] == "node" && it["node"] == node;
    let last = events.iter().rfind(of_node).unwrap_or_else(|| panic!("nothing of {node}"));
    last["status"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_run_tells_what_happens_and_ends_as_on_the_command_line() {
    let (world, plain) = (World::new(), World::new());
    let plot = Plot::garden();
    let _ = plain.grow(&plot, &[]).exits(0);
    world.plant(&plot);
    let mut client = editor(&world, Value::Null);
    // Paths are relative to the workspace's folder.
    let params = json!({ "graph": "rpg.json", "out": "out", "model": "recorded:replies.jsonl" });
    let job = start(&mut client, "generate", params);
    let events = ended(&mut client, &job);
    for node in ["double", "square", "shifted", "summed", "negated", "tenfold"] {
        assert_eq!(last_status(&events, node), "passed", "{node}");
    }
    let progress = events.iter().rfind(|it| it["type"] == "progress").expect("progress");
    assert_eq!(
        (&progress["done"], &progress["total"], &progress["percent"]),
        (&6.into(), &6.into(), &100.into())
    );
    let red = events.iter().any(|it| it["type"] == "stage" && it["stage"] == "red");
    assert!(red, "no red run was told: {events:#?}");
    let suite = events.iter().rposition(|it| it["type"] == "node").expect("nodes");
    let passed = |it: &&Value| it["type"] == "test" && it["outcome"] == "passed";
    let (nodes, all) = events.split_at(suite);
    let names = |events: &[Value]| -> BTreeSet<String> {
        events.iter().filter(passed).map(|it| it["id"].to_string()).collect()
    };
    assert_eq!(names(all).len(), 18, "the tests of the whole suite are told one by one");
    assert!(names(nodes).len() >= 12 && names(nodes).is_subset(&names(all)), "{nodes:#?}");
    let written: Vec<&Value> = (events.iter().filter(|it| it["type"] == "files"))
        .inspect(|it| assert_eq!(it["root"], world.out().display().to_string()))
        .flat_map(|it| it["paths"].as_array().expect("paths"))
        .collect();
    for path in ["src/lib/basic.py", "tests/test_basic.py"] {
        assert!(written.iter().any(|it| *it == path), "{path}: {written:?}");
    }
    let summary = result(&mut client, &job);
    assert_eq!((&summary["passed"], &summary["exitCode"]), (&6.into(), &0.into()), "{summary}");
    assert_same(&world.tree(), &plain.tree());

    let files = call(&mut client, "listFiles", json!({ "out": "out" }));
    let basic = |it: &&Value| it["path"] == "src/lib/basic.py";
    let of_basic =
        |files: &Value| files["files"].as_array().and_then(|it| it.iter().find(basic)).cloned();
    let entry = of_basic(&files).unwrap_or_else(|| panic!("{files}"));
    assert_eq!(entry["state"], "written");
    let file = call(&mut client, "readFile", json!({ "out": "out", "path": "src/lib/basic.py" }));
    assert_eq!(file["text"], world.read("out/src/lib/basic.py"));
    world.write("out/src/lib/basic.py", "# mine\n");
    let files = call(&mut client, "listFiles", json!({ "out": "out" }));
    assert_eq!(of_basic(&files).map(|it| it["state"].clone()), Some("edited".into()));
    let outside = [
        ("../rpg.json", "is outside the folder"),
        ("/etc/hostname", "is outside the folder"),
        ("src/lib/none.py", "it does not exist"),
        ("src/lib", "not a regular file"),
        ("", "is outside the folder"),
    ];
    for (path, why) in outside {
        let refused =
            client.request("trellis/readFile", json!({ "out": "out", "path": path }), patience());
        let refused = refused.expect_err("a refusal").to_string();
        assert!(refused.contains(why) && refused.contains("(code 65)"), "{path}: {refused}");
    }
    let runs = call(&mut client, "listRuns", json!({}));
    assert_eq!(runs["runs"].as_array().map(Vec::len), Some(1), "{runs}");
    assert_eq!(
        (&runs["runs"][0]["state"], &runs["runs"][0]["passed"]),
        (&"finished".into(), &6.into())
    );
}

/// Answers a request like the recording.
fn answer(client: &Client, question: &Question, plot: &Plot) {
    let asked = &question.params;
    let same = |it: &&Value| {
        it["node"] == asked["node"]
            && it["stage"] == asked["stage"]
            && it["attempt"] == asked["attempt"]
    };
    let reply = plot.replies.iter().find(same).unwrap_or_else(|| panic!("no reply to {asked}"));
    client.answer(question, Ok(json!({ "text": reply["reply"], "toolCalls": [] })));
}

#[test]
fn a_held_run_asks_nothing_and_a_cancelled_one_goes_on_later_with_the_same_options() {
    let world = World::new();
    let plot = Plot::default()
        .function("double", "basic", &[], &[], "2 * x")
        .tests("double", "basic", [2, 4, 6])
        .function("shifted", "middle", &["double"], &[], "double(x) + 1")
        .tests("shifted", "middle", [3, 5, 7])
        .function("tenfold", "top", &[], &[], "10 * x")
        .tests("tenfold", "top", [10, 20, 30])
        .library(&[("basic", "double"), ("middle", "shifted")], "shifted(double(1)) == 5");
    world.plant(&plot);
    let mut client = editor(&world, Value::Null);
    let params = json!({ "graph": "rpg.json", "out": "out", "model": "editor:any", "batch": 1 });
    let job = start(&mut client, "generate", params);
    let first = client.question(ASK, patience()).expect("a question");
    let held = call(&mut client, "pauseJob", json!({ "job": job }));
    assert_eq!(held["state"], "paused", "{held}");
    answer(&client, &first, &plot);
    // The reply is accepted; next would be a test run and another request.
    until(&mut client, |it| it["type"] == "stage");
    let still = call(&mut client, "job", json!({ "job": job }));
    assert_eq!(still["state"], "paused", "{still}");
    assert!(client.question(ASK, Duration::ZERO).is_err(), "it asked while it was held");
    call(&mut client, "resumeJob", json!({ "job": job }));
    let next = client.question(ASK, patience()).expect("a question after it was let go on");
    assert_eq!(next.params["stage"], "implementation", "{}", next.params);
    answer(&client, &next, &plot);
    until(&mut client, |it| it["type"] == "node" && it["status"] == "passed");
    let _ = client.question(ASK, patience()).expect("the question of the next node");
    call(&mut client, "cancelJob", json!({ "job": job }));
    let events = ended(&mut client, &job);
    assert_eq!(events.last().map(|it| it["state"].clone()), Some("cancelled".into()));
    let runs = call(&mut client, "listRuns", json!({}));
    let run = &runs["runs"][0];
    assert_eq!(
        (&run["state"], &run["passed"], &run["total"]),
        (&"stopped".into(), &1.into(), &3.into())
    );

    // Another server, a later day: the folder is enough.
    drop(client);
    let mut client = editor(&world, Value::Null);
    let job = start(&mut client, "generate", json!({ "out": "out" }));
    let asked = serve(&mut client, &job, &plot);
    assert!(
        !asked.contains(&"double".to_owned()),
        "what had passed was asked for again: {asked:?}"
    );
    assert_eq!(result(&mut client, &job)["passed"], 3);
    let started = world.journal("started");
    assert_eq!(started.len(), 2);
    assert_eq!(started[1]["options"]["batch"], 1, "the options are those of before");
    let plain = World::new();
    let _ = plain.grow(&plot, &["--batch=1"]).exits(0);
    // Documents contain estimated tokens if a model reports none.
    let sources = |world: &World| {
        let mut tree = world.tree();
        tree.retain(|path, _| !path.starts_with("docs/"));
        tree
    };
    assert_same(&sources(&world), &sources(&plain));
}

/// Answers every request until a job has ended; returns the nodes of the requests.
fn serve(client: &mut Client, job: &str, plot: &Plot) -> Vec<String> {
    let mut asked = Vec::new();
    loop {
        match client.question(ASK, Duration::from_millis(50)) {
            Ok(question) => {
                asked.push(question.params["node"].as_str().unwrap_or_default().to_owned());
                answer(client, &question, plot);
            }
            Err(Failure::TimedOut { .. }) => {
                let shape = call(client, "job", json!({ "job": job }));
                if shape["state"] != "running" {
                    return asked;
                }
            }
            Err(failure) => panic!("{failure}"),
        }
    }
}

#[test]
fn one_node_is_tried_again_and_all_else_stays() {
    // `half` and `other` fail in the first run, and `user` waits for `half`.
    let plot = |good: &str| {
        let wrong = ["x", "x - 1", "x - 2", "x - 3", "x - 4", "x - 5", "x - 6", "x - 7", "x - 8"];
        let half: Vec<&str> = if good.is_empty() { wrong[..8].to_vec() } else { Vec::new() };
        let right = if good.is_empty() { wrong[8] } else { good };
        Plot::default()
            .function("half", "a", &[], &half, right)
            .tests("half", "a", [50, 100, 150])
            .function("user", "b", &["half"], &[], "half(x) + 1")
            .tests("user", "b", [51, 101, 151])
            .function("other", "c", &[], &wrong[..8], wrong[8])
            .tests("other", "c", [50, 100, 150])
            .function("fine", "d", &[], &[], "x + 1")
            .tests("fine", "d", [2, 3, 4])
    };
    let world = World::new();
    let _ = world.grow(&plot(""), &[]).exits(1);
    let before = world.checkpoint();
    let statuses = |it: &Value| {
        ["half", "user", "other", "fine"]
            .map(|id| it[id]["status"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(statuses(&before), ["failed", "skipped", "failed", "passed"]);
    world.write("better.jsonl", &plot("50 * x").recording());
    let model = format!("recorded:{}", world.root().join("better.jsonl").display());

    let mut client = editor(&world, Value::Null);
    let refusals = [
        (json!({ "node": "fine" }), "has passed"),
        (json!({ "node": "user" }), "its dependencies half have not passed"),
        (json!({ "node": "hlf" }), "no such node"),
    ];
    for (mut params, why) in refusals {
        (params["out"], params["model"]) = ("out".into(), model.clone().into());
        let job = start(&mut client, "retryNode", params);
        let events = ended(&mut client, &job);
        let error = events.last().map(|it| it["error"].to_string()).unwrap_or_default();
        assert!(error.contains(why), "{error}");
    }
    let calls = world.journal("model_call").len();
    let told = told_of(&world, "other");
    assert!(told.iter().any(|it| it.starts_with("- **Root Cause**: ")), "{told:?}");
    let job =
        start(&mut client, "retryNode", json!({ "node": "half", "out": "out", "model": model }));
    ended(&mut client, &job);
    assert_eq!(result(&mut client, &job)["passed"], 3);
    let after = world.checkpoint();
    assert_eq!(statuses(&after), ["passed", "passed", "failed", "passed"]);
    assert_eq!(after["other"]["failure_reason"], before["other"]["failure_reason"]);
    let later = world.journal("model_call").split_off(calls);
    // Tests of the whole library are requested at the end of every start without them.
    let asked = ["half", "user", "the whole library"];
    assert!(later.iter().all(|it| asked.iter().any(|id| it["node"] == *id)), "{later:#?}");
    assert_eq!(told_of(&world, "other"), told, "a later start knows what the first one knew");
    let fixed = tree(&world.out());
    assert!(fixed["src/lib/a.py"].contains("50 * x"), "{}", fixed["src/lib/a.py"]);
}

/// Returns the report's lines about a node that did not pass.
fn told_of(world: &World, node: &str) -> Vec<String> {
    let report = world.read("out/docs/generation_report.md");
    let start = format!("### {node}:");
    let lines = report.lines().skip_while(|line| !line.starts_with(&start));
    lines.take_while(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn two_windows_do_not_work_on_one_run_and_a_dead_one_holds_nothing() {
    let world = World::new();
    world.plant(&Plot::garden());
    let params = json!({ "graph": "rpg.json", "out": "out", "model": "editor:any" });
    let mut first = editor(&world, Value::Null);
    start(&mut first, "generate", params);
    let _ = first.question(ASK, patience()).expect("it is at work");
    let mut second = editor(&world, Value::Null);
    assert_eq!(call(&mut second, "listRuns", json!({}))["runs"][0]["state"], "active");
    let job = start(&mut second, "generate", json!({ "out": "out" }));
    let events = ended(&mut second, &job);
    let error = events.last().map(|it| it["error"].to_string()).unwrap_or_default();
    let owner = format!("process {}, since ", first.process_id());
    assert!(error.contains(&owner), "{error}");
    // Dropping the first client kills its server, which frees its locks.
    drop(first);
    let job = start(&mut second, "generate", json!({ "out": "out" }));
    let _ = second.question(ASK, patience()).expect("the second is at work");
    call(&mut second, "cancelJob", json!({ "job": job }));
    ended(&mut second, &job);
}

#[test]
fn nothing_is_executed_in_a_folder_that_is_not_trusted() {
    let world = World::new();
    world.plant(&Plot::garden());
    let mut client = editor(&world, json!({ "trusted": false }));
    let params = json!({ "graph": "rpg.json", "out": "out" });
    let refused = client.request("trellis/generate", params.clone(), patience());
    let refused = refused.expect_err("a refusal").to_string();
    assert!(refused.contains("not trusted"), "{refused}");
    assert!(!world.out().exists());
    // Programs for files in a folder's git settings count as execution.
    let back = client.request("trellis/rollback", json!({ "out": "out" }), patience());
    assert!(back.expect_err("a refusal").to_string().contains("not trusted"));
    // A type checker may be a program of the folder.
    world.write("a.py", "def total(): ...\n");
    let confirm = json!({ "namePath": "total", "confirm": "ty" });
    let refused = client.request("trellis/findReferencingSymbols", confirm, patience());
    assert!(refused.expect_err("a refusal").to_string().contains("not trusted"));
    call(&mut client, "findReferencingSymbols", json!({ "namePath": "total" }));
    // Reading works, and trust that is given later applies.
    call(&mut client, "listRuns", json!({}));
    client.notify(
        "workspace/didChangeConfiguration",
        json!({ "settings": { "trellis": { "trusted": true } } }),
    );
    start(&mut client, "generate", params);
}
