//! Replies paid for in a list of tasks are not requested again by the next start.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::implement::file;
use crate::mock::KEY;
use crate::models::{Service, called, said};
use crate::repair::text;
use crate::tasks::{Task, list, replies, rivals};
use crate::world::{Ran, World};

/// Creates tasks: one that gets a fix, and two whose merge needs the model.
fn world() -> World {
    list(&[BASE], rivals())
}

pub(crate) const BASE: Task = ("base", &[], 1);

/// Words that identify the stage of a request.
const STAGES: [(&str, &str); 5] = [
    ("Write tests for", "scaffold"),
    ("go through several parts", "integration"),
    ("Write the code of", "implementation"),
    ("Mend the cause", "fix"),
    ("You merge two pieces", "merge"),
];

/// Returns the subject of a request: task, stage, and number of earlier messages.
fn label(question: &Value) -> (String, &'static str, usize) {
    let messages = question["messages"].as_array().expect("messages");
    let all: String = messages.iter().filter(|it| it["role"] != "tool").map(content).collect();
    let stage = STAGES.iter().find(|it| all.contains(it.0)).expect("a stage").1;
    let id = match stage {
        "integration" => "integration",
        // Either of the two may come second.
        "merge" => "rivals",
        _ => ["base", "rival_a", "rival_b"]
            .into_iter()
            .find(|it| {
                all.contains(&format!("of task {it}")) || all.contains(&format!("for task {it}"))
            })
            .expect("a task"),
    };
    (id.to_owned(), stage, messages.len())
}

fn content(message: &Value) -> String {
    message["content"].as_str().unwrap_or_default().to_owned()
}

/// Replies like the recording of [`world`]; with tools it lists files first.
pub(crate) fn answered(question: &Value) -> (u16, Value) {
    let (id, stage, _) = label(question);
    let has_looked = question.to_string().contains("tool_call_id");
    if !question["tools"].is_null() && !has_looked {
        return called("list_files", &json!({ "path": "." }));
    }
    let own = replies(&BASE).into_iter().chain(rivals().1);
    let mut own = own.filter(|it| it["node"] == id.as_str() && it["stage"] == stage);
    match stage {
        "merge" => said(&file("app/registry.py", "ALL = ['rival_a', 'rival_b']\n")),
        "integration" => said(&file("tests/test_together.py", crate::tasks::TOGETHER)),
        _ => said(&text(&own.next().expect("a reply")["reply"])),
    }
}

pub(crate) fn command(world: &World, service: &Service, how: &str) -> Command {
    let arguments = "tasks tasks.json --stack plain-python --out out --json --sandbox local --model openai:tiny --work-with";
    let arguments: Vec<&str> = arguments.split(' ').chain([how]).collect();
    let mut command = world.command(&arguments);
    command.env("OPENAI_BASE_URL", &service.url).env("OPENAI_API_KEY", KEY);
    command
}

fn labels(service: &Service) -> Vec<(String, &'static str, usize)> {
    service.asked().iter().map(label).collect()
}

#[test]
fn a_second_start_of_tasks_that_ended_asks_nothing() {
    for how in ["tools", "reply"] {
        let (world, service) = (world(), Service::start(Box::new(answered)));
        let run = || Ran::of(command(&world, &service, how).output().expect("trellis starts"));
        let result = run().exits(0).json();
        assert_eq!(result["progress"], 100, "{result:#}");
        let asked = labels(&service);
        let stages: Vec<&str> = asked.iter().map(|it| it.1).collect();
        assert!(STAGES.iter().all(|it| stages.contains(&it.1)), "{asked:?}");
        let result = run().exits(0).json();
        assert_eq!((&result["progress"], labels(&service).len()), (&json!(100), asked.len()));
    }
}

#[test]
fn a_start_after_a_kill_asks_nothing_that_was_answered() {
    let said = std::env::var("TRELLIS_POINTS_APART").ok();
    let said: Option<usize> = said.and_then(|it| it.parse().ok());
    for (how, apart) in [("tools", 23), ("reply", 23)] {
        let (apart, mut killed) = (said.unwrap_or(apart), 0);
        for point in (apart..).step_by(apart) {
            let (world, service) = (world(), Service::start(Box::new(answered)));
            let mut first = command(&world, &service, how);
            first.env(crate::crash::faults::POINT, point.to_string());
            let status = first.stdout(Stdio::null()).stderr(Stdio::null()).status();
            if status.expect("trellis starts").signal() != Some(9) {
                break;
            }
            killed += 1;
            let before = labels(&service);
            let journal = world.out().join(".trellis/journal.jsonl");
            let journal = std::fs::read_to_string(journal).unwrap_or_default();
            // A request in flight at the kill has no recorded reply.
            let lost = before.len() - journal.matches("\"kind\":\"model_call\"").count();
            let again = command(&world, &service, how).output().expect("trellis starts");
            let result = Ran::of(again).exits(0).json();
            assert_eq!(result["progress"], 100, "{how} {point}: {result:#}");
            let after = labels(&service).split_off(before.len());
            let twice: Vec<_> = after.iter().filter(|it| before.contains(it)).collect();
            assert!(twice.len() <= lost, "{how} {point}: {twice:?}, {lost} lost");
        }
        assert!(killed > 2, "{how}: killed {killed} times");
    }
}
