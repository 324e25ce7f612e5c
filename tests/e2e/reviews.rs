//! Changes of issues that wait for a person: listed after a restart, decided from a list, file by
//! file.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use ::lsp::Client;
use serde_json::{Value, json};

use crate::implement::{CART, CODE, code, file, implement, in_p, new_tests, shop};
use crate::repair::{git, text};
use crate::runs::{call, editor};
use crate::world::World;

const DISCOUNT: &str = "shop/discount.py";
const NEW_TESTS: &str = "tests/test_discount.py";

/// Returns a shop with a test that fails anyway, whose change of three files and a note waits.
pub(crate) fn waiting() -> World {
    let reply = code() + &file("shop/cart.py", &format!("{CART}\n\nVAT = 20\n"));
    let world = shop(&[("scaffold", &[new_tests()]), ("implementation", &[reply])]);
    world.write("p/tests/test_old.py", "def test_broken():\n    assert 1 == 2\n");
    let p = world.root().join("p");
    git(&p, &["add", "."]);
    git(&p, &["commit", "--quiet", "-m", "broken"]);
    let _ = implement(&world, &[]).exits(2);
    world
}

pub(crate) fn listed(client: &mut Client) -> Vec<Value> {
    let listed = call(client, "listReviews", json!({ "root": "p" }));
    assert_eq!(listed["problems"], json!([]), "{listed:#}");
    listed["reviews"].as_array().expect("a list").clone()
}

/// Decides about the only change that is listed.
pub(crate) fn decide(client: &mut Client, answer: &str, more: Value) -> Value {
    let all = listed(client);
    let review = all.first().expect("a change waits");
    let mut decision = json!({ "answer": answer, "tip": review["tip"] });
    for (name, value) in more.as_object().expect("an object") {
        decision[name] = value.clone();
    }
    let params = json!({ "root": "p", "issue": review["issue"], "lld": format!("p/{}", text(&review["spec"])),
        "model": "recorded:replies.jsonl", "sandbox": "local", "decision": decision });
    call(client, "implement", params)
}

#[test]
fn a_change_is_listed_after_a_restart_until_it_is_decided() {
    let world = waiting();
    let mut client = editor(&world, Value::Null);
    let all = listed(&mut client);
    let review = all.first().expect("a change waits");
    assert_eq!(review["title"], "Issue 42: A discount");
    assert_eq!((&review["spec"], &review["into"]), (&json!("docs/lld.md"), &json!("main")));
    let files = json!([
        { "path": "shop/cart.py", "added": 3, "removed": 0 },
        { "path": DISCOUNT, "added": 7, "removed": 0 },
        { "path": NEW_TESTS, "added": 13, "removed": 0 },
    ]);
    assert_eq!(review["files"], files);
    assert_eq!(review["allTests"], json!({ "passed": 4, "failed": 1 }));
    let worktree = world.root().join("p/.trellis/worktrees/issue-42").canonicalize();
    assert_eq!(text(&review["worktree"]), worktree.expect("a folder").display().to_string());
    // Texts before the change, also when the project has moved on.
    world.write("p/shop/cart.py", "other = 1\n");
    let base = |client: &mut Client, path: &str| {
        call(client, "reviewBase", json!({ "root": "p", "issue": "42", "path": path }))["text"]
            .clone()
    };
    assert_eq!(base(&mut client, "shop/cart.py"), CART);
    assert_eq!(base(&mut client, DISCOUNT), Value::Null);
    world.write("p/shop/cart.py", CART);
    let left = decide(&mut client, "leave", json!({}));
    assert_eq!(left["outcome"], "left", "{left:#}");
    assert_eq!(listed(&mut client), Vec::<Value>::new());
    assert!(in_p(&world, &["branch"]).contains("trellis/issue-42"), "it is kept");
}

#[test]
fn files_are_left_out_if_the_tests_pass_without_them() {
    let world = waiting();
    let mut client = editor(&world, Value::Null);
    // Without the code the new tests fail: nothing is merged, and the change waits as it was.
    let tip = listed(&mut client)[0]["tip"].clone();
    let start = in_p(&world, &["rev-parse", "main"]);
    let refused = decide(&mut client, "approve", json!({ "leaveOut": [DISCOUNT] }));
    let why = text(&refused["reason"]);
    assert_eq!((&refused["outcome"], &refused["waits"]), (&json!("needsHuman"), &json!(true)));
    assert!(why.starts_with("without shop/discount.py, the new tests fail: "), "{why}");
    assert!(why.contains(NEW_TESTS), "{why}");
    assert_eq!(in_p(&world, &["rev-parse", "main"]), start);
    let again = listed(&mut client)[0].clone();
    assert_eq!(again["refused"], json!(why));
    assert_eq!(in_p(&world, &["diff", &text(&tip), &text(&again["tip"])]), "", "the same files");
    assert_eq!(world.read("p/.trellis/worktrees/issue-42/shop/discount.py"), CODE);
    // All files: there is nothing to merge.
    let none = json!({ "leaveOut": [DISCOUNT, NEW_TESTS, "shop/cart.py"] });
    let none = decide(&mut client, "approve", none);
    assert!(text(&none["reason"]).contains("nothing to merge"), "{none:#}");
    // Without what no test needs, the rest is merged.
    let merged = decide(&mut client, "approve", json!({ "leaveOut": ["shop/cart.py"] }));
    assert_eq!(merged["outcome"], "merged", "{merged:#}");
    assert_eq!(merged["files"], json!([DISCOUNT, NEW_TESTS]));
    assert_eq!(merged["allTests"], json!({ "passed": 4, "failed": 1 }));
    assert_eq!(
        (world.read("p/shop/cart.py").as_str(), world.read("p/shop/discount.py").as_str()),
        (CART, CODE)
    );
    assert_eq!(in_p(&world, &["diff", "--name-only", "HEAD^"]), format!("{DISCOUNT}\n{NEW_TESTS}"));
    // The text that was left out is not lost.
    let note = merged["notes"]
        .as_array()
        .expect("notes")
        .iter()
        .map(text)
        .find(|it| it.contains("a copy is in"));
    let note = note.expect("a note");
    let folder = note.rsplit(' ').next().expect("a folder");
    assert_eq!(world.read(&format!("p/{folder}/shop/cart.py")), format!("{CART}\n\nVAT = 20\n"));
    assert_eq!(listed(&mut client), Vec::<Value>::new());
}

#[test]
fn a_file_is_left_out_whatever_its_name() {
    let world = waiting();
    let name = OsStr::from_bytes(b"caf\xe9.txt");
    let worktree = world.root().join("p/.trellis/worktrees/issue-42");
    fs::write(worktree.join(name), "mine\n").expect("written");
    let _ = implement(&world, &[]).exits(2);
    let mut client = editor(&world, Value::Null);
    let shown = name.to_string_lossy();
    let files = listed(&mut client)[0]["files"].clone();
    let is_listed = files.as_array().expect("files").iter().any(|it| it["path"] == *shown);
    assert!(is_listed, "{files:#}");
    let merged = decide(&mut client, "approve", json!({ "leaveOut": [shown] }));
    assert_eq!(merged["outcome"], "merged", "{merged:#}");
    assert!(!world.root().join("p").join(name).exists());
    let kept = fs::read_dir(world.root().join("p/.trellis/kept")).expect("a folder");
    let kept: Vec<_> = kept.flatten().map(|it| it.path().join(name)).collect();
    assert!(kept.iter().any(|it| it.exists()), "{kept:?}");
}

#[test]
fn links_that_are_left_out_are_kept() {
    let world = waiting();
    let worktree = world.root().join("p/.trellis/worktrees/issue-42");
    for (name, to) in [("nowhere", "not/there"), ("folder", "shop"), ("file", "shop/cart.py")] {
        std::os::unix::fs::symlink(to, worktree.join(name)).expect("a link");
    }
    let _ = implement(&world, &[]).exits(2);
    let mut client = editor(&world, Value::Null);
    let merged =
        decide(&mut client, "approve", json!({ "leaveOut": ["nowhere", "folder", "file"] }));
    assert_eq!(merged["outcome"], "merged", "{merged:#}");
    let kept = fs::read_dir(world.root().join("p/.trellis/kept")).expect("a folder");
    let kept = kept.flatten().next().expect("a copy").path();
    for (name, to) in [("nowhere", "not/there"), ("folder", "shop"), ("file", "shop/cart.py")] {
        assert_eq!(fs::read_link(kept.join(name)).expect("a link").display().to_string(), to);
        assert!(world.root().join("p").join(name).symlink_metadata().is_err(), "{name}");
    }
}

#[test]
fn a_file_is_not_left_out_without_those_in_the_folder_that_takes_its_place() {
    let world = waiting();
    world.write("p/data", "one\n");
    in_p(&world, &["add", "data"]);
    in_p(&world, &["commit", "--quiet", "-m", "data"]);
    let worktree = world.root().join("p/.trellis/worktrees/issue-42");
    git(&worktree, &["merge", "--quiet", "main"]);
    fs::remove_file(worktree.join("data")).expect("removed");
    world.write("p/.trellis/worktrees/issue-42/data/two", "precious\n");
    let _ = implement(&world, &[]).exits(2);
    let mut client = editor(&world, Value::Null);
    for (one, other) in [("data", "data/two"), ("data/two", "data")] {
        let refused = decide(&mut client, "approve", json!({ "leaveOut": [one] }));
        let why = format!("{one} can only be left out together with {other}");
        assert_eq!((&refused["outcome"], &refused["reason"]), (&json!("needsHuman"), &json!(why)));
    }
    let merged = decide(&mut client, "approve", json!({ "leaveOut": ["data", "data/two"] }));
    assert_eq!(merged["outcome"], "merged", "{merged:#}");
    assert_eq!(world.read("p/data"), "one\n");
}

#[test]
fn edits_of_the_worktree_are_merged_if_the_decision_says_so() {
    let world = waiting();
    let mut client = editor(&world, Value::Null);
    let mine = format!("{CODE}\n\nMINE = 1\n");
    world.write("p/.trellis/worktrees/issue-42/shop/discount.py", &mine);
    // A start commits the same files once more, as another commit in another second.
    let p = world.root().join("p");
    let same = git(&p, &["commit-tree", "trellis/issue-42^{tree}", "-p", "main", "-m", "same"]);
    let more = json!({ "withEdits": true, "leaveOut": ["shop/cart.py"], "tip": same.trim() });
    let merged = decide(&mut client, "approve", more);
    assert_eq!(merged["outcome"], "merged", "{merged:#}");
    assert_eq!(
        (world.read("p/shop/cart.py"), world.read("p/shop/discount.py")),
        (CART.to_owned(), mine.clone())
    );
    // Without being asked to, an edited change waits again.
    let world = waiting();
    let mut client = editor(&world, Value::Null);
    world.write("p/.trellis/worktrees/issue-42/shop/discount.py", &mine);
    let again = decide(&mut client, "approve", json!({}));
    assert_eq!((&again["outcome"], &again["waits"]), (&json!("needsHuman"), &json!(true)));
    assert_eq!(listed(&mut client).len(), 1);
}

#[test]
fn a_forged_record_leads_nowhere() {
    let world = waiting();
    let mut client = editor(&world, Value::Null);
    let place = "p/.trellis/reviews/issue-42.json";
    let record: Value = serde_json::from_str(&world.read(place)).expect("JSON");
    let table = [
        ("worktree", json!("../elsewhere")),
        ("worktree", json!("/etc")),
        ("worktree", json!(".trellis/worktrees/issue-42/../../..")),
        ("spec", json!("../secret.md")),
        ("context", json!(["/etc/passwd"])),
        ("base", json!("--output=x")),
        ("files", json!([{ "path": "../../x", "lines": null }])),
    ];
    for (name, value) in table {
        let mut forged = record.clone();
        forged[name] = value;
        world.write(place, &forged.to_string());
        let found = call(&mut client, "listReviews", json!({ "root": "p" }));
        assert_eq!(found["reviews"], json!([]), "{name}: {found:#}");
        assert!(text(&found["problems"][0]).contains("Trellis did not write it"), "{found:#}");
    }
}
