//! Tests of live models that answer, at once or after failures.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use trellis_llm::{
    Model, ModelError, RetryPolicy, Secret, Settings, Timeouts, TransientError, Usage, open,
};

use crate::server::{Canned, Server};
use crate::{ask, no_env};

/// A key long enough to be removed from every text.
pub(crate) const KEY: &str = "sk-live-0123456789abcdef";

/// Returns a completion with this text, in a service's format.
pub(crate) fn completion(text: &str) -> String {
    let message = json!({"role": "assistant", "content": text});
    json!({
        "id": "c1", "object": "chat.completion", "model": "small-1-2026",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 4, "total_tokens": 15},
    })
    .to_string()
}

/// Returns settings for a server: the key, no waits, four retries.
pub(crate) fn settings(server: &Server) -> Settings {
    Settings {
        api_key: Secret::new(KEY),
        base_url: Some(server.url.clone()),
        retry: RetryPolicy { first_wait: Duration::ZERO, ..RetryPolicy::default() },
        ..Settings::default()
    }
}

pub(crate) fn connect(server: &Server) -> Model {
    open("openai:small-1", &settings(server), no_env).unwrap()
}

/// Sends one request to a server with these answers; returns the result and the number of requests.
pub(crate) async fn outcome(answers: Vec<Canned>) -> (Result<String, ModelError>, usize) {
    let server = Server::start(answers).await;
    let result = connect(&server).ask(&ask("n", "tests", 0)).await;
    (result.map(|reply| reply.text), server.requests().len())
}

#[tokio::test]
async fn a_question_is_sent_and_its_reply_read() {
    let server = Server::start(vec![Canned::say(200, &completion("hello"))]).await;
    let reply = connect(&server).ask(&ask("n", "tests", 0)).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.model.as_str()), ("hello", "small-1-2026"));
    assert_eq!(reply.usage, Some(Usage { input_tokens: 11, output_tokens: 4, cached_tokens: 0 }));
    assert!(reply.tool_calls.is_empty() && !reply.latency.is_zero());

    let request = server.requests().remove(0);
    assert!(request.head.starts_with("post /v1/chat/completions http/1.1"), "{}", request.head);
    assert!(request.head.contains(&format!("authorization: bearer {KEY}")), "{}", request.head);
    // Compared as a text: 0.2 must not become 0.20000000298.
    let expected = r#"{"model":"small-1","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"write add"}],"stream":true,"temperature":0.2,"max_tokens":64,"stream_options":{"include_usage":true}}"#;
    assert_eq!(request.body.to_string(), expected);
}

#[tokio::test]
async fn tool_calls_and_lists_of_parts_are_read() {
    let body =
        |message: Value| json!({"choices": [{"message": message}], "usage": null}).to_string();
    let call = |arguments: Value| {
        let call = json!({"id": "1", "type": "function", "function": {"name": "grep", "arguments": arguments}});
        body(json!({"content": null, "tool_calls": [call]}))
    };
    let server = Server::start(vec![
        Canned::say(200, &call(json!("{\"pattern\": \"x\"}"))),
        Canned::say(200, &call(json!({"pattern": "x"}))),
        Canned::say(200, &call(json!(""))),
        Canned::say(
            200,
            &body(
                json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
            ),
        ),
        Canned::say(200, &call(json!("{\"pattern\""))),
    ])
    .await;
    let model = connect(&server);
    for expected in [json!({"pattern": "x"}), json!({"pattern": "x"}), json!({})] {
        let reply = model.ask(&ask("n", "task", 0)).await.unwrap();
        assert_eq!((reply.tool_calls[0].name.as_str(), reply.text.as_str()), ("grep", ""));
        assert_eq!(json!(reply.tool_calls[0].arguments), expected);
        assert_eq!((reply.model.as_str(), reply.usage), ("small-1", None));
    }
    assert_eq!(model.ask(&ask("n", "task", 0)).await.unwrap().text, "ab");
    let error = model.ask(&ask("n", "task", 0)).await.unwrap_err().to_string();
    assert!(
        error.ends_with("the arguments of the tool call `grep` are not a JSON object"),
        "{error}"
    );
}

#[tokio::test]
async fn passing_trouble_is_retried() {
    let good = Canned::say(200, &completion("hello"));
    let busy = Canned::Say(429, "retry-after: 0\r\n", "slow down".to_owned());
    let gone_date =
        Canned::Say(503, "retry-after: Thu, 01 Jan 1970 00:00:00 GMT\r\n", String::new());
    let gateway = Canned::say(200, r#"{"error": {"message": "upstream busy", "code": 502}}"#);
    for (answers, requests) in [
        (vec![busy.clone(), good.clone()], 2),
        (vec![Canned::say(500, "{}"), Canned::say(500, "<html>"), good.clone()], 3),
        (vec![gone_date, gateway, Canned::Break, busy, good], 5),
    ] {
        let (result, asked) = outcome(answers).await;
        assert_eq!((result.unwrap().as_str(), asked), ("hello", requests));
    }
}

#[tokio::test]
async fn patience_ends() {
    let (result, asked) =
        outcome(vec![Canned::say(503, r#"{"error": {"message": "overloaded"}}"#)]).await;
    let error = result.unwrap_err();
    assert!(error.is_unavailable());
    assert_eq!(
        error.to_string(),
        "openai:small-1 is unavailable after 5 tries: status 503: overloaded"
    );
    assert_eq!(asked, 5);

    let (result, asked) =
        outcome(vec![Canned::Say(429, "retry-after: 3600\r\n", String::new())]).await;
    assert_eq!(
        result.unwrap_err().to_string(),
        "openai:small-1 is unavailable after 1 try: status 429: it asks to wait 3600s"
    );
    assert_eq!(asked, 1);
}

#[tokio::test]
async fn silence_becomes_a_time_out() {
    let server = Server::start(vec![Canned::Hang]).await;
    let limit = Duration::from_millis(50);
    let mut settings = settings(&server);
    settings.timeouts = Timeouts { total: Some(limit), ..Timeouts::default() };
    settings.retry.retries = 1;
    let error = open("openai:small-1", &settings, no_env)
        .unwrap()
        .ask(&ask("n", "tests", 0))
        .await
        .unwrap_err();
    let ModelError::Unavailable { outage, tries: 2, .. } = error else { panic!("{error}") };
    assert_eq!(outage, TransientError::TimedOut { after: Some(limit) });
}

#[tokio::test]
async fn nobody_listening_is_unavailable() {
    // A port that was free a moment ago.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let settings = Settings {
        base_url: Some(format!("http://{closed}")),
        retry: RetryPolicy { first_wait: Duration::ZERO, ..RetryPolicy::default() },
        ..Settings::default()
    };
    let error =
        open("openai:m", &settings, no_env).unwrap().ask(&ask("n", "tests", 0)).await.unwrap_err();
    assert!(error.is_unavailable());
    let said = error.to_string();
    assert!(said.contains("no connection: Connection refused"), "{said}");
    assert!(said.contains(&format!(" at http://{closed}/")), "{said}");
}

#[tokio::test]
async fn a_parameter_the_model_does_not_know_is_left_out_from_then_on() {
    let complaint = |parameter: &str, code: &str| {
        let error = json!({"message": format!("no {parameter}"), "param": parameter, "code": code});
        Canned::say(400, &json!({"error": error}).to_string())
    };
    let server = Server::start(vec![
        complaint("max_tokens", "unsupported_parameter"),
        complaint("temperature", "unsupported_value"),
        Canned::say(200, &completion("hello")),
    ])
    .await;
    let model = connect(&server);
    for _ in 0..2 {
        assert_eq!(model.ask(&ask("n", "tests", 0)).await.unwrap().text, "hello");
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 4);
    assert_eq!(requests[1].body["max_completion_tokens"], 64);
    assert!(
        requests[1].body.get("max_tokens").is_none()
            && requests[1].body.get("temperature").is_some()
    );
    assert!(requests[2].body.get("temperature").is_none());
    assert_eq!(requests[2].body, requests[3].body);

    // A value out of range is an error of the caller and must not be hidden.
    let (result, asked) = outcome(vec![complaint("temperature", "decimal_above_max_value")]).await;
    assert!(matches!(result.unwrap_err(), ModelError::Refused { status: 400, .. }));
    assert_eq!(asked, 1);
}

#[tokio::test]
async fn several_tasks_share_a_model_and_its_recording() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("live.jsonl");
    let server = Server::start(vec![Canned::say(200, &completion(&format!("hello {KEY}")))]).await;
    let settings = Settings { record: Some(path.clone()), ..settings(&server) };
    let model = Arc::new(open("openai:small-1", &settings, no_env).unwrap());
    let tasks = (0..8).map(|node| {
        let model = Arc::clone(&model);
        tokio::spawn(async move { model.ask(&ask(&format!("n{node}"), "tests", 0)).await.unwrap() })
    });
    for task in tasks.collect::<Vec<_>>() {
        assert_eq!(task.await.unwrap().text, "hello [redacted]");
    }
    assert!(!fs::read_to_string(&path).unwrap().contains(KEY));
    let replay =
        open(&format!("recorded:{}", path.display()), &Settings::default(), no_env).unwrap();
    for node in 0..8 {
        let reply = replay.ask(&ask(&format!("n{node}"), "tests", 0)).await.unwrap();
        assert_eq!(
            (reply.text.as_str(), reply.model.as_str()),
            ("hello [redacted]", "small-1-2026")
        );
        assert_eq!(reply.usage.unwrap().input_tokens, 11);
    }
}
