//! Lists of tasks with slow models: the result is the same whatever ends first.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::random::Random;
use crate::tasks::{Task, in_out, list, names, rivals, run};
use crate::world::{World, assert_same, tree};

/// A diamond and a failing branch.
const FEW: [Task; 6] = [
    ("base", &[], 0),
    ("left", &["base"], 1),
    ("right", &["base"], 0),
    ("top", &["left", "right"], 0),
    ("bad", &[], 9),
    ("after_bad", &["bad"], 0),
];

/// A diamond, a chain, a failing branch, and an independent task.
pub(crate) const MANY: [Task; 9] = [
    ("base", &[], 0),
    ("left", &["base"], 1),
    ("right", &["base"], 0),
    ("top", &["left", "right"], 0),
    ("one", &[], 0),
    ("two", &["one"], 0),
    ("bad", &[], 9),
    ("after_bad", &["bad"], 0),
    ("alone", &[], 0),
];

/// Gives each reply a latency of up to `most` milliseconds.
fn slowed(world: &World, random: &mut Random, most: u64) {
    let replies = world.read("replies.jsonl");
    let lines = replies.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).expect("a reply");
        line["latency_ms"] = json!(random.below(most + 1));
        line.to_string()
    });
    world.write("replies.jsonl", &lines.collect::<Vec<_>>().join("\n"));
}

/// Returns the tasks on the main branch, oldest first.
fn order(world: &World) -> Vec<String> {
    let format = "--format=%(trailers:key=Trellis-Task,valueonly,separator=%x2C)";
    let log = in_out(world, &["log", "--reverse", format, "main"]);
    log.lines().filter(|it| !it.is_empty()).map(str::to_owned).collect()
}

/// Returns messages and changes of the main branch's commits, without their order.
fn commits(world: &World) -> BTreeSet<String> {
    let all = in_out(world, &["rev-list", "main"]);
    let shown = |it: &str| in_out(world, &["show", "--format=%an %ae%n%B", it]);
    all.lines().map(shown).collect()
}

#[test]
fn in_whatever_order_tasks_end_the_tree_and_the_commits_are_the_same() {
    same_in_any_order(&FEW, &mut Random(20_261_123), 0..1);
}

/// Gives replies new latencies in each round, and asserts the same result.
pub(crate) fn same_in_any_order(
    tasks: &[Task],
    random: &mut Random,
    rounds: impl Iterator<Item = u64>,
) {
    let new = || list(tasks, (Vec::new(), Vec::new()));
    let undisturbed = new();
    let wanted = run(&undisturbed, &["--jobs", "1"]).exits(1).json();
    assert_eq!(names(&wanted["blockedTasks"]), ["after_bad"]);
    let mut orders = BTreeSet::new();
    for round in rounds {
        let world = new();
        slowed(&world, random, 60);
        let result = run(&world, &["--replay-latency"]).exits(1).json();
        for field in ["status", "progress", "completedTasks", "failedTasks", "blockedTasks"] {
            assert_eq!(result[field], wanted[field], "round {round}: {field}");
        }
        assert_same(&tree(&world.out()), &tree(&undisturbed.out()));
        assert_eq!(commits(&world), commits(&undisturbed), "round {round}");
        assert_eq!(in_out(&world, &["status", "--short"]), "", "round {round}");
        orders.insert(order(&world));
    }
    eprintln!("{} orders", orders.len());
}

#[test]
fn of_two_rivals_one_is_merged_whichever_ends_first() {
    one_rival_is_merged(&mut Random(20_261_124), 0..1);
}

/// Gives replies of two tasks that change one line new latencies in each round, and asserts that
/// one of them is merged completely.
pub(crate) fn one_rival_is_merged(random: &mut Random, rounds: impl Iterator<Item = u64>) {
    let tasks: [Task; 2] = [("one", &[], 0), ("two", &["one"], 0)];
    let alone = |id: &str| {
        let (all, lines) = rivals();
        let of = |field: &str, all: Vec<Value>| -> Vec<Value> {
            all.into_iter().filter(|it| it[field] == id).collect()
        };
        let world = list(&tasks, (of("id", all), of("node", lines)));
        let _ = run(&world, &[]).exits(0);
        (tree(&world.out()), commits(&world))
    };
    let mut outcomes = BTreeMap::new();
    let mut won: BTreeMap<String, usize> = BTreeMap::new();
    for round in rounds {
        let world = list(&tasks, rivals());
        slowed(&world, random, 60);
        let result = run(&world, &["--replay-latency"]).exits(1).json();
        let done = names(&result["completedTasks"]);
        let [winner] = &done.iter().filter(|it| it.starts_with("rival_")).collect::<Vec<_>>()[..]
        else {
            panic!("round {round}: {result:#}");
        };
        let (tree_of_it, commits_of_it) =
            outcomes.entry((*winner).clone()).or_insert_with(|| alone(winner));
        assert_same(&tree(&world.out()), tree_of_it);
        assert_eq!(&commits(&world), &*commits_of_it, "round {round}");
        assert_eq!(names(&result["failedTasks"]).len(), 1, "round {round}: {result:#}");
        *won.entry((*winner).clone()).or_default() += 1;
    }
    eprintln!("{won:?}");
}

/// A slow suite, so that many tasks are finished during one run of it.
const SLOW: &str = "
  tests/test_slow.py: |
    import time


    def test_slow():
        time.sleep(1)
";

#[test]
fn what_waits_for_a_merge_goes_behind_one_run_of_the_tests() {
    let ids = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let tasks: Vec<Task> = ids.iter().map(|id| (*id, &[][..], 0)).collect();
    let world = list(&tasks, (Vec::new(), Vec::new()));
    let stack = world.read("trellis-stacks/plain.yaml");
    let slow = stack.replacen("\nconventions:", &format!("{SLOW}conventions:"), 1);
    world.write("trellis-stacks/plain.yaml", &slow);
    let result = run(&world, &["--jobs", "8"]).exits(0).json();
    assert_eq!(names(&result["completedTasks"]).len(), ids.len(), "{result:#}");
    let merges = world.journal("stage").into_iter();
    let merges = merges.filter(|it| it["stage"] == "tests of the merged result");
    let tested: Vec<String> = merges.map(|it| it["reason"].to_string()).collect();
    let branches = |it: &String| it.matches("trellis/task-").count();
    // Merges run one at a time, each after a second of tests: to be merged one by one, tasks would
    // have to end a second apart. The first merge needs no test, since nothing was merged before.
    assert!(tested.iter().any(|it| branches(it) > 2), "{tested:#?}");
    assert!(tested.len() < ids.len() - 2, "{tested:#?}");
    assert!(tested.iter().map(branches).sum::<usize>() >= ids.len() - 1, "{tested:#?}");
    assert_eq!(order(&world).len(), ids.len());
    assert_eq!(in_out(&world, &["rev-list", "--merges", "--count", "main"]), "0");
}
