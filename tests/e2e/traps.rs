//! Typical failures of such servers: changes out of order, and two sides that wait for each other.

use std::collections::BTreeSet;

use ::lsp::{Raw, patience, uri_of};
use serde_json::{Value, json};

use crate::protocol::{greeted, memory, notification, request};
use crate::random::Random;
use crate::world::World;

fn opened(raw: &Raw, uri: &str, text: &str) {
    let document = json!({ "uri": uri, "languageId": "python", "version": 0, "text": text });
    raw.send(&notification("textDocument/didOpen", json!({ "textDocument": document })));
}

fn changed(raw: &Raw, uri: &str, version: usize, changes: Value) {
    let document = json!({ "uri": uri, "version": version });
    let params = json!({ "textDocument": document, "contentChanges": changes });
    raw.send(&notification("textDocument/didChange", params));
}

/// Inserts, deletes or replaces a line, locally and in the returned change.
fn change(random: &mut Random, lines: &mut Vec<String>, name: usize) -> Value {
    let at = random.index(lines.len() + 1);
    let place = |line: usize, character: usize| json!({ "line": line, "character": character });
    let new = format!("v{name} = 'é🙂'\n");
    match random.index(3) {
        0 if at < lines.len() => {
            lines.remove(at);
            json!({ "range": { "start": place(at, 0), "end": place(at + 1, 0) }, "text": "" })
        }
        1 if at < lines.len() => {
            // The digits of the name, which begin in column 1.
            let end = lines[at].find(' ').expect("a name");
            lines[at].replace_range(1..end, &name.to_string());
            json!({ "range": { "start": place(at, 1), "end": place(at, end) }, "text": name.to_string() })
        }
        _ => {
            lines.insert(at, new.clone());
            json!({ "range": { "start": place(at, 0), "end": place(at, 0) }, "text": new })
        }
    }
}

#[test]
fn a_thousand_rapid_changes_end_with_the_text_the_client_has() {
    let world = World::new();
    let mut raw = greeted(&world, Value::Null);
    let uri = uri_of(&world.root().join("new.py"));
    opened(&raw, &uri, "");
    let (mut random, mut lines) = (Random(1), Vec::<String>::new());
    let mut wanted = Vec::new();
    let names = |lines: &[String]| -> Vec<String> {
        lines.iter().map(|it| it.split(' ').next().unwrap_or_default().to_owned()).collect()
    };
    let mut name = 0;
    for version in 1..=1000 {
        // Ranges of later changes refer to the text after earlier ones of the same message.
        let count = 1 + random.index(3);
        let changes: Vec<Value> = (0..count)
            .map(|_| {
                name += 1;
                change(&mut random, &mut lines, name)
            })
            .collect();
        changed(&raw, &uri, version, changes.into());
        if version % 5 == 0 {
            let id = wanted.len();
            let params = json!({ "textDocument": { "uri": uri } });
            raw.send(&request(id, "textDocument/documentSymbol", params));
            wanted.push(names(&lines));
        }
    }
    raw.send(&request("all", "trellis/documentSymbols", json!({ "file": "new.py" })));
    let mut left = wanted.len() + 1;
    while left > 0 {
        let answer = raw.answer(patience());
        left -= 1;
        if answer["id"] == "all" {
            let text = answer["result"].to_string();
            for name in names(&lines) {
                assert!(text.contains(&format!("\"{name}\"")), "{name} is missing in {text}");
            }
            continue;
        }
        let id = answer["id"].as_u64().expect("an id") as usize;
        let found = answer["result"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
        let found: Vec<&str> = found.filter_map(|it| it["name"].as_str()).collect();
        // A name that is assigned twice appears twice in both.
        assert_eq!(found, wanted[id], "asked after change {}", (id + 1) * 5);
    }
}

#[test]
fn questions_to_a_client_that_floods_and_reads_slowly_do_not_lock() {
    let world = World::new();
    let mut raw = greeted(&world, Value::Null);
    let uri = uri_of(&world.root().join("new.py"));
    opened(&raw, &uri, "x = 0\n");
    let questions = 20;
    let line = "# é\n".repeat(2_000);
    let mut version = 0;
    let mut flood = |raw: &Raw, changes: usize| {
        for _ in 0..changes {
            version += 1;
            let text = format!("x{version} = 0\n{line}");
            changed(raw, &uri, version, json!([{ "text": text }]));
            // The responses together are larger than a pipe.
            raw.send(&request(format!("s{version}"), "workspace/symbol", json!({ "query": "x" })));
        }
    };
    for id in 0..questions {
        raw.send(&request(id, "trellis/tryModel", json!({ "model": "editor:any" })));
        flood(&raw, 20);
    }
    // Nothing has been read so far, and all input was accepted: 20 requests of the server wait to
    // be read.
    assert!(
        raw.is_taken_in(patience()),
        "the server waits for the client, which waits for the server"
    );
    let (mut asked, mut tried, mut answered) = (0, BTreeSet::new(), 0);
    while asked < questions || tried.len() < questions || answered < questions * 21 {
        let message = raw.next(patience()).expect("the server is gone");
        match message["method"].as_str() {
            Some("trellis/askModel") => {
                // Each reply comes after another flood.
                flood(&raw, 5);
                answered = answered.saturating_sub(5);
                let text = format!("I am {asked}");
                let result = json!({ "text": text, "toolCalls": [] });
                raw.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
                asked += 1;
            }
            Some("trellis/modelTried") => {
                assert_eq!(message["params"]["ok"], true, "{message}");
                tried.insert(message["params"]["reply"].to_string());
            }
            Some(_) => {}
            None => answered += 1,
        }
    }
}

#[test]
fn a_client_that_reads_events_slowly_costs_little_and_hears_the_end() {
    let world = World::new();
    world.write("pytest.ini", "[pytest]\n");
    let many = 3_000;
    let text = format!(
        "import pytest\n\n\n@pytest.mark.parametrize('it', range({many}))\ndef test_it(it): ...\n"
    );
    world.write("tests/test_a.py", &text);
    let mut raw = greeted(&world, Value::Null);
    let run = json!({ "testPath": "tests", "sandbox": "local", "background": true });
    for id in 0..2 {
        raw.send(&request(id, "trellis/runTests", run.clone()));
    }
    let before = memory(raw.process_id(), "VmRSS");
    // Thousands of events go to a client that reads only occasionally.
    let (mut done, mut told) = (0, 0);
    while done < 2 {
        let message = raw.next(patience()).expect("the server is gone");
        let event = &message["params"];
        match event["type"].as_str() {
            Some("job") if event["state"] != "running" => {
                assert_eq!(event["state"], "done", "{message}");
                done += 1;
            }
            Some("test") => told += 1,
            Some("missed") => told += event["count"].as_u64().expect("a number"),
            _ => {}
        }
    }
    assert!(told <= 2 * many, "{told} of {many} tests twice");
    assert!(told > 0, "no test was told");
    let peak = memory(raw.process_id(), "VmHWM");
    assert!(peak < before + (200 << 20), "{peak} bytes for {told} events, {before} before");
}
