//! Models as users have them: chosen, paid for, limited; against a counting service of the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use ::lsp::{Client, Encoding, patience};
use serde_json::{Value, json};

use crate::runs::call;
use crate::world::{Plot, Ran, World};

const KEY: &str = "sk-very-secret-value-0123456789";

/// A chat-completions service that writes one-line functions, and records every request.
pub(crate) struct Service {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

/// The service's reply to a request: status and body.
type Says = Box<dyn Fn(&Value) -> (u16, Value) + Send>;

impl Service {
    pub(crate) fn start(says: Says) -> Service {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let Some(question) = question(&stream) else { continue };
                let (status, body) = says(&question);
                noted.lock().expect("no panic").push(question);
                answer(stream, status, &body);
            }
        });
        Service { url, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Value> {
        self.asked.lock().expect("no panic").clone()
    }
}

fn question(stream: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
    }
    if length == 0 {
        return Some(Value::Null);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn answer(mut stream: TcpStream, status: u16, body: &Value) {
    let body = body.to_string();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    // The requester may be gone.
    let _ = stream.write_all((head + &body).as_bytes());
}

pub(crate) fn said(text: &str) -> (u16, Value) {
    (
        200,
        json!({"model": "tiny-1", "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
               "usage": {"prompt_tokens": 700, "completion_tokens": 300}}),
    )
}

fn complaint(status: u16, message: &str, code: &str) -> (u16, Value) {
    (status, json!({"error": {"message": message, "code": code}}))
}

pub(crate) fn prompt(question: &Value) -> &str {
    let messages = question["messages"].as_array().expect("messages");
    messages.last().expect("a message")["content"].as_str().expect("a text")
}

/// Returns the name of the function in a prompt: `f0`, `f1`, …
fn name(prompt: &str) -> String {
    let at = prompt.find("`f").expect("a name");
    prompt[at + 1..].chars().take_while(|c| c.is_ascii_alphanumeric()).collect()
}

/// Replies with `f(x) = x + 1` and tests for it.
pub(crate) fn grows(question: &Value) -> (u16, Value) {
    let prompt = prompt(question);
    let name = name(prompt);
    if prompt.contains("Write a pytest module") {
        return said(&format!(
            "```python\nfrom lib.{name} import {name}\n\ndef test_a():\n    assert {name}(1) == 2\n\ndef test_b():\n    assert {name}(2) == 3\n\ndef test_c():\n    assert {name}(0) == 1\n```"
        ));
    }
    said(&format!("```python\ndef {name}(x: int) -> int:\n    return x + 1\n```"))
}

/// Writes a graph of functions that do not depend on each other.
pub(crate) fn plant(world: &World, count: usize) {
    let plot = (0..count).fold(Plot::default(), |plot, at| {
        let name = format!("f{at}");
        plot.function(&name, &name, &[], &[], "x + 1")
    });
    world.plant(&plot);
}

pub(crate) fn generate(world: &World, service: &Service, more: &[&str]) -> Ran {
    let mut arguments = vec!["generate", "rpg.json", "--out", "out", "--json"];
    arguments.extend(more);
    if !more.contains(&"--model") {
        arguments.extend(["--model", "openai:tiny"]);
    }
    let mut command = world.command(&arguments);
    command.env("OPENAI_BASE_URL", &service.url).env("OPENAI_API_KEY", KEY);
    Ran::of(command.output().expect("trellis starts"))
}

fn tokens(world: &World) -> u64 {
    let calls = world.journal("model_call");
    let count = |it: &Value, name: &str| it[name].as_u64().unwrap_or_default();
    calls.iter().map(|it| count(it, "input_tokens") + count(it, "output_tokens")).sum()
}

#[test]
fn a_budget_is_never_exceeded_and_what_was_paid_is_not_paid_again() {
    let world = World::new();
    plant(&world, 4);
    let service = Service::start(Box::new(grows));
    // Eight requests of 1,000 tokens; each may get a reply of 8,192.
    let stopped =
        generate(&world, &service, &["--budget-tokens", "12500", "--jobs", "2"]).exits(69);
    let stopped = stopped.says("stopped before the budget of 12500 tokens was exceeded");
    let _ = stopped.says("raise the limit (--budget-tokens");
    assert!(tokens(&world) <= 12_500 && tokens(&world) >= 2_000, "{}", tokens(&world));
    let before = service.asked().len();
    assert!(before < 8);
    let ran = generate(&world, &service, &["--budget-tokens", "100000", "--jobs", "2"]).exits(0);
    assert_eq!(service.asked().len(), 8, "{before} questions had been asked before");
    assert_eq!(ran.json()["spent"]["tokens"], 8_000);
    assert_eq!(ran.json()["passed"], 4);
    let report = world.read("out/docs/generation_report.md");
    assert!(report.contains("| stage `tests` | 4 | 2800 | 1200 |"), "{report}");
    assert_eq!(world.checkpoint()["f2"]["model"]["calls"], 2);
}

#[test]
fn a_budget_in_dollars_needs_a_price() {
    let world = World::new();
    plant(&world, 1);
    let service = Service::start(Box::new(grows));
    let ran = generate(&world, &service, &["--budget-usd", "1"]).exits(65);
    let _ = ran.says("the price of openai:tiny is unknown").says("[prices.\"openai:tiny\"]");
    world.write(
        "home/.config/trellis/trellis.toml",
        "[prices.tiny]\ninput = 1000.0\noutput = 1000.0\n",
    );
    // A project's settings cannot lower the price.
    world.write("trellis.toml", "[prices.\"openai:tiny\"]\ninput = 0.0\noutput = 0.0\n");
    let ran = generate(&world, &service, &["--budget-usd", "1"]).exits(69);
    let _ = ran.says("stopped before the budget of $1 was exceeded: $0.0000 are spent");
    assert!(service.asked().is_empty());
    let ran = generate(&world, &service, &["--budget-usd", "100"]).exits(0);
    // Two requests of 700 and 300 tokens at a dollar per thousand.
    assert_eq!(ran.json()["spent"]["usd"], 2.0);
}

#[test]
fn hard_work_and_third_fixes_go_to_the_strong_model() {
    let world = World::new();
    plant(&world, 1);
    let service = Service::start(Box::new(|question| {
        let strong = question["model"] == "big";
        let prompt = prompt(question);
        match prompt {
            _ if prompt.contains("VERDICT: A, B or C") => said("A"),
            _ if prompt.contains("Write a pytest module") || strong => grows(question),
            _ => said("```python\ndef f0(x: int) -> int:\n    return x - len(str(x))\n```"),
        }
    }));
    let models = [
        "--model",
        "openai:tiny",
        "--simple-model",
        "openai:small",
        "--strong-model",
        "openai:big",
    ];
    let _ = generate(&world, &service, &models).exits(0);
    let calls = world.journal("model_call");
    let of = |stage: &str| -> Vec<String> {
        let calls = calls.iter().filter(|it| it["stage"] == stage);
        calls.map(|it| it["details"]["asked"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(of("tests"), ["openai:small"]);
    let fixes = of("fix");
    assert_eq!(fixes.first().map(String::as_str), Some("openai:small"), "{fixes:?}");
    assert_eq!(fixes.last().map(String::as_str), Some("openai:big"), "{fixes:?}");
    assert_eq!(world.checkpoint()["f0"]["retry_count"], fixes.len());
}

#[test]
fn a_question_that_is_too_long_is_put_in_fewer_words() {
    let world = World::new();
    plant(&world, 1);
    let service = Service::start(Box::new(|question| {
        if question.to_string().len() > 12_000 {
            return complaint(
                400,
                "maximum context length is 3000 tokens",
                "context_length_exceeded",
            );
        }
        grows(question)
    }));
    world.write("notes.md", &"Something about the project that goes on. ".repeat(1_000));
    let _ = generate(&world, &service, &["--context", "notes.md"]).exits(0);
    let sizes: Vec<usize> = service.asked().iter().map(|it| it.to_string().len()).collect();
    assert!(sizes[0] > 12_000 && sizes.iter().any(|it| *it <= 12_000), "{sizes:?}");
    assert!(service.asked().iter().all(|it| prompt(it).contains("## Task")));
}

#[test]
fn a_reply_that_is_cut_off_gets_more_room() {
    let world = World::new();
    plant(&world, 1);
    let service = Service::start(Box::new(|question| {
        if question["max_tokens"].as_u64() < Some(20_000) {
            let choice =
                json!({"message": {"content": "```python\ndef"}, "finish_reason": "length"});
            return (200, json!({"choices": [choice]}));
        }
        grows(question)
    }));
    let _ = generate(&world, &service, &[]).exits(0);
    let limits: Vec<u64> =
        service.asked().iter().filter_map(|it| it["max_tokens"].as_u64()).collect();
    assert_eq!(limits, [8192, 32768, 8192, 32768]);
}

#[test]
fn who_refuses_everybody_stops_the_run_and_fails_nobody() {
    for (status, message, hint) in [
        (401, "Incorrect API key provided", "check the provider's API key"),
        (404, "The model `tiny` does not exist", "check the model name"),
        (402, "Payment required", "no credit left"),
    ] {
        let world = World::new();
        plant(&world, 2);
        let service = Service::start(Box::new(move |_| complaint(status, message, "x")));
        let ran = generate(&world, &service, &[]).exits(69);
        let ran = ran.says(&format!("with status {status}: {message}")).says(hint);
        assert_eq!(ran.stderr.lines().filter(|line| line.contains("error:")).count(), 1);
        assert_eq!(world.checkpoint()["f0"]["status"], "pending");
        let good = Service::start(Box::new(grows));
        let _ = generate(&world, &good, &[]).exits(0);
    }
}

#[test]
fn a_declined_answer_is_sent_back_with_the_reason() {
    let world = World::new();
    plant(&world, 1);
    let service = Service::start(Box::new(|question| {
        let prompt = prompt(question);
        if prompt.contains("Write a pytest module") || prompt.contains("I would rather not") {
            return grows(question);
        }
        let message = json!({"content": null, "refusal": "I would rather not"});
        (200, json!({"choices": [{"message": message, "finish_reason": "stop"}]}))
    }));
    let _ = generate(&world, &service, &[]).exits(0);
    assert_eq!(service.asked().len(), 3);
}

#[test]
fn settings_come_from_the_nearest_place_and_a_project_decides_nothing_about_keys() {
    let world = World::new();
    plant(&world, 1);
    let service = Service::start(Box::new(|_| said("ready")));
    let doctor = |more: &[&str], env: &[(&str, &str)]| {
        let mut arguments = vec!["doctor", "--json", "--model"];
        arguments.extend(more);
        let mut command = world.command(&arguments);
        command.env("OPENAI_BASE_URL", &service.url).env("OPENAI_API_KEY", KEY);
        command.envs(env.iter().copied());
        Ran::of(command.output().expect("trellis starts"))
    };
    let name = |ran: Ran| ran.exits(0).json()["models"][0]["name"].as_str().map(str::to_owned);
    let only = doctor(&[], &[]).exits(69);
    let _ = only.says("OPENAI_API_KEY is set, but not which of its models");
    let several = doctor(&[], &[("GEMINI_API_KEY", "x")]).exits(69);
    let _ = several.says("several keys are set: OPENAI_API_KEY, GEMINI_API_KEY");
    world.write("home/.config/trellis/trellis.toml", "model = \"openai:of-user\"\n");
    assert_eq!(name(doctor(&[], &[])).as_deref(), Some("openai:of-user"));
    world.write("trellis.toml", "model = \"openai:of-project\"\n");
    assert_eq!(name(doctor(&[], &[])).as_deref(), Some("openai:of-project"));
    let env = [("TRELLIS_MODEL", "openai:of-env")];
    assert_eq!(name(doctor(&[], &env)).as_deref(), Some("openai:of-env"));
    assert_eq!(name(doctor(&["openai:of-flag"], &env)).as_deref(), Some("openai:of-flag"));
    let asked: Vec<Value> = service.asked().iter().map(|it| it["model"].clone()).collect();
    assert_eq!(asked, ["of-user", "of-project", "of-env", "of-flag"]);

    for (text, words) in [
        (
            "[providers.openai]\nbase_url = \"http://127.0.0.1:1\"\n",
            "a project cannot set `providers.openai.base_url`",
        ),
        ("[providers.x]\nlike = \"openai\"\n", "a project cannot set `providers.x.like`"),
        ("model = 3\n", "trellis.toml, line 1: invalid type"),
        ("\nmodle = \"x\"\n", "trellis.toml, line 2: unknown field `modle`"),
        ("[budget]\nusd = -1\n", "`budget.usd` must be a number from 0"),
    ] {
        world.write("trellis.toml", text);
        let _ = doctor(&[], &env).exits(65).says(words).says("hint:");
    }
}

#[test]
fn a_service_of_ones_own_is_set_in_ones_own_file() {
    let world = World::new();
    let service = Service::start(Box::new(|_| said("ready")));
    let file = format!(
        "[providers.mine]\nlike = \"openai\"\nbase_url = \"{}\"\nkey_variable = \"MINE\"\n[prices.\"mine:m\"]\ninput = 2.0\noutput = 4.0\n",
        service.url
    );
    world.write("home/.config/trellis/trellis.toml", &file);
    let mut command = world.command(&["doctor", "--model", "mine:m"]);
    let ran = Ran::of(command.env("MINE", KEY).output().expect("trellis starts")).exits(0);
    // 700 tokens at 2 and 300 at 4 dollars per million.
    for words in
        ["ok       mine:m: ready", "answered by tiny-1", "700 tokens in, 300 out; $0.002600"]
    {
        assert!(ran.stdout.contains(words), "`{words}` is missing in {}", ran.stdout);
    }
}

#[test]
fn models_are_listed_by_the_service_with_known_prices() {
    let world = World::new();
    let listed = json!({"data": [{"id": "m"}, {"id": "unpriced"}]});
    let service = Service::start(Box::new(move |_| (200, listed.clone())));
    let file = format!(
        "[providers.mine]\nlike = \"openai\"\nbase_url = \"{}\"\nkey_variable = \"MINE\"\n[providers.gone]\nlike = \"ollama\"\nbase_url = \"http://127.0.0.1:1\"\n[prices.\"mine:m\"]\ninput = 2.0\noutput = 4.0\n",
        service.url
    );
    world.write("home/.config/trellis/trellis.toml", &file);
    let mut command = world.command(&["lsp"]);
    command.env("MINE", KEY);
    let mut client = Client::start(command, world.root()).expect("a server");
    client.initialize(&[Encoding::Utf8], &Value::Null, patience()).expect("a handshake");
    let list = call(&mut client, "listModels", json!({ "provider": "mine" }));
    let models = json!([
        { "model": "mine:m", "inputUsd": 2.0, "outputUsd": 4.0 },
        { "model": "mine:unpriced" },
    ]);
    assert_eq!(list["providers"], json!([{ "provider": "mine", "models": models }]));
    // Services that do not answer say why, and have only models with built-in prices.
    for (provider, kind) in [("gone", Value::Null), ("anthropic", json!("noKey"))] {
        let list = call(&mut client, "listModels", json!({ "provider": provider }));
        let unlisted = &list["providers"][0]["unlisted"];
        assert!(unlisted["message"].is_string(), "{list}");
        assert_eq!(unlisted["kind"], kind, "{list}");
    }
    let known = call(&mut client, "listModels", json!({ "provider": "anthropic" }));
    let first = &known["providers"][0]["models"][0];
    assert!(first["inputUsd"].is_number(), "{known}");
}

pub(crate) fn called(name: &str, arguments: &Value) -> (u16, Value) {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    let message = json!({"content": null, "tool_calls": [{"id": "c1", "type": "function", "function": function}]});
    (
        200,
        json!({"model": "tiny-1", "choices": [{"message": message, "finish_reason": "tool_calls"}],
                 "usage": {"prompt_tokens": 700, "completion_tokens": 300}}),
    )
}

/// Replies as a model that searches, tries to edit the tests, fixes the function, and is done.
fn mends_with_tools(question: &Value) -> (u16, Value) {
    let results: Vec<&Value> = question["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .filter(|it| it["role"] == "tool")
        .collect();
    let body = "def f0(x: int) -> int:\n    return x + 1\n";
    match results.len() {
        0 => called("suspects", &json!({})),
        1 => called(
            "edit_file",
            &json!({"path": "tests/test_f0.py", "search": "== 2", "replace": "== 1"}),
        ),
        2 => called(
            "replace_symbol_body",
            &json!({"path": "src/lib/f0.py", "name": "f0", "text": body}),
        ),
        _ => called("done", &json!({"summary": "adds one"})),
    }
}

#[test]
fn a_fix_made_with_tools_is_recorded_and_replayed() {
    let world = World::new();
    plant(&world, 1);
    let service = Service::start(Box::new(|question| {
        if !question["tools"].is_null() {
            return mends_with_tools(question);
        }
        match prompt(question) {
            it if it.contains("VERDICT: A, B or C") => said("A"),
            it if it.contains("Write a pytest module") => grows(question),
            _ => said("```python\ndef f0(x: int) -> int:\n    return x\n```"),
        }
    }));
    let ran =
        generate(&world, &service, &["--fix-with", "tools", "--record", "live.jsonl"]).exits(0);
    assert_eq!(ran.json()["passedByFixes"], json!([0, 1]));
    let calls = world.journal("tool_call");
    let seen: Vec<(&str, bool)> = calls
        .iter()
        .map(|it| (it["name"].as_str().unwrap_or_default(), it["is_error"] == true))
        .collect();
    let expected =
        [("suspects", false), ("edit_file", true), ("replace_symbol_body", false), ("done", false)];
    assert_eq!(seen, expected, "{:#?}", service.asked());
    assert!(world.read("out/src/lib/f0.py").contains("return x + 1"));
    let tree = world.tree();
    std::fs::remove_dir_all(world.out()).expect("removed");
    let again = ["--fix-with", "tools", "--model", "recorded:live.jsonl"];
    let _ = generate(&world, &service, &again).exits(0);
    let told = |tree: std::collections::BTreeMap<String, String>| -> Vec<(String, String)> {
        tree.into_iter().filter(|(path, _)| path.ends_with(".py")).collect()
    };
    assert_eq!(told(world.tree()), told(tree));
}

/// Replies as a model that searches for missing names, and never changes anything.
fn looks_in_vain(question: &Value) -> (u16, Value) {
    let messages = question["messages"].as_array().expect("messages");
    let results: Vec<&Value> = messages.iter().filter(|it| it["role"] == "tool").collect();
    let said = results.last().map(|it| it["content"].to_string()).unwrap_or_default();
    match said.contains("LocalizationExhausted") {
        true => called("done", &json!({"summary": "I cannot find it"})),
        false => called("find_symbol", &json!({"name": format!("nowhere_{}", results.len())})),
    }
}

/// Starts a service that gives a wrong implementation, and fixes it with `with_tools`.
fn wrong_at_first(with_tools: fn(&Value) -> (u16, Value)) -> Service {
    Service::start(Box::new(move |question| {
        if !question["tools"].is_null() {
            return with_tools(question);
        }
        match prompt(question) {
            it if it.contains("VERDICT: A, B or C") => said("A"),
            it if it.contains("Write a pytest module") => grows(question),
            _ => said("```python\ndef f0(x: int) -> int:\n    return x\n```"),
        }
    }))
}

#[test]
fn a_model_that_only_looks_around_uses_up_the_attempts_of_its_iteration() {
    let world = World::new();
    plant(&world, 1);
    let service = wrong_at_first(looks_in_vain);
    let summary = generate(&world, &service, &["--fix-with", "tools"]).exits(2).json();
    let reason = summary["failures"]["f0"].as_str().expect("a reason");
    assert!(reason.starts_with("needs_human: LocalizationExhausted: 20 attempts"), "{reason}");
    let looked = world.journal("tool_call").iter().filter(|it| it["name"] == "find_symbol").count();
    let searched = world.journal("localization").len();
    assert!(searched > 0);
    assert_eq!(searched + looked, 21, "the 21st is refused");
    let page = world.read("out/.trellis/debug/f0.md");
    assert!(page.contains("nowhere_0") && page.contains("LocalizationExhausted"), "{page}");
}

/// The second request for a fix lists the fruitless searches of the first conversation.
#[test]
fn what_a_model_looked_for_in_vain_is_told_to_the_next_iteration() {
    let world = World::new();
    plant(&world, 1);
    let service = wrong_at_first(|question| {
        let told = "symbol lookup: nowhere";
        let all = question["messages"].to_string();
        let is_told = all.contains(told);
        let messages = question["messages"].as_array().expect("messages");
        let results = messages.iter().filter(|it| it["role"] == "tool").count();
        let body = if is_told { "x + 1" } else { "x + 7" };
        let text = format!("def f0(x: int) -> int:\n    return {body}\n");
        match results {
            0 if is_told => {
                assert!(all.contains("Looked for in vain"), "{question:#}");
                called(
                    "replace_symbol_body",
                    &json!({"path": "src/lib/f0.py", "name": "f0", "text": text}),
                )
            }
            0 => called("find_symbol", &json!({"name": "nowhere"})),
            1 if !is_told => called(
                "replace_symbol_body",
                &json!({"path": "src/lib/f0.py", "name": "f0", "text": text}),
            ),
            _ => called("done", &json!({"summary": "it adds"})),
        }
    });
    let ran = generate(&world, &service, &["--fix-with", "tools"]).exits(0);
    assert_eq!(ran.json()["passedByFixes"], json!([0, 0, 1]));
}

#[test]
fn cut_off_replies_without_counts_are_counted_as_the_room_they_took() {
    let world = World::new();
    plant(&world, 1);
    let service = Service::start(Box::new(|_| {
        let choice = json!({"message": {"content": "```python\ndef"}, "finish_reason": "length"});
        (200, json!({"choices": [choice]}))
    }));
    let _ = generate(&world, &service, &["--budget-tokens", "60000"]).exits(69);
    assert!(tokens(&world) > 8_192 + 32_768 && tokens(&world) <= 60_000, "{}", tokens(&world));
    assert!(service.asked().len() <= 3);
}

#[test]
fn settings_that_are_no_file_are_refused_at_once() {
    let world = World::new();
    let pipe = world.root().join("trellis.toml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let _ = world.trellis(&["doctor", "--model", "openai:x"]).exits(65).says("not a file");
    std::fs::remove_file(&pipe).expect("removed");
    let recording = format!("recorded:{}", "/dev/zero");
    let _ = world.trellis(&["doctor", "--model", &recording]).exits(69).says("not a file");
}
