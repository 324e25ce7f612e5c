//! Tests of the origin of journal lines, and of journals written before lines had one.

use serde_json::{Value, json};
use trellis_store::journal::{CallDetails, Event, Journal, RecordedReply};
use trellis_store::origin::{Origin, Workflow};
use trellis_store::replay::{GAVE_UP, ReplayedState, replies_of};

/// A paid request about `node`.
fn call(node: &str) -> Event {
    let reply = Some(RecordedReply { text: format!("reply about {node}"), calls: Vec::new() });
    Event::ModelCall {
        node: node.to_owned(),
        stage: "fix".to_owned(),
        attempt: 0,
        prompt: "hash".to_owned(),
        model: "a model".to_owned(),
        milliseconds: 1,
        input_tokens: Some(10),
        output_tokens: Some(1),
        error: None,
        details: Box::new(CallDetails { reply, ..CallDetails::default() }),
    }
}

/// Returns the journal's text as an older version would have written it: without origins, and with
/// the workflow in the details of each request.
fn old(text: &str) -> String {
    let line = |line: &str| {
        let mut line: Value = serde_json::from_str(line).expect("a line");
        let workflow = line["workflow"].take();
        let fields = line.as_object_mut().expect("an object");
        fields.retain(|key, _| key != "workflow" && key != "run_id");
        if workflow != json!("generate") {
            line["event"]["details"]["door"] = workflow;
        }
        format!("{line}\n")
    };
    text.lines().map(line).collect()
}

#[test]
fn each_line_names_its_workflow_and_its_run() {
    let world = tempfile::tempdir().expect("a folder");
    let origins = [Origin::create(Workflow::Repair), Origin::create(Workflow::Repair)];
    for origin in &origins {
        let journal = Journal::join(world.path(), origin.clone()).expect("a journal");
        journal.log(call("a")).and_then(|()| journal.log(call("b"))).expect("written");
    }
    let text = std::fs::read_to_string(Journal::path(world.path())).expect("a text");
    let lines: Vec<Value> =
        text.lines().map(|it| serde_json::from_str(it).expect("a line")).collect();
    assert!(lines.iter().all(|it| it["workflow"] == "repair"), "{text}");
    let runs: Vec<&Value> = lines.iter().map(|it| &it["run_id"]).collect();
    assert_eq!(runs[0], runs[1]);
    assert_eq!(runs[2], runs[3]);
    assert_ne!(runs[0], runs[2]);
    assert_eq!(*runs[0], json!(origins[0].run_id.to_string()));
}

#[test]
fn a_run_uses_and_pays_for_its_own_requests_only_in_journals_old_and_new() {
    let world = tempfile::tempdir().expect("a folder");
    // Names of nodes and works may be the same.
    for workflow in [Workflow::Generate, Workflow::Repair, Workflow::Tasks] {
        let journal = Journal::join(world.path(), Origin::create(workflow)).expect("a journal");
        journal
            .log(call(workflow.as_str()))
            .and_then(|()| journal.log(call("a")))
            .expect("written");
    }
    let text = std::fs::read_to_string(Journal::path(world.path())).expect("a text");
    for text in [text.clone(), old(&text)] {
        let past = ReplayedState::read(&text);
        assert_eq!(past.spent.0, 22, "{text}");
        let mut nodes: Vec<&str> = past.cached.keys().map(|it| it.0.as_str()).collect();
        nodes.sort_unstable();
        assert_eq!(nodes, ["a", "generate"], "{text}");
        let replies = replies_of(&text, Workflow::Repair);
        let mut groups: Vec<&str> = replies.keys().map(|it| it.0.as_str()).collect();
        groups.sort_unstable();
        assert_eq!(groups, ["a", "repair"], "{text}");
    }
}

#[test]
fn giving_up_on_one_stage_keeps_the_replies_of_others() {
    let world = tempfile::tempdir().expect("a folder");
    let journal =
        Journal::join(world.path(), Origin::create(Workflow::PlanDraft)).expect("a journal");
    let note = |node: &str, text: &str| Event::Note {
        node: node.to_owned(),
        what: GAVE_UP.to_owned(),
        text: text.to_owned(),
    };
    let stage = match call("a") {
        Event::ModelCall { stage, .. } => stage,
        other => panic!("{other:?}"),
    };
    let kept = |event: Event| {
        journal.log(call("a")).and_then(|()| journal.log(call("b"))).expect("written");
        journal.log(event).expect("written");
        let text = std::fs::read_to_string(Journal::path(world.path())).expect("a text");
        let replies = replies_of(&text, Workflow::PlanDraft);
        let mut of: Vec<String> = replies.into_keys().map(|it| it.0).collect();
        of.sort_unstable();
        of
    };
    assert_eq!(kept(note("a", "other: no text")), ["a", "b"]);
    assert_eq!(kept(note("a", &format!("{stage}: no text"))), ["b"]);
    assert!(kept(note("plan-draft", "everything")).is_empty());
}
