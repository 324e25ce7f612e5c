//! The history of a generated repository: one commit per subgraph, with exactly that subgraph.

use crate::regression::chain;
use crate::world::{Plot, World};

/// Subgraphs with alternating nodes in one file, each depending on the other.
fn woven() -> Plot {
    let mut plot = Plot::default()
        .function("alone", "alone", &[], &[], "x - 1")
        .tests("alone", "alone", [0, 1, 2])
        .function("first", "basic", &[], &["x"], "x + 1")
        .tests("first", "basic", [2, 3, 4])
        .function("other", "basic", &[], &["x", "2 * x"], "3 * x")
        .tests("other", "basic", [3, 6, 9])
        .function("late", "basic", &["other"], &["x"], "other(x) + 1")
        .tests("late", "basic", [4, 7, 10])
        .function("last", "basic", &["first"], &[], "first(x) + x")
        .tests("last", "basic", [3, 5, 7]);
    for (node, subgraph) in plot.nodes.iter_mut().zip(["z", "one", "two", "one", "two"]) {
        node["subgraph_id"] = subgraph.into();
    }
    plot
}

/// Returns tree and subject of each subgraph's commit, oldest first.
pub(crate) fn milestones(world: &World) -> Vec<String> {
    let log = world.git(&["log", "--reverse", "--format=%T %s"]);
    log.lines().filter(|line| line.contains(" feat: ")).map(str::to_owned).collect()
}

#[test]
fn any_number_of_jobs_makes_the_same_commits() {
    for plot in [woven(), chain()] {
        let (one, four) = (World::new(), World::new());
        for (world, jobs) in [(&one, "--jobs=1"), (&four, "--jobs=4")] {
            let _ = world.grow(&plot, &[jobs]).exits(0);
        }
        let milestones = milestones(&one);
        assert!(milestones.len() > 1, "{milestones:?}");
        assert_eq!(self::milestones(&four), milestones);
    }
}

#[test]
fn a_subgraph_s_commit_holds_it_and_what_it_builds_on() {
    let world = World::new();
    let _ = world.grow(&woven(), &["--jobs=4"]).exits(0);
    let show = |what: &str| world.git(&["show", &format!("phase4-subgraph-{what}")]);
    let first = show("two:src/lib/basic.py");
    assert!(["first", "other", "last"].iter().all(|it| first.contains(&format!("def {it}"))));
    assert!(!first.contains("def late"), "it belongs to another subgraph: {first}");
    assert!(show("one:src/lib/basic.py").contains("def late"));
    let tests = show("two:tests/test_basic.py");
    assert!(tests.contains("test_last_0") && !tests.contains("test_late_0"), "{tests}");
    let files = world.git(&["ls-tree", "-r", "--name-only", "phase4-subgraph-z"]);
    assert!(files.contains("src/lib/alone.py") && files.contains("pyproject.toml"), "{files}");
    assert!(!files.contains("basic.py"), "{files}");
    let readme = show("z:README.md");
    assert!(readme.contains("alone") && !readme.contains("late"), "{readme}");
}

/// Each commit is a testable repository, as a rollback restores it.
#[test]
fn every_subgraph_s_commit_passes_its_own_tests() {
    let world = World::new();
    let _ = world.grow(&woven(), &[]).exits(0);
    for (subgraph, tests) in [("z", 3), ("two", 12), ("one", 15)] {
        let folder = world.root().join(subgraph).display().to_string();
        let tag = format!("phase4-subgraph-{subgraph}");
        world.git(&["worktree", "add", "--quiet", &folder, &tag]);
        let report = world.trellis(&["test", &folder, "--json"]).exits(0).json();
        let passed = report["tests"].as_array().map(Vec::len);
        assert_eq!(passed, Some(tests), "{subgraph}: {report}");
    }
}

#[test]
fn nothing_is_left_to_commit_and_what_a_person_staged_stays_so() {
    let world = World::new();
    let _ = world.grow(&woven(), &[]).exits(0);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    assert!(!world.git(&["ls-files"]).contains("test_results.xml"));
    world.write("out/notes.txt", "mine\n");
    world.git(&["add", "notes.txt"]);
    // A subgraph without a passing node has nothing to commit.
    let none = woven().function("none", "none", &[], &[], "x").tests("none", "none", [9, 9, 9]);
    let more = none.function("more", "more", &["last"], &[], "last(x) + 1").tests(
        "more",
        "more",
        [4, 6, 8],
    );
    let _ = world.grow(&more, &[]).exits(1);
    assert_eq!(world.git(&["status", "--porcelain"]), "A  notes.txt\n");
}

/// A user's repository may use another hash than git's default; removed files are removed from its
/// commits too.
#[test]
fn a_repository_with_long_object_names_is_committed_to() {
    let world = World::new();
    std::fs::create_dir_all(world.out()).expect("a folder");
    world.git(&["init", "--quiet", "--object-format=sha256"]);
    let _ = world.grow(&woven(), &[]).exits(0);
    assert_eq!(milestones(&world).len(), 3);
    let other = Plot::default().function("f", "f", &[], &[], "x").tests("f", "f", [1, 2, 3]);
    let _ = world.grow(&other, &["--drop-removed"]).exits(0);
    let files = world.git(&["ls-tree", "-r", "--name-only", "phase4-subgraph-f"]);
    assert!(files.contains("src/lib/f.py") && !files.contains("basic.py"), "{files}");
    assert_eq!(world.git(&["status", "--porcelain"]), "");
}
