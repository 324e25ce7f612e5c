//! Plans from a specification.

use std::fs;

use serde_json::{Value, json};

use crate::world::{Ran, World};

/// The example of the documentation.
const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/examples/draft");

/// Returns the recorded replies of the example.
fn replies() -> Vec<Value> {
    let text = fs::read_to_string(format!("{EXAMPLE}/replies.jsonl")).expect("replies");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Returns a folder with the example's specification.
fn world(replies: &[Value]) -> World {
    let world = World::new();
    let _ =
        world.write("spec.md", &fs::read_to_string(format!("{EXAMPLE}/spec.md")).expect("a text"));
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
fn changed(stage: &str, node: &str, old: &str, new: &str) -> Value {
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
fn mistakes_go_back_and_what_stays_wrong_is_reported() {
    let mut wrong = replies();
    let bad = changed("interface", "words.py", "words_of('--') == []", "words_of(3) == []");
    for it in &mut wrong {
        if it["stage"] == "interface" && it["node"] == "words.py" {
            *it = bad.clone();
            it.as_object_mut().expect("an object").remove("attempt");
        }
    }
    let world = world(&wrong);
    let result = draft(&world, &["--json"]).exits(2).json();
    assert_eq!((&result["state"], &result["requests"]), (&json!("written"), &json!(9)));
    let problem = result["problems"][0]["problem"].as_str().expect("a problem");
    assert!(problem.contains("the value of `text` does not fit its type"), "{problem}");
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
fn a_specification_that_cannot_be_used_is_one_clear_line() {
    let world = world(&replies());
    for (bytes, why) in [
        (&b""[..], "spec.md is empty"),
        (b"\xff\xfe\x00", "it is not valid UTF-8"),
        (b"a\0b", "spec.md is not text"),
        (&b"word ".repeat(50_000)[..], "spec.md is too long"),
    ] {
        fs::write(world.root().join("spec.md"), bytes).expect("written");
        let _ = draft(&world, &[]).exits(65).says(why);
    }
    assert!(!world.root().join("plan.json").exists());
}
