//! The stream of `trellis lsp`, byte by byte: every request gets one response, and only its end
//! ends the stream.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use ::lsp::{Raw, frame, patience, uri_of};
use serde_json::{Value, json};

use crate::random::Random;
use crate::world::World;

pub(crate) fn raw(world: &World) -> Raw {
    Raw::start(world.command(&["lsp"]), world.root())
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

pub(crate) fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn initialize(world: &World, options: Value) -> Value {
    let params = json!({ "processId": null, "rootUri": uri_of(world.root()), "capabilities": {}, "initializationOptions": options });
    request("first", "initialize", params)
}

/// Starts and initializes a server.
pub(crate) fn greeted(world: &World, options: Value) -> Raw {
    let mut raw = raw(world);
    raw.send(&initialize(world, options));
    assert_eq!(raw.answer(patience())["id"], "first");
    raw.send(&notification("initialized", json!({})));
    raw
}

/// Returns all responses up to that of a query sent now, which must be right; and `more` that may
/// come later.
fn answers(raw: &mut Raw, more: usize) -> Vec<Value> {
    raw.send(&request("probe", "workspace/symbol", json!({ "query": "Cart" })));
    let (mut all, mut probed) = (Vec::new(), false);
    while !probed || all.len() < more {
        let answer = raw.answer(patience());
        if answer["id"] == "probe" {
            assert_eq!(answer["result"][0]["name"], "Cart", "{answer}");
            probed = true;
        } else {
            all.push(answer);
        }
    }
    all
}

fn world() -> World {
    let world = World::new();
    world.write("a.py", "class Cart:\n    def total(self):\n        return 1\n");
    world
}

/// Returns the code of an error; 0 for a result.
fn code(answer: &Value) -> i64 {
    assert_ne!(answer.get("result").is_some(), answer.get("error").is_some(), "{answer}");
    assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
    answer["error"]["code"].as_i64().unwrap_or_default()
}

/// Returns processes with a given parent or command line.
pub(crate) fn processes(wanted: impl Fn(u32, &str) -> bool) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("/proc").flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|it| it.parse::<u32>().ok()) else {
            continue;
        };
        // A process that ends meanwhile is skipped.
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let rest: Vec<&str> =
            stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let parent = rest.get(1).and_then(|it| it.parse().ok()).unwrap_or_default();
        if rest.first() != Some(&"Z") && wanted(parent, &String::from_utf8_lossy(&command)) {
            found.push(id);
        }
    }
    found
}

/// Returns a value of `/proc/ID/status`, in bytes.
pub(crate) fn memory(process: u32, what: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("a process");
    let line = status.lines().find(|it| it.starts_with(what)).expect("a figure");
    line.split_whitespace().nth(1).and_then(|it| it.parse::<u64>().ok()).expect("a number") << 10
}

#[test]
fn requests_are_answered_once_and_as_the_phase_has_it() {
    let world = world();
    let mut raw = raw(&world);
    let symbols = || request(1, "workspace/symbol", json!({ "query": "" }));
    for early in
        [symbols(), request(1, "trellis/jobs", json!({})), request(1, "no/such", json!({}))]
    {
        raw.send(&early);
        let answer = raw.answer(patience());
        assert_eq!((code(&answer), &answer["id"]), (-32002, &json!(1)), "{answer}");
    }
    raw.send(&notification("textDocument/didOpen", json!({})));
    raw.send(&initialize(&world, Value::Null));
    // The next messages depend on it.
    let table = [
        (initialize(&world, Value::Null), -32600),
        (request(2, "no/such", json!({})), -32601),
        (request(2, "trellis/noSuch", json!({})), -32601),
        (request(2, "$/noSuch", json!({})), -32601),
        (request(2, "$/cancelRequest", json!({ "id": 1 })), -32601),
        (request(2, "textDocument/didOpen", json!({})), -32600),
        (request(2, "workspace/symbol", json!({})), -32602),
        (request(2, "workspace/symbol", json!({ "query": 7 })), -32602),
        (request(2, "workspace/symbol", json!(7)), -32602),
        (request(2, "workspace/symbol", Value::Null), -32602),
        (json!({ "jsonrpc": "2.0", "id": 2, "method": "workspace/symbol" }), -32602),
        (request(2, "textDocument/rename", json!({ "textDocument": [] })), -32602),
        (request("", "trellis/jobs", json!({})), 0),
        (request(Value::Null, "trellis/jobs", json!({})), 0),
        (request(-7, "trellis/jobs", json!({})), 0),
        (request(i64::MAX, "trellis/jobs", json!({})), 0),
        (request("x".repeat(10_000), "trellis/jobs", json!({})), 0),
        (request(1.5, "trellis/jobs", json!({})), -32600),
        (request(u64::MAX, "trellis/jobs", json!({})), -32600),
        (request(json!([1]), "trellis/jobs", json!({})), -32600),
        (json!({ "jsonrpc": "2.0", "id": 2, "method": 7 }), -32600),
        (json!({ "id": 2, "method": "trellis/jobs" }), -32600),
        (json!([symbols()]), -32600),
        (json!([]), -32600),
        (json!("hello"), -32600),
    ];
    assert_eq!(code(&raw.answer(patience())), 0);
    for (message, wanted) in &table {
        raw.send(message);
        let answers = answers(&mut raw, 1);
        let said: Vec<i64> = answers.iter().map(code).collect();
        assert_eq!(said, [*wanted], "{message}: {answers:?}");
        let id = &answers[0]["id"];
        let known = message["id"].is_string() || message["id"].is_i64();
        assert_eq!(*id, if known { message["id"].clone() } else { Value::Null }, "{message}");
    }
    for silent in [
        notification("no/such", json!({})),
        notification("$/noSuch", json!([1, 2])),
        notification("textDocument/didOpen", json!({ "textDocument": 7 })),
        notification("textDocument/didChange", Value::Null),
        notification("workspace/symbol", json!({ "query": "" })),
        notification("trellis/jobs", json!({})),
        notification("shutdown", Value::Null),
        notification("$/cancelRequest", json!({ "id": "none" })),
        notification("$/cancelRequest", json!({ "id": { "a": 1 } })),
        json!({ "jsonrpc": "2.0", "id": "nobody asked", "result": 1 }),
        json!({ "jsonrpc": "2.0", "id": 99, "error": { "code": 1, "message": "no" } }),
        json!({ "jsonrpc": "2.0", "id": 99, "error": "no" }),
    ] {
        raw.send(&silent);
        let said = answers(&mut raw, 0);
        assert_eq!(said, Vec::<Value>::new(), "{silent}");
    }
    // Some clients send empty parameters where there are none.
    raw.send(&request(3, "shutdown", json!({})));
    let answer = raw.answer(patience());
    assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": 3, "result": null }));
    for late in [symbols(), request(1, "no/such", json!({})), request(1, "shutdown", Value::Null)] {
        raw.send(&late);
        assert_eq!(code(&raw.answer(patience())), -32600, "{late}");
    }
    raw.send(&notification("exit", Value::Null));
    assert_eq!(raw.end(patience()).and_then(|it| it.code()), Some(0), "after shutdown");
    assert_eq!(raw.next(patience()), None, "nothing is said after the end");
}

#[test]
fn an_end_without_shutdown_is_said_by_the_exit_code() {
    let world = world();
    for begun in [false, true] {
        let mut raw = if begun { greeted(&world, Value::Null) } else { raw(&world) };
        raw.send(&notification("exit", Value::Null));
        assert_eq!(raw.end(patience()).and_then(|it| it.code()), Some(1), "greeted: {begun}");
    }
}

#[test]
fn what_is_no_message_is_answered_and_what_follows_it_is_read() {
    let world = world();
    let mut raw = greeted(&world, Value::Null);
    let good = json!({ "jsonrpc": "2.0", "id": "good", "method": "trellis/jobs" }).to_string();
    let with =
        |header: &str, body: &str| [header.as_bytes(), b"\r\n\r\n", body.as_bytes()].concat();
    let length = good.len();
    let mut broken = frame(&json!("ab"));
    let last = broken.len() - 2;
    broken[last] = 0xff;
    let refused: [(&str, Vec<u8>, i64); 12] = [
        ("no length", with("Content-Type: x", &good), -32700),
        ("no header", good.clone().into_bytes(), -32700),
        ("a negative length", with("Content-Length: -5", &good), -32700),
        (
            "a length beyond numbers",
            with("Content-Length: 123456789012345678901234567890", ""),
            -32700,
        ),
        (
            "two lengths",
            with(&format!("Content-Length: {length}\r\nContent-Length: 5"), &good),
            -32700,
        ),
        ("a line without an end", vec![b'x'; 100_000], -32700),
        ("nothing", with("Content-Length: 0", ""), -32700),
        ("half of JSON", with("Content-Length: 5", "{\"a\":"), -32700),
        ("no UTF-8", broken, -32700),
        ("nested too deeply", frame_of(&"[".repeat(200_000)), -32700),
        ("a number", frame_of("7"), -32600),
        (
            "another charset",
            with(&format!("Content-Type: x; charset=utf-16\r\nContent-Length: {length}"), &good),
            -32600,
        ),
    ];
    for (what, bytes, wanted) in refused {
        raw.send_bytes(bytes);
        let said = answers(&mut raw, 1);
        assert!(!said.is_empty() && said.iter().all(|it| it["id"].is_null()), "{what}: {said:?}");
        assert_eq!(code(&said[0]), wanted, "{what}: {said:?}");
        assert!(said[0]["error"]["data"]["hint"].is_string(), "{what}: {said:?}");
    }
    let taken = [
        ("lone line feeds", format!("Content-Length: {length}\n\n{good}")),
        ("small letters", format!("content-length:{length}\r\n\r\n{good}")),
        ("other headers", format!("X-A: 1\r\nContent-Length: {length}\r\nX-B: 2\r\n\r\n{good}")),
        (
            "a charset",
            format!(
                "Content-Length: {length}\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n{good}"
            ),
        ),
        (
            "the same length twice",
            format!("Content-Length: {length}\r\nContent-Length: {length}\r\n\r\n{good}"),
        ),
    ];
    for (what, bytes) in taken {
        raw.send_bytes(bytes.into_bytes());
        let said = answers(&mut raw, 1);
        assert_eq!((said.len(), &said[0]["id"]), (1, &json!("good")), "{what}: {said:?}");
    }
}

fn frame_of(body: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[test]
fn large_messages_are_bounded_and_promised_ones_cost_nothing() {
    let world = world();
    let mut raw = greeted(&world, Value::Null);
    let open = |size: usize| {
        let text = format!("class Large: ...\n# {}\n", "x".repeat(size));
        let uri = uri_of(&world.root().join(format!("large{size}.py")));
        let document = json!({ "uri": uri, "languageId": "python", "version": 1, "text": text });
        notification("textDocument/didOpen", json!({ "textDocument": document }))
    };
    raw.send(&open(100 << 20));
    let said = answers(&mut raw, 1);
    assert_eq!(said.iter().map(code).collect::<Vec<_>>(), [-32600], "{said:?}");
    assert!(said[0]["error"]["message"].to_string().contains("the limit is 33554432"), "{said:?}");
    let peak = memory(raw.process_id(), "VmHWM");
    assert!(peak < 150 << 20, "{peak} bytes for a message that was refused");
    // A text that large is kept without parsing; a later, smaller version is parsed.
    raw.send(&open(20 << 20));
    let uri = uri_of(&world.root().join(format!("large{}.py", 20 << 20)));
    let change = json!([{ "text": "class Large: ...\n" }]);
    let document = json!({ "uri": uri, "version": 2 });
    let params = json!({ "textDocument": document, "contentChanges": change });
    raw.send(&notification("textDocument/didChange", params));
    raw.send(&request(1, "workspace/symbol", json!({ "query": "Large" })));
    let found = raw.answer(patience());
    assert_eq!(found["result"][0]["name"], "Large", "{found}");
    let peak = memory(raw.process_id(), "VmHWM");
    assert!(peak < 500 << 20, "{peak} bytes for a message of 20 MiB");
    raw.send_bytes(b"Content-Length: 10000000000\r\n\r\n{\"jsonrpc\":".to_vec());
    let answer = raw.answer(patience());
    assert_eq!((code(&answer), &answer["id"]), (-32600, &Value::Null), "{answer}");
    let after = memory(raw.process_id(), "VmHWM");
    assert!(after < peak + (10 << 20), "{after} bytes after {peak}");
    raw.close_input();
    assert!(raw.end(patience()).is_some_and(|it| it.success()));
}

/// Returns a conversation with all kinds of messages, and the end offset of each.
fn conversation(world: &World) -> (Vec<u8>, Vec<usize>) {
    let uri = uri_of(&world.root().join("a.py"));
    let document = json!({ "uri": uri });
    let at = json!({ "textDocument": document, "position": { "line": 0, "character": 6 } });
    let text = "class Cart:\n    pass\n";
    let opened = json!({ "uri": uri, "languageId": "python", "version": 1, "text": text });
    let place = json!({ "line": 1, "character": 4 });
    let change = json!({ "range": { "start": place, "end": place }, "text": "pass; " });
    let changed =
        json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [change] });
    let mut messages = vec![
        initialize(world, Value::Null),
        notification("initialized", json!({})),
        notification("textDocument/didOpen", json!({ "textDocument": opened })),
        notification("textDocument/didChange", changed),
        request(1, "textDocument/documentSymbol", json!({ "textDocument": document })),
        request(2, "textDocument/definition", at.clone()),
        request(3, "trellis/findSymbol", json!({ "namePath": "Cart" })),
        request(4, "trellis/runTests", json!({ "testPath": "tests", "sandbox": "local" })),
        notification("$/cancelRequest", json!({ "id": 4 })),
        request(5, "workspace/symbol", json!({ "query": "Cart" })),
        json!({ "jsonrpc": "2.0", "id": 6, "method": "shutdown" }),
    ];
    messages.push(notification("exit", Value::Null));
    let (mut bytes, mut ends) = (Vec::new(), vec![0]);
    for message in &messages {
        bytes.extend(frame(message));
        ends.push(bytes.len());
    }
    (bytes, ends)
}

#[test]
fn a_conversation_may_break_off_anywhere() {
    let world = world();
    world.write("tests/test_a.py", "import time\n\n\ndef test_a():\n    time.sleep(600)\n");
    let (bytes, mut cuts) = conversation(&world);
    let whole = cuts.len() - 1;
    let mut random = Random(7);
    cuts.extend((0..16).map(|_| random.index(bytes.len())));
    for (number, cut) in cuts.into_iter().enumerate() {
        let mut raw = raw(&world);
        raw.send_bytes(bytes[..cut].to_vec());
        if number % 2 == 0 {
            // Nobody reads either.
            raw.close_output();
        }
        raw.close_input();
        let id = raw.process_id();
        let status = raw.end(patience()).unwrap_or_else(|| panic!("cut at {cut}, it goes on"));
        assert!(status.success(), "cut at {cut} of {}: {status}, {whole}", bytes.len());
        assert_eq!(processes(|parent, _| parent == id), Vec::<u32>::new(), "cut at {cut}");
    }
}

#[test]
fn a_server_that_nobody_reads_ends_and_one_that_is_read_late_goes_on() {
    let world = world();
    let mut gone = greeted(&world, Value::Null);
    gone.close_output();
    let mut ended = None;
    // A request being read is completed; later ones have no reader.
    for id in 1..=1000 {
        gone.send(&request(id, "workspace/symbol", json!({ "query": "" })));
        ended = gone.end(Duration::from_millis(60));
        if ended.is_some() {
            break;
        }
    }
    assert!(ended.is_some_and(|it| it.success()), "its input is still open");

    let mut late = raw(&world);
    late.send(&initialize(&world, Value::Null));
    late.send(&notification("initialized", json!({})));
    let pending = 10_000;
    for id in 0..pending {
        late.send(&request(id, "workspace/symbol", json!({ "query": "Cart" })));
    }
    assert!(late.is_taken_in(patience()), "it waits for being read before it reads");
    assert_eq!(late.answer(patience())["id"], "first");
    let mut seen = BTreeSet::new();
    for _ in 0..pending {
        let answer = late.answer(patience());
        assert_eq!(answer["result"][0]["name"], "Cart", "{answer}");
        assert!(seen.insert(answer["id"].as_i64()), "two answers: {answer}");
    }
    assert_eq!(answers(&mut late, 0), Vec::<Value>::new(), "each has one answer");
}

#[test]
fn an_id_in_use_is_refused_and_the_first_keeps_its_answer() {
    let world = world();
    let waits = "import pathlib, time\n\n\ndef test_waits():\n    while not pathlib.Path('DONE').exists():\n        time.sleep(0.01)\n";
    let done = world.root().join("done");
    world.write("tests/test_a.py", &waits.replace("DONE", &done.display().to_string()));
    let mut raw = greeted(&world, Value::Null);
    let run = request(7, "trellis/runTests", json!({ "testPath": "tests", "sandbox": "local" }));
    raw.send(&run);
    raw.send(&request(7, "workspace/symbol", json!({ "query": "Cart" })));
    let said = answers(&mut raw, 1);
    assert_eq!(said.iter().map(code).collect::<Vec<_>>(), [-32600], "{said:?}");
    assert_eq!(said[0]["id"], 7);
    raw.send(&notification("$/cancelRequest", json!({ "id": 7 })));
    let said = raw.answer(patience());
    assert_eq!((code(&said), &said["id"]), (-32800, &json!(7)), "{said}");
    // The id can be used again.
    raw.send(&request(7, "trellis/jobs", json!({})));
    let said = raw.answer(patience());
    assert_eq!((code(&said), &said["id"]), (0, &json!(7)), "{said}");
}

/// Returns every method of Trellis, and whether it executes something.
fn methods(world: &World) -> BTreeMap<String, bool> {
    let described = world.trellis(&["serve", "--describe"]).exits(0).json();
    let all = described["methods"].as_array().expect("methods").iter();
    let method = |it: &Value| {
        let name = it["name"].as_str().expect("a name").to_owned();
        (name, it["x-effect"] == "runs")
    };
    all.map(method).collect()
}

#[test]
fn parameters_that_no_method_has_are_refused_and_distrust_lets_nothing_run() {
    let world = world();
    let mut raw = greeted(&world, json!({ "trusted": false }));
    let methods = methods(&world);
    let running: Vec<&str> = methods.iter().filter(|it| *it.1).map(|it| it.0.as_str()).collect();
    for wanted in ["trellis/generate", "trellis/runTests", "trellis/retryNode", "trellis/localize"]
    {
        assert!(running.contains(&wanted), "{wanted} is missing in {running:?}");
    }
    assert!(methods.len() >= 35, "{methods:?}");
    let mut call = |method: &str, params: Option<Value>| {
        let mut message = json!({ "jsonrpc": "2.0", "id": 1, "method": method });
        if let Some(params) = params {
            message["params"] = params;
        }
        raw.send(&message);
        raw.answer(patience())
    };
    for (method, runs) in &methods {
        let answer = call(method, None);
        let kind = answer["error"]["data"]["kind"].as_str().unwrap_or_default();
        if *runs {
            assert_eq!((kind, code(&answer)), ("untrusted", 65), "{method}: {answer}");
            continue;
        }
        assert!([0, -32602, 65].contains(&code(&answer)), "{method} without anything: {answer}");
        for wrong in [json!([]), json!(["a", 1]), json!(7), json!("a")] {
            assert_eq!(code(&call(method, Some(wrong.clone()))), -32602, "{method} with {wrong}");
        }
    }
    let mut raw = greeted(&world, Value::Null);
    for method in methods.keys() {
        raw.send(&request(1, method, json!({ "noSuchParameter": 1 })));
        let answer = raw.answer(patience());
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(code(&answer), -32602, "{method}: {answer}");
        assert!(message.contains("noSuchParameter"), "{method}: {answer}");
        assert!(answer["error"]["data"]["hint"].is_string(), "{method}: {answer}");
    }
    raw.send(&request(1, "trellis/generate", json!({ "grph": "rpg.json" })));
    let answer = raw.answer(patience());
    assert!(answer["error"]["data"]["hint"].to_string().contains("`graph`"), "{answer}");
}

impl Random {
    pub(crate) fn index(&mut self, limit: usize) -> usize {
        self.below(limit as u64) as usize
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.index(all.len())]
    }
}

/// Collects every place in a value, as JSON pointers.
fn places(value: &Value, here: &str, all: &mut Vec<String>) {
    all.push(here.to_owned());
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(name, it)| {
                places(it, &format!("{here}/{}", name.replace('/', "~1")), all)
            });
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(at, it)| places(it, &format!("{here}/{at}"), all));
        }
        _ => {}
    }
}

/// Returns a message with a part replaced, as bytes with the right length.
fn distorted(random: &mut Random, corpus: &[Value]) -> Vec<u8> {
    let mut message = random.of(corpus).clone();
    for _ in 0..=random.index(2) {
        let mut all = Vec::new();
        places(&message, "", &mut all);
        let place = random.of(&all).clone();
        let donor = random.of(corpus);
        let mut theirs = Vec::new();
        places(donor, "", &mut theirs);
        let odd = [
            Value::Null,
            json!(-1),
            json!(u64::MAX),
            json!(1e300),
            json!(""),
            json!([]),
            json!({}),
            json!(true),
            json!("x".repeat(300)),
            json!("\u{0}\u{1f600}"),
            json!({ "line": u32::MAX, "character": u32::MAX }),
        ];
        let new = match random.index(3) {
            0 => donor.pointer(random.of(&theirs).as_str()).cloned().unwrap_or_default(),
            _ => random.of(&odd).clone(),
        };
        if let Some(target) = message.pointer_mut(&place) {
            *target = new;
        }
    }
    let mut text = message.to_string();
    if random.index(4) == 0
        && let Some(at) = text.find(',')
    {
        // A field twice.
        let field = text[1..at].to_owned();
        text.insert_str(1, &format!("{field},"));
    }
    frame_of(&text)
}

/// Returns a message with damaged bytes.
fn damaged(random: &mut Random, corpus: &[Value]) -> Vec<u8> {
    let mut bytes = frame(random.of(corpus));
    match random.index(4) {
        0 => bytes.truncate(random.index(bytes.len())),
        1 => {
            for _ in 0..=random.index(4) {
                let at = random.index(bytes.len());
                bytes[at] ^= 1 << random.index(8);
            }
        }
        2 => {
            let other = frame(random.of(corpus));
            let (at, from) = (random.index(bytes.len()), random.index(other.len()));
            bytes.truncate(at);
            bytes.extend(&other[from..]);
        }
        _ => {
            // Only the body, so that the frame stays valid.
            let start = bytes.windows(4).position(|it| it == b"\r\n\r\n").unwrap_or_default() + 4;
            let at = start + random.index(bytes.len() - start);
            bytes[at] = random.index(256) as u8;
        }
    }
    bytes
}

/// Returns whether a mutation announces no more bytes than the filling before a probe has.
fn is_bounded(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).to_lowercase();
    let promised = text
        .split("content-length:")
        .skip(1)
        .map(|rest| rest.trim_start().chars().take_while(char::is_ascii_digit).count());
    promised.max().unwrap_or_default() < 5
}

#[test]
fn ten_thousand_mutated_messages_leave_the_server_alive_and_right() {
    let world = world();
    let uri = uri_of(&world.root().join("a.py"));
    let at = json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 6 } });
    let mut rename = at.clone();
    rename["newName"] = "Basket".into();
    let change = json!({ "range": { "start": { "line": 1, "character": 0 }, "end": { "line": 1, "character": 2 } }, "text": "é" });
    let opened = json!({ "uri": uri, "languageId": "python", "version": 1, "text": "class Cart:\n    pass\n" });
    let mut corpus = vec![
        initialize(&world, json!({ "trusted": false })),
        notification("initialized", json!({})),
        notification("textDocument/didOpen", json!({ "textDocument": opened })),
        notification(
            "textDocument/didChange",
            json!({ "textDocument": { "uri": uri, "version": 2 }, "contentChanges": [change] }),
        ),
        notification("textDocument/didSave", json!({ "textDocument": { "uri": uri } })),
        notification("textDocument/didClose", json!({ "textDocument": { "uri": uri } })),
        notification(
            "workspace/didChangeWatchedFiles",
            json!({ "changes": [{ "uri": uri, "type": 2 }] }),
        ),
        notification(
            "workspace/didChangeConfiguration",
            json!({ "settings": { "trellis": { "trusted": false } } }),
        ),
        notification("$/cancelRequest", json!({ "id": 1 })),
        json!({ "jsonrpc": "2.0", "id": 0, "result": null }),
        json!({ "jsonrpc": "2.0", "id": 0, "error": { "code": 1, "message": "no" } }),
        request("s", "workspace/symbol", json!({ "query": "Cart" })),
        request(4, "textDocument/rename", rename),
        request(
            5,
            "workspace/executeCommand",
            json!({ "command": "trellis.runTests", "arguments": [{}] }),
        ),
        request(6, "trellis/findSymbol", json!({ "namePath": "Cart", "body": true, "depth": 1 })),
        request(7, "trellis/generate", json!({ "graph": "none.json", "out": "out", "jobs": 2 })),
        request(
            8,
            "trellis/renameSymbol",
            json!({ "namePath": "Cart", "newName": "Basket", "dryRun": true }),
        ),
    ];
    for (number, method) in ["documentSymbol", "codeLens", "foldingRange"].iter().enumerate() {
        corpus.push(request(
            number + 10,
            &format!("textDocument/{method}"),
            json!({ "textDocument": { "uri": uri } }),
        ));
    }
    for (number, method) in
        ["definition", "references", "hover", "prepareRename", "codeAction"].iter().enumerate()
    {
        corpus.push(request(number + 20, &format!("textDocument/{method}"), at.clone()));
    }
    // With a wrong parameter, so that methods that execute something do not.
    for (number, method) in methods(&world).keys().enumerate() {
        corpus.push(request(
            number + 30,
            method,
            json!({ "root": ".", "job": "job-1", "namePath": "Cart" }),
        ));
    }
    let rounds = rounds();
    for seed in 1..=4_u64 {
        let mut random = Random(seed);
        // Nothing is executed: the fuzzer could otherwise run tests of the real folder.
        let mut raw = greeted(&world, json!({ "trusted": false }));
        for batch in 0..rounds / 100 {
            let mut sent = 0;
            while sent < 100 {
                let bytes = match random.index(3) {
                    0 => damaged(&mut random, &corpus),
                    _ => distorted(&mut random, &corpus),
                };
                if is_bounded(&bytes) {
                    // Digits of the next message must not become part of a length.
                    raw.send_bytes([&bytes[..], b" "].concat());
                    sent += 1;
                }
            }
            revived(&mut raw, &format!("{batch} of seed {seed}"));
        }
        raw.send(&json!({ "jsonrpc": "2.0", "id": "end", "method": "shutdown" }));
        while raw.answer(patience())["id"] != "end" {}
        raw.send(&notification("exit", Value::Null));
        while raw.next(patience()).is_some() {}
        assert!(raw.end(patience()).is_some_and(|it| it.success()), "seed {seed}");
    }
}

/// Returns the number of messages for each of four servers; `cargo xtask soak fuzz` sends more.
fn rounds() -> usize {
    std::env::var("TRELLIS_FUZZ_ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(600)
}

/// Asserts that a query is answered after anything before it; an incomplete message swallows what
/// follows up to its length.
fn revived(raw: &mut Raw, which: &str) {
    // No mutation announces more than this. Sent twice: the first may become the end of a header
    // that was cut in its length.
    let mut filling = vec![b' '; 10_000];
    filling.extend(b"\r\n\r\n");
    raw.send_bytes(filling.repeat(2));
    let probe = format!("probe {which}");
    raw.send(&request(probe.clone(), "trellis/validateSyntax", json!({ "code": "x = 1" })));
    loop {
        let message = raw.next(patience());
        let message = message.unwrap_or_else(|| panic!("the server ended in batch {which}"));
        if message["id"] == *probe {
            assert_eq!(message["result"]["valid"], true, "batch {which}: {message}");
            return;
        }
    }
}
