//! Kinds of bad input: each gives one clear message with a remedy and the right exit code, and
//! loses nothing.

use std::fs;

use serde_json::{Value, json};

use crate::world::{Plot, World, assert_same};

fn node(id: &str, path: &str, docstring: &str, needs: &[&str]) -> Value {
    json!({"id": id, "name": id, "type": "function", "node_type": "leaf", "file_path": path,
        "docstring": docstring, "dependencies": needs, "subgraph_id": "s"})
}

#[test]
fn a_graph_with_problems_is_refused_with_all_of_them_before_anything_starts() {
    let ok = "src/lib/a.py";
    let cases: Vec<(&str, Vec<Value>, Vec<&str>)> = vec![
        (
            "cycle",
            vec![node("a", ok, "A.", &["b"]), node("b", ok, "B.", &["a"])],
            vec!["[cycle]", "a -> b", "hint"],
        ),
        ("self", vec![node("a", ok, "A.", &["a"])], vec!["[cycle]"]),
        ("unknown", vec![node("a", ok, "A.", &["ghost"])], vec!["[unknown-id]", "ghost"]),
        (
            "duplicate",
            vec![node("a", ok, "A.", &[]), node("a", "src/lib/b.py", "B.", &[])],
            vec!["[duplicate-id]"],
        ),
        (
            "two names",
            vec![node("a", ok, "A.", &[]), {
                let mut n = node("b", ok, "B.", &[]);
                n["name"] = "a".into();
                n
            }],
            vec!["[duplicate-definition]"],
        ),
        ("docstring", vec![node("a", ok, "  ", &[])], vec!["[missing-docstring]"]),
        (
            "tests",
            vec![node("a", "tests/test_a.py", "A.", &[])],
            vec!["[unsafe-file-path]", "the folder for generated tests"],
        ),
        (
            "two roots",
            vec![node("a", ok, "A.", &[]), node("b", "lib/b.py", "B.", &[])],
            vec!["[module-package-clash]", "two folders"],
        ),
        ("climbs", vec![node("a", "../a.py", "A.", &[])], vec!["[unsafe-file-path]", "../a.py"]),
        ("climbs inside", vec![node("a", "src/../../a.py", "A.", &[])], vec!["[unsafe-file-path]"]),
        ("absolute", vec![node("a", "/etc/a.py", "A.", &[])], vec!["[unsafe-file-path]"]),
        (
            "several",
            vec![node("a", "/a.py", "", &["ghost"])],
            vec!["3 problems", "[unsafe-file-path]", "[missing-docstring]", "[unknown-id]"],
        ),
    ];
    for (name, nodes, words) in cases {
        let world = World::new();
        let plot = Plot { nodes, ..Plot::default() };
        let mut ran = world.grow(&plot, &[]).exits(65);
        for word in words {
            ran = ran.says(word);
        }
        assert!(!world.out().exists(), "{name}: nothing starts");
        let checked = world.trellis(&["plan", "check", "rpg.json", "--json"]).exits(65);
        assert!(!checked.json()["problems"].as_array().expect("a list").is_empty(), "{name}");
    }
}

#[test]
fn a_broken_file_is_named_with_line_and_column() {
    let world = World::new();
    world.write("rpg.json", "{\n  \"nodes\": [\n    {\"id\": \"a\",}\n  ]\n}");
    world.write("r.jsonl", "");
    let _ = world
        .trellis(&["generate", "rpg.json", "--out", "out", "--model", "recorded:r.jsonl"])
        .exits(65)
        .says("line 3 column");
    let _ = world.trellis(&["generate", "none.json", "--out", "out"]).exits(65).says("none.json");
    assert!(!world.out().exists());
}

#[test]
fn a_symbolic_link_that_leads_out_is_refused() {
    let world = World::new();
    let outside = world.root().join("outside");
    fs::create_dir_all(&outside).expect("a folder");
    fs::create_dir_all(world.out().join("src")).expect("a folder");
    std::os::unix::fs::symlink(&outside, world.out().join("src/lib")).expect("a link");
    let _ = world.grow(&Plot::garden(), &[]).exits(65).says("symbolic link src/lib");
    assert_eq!(fs::read_dir(&outside).expect("a folder").count(), 0);
}

#[test]
fn a_corrupted_checkpoint_is_kept_aside_and_everything_is_done_again() {
    let world = World::new();
    let plot = Plot::garden();
    let _ = world.grow(&plot, &[]).exits(0);
    let (first, runs) = (world.tree(), world.journal("test_run").len());
    world.write("out/docs/generation_checkpoint.json", "{\"double\": {\"status\"");
    let _ = world.grow(&plot, &[]).exits(0).says("every node is generated again");
    assert_eq!(world.journal("test_run").len(), 2 * runs);
    assert_eq!(
        world.read("out/docs/generation_checkpoint.corrupt-1.json"),
        "{\"double\": {\"status\""
    );
    let mut second = world.tree();
    second.remove("docs/generation_checkpoint.corrupt-1.json");
    assert_same(&second, &first);
}

#[test]
fn a_torn_journal_line_is_dropped_and_a_garbled_one_is_told() {
    let world = World::new();
    let plot = Plot::garden();
    let _ = world.grow(&plot, &[]).exits(0);
    let journal = world.read("out/.trellis/journal.jsonl");
    world.write("out/.trellis/journal.jsonl", &format!("{journal}{{\"v\":1,\"at\":\"20"));
    let _ = world.grow(&plot, &[]).exits(0);
    assert!(world.read("out/.trellis/journal.jsonl").starts_with(&journal));
    let garbled = journal.replacen("\"kind\":\"accepted\"", "\"kind\":\"acc", 1);
    world.write("out/.trellis/journal.jsonl", &garbled);
    let _ = world.grow(&plot, &[]).exits(0).says("cannot be read");
    assert_eq!(world.checkpoint()["double"]["status"], "passed");
}

#[test]
fn a_full_disk_fails_the_node_clearly_and_leaves_earlier_files_intact() {
    let world = World::new();
    fs::create_dir_all(world.out()).expect("a folder");
    let mount = |arguments: &[&str]| {
        let output = std::process::Command::new("mount").args(arguments).output();
        output.is_ok_and(|output| output.status.success())
    };
    let out = world.out().display().to_string();
    if !mount(&["-t", "tmpfs", "-o", "size=1300k", "tmpfs", &out]) {
        eprintln!("skipped: mounting a small tmpfs needs root");
        return;
    }
    let _unmount = Unmount(out);
    let mut plot = Plot::garden();
    // The last nodes are far too long for the remaining space.
    let padding = "# long long long long long long\n".repeat(50_000);
    for reply in &mut plot.replies {
        if reply["node"] == "negated" && reply["stage"] == "fix" {
            let text = reply["reply"]
                .as_str()
                .expect("text")
                .replace("def negated", &format!("{padding}def negated"));
            reply["reply"] = text.into();
        }
    }
    let _ = world.grow(&plot, &[]).exits(1).says("disk full").says("free some space");
    let checkpoint = world.checkpoint();
    assert_eq!(checkpoint["double"]["status"], "passed");
    assert_eq!(checkpoint["negated"]["status"], "failed");
    assert!(
        checkpoint["negated"]["failure_reason"].as_str().expect("a reason").contains("disk full")
    );
    assert!(world.read("out/src/lib/basic.py").contains("def square"));
    let _ = world.trellis(&["log", "out", "--verify"]).exits(0);
}

struct Unmount(String);

impl Drop for Unmount {
    fn drop(&mut self) {
        // Without unmounting, removing the temporary folder would fail.
        let _ = std::process::Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn what_is_missing_on_the_machine_is_named_with_what_to_do() {
    let no_python = World::new().with_only(&["git"]);
    let _ =
        no_python.grow(&Plot::garden(), &[]).exits(69).says("Python").says("apt install python3");
    let no_git = World::new().with_only(&["python3"]);
    let _ = no_git.grow(&Plot::garden(), &[]).exits(0).says("git is not installed");
    assert!(!no_git.out().join(".git").exists());
    let no_model = World::new();
    no_model.plant(&Plot::garden());
    let _ = no_model
        .trellis(&["generate", "rpg.json", "--out", "out"])
        .exits(69)
        .says("no model")
        .says("TRELLIS_MODEL")
        .says("`trellis demo`");
    let _ = no_model
        .trellis(&["generate", "rpg.json", "--out", "out", "--model", "parrot:x"])
        .exits(69)
        .says("parrot");
    no_model.write("bad.jsonl", "{\"node\": \"a\"}\nnonsense\n");
    let _ = no_model
        .trellis(&["generate", "rpg.json", "--out", "out", "--model", "recorded:bad.jsonl"])
        .exits(65)
        .says("line");
    let _ = no_model.trellis(&["generate"]).exits(64);
}

#[test]
fn no_recorded_reply_is_the_reason_a_node_fails_with() {
    let world = World::new();
    let mut plot = Plot::garden();
    plot.replies.retain(|reply| {
        !(reply["node"] == "negated" && reply["stage"] == "fix" && reply["attempt"] == 1)
    });
    let summary = world.grow(&plot, &[]).exits(1).json();
    assert_eq!(summary["failures"]["negated"], "no recorded reply for negated fix 1");
}
