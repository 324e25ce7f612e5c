//! Fixes of a run that a person must review before they are applied.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::runs::{call, editor, ended, result, start, until};
use crate::world::{Plot, World, assert_same};

/// Returns a function that needs a fix, one that depends on it, and an independent one.
fn plot() -> Plot {
    Plot::default()
        .function("square", "basic", &[], &["x ** 3"], "x * x")
        .tests("square", "basic", [1, 4, 9])
        .function("negated", "top", &["square"], &[], "-square(x)")
        .tests("negated", "top", [-1, -4, -9])
        .function("tenfold", "free", &[], &[], "10 * x")
        .tests("tenfold", "free", [10, 20, 30])
}

fn params(world: &World) -> Value {
    let model = format!("recorded:{}", world.root().join("replies.jsonl").display());
    json!({ "graph": "rpg.json", "out": "out", "model": model, "approve": "supervised", "sandbox": "local" })
}

/// Returns sources and tests, without documents about the run.
fn sources(world: &World) -> BTreeMap<String, String> {
    let mut tree = world.tree();
    tree.retain(|path, _| !path.starts_with("docs/"));
    tree
}

#[test]
fn a_run_waits_for_the_decision_about_a_fix_and_does_as_it_says() {
    let plain = World::new();
    let _ = plain.grow(&plot(), &[]).exits(0);
    let mine = "def square(x: int) -> int:\n    return x**2\n";
    // The decision, the resulting states of `square` and `negated`, and the file's content.
    let table: [(&str, Value, [&str; 2], &str); 3] = [
        ("accept", json!([]), ["passed", "passed"], "x * x"),
        (
            "edit",
            json!([{ "path": "src/lib/basic.py", "text": mine }]),
            ["passed", "passed"],
            "x**2",
        ),
        ("reject", json!([]), ["failed", "skipped"], ""),
    ];
    for (decision, files, statuses, text) in table {
        let world = World::new();
        world.plant(&plot());
        let mut client = editor(&world, Value::Null);
        let job = start(&mut client, "generate", params(&world));
        let told = until(&mut client, |it| it["type"] == "proposal");
        let fix = told.last().map(|it| it["proposal"].clone()).expect("a proposal");
        // Other nodes continue while the proposal waits.
        until(&mut client, |it| it["node"] == "tenfold" && it["status"] == "passed");
        let shown = call(&mut client, "getFix", json!({ "root": "out", "fix": fix }));
        assert_eq!(
            (&shown["node"], &shown["state"]),
            (&"square".into(), &"waiting".into()),
            "{shown}"
        );
        assert!(shown["diff"].to_string().contains("return x * x"), "{shown}");
        assert!(
            shown["confidence"]["coverage"] == 1.0 && shown["confidence"]["fix"] == 1.0,
            "{shown}"
        );
        let params = json!({ "root": "out", "fix": fix, "decision": decision, "files": files, "note": "as I like it" });
        call(&mut client, "decideFix", params);
        ended(&mut client, &job);
        let checkpoint = world.checkpoint();
        let found = ["square", "negated"].map(|it| checkpoint[it]["status"].clone());
        assert_eq!(json!(found), json!(statuses), "{decision}: {checkpoint:#}");
        match decision {
            "reject" => {
                let reason = checkpoint["square"]["failure_reason"].to_string();
                assert!(
                    reason.contains("needs_human") && reason.contains("as I like it"),
                    "{reason}"
                );
                assert_eq!(result(&mut client, &job)["exitCode"], 2);
            }
            "accept" => assert_same(&sources(&world), &sources(&plain)),
            _ => assert!(world.read("out/src/lib/basic.py").contains(text)),
        }
        let approvals = world.journal("approval");
        assert!(!approvals.is_empty(), "the journal says nothing of it");
    }
}

#[test]
fn without_anybody_there_a_fix_waits_for_a_later_start() {
    let (world, plain) = (World::new(), World::new());
    let _ = plain.grow(&plot(), &[]).exits(0);
    let supervised = ["--approve=supervised", "--sandbox=local"];
    let _ = world.grow(&plot(), &supervised).exits(2);
    let reason = world.checkpoint()["square"]["failure_reason"].to_string();
    assert!(reason.contains("needs_human: the fix needs your review"), "{reason}");
    assert!(!world.out().join("src/lib/basic.py").exists(), "a failed node leaves no text");
    // Decided in an editor, by another process a day later.
    let mut client = editor(&world, Value::Null);
    let listed = call(&mut client, "listFixes", json!({ "root": "out", "state": "waiting" }));
    let fix = listed["fixes"][0]["fix"].clone();
    assert_eq!(listed["fixes"][0]["node"], "square", "{listed}");
    call(&mut client, "decideFix", json!({ "root": "out", "fix": fix, "decision": "accept" }));
    drop(client);
    let _ = world.grow(&plot(), &supervised).exits(0);
    assert_same(&sources(&world), &sources(&plain));
    // Threshold mode accepts a first fix with enough confidence, and autonomous mode asks nobody.
    for mode in ["threshold", "autonomous"] {
        let other = World::new();
        let _ = other.grow(&plot(), &[&format!("--approve={mode}"), "--sandbox=local"]).exits(0);
    }
}
