//! Tests of the four wire formats in one table: the requests sent, and the parsing of each kind of
//! answer.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use trellis_llm::{
    ChatReply, ChatRequest, Message, ModelError, RetryPolicy, Role, Secret, Settings, Timeouts,
    Tool, ToolResult, TransientError, Usage, list_models, open,
};

use crate::no_env;
use crate::server::{Canned, Request, Server};

const KEY: &str = "key-0123456789abcdef";
const EVENTS: &str = "text/event-stream";
const LINES: &str = "application/x-ndjson";

/// Examples of one format.
struct Format {
    spec: &'static str,
    plain_path: &'static str,
    streamed_path: &'static str,
    /// The header with the key, in lower case.
    key: &'static str,
    kind: &'static str,
    /// Whole answers: one with the text `hello`, and one that calls `grep`.
    hello: Value,
    grep: Value,
    /// The same answers, streamed.
    hello_events: Vec<Value>,
    grep_events: Vec<Value>,
    /// `OpenAI`'s last event of a stream.
    last: &'static str,
    /// An answer cut off at the limit after `def f(`.
    cut: Value,
    /// An answer without content, and the resulting error.
    declined: (Value, &'static str),
    /// A failure in mid-stream, and its status.
    failing_event: (Value, u16),
    /// The error for a request that is too long, with its status.
    too_long: (u16, Value),
}

fn formats() -> Vec<Format> {
    vec![openai(), anthropic(), gemini(), ollama()]
}

fn openai() -> Format {
    let whole = |message: Value, why: &str| {
        json!({"model": "m-1", "choices": [{"index": 0, "message": message, "finish_reason": why}],
               "usage": {"prompt_tokens": 11, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 3}}})
    };
    let delta = |delta: Value, why: Value| json!({"model": "m-1", "choices": [{"index": 0, "delta": delta, "finish_reason": why}]});
    let counted = json!({"model": "m-1", "choices": [],
        "usage": {"prompt_tokens": 11, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 3}}});
    let call = |piece: Value| json!({"tool_calls": [piece]});
    Format {
        spec: "openai:m",
        plain_path: "/v1/chat/completions",
        streamed_path: "/v1/chat/completions",
        key: "authorization: bearer key-0123456789abcdef",
        kind: EVENTS,
        hello: whole(json!({"role": "assistant", "content": "hello"}), "stop"),
        grep: whole(
            json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": "c9", "type": "function", "function": {"name": "grep", "arguments": "{\"pattern\": \"x\"}"}}]}),
            "tool_calls",
        ),
        hello_events: vec![
            delta(json!({"role": "assistant", "content": "hel"}), Value::Null),
            delta(json!({"content": "lo"}), Value::Null),
            delta(json!({}), json!("stop")),
            counted.clone(),
        ],
        grep_events: vec![
            delta(
                call(
                    json!({"index": 0, "id": "c9", "function": {"name": "grep", "arguments": ""}}),
                ),
                Value::Null,
            ),
            delta(call(json!({"index": 0, "function": {"arguments": "{\"patte"}})), Value::Null),
            delta(
                call(json!({"index": 0, "function": {"arguments": "rn\": \"x\"}"}})),
                Value::Null,
            ),
            delta(json!({}), json!("tool_calls")),
            counted,
        ],
        last: "data: [DONE]\n\n",
        cut: whole(json!({"content": "def f("}), "length"),
        declined: (
            whole(json!({"content": null, "refusal": "I will not"}), "stop"),
            "the model declined: I will not",
        ),
        failing_event: (json!({"error": {"message": "busy", "type": "server_error"}}), 500),
        too_long: (
            400,
            json!({"error": {"message": "This model's maximum context length is 8192 tokens.", "code": "context_length_exceeded"}}),
        ),
    }
}

fn anthropic() -> Format {
    let usage = json!({"input_tokens": 8, "cache_read_input_tokens": 3, "output_tokens": 4});
    let whole = |content: Value, why: &str| json!({"type": "message", "model": "m-1", "content": content, "stop_reason": why, "usage": usage.clone()});
    let start = json!({"type": "message_start", "message": {"model": "m-1", "usage": {"input_tokens": 8, "cache_read_input_tokens": 3, "output_tokens": 1}}});
    let end = |why: &str| json!({"type": "message_delta", "delta": {"stop_reason": why}, "usage": {"output_tokens": 4}});
    let stop = json!({"type": "message_stop"});
    let piece = |delta: Value| json!({"type": "content_block_delta", "index": 0, "delta": delta});
    Format {
        spec: "anthropic:m",
        plain_path: "/v1/messages",
        streamed_path: "/v1/messages",
        key: "x-api-key: key-0123456789abcdef",
        kind: EVENTS,
        hello: whole(json!([{"type": "text", "text": "hello"}]), "end_turn"),
        grep: whole(
            json!([{"type": "tool_use", "id": "c9", "name": "grep", "input": {"pattern": "x"}}]),
            "tool_use",
        ),
        hello_events: vec![
            start.clone(),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "ping"}),
            piece(json!({"type": "text_delta", "text": "hel"})),
            piece(json!({"type": "text_delta", "text": "lo"})),
            json!({"type": "content_block_stop", "index": 0}),
            end("end_turn"),
            stop.clone(),
        ],
        grep_events: vec![
            start,
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "c9", "name": "grep", "input": {}}}),
            piece(json!({"type": "input_json_delta", "partial_json": "{\"patte"})),
            piece(json!({"type": "input_json_delta", "partial_json": "rn\": \"x\"}"})),
            end("tool_use"),
            stop,
        ],
        last: "",
        cut: whole(json!([{"type": "text", "text": "def f("}]), "max_tokens"),
        declined: (whole(json!([]), "refusal"), "the model declined"),
        failing_event: (
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
            529,
        ),
        too_long: (
            400,
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}}),
        ),
    }
}

fn gemini() -> Format {
    let usage = json!({"promptTokenCount": 11, "candidatesTokenCount": 1, "thoughtsTokenCount": 3, "cachedContentTokenCount": 3});
    let part = |parts: Value, why: Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": why}], "usageMetadata": usage.clone(), "modelVersion": "m-1"});
    let grep = json!([{"functionCall": {"name": "grep", "args": {"pattern": "x"}}, "thoughtSignature": "sig=="}]);
    Format {
        spec: "gemini:m",
        plain_path: "/v1beta/models/m:generatecontent",
        streamed_path: "/v1beta/models/m:streamgeneratecontent?alt=sse",
        key: "x-goog-api-key: key-0123456789abcdef",
        kind: EVENTS,
        hello: part(json!([{"text": "hmm", "thought": true}, {"text": "hello"}]), json!("STOP")),
        grep: part(grep.clone(), json!("STOP")),
        hello_events: vec![
            part(json!([{"text": "hmm", "thought": true}, {"text": "hel"}]), Value::Null),
            part(json!([{"text": "lo"}]), json!("STOP")),
        ],
        grep_events: vec![part(grep, json!("STOP"))],
        last: "",
        cut: part(json!([{"text": "def f("}]), json!("MAX_TOKENS")),
        declined: (
            json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": usage.clone()}),
            "the provider blocked the prompt: SAFETY",
        ),
        failing_event: (
            json!({"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}),
            503,
        ),
        too_long: (
            400,
            json!({"error": {"code": 400, "message": "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).", "status": "INVALID_ARGUMENT"}}),
        ),
    }
}

fn ollama() -> Format {
    let line = |message: Value| json!({"model": "m-1", "message": message, "done": false});
    let end = |message: Value, why: &str| json!({"model": "m-1", "message": message, "done": true, "done_reason": why, "prompt_eval_count": 11, "eval_count": 4});
    let grep = json!({"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "grep", "arguments": {"pattern": "x"}}}]});
    Format {
        spec: "ollama:m",
        plain_path: "/api/chat",
        streamed_path: "/api/chat",
        key: "authorization: bearer key-0123456789abcdef",
        kind: LINES,
        hello: end(json!({"role": "assistant", "content": "hello"}), "stop"),
        grep: end(grep.clone(), "stop"),
        hello_events: vec![
            line(json!({"role": "assistant", "content": "", "thinking": "hmm"})),
            line(json!({"role": "assistant", "content": "hel"})),
            line(json!({"role": "assistant", "content": "lo"})),
            end(json!({"role": "assistant", "content": ""}), "stop"),
        ],
        grep_events: vec![line(grep), end(json!({"role": "assistant", "content": ""}), "stop")],
        last: "",
        cut: end(json!({"role": "assistant", "content": "def f("}), "length"),
        declined: (end(json!({"role": "assistant", "content": " "}), "stop"), "the reply is empty"),
        failing_event: (json!({"error": "the model runner has stopped"}), 500),
        too_long: (400, json!({"error": "input exceeds the context window of the model"})),
    }
}

impl Format {
    fn framed(&self, events: &[Value]) -> String {
        let framed = events.iter().map(|event| match self.kind {
            EVENTS => format!("event: x\ndata: {event}\n\n"),
            _ => format!("{event}\n"),
        });
        framed.collect()
    }

    /// Returns a stream in pieces of seven bytes.
    fn streamed(&self, events: &[Value]) -> Canned {
        let whole = self.framed(events) + self.last;
        let pieces = whole.as_bytes().chunks(7);
        Canned::Stream(
            self.kind,
            pieces.map(|it| String::from_utf8(it.to_vec()).unwrap()).collect(),
        )
    }

    async fn ask(
        &self,
        answers: Vec<Canned>,
        stream: bool,
    ) -> (Result<ChatReply, ModelError>, Vec<Request>) {
        let server = Server::start(answers).await;
        let result =
            open(self.spec, &settings(&server, stream), no_env).unwrap().ask(&question()).await;
        (result, server.requests())
    }
}

fn settings(server: &Server, stream: bool) -> Settings {
    Settings {
        api_key: Secret::new(KEY),
        base_url: Some(server.url.clone()),
        stream,
        retry: RetryPolicy { first_wait: Duration::ZERO, ..RetryPolicy::default() },
        ..Settings::default()
    }
}

/// Returns a conversation in which a tool was called.
fn question() -> ChatRequest {
    let reply = ChatReply {
        text: "I look.".to_owned(),
        tool_calls: vec![trellis_llm::ToolCall {
            id: "c1".to_owned(),
            name: "read_file".to_owned(),
            arguments: json!({"path": "a.py"}).as_object().unwrap().clone(),
            signature: Some("s1==".to_owned()),
        }],
        usage: None,
        model: "m".to_owned(),
        latency: Duration::ZERO,
    };
    let result = ToolResult {
        id: "c1".to_owned(),
        name: "read_file".to_owned(),
        text: "x = 1".to_owned(),
        is_error: false,
    };
    ChatRequest {
        node: "n".to_owned(),
        stage: "fix".to_owned(),
        attempt: 0,
        messages: vec![
            Message::new(Role::System, "be brief"),
            Message::new(Role::User, "mend it"),
            Message::from_reply(&reply),
            Message::results(vec![result]),
        ],
        tools: Arc::from([Tool {
            name: "grep".to_owned(),
            description: "finds lines".to_owned(),
            parameters: json!({"type": "object", "properties": {"pattern": {"type": "string"}}}),
        }]),
        temperature: 0.2,
        max_output_tokens: Some(64),
    }
}

#[tokio::test]
async fn a_conversation_is_sent_in_each_providers_words() {
    let expected = [
        json!({"model": "m", "messages": [
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": "mend it"},
                {"role": "assistant", "content": "I look.", "tool_calls": [{"id": "c1", "type": "function",
                    "function": {"name": "read_file", "arguments": "{\"path\":\"a.py\"}"}}]},
                {"role": "tool", "tool_call_id": "c1", "content": "x = 1"}],
            "stream": false, "temperature": 0.2, "max_tokens": 64,
            "tools": [{"type": "function", "function": {"name": "grep", "description": "finds lines",
                "parameters": {"type": "object", "properties": {"pattern": {"type": "string"}}}}}]}),
        json!({"model": "m", "max_tokens": 64, "messages": [
                {"role": "user", "content": [{"type": "text", "text": "mend it"}]},
                {"role": "assistant", "content": [{"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "a.py"}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "x = 1", "is_error": false}]}],
            "stream": false, "system": "be brief", "temperature": 0.2,
            "tools": [{"name": "grep", "description": "finds lines",
                "input_schema": {"type": "object", "properties": {"pattern": {"type": "string"}}}}]}),
        json!({"contents": [
                {"role": "user", "parts": [{"text": "mend it"}]},
                {"role": "model", "parts": [{"text": "I look."},
                    {"functionCall": {"name": "read_file", "args": {"path": "a.py"}}, "thoughtSignature": "s1=="}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "read_file", "response": {"output": "x = 1"}}}]}],
            "systemInstruction": {"parts": [{"text": "be brief"}]},
            "generationConfig": {"temperature": 0.2, "maxOutputTokens": 64},
            "tools": [{"functionDeclarations": [{"name": "grep", "description": "finds lines",
                "parametersJsonSchema": {"type": "object", "properties": {"pattern": {"type": "string"}}}}]}]}),
        json!({"model": "m", "messages": [
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": "mend it"},
                {"role": "assistant", "content": "I look.", "tool_calls": [
                    {"function": {"name": "read_file", "arguments": {"path": "a.py"}}}]},
                {"role": "tool", "tool_name": "read_file", "content": "x = 1"}],
            "stream": false, "options": {"num_ctx": 8192, "temperature": 0.2, "num_predict": 64},
            "tools": [{"type": "function", "function": {"name": "grep", "description": "finds lines",
                "parameters": {"type": "object", "properties": {"pattern": {"type": "string"}}}}}]}),
    ];
    for (format, expected) in formats().iter().zip(expected) {
        let (_, requests) =
            format.ask(vec![Canned::say(200, &format.hello.to_string())], false).await;
        assert_eq!(requests[0].body, expected, "{}", format.spec);
        let first = requests[0].head.lines().next().unwrap_or_default();
        assert_eq!(first, format!("post {} http/1.1", format.plain_path));
        assert!(requests[0].head.contains(&format!("{}\r\n", format.key)), "{}", requests[0].head);
        let (_, requests) = format.ask(vec![format.streamed(&format.hello_events)], true).await;
        let first = requests[0].head.lines().next().unwrap_or_default();
        assert_eq!(first, format!("post {} http/1.1", format.streamed_path));
    }
}

#[tokio::test]
async fn answers_are_read_plain_and_streamed() {
    for format in formats() {
        let ways = [
            (
                Canned::say(200, &format.hello.to_string()),
                Canned::say(200, &format.grep.to_string()),
                false,
            ),
            (format.streamed(&format.hello_events), format.streamed(&format.grep_events), true),
            // A request for a stream may get an answer in one piece.
            (
                Canned::say(200, &format.hello.to_string()),
                Canned::say(200, &format.grep.to_string()),
                true,
            ),
        ];
        for (hello, grep, stream) in ways {
            let reply = format.ask(vec![hello], stream).await.0.unwrap();
            let cached_tokens = if format.spec == "ollama:m" { 0 } else { 3 };
            let usage = Some(Usage { input_tokens: 11, output_tokens: 4, cached_tokens });
            assert_eq!(
                (reply.text.as_str(), reply.model.as_str()),
                ("hello", "m-1"),
                "{}",
                format.spec
            );
            assert_eq!(reply.usage, usage, "{} {stream}", format.spec);
            let reply = format.ask(vec![grep], stream).await.0.unwrap();
            let call = &reply.tool_calls[0];
            assert_eq!(
                (call.name.as_str(), json!(call.arguments)),
                ("grep", json!({"pattern": "x"}))
            );
            assert!(call.id == "c9" || call.id == "call_0", "{}", call.id);
            assert_eq!(call.signature.is_some(), format.spec == "gemini:m");
        }
    }
}

#[tokio::test]
async fn what_is_no_reply_is_named_for_what_it_is() {
    for format in formats() {
        let plain = |value: &Value| vec![Canned::say(200, &value.to_string())];
        let cut = format.ask(plain(&format.cut), false).await.0.unwrap_err();
        let ModelError::Truncated { partial, usage, .. } = cut else {
            panic!("{}: {cut}", format.spec)
        };
        assert_eq!((partial.as_str(), usage.unwrap().output_tokens), ("def f(", 4));
        let declined = format.ask(plain(&format.declined.0), false).await.0.unwrap_err();
        assert!(matches!(declined, ModelError::BadResponse { .. }), "{declined}");
        assert!(declined.to_string().ends_with(format.declined.1), "{declined}");
        let (status, body) = &format.too_long;
        let (result, requests) =
            format.ask(vec![Canned::say(*status, &body.to_string())], true).await;
        let error = result.unwrap_err();
        assert!(matches!(error, ModelError::TooLong { .. }), "{}: {error}", format.spec);
        assert_eq!(requests.len(), 1);
    }
}

#[tokio::test]
async fn broken_streams_are_asked_for_again_and_whole_replies_are_not() {
    for format in formats() {
        let events = &format.hello_events;
        let whole = format.streamed(events);
        let (failing, status) = &format.failing_event;
        let cases = [
            vec![format.framed(&events[..1])],
            vec![format.framed(&events[..1]), "data: {\"cho".to_owned()],
            vec![format.framed(&events[..1]), format.framed(std::slice::from_ref(failing))],
            vec!["data: <html>\n\n".to_owned()],
            vec![String::new()],
        ];
        for broken in cases {
            let answers = vec![Canned::Stream(format.kind, broken.clone()), whole.clone()];
            let (result, requests) = format.ask(answers, true).await;
            assert_eq!(result.unwrap().text, "hello", "{} {broken:?}", format.spec);
            assert_eq!(requests.len(), 2, "{} {broken:?}", format.spec);
        }
        let failing =
            Canned::Stream(format.kind, vec![format.framed(std::slice::from_ref(failing))]);
        let error = format.ask(vec![failing], true).await.0.unwrap_err();
        let ModelError::Unavailable {
            outage: TransientError::Status { status: found, .. },
            tries: 5,
            ..
        } = error
        else {
            panic!("{}: {error}", format.spec)
        };
        assert_eq!(found, *status, "{}", format.spec);
        // The reply is complete, the stream after it is not.
        let end = events.iter().position(says_end).unwrap();
        let cut_late = Canned::Stream(format.kind, vec![format.framed(&events[..=end])]);
        let (result, requests) = format.ask(vec![cut_late, whole], true).await;
        assert_eq!(
            (result.unwrap().text.as_str(), requests.len()),
            ("hello", 1),
            "{}",
            format.spec
        );
    }
}

/// Returns whether an event holds the reason why the model stopped.
fn says_end(event: &Value) -> bool {
    let places = [
        "/choices/0/finish_reason",
        "/delta/stop_reason",
        "/candidates/0/finishReason",
        "/done_reason",
    ];
    places.iter().any(|place| event.pointer(place).is_some_and(Value::is_string))
}

#[tokio::test]
async fn silence_is_noticed_and_left() {
    for format in formats() {
        let begun = format.framed(&format.hello_events[..1]);
        let stall = Canned::Stall(format.kind, vec![begun]);
        let server = Server::start(vec![stall, format.streamed(&format.hello_events)]).await;
        let timeouts = Timeouts { idle: Some(Duration::from_millis(50)), ..Timeouts::default() };
        let settings = Settings { timeouts, ..settings(&server, true) };
        let model = open(format.spec, &settings, no_env).unwrap();
        assert_eq!(model.ask(&question()).await.unwrap().text, "hello", "{}", format.spec);
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn a_question_that_is_dropped_closes_its_connection() {
    for format in formats() {
        let stall = Canned::Stall(format.kind, vec![format.framed(&format.hello_events[..1])]);
        let server = Server::start(vec![stall]).await;
        let model = open(format.spec, &settings(&server, true), no_env).unwrap();
        let asking = tokio::spawn(async move { model.ask(&question()).await });
        while server.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        asking.abort();
        while server.left.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_stream_of_endless_calls_or_bytes_is_cut() {
    let format = openai();
    let calls = (0..200).map(|at| {
        json!({"choices": [{"delta": {"tool_calls": [{"index": at * 1_000_000_000_u64, "function": {"name": "f"}}]}}]})
    });
    let calls = format.framed(&calls.collect::<Vec<_>>());
    let bytes = format!("data: {}", "x".repeat(17 << 20));
    for (endless, expected, passes) in
        [(calls, "it has more than 128 tool calls", false), (bytes, "larger than 16 MiB", true)]
    {
        let error =
            format.ask(vec![Canned::Stream(EVENTS, vec![endless])], true).await.0.unwrap_err();
        assert_eq!(error.is_unavailable(), passes, "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[tokio::test]
async fn parameters_that_are_refused_in_words_are_left_out() {
    let format = anthropic();
    let complaint = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "`temperature` is deprecated for this model."}});
    let answers =
        vec![Canned::say(400, &complaint.to_string()), Canned::say(200, &format.hello.to_string())];
    let (result, requests) = format.ask(answers, true).await;
    assert_eq!(result.unwrap().text, "hello");
    assert!(requests[1].body.get("temperature").is_none());
    let format = openai();
    let complaint =
        json!({"error": {"message": "Unrecognized request argument supplied: stream_options"}});
    let answers =
        vec![Canned::say(400, &complaint.to_string()), format.streamed(&format.hello_events)];
    let (result, requests) = format.ask(answers, true).await;
    assert_eq!(result.unwrap().text, "hello");
    assert!(
        requests[1].body.get("stream_options").is_none()
            && requests[1].body.get("stream").is_some()
    );
}

#[tokio::test]
async fn an_account_without_credit_is_not_waited_for() {
    let body = json!({"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}});
    let (result, requests) = openai().ask(vec![Canned::say(429, &body.to_string())], true).await;
    let error = result.unwrap_err();
    assert!(matches!(error, ModelError::Refused { status: 402, .. }), "{error}");
    assert!(error.hint().contains("credit"), "{}", error.hint());
    assert_eq!(requests.len(), 1);
}

#[tokio::test]
async fn odd_model_names_stay_in_their_place() {
    for (name, expected) in [
        ("a b?c#d", "a%20b%3fc%23d"),
        ("tunedModels/x", "tunedmodels/x"),
        ("../../admin", "..%2f..%2fadmin"),
        ("ü", "%c3%bc"),
    ] {
        let server = Server::start(vec![Canned::say(200, &gemini().hello.to_string())]).await;
        let model = open(&format!("gemini:{name}"), &settings(&server, false), no_env).unwrap();
        model.ask(&question()).await.unwrap();
        let head = server.requests()[0].head.clone();
        let expected = format!("post /v1beta/models/{expected}:generatecontent http/1.1");
        assert_eq!(head.lines().next().unwrap_or_default(), expected);
    }
}

/// One streamed OpenAI chunk.
fn chunk(delta: Value, why: Value) -> Value {
    json!({"model": "m-1", "choices": [{"index": 0, "delta": delta, "finish_reason": why}]})
}

#[tokio::test]
async fn odd_streams_are_read_as_they_were_meant() {
    let format = openai();
    let hello = || chunk(json!({"content": "hello"}), Value::Null);
    let end = || chunk(json!({}), json!("stop"));
    let whole = format.framed(&[hello(), end()]);
    let other = json!({"choices": [{"index": 1, "delta": {"content": "other"}}]});
    let empty = chunk(json!({"content": "hel"}), json!(""));
    let rest = chunk(json!({"content": "lo"}), json!(""));
    for (kind, text) in [
        (EVENTS, format!("\u{feff}{whole}")),
        (EVENTS, format!("{whole}bye\n\ndata: bye\n\n")),
        (EVENTS, format!("{whole}data: {{\"error\": {{\"message\": \"late\"}}}}\n\n")),
        (EVENTS, format.framed(&[hello(), other, end()])),
        (EVENTS, format.framed(&[empty, rest, end()])),
        ("text/plain", whole.clone()),
        ("", whole.clone()),
    ] {
        let (result, requests) =
            format.ask(vec![Canned::Stream(kind, vec![text.clone()])], true).await;
        assert_eq!((result.unwrap().text.as_str(), requests.len()), ("hello", 1), "{kind} {text}");
    }
    // An empty reason is no end: a stream that breaks off after it is requested again.
    let broken = format.framed(&[chunk(json!({"content": "hel"}), json!(""))]);
    let answers = vec![Canned::Stream(EVENTS, vec![broken]), Canned::Stream(EVENTS, vec![whole])];
    let (result, requests) = format.ask(answers, true).await;
    assert_eq!((result.unwrap().text.as_str(), requests.len()), ("hello", 2));
}

#[tokio::test]
async fn calls_that_cannot_be_used_are_named_and_not_asked_for_again() {
    let format = openai();
    let deep = format!("{{\"a\": {}1{}}}", "[".repeat(80), "]".repeat(80));
    let call = |name: &str, arguments: &str| {
        let function = json!({"name": name, "arguments": arguments});
        let call = json!({"id": "c", "type": "function", "function": function});
        json!({"choices": [{"message": {"content": null, "tool_calls": [call]}, "finish_reason": "stop"}]})
    };
    for (answer, expected) in [
        (call("", "{}"), "a tool call has no name"),
        (call("grep", &deep), "nested too deeply"),
        (call("grep", "[1]"), "not a JSON object"),
    ] {
        let (result, requests) =
            format.ask(vec![Canned::say(200, &answer.to_string())], false).await;
        let error = result.unwrap_err();
        assert!(matches!(error, ModelError::BadResponse { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(requests.len(), 1);
    }
}

#[tokio::test]
async fn a_key_in_a_call_is_cut_out_however_it_is_written() {
    let escaped: String = KEY.chars().map(|it| format!("\\u{:04x}", it as u32)).collect();
    let function =
        json!({"name": "grep", "arguments": format!("{{\"pattern\": [\"{escaped}\"]}}")});
    let call = json!({"id": KEY, "type": "function", "function": function});
    let answer = json!({"choices": [{"message": {"content": null, "tool_calls": [call]}, "finish_reason": "stop"}]});
    let reply = openai().ask(vec![Canned::say(200, &answer.to_string())], false).await.0.unwrap();
    let shown = format!("{reply:?}");
    assert!(shown.contains("[redacted]") && !shown.contains(KEY), "{shown}");
}

#[tokio::test]
async fn absurd_counts_are_no_sums() {
    let most = u64::MAX;
    let anthropic = json!({"type": "message", "content": [{"type": "text", "text": "hello"}], "stop_reason": "end_turn",
        "usage": {"input_tokens": most, "cache_read_input_tokens": most, "output_tokens": 1}});
    let gemini_answer = json!({"candidates": [{"content": {"parts": [{"text": "hello"}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": most, "thoughtsTokenCount": most}});
    for (format, answer) in [(crate::wires::anthropic(), anthropic), (gemini(), gemini_answer)] {
        let result = format.ask(vec![Canned::say(200, &answer.to_string())], false).await.0;
        assert_eq!(result.unwrap().text, "hello", "{}", format.spec);
    }
}

#[tokio::test]
async fn services_list_their_models_in_their_own_format() {
    let openrouter = json!({"data": [
        {"id": "a/old", "created": 1, "name": "Old", "context_length": 1000,
         "pricing": {"prompt": "0.000003", "completion": "0.000015"}},
        {"id": "a/new", "created": 2, "pricing": {"prompt": "-1", "completion": "-1"}},
        {"id": "text-embedding-3", "created": 3},
    ]});
    let gemini = json!({"models": [
        {"name": "models/g", "displayName": "G", "inputTokenLimit": 10, "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/e", "supportedGenerationMethods": ["embedContent"]},
    ]});
    let table = [
        (
            "openrouter",
            "/v1/models",
            openrouter,
            vec![("a/new", None), ("a/old", Some((3.0, 15.0)))],
        ),
        (
            "anthropic",
            "/v1/models?limit=1000",
            json!({"data": [{"id": "c", "display_name": "C"}]}),
            vec![("c", None)],
        ),
        ("gemini", "/v1beta/models?pagesize=1000", gemini, vec![("g", None)]),
        ("ollama", "/api/tags", json!({"models": [{"name": "q:7b"}]}), vec![("q:7b", None)]),
    ];
    for (provider, path, answer, expected) in table {
        let server = Server::start(vec![Canned::say(200, &answer.to_string())]).await;
        let settings = Settings {
            base_url: Some(server.url.clone()),
            api_key: Secret::new(KEY),
            ..Settings::default()
        };
        let limit = Duration::from_secs(20);
        let listed = list_models(provider, &settings, &no_env, limit).await.expect(provider);
        let names: Vec<_> = listed
            .iter()
            .map(|it| (it.name.as_str(), it.price.map(|(a, b)| (a.round(), b.round()))))
            .collect();
        assert_eq!(names, expected, "{provider}");
        let head = &server.requests()[0].head;
        assert!(head.starts_with(&format!("get {path} ")) && head.contains(KEY), "{head}");
    }
}

#[tokio::test]
async fn a_service_without_a_list_says_why() {
    let hangs = Server::start(vec![Canned::Hang]).await;
    let none = Server::start(vec![Canned::say(404, "")]).await;
    let other = Server::start(vec![Canned::say(200, "{}")]).await;
    for (provider, server, expected) in [
        ("openai", &hangs, "timed out"),
        ("openai", &none, "status 404"),
        ("openai", &other, "no list of models"),
        ("azure", &other, "does not list"),
    ] {
        let settings = Settings { base_url: Some(server.url.clone()), ..Settings::default() };
        let limit = Duration::from_millis(300);
        let error = list_models(provider, &settings, &no_env, limit).await.expect_err(expected);
        assert!(error.to_string().contains(expected), "{error}");
    }
}
