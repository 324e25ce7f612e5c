//! Replies paid for and decisions made are not requested again by the next start.

use std::cell::Cell;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{replies, world};
use crate::crash::faults::{ERRORS, Fault, KILLS};
use crate::mock::KEY;
use crate::models::{Service, said};
use crate::world::{Ran, World};

/// Words that identify the stage of a request.
const STAGES: [(&str, &str); 4] = [
    ("You plan a Python project", "features"),
    ("You lay out the files", "layout"),
    ("You write the interface of one file", "interface"),
    ("You review the plan", "review"),
];

/// Returns the stage of a request, and its subject: a path, or `plan`.
pub(super) fn label(question: &Value) -> (&'static str, String) {
    let messages = question["messages"].as_array().expect("messages");
    let text = |it: &Value| it["content"].as_str().unwrap_or_default().to_owned();
    let all: String = messages.iter().map(text).collect();
    let stage = STAGES.iter().find(|it| all.contains(it.0)).expect("a stage").1;
    let subject = all.rsplit_once("\nWrite `").and_then(|it| it.1.split('`').next());
    let subject = subject.filter(|_| stage == "interface").unwrap_or("plan");
    (stage, subject.to_owned())
}

/// Replies as recorded.
pub(crate) fn answered(question: &Value) -> (u16, Value) {
    let (stage, subject) = label(question);
    let mut all = replies().into_iter();
    let found = all.find(|it| it["stage"] == stage && it["node"] == subject.as_str());
    said(found.expect("a reply")["reply"].as_str().expect("a text"))
}

pub(crate) fn command(world: &World, service: &Service, more: &[&str]) -> Command {
    let model: &[&str] = if more.contains(&"--model") { &[] } else { &["--model", "openai:tiny"] };
    let arguments = ["plan", "draft", "spec.md", "--json"];
    let mut command = world.command(&[&arguments, model, more].concat());
    command.env("OPENAI_BASE_URL", &service.url).env("OPENAI_API_KEY", KEY);
    command
}

pub(crate) fn run(world: &World, service: &Service, more: &[&str]) -> Ran {
    Ran::of(command(world, service, more).output().expect("trellis starts"))
}

/// Runs a command that meets a fault; returns whether the fault ended it.
fn is_ended(world: &World, service: &Service, more: &[&str], fault: Fault) -> bool {
    let mut command = command(world, service, more);
    fault.happens_in(&mut command);
    let output = command.output().expect("trellis starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{fault:?}: {said}");
    let is_killed = output.status.signal() == Some(9);
    is_killed || (said.contains("error: ") && !matches!(output.status.code(), Some(0 | 2)))
}

/// Has a new `start` of a command meet each fault at each of its steps, and passes what is left to
/// `goes_on`.
fn at_each_step(
    more: &[&str],
    start: impl Fn() -> (World, Service),
    goes_on: impl Fn(&World, &Service, Fault),
) {
    let mut ended = 0;
    for point in 1.. {
        let faults = KILLS.into_iter().chain(ERRORS).map(|name| Fault { point, name });
        let is_reached = faults.map(|fault| {
            let (world, service) = start();
            let is_ended = is_ended(&world, &service, more, fault);
            if is_ended {
                goes_on(&world, &service, fault);
            }
            is_ended
        });
        let reached = is_reached.filter(|it| *it).count();
        if reached == 0 {
            break;
        }
        ended += reached;
    }
    assert!(ended > 4, "ended {ended} times");
}

#[test]
fn a_second_start_asks_nothing() {
    let (world, service) = (world(&[]), Service::start(Box::new(answered)));
    let first = run(&world, &service, &[]).exits(0).json();
    assert_eq!((&first["requests"], &first["tokens"]), (&json!(7), &json!(7000)));
    let plan = world.read("plan.json");
    let second = run(&world, &service, &[]).exits(0).json();
    assert_eq!((&second["requests"], &second["tokens"]), (&json!(7), &json!(0)));
    assert_eq!((service.asked().len(), world.read("plan.json")), (7, plan));
}

#[test]
fn a_file_that_appears_during_a_draft_is_never_replaced() {
    let world = world(&[]);
    let plan = world.root().join("plan.json");
    let path = plan.clone();
    let service = Service::start(Box::new(move |question| {
        std::fs::write(&path, "mine").expect("a file");
        answered(question)
    }));
    let _ = run(&world, &service, &[]).exits(65).says("is not what a draft wrote");
    assert_eq!(world.read("plan.json"), "mine");
    std::fs::remove_file(plan).expect("it goes");
    let asked = service.asked().len();
    let service = Service::start(Box::new(answered));
    let _ = run(&world, &service, &[]).exits(0);
    assert_eq!((asked, service.asked().len()), (7, 0), "the draft is paid");
}

#[test]
fn a_file_that_the_model_could_not_write_costs_no_other_reply() {
    let world = world(&[]);
    let service = Service::start(Box::new(|question| match label(question) {
        ("interface", path) if path == "output.py" => said("I cannot."),
        _ => answered(question),
    }));
    let failed = run(&world, &service, &[]);
    assert!(failed.stderr.contains("gave no usable interface of output.py"), "{}", failed.stderr);
    let service = Service::start(Box::new(answered));
    let _ = run(&world, &service, &[]).exits(0);
    let asked: Vec<_> = service.asked().iter().map(label).collect();
    let file = |path: &str| ("interface", path.to_owned());
    let review = ("review", "plan".to_owned());
    assert_eq!(asked, [file("output.py"), file("command.py"), review]);
}

#[test]
fn decisions_on_other_replies_are_dropped() {
    let world = world(&[]);
    let service = Service::start(Box::new(answered));
    let _ = run(&world, &service, &["--stepwise"]).exits(2);
    let _ = run(&world, &service, &["--stepwise", "--accept"]).exits(2);
    // Another model has other features, which nobody has seen.
    let other = Service::start(Box::new(|question| {
        let (status, mut reply) = answered(question);
        let text = reply["choices"][0]["message"]["content"].as_str().expect("a text");
        reply["choices"][0]["message"]["content"] = json!(text.replace("tally", "tallied"));
        (status, reply)
    }));
    let shown = run(&world, &other, &["--stepwise", "--model", "openai:other"]).exits(2);
    let shown = shown.says("decisions on what was there before are dropped").json();
    assert_eq!(shown["part"], "features");
}

/// Kills a draft in the middle of a request, and returns the labels of the requests of this and of a
/// second start.
fn asked_around_a_kill(world: &World, at: usize) -> Vec<(&'static str, String)> {
    let (sender, receiver) = mpsc::channel::<Pid>();
    let number = Cell::new(0);
    let service = Service::start(Box::new(move |question| {
        number.set(number.get() + 1);
        if number.get() == at {
            let pid = receiver.recv().expect("a process");
            kill_process(pid, Signal::KILL).expect("it runs");
        }
        answered(question)
    }));
    let mut child = command(world, &service, &[]).stderr(Stdio::null()).spawn().expect("a start");
    sender.send(Pid::from_child(&child)).expect("a receiver");
    assert_eq!(child.wait().expect("an end").signal(), Some(9));
    let _ = run(world, &service, &[]).exits(0);
    service.asked().iter().map(label).collect()
}

#[test]
fn a_start_after_a_kill_asks_only_for_the_reply_that_was_lost() {
    let (undisturbed, service) = (world(&[]), Service::start(Box::new(answered)));
    let _ = run(&undisturbed, &service, &[]).exits(0);
    let once: Vec<_> = service.asked().iter().map(label).collect();
    for at in 1..=once.len() {
        let world = world(&[]);
        let mut asked = asked_around_a_kill(&world, at);
        assert_eq!(asked.remove(at), once[at - 1]);
        assert_eq!(asked, once, "{at}");
        assert_eq!(world.read("plan.json"), undisturbed.read("plan.json"), "{at}");
    }
}

#[test]
fn a_draft_that_meets_a_fault_while_it_writes_ends_the_same_way() {
    let (undisturbed, service) = (world(&[]), Service::start(Box::new(answered)));
    let _ = run(&undisturbed, &service, &[]).exits(0);
    let start = || (world(&[]), Service::start(Box::new(answered)));
    at_each_step(&[], start, |world, service, fault| {
        let _ = run(world, service, &[]).exits(0);
        assert_eq!(world.read("plan.json"), undisturbed.read("plan.json"), "{fault:?}");
    });
}

/// The same command again continues what was stopped: it does not accept a part that nobody has
/// seen.
#[test]
fn a_decision_counts_once_if_its_command_meets_a_fault_and_is_repeated() {
    let start = || {
        let (world, service) = (world(&[]), Service::start(Box::new(answered)));
        let _ = run(&world, &service, &["--stepwise"]).exits(2);
        (world, service)
    };
    at_each_step(&["--stepwise", "--accept"], start, |world, service, fault| {
        let result = run(world, service, &["--stepwise", "--accept"]).exits(2).json();
        assert_eq!(result["part"], "layout", "{fault:?}");
    });
}

/// Two drafts in one folder would overwrite each other's decisions.
#[test]
fn a_second_draft_at_the_same_time_is_refused_with_the_owner() {
    let world = world(&[]);
    let (waits, goes_on) = (mpsc::channel::<()>(), mpsc::channel::<()>());
    let (begun, ended) = (waits.0, goes_on.1);
    let service = Service::start(Box::new(move |question| {
        // The first request waits until the second draft was refused.
        if begun.send(()).is_ok() {
            let _ = ended.recv();
        }
        answered(question)
    }));
    let first = command(&world, &service, &[]).stdout(Stdio::piped()).spawn().expect("a start");
    waits.1.recv().expect("the first draft asks");
    let refused = run(&world, &service, &["--stepwise"]).exits(65);
    let owner = format!("another trellis (process {}, since ", first.id());
    let _ = refused.says(&owner).says("is running in").says("wait for it, or stop it");
    drop((waits.1, goes_on.0));
    let _ = Ran::of(first.wait_with_output().expect("an end")).exits(0);
    assert_eq!(service.asked().len(), 7, "the refused draft asked nothing");
    let _ = run(&world, &service, &["--stepwise"]).exits(2);
}
