//! The editor's models, and model tests from the editor.

use std::time::Duration;

use ::lsp::{Client, Encoding, Failure, patience, uri_of};
use serde_json::{Value, json};

use crate::models::{Service, said};
use crate::world::World;

const ASK: &str = "trellis/askModel";
const TRIED: &str = "trellis/modelTried";
const KEY: &str = "sk-very-secret-value-0123456789";

/// Starts a server with an editor whose models the test plays.
fn editor(world: &World, variables: &[(&str, &str)]) -> Client {
    let client = without_models(world, variables);
    client.reserve(ASK);
    client
}

/// Starts a server with an editor without models.
fn without_models(world: &World, variables: &[(&str, &str)]) -> Client {
    let mut command = world.command(&["lsp"]);
    command.envs(variables.iter().copied());
    let mut client = Client::start(command, world.root()).expect("a server");
    client.initialize(&[Encoding::Utf8], &Value::Null, patience()).expect("a handshake");
    client
}

/// Creates a folder with retries that do not wait.
fn hasty() -> World {
    let world = World::new();
    world.write("trellis.toml", "[providers.editor]\nretry_seconds = 0\n");
    world
}

fn begin(client: &mut Client, params: Value) {
    let answer = client.request("trellis/tryModel", params, patience());
    assert_eq!(answer.expect("an answer at once"), Value::Null);
}

/// Returns the outcome of a model test, without its time.
fn outcome(client: &mut Client) -> Value {
    let mut outcome = client.notice(TRIED, patience()).expect("an outcome");
    let time = outcome.as_object_mut().expect("an object").remove("milliseconds");
    assert!(time.is_some_and(|it| it.is_u64()), "{outcome}");
    outcome
}

/// Returns the outcome of a model test in which the editor gives this reply `times` times.
fn tried(client: &mut Client, times: usize, answer: &Result<Value, (i64, &str, Value)>) -> Value {
    begin(client, json!({ "model": "editor:gpt" }));
    for _ in 0..times {
        let question = client.question(ASK, patience()).expect("a question");
        client.answer(&question, answer.clone());
    }
    let outcome = outcome(client);
    assert!(client.question(ASK, Duration::ZERO).is_err(), "asked more than {times} times");
    outcome
}

#[test]
fn the_editor_is_asked_in_full_and_its_answer_is_told() {
    let world = World::new();
    let mut client = editor(&world, &[]);
    begin(&mut client, json!({ "model": "editor:gpt" }));
    let question = client.question(ASK, patience()).expect("a question");
    let message = json!({
        "role": "user",
        "text": "Answer with the one word: ready",
        "toolCalls": [],
        "toolResults": [],
    });
    let wanted = json!({
        "id": 1,
        "model": "gpt",
        "node": "doctor",
        "stage": "review",
        "attempt": 0,
        "messages": [message],
        "tools": [],
        "temperature": 0.0,
        "maxOutputTokens": 512,
    });
    assert_eq!(question.params, wanted);
    let calls = json!([
        { "id": "a", "name": "find_symbol", "arguments": { "name": "f", "deep": [1, { "x": null }] } },
        { "id": "b", "name": "find_symbol", "arguments": {} },
    ]);
    let usage = json!({ "inputTokens": 12, "outputTokens": 3 });
    let result =
        json!({ "text": " ready\n", "toolCalls": calls, "usage": usage, "model": "gpt-x" });
    client.answer(&question, Ok(result));
    let wanted = json!({
        "model": "editor:gpt",
        "ok": true,
        "reply": "ready",
        "answeredBy": "gpt-x",
        "inputTokens": 12,
        "outputTokens": 3,
    });
    assert_eq!(outcome(&mut client), wanted);
    // The minimal reply of an editor, which chooses the model.
    begin(&mut client, json!({ "model": "editor" }));
    let question = client.question(ASK, patience()).expect("a question");
    assert_eq!((&question.params["id"], &question.params["model"]), (&json!(2), &json!("")));
    client.answer(&question, Ok(json!({ "text": "ready", "toolCalls": [] })));
    let wanted = json!({ "model": "editor", "ok": true, "reply": "ready", "answeredBy": "editor" });
    assert_eq!(outcome(&mut client), wanted);
    let cancelled = client.notice("trellis/cancelModel", Duration::ZERO);
    assert!(cancelled.is_err(), "an answered question is not cancelled: {cancelled:?}");
    assert!(client.shutdown().expect("an end").success());
}

#[test]
fn why_the_editor_did_not_answer_is_said_and_what_may_pass_is_asked_again() {
    let world = hasty();
    let mut client = editor(&world, &[]);
    let long = "so long ".repeat(1000);
    let cases = [
        (-32000, "no model\n is chosen", json!({ "kind": "unavailable" }), "no model is chosen", 1),
        (
            -32000,
            "100 tokens\u{7} at most",
            json!({ "kind": "tooLong" }),
            "too long for editor:gpt: 100 tokens at most",
            1,
        ),
        (-32000, "it declined", json!({ "kind": "unusable" }), "unusable reply: it declined", 1),
        (
            -32000,
            "try again later",
            json!({ "kind": "failed" }),
            "after 2 tries: no connection: try again later",
            2,
        ),
        (
            -32000,
            "try again later",
            json!({ "kind": 7 }),
            "after 2 tries: no connection: try again later",
            2,
        ),
        (
            -32000,
            "try again later",
            Value::Null,
            "after 2 tries: no connection: try again later",
            2,
        ),
        (-32001, "", Value::Null, "the editor gave no reason (code -32001)", 2),
        (-32601, "Unhandled method", Value::Null, "this editor offers no models", 1),
        (-32000, &long, json!({ "kind": "unusable" }), "so long so long", 1),
    ];
    for (code, message, data, said, times) in cases {
        let outcome = tried(&mut client, times, &Err((code, message, data)));
        let error = outcome["error"].as_str().expect("an error");
        assert!(error.contains(said) && error.len() < 600, "{error}");
        assert_eq!(outcome["ok"], false, "{outcome}");
        assert!(outcome["hint"].is_string(), "{outcome}");
    }
    assert!(client.shutdown().expect("an end").success());
    // The response of a client that does not know the method.
    let mut client = without_models(&world, &[]);
    begin(&mut client, json!({ "model": "editor" }));
    let outcome = outcome(&mut client);
    assert!(outcome["error"].as_str().expect("an error").contains("this editor offers no models"));
    assert_eq!(outcome["hint"], "choose a model in the editor, or another provider");
    assert!(client.shutdown().expect("an end").success());
}

#[test]
fn a_malformed_answer_is_refused_with_what_is_wrong() {
    let world = hasty();
    let mut client = editor(&world, &[]);
    let call = |id: &str, name: &str| json!({ "id": id, "name": name, "arguments": {} });
    let calls = |calls: Value| json!({ "text": "", "toolCalls": calls });
    let usage = |usage: Value| json!({ "text": "ready", "toolCalls": [], "usage": usage });
    let many: Vec<Value> = (0..129).map(|it| call(&it.to_string(), "f")).collect();
    let cases = [
        (Value::Null, "malformed: invalid type: null"),
        (json!("ready"), "malformed: invalid type: string"),
        (json!({ "toolCalls": [] }), "malformed: missing field `text`"),
        (json!({ "text": "ready" }), "malformed: missing field `toolCalls`"),
        (json!({ "text": ["ready"], "toolCalls": [] }), "malformed: invalid type: sequence"),
        (calls(json!([{ "id": "a", "name": "f" }])), "malformed: missing field `arguments`"),
        (
            calls(json!([{ "id": "a", "name": "f", "arguments": "{}" }])),
            "malformed: invalid type: string",
        ),
        (calls(json!([call("", "f")])), "a tool call without an id or a name"),
        (calls(json!([call("a", "")])), "a tool call without an id or a name"),
        (calls(json!([call("a", "f"), call("a", "g")])), "two tool calls with the id `a`"),
        (calls(many.into()), "more than 128 tool calls"),
        (calls(json!([])), "the reply is empty"),
        (usage(json!({ "inputTokens": -1, "outputTokens": 3 })), "malformed: invalid value"),
        (usage(json!({ "inputTokens": u64::MAX, "outputTokens": 3 })), "malformed: invalid value"),
        (json!({ "text": "x".repeat(16 << 20), "toolCalls": [] }), "larger than 16 MiB"),
        (json!(["x".repeat(1 << 20)]), "malformed: invalid"),
    ];
    for (result, wrong) in cases {
        let outcome = tried(&mut client, 1, &Ok(result));
        let error = outcome["error"].as_str().expect("an error");
        assert!(error.starts_with("editor:gpt sent an unusable reply: "), "{error}");
        assert!(error.contains(wrong) && error.len() < 600, "`{wrong}` is missing in {error}");
        assert_eq!(outcome["ok"], false, "{outcome}");
    }
    // A long reply is valid, and its start is shown.
    let outcome =
        tried(&mut client, 1, &Ok(json!({ "text": "y".repeat(2 << 20), "toolCalls": [] })));
    assert_eq!(outcome["ok"], true, "{outcome}");
    let shown = outcome["reply"].as_str().expect("a reply");
    assert!(shown.starts_with("yyy") && shown.ends_with('…') && shown.len() < 600);
    assert!(client.shutdown().expect("an end").success());
}

#[test]
fn questions_under_way_hold_up_nothing_and_find_their_own_answers() {
    let world = World::new();
    let file = world.write("a.py", "def f(): ...\n");
    let mut client = editor(&world, &[]);
    let names: Vec<String> = (0..4).map(|it| format!("editor:m{it}")).collect();
    for name in &names {
        begin(&mut client, json!({ "model": name }));
    }
    let mut questions: Vec<_> =
        names.iter().map(|_| client.question(ASK, patience()).expect("a question")).collect();
    let params = json!({ "textDocument": { "uri": uri_of(&file) } });
    let symbols = client.request("textDocument/documentSymbol", params, patience());
    assert_eq!(symbols.expect("symbols")[0]["name"], "f");
    assert!(client.notice(TRIED, Duration::ZERO).is_err(), "nobody has answered");
    questions.reverse();
    for question in &questions {
        let model = question.params["model"].as_str().expect("a model");
        client.answer(question, Ok(json!({ "text": format!("I am {model}"), "toolCalls": [] })));
        let outcome = outcome(&mut client);
        assert_eq!(outcome["model"], format!("editor:{model}"));
        assert_eq!(outcome["reply"], format!("I am {model}"));
    }
    assert!(client.shutdown().expect("an end").success());
}

#[test]
fn what_is_not_answered_when_the_server_ends_is_cancelled_at_the_client() {
    let world = World::new();
    let mut client = editor(&world, &[]);
    let mut ids = Vec::new();
    for _ in 0..2 {
        begin(&mut client, json!({ "model": "editor" }));
        ids.push(client.question(ASK, patience()).expect("a question").params["id"].clone());
    }
    client.request("shutdown", Value::Null, patience()).expect("an answer");
    let mut cancelled: Vec<Value> = (ids.iter())
        .map(|_| client.notice("trellis/cancelModel", patience()).expect("a word")["id"].take())
        .collect();
    cancelled.sort_by_key(Value::as_u64);
    assert_eq!(cancelled, ids);
    assert!(client.exit().expect("an end").success());
}

#[test]
fn a_service_is_tried_from_the_editor_and_the_key_goes_nowhere_else() {
    let world = World::new();
    world.write("trellis.toml", "simple_model = \"openai:small\"\nstrong_model = \"openai:big\"\n");
    world.write("src/a.py", "");
    let service = Service::start(Box::new(|question| match question["model"].as_str() {
        Some("small") => said(&format!("ready, {KEY}")),
        _ => (401, json!({ "error": { "message": format!("bad key {KEY}") } })),
    }));
    let variables = [("OPENAI_BASE_URL", service.url.as_str()), ("OPENAI_API_KEY", KEY)];
    let mut client = editor(&world, &variables);
    // Both models of the folder, one after the other.
    begin(&mut client, json!({}));
    let wanted = json!({
        "model": "openai:small",
        "ok": true,
        "reply": "ready, [redacted]",
        "answeredBy": "tiny-1",
        "inputTokens": 700,
        "outputTokens": 300,
    });
    assert_eq!(outcome(&mut client), wanted);
    let wanted = json!({
        "model": "openai:big",
        "ok": false,
        "error": "openai:big refused the request with status 401: bad key [redacted]",
        "hint": "check the provider's API key",
    });
    assert_eq!(outcome(&mut client), wanted);
    assert_eq!(service.asked().len(), 2);
    assert!(client.shutdown().expect("an end").success());
}

#[test]
fn what_cannot_be_asked_is_said_in_the_outcome() {
    let world = World::new();
    let mut client = editor(&world, &[]);
    let refused = client.request("trellis/tryModel", json!({ "model": " " }), patience());
    let Err(Failure::Refused { code, message, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!(code, -32602);
    assert!(message.contains("`model` is empty"), "{message}");
    let refused = client.request("trellis/tryModel", json!({ "model": 7 }), patience());
    assert!(matches!(refused, Err(Failure::Refused { code: -32602, .. })), "{refused:?}");
    begin(&mut client, json!({}));
    let outcome_of_none = outcome(&mut client);
    assert_eq!(outcome_of_none["error"], "no model is configured");
    assert_eq!(outcome_of_none.get("model"), None);
    begin(&mut client, json!({ "model": "unheard:of" }));
    let unknown = outcome(&mut client);
    assert_eq!((&unknown["model"], &unknown["ok"]), (&json!("unheard:of"), &json!(false)));
    assert!(unknown["error"].as_str().is_some_and(|it| it.contains("unknown model provider")));
    world.write("trellis.toml", "model = 7\n");
    begin(&mut client, json!({}));
    let broken = outcome(&mut client);
    assert!(
        broken["error"].as_str().is_some_and(|it| it.contains("trellis.toml, line 1")),
        "{broken}"
    );
    assert!(client.shutdown().expect("an end").success());
    // The command line has no editor.
    let _ = world.trellis(&["doctor", "--model", "editor:gpt"]).exits(65);
    std::fs::remove_file(world.root().join("trellis.toml")).expect("a file");
    let _ = world
        .trellis(&["doctor", "--model", "editor:gpt"])
        .exits(69)
        .says("`editor:gpt` needs a model of the editor, and no editor is connected");
}
