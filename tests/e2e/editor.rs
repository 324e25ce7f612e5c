//! The workspace in an editor: lenses, hovers, diagnostics, actions, progress.

use std::path::Path;
use std::time::Duration;

use ::lsp::{Client, Encoding, patience, uri_of};
use serde_json::{Value, json};

use crate::runs::{call, editor, ended, start};
use crate::world::{Plot, World};

const REFRESH: &str = "workspace/codeLens/refresh";

fn document(file: &Path) -> Value {
    json!({ "textDocument": { "uri": uri_of(file) } })
}

/// Returns the lenses as `line: title`, lines from 1.
fn lenses(client: &mut Client, file: &Path) -> Vec<String> {
    let shown = |it: &Value| {
        let line = it["range"]["start"]["line"].as_u64().expect("a line") + 1;
        format!("{line}: {}", it["command"]["title"].as_str().expect("a title"))
    };
    all_lenses(client, file).iter().map(shown).collect()
}

fn all_lenses(client: &mut Client, file: &Path) -> Vec<Value> {
    let all = client.request("textDocument/codeLens", document(file), patience()).expect("lenses");
    all.as_array().cloned().unwrap_or_default()
}

fn execute(client: &mut Client, command: &Value) -> Result<Value, String> {
    let params = json!({ "command": command["command"], "arguments": command["arguments"] });
    let answer = client.request("workspace/executeCommand", params, patience());
    answer.map_err(|failure| failure.to_string())
}

/// Types a text at a position, from 0.
fn typed(client: &Client, file: &Path, version: i32, at: (u32, u32), text: &str) {
    replaced(client, file, version, [at, at], text);
}

/// Replaces the text between two positions, from 0.
fn replaced(client: &Client, file: &Path, version: i32, [from, to]: [(u32, u32); 2], text: &str) {
    let at = |(line, character): (u32, u32)| json!({ "line": line, "character": character });
    let change = json!({ "range": { "start": at(from), "end": at(to) }, "text": text });
    let document = json!({ "uri": uri_of(file), "version": version });
    let params = json!({ "textDocument": document, "contentChanges": [change] });
    client.notify("textDocument/didChange", params);
}

/// Waits for the server's request to refresh lenses, and accepts it.
fn refreshed(client: &mut Client) {
    let question = client.question(REFRESH, patience()).expect("new lenses");
    client.answer(&question, Ok(Value::Null));
}

#[test]
fn lenses_stay_where_they_are_while_the_file_does_not_parse() {
    let world = World::new();
    let text =
        "class Cart:\n    def total(self):\n        def inner(): ...\n\n\nasync def pay(): ...\n";
    let file = world.write("cart.py", text);
    let tests = world.write(
        "test_cart.py",
        "class TestCart:\n    def test_total(self): ...\n    def helper(self): ...\n\ndef test_pay(): ...\n",
    );
    let mut client = editor(&world, Value::Null);
    client.reserve(REFRESH);
    assert!(lenses(&mut client, &file).is_empty(), "it is not open");
    client.open(&file).expect("a file");
    let generate = |lines: [u32; 2]| lines.map(|it| format!("{it}: Generate tests"));
    assert_eq!(lenses(&mut client, &file), generate([2, 6]));
    let arguments = &all_lenses(&mut client, &file)[0]["command"]["arguments"];
    let root = world.root();
    let function = json!({ "filePath": "cart.py", "name": "Cart.total" });
    assert_eq!(arguments, &json!([{ "projectRoot": root, "function": function }]));
    // An unclosed string swallows all following text.
    typed(&client, &file, 2, (0, 0), "x = '''\n\n");
    assert_eq!(lenses(&mut client, &file), generate([4, 8]));
    typed(&client, &file, 3, (1, 0), "'''\ndef new(): ...\n");
    assert_eq!(lenses(&mut client, &file), generate([6, 10]), "not parsed at once");
    // The first lenses are those of the opened file if the editor was fast.
    while lenses(&mut client, &file).len() < 3 {
        refreshed(&mut client);
    }
    let wanted = ["3: Generate tests", "6: Generate tests", "10: Generate tests"];
    assert_eq!(lenses(&mut client, &file), wanted);

    client.open(&tests).expect("a file");
    let wanted = ["1: Run", "2: Run", "5: Run"];
    assert_eq!(lenses(&mut client, &tests), wanted);
    let arguments = &all_lenses(&mut client, &tests)[1]["command"]["arguments"];
    let id = "test_cart.py::TestCart::test_total";
    assert_eq!(arguments, &json!([{ "root": root, "paths": [id] }]));

    let off = json!({ "settings": { "trellis": { "codeLenses": false } } });
    client.notify("workspace/didChangeConfiguration", off);
    assert!(lenses(&mut client, &file).is_empty(), "they are turned off");
    assert!(client.shutdown().expect("an end").success());
}

#[test]
fn tests_are_offered_for_public_functions_that_no_test_names() {
    let world = World::new();
    let file =
        world.write("cart.py", "def add(): ...\n\n\ndef _hidden(): ...\n\n\ndef half(): ...\n");
    world.write("tests/test_cart.py", "from cart import add\n\n\ndef test_add(): add()\n");
    let mut client = editor(&world, Value::Null);
    client.open(&file).expect("a file");
    assert_eq!(lenses(&mut client, &file), ["7: Generate tests"]);
    assert!(client.shutdown().expect("an end").success());
}

#[test]
fn nodes_of_a_grown_repository_have_their_results_and_can_be_tried_again() {
    let world = World::new();
    let wrong = ["x", "x - 1", "x - 2", "x - 3", "x - 4", "x - 5", "x - 6", "x - 7"];
    let plot = Plot::default()
        .function("fine", "a", &[], &[], "x + 1")
        .tests("fine", "a", [2, 3, 4])
        .function("half", "a", &[], &wrong, "x - 8")
        .tests("half", "a", [50, 100, 150]);
    let _ = world.grow(&plot, &[]).exits(1);
    let file = world.out().join("src/lib/a.py");
    let text = world.read("out/src/lib/a.py");
    world.write("out/src/lib/a.py", &format!("{text}\n\ndef half(x):\n    return x\n"));
    let mut client = editor(&world, Value::Null);
    client.open(&file).expect("a file");
    let titles: Vec<String> = all_lenses(&mut client, &file)
        .iter()
        .map(|it| it["command"]["title"].as_str().unwrap_or_default().to_owned())
        .collect();
    let failed = "\u{2717} 3 of 3 failed";
    let wanted = ["Run", "\u{2713} 3 passed", failed, "Retry"];
    assert_eq!(titles, wanted);
    let lenses = all_lenses(&mut client, &file);
    let out = world.out();
    let run = json!([{ "root": out, "paths": ["tests/test_a.py::TestFine"] }]);
    assert_eq!(lenses[0]["command"]["arguments"], run);
    for (at, mark) in [(1, "passed"), (2, "failed")] {
        assert_eq!(lenses[at]["command"]["arguments"][1], json!({ "mark": mark }));
    }
    let retry = &lenses[3]["command"];
    assert_eq!(retry["arguments"], json!([{ "node": "half", "out": out }]));
    // The run reports the files edited by hand; only its start matters here.
    let started = execute(&mut client, retry).expect("a job");
    let job = started["job"].as_str().expect("a job").to_owned();
    let error = ended(&mut client, &job).pop().expect("an end")["error"].to_string();
    assert!(error.contains("src/lib/a.py"), "{error}");
    assert_eq!(call(&mut client, "job", json!({ "job": job }))["method"], "retryNode");

    let unknown = json!({ "command": "trellis.unheardOf", "arguments": [] });
    let refused = execute(&mut client, &unknown).expect_err("a refusal");
    assert!(
        refused.contains("this server has no command") && refused.contains("-32601"),
        "{refused}"
    );
    let shown =
        json!({ "command": "trellis.showResult", "arguments": [{ "root": out, "test": "x.py" }] });
    assert_eq!(execute(&mut client, &shown).expect("a result")["passed"], 0);
    let said = client.notice("window/showMessage", patience()).expect("a message");
    assert_eq!(said["message"], "x.py has not run yet");
}

/// Starts a server whose client has more capabilities, and answers the reserved requests itself.
fn able(world: &World, options: &Value, abilities: Value, reserved: &[&str]) -> Client {
    let mut client = Client::start(world.command(&["lsp"]), world.root()).expect("a server");
    client.can(abilities);
    reserved.iter().for_each(|it| client.reserve(it));
    client.initialize(&[Encoding::Utf8], options, patience()).expect("a handshake");
    client
}

/// Returns the hover text at a position, from 0.
fn hover(client: &mut Client, file: &Path, at: (u32, u32)) -> Value {
    let mut params = document(file);
    params["position"] = json!({ "line": at.0, "character": at.1 });
    let hover = client.request("textDocument/hover", params, patience()).expect("an answer");
    hover["contents"]["value"].clone()
}

#[test]
fn hovers_tell_of_symbols_and_nodes_and_nothing_in_them_is_a_link() {
    let world = World::new();
    let text = "def evil(x: str = '```') -> int:\n    \"\"\"Runs [this](command:rm) <b>now</b>.\n\n    Twice.\n    \"\"\"\n    return 1\n";
    let file = world.write("out/lib/a.py", text);
    world.write("out/lib/__init__.py", "");
    let user = world.write("out/lib/b.py", "from lib.a import evil\n\nevil('x')\n");
    let node = |id: &str, needs: &[&str]| {
        json!({ "id": id, "name": id, "type": "function", "node_type": "leaf", "file_path": "lib/a.py",
            "docstring": format!("Plans ![{id}](http://x.y)."), "dependencies": needs, "subgraph_id": "core" })
    };
    let edge = json!({ "source": "evil", "target": "other", "type": "function_call" });
    let graph = json!({ "nodes": [node("other", &[]), node("evil", &["other"])], "edges": [edge],
        "metadata": { "phase": 3, "project_name": "lib" } });
    let entry = json!({ "status": "failed", "timestamp": "2026-01-01T00:00:00Z", "failure_reason": "it **broke**" });
    world.write("out/docs/rpg.json", &graph.to_string());
    world.write("out/.trellis/.gitignore", "*\n");
    world.write("out/docs/generation_checkpoint.json", &json!({ "evil": entry }).to_string());
    let mut client = editor(&world, Value::Null);
    let symbol = "````python\ndef evil(x: str = '```') -> int\n````\n\nRuns \\[this\\]\\(command\\:rm\\) &lt;b&gt;now&lt;\\/b&gt;\\.\n\nTwice\\.";
    let of_node = "**Node** evil\n\n**State** failed\\: it \\*\\*broke\\*\\*\n\n**Subgraph** core\n\n**Needs** other\n\n**Specification** Plans \\!\\[evil\\]\\(http\\:\\/\\/x\\.y\\)\\.";
    for (file, at) in [(&file, (0, 5)), (&user, (2, 1))] {
        assert_eq!(hover(&mut client, file, at), format!("{symbol}\n\n{of_node}"), "{at:?}");
    }
    assert_eq!(hover(&mut client, &user, (1, 0)), Value::Null);
    // A checkpoint written by a run applies at once.
    let passed = json!({ "evil": { "status": "passed", "timestamp": "2026-01-01T00:00:00Z" } });
    world.write("out/docs/generation_checkpoint.json", &passed.to_string());
    let told = hover(&mut client, &file, (0, 5)).to_string();
    assert!(told.contains("**State** passed"), "{told}");
    // Beside another server for symbols, only nodes are described, and only at their definitions.
    let other = json!({ "otherLanguageServer": true });
    let mut client = able(&world, &other, Value::Null, &[]);
    assert_eq!(hover(&mut client, &user, (2, 1)), Value::Null);
    let told = hover(&mut client, &file, (0, 5)).to_string();
    assert!(told.starts_with("\"**Node** evil"), "{told}");
    let plain = json!({ "textDocument": { "hover": { "contentFormat": ["plaintext"] } } });
    let mut client = able(&world, &Value::Null, plain, &[]);
    let told = hover(&mut client, &user, (2, 1)).to_string();
    assert!(told.contains("Runs [this](command:rm) <b>now</b>."), "{told}");
}

/// Returns the code actions at a position.
fn actions(client: &mut Client, file: &Path, at: (u32, u32), context: Value) -> Vec<Value> {
    let at = json!({ "line": at.0, "character": at.1 });
    let mut params = document(file);
    params["range"] = json!({ "start": at, "end": at });
    params["context"] = context;
    let all = client.request("textDocument/codeAction", params, patience()).expect("actions");
    all.as_array().cloned().unwrap_or_default()
}

fn titles(actions: &[Value]) -> Vec<String> {
    let title = |it: &Value| {
        format!(
            "{}: {}",
            it["kind"].as_str().unwrap_or_default(),
            it["title"].as_str().unwrap_or_default()
        )
    };
    actions.iter().map(title).collect()
}

#[test]
fn actions_fit_the_place_and_add_the_import_that_is_missing() {
    let world = World::new();
    world.write("shop/__init__.py", "");
    world.write("shop/cart.py", "class Cart: ...\nPath = 1\n");
    world.write("other.py", "class Cart: ...\n");
    world.write("test_x.py", "class Cart: ...\n");
    let text = "import os\n\n\nclass A:\n    def run(self):\n        return Cart(), Path('x'), os, unheard\n";
    let file = world.write("shop/main.py", text);
    let literals = json!({ "textDocument": { "codeAction": { "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [] } } } } });
    let mut client = able(&world, &Value::Null, literals, &[]);
    client.open(&file).expect("a file");
    let any = json!({ "diagnostics": [] });
    let cases: [((u32, u32), &[&str]); 6] = [
        ((4, 9), &["refactor.generateTests: Generate tests for A.run"]),
        ((5, 8), &[]),
        ((3, 7), &[]),
        (
            (5, 17),
            &[
                "quickfix: Add `from other import Cart`",
                "quickfix: Add `from shop.cart import Cart`",
            ],
        ),
        (
            (5, 24),
            &[
                "quickfix: Add `from pathlib import Path`",
                "quickfix: Add `from shop.cart import Path`",
            ],
        ),
        ((5, 40), &[]),
    ];
    for (at, wanted) in cases {
        let found = actions(&mut client, &file, at, any.clone());
        assert_eq!(titles(&found), wanted, "{at:?}");
    }
    for (only, wanted) in [("quickfix", 0), ("refactor", 1), ("source", 0)] {
        let found =
            actions(&mut client, &file, (4, 9), json!({ "diagnostics": [], "only": [only] }));
        assert_eq!(found.len(), wanted, "{only}");
    }
    let found = actions(&mut client, &file, (5, 17), any);
    let change = &found[1]["edit"]["documentChanges"][0];
    let end = json!({ "line": 1, "character": 0 });
    let edit = json!({ "range": { "start": end, "end": end }, "newText": "\nfrom shop.cart import Cart\n" });
    let of = json!({ "uri": uri_of(&file), "version": 1 });
    assert_eq!(change, &json!({ "textDocument": of, "edits": [edit] }));
    // The diagnostic of a failing test carries its fix.
    let test = json!({ "root": world.root(), "test": "test_x.py::test_a" });
    let range = json!({ "start": end, "end": end });
    let failing =
        json!({ "range": range, "message": "AssertionError", "source": "trellis", "data": test });
    let found = actions(&mut client, &file, (1, 0), json!({ "diagnostics": [failing] }));
    let wanted = ["quickfix: Fix test_x.py::test_a\u{2026}", "quickfix: Repair failing tests"];
    assert_eq!(titles(&found), wanted);
    assert_eq!(found[1]["command"]["arguments"], json!([{ "root": world.root() }]));
    assert_eq!(found[0]["command"]["arguments"], json!([test]));
    assert_eq!(found[0]["command"]["command"], "trellis.proposeFix");
}

/// Waits for the next diagnostics of a file with this version, or without version for an empty
/// list, and returns them as `line: message (code)`, lines from 1. On a busy machine the debounce
/// timer may publish an older version twice.
fn diagnostics(client: &mut Client, file: &Path, version: Option<i32>) -> Vec<String> {
    loop {
        let told =
            client.notice("textDocument/publishDiagnostics", patience()).expect("diagnostics");
        if told["uri"] == uri_of(file) && told["version"] == json!(version) {
            let shown = |it: &Value| {
                let line = it["range"]["start"]["line"].as_u64().expect("a line") + 1;
                let [message, code] =
                    ["message", "code"].map(|key| it[key].as_str().unwrap_or_default());
                format!("{line}: {message} ({code})")
            };
            return told["diagnostics"].as_array().expect("a list").iter().map(shown).collect();
        }
    }
}

#[test]
fn circular_imports_are_told_where_they_close_and_taken_back() {
    let world = World::new();
    world.write("pkg/__init__.py", "");
    world.write("pkg/a.py", "from pkg import b\n");
    let file = world.write("pkg/b.py", "import os\n\nif os:\n    from pkg.a import x\n");
    let mut client = editor(&world, Value::Null);
    let text = client.open(&file).expect("a file");
    let circle = "circular import: pkg/a.py \u{2192} pkg/b.py \u{2192} pkg/a.py (circular-import)";
    assert_eq!(diagnostics(&mut client, &file, Some(1)), [format!("4: {circle}")]);
    client.change(&file, &format!("# more\n{text}"));
    assert_eq!(diagnostics(&mut client, &file, Some(2)), [format!("5: {circle}")]);
    client.change(&file, "def f():\n    from pkg.a import x\n");
    assert_eq!(diagnostics(&mut client, &file, None), Vec::<String>::new());
    assert!(client.shutdown().expect("an end").success());
}

/// Returns the next progress value, without its token.
fn progress(client: &mut Client) -> Value {
    let mut told = client.notice("$/progress", patience()).expect("progress");
    assert_eq!(told["token"], "trellis/job-1");
    told["value"].take()
}

#[test]
fn a_job_moves_a_bar_whose_button_cancels_it() {
    let world = World::new();
    world.plant(&Plot::garden());
    let mut client = able(&world, &Value::Null, Value::Null, &["trellis/askModel"]);
    let params = json!({ "graph": "rpg.json", "out": "out", "model": "editor:any" });
    let job = start(&mut client, "generate", params);
    let begun = progress(&mut client);
    assert_eq!((&begun["kind"], &begun["cancellable"]), (&"begin".into(), &true.into()), "{begun}");
    assert_eq!(begun["title"], "out from rpg.json");
    let _ = client.question("trellis/askModel", patience()).expect("it is at work");
    client.notify("window/workDoneProgress/cancel", json!({ "token": "trellis/nonsense" }));
    client.notify("window/workDoneProgress/cancel", json!({ "token": format!("trellis/{job}") }));
    let last = loop {
        let told = progress(&mut client);
        if told["kind"] != "report" {
            break told;
        }
    };
    assert_eq!((&last["kind"], &last["message"]), (&"end".into(), &"cancelled".into()));

    // The next start offers to resume.
    let ask = "window/showMessageRequest";
    let reserved = [ask, "trellis/askModel"];
    let mut client = able(&world, &Value::Null, Value::Null, &reserved);
    let question = client.question(ask, patience()).expect("an offer");
    let message = question.params["message"].as_str().expect("words");
    assert_eq!(message, "The run in out stopped after 0 of 6 nodes. Resume it?");
    client.answer(&question, Ok(json!({ "title": "Resume" })));
    let _ = client.question("trellis/askModel", patience()).expect("it is at work");
    call(&mut client, "cancelJob", json!({ "job": "job-1" }));
    ended(&mut client, "job-1");
    let silent = json!({ "offerResume": false });
    let mut client = able(&world, &silent, Value::Null, &reserved);
    call(&mut client, "listRuns", json!({}));
    assert!(client.question(ask, Duration::ZERO).is_err(), "it was not to be offered");
}

#[test]
fn another_server_takes_the_symbols_and_gives_them_back() {
    let world = World::new();
    let file = world.write("a.py", "def f(): ...\nf()\n");
    let later = json!({ "dynamicRegistration": true });
    let abilities = json!({
        "textDocument": { "definition": later, "references": later, "rename": later },
        "workspace": { "symbol": later, "didChangeWatchedFiles": { "dynamicRegistration": false } },
    });
    let (register, unregister) = ("client/registerCapability", "client/unregisterCapability");
    let mut client = Client::start(world.command(&["lsp"]), world.root()).expect("a server");
    client.can(abilities);
    client.reserve(register);
    client.reserve(unregister);
    let capabilities =
        client.initialize(&[Encoding::Utf8], &Value::Null, patience()).expect("a handshake");
    for name in ["definition", "references", "rename", "workspaceSymbol"] {
        assert!(capabilities[format!("{name}Provider")].is_null(), "{name}");
    }
    let methods = |them: &Value| -> Vec<String> {
        let method = |it: &Value| it["method"].as_str().unwrap_or_default().to_owned();
        them.as_array().expect("a list").iter().map(method).collect()
    };
    let all = [
        "textDocument/definition",
        "textDocument/references",
        "textDocument/rename",
        "workspace/symbol",
    ];
    let question = client.question(register, patience()).expect("registrations");
    assert_eq!(methods(&question.params["registrations"]), all);
    client.answer(&question, Ok(Value::Null));
    let places = |client: &mut Client| {
        let mut params = document(&file);
        params["position"] = json!({ "line": 1, "character": 0 });
        let found =
            client.request("textDocument/definition", params, patience()).expect("an answer");
        found.as_array().map_or(0, Vec::len)
    };
    assert_eq!(places(&mut client), 1);
    let set = |client: &Client, settings: Value| {
        let params = json!({ "settings": { "trellis": settings } });
        client.notify("workspace/didChangeConfiguration", params);
    };
    set(&client, json!({ "otherLanguageServer": true }));
    let question = client.question(unregister, patience()).expect("taken back");
    assert_eq!(methods(&question.params["unregisterations"]), all);
    client.answer(&question, Ok(Value::Null));
    assert_eq!(places(&mut client), 0);
    set(&client, json!({ "otherLanguageServer": true, "languageFeatures": "on" }));
    let question = client.question(register, patience()).expect("registrations");
    client.answer(&question, Ok(Value::Null));
    assert_eq!(places(&mut client), 1);
}

#[test]
fn failing_tests_are_told_at_their_line_follow_the_text_and_are_taken_back() {
    let world = World::new();
    world.write("pytest.ini", "[pytest]\n");
    let code = world.write("shop.py", "def half(x):\n    return x / 4\n");
    let tests = "from shop import half\n\n\ndef test_half():\n    assert half(4) == 2\n\n\ndef test_words():\n    half('x')\n";
    let file = world.write("test_shop.py", tests);
    let mut client = editor(&world, Value::Null);
    client.open(&file).expect("a file");
    let lens = all_lenses(&mut client, &file)[0]["command"].clone();
    assert_eq!(execute(&mut client, &lens).expect("a run")["outcome"], "failed");
    let half = "AssertionError: assert 1.0 == 2\n +  where 1.0 = half(4) (test_shop.py::test_half)";
    assert_eq!(diagnostics(&mut client, &file, Some(1)), [format!("5: {half}")]);
    let wanted = ["4: Run", "4: \u{2717} failed", "4: Fix\u{2026}", "8: Run"];
    assert_eq!(lenses(&mut client, &file), wanted);
    let all = json!({ "command": "trellis.runTests", "arguments": [] });
    execute(&mut client, &all).expect("a run");
    let told = client.notice("textDocument/publishDiagnostics", patience()).expect("diagnostics");
    let words = &told["diagnostics"][1];
    assert_eq!(words["range"]["start"], json!({ "line": 8, "character": 4 }), "{told}");
    let other = &words["relatedInformation"][0]["location"];
    assert_eq!(
        (&other["uri"], &other["range"]["start"]["line"]),
        (&uri_of(&code).into(), &1.into())
    );
    // Lines inserted before move the diagnostics; deleting the line itself removes its diagnostic.
    typed(&client, &file, 2, (0, 0), "# one\n# two\n");
    assert_eq!(diagnostics(&mut client, &file, Some(2))[0], format!("7: {half}"));
    replaced(&client, &file, 3, [(6, 0), (7, 0)], "");
    let told = diagnostics(&mut client, &file, Some(3));
    assert!(told.len() == 1 && told[0].starts_with("10: TypeError"), "{told:?}");
    // A test that passes, and one that no longer exists.
    world.write("shop.py", "def half(x):\n    return x / 2\n");
    world.write("test_shop.py", &tests[..tests.find("def test_words").expect("a test")]);
    execute(&mut client, &all).expect("a run");
    assert_eq!(diagnostics(&mut client, &file, None), Vec::<String>::new());
    assert!(client.shutdown().expect("an end").success());
}
