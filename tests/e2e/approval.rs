//! Fixes that a person reviews: proposed, accepted in parts, tested before they are applied,
//! undone.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::time::{Duration, SystemTime};

use ::lsp::{Client, Encoding, Failure, patience};
use serde_json::{Value, json};

use crate::mock::KEY;
use crate::models::{Service, prompt, said};
use crate::runs::{call, editor, ended, start};
use crate::world::{World, tree};

const CART: &str = "\
# The least for which nothing is paid.
FREE_FROM = 100


def price_of(items):
    return sum(count * price for count, price in items)


def shipping(items):
    total = price_of(items)
    if total > FREE_FROM:
        return 0
    return 5
";

const TESTS: &str = "\
from shop.cart import price_of, shipping


def test_free_from_a_hundred():
    assert shipping([(2, 50)]) == 0


def test_below():
    assert shipping([(1, 99)]) == 5


def test_prices():
    assert price_of([(2, 3)]) == 6
";

const FREE: &str = "test_cart.py::test_free_from_a_hundred";

fn block(search: &str, replace: &str) -> String {
    format!("shop/cart.py\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n")
}

/// Returns a better comment, and the fix.
fn good() -> String {
    block("# The least for which nothing is paid.", "# From here on nothing is paid.")
        + &block("    if total > FREE_FROM:", "    if total >= FREE_FROM:")
}

fn fixed() -> String {
    CART.replace("> FREE_FROM", ">= FREE_FROM")
}

fn all() -> String {
    fixed().replace("# The least for which nothing is paid.", "# From here on nothing is paid.")
}

/// Creates a project in `p`, and a model's replies about its failing test.
fn shop(replies: &[&str]) -> World {
    let world = World::new();
    world.write("p/pytest.ini", "[pytest]\n");
    world.write("p/shop/__init__.py", "");
    world.write("p/shop/cart.py", CART);
    world.write("p/test_cart.py", TESTS);
    let reply = |(attempt, reply): (usize, &&str)| {
        let line = json!({"node": FREE, "stage": "repair", "attempt": attempt, "reply": reply});
        format!("{line}\n")
    };
    let lines: String = replies.iter().enumerate().map(reply).collect();
    world.write("replies.jsonl", &lines);
    world
}

/// Requests a proposal from the model of the recording.
fn propose(world: &World, client: &mut Client) -> Result<Value, String> {
    let model = format!("recorded:{}", world.root().join("replies.jsonl").display());
    propose_with(client, json!({ "model": model, "trials": 0 }))
}

/// Requests a proposal with further parameters.
fn propose_with(client: &mut Client, more: Value) -> Result<Value, String> {
    let mut params = json!({ "root": "p", "test": FREE, "sandbox": "local" });
    let all = params.as_object_mut().expect("an object");
    all.extend(more.as_object().expect("an object").clone());
    let answer = client.request("trellis/proposeFix", params, patience());
    answer.map_err(|failure| failure.to_string())
}

/// Starts a server with a proposal of the good fix.
fn proposed(world: &World) -> (Client, Value) {
    let mut client = editor(world, Value::Null);
    let fix = propose(world, &mut client).unwrap_or_else(|why| panic!("{why}"));
    (client, fix)
}

/// Decides on the first fix; tests run in the local sandbox.
fn decide(client: &mut Client, what: Value) -> Result<Value, String> {
    let answer = client.request("trellis/decideFix", about_first(&what), patience());
    answer.map_err(|failure| failure.to_string())
}

fn about_first(what: &Value) -> Value {
    let mut params = json!({ "root": "p", "fix": "fix-1", "sandbox": "local" });
    let (all, more) = (params.as_object_mut(), what.as_object());
    all.expect("an object").extend(more.expect("an object").clone());
    params
}

/// Returns the remedy that a refused decision offers to programs.
#[track_caller]
fn remedy(client: &mut Client, what: &Value) -> Value {
    match client.request("trellis/decideFix", about_first(what), patience()) {
        Err(Failure::Refused { data, .. }) => data["remedy"].clone(),
        other => panic!("no refusal: {other:?}"),
    }
}

/// Decides, and returns the test outcomes reported to clients.
fn told(client: &mut Client, what: Value) -> BTreeMap<String, String> {
    let mut params = about_first(&what);
    params["background"] = true.into();
    let job = start(client, "decideFix", params);
    let tests =
        ended(client, &job).into_iter().filter(|it| it["type"] == "test" && it["job"] == job);
    let word = |it: &Value| it.as_str().expect("a word").to_owned();
    tests.map(|it| (word(&it["id"]), word(&it["outcome"]))).collect()
}

#[track_caller]
fn refused(answer: Result<Value, String>, words: &[&str]) {
    let said = answer.expect_err("a refusal");
    for word in words {
        assert!(said.contains(word), "{said} does not say {word}");
    }
}

fn state(client: &mut Client) -> String {
    let fix = call(client, "getFix", json!({ "root": "p", "fix": "fix-1" }));
    fix["state"].as_str().expect("a state").to_owned()
}

fn undo(client: &mut Client) -> Result<Value, String> {
    let params = json!({ "root": "p", "fix": "fix-1" });
    client.request("trellis/undoFix", params, patience()).map_err(|failure| failure.to_string())
}

fn approvals(world: &World) -> Vec<String> {
    let lines = world.read("p/.trellis/journal.jsonl");
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line"));
    let answers = lines.filter(|it| it["event"]["kind"] == "approval");
    answers.map(|it| it["event"]["answer"].as_str().expect("words").to_owned()).collect()
}

#[test]
fn a_fix_is_found_in_three_attempts_and_stays_only_where_tests_pass_with_it() {
    let cheat = block("    return 5", "    return 0");
    let explained = format!("Goods for exactly 100 are free, too.\n\n{}", good());
    let world = shop(&["I do not know.", &cheat, &explained]);
    let before = tree(&world.root().join("p"));
    let (client, fix) = proposed(&world);
    assert_eq!(tree(&world.root().join("p")), before, "nothing was written");
    assert_eq!((&fix["fix"], &fix["state"]), (&"fix-1".into(), &"waiting".into()), "{fix:#}");
    assert_eq!(fix["test"]["id"], FREE);
    let confidence = &fix["confidence"];
    // The two failed fixes reduce the third one's confidence.
    for (part, wanted) in [("diagnostic", 1.0), ("fix", 0.8), ("coverage", 1.0), ("total", 0.94)] {
        let found = confidence[part].as_f64().expect("a number");
        assert!((found - wanted).abs() < 1e-9, "{part} of {confidence}");
    }
    assert_eq!(confidence["parts"]["history"], 0.6, "{confidence}");
    assert_eq!(fix["explanation"], "Goods for exactly 100 are free, too.");
    assert_eq!(fix["foundBy"], Value::Null);
    // A comment cannot be covered.
    let facts = json!({ "fixed": 1, "failing": 1, "stillPassing": 2, "uncoveredHunks": [] });
    assert_eq!(fix["facts"], facts);
    let file = &fix["files"][0];
    assert_eq!((&file["base"], &file["proposed"]), (&CART.into(), &all().into()));
    let headers: Vec<&Value> =
        file["hunks"].as_array().expect("hunks").iter().map(|it| &it["header"]).collect();
    assert_eq!(headers, ["@@ -1 +1 @@", "@@ -11 +11 @@"]);
    let asked = world.read("p/.trellis/journal.jsonl");
    assert!(asked.contains("holds no search/replace block"), "{asked}");
    assert!(asked.contains("test_below passed before and fails with it"), "{asked}");

    // Another server finds the proposal as well.
    client.shutdown().expect("an end");
    let mut client = editor(&world, Value::Null);
    let fixes = call(&mut client, "listFixes", json!({ "root": "p", "state": "waiting" }));
    assert_eq!(fixes["fixes"][0]["paths"], json!(["shop/cart.py"]), "{fixes:#}");

    // The comment alone makes nothing pass; results of the copy are not reported for the project.
    let comment = json!({ "decision": "acceptHunks", "hunks": [1] });
    assert_eq!(told(&mut client, comment), BTreeMap::new());
    let part = decide(&mut client, json!({ "decision": "acceptHunks", "hunks": [1] }));
    let part = part.expect("an answer");
    assert_eq!((&part["state"], &part["edit"]), (&"failed".into(), &Value::Null), "{part:#}");
    assert_eq!(
        (&part["tests"][0]["id"], &part["tests"][0]["outcome"]),
        (&FREE.into(), &"failed".into())
    );
    assert_eq!(world.read("p/shop/cart.py"), CART);
    let broken = json!([{ "path": "shop/cart.py", "text": "def shipping(:\n" }]);
    refused(
        decide(&mut client, json!({ "decision": "edit", "files": broken })),
        &["would be broken"],
    );
    let other = json!([{ "path": "test_cart.py", "text": "" }]);
    refused(
        decide(&mut client, json!({ "decision": "edit", "files": other })),
        &["not a file of fix-1"],
    );

    let accepted = decide(&mut client, json!({ "decision": "accept" })).expect("an answer");
    assert_eq!(accepted["state"], "accepted", "{accepted:#}");
    assert_eq!(accepted["tests"], json!([{ "id": FREE, "outcome": "passed", "message": null }]));
    assert_eq!(accepted["written"], json!(["shop/cart.py"]));
    assert_eq!(world.read("p/shop/cart.py"), all());
    refused(decide(&mut client, json!({ "decision": "reject" })), &["accepted already"]);
    let undone = undo(&mut client).expect("taken back");
    assert_eq!(undone["state"], "undone");
    assert_eq!(tree(&world.root().join("p")), before);
    let passed = [FREE, "test_cart.py::test_below", "test_cart.py::test_prices"]
        .map(|it| (it.to_owned(), "passed".to_owned()));
    assert_eq!(told(&mut client, json!({ "decision": "accept" })), BTreeMap::from(passed));
    let said = approvals(&world);
    let wanted = [
        "proposed: shop/cart.py",
        "not written: ",
        "not written: ",
        "accepted, edit 1",
        "undone: edit 1",
        "accepted, edit 3",
    ];
    for (said, wanted) in said.iter().zip(wanted) {
        assert!(said.starts_with(wanted), "{said} is not {wanted}");
    }
    assert_eq!(said.len(), wanted.len(), "{said:?}");
}

#[test]
fn hunks_are_taken_one_by_one_and_taken_back_in_turn() {
    let world = shop(&[&good()]);
    let (mut client, _) = proposed(&world);
    let untested = |what: Value| {
        let mut what = what;
        what["test"] = false.into();
        what
    };
    refused(decide(&mut client, json!({ "decision": "acceptHunks" })), &["no hunk is selected"]);
    refused(
        decide(&mut client, json!({ "decision": "acceptHunks", "hunks": [3] })),
        &["no hunk 3", "has 2"],
    );
    let part = json!({ "decision": "acceptHunks", "hunks": [2], "revision": 1 });
    let part = decide(&mut client, untested(part)).expect("an answer");
    assert_eq!(
        (&part["state"], &part["revision"], &part["hunks"]),
        (&"waiting".into(), &2.into(), &1.into()),
        "{part:#}"
    );
    assert_eq!(part["facts"], Value::Null, "they were measured for other texts");
    assert_eq!(world.read("p/shop/cart.py"), fixed());
    let old = json!({ "decision": "accept", "revision": 1 });
    refused(decide(&mut client, untested(old.clone())), &["revision 2"]);
    assert_eq!(remedy(&mut client, &untested(old)), "review");
    let rest = decide(&mut client, untested(json!({ "decision": "accept" }))).expect("an answer");
    assert_eq!(rest["state"], "accepted");
    assert_eq!(world.read("p/shop/cart.py"), all());
    let _ = undo(&mut client).expect("taken back");
    assert_eq!(world.read("p/shop/cart.py"), fixed());
    let again = json!({ "decision": "rejectHunks", "hunks": [1] });
    let left = decide(&mut client, again).expect("an answer");
    assert_eq!((&left["state"], &left["hunks"]), (&"accepted".into(), &0.into()), "{left:#}");
    let _ = undo(&mut client).expect("taken back");
    assert_eq!(world.read("p/shop/cart.py"), CART);
    refused(undo(&mut client), &["no change of fix-1 is in the files"]);
    let fix = call(&mut client, "getFix", json!({ "root": "p", "fix": "fix-1" }));
    let notes: Vec<&Value> =
        fix["history"].as_array().expect("steps").iter().map(|it| &it["note"]).collect();
    assert!(notes.iter().any(|it| *it == "without a test"), "{notes:?}");
}

#[test]
fn what_a_person_works_on_is_never_written_over() {
    let world = shop(&[&good()]);
    let (mut client, _) = proposed(&world);
    let path = world.root().join("p/shop/cart.py");
    let accept = || json!({ "decision": "accept", "test": false });

    // Unsaved in the editor.
    let _ = client.open(&path).expect("it opens");
    client.change(&path, &format!("# mine\n{CART}"));
    refused(decide(&mut client, accept()), &["shop/cart.py changed in the editor, unsaved"]);
    assert_eq!(
        (state(&mut client).as_str(), world.read("p/shop/cart.py").as_str()),
        ("stale", CART)
    );
    refused(decide(&mut client, json!({ "decision": "rebase" })), &["unsaved changes"]);
    assert_eq!(remedy(&mut client, &accept()), Value::Null);

    // Saved, and every hunk still applies.
    world.write("p/shop/cart.py", &format!("# mine\n{CART}"));
    refused(decide(&mut client, accept()), &["shop/cart.py changed since fix-1"]);
    assert_eq!(remedy(&mut client, &accept()), "rebase");
    let rebased = decide(&mut client, json!({ "decision": "rebase" })).expect("a place");
    assert_eq!((&rebased["state"], &rebased["revision"]), (&"waiting".into(), &2.into()));
    assert_eq!(world.read("p/shop/cart.py"), format!("# mine\n{CART}"));

    // The lines of the hunks changed.
    let others = CART.replace("total > FREE_FROM", "FREE_FROM < total");
    world.write("p/shop/cart.py", &others);
    client.change(&path, &others);
    refused(decide(&mut client, accept()), &["changed since"]);
    assert_eq!(remedy(&mut client, &accept()), Value::Null);
    refused(decide(&mut client, json!({ "decision": "rebase" })), &["no longer exist"]);
    assert_eq!(world.read("p/shop/cart.py"), others);

    // As before: the fix can be accepted, and cannot be undone once others have changed the file.
    world.write("p/shop/cart.py", &format!("# mine\n{CART}"));
    client.close(&path);
    let accepted = decide(&mut client, accept()).expect("an answer");
    assert_eq!(accepted["state"], "accepted", "{accepted:#}");
    assert_eq!(world.read("p/shop/cart.py"), format!("# mine\n{}", all()));
    world.write("p/shop/cart.py", "x = 1\n");
    refused(undo(&mut client), &["changed since"]);
    assert_eq!(world.read("p/shop/cart.py"), "x = 1\n");
}

#[test]
fn a_rejected_fix_leaves_no_trace_and_one_process_decides_at_a_time() {
    let world = shop(&[&good()]);
    let (mut client, _) = proposed(&world);
    let path = world.root().join("p/shop/cart.py");
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    File::options().write(true).open(&path).and_then(|it| it.set_modified(old)).expect("a time");
    let mut lock = File::options()
        .write(true)
        .truncate(true)
        .open(world.root().join("p/.trellis/proposals/lock"))
        .expect("a lock");
    lock.lock().expect("it is free");
    writeln!(lock, "4711, since noon").expect("written");
    let reject = || json!({ "decision": "reject", "note": "not now" });
    refused(decide(&mut client, reject()), &["(process 4711, since noon) is deciding"]);
    drop(lock);
    let rejected = decide(&mut client, reject()).expect("an answer");
    assert_eq!((&rejected["state"], &rejected["edit"]), (&"rejected".into(), &Value::Null));
    assert_eq!(world.read("p/shop/cart.py"), CART);
    assert_eq!(fs::metadata(&path).and_then(|it| it.modified()).expect("a time"), old);
    refused(decide(&mut client, json!({ "decision": "accept" })), &["rejected already"]);
    assert_eq!(approvals(&world).last().map(String::as_str), Some("rejected not now"));

    // A damaged file is reported and kept, and its number is not reused.
    let file = world.root().join("p/.trellis/proposals/fix-1.json");
    fs::write(&file, "{").expect("a file");
    let listed = call(&mut client, "listFixes", json!({ "root": "p" }));
    assert_eq!(listed["fixes"], json!([]));
    let problem = listed["problems"][0].as_str().unwrap_or_default();
    assert!(problem.contains("fix-1.json is skipped"), "{listed:#}");
    refused(decide(&mut client, json!({ "decision": "accept" })), &["damaged"]);
    let fix = propose(&world, &mut client).expect("a fix");
    assert_eq!(fix["fix"], "fix-2");
    assert_eq!(fs::read_to_string(&file).expect("kept"), "{");
    let none = client.request("trellis/getFix", json!({ "root": "p", "fix": "../x" }), patience());
    assert!(none.expect_err("a refusal").to_string().contains("no proposed fix"));
}

#[test]
fn where_nothing_can_be_mended_it_is_said() {
    let world = shop(&["No.", "```python\nx = 1\n```", &block("    return 5", "    return 0")]);
    let mut client = editor(&world, Value::Null);
    refused(
        propose(&world, &mut client),
        &["no fix was found", "3 were tried", "test_below passed before"],
    );
    assert_eq!(call(&mut client, "listFixes", json!({ "root": "p" }))["fixes"], json!([]));
    world.write("p/shop/cart.py", &fixed());
    refused(propose(&world, &mut client), &["passes"]);
    world.write("p/test_cart.py", "def test_other():\n    pass\n");
    refused(propose(&world, &mut client), &["does not exist"]);
}

#[test]
fn a_small_edit_that_is_proven_is_proposed_without_a_model() {
    let world = shop(&[]);
    let mut client = editor(&world, Value::Null);
    // A file stands for its first failing test.
    let _ = call(&mut client, "runTests", json!({ "root": "p", "sandbox": "local" }));
    let fix = propose_with(&mut client, json!({ "test": "test_cart.py" })).expect("a fix");
    assert_eq!((&fix["foundBy"], &fix["explanation"]), (&"smallEdits".into(), &Value::Null));
    assert_eq!(fix["test"]["id"], FREE);
    assert_eq!(fix["files"][0]["proposed"], fixed());
    let facts = json!({ "fixed": 1, "failing": 1, "stillPassing": 2, "uncoveredHunks": [] });
    assert_eq!(fix["facts"], facts);
    refused(propose_with(&mut client, json!({ "trials": 0 })), &["no model"]);
}

#[test]
fn hunks_with_statements_that_no_test_executes_are_named() {
    let label = block("    return str(item)", "    return repr(item)");
    let world = shop(&[&(good() + &label)]);
    world.write("p/shop/cart.py", &format!("{CART}\n\ndef label(item):\n    return str(item)\n"));
    let (_client, fix) = proposed(&world);
    assert_eq!(fix["files"][0]["hunks"].as_array().expect("hunks").len(), 3, "{fix:#}");
    assert_eq!(fix["facts"]["uncoveredHunks"], json!([3]));
}

#[test]
fn a_fix_is_changed_by_words_and_the_new_one_replaces_it() {
    let world = shop(&[&good()]);
    let service = Service::start(Box::new(|_| {
        said(&block("    if total > FREE_FROM:", "    if total >= FREE_FROM:"))
    }));
    let mut command = world.command(&["lsp"]);
    command.env("OPENAI_BASE_URL", &service.url).env("OPENAI_API_KEY", KEY);
    let mut client = Client::start(command, world.root()).expect("a server");
    client.initialize(&[Encoding::Utf8], &Value::Null, patience()).expect("a handshake");
    let _ = propose(&world, &mut client).expect("a fix");
    let revise = |words: &str| json!({ "revise": "fix-1", "words": words, "model": "openai:tiny" });
    refused(propose_with(&mut client, revise(" ")), &["nothing says what to change"]);
    let fix = propose_with(&mut client, revise("leave the comment alone")).expect("a fix");
    assert_eq!(fix["fix"], "fix-2");
    assert_eq!(fix["files"][0]["proposed"], fixed());
    let first = call(&mut client, "getFix", json!({ "root": "p", "fix": "fix-1" }));
    assert_eq!(first["state"], "rejected");
    let said = first["history"].as_array().and_then(|it| it.last()).expect("an entry");
    assert_eq!(said["note"], "fix-2 replaces it: leave the comment alone");
    let asked = service.asked();
    let prompt = prompt(&asked[0]);
    for wanted in ["leave the comment alone", "+# From here on nothing is paid."] {
        assert!(prompt.contains(wanted), "{wanted} is not in {prompt}");
    }
}
