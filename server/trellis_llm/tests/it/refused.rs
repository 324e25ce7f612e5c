//! Tests of live models whose answer is no reply, and of the key in errors.

use serde_json::json;
use trellis_llm::ModelError;

use crate::ask;
use crate::live::{KEY, completion, connect, outcome};
use crate::server::{Canned, Server};

#[tokio::test]
async fn a_reply_at_the_limit_is_truncated() {
    let body = json!({
        "choices": [{"message": {"content": "def f("}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 64},
    });
    let server = Server::start(vec![Canned::say(200, &body.to_string())]).await;
    let error = connect(&server).ask(&ask("n", "tests", 0)).await.unwrap_err();
    let ModelError::Truncated { partial, usage, .. } = error else { panic!("{error}") };
    assert_eq!((partial.as_str(), usage.unwrap().output_tokens), ("def f(", 64));
}

#[tokio::test]
async fn unusable_answers_say_what_is_wrong_and_are_not_retried() {
    let choice = |choice: serde_json::Value| json!({"choices": [choice]}).to_string();
    for (body, expected) in [
        (completion(" \n"), "the reply is empty"),
        (choice(json!({"message": {"content": null}})), "the reply is empty"),
        (
            choice(json!({"message": {"content": null, "refusal": "I will not"}})),
            "the model declined: I will not",
        ),
        (
            choice(json!({"message": {"content": "x"}, "finish_reason": "content_filter"})),
            "content filter",
        ),
    ] {
        let (result, asked) = outcome(vec![Canned::say(200, &body)]).await;
        let error = result.unwrap_err();
        assert!(matches!(error, ModelError::BadResponse { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(asked, 1);
    }
}

#[tokio::test]
async fn answers_of_another_kind_of_service_say_so_when_they_stay() {
    for (body, expected) in [
        ("{\"choices\": [", "it is not the expected chat completion (EOF while parsing"),
        ("<html>\n<body>login</body>", "it begins: <html> <body>login</body>"),
        ("{\"choices\": []}", "it has no choices"),
        ("[]", "it has no choices"),
    ] {
        let (result, asked) = outcome(vec![Canned::say(200, body)]).await;
        let error = result.unwrap_err();
        assert!(error.is_unavailable() && error.to_string().contains(expected), "{error}");
        assert!(error.hint().contains("base URL"), "{}", error.hint());
        assert_eq!(asked, 5);
    }
    let good = Canned::say(200, &completion("hello"));
    let (result, asked) = outcome(vec![Canned::say(200, "<html>"), good]).await;
    assert_eq!((result.unwrap().as_str(), asked), ("hello", 2));
}

#[tokio::test]
async fn an_answer_without_end_is_cut() {
    let (result, _) = outcome(vec![Canned::say(200, &completion(&"x".repeat(17 << 20)))]).await;
    let error = result.unwrap_err().to_string();
    assert!(error.ends_with("the answer is larger than 16 MiB"), "{error}");
}

#[tokio::test]
async fn the_key_is_in_no_error() {
    let echo = format!(r#"{{"error": {{"message": "Incorrect API key provided: {KEY}."}}}}"#);
    let masked =
        r#"{"error": {"message": "Incorrect API key provided: sk-live-****cdef."}}"#.to_owned();
    let html = format!("<html>Bearer {KEY}</html>");
    for (status, body) in
        [(401, &echo), (401, &masked), (403, &html), (500, &echo), (200, &html), (200, &echo)]
    {
        let server = Server::start(vec![Canned::say(status, body)]).await;
        let model = connect(&server);
        let error = model.ask(&ask("n", "tests", 0)).await.unwrap_err();
        let shown = format!("{error} {error:?} {model:?} {}", error.hint());
        assert!(shown.contains("[redacted]"), "{shown}");
        assert!(!shown.contains(KEY) && !shown.contains("sk-live"), "{shown}");
    }
}

#[tokio::test]
async fn a_refusal_carries_status_message_and_hint() {
    for (status, body, message, hint) in [
        (401, r#"{"error": {"message": "bad key"}}"#, "with status 401: bad key", "API key"),
        (404, r#"{"error": "model not found"}"#, "with status 404: model not found", "model name"),
        (422, r#"{"detail": "no such field"}"#, "with status 422: no such field", "limits"),
        (400, r#"[{"error": {"message": "listed"}}]"#, "with status 400: listed", "limits"),
        (402, "", "with status 402", "credit"),
    ] {
        let (result, asked) = outcome(vec![Canned::say(status, body)]).await;
        let error = result.unwrap_err();
        assert!(error.to_string().ends_with(message), "{error}");
        assert!(error.hint().contains(hint), "{}", error.hint());
        assert_eq!(asked, 1);
    }
}

#[tokio::test]
async fn redirects_are_named_but_not_followed() {
    let elsewhere = Server::start(vec![Canned::say(200, &completion("stolen"))]).await;
    let location = format!("location: {}/v1/chat/completions?token=x\r\n", elsewhere.url);
    // The server keeps canned headers for the lifetime of the test binary.
    let location: &'static str = location.leak();
    for status in [301, 302, 307, 308] {
        let (result, asked) = outcome(vec![Canned::Say(status, location, String::new())]).await;
        let expected = format!(
            "openai:small-1 refused the request with status {status}: redirects to {}",
            elsewhere.url
        );
        assert_eq!(result.unwrap_err().to_string(), expected);
        assert_eq!(asked, 1);
    }
    assert!(elsewhere.requests().is_empty());
}
