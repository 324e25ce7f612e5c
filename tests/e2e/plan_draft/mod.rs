//! Plans from a specification.

mod bad_input;
mod examples;
mod mistakes;
pub(crate) mod paid;

use std::fs;

use serde_json::{Value, json};

use crate::world::{Ran, World};

/// The example of the documentation.
const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/examples/draft");

/// Returns the recorded replies of the example.
pub(crate) fn replies() -> Vec<Value> {
    let text = fs::read_to_string(format!("{EXAMPLE}/replies.jsonl")).expect("replies");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

pub(crate) fn specification() -> String {
    fs::read_to_string(format!("{EXAMPLE}/spec.md")).expect("a text")
}

/// Returns a folder with the example's specification.
pub(crate) fn world(replies: &[Value]) -> World {
    let world = World::new();
    world.write("spec.md", &specification());
    record(&world, replies);
    world
}

fn record(world: &World, replies: &[Value]) {
    let lines: String = replies.iter().map(|it| format!("{it}\n")).collect();
    world.write("replies.jsonl", &lines);
}

fn draft(world: &World, more: &[&str]) -> Ran {
    let arguments = ["plan", "draft", "spec.md", "--model", "recorded:replies.jsonl"];
    world.trellis(&[&arguments, more].concat())
}

/// Replaces a text in the reply of a stage.
pub(crate) fn changed(stage: &str, node: &str, old: &str, new: &str) -> Value {
    let mut reply = replies()
        .into_iter()
        .find(|it| it["stage"] == stage && it["node"] == node)
        .expect("a reply");
    let text = reply["reply"].as_str().expect("a text");
    assert!(text.contains(old), "{old}");
    reply["reply"] = text.replace(old, new).into();
    reply
}

#[test]
fn a_specification_becomes_a_graph_whose_nodes_serve_every_sentence() {
    let world = world(&replies());
    let _ = draft(&world, &[]).exits(0);
    let _ = world.trellis(&["plan", "check", "plan.json"]).exits(0);
    let _ = world.trellis(&["plan", "trace", "plan.json"]).exits(0);
    // The same command again replaces what a draft wrote, and nothing else.
    let _ = draft(&world, &[]).exits(0);
    let edited = world.read("plan.json") + "\n";
    world.write("plan.json", &edited);
    let _ = draft(&world, &[]).exits(65).says("not what a draft wrote");
    assert_eq!(world.read("plan.json"), edited);
}

#[test]
fn a_person_decides_part_by_part_and_is_not_asked_twice() {
    let world = world(&replies());
    let features = draft(&world, &["--stepwise", "--json"]).exits(2).json();
    assert_eq!((&features["state"], &features["part"]), (&json!("part"), &json!("features")));
    let layout = draft(&world, &["--stepwise", "--json", "--accept"]).exits(2).json();
    assert_eq!(layout["part"], "layout");
    let text = layout["text"].as_str().expect("a text").replace("The command line.", "Commands.");
    world.write("layout.json", &text);
    let next = draft(&world, &["--stepwise", "--json", "--edited", "layout.json"]).exits(2).json();
    assert_eq!(next["part"], "interface of words.py");
    // Without a decision the same part waits.
    let again = draft(&world, &["--stepwise", "--json"]).exits(2).json();
    assert_eq!(again["part"], "interface of words.py");
    for _ in 0..3 {
        let _ = draft(&world, &["--stepwise", "--accept"]).exits(2);
    }
    let _ = draft(&world, &["--stepwise", "--accept"]).exits(0);
    let plan: Value = serde_json::from_str(&world.read("plan.json")).expect("JSON");
    let file =
        plan["nodes"].as_array().expect("nodes").iter().find(|it| it["id"] == "tally.command");
    assert_eq!(file.expect("a file")["docstring"], "Commands.");
}

#[test]
fn a_decision_that_is_given_again_after_a_failure_counts_once() {
    // The layout has no usable reply at first.
    let mut broken = replies();
    broken.retain(|it| it["stage"] != "layout");
    let world = world(&broken);
    let _ = draft(&world, &["--stepwise"]).exits(2);
    let failed = draft(&world, &["--stepwise", "--accept"]);
    assert!(!matches!(failed.code, Some(0 | 2)), "{}", failed.stdout);
    record(&world, &replies());
    let layout = draft(&world, &["--stepwise", "--accept", "--json"]).exits(2).json();
    assert_eq!(layout["part"], "layout");
}

#[test]
fn a_text_that_cannot_be_used_is_shown_again_until_it_is_replaced() {
    let world = world(&replies());
    let stepwise =
        |more: &[&str]| draft(&world, &[&["--stepwise", "--json"], more].concat()).exits(2).json();
    let features = stepwise(&[]);
    world.write("mine.json", "{ no JSON");
    let refused = stepwise(&["--edited", "mine.json"]);
    assert_eq!((&refused["part"], &refused["text"]), (&json!("features"), &json!("{ no JSON")));
    assert_eq!(stepwise(&["--accept"]), refused, "the text of the model is not accepted instead");
    world.write("mine.json", features["text"].as_str().expect("a text"));
    assert_eq!(stepwise(&["--edited", "mine.json"])["part"], "layout");
}

#[test]
fn questions_are_answered_before_the_features() {
    let mut asking = replies();
    let question =
        changed("features", "plan", "\"questions\": []", "\"questions\": [\"Which case?\"]");
    asking[0] = question;
    let mut second = replies().swap_remove(0);
    second["attempt"] = json!(1);
    asking.push(second);
    let world = world(&asking);
    let asked = draft(&world, &["--interview", "--json"]).exits(2).json();
    assert_eq!(asked, json!({ "state": "questions", "questions": ["Which case?"] }));
    let _ = draft(&world, &["--interview", "--answer", "Lower case."]).exits(0);
}

#[test]
fn only_what_waits_can_be_decided_or_answered() {
    let world = world(&replies());
    let stepwise = |more: &[&str]| draft(&world, &[&["--stepwise", "--json"], more].concat());
    let _ = stepwise(&["--accept"]).exits(65).says("nothing of this draft waits for you yet");
    let _ = stepwise(&[]).exits(2);
    let _ = stepwise(&["--answer", "Yes."]).exits(65).says("waits for a decision, not for answers");
    let _ = stepwise(&["--answer", "Yes.", "--accept"]).exits(65).says("at once");
    let layout = stepwise(&["--accept"]).exits(2).json();
    assert_eq!(layout["part"], "layout");
}

#[test]
fn each_question_needs_an_answer() {
    let questions = "\"questions\": [\"Which case?\", \"Which files?\"]";
    let world = world(&[changed("features", "plan", "\"questions\": []", questions)]);
    let _ = draft(&world, &["--interview"]).exits(2);
    let one = draft(&world, &["--interview", "--answer", "Lower case."]).exits(65);
    let _ = one.says("1 answer for 2 questions");
    let _ = draft(&world, &["--interview", "--accept"]).exits(65).says("waits for answers");
}

#[test]
fn a_changed_specification_drops_earlier_decisions() {
    let world = world(&replies());
    let stepwise = |more: &[&str]| draft(&world, &[&["--stepwise", "--json"], more].concat());
    let _ = stepwise(&[]).exits(2);
    let _ = stepwise(&["--accept"]).exits(2);
    let changed = world.read("spec.md").replace("small command-line", "little command-line");
    world.write("spec.md", &changed);
    // A decision was meant for the part of the old text.
    let _ = stepwise(&["--accept"]).exits(65).says("nothing of this draft waits");
    assert_eq!(stepwise(&[]).exits(2).json()["part"], "features");
    assert_eq!(stepwise(&["--accept"]).exits(2).json()["part"], "layout");
}
