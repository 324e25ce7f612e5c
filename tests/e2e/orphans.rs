//! SIGKILL of the client, or of the sidecar: no process remains, and no passed node is lost.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use ::lsp::{Client, patience, uri_of};
use serde_json::{Value, json};

use crate::crash::nothing_accepted_runs_again;
use crate::processes::{Life, command_line, descendants, kill, living};
use crate::random::Random;
use crate::runs::{call, editor, ended, result, start, until};
use crate::world::{Plot, World, assert_same, binary, eventually};

/// A client that can be killed alone: starts the server and relays messages in both directions.
const RELAY: &str = "import os, subprocess, sys, threading
server = subprocess.Popen([sys.argv[1], 'lsp'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def pump(source, sink):
    while data := os.read(source, 65536):
        os.write(sink, data)
threading.Thread(target=pump, args=(0, server.stdin.fileno()), daemon=True).start()
pump(server.stdout.fileno(), 1)
";

/// A client whose pipes other processes hold too, so that they stay open when it is killed.
const SHARED: &str = "import subprocess, sys
subprocess.Popen([sys.argv[1], 'lsp']).wait()
";

/// Starts a server as the child of a separate client, and initializes it in that client's name.
fn below(world: &World, client: &str) -> Client {
    let tmp = world.root().join("tmp");
    fs::create_dir_all(&tmp).expect("a folder");
    let like = world.command(&[]);
    let mut command = Command::new("python3");
    command.args(["-c", client]).arg(binary()).env_clear().env("TMPDIR", tmp);
    command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut client = Client::start(command, world.root()).expect("a client");
    let folder = json!({ "uri": uri_of(world.root()), "name": "root" });
    let hello = json!({
        "processId": client.process_id(), "rootUri": folder["uri"], "workspaceFolders": [folder], "capabilities": {},
    });
    client.request("initialize", hello, patience()).expect("a handshake");
    client.notify("initialized", json!({}));
    client
}

/// Waits until all of these processes are gone.
fn all_gone(these: &BTreeSet<Life>, when: &str) {
    let left = || these.iter().filter(|it| living(it.0).is_some_and(|now| now.1 == **it));
    eventually(
        || left().next().is_none(),
        || format!("{when}: left are {:#?}", left().map(command_line).collect::<Vec<_>>()),
    );
}

/// Code that never ends by itself, found by its command line.
const ENDLESS: &str = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(1000) # endless'])";

/// Runs endless tests in the background.
fn endless_tests(world: &World, client: &mut Client) {
    world.write("pytest.ini", "[pytest]\n");
    world.write("tests/test_a.py", &format!("def test_a():\n    {ENDLESS}\n"));
    let params = json!({ "testPath": "tests/test_a.py", "sandbox": "local", "timeout": 900, "background": true });
    start(client, "runTests", params);
}

/// Generates a node whose test never ends once it is implemented.
fn endless_node(world: &World, client: &mut Client) {
    let mut plot = Plot::default().function("double", "basic", &[], &[], "x").tests(
        "double",
        "basic",
        [2, 4, 6],
    );
    plot.replies.retain(|it| it["stage"] != "implementation");
    let body =
        format!("```python\ndef double(x: int) -> int:\n    {ENDLESS}\n    return 2 * x\n```\n");
    plot.reply("double", "implementation", 0, &body);
    generate(world, client, &plot, json!({ "sandbox": "local", "testTimeout": 900 }));
}

/// Generates a node whose model is slow.
fn endless_model(world: &World, client: &mut Client) {
    let mut plot = Plot::garden();
    let late = |it: &&mut Value| it["node"] == "tenfold" && it["stage"] == "implementation";
    plot.replies.iter_mut().filter(late).for_each(|it| it["latency_ms"] = 600_000.into());
    generate(world, client, &plot, json!({ "sandbox": "local", "replayLatency": true }));
    // From then on only this node's model is awaited.
    until(client, |it| it["type"] == "stage" && it["node"] == "tenfold" && it["stage"] == "red");
}

/// Starts to generate a plot in `out`; returns the job.
fn generate(world: &World, client: &mut Client, plot: &Plot, more: Value) -> String {
    world.plant(plot);
    let model = format!("recorded:{}", world.root().join("replies.jsonl").display());
    let mut params = json!({ "graph": "rpg.json", "out": "out", "model": model });
    let more = more.as_object().cloned().unwrap_or_default();
    params.as_object_mut().expect("an object").extend(more);
    start(client, "generate", params)
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut it| it.next().is_none())
}

/// Function that starts work in a world through its client.
type Begin = fn(&World, &mut Client);

#[test]
fn with_a_killed_client_ends_everything_that_was_begun_for_it() {
    leaves_nobody(RELAY);
}

#[test]
fn even_if_others_hold_the_pipes_of_the_killed_client() {
    leaves_nobody(SHARED);
}

fn leaves_nobody(client: &str) {
    let table: [(&str, Option<Begin>, &str); 4] = [
        ("idle", None, "lsp"),
        ("tests run", Some(endless_tests), "# endless"),
        ("a node's tests run", Some(endless_node), "# endless"),
        ("the model is asked", Some(endless_model), "lsp"),
    ];
    for (when, begin, runs) in table {
        let world = World::new();
        let mut client = below(&world, client);
        if let Some(begin) = begin {
            begin(&world, &mut client);
        }
        let number = client.process_id();
        let shown = || descendants(number).iter().map(command_line).collect::<Vec<_>>();
        let is_there = || shown().iter().any(|it| it.trim_end().ends_with(runs));
        eventually(is_there, || format!("{when}: `{runs}` among {:#?}", shown()));
        let everybody = descendants(number);
        kill(number);
        all_gone(&everybody, when);
        // The server had time to clean up.
        assert!(is_empty(&world.root().join("tmp")), "{when}: scratch folders are left");
        if world.out().exists() {
            let mut next = editor(&world, Value::Null);
            let runs = call(&mut next, "listRuns", json!({}));
            assert_eq!(runs["runs"][0]["state"], "stopped", "{when}: {runs}");
        }
    }
}

/// Returns the nodes reported to the client as passed.
fn told_passed(events: &[Value]) -> BTreeSet<String> {
    let passed = events.iter().filter(|it| it["type"] == "node" && it["status"] == "passed");
    passed.filter_map(|it| it["node"].as_str().map(str::to_owned)).collect()
}

fn accepted(world: &World) -> BTreeSet<String> {
    // The last line may be incomplete; the next start drops it.
    let text = fs::read_to_string(world.out().join(".trellis/journal.jsonl")).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let accepted = lines.filter(|line| line["event"]["kind"] == "accepted");
    accepted.filter_map(|line| line["event"]["node"].as_str().map(str::to_owned)).collect()
}

/// Kills the sidecar shortly after this number of nodes is reported as passed; returns the accepted
/// nodes.
fn killed_after(
    world: &World,
    plot: &Plot,
    nodes: usize,
    jobs: usize,
    random: &mut Random,
) -> BTreeSet<String> {
    let mut client = editor(world, Value::Null);
    generate(world, &mut client, plot, json!({ "jobs": jobs, "sandbox": "local" }));
    let mut told = BTreeSet::new();
    while told.len() < nodes {
        let events = until(&mut client, |it| it["type"] == "node" && it["status"] == "passed");
        told.extend(told_passed(&events));
    }
    // The moment is the point of the test; the assertions do not depend on it.
    std::thread::sleep(Duration::from_millis(random.below(150)));
    let workers = descendants(client.process_id());
    kill(client.process_id());
    all_gone(&workers, "the sidecar was killed");
    let kept = accepted(world);
    assert!(kept.is_superset(&told), "told were {told:?}, kept are {kept:?}");
    kept
}

#[test]
fn a_killed_sidecar_loses_nothing_that_passed_and_the_next_one_goes_on_from_there() {
    let plot = Plot::garden();
    let plain = World::new();
    let _ = plain.grow(&plot, &["--sandbox=local"]).exits(0);
    let mut random = Random(20_261_123);
    for (nodes, jobs) in [(0, 1), (2, 3), (5, 1)] {
        let world = World::new();
        let kept = killed_after(&world, &plot, nodes, jobs, &mut random);
        let mut next = editor(&world, Value::Null);
        let runs = call(&mut next, "listRuns", json!({}));
        // Killed before its first write to the disk, a run does not exist yet.
        if nodes > 0 {
            let run = &runs["runs"][0];
            let expected = (json!("stopped"), json!(kept.len()), json!(6));
            assert_eq!(
                (&run["state"], &run["passed"], &run["total"]),
                (&expected.0, &expected.1, &expected.2),
                "{runs}"
            );
        }
        let model = format!("recorded:{}", world.root().join("replies.jsonl").display());
        let params = match nodes {
            0 => json!({ "graph": "rpg.json", "out": "out", "model": model }),
            _ => json!({ "out": "out" }),
        };
        let job = start(&mut next, "generate", params);
        let again = ended(&mut next, &job);
        assert_eq!(result(&mut next, &job)["passed"], 6);
        let touched = |it: &&Value| {
            it["type"] == "stage" && kept.contains(it["node"].as_str().unwrap_or_default())
        };
        assert_eq!(again.iter().find(touched), None, "what had passed was worked on again");
        assert_same(&world.tree(), &plain.tree());
        nothing_accepted_runs_again(&world, 6, nodes as u64);
    }
}
