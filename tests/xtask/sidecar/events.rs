//! Events for a client that reads nothing until the end, compared with one that reads at full
//! speed. One node fails, and tens of thousands of dependent nodes are skipped at once.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::slow::{Messages, Slow};
use super::{Failed, Measured};
use crate::symbols::process::resident;
use crate::symbols::server::Server;

/// Number of skipped nodes.
const NODES: usize = 30_000;
const IN_A_FILE: usize = 100;
/// Interval between memory samples.
const SAMPLE: Duration = Duration::from_millis(20);
/// Timeout of a run.
const RUN: Duration = Duration::from_secs(300);

/// Events received by a client, with their cost.
#[derive(Default)]
struct Heard {
    events: usize,
    missed: u64,
    /// Events in the busiest second.
    busiest: usize,
    /// Resident memory of the server in MiB: at the start, at the peak, and after everything was
    /// read.
    memory: [f64; 3],
}

pub(super) fn run(server: &Server) -> Measured {
    println!("{NODES} nodes skipped at once:");
    let quick = heard(server, true)?;
    let slow = heard(server, false)?;
    for (who, it) in [("reads at once", &quick), ("reads at the end", &slow)] {
        let Heard { events, missed, busiest, memory: [before, most, after] } = it;
        println!(
            "  a client that {who}: {events} events and {missed} left out, {busiest} in the busiest second; \
             memory {before:.0} MiB, at most {most:.0} MiB, {after:.0} MiB at the end"
        );
    }
    let grew = |it: &Heard| it.memory[1] - it.memory[0];
    println!("  what the run takes in memory, slow to quick: {:.2}", grew(&slow) / grew(&quick));
    Ok(())
}

fn heard(server: &Server, at_once: bool) -> Result<Heard, Failed> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    plant(&root)?;
    let mut slow = Slow::start(server, &root)?;
    let process = slow.process_id();
    let before = resident(process);
    let replies = root.join("replies.jsonl");
    let params = json!({
        "graph": "rpg.json", "out": "out", "sandbox": "local", "model": format!("recorded:{}", replies.display()),
    });
    slow.send(json!({ "id": 2, "method": "trellis/generate", "params": params }))?;
    let out = root.join("out");
    let watching = thread::spawn(move || watch(process, &out));
    let most = || watching.join().unwrap_or(f64::NAN);
    let (mut heard, most) = if at_once {
        (count(&slow.read())?, most())
    } else {
        let most = most();
        (count(&slow.read())?, most)
    };
    heard.memory = [before, most.max(resident(process)), resident(process)];
    Ok(heard)
}

/// Returns the server's peak memory until its run has written its report, in MiB.
fn watch(process: u32, out: &Path) -> f64 {
    let (report, deadline) = (out.join("docs/generation_report.md"), Instant::now() + RUN);
    let mut most = 0.0_f64;
    while !report.exists() && Instant::now() < deadline {
        most = most.max(resident(process));
        thread::sleep(SAMPLE);
    }
    most.max(resident(process))
}

/// Counts events until the job has ended.
fn count(messages: &Messages) -> Result<Heard, Failed> {
    let mut heard = Heard::default();
    let mut times: Vec<Instant> = Vec::new();
    loop {
        let (message, at) = messages.next()?;
        if !message["error"].is_null() {
            return Err(Failed::Other(format!("the run was refused: {message}")));
        }
        let event = &message["params"];
        if message["method"] != "trellis/event" {
            continue;
        }
        times.push(at);
        heard.events += 1;
        heard.missed += match event["type"].as_str() {
            Some("missed") => event["count"].as_u64().unwrap_or_default(),
            _ => 0,
        };
        if event["type"] == "job" && event["state"] != "running" {
            heard.busiest = busiest(&times);
            return Ok(heard);
        }
    }
}

/// Returns the maximum number of these times within one second.
fn busiest(times: &[Instant]) -> usize {
    let mut first = 0;
    let within = times.iter().enumerate().map(|(last, at)| {
        while at.duration_since(times[first]) > Duration::from_secs(1) {
            first += 1;
        }
        last - first + 1
    });
    within.max().unwrap_or_default()
}

/// Writes a graph of one function that never passes and of its dependents, with a recording.
fn plant(root: &Path) -> Result<(), Failed> {
    let name = |number: usize| format!("waiting_{number}");
    let node = |name: &str, file: usize, needs: &[&str]| {
        json!({
            "id": name, "name": name, "type": "function", "node_type": "leaf", "file_path": format!("src/lib/a{file}.py"),
            "signature": format!("def {name}(x: int) -> int"), "docstring": "Add one.", "dependencies": needs,
        })
    };
    let mut nodes = vec![node("wrong", 0, &[])];
    nodes.extend((0..NODES).map(|number| node(&name(number), 1 + number / IN_A_FILE, &["wrong"])));
    let edge =
        |number| json!({ "source": name(number), "target": "wrong", "type": "function_call" });
    let edges: Vec<Value> = (0..NODES).map(edge).collect();
    let metadata =
        json!({ "phase": 3, "project_name": "lib", "description": "Many.", "version": "0.1.0" });
    let graph = json!({ "nodes": nodes, "edges": edges, "metadata": metadata });
    fs::write(root.join("rpg.json"), graph.to_string())?;
    let tests = "from lib.a0 import wrong\n\n\ndef test_one():\n    assert wrong(1) == 50\n\n\n\
                 def test_two():\n    assert wrong(2) == 60\n\n\ndef test_three():\n    assert wrong(3) == 70\n";
    let body = |minus: usize| format!("def wrong(x: int) -> int:\n    return x - {minus}\n");
    let mut replies = String::new();
    let mut reply = |stage: &str, attempt: usize, text: &str| {
        let reply = format!("```python\n{text}```\n");
        let line = json!({ "node": "wrong", "stage": stage, "attempt": attempt, "reply": reply });
        let _ = writeln!(replies, "{line}");
    };
    reply("tests", 0, tests);
    reply("implementation", 0, &body(0));
    (0..8).for_each(|attempt| reply("fix", attempt, &body(attempt + 1)));
    Ok(fs::write(root.join("replies.jsonl"), replies)?)
}
