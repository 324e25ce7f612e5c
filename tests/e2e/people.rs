//! People work in the folder too: edits, files of their own, rollback.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use crate::repair::git;
use crate::world::{Plot, World};

#[test]
fn a_file_changed_by_hand_stops_the_run_and_stays_as_it_is() {
    let world = World::new();
    let plot = Plot::garden();
    let _ = world.grow(&plot, &[]).exits(0);
    let mine = world.read("out/src/lib/basic.py").replace("return 2 * x", "return x + x  # mine");
    world.write("out/src/lib/basic.py", &mine);
    let _ = world
        .grow(&plot, &[])
        .exits(65)
        .says("src/lib/basic.py")
        .says("--keep-edits")
        .says("git checkout");
    assert_eq!(world.read("out/src/lib/basic.py"), mine);
    let _ = world.grow(&plot, &["--keep-edits"]).exits(0);
    assert_eq!(world.read("out/src/lib/basic.py"), mine);
    let _ = world.grow(&plot, &[]).exits(0);
    assert_eq!(world.read("out/src/lib/basic.py"), mine, "once kept it stays theirs");
}

#[test]
fn files_that_were_there_before_are_not_overwritten() {
    let world = World::new();
    world.write("out/README.md", "my readme\n");
    world.write(
        "out/tests/conftest.py",
        "import pytest\n\n@pytest.fixture\ndef three():\n    return 3\n",
    );
    let mut plot = Plot::default().function("f", "a", &[], &[], "x");
    plot.reply("f", "tests", 0, "```python\nfrom lib.a import f\n\ndef test_a(three):\n    assert f(three) == 3\n\ndef test_b():\n    assert f(1) == 1\n\ndef test_c():\n    assert f(0) == 0\n```");
    let _ = world.grow(&plot, &[]).exits(0).says("README.md is your own file");
    assert_eq!(world.read("out/README.md"), "my readme\n");
    let other = World::new();
    other.write("out/src/lib/a.py", "def other():\n    return 1\n");
    let _ = other.grow(&plot, &[]).exits(65).says("src/lib/a.py");
    assert_eq!(other.read("out/src/lib/a.py"), "def other():\n    return 1\n");
}

#[test]
fn the_run_can_start_at_a_node_whose_dependencies_have_passed() {
    let world = World::new();
    let plot = Plot::garden();
    let _ = world.grow(&plot, &["--start-from-node=negated"]).exits(65).says("summed");
    let _ = world.grow(&plot, &["--start-from-node=ghost"]).exits(65).says("no such node");
    let _ = world.grow(&plot, &["--start-from-node=square"]).exits(0);
    let checkpoint = world.checkpoint();
    assert_eq!(checkpoint["square"]["status"], "passed");
    assert_eq!(checkpoint["double"]["status"], "skipped");
    assert_eq!(checkpoint["shifted"]["status"], "skipped", "it depends on what was skipped");
    let _ = world.grow(&plot, &[]).exits(0);
    assert_eq!(world.checkpoint()["double"]["status"], "passed");
}

#[test]
fn rolling_back_returns_to_the_last_subgraph_that_passed_and_can_be_gone_on_from() {
    let world = World::new();
    let plot = Plot::garden();
    let _ = world.grow(&plot, &[]).exits(0);
    let (whole, first) = (world.tree(), world.journal("committed")[0]["subgraph"].clone());
    let first = first.as_str().expect("a name").to_owned();
    let ran = world.trellis(&["rollback", "out", "--to", &first, "--json"]).exits(0);
    assert_eq!(ran.json()["to"], first.as_str());
    assert!(!world.out().join("src/lib/middle.py").exists());
    assert_eq!(world.checkpoint()["shifted"]["status"], "pending");
    let _ = world.grow(&plot, &[]).exits(0);
    assert_eq!(world.tree()["src/lib/middle.py"], whole["src/lib/middle.py"]);
    let _ = world
        .trellis(&["rollback", "out", "--to", "ghost"])
        .exits(65)
        .says("no complete subgraph ghost");
    let _ = world.trellis(&["rollback", "."]).exits(65).says("Trellis did not generate");
}

#[test]
fn context_files_and_specification_reach_the_model_and_the_readme() {
    let world = World::new();
    let mut plot = Plot::garden();
    let spec = world.write("spec.md", "# Little Library\n\nArithmetic for gardeners.\n");
    let context = world.write("style.md", "Prefer words.\n");
    let arguments = world.plant(&plot);
    let mut graph = plot.graph();
    graph["metadata"] = serde_json::json!({});
    world.write("rpg.json", &graph.to_string());
    let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (spec, context) = (spec.display().to_string(), context.display().to_string());
    arguments.extend(["--spec", &spec, "--context", &context]);
    let _ = world.trellis(&arguments).exits(0);
    assert!(
        world.read("out/README.md").starts_with("# Little Library\n\nArithmetic for gardeners.\n")
    );
    plot.nodes.clear();
    fs::remove_file(&context).expect("a file");
    let _ = world.trellis(&arguments).exits(65).says("style.md");
}

#[test]
fn a_failed_node_can_be_written_by_hand() {
    let mut plot =
        Plot::default().function("good", "a", &[], &[], "x").tests("good", "a", [1, 2, 3]);
    plot = plot.function("hard", "a", &[], &[], "x").tests("hard", "a", [2, 3, 4]);
    plot = plot.function("after", "b", &["hard"], &[], "hard(x)").tests("after", "b", [2, 3, 4]);
    let world = World::new();
    let _ = world.grow(&plot, &[]).exits(1);
    assert_eq!(world.checkpoint()["hard"]["status"], "failed");
    let mine = format!(
        "{}\n\ndef hard(x):\n    return x + 1  # by hand\n",
        world.read("out/src/lib/a.py")
    );
    world.write("out/src/lib/a.py", &mine);
    let _ = world.grow(&plot, &["--keep-edits"]).exits(0);
    assert_eq!(world.read("out/src/lib/a.py"), mine);
    assert_eq!(world.checkpoint()["hard"]["status"], "passed");
    assert_eq!(world.checkpoint()["after"]["status"], "passed");
    assert!(world.read("out/tests/test_a.py").contains("def test_hard_2"));
}

#[test]
fn what_is_accepted_after_an_edit_was_kept_stays() {
    let bad = |name: &str| Plot::default().function(name, "a", &[], &[], "x");
    let mut plot = bad("aa").tests("aa", "a", [1, 2, 3]);
    plot = plot.function("ab", "a", &[], &[], "x").tests("ab", "a", [2, 3, 4]);
    plot = plot.function("bb", "a", &[], &[], "x").tests("bb", "a", [2, 3, 4]);
    let mend = |plot: &mut Plot, name: &str| {
        let good = format!("```python\ndef {name}(x: int) -> int:\n    return x + 1\n```");
        plot.reply(name, "fix", 0, &good);
    };
    let world = World::new();
    let _ = world.grow(&plot, &[]).exits(1);
    let mine = format!("{}\n\ndef mine():\n    return 'mine'\n", world.read("out/src/lib/a.py"));
    world.write("out/src/lib/a.py", &mine);
    mend(&mut plot, "bb");
    let _ = world.grow(&plot, &["--keep-edits"]).exits(1);
    mend(&mut plot, "ab");
    let _ = world.grow(&plot, &[]).exits(0);
    let text = world.read("out/src/lib/a.py");
    assert!(text.starts_with(&mine), "{text}");
    for name in ["def aa", "def ab", "def bb", "def mine"] {
        assert_eq!(text.matches(name).count(), 1, "{name} in\n{text}");
    }
    assert_eq!(world.read("out/tests/test_a.py").matches("def test_").count(), 9);
}

#[test]
fn an_edit_that_breaks_a_node_is_told_and_the_node_is_done_again() {
    let world = World::new();
    let plot = Plot::garden();
    let _ = world.grow(&plot, &[]).exits(0);
    let mine = world.read("out/src/lib/basic.py").replace("return x * x", "return x * x * x");
    world.write("out/src/lib/basic.py", &mine);
    let summary = world.grow(&plot, &["--keep-edits"]).exits(1).json();
    assert!(
        summary["failures"]["square"].as_str().is_some_and(|why| why.contains("whole suite")),
        "{summary}"
    );
    assert_eq!(world.checkpoint()["square"]["status"], "failed");
    assert_eq!(world.read("out/src/lib/basic.py"), mine);
}

#[test]
fn edits_are_committed_before_anything_is_built_on_them_and_survive_a_rollback() {
    let world = World::new();
    let plot = Plot::garden();
    let _ = world.grow(&plot, &[]).exits(0);
    let mine = format!("{}\n\ndef mine():\n    return 1\n", world.read("out/src/lib/basic.py"));
    world.write("out/src/lib/basic.py", &mine);
    let _ = world.grow(&plot, &["--keep-edits"]).exits(0);
    let _ = world.trellis(&["rollback", "out", "--to", "basic"]).exits(0);
    let history = world.git(&["log", "-S", "def mine", "--format=%s"]);
    assert!(history.contains("keep edits made by hand"));
    let _ = world.grow(&plot, &[]).exits(0);
    assert!(!world.read("out/src/lib/__init__.py").contains("mine"));
}

#[test]
fn a_package_file_of_the_user_s_is_found_before_the_model_is_asked() {
    let world = World::new();
    world.write("out/src/lib/__init__.py", "VERSION = 1\n");
    let plot = Plot::garden();
    let _ = world.grow(&plot, &[]).exits(65).says("src/lib/__init__.py");
    assert_eq!(world.journal("model_call").len(), 0);
    let _ = world.grow(&plot, &["--keep-edits"]).exits(0);
    assert_eq!(world.read("out/src/lib/__init__.py"), "VERSION = 1\n");
}

#[test]
fn running_again_with_nothing_to_do_touches_nothing() {
    let world = World::new();
    let plot = Plot::garden();
    let _ = world.grow(&plot, &[]).exits(0);
    let everything = || -> Vec<(String, String)> {
        [
            "docs/generation_checkpoint.json",
            "docs/generation_report.md",
            "docs/rpg.json",
            ".git/logs/HEAD",
        ]
        .map(|path| (path.to_owned(), world.read(&format!("out/{path}"))))
        .to_vec()
    };
    let first = everything();
    for _ in 0..2 {
        let _ = world.grow(&plot, &[]).exits(0);
        assert_eq!(everything(), first);
    }
}

#[test]
fn a_subgraph_completed_by_a_later_run_gets_its_commit_and_tag() {
    let mut plot = Plot::default().function("f", "a", &[], &[], "x").tests("f", "a", [2, 3, 4]);
    plot.nodes[0]["subgraph_id"] = "a b/c".into();
    let world = World::new();
    let _ = world.grow(&plot, &[]).exits(1);
    plot.reply("f", "fix", 0, "```python\ndef f(x: int) -> int:\n    return x + 1\n```");
    let _ = world.grow(&plot, &[]).exits(0);
    assert_eq!(world.git(&["tag"]), "phase4-subgraph-a=20b=2Fc\n");
    let _ = world.trellis(&["rollback", "out"]).exits(0);
}

/// Files that a person commits beside the generated ones may be a submodule or have a name that is
/// not text.
#[test]
fn a_rollback_leaves_the_files_of_a_person_alone() {
    let mut plot = Plot::default().function("f", "a", &[], &[], "x").tests("f", "a", [2, 3, 4]);
    let world = World::new();
    let _ = world.grow(&plot, &[]).exits(1);
    let named = world.out().join(OsStr::from_bytes(b"caf\xe9.bin"));
    fs::write(&named, b"\xff\n").expect("written");
    let inner = world.out().join("inner");
    git(&world.out(), &["init", "--quiet", "inner"]);
    git(&inner, &["commit", "--quiet", "--allow-empty", "-m", "inner"]);
    git(&world.out(), &["add", "."]);
    git(&world.out(), &["commit", "--quiet", "-m", "mine"]);
    plot.reply("f", "fix", 0, "```python\ndef f(x: int) -> int:\n    return x + 1\n```");
    let _ = world.grow(&plot, &[]).exits(0);
    let text = world.read("out/src/lib/a.py");
    git(&world.out(), &["rm", "--quiet", "--cached", "src/lib/a.py"]);
    world.write("out/.git/info/exclude", "/src/lib/a.py\n");
    git(&world.out(), &["commit", "--quiet", "-m", "kept out of git"]);
    let _ = world.trellis(&["rollback", "out"]).exits(0);
    assert_eq!(world.read("out/src/lib/a.py"), text);
    assert_eq!(world.git(&["ls-files", "src/lib/a.py"]), "");
    assert_eq!(fs::read(named).expect("a file"), b"\xff\n");
    assert!(inner.join(".git").exists());
}

#[test]
fn a_rollback_changes_nothing_beside_a_damaged_checkpoint() {
    let world = World::new();
    let _ = world.grow(&Plot::three(), &[]).exits(0);
    world.write("out/docs/generation_checkpoint.json", "{bad");
    let _ = world
        .trellis(&["rollback", "out", "--to", "basic"])
        .exits(65)
        .says("docs/generation_checkpoint.json is damaged");
    assert!(world.out().join("src/lib/middle.py").exists());
}

#[test]
fn another_graph_does_not_remove_what_was_grown_for_the_first() {
    let world = World::new();
    let _ = world.grow(&Plot::garden(), &[]).exits(0);
    let first = world.tree();
    let other =
        Plot::default().function("f", "other", &[], &[], "x").tests("f", "other", [1, 2, 3]);
    let _ = world
        .grow(&other, &[])
        .exits(65)
        .says("6 generated nodes are not in this graph")
        .says("--drop-removed");
    crate::world::assert_same(&world.tree(), &first);
    let _ = world.grow(&other, &["--drop-removed"]).exits(0);
    assert!(!world.out().join("src/lib/basic.py").exists());
}
