//! Tests of replaying: the line that answers a request.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use tokio::time::Instant;
use trellis_llm::{Model, ModelError, OpenError, Settings, TransientError, Usage, open};

use crate::{ask, no_env};

/// Opens a recording with these lines.
fn replay_with(lines: &str, settings: &Settings) -> Result<Model, OpenError> {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("r.jsonl");
    fs::write(&path, lines).unwrap();
    open(&format!("recorded:{}", path.display()), settings, no_env)
}

fn replay(lines: &str) -> Model {
    replay_with(lines, &Settings::default()).unwrap()
}

/// Returns the outcome of a request in short: the text of a reply, or the kind of an error.
async fn hear(model: &Model, node: &str, stage: &str, attempt: u32) -> String {
    match model.ask(&ask(node, stage, attempt)).await {
        Ok(reply) => reply.text,
        Err(ModelError::NoRecordedReply { .. }) => "nothing".to_owned(),
        Err(ModelError::Unavailable { outage, tries, .. }) => match outage {
            TransientError::Status { status, .. } => format!("unavailable {status} x{tries}"),
            TransientError::TimedOut { .. } => format!("unavailable timeout x{tries}"),
            TransientError::Connection { .. } => format!("unavailable connection x{tries}"),
            other => panic!("{other}"),
        },
        Err(ModelError::Refused { status, .. }) => format!("refused {status}"),
        Err(ModelError::Truncated { partial, .. }) => format!("truncated {partial:?}"),
        Err(ModelError::BadResponse { what, .. }) => format!("bad: {what}"),
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn the_nearest_key_answers() {
    let model = replay(
        r#"
{"node": "*", "stage": "tests", "reply": "any node, any attempt"}
{"node": "*", "stage": "tests", "attempt": 1, "reply": "any node, attempt 1"}
{"node": "n", "stage": "tests", "reply": "n, any attempt"}
{"node": "n", "stage": "tests", "attempt": 1, "reply": "n, attempt 1"}
{"node": "n", "stage": "fix", "attempt": 0, "reply": "first fix"}
"#,
    );
    for (node, stage, attempt, expected) in [
        ("n", "tests", 1, "n, attempt 1"),
        ("n", "tests", 0, "n, any attempt"),
        ("m", "tests", 1, "any node, attempt 1"),
        ("m", "tests", 7, "any node, any attempt"),
        ("n", "fix", 0, "first fix"),
        ("n", "fix", 1, "nothing"),
        ("m", "fix", 0, "nothing"),
        ("n", "report", 0, "nothing"),
        ("n", "diagnosis", 4, "A"),
    ] {
        assert_eq!(hear(&model, node, stage, attempt).await, expected, "{node} {stage} {attempt}");
    }
}

#[tokio::test]
async fn a_missing_reply_says_which() {
    let error = replay("").ask(&ask("pkg.a/f", "integration_tests", 2)).await.unwrap_err();
    assert_eq!(error.to_string(), "no recorded reply for pkg.a/f integration_tests 2");
    assert!(!error.is_unavailable());
}

#[tokio::test]
async fn a_recorded_vote_beats_the_default() {
    let model = replay(r#"{"node": "n", "stage": "diagnosis", "attempt": 1, "reply": "B"}"#);
    assert_eq!(hear(&model, "n", "diagnosis", 0).await, "A");
    assert_eq!(hear(&model, "n", "diagnosis", 1).await, "B");
}

#[tokio::test]
async fn lines_of_one_key_are_a_queue_whose_last_reply_stays() {
    let error =
        |error: &str| format!("{{\"node\": \"n\", \"stage\": \"fix\", \"error\": {error}}}\n");
    let reply =
        |text: &str| format!("{{\"node\": \"n\", \"stage\": \"fix\", \"reply\": \"{text}\"}}\n");
    let (busy, down, late) =
        (&error("{\"status\": 429}"), &error("{\"status\": 500}"), &error("\"timeout\""));
    let cases: [(String, &[&str]); 10] = [
        (reply("a") + &reply("b"), &["a", "b", "b"]),
        (format!("{busy}{down}{late}{}", reply("a")), &["a", "a"]),
        (reply("a") + &error("\"truncated\""), &["a", "truncated \"\"", "a", "a"]),
        (error("\"truncated\"") + &reply("a"), &["truncated \"\"", "a", "a"]),
        (format!("{busy}{busy}{busy}{busy}{busy}{}", reply("a")), &["unavailable 429 x5", "a"]),
        (busy.clone(), &["unavailable 429 x5", "unavailable 429 x5"]),
        (late.clone(), &["unavailable timeout x5"]),
        (error("\"unreachable\""), &["unavailable connection x5"]),
        (error("{\"status\": 401}") + &reply("a"), &["refused 401", "a"]),
        (
            error("\"bad_response\"") + &reply(""),
            &["bad: recorded as such", "bad: the reply is empty"],
        ),
    ];
    for (lines, expected) in cases {
        let model = replay(&lines);
        for (turn, expected) in expected.iter().enumerate() {
            assert_eq!(hear(&model, "n", "fix", 0).await, *expected, "turn {turn} of\n{lines}");
        }
    }
}

#[tokio::test]
async fn every_node_walks_a_shared_queue_on_its_own() {
    let model = replay(concat!(
        "{\"node\": \"*\", \"stage\": \"fix\", \"error\": {\"status\": 503}}\n",
        "{\"node\": \"*\", \"stage\": \"fix\", \"reply\": \"first\"}\n",
        "{\"node\": \"*\", \"stage\": \"fix\", \"reply\": \"second\"}\n",
    ));
    let model = Arc::new(model);
    let nodes = (0..32).map(|node| {
        let model = Arc::clone(&model);
        tokio::spawn(async move {
            let node = format!("n{node}");
            [hear(&model, &node, "fix", 0).await, hear(&model, &node, "fix", 1).await]
        })
    });
    for received in nodes.collect::<Vec<_>>() {
        assert_eq!(received.await.unwrap(), ["first", "second"]);
    }
}

#[tokio::test]
async fn everything_a_line_holds_arrives() {
    let model = replay(concat!(
        r#"{"node": "n", "stage": "task", "attempt": 0, "reply": "r", "model": "big-1", "latency_ms": 1500, "#,
        r#""tool_calls": [{"name": "grep", "arguments": {"pattern": "x"}}], "#,
        r#""usage": {"input_tokens": 7, "output_tokens": 3}, "note": "unknown fields are fine", "error": null}"#,
    ));
    let reply = model.ask(&ask("n", "task", 0)).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.model.as_str()), ("r", "big-1"));
    assert_eq!(reply.usage, Some(Usage { input_tokens: 7, output_tokens: 3, cached_tokens: 0 }));
    assert_eq!(reply.latency, Duration::from_millis(1500));
    assert_eq!(reply.tool_calls[0].name, "grep");
    assert_eq!(json!(reply.tool_calls[0].arguments), json!({"pattern": "x"}));
}

#[tokio::test]
async fn a_cut_reply_keeps_its_beginning_and_its_cost() {
    let model = replay(concat!(
        r#"{"node": "n", "stage": "tests", "reply": "def te", "error": "truncated", "#,
        r#""usage": {"input_tokens": 1, "output_tokens": 2}}"#,
    ));
    let error = model.ask(&ask("n", "tests", 0)).await.unwrap_err();
    let ModelError::Truncated { partial, usage, .. } = error else { panic!("{error}") };
    assert_eq!((partial.as_str(), usage.unwrap().output_tokens), ("def te", 2));
}

#[tokio::test]
async fn a_byte_order_mark_blank_lines_and_windows_line_ends_are_fine() {
    let model =
        replay("\u{feff}\r\n{\"node\":\"n\",\"stage\":\"tests\",\"reply\":\"a\"}\r\n  \r\n\n");
    assert_eq!(hear(&model, "n", "tests", 0).await, "a");
}

#[tokio::test(start_paused = true)]
async fn latency_is_waited_only_when_asked_for() {
    let lines = concat!(
        "{\"node\":\"n\",\"stage\":\"tests\",\"error\":\"timeout\",\"latency_ms\":60000}\n",
        "{\"node\":\"n\",\"stage\":\"tests\",\"reply\":\"a\",\"latency_ms\":1500}\n",
    );
    for (replay_latency, expected) in [(false, 0), (true, 61_500)] {
        let model =
            replay_with(lines, &Settings { replay_latency, ..Settings::default() }).unwrap();
        let start = Instant::now();
        assert_eq!(hear(&model, "n", "tests", 0).await, "a");
        assert_eq!(start.elapsed().as_millis(), expected);
    }
}

#[test]
fn a_malformed_line_is_named_with_what_is_wrong() {
    for (line, expected) in [
        ("{\"node\": \"n\",", "line 3: it is not JSON: EOF while parsing"),
        ("[]", "line 3: it must be an object, found a list"),
        (r#"{"stage": "tests", "reply": "a"}"#, "line 3: `node` is missing"),
        (r#"{"node": "", "stage": "tests", "reply": "a"}"#, "line 3: `node` is empty"),
        (
            r#"{"node": 7, "stage": "tests", "reply": "a"}"#,
            "line 3: `node` must be a text, found 7",
        ),
        (r#"{"node": "n", "reply": "a"}"#, "line 3: `stage` is missing"),
        (
            r#"{"node": "n", "stage": "test", "reply": "a"}"#,
            "line 3: unknown stage `test`; the stages are tests, impl",
        ),
        (
            r#"{"node": "n", "stage": "fix", "attempt": -1, "reply": "a"}"#,
            "`attempt` must be a whole number from 0",
        ),
        (r#"{"node": "n", "stage": "fix", "attempt": "1", "reply": "a"}"#, "from 0, found a text"),
        (r#"{"node": "n", "stage": "fix"}"#, "it has neither `reply`, `tool_calls` nor `error`"),
        (
            r#"{"node": "n", "stage": "fix", "reply": ["a"]}"#,
            "`reply` must be a text, found a list",
        ),
        (
            r#"{"node": "n", "stage": "fix", "reply": "a", "error": "timeout"}"#,
            "only \"truncated\" allows both",
        ),
        (
            r#"{"node": "n", "stage": "fix", "error": "time out"}"#,
            "or one of \"timeout\", \"truncated\", ",
        ),
        (r#"{"node": "n", "stage": "fix", "error": {"status": 200}}"#, "found {\"status\":200}"),
        (
            r#"{"node": "n", "stage": "task", "tool_calls": {}}"#,
            "`tool_calls` must be a list, found an object",
        ),
        (
            r#"{"node": "n", "stage": "task", "tool_calls": [{"arguments": {}}]}"#,
            "in `tool_calls`, `name` is missing",
        ),
        (
            r#"{"node": "n", "stage": "task", "tool_calls": [{"name": "x"}]}"#,
            "`x` has no `arguments` object",
        ),
        (
            r#"{"node": "n", "stage": "task", "tool_calls": [{"name": "x", "arguments": "{}"}]}"#,
            "in `tool_calls`, `arguments` must be an object, found a text",
        ),
        (
            r#"{"node": "n", "stage": "fix", "reply": "a", "usage": {"input_tokens": 1}}"#,
            "`usage` must be {",
        ),
        (
            r#"{"node": "n", "stage": "fix", "reply": "a", "latency_ms": -5}"#,
            "`latency_ms` must be milliseconds",
        ),
    ] {
        let lines = format!("\n{{\"node\":\"n\",\"stage\":\"tests\",\"reply\":\"a\"}}\n{line}\n");
        let error = replay_with(&lines, &Settings::default()).unwrap_err();
        assert!(matches!(error, OpenError::Malformed { line: 3, .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}\n  should say {expected}");
    }
}
