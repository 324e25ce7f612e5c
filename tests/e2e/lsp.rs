//! `trellis lsp` as an editor uses it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use ::lsp::{Client, Encoding, Failure, FileEvent, Place, Texts, patience, uri_of};
use serde_json::{Value, json};

use crate::world::{World, binary};

fn started(world: &World, encodings: &[Encoding]) -> Client {
    let mut command = Command::new(binary());
    command.arg("lsp");
    let mut client = Client::start(command, world.root()).expect("a server");
    client.initialize(encodings, &Value::Null, patience()).expect("a handshake");
    client
}

/// Returns the symbols of a name as `file:line:column`, from 0.
fn symbols(client: &mut Client, name: &str) -> Vec<String> {
    let all = client.request("workspace/symbol", json!({ "query": name }), patience());
    let all = all.expect("symbols");
    let place = |it: &Value| {
        let uri = it["location"]["uri"].as_str().expect("a uri");
        let start = &it["location"]["range"]["start"];
        let file = uri.rsplit('/').next().unwrap_or_default();
        format!("{file}:{}:{}", start["line"], start["character"])
    };
    all.as_array().expect("a list").iter().map(place).collect()
}

fn outline(client: &mut Client, file: &Path) -> Vec<String> {
    let params = json!({ "textDocument": { "uri": uri_of(file) } });
    let all = client.request("textDocument/documentSymbol", params, patience()).expect("symbols");
    fn names(all: &Value, before: &str) -> Vec<String> {
        let name = |it: &Value| format!("{before}{}", it["name"].as_str().unwrap_or_default());
        let below = |it: &Value| names(&it["children"], &format!("{}/", name(it)));
        let each = |it| [vec![name(it)], below(it)].concat();
        all.as_array().into_iter().flatten().flat_map(each).collect()
    }
    names(&all, "")
}

#[test]
fn what_changes_is_in_the_next_answer() {
    let world = World::new();
    world.write("pkg/a.py", "class Cart:\n    def total(self): ...\n");
    world.write("pkg/.gitignore", "built\n");
    world.write("pkg/built/b.py", "def total(): ...\n");
    world.write("venv/pyvenv.cfg", "");
    world.write("venv/lib/c.py", "def total(): ...\n");
    let mut client = started(&world, &[Encoding::Utf8]);
    assert_eq!(symbols(&mut client, "total"), ["a.py:1:8"]);
    // A new file, a changed one, a new folder, a removed one; the editor reports nothing.
    world.write("pkg/b.py", "\n\ndef total(): ...\n");
    assert_eq!(symbols(&mut client, "total"), ["a.py:1:8", "b.py:2:4"]);
    world.write("pkg/b.py", "def subtotal(): ...\n");
    assert_eq!(symbols(&mut client, "TOTAL"), ["a.py:1:8", "b.py:0:4"]);
    world.write("deep/er/c.py", "total = 1\n");
    assert_eq!(symbols(&mut client, "total"), ["c.py:0:0", "a.py:1:8", "b.py:0:4"]);
    fs::rename(world.root().join("deep"), world.root().join("moved")).expect("a rename");
    world.write("moved/er/d.py", "total = 1\n");
    let all = symbols(&mut client, "total");
    assert_eq!(all, ["c.py:0:0", "d.py:0:0", "a.py:1:8", "b.py:0:4"]);
    fs::remove_dir_all(world.root().join("moved")).expect("a folder");
    fs::remove_file(world.root().join("pkg/b.py")).expect("a file");
    assert_eq!(symbols(&mut client, "total"), ["a.py:1:8"]);
    // Changed ignore rules apply.
    world.write("pkg/.gitignore", "a.py\n");
    assert_eq!(symbols(&mut client, "total"), ["b.py:0:4"]);
    // The editor's open text overrides the disk until it is closed.
    let file = world.root().join("pkg/built/b.py");
    client.open(&file).expect("a file");
    client.change(&file, "class Other:\n    def subtotal(self): ...\n    def broken(\n");
    assert_eq!(symbols(&mut client, "total"), ["b.py:1:8"]);
    assert_eq!(outline(&mut client, &file), ["Other", "Other/subtotal", "Other/broken"]);
    client.close(&file);
    assert_eq!(symbols(&mut client, "total"), ["b.py:0:4"]);
    client.watched(&file, FileEvent::Changed);
    assert!(client.shutdown().expect("an end").success());
}

#[test]
fn positions_are_right_after_any_character_and_line_end() {
    let text = "\u{feff}a = '\u{1f600}\u{e9}'; b = 1\r\nc = 2\rd = 3\x0c\n\u{e9}t\u{e9} = '\u{1f600}'; e = 4\n";
    let world = World::new();
    world.write("w.py", text);
    // A byte order mark is on no line, and a form feed ends no line.
    for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
        let mut client = started(&world, &[encoding]);
        assert_eq!(client.encoding(), encoding);
        for (name, wanted) in [
            ("b", (0, 10)),
            ("c", (1, 0)),
            ("d", (2, 0)),
            ("\u{c9}t\u{c9}", (3, 0)),
            ("e", (3, 11)),
        ] {
            let found = client.request("workspace/symbol", json!({ "query": name }), patience());
            let found = found.expect("symbols");
            let at = &found[0]["location"]["range"]["start"];
            let line =
                text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
            let line = line.split('\n').nth(wanted.0).expect("a line");
            let units = encoding.units(line, wanted.1);
            assert_eq!(at, &json!({ "line": wanted.0, "character": units }), "{name} {encoding:?}");
        }
    }
}

/// A client that sends without waiting and never responds.
struct Raw {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Raw {
    fn start(root: &Path) -> Raw {
        let mut child = Command::new(binary())
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a server");
        let stdout = BufReader::new(child.stdout.take().expect("stdout"));
        let mut raw = Raw { child, stdout };
        let watching =
            json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } });
        let params =
            json!({ "processId": null, "rootUri": uri_of(root), "capabilities": watching });
        raw.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }));
        assert_eq!(raw.read()["id"], 0);
        raw.send(&json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }));
        raw
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let stdin = self.child.stdin.as_mut().expect("stdin");
        write!(stdin, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("a pipe");
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).expect("a pipe") > 0, "the server is gone");
            match line.trim().strip_prefix("Content-Length: ") {
                Some(number) => length = number.parse().expect("a number"),
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        self.stdout.read_exact(&mut body).expect("a body");
        serde_json::from_slice(&body).expect("JSON")
    }

    /// Returns the results of requests by their ids, from 1 to `last`.
    fn results(&mut self, last: usize) -> Vec<Value> {
        let mut results = vec![Value::Null; last + 1];
        let mut left = last;
        while left > 0 {
            let mut message = self.read();
            if let (Some(id), None) = (message["id"].as_u64(), message["method"].as_str()) {
                results[id as usize] = message["result"].take();
                left -= 1;
            }
        }
        results
    }
}

#[test]
fn each_answer_is_of_the_text_as_it_was_when_asked_and_the_stream_never_waits_for_the_client() {
    let world = World::new();
    let file: PathBuf = world.root().join("new.py");
    // This client never answers the server's request to register for file changes.
    let mut raw = Raw::start(world.root());
    let opened = json!({ "uri": uri_of(&file), "languageId": "python", "version": 0, "text": "" });
    let open = json!({ "textDocument": opened });
    raw.send(&json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": open }));
    let last = 60;
    for id in 1..=last {
        // Each change is inserted at the start, and queries are sent before any is answered.
        let start = json!({ "line": 0, "character": 0 });
        let change =
            json!({ "range": { "start": start, "end": start }, "text": format!("v{id} = 0\n") });
        let document = json!({ "uri": uri_of(&file), "version": id });
        let params = json!({ "textDocument": document, "contentChanges": [change] });
        raw.send(
            &json!({ "jsonrpc": "2.0", "method": "textDocument/didChange", "params": params }),
        );
        let asked = json!({ "textDocument": { "uri": uri_of(&file) } });
        raw.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "textDocument/documentSymbol", "params": asked }));
    }
    for (id, result) in raw.results(last).into_iter().enumerate().skip(1) {
        let names: Vec<&str> = result
            .as_array()
            .expect("symbols")
            .iter()
            .filter_map(|it| it["name"].as_str())
            .collect();
        let wanted: Vec<String> = (1..=id).rev().map(|it| format!("v{it}")).collect();
        assert_eq!(names, wanted, "asked after change {id}");
    }
    drop(raw.child.stdin.take());
    assert!(raw.child.wait().expect("a status").success(), "it ends with its input");
}

#[test]
fn references_and_renames_go_through_files_and_refusals_are_said() {
    let world = World::new();
    world.write("a.py", "class Cart:\n    def total(self): ...\n");
    world.write("b.py", "from a import Cart\r\n'\u{1f600}'; Cart().total()\r\n");
    let mut client = started(&world, &[Encoding::Utf16]);
    let (a, b) = (world.root().join("a.py"), world.root().join("b.py"));
    let mut texts = Texts::default();
    let place = |file: &Path, line, column| Place { file: file.to_owned(), line, column };
    let params = client.references_at(&place(&b, 1, 5), &mut texts);
    let found = client.request("textDocument/references", params, patience()).expect("references");
    let found = client.places(&found, &mut texts).expect("places");
    let wanted = [place(&a, 0, 6), place(&b, 0, 14), place(&b, 1, 5)];
    assert_eq!(found.into_iter().collect::<Vec<_>>(), wanted);
    let params = client.at(&place(&b, 1, 12), &mut texts);
    let defined = client.request("textDocument/definition", params, patience()).expect("a place");
    assert!(client.places(&defined, &mut texts).expect("places").contains(&place(&a, 1, 8)));
    // Edits are for the open version.
    client.open(&b).expect("a file");
    let mut params = client.at(&place(&a, 1, 10), &mut texts);
    let named = client.request("textDocument/prepareRename", params.clone(), patience());
    assert_eq!(named.expect("a name")["placeholder"], "total");
    params["newName"] = "sum_up".into();
    let edit = client.request("textDocument/rename", params.clone(), patience()).expect("an edit");
    let at = |line, from, to| {
        let place = |character| json!({ "line": line, "character": character });
        json!([{ "range": { "start": place(from), "end": place(to) }, "newText": "sum_up" }])
    };
    let changes = json!([
        { "textDocument": { "uri": uri_of(&a), "version": null }, "edits": at(1, 8, 13) },
        { "textDocument": { "uri": uri_of(&b), "version": 1 }, "edits": at(1, 13, 18) },
    ]);
    assert_eq!(edit["documentChanges"], changes);
    params["newName"] = "class".into();
    let refused = client.request("textDocument/rename", params, patience());
    let Err(Failure::Refused { message, code, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!((code, message.as_str()), (-32803, "`class` is a Python keyword"));
    let _ = client
        .request("textDocument/unheardOf", json!({}), patience())
        .expect_err("no such method");
    assert!(client.shutdown().expect("an end").success());
}

#[test]
fn a_rename_warns_of_what_it_leaves() {
    let world = World::new();
    world.write("a.py", "class Cart:\n    def total(self): ...\n\n\ndef show(it): it.total()\n");
    world.write("README.md", "`Cart.total` and `total`\n");
    let mut client = started(&world, &[]);
    let mut texts = Texts::default();
    let place = Place { file: world.root().join("a.py"), line: 1, column: 8 };
    let mut params = client.at(&place, &mut texts);
    params["newName"] = "sum_up".into();
    let _ = client.request("textDocument/rename", params, patience()).expect("an edit");
    let warned = client.notice("window/showMessage", patience()).expect("a warning");
    let wanted = format!(
        "1 more place may mean the renamed symbol and was not changed: {}:5. \
         Files beside the code have the old name in 2 places.",
        world.root().join("a.py").display()
    );
    assert_eq!((&warned["type"], &warned["message"]), (&json!(2), &json!(wanted)));
    assert!(client.shutdown().expect("an end").success());
}

#[test]
fn a_client_that_can_ask_lets_the_person_decide_on_doubtful_places() {
    let world = World::new();
    let code = "class Cart:\n    def total(self): ...\n    def on(self, name): getattr(self, name)()\n\n\ndef show(it): it.total()\n";
    world.write("a.py", code);
    world.write("README.md", "`Cart.total`\n");
    let mut command = Command::new(binary());
    command.arg("lsp");
    let mut client = Client::start(command, world.root()).expect("a server");
    client.can(json!({
        "textDocument": { "rename": { "honorsChangeAnnotations": true } },
        "workspace": { "workspaceEdit": { "changeAnnotationSupport": {} } },
    }));
    client.initialize(&[], &Value::Null, patience()).expect("a handshake");
    let mut rename = |line, column, to: &str, left: &str| {
        let place = Place { file: world.root().join("a.py"), line, column };
        let mut params = client.at(&place, &mut Texts::default());
        params["newName"] = to.into();
        let edit = client.request("textDocument/rename", params, patience()).expect("an edit");
        let warned = client.notice("window/showMessage", patience()).expect("a warning");
        assert!(warned["message"].as_str().is_some_and(|it| it.ends_with(left)), "{warned}");
        edit
    };
    // A place that looks the name up cannot be changed to the new one.
    let edit = rename(1, 8, "sum_up", "/a.py:3.");
    let file = |it: &Value| {
        let edits = it["edits"].as_array().expect("edits").iter();
        edits.map(|it| (it["range"]["start"]["line"].clone(), it["annotationId"].clone())).collect()
    };
    let all: Vec<Vec<(Value, Value)>> =
        edit["documentChanges"].as_array().expect("files").iter().map(file).collect();
    let (object, page) =
        ("the type of the object before the dot is unknown", "the documentation has the name");
    let of_code = vec![(json!(1), Value::Null), (json!(5), json!(object))];
    assert_eq!(all, [vec![(json!(0), json!(page))], of_code], "{edit}");
    let asked = &edit["changeAnnotations"][object];
    assert_eq!(asked["needsConfirmation"], true, "{edit}");
    assert_eq!(asked["label"], format!("Unsure: {object}"));
    // Nobody is asked about documents alone.
    let edit = rename(0, 6, "Basket", "Files beside the code have the old name in 1 place.");
    assert_eq!(edit["changeAnnotations"], Value::Null, "{edit}");
    assert!(client.shutdown().expect("an end").success());
}

#[test]
fn a_deletion_over_the_wire_is_refused_for_files_that_were_not_searched() {
    let world = World::new();
    world.write("a.py", "def used(): ...\ndef unused(): ...\n");
    world.write("start", "#!/usr/bin/env python3\nfrom a import unused\n");
    let mut client = started(&world, &[]);
    let params = json!({ "namePath": "unused", "root": world.root(), "dryRun": true });
    let planned = client.request("trellis/safeDeleteSymbol", params, patience());
    let refusal = planned.expect_err("a refusal").to_string();
    let reason = "start: not searched, its name has no ending, and `unused` is a word there";
    assert!(refusal.contains(reason), "{refusal}");
    assert!(client.shutdown().expect("an end").success());
}
