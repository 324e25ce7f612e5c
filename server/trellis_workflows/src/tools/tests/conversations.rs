//! Whole conversations with a scripted model.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use trellis_llm::{ChatReply, ChatRequest, Message, Role, ToolCall};

use super::{arguments, holds, text_of, toolbox, toolbox_with, wait};
use crate::tools::limits::Limit;
use crate::tools::{CallRecord, Limits, StopReason, ToolSet, Transcript, converse};

/// One turn of the model: text and calls.
type Turn = (&'static str, Vec<(&'static str, Value)>);

fn reply((text, calls): Turn) -> ChatReply {
    let call = |(number, (name, given)): (usize, (&str, Value))| ToolCall {
        id: format!("call_{number}"),
        name: name.to_owned(),
        arguments: arguments(given),
        signature: None,
    };
    ChatReply {
        text: text.to_owned(),
        tool_calls: calls.into_iter().enumerate().map(call).collect(),
        usage: None,
        model: "scripted".to_owned(),
        latency: Duration::ZERO,
    }
}

fn first() -> ChatRequest {
    ChatRequest {
        node: "n1".to_owned(),
        stage: "fix".to_owned(),
        attempt: 2,
        messages: vec![Message::new(Role::User, "Mend it.")],
        tools: Arc::from([]),
        temperature: 0.5,
        max_output_tokens: None,
    }
}

/// Runs a conversation with a model that takes these turns and repeats the last one; also returns
/// the requests.
fn talk(toolbox: &mut ToolSet, turns: Vec<Turn>) -> (Transcript, Vec<ChatRequest>) {
    let last = turns.last().cloned().expect("a turn");
    let turns = RefCell::new(VecDeque::from(turns));
    let asks = RefCell::new(Vec::new());
    let ask = |question: ChatRequest| {
        asks.borrow_mut().push(question);
        let turn = turns.borrow_mut().pop_front().unwrap_or_else(|| last.clone());
        async { Ok::<_, String>(reply(turn)) }
    };
    let conversation = wait(converse(ask, first(), toolbox)).expect("a conversation");
    (conversation, asks.into_inner())
}

fn read() -> (&'static str, Value) {
    ("read_file", json!({ "path": "src/main.py" }))
}

fn edit() -> (&'static str, Value) {
    ("edit_file", json!({ "path": "src/shop.py", "search": "RATE = 2", "replace": "RATE = 1" }))
}

fn finish() -> (&'static str, Value) {
    ("done", json!({ "summary": "The rate is 1." }))
}

fn results(ask: &ChatRequest) -> Vec<&str> {
    let last = ask.messages.last().expect("a message");
    last.results.iter().map(|it| it.text.as_str()).collect()
}

#[test]
fn a_model_reads_edits_and_is_done() {
    let mut toolbox = toolbox();
    let turns = vec![("I look.", vec![read()]), ("", vec![edit()]), ("", vec![finish()])];
    let (conversation, asks) = talk(&mut toolbox, turns);
    assert_eq!(conversation.ending, StopReason::Done { summary: "The rate is 1.".to_owned() });
    assert_eq!(conversation.changes.keys().collect::<Vec<_>>(), ["src/shop.py"]);
    holds(&text_of(&toolbox, "src/shop.py"), &["RATE = 1\n"]);
    assert_eq!((conversation.asks, asks.len()), (3, 3));
    let shape = |it: &CallRecord| (it.name.clone(), it.arguments.clone(), it.is_error);
    let calls: Vec<(String, String, bool)> = conversation.calls.iter().map(shape).collect();
    let expected = [
        ("read_file", "path=src/main.py", false),
        ("edit_file", "path=src/shop.py search=RATE = 2 replace=RATE = 1", false),
        ("done", "summary=The rate is 1.", false),
    ];
    let expected = expected.map(|(name, given, bad)| (name.to_owned(), given.to_owned(), bad));
    assert_eq!(calls, expected);
    // Each request is the conversation so far, with the same key in the run.
    for ask in &asks {
        assert_eq!((&*ask.node, &*ask.stage, ask.attempt), ("n1", "fix", 2));
        assert_eq!(ask.tools, toolbox.tools());
        assert_eq!(ask.messages[0], Message::new(Role::User, "Mend it."));
    }
    let last = &asks[2].messages;
    let shape: Vec<(Role, usize, usize)> =
        last.iter().map(|it| (it.role, it.calls.len(), it.results.len())).collect();
    let expected = [
        (Role::User, 0, 0),
        (Role::Assistant, 1, 0),
        (Role::User, 0, 1),
        (Role::Assistant, 1, 0),
        (Role::User, 0, 1),
    ];
    assert_eq!(shape, expected);
    assert_eq!(last[1].text, "I look.");
    holds(&last[2].results[0].text, &["    4  def main():"]);
}

#[test]
fn several_calls_of_one_reply_are_answered_in_order_bad_ones_too() {
    let calls = vec![
        read(),
        ("no_such_tool", json!({})),
        ("read_file", json!({ "file": "x" })),
        edit(),
        ("grep", json!({ "pattern": "RATE = 1" })),
    ];
    let (conversation, asks) = talk(&mut toolbox(), vec![("", calls), ("", vec![finish()])]);
    let results = &asks[1].messages.last().expect("results").results;
    let shape: Vec<(&str, &str, bool)> =
        results.iter().map(|it| (&*it.id, &*it.name, it.is_error)).collect();
    let expected = [
        ("call_0", "read_file", false),
        ("call_1", "no_such_tool", true),
        ("call_2", "read_file", true),
        ("call_3", "edit_file", false),
        ("call_4", "grep", false),
    ];
    assert_eq!(shape, expected);
    // Each call sees the changes of the earlier ones.
    assert_eq!(results[4].text, "src/shop.py:3: RATE = 1");
    assert!(matches!(conversation.ending, StopReason::Done { .. }));
}

#[test]
fn done_without_a_change_is_done() {
    let (conversation, _) = talk(&mut toolbox(), vec![("", vec![finish()])]);
    assert!(conversation.changes.is_empty());
    assert!(matches!(conversation.ending, StopReason::Done { .. }));
}

#[test]
fn done_ends_at_once_unless_a_call_before_it_failed() {
    let (conversation, asks) = talk(&mut toolbox(), vec![("", vec![finish(), edit()])]);
    assert_eq!((asks.len(), conversation.calls.len()), (1, 1));
    assert!(conversation.changes.is_empty());
    let wrong = ("edit_file", json!({ "path": "src/shop.py", "search": "no, no", "replace": "" }));
    let turns = vec![("", vec![wrong, finish()]), ("", vec![edit(), finish()])];
    let (conversation, asks) = talk(&mut toolbox(), turns);
    assert_eq!(asks.len(), 2);
    holds(results(&asks[1])[1], &["not done yet", "failed"]);
    assert_eq!(conversation.changes.len(), 1);
}

#[test]
fn a_model_that_calls_nothing_is_reminded_once_in_a_row() {
    let turns = vec![
        ("I think.", vec![]),
        ("", vec![edit()]),
        ("I think again.", vec![]),
        ("That is all.", vec![]),
    ];
    let (conversation, asks) = talk(&mut toolbox(), turns);
    assert_eq!(conversation.ending, StopReason::Silent { said: "That is all.".to_owned() });
    assert_eq!(conversation.changes.len(), 1);
    assert_eq!(asks.len(), 4);
    let reminder = asks[1].messages.last().expect("a message");
    assert_eq!(reminder.role, Role::User);
    holds(&reminder.text, &["call `done`"]);
}

#[test]
fn a_plain_answer_at_once_is_the_last_word_and_later_code_is_none() {
    for said in
        ["a.py\n```python\nx = 1\n```\n", "a.py\n<<<<<<< SEARCH\n=======\nx\n>>>>>>> REPLACE\n"]
    {
        let (conversation, asks) = talk(&mut toolbox(), vec![(said, vec![])]);
        assert_eq!(
            (asks.len(), conversation.ending),
            (1, StopReason::Silent { said: said.to_owned() })
        );
        // A model that has called a tool is working with them.
        let turns = vec![("", vec![edit()]), (said, vec![]), ("", vec![finish()])];
        let (conversation, asks) = talk(&mut toolbox(), turns);
        assert_eq!(asks.len(), 3);
        assert!(matches!(conversation.ending, StopReason::Done { .. }));
    }
}

#[test]
fn a_model_that_is_never_done_is_reported_and_stopped_with_what_it_changed() {
    let limits = Limits { calls: 4, reported_by: 2, ..Limits::default() };
    let (conversation, asks) =
        talk(&mut toolbox_with(limits), vec![("", vec![edit()]), ("", vec![read()])]);
    assert_eq!(conversation.ending, StopReason::Limit(Limit::Calls));
    assert_eq!((conversation.calls.len(), asks.len()), (4, 4));
    assert_eq!(conversation.changes.len(), 1);
    assert_eq!(
        conversation.ending.report(&limits),
        "the conversation ended: all 4 calls were made"
    );
    assert!(!results(&asks[1])[0].contains(" left"));
    holds(results(&asks[2])[0], &["(2 calls left; then the work ends as it is)"]);
    holds(results(&asks[3])[0], &["(1 call left;"]);
}

#[test]
fn the_limit_holds_within_a_reply_and_lets_done_through() {
    let limits = Limits { calls: 2, ..Limits::default() };
    let calls = vec![read(), read(), edit()];
    let (conversation, asks) = talk(&mut toolbox_with(limits), vec![("", calls)]);
    assert_eq!((conversation.calls.len(), asks.len()), (2, 1));
    assert_eq!(conversation.ending, StopReason::Limit(Limit::Calls));
    let calls = vec![read(), edit(), finish()];
    let (conversation, _) = talk(&mut toolbox_with(limits), vec![("", calls)]);
    assert!(matches!(conversation.ending, StopReason::Done { .. }));
    // A `done` with invalid arguments does not extend the conversation forever.
    let (conversation, _) =
        talk(&mut toolbox_with(limits), vec![("", vec![("done", json!({"summary": 3}))])]);
    assert_eq!(conversation.ending, StopReason::Limit(Limit::Calls));
}

#[test]
fn all_results_together_have_so_many_bytes() {
    let limits = Limits { all_bytes: 1500, result_bytes: 500, ..Limits::default() };
    let big = ("read_file", json!({ "path": "src/shop.py" }));
    let (conversation, asks) = talk(&mut toolbox_with(limits), vec![("", vec![big])]);
    assert_eq!(conversation.ending, StopReason::Limit(Limit::Bytes));
    let bytes: usize = conversation.calls.iter().map(|it| it.bytes).sum();
    assert!(conversation.calls.iter().all(|it| it.bytes <= 500));
    assert!((1000..=1500).contains(&bytes), "{bytes}");
    holds(results(asks.last().expect("a question"))[0], &["bytes of results left"]);
}

#[test]
fn time_is_up_before_and_while_the_model_is_asked() {
    let limits = Limits { time: Duration::ZERO, ..Limits::default() };
    let (conversation, asks) = talk(&mut toolbox_with(limits), vec![("", vec![finish()])]);
    assert_eq!((conversation.ending, asks.len()), (StopReason::Limit(Limit::Time), 0));
    let limits = Limits { time: Duration::from_millis(1), ..Limits::default() };
    let never = |_| std::future::pending::<Result<ChatReply, String>>();
    let ended = wait(converse(never, first(), &mut toolbox_with(limits)));
    assert_eq!(ended.expect("a conversation").ending, StopReason::Limit(Limit::Time));
}

#[test]
fn an_error_of_the_model_ends_it_and_leaves_what_was_changed() {
    let mut toolbox = toolbox();
    let turns = RefCell::new(VecDeque::from([("", vec![edit()])]));
    let ask = |_| {
        let turn = turns.borrow_mut().pop_front();
        async { turn.map(reply).ok_or("the model is gone") }
    };
    let ended = wait(converse(ask, first(), &mut toolbox));
    assert_eq!(ended.err(), Some("the model is gone"));
    assert_eq!(toolbox.changes().len(), 1);
}

#[test]
fn old_results_are_shortened_and_the_newest_stay_whole() {
    let limits = Limits { tokens: 400, ..Limits::default() };
    let context = || ("read_file", json!({ "path": "src/shop.py" }));
    let turns = vec![
        ("", vec![context()]),
        ("", vec![context(), context()]),
        ("", vec![context(), context()]),
        ("", vec![finish()]),
    ];
    let (_, asks) = talk(&mut toolbox_with(limits), turns);
    let whole = |text: &str| text.contains("def unused():");
    let last = &asks[3].messages;
    assert!(last[6].results.iter().all(|it| whole(&it.text)));
    for it in last[2].results.iter().chain(&last[4].results) {
        assert!(!whole(&it.text));
        holds(
            &it.text,
            &["src/shop.py (23 lines)", "of this older result were cut; call the tool again"],
        );
    }
    // The first request had room for its one result.
    assert!(whole(results(&asks[1])[0]));
    // Requests and calls stay unchanged.
    assert_eq!((last[0].text.as_str(), last[3].calls.len()), ("Mend it.", 2));
}

/// Workflows spawn conversations: a future that is not `Send` would not compile.
#[test]
fn a_conversation_can_be_spawned_and_dropped() {
    let limits = Limits::default();
    wait(async {
        let task = tokio::spawn(async move {
            let mut toolbox = toolbox_with(limits);
            let ask = |_: ChatRequest| async { Ok::<_, String>(reply(("", vec![finish()]))) };
            converse(ask, first(), &mut toolbox).await.map(|it| it.ending)
        });
        assert!(matches!(task.await.expect("no panic"), Ok(StopReason::Done { .. })));
        let mut toolbox = toolbox();
        let never = |_| std::future::pending::<Result<ChatReply, String>>();
        let dropped = tokio::select! {
            biased;
            ended = converse(never, first(), &mut toolbox) => Err(ended.map(|it| it.ending)),
            () = tokio::task::yield_now() => Ok(()),
        };
        assert_eq!(dropped, Ok(()));
        assert!(!toolbox.call("list_files", &arguments(json!({}))).await.is_error);
    });
}
