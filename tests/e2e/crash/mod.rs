//! Crashes, signals, and resuming afterwards.

pub(crate) mod faults;
pub(crate) mod issues;
mod points;
mod workers;
pub(crate) mod workflows;

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};

use crate::world::{Plot, Ran, World, eventually};

/// Work that can be killed at any instant, with the conditions that must hold then and at its end.
pub(crate) trait Workflow {
    /// Creates the initial state of the work.
    fn world(&self, round: u64) -> World;

    /// Returns the command that begins or resumes the work.
    fn command(&self, world: &World, round: u64) -> Command;

    /// Returns the exit code of an undisturbed start.
    fn exit_code(&self) -> i32 {
        0
    }

    /// Asserts the conditions after a kill at any time.
    fn assert_whole(&self, _world: &World, _round: u64) {}

    /// Returns whether the work is complete, so that another start would be new work.
    fn is_over(&self, _world: &World) -> bool {
        false
    }

    /// Resumes the work to its end, and asserts the result of an undisturbed run.
    fn end(&self, world: &World, round: u64);
}

fn start(world: &World, plot: &Plot, more: &[&str]) -> Child {
    let arguments = world.plant(plot);
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    arguments.extend(more);
    let mut command = world.command(&arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("trellis starts")
}

/// Asserts that this number of nodes was accepted, each once and without later work on it.
pub(crate) fn nothing_accepted_runs_again(world: &World, nodes: usize, round: u64) {
    let text = world.read("out/.trellis/journal.jsonl");
    let mut accepted: BTreeMap<String, usize> = BTreeMap::new();
    for (line, text) in text.lines().enumerate() {
        let event: serde_json::Value = serde_json::from_str(text).expect("whole lines only");
        let event = &event["event"];
        let node = event["node"].as_str().unwrap_or_default().to_owned();
        match event["kind"].as_str() {
            Some("accepted") => {
                assert_eq!(
                    accepted.insert(node.clone(), line),
                    None,
                    "{node} accepted twice, round {round}"
                );
            }
            Some("test_run" | "model_call") => {
                assert!(
                    !accepted.contains_key(&node),
                    "{node} was accepted and worked on again, round {round}"
                );
            }
            _ => {}
        }
    }
    assert_eq!(accepted.len(), nodes);
}

#[test]
fn an_interrupt_leaves_a_checkpoint_and_the_next_run_goes_on() {
    let world = World::new();
    let mut plot = Plot::garden();
    // The third node's model never replies in time, so the run is at a known place when the signal
    // arrives.
    for reply in &mut plot.replies {
        if reply["node"] == "tenfold" && reply["stage"] == "tests" {
            reply["latency_ms"] = 600_000.into();
        }
    }
    let mut child = start(&world, &plot, &["--replay-latency"]);
    eventually(|| waiting_for(&world, "tenfold"), || "the third node is at work");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    let ran = Ran::of(child_output(&mut child));
    let _ = ran.exits(130).says("run the same command again");
    let checkpoint = world.checkpoint();
    assert_eq!(checkpoint["double"]["status"], "passed");
    assert_eq!(checkpoint["tenfold"]["status"], "pending");
    let runs = world.journal("test_run").len();
    let _ = world.grow(&plot, &[]).exits(0);
    assert!(world.journal("test_run").len() > runs);
    nothing_accepted_runs_again(&world, 6, 0);
}

fn waiting_for(world: &World, node: &str) -> bool {
    std::fs::read_to_string(world.out().join("docs/generation_checkpoint.json"))
        .ok()
        .and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok())
        .is_some_and(|checkpoint| checkpoint[node]["status"] == "in_progress")
}

fn child_output(child: &mut Child) -> std::process::Output {
    use std::io::Read;
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    child.stdout.take().expect("piped").read_to_end(&mut stdout).expect("read");
    child.stderr.take().expect("piped").read_to_end(&mut stderr).expect("read");
    std::process::Output { status: child.wait().expect("it ended"), stdout, stderr }
}

/// A process moves its temporary files into place; a process that starts beside it takes none away.
#[test]
fn only_the_temporary_files_of_ended_processes_are_removed() {
    let world = World::new();
    let mut ended = Command::new("true").spawn().expect("started");
    ended.wait().expect("it ended");
    let paths = |process: u32| {
        let path = |name| format!("out/.trellis/tmp/.trellis-scratch-{process}-{name}");
        [path("file"), path("folder/file")]
    };
    let (used, left) = (paths(std::process::id()), paths(ended.id()));
    used.iter().chain(&left).for_each(|path| drop(world.write(path, "half")));
    let _ = world.grow(&Plot::garden(), &[]).exits(0);
    assert!(used.iter().all(|path| world.read(path) == "half"));
    assert!(left.iter().all(|path| !world.root().join(path).exists()));
}

#[test]
fn two_processes_do_not_work_in_one_folder() {
    let world = World::new();
    let mut plot = Plot::garden();
    plot.replies.iter_mut().for_each(|reply| reply["latency_ms"] = 600_000.into());
    let mut first = start(&world, &plot, &["--replay-latency"]);
    eventually(|| waiting_for(&world, "double"), || "the first node is at work");
    let _ = world.grow(&plot, &[]).exits(65).says("another trellis (process");
    first.kill().expect("it can be killed");
    first.wait().expect("it ended");
}
