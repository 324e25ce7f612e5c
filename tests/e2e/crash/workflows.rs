//! Workflows as work that can be killed: small, with a fix on the way, beside a person's own work.
//! Those of an issue are in `issues`.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use super::{Workflow, nothing_accepted_runs_again};
use crate::commits::milestones;
use crate::fixes::proposed;
use crate::repair::{self, CALCULATOR, dirty, files, git, mended, repair};
use crate::tasks::{self, Task, in_out, list};
use crate::world::{Plot, Ran, World, assert_same, tree};
use crate::write_tests;

/// Returns a command in a process group of its own, without output.
pub(super) fn quiet(mut command: Command) -> Command {
    command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command
}

/// A planning graph, generated with one worker or with three, by round.
pub(crate) struct Generate {
    plot: Plot,
    nodes: usize,
    undisturbed: World,
}

impl Generate {
    pub(crate) fn new(plot: Plot) -> Generate {
        let undisturbed = World::new();
        let _ = undisturbed.grow(&plot, &[]).exits(0);
        Generate { nodes: plot.nodes.len(), plot, undisturbed }
    }

    fn arguments(&self, world: &World, round: u64) -> Vec<String> {
        let mut arguments = world.plant(&self.plot);
        arguments.push(format!("--jobs={}", if round.is_multiple_of(2) { 1 } else { 3 }));
        arguments
    }
}

impl Workflow for Generate {
    fn world(&self, _round: u64) -> World {
        World::new()
    }

    fn command(&self, world: &World, round: u64) -> Command {
        let arguments = self.arguments(world, round);
        quiet(world.command(&arguments.iter().map(String::as_str).collect::<Vec<_>>()))
    }

    fn end(&self, world: &World, round: u64) {
        let arguments = self.arguments(world, round);
        let _ = world.trellis(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).exits(0);
        assert_same(&world.tree(), &self.undisturbed.tree());
        assert_eq!(milestones(world), milestones(&self.undisturbed), "round {round}");
        nothing_accepted_runs_again(world, self.nodes, round);
        let _ = world.trellis(&["log", "out", "--verify"]).exits(0);
    }
}

/// A rollback of a generated repository to its first subgraph, after which the generation goes on:
/// at once, or after the rollback is asked for again, by round.
pub(crate) struct Rollback {
    generate: Generate,
    undisturbed: World,
}

const ROLLBACK: [&str; 4] = ["rollback", "out", "--to", "basic"];

impl Rollback {
    pub(crate) fn new() -> Rollback {
        let generate = Generate::new(Plot::three());
        let undisturbed = World::new();
        let _ = undisturbed.grow(&generate.plot, &[]).exits(0);
        let _ = undisturbed.trellis(&ROLLBACK).exits(0);
        Rollback { generate, undisturbed }
    }
}

impl Workflow for Rollback {
    fn world(&self, _round: u64) -> World {
        let world = World::new();
        let _ = world.grow(&self.generate.plot, &[]).exits(0);
        world.write("out/mine.txt", "mine\n");
        world
    }

    fn command(&self, world: &World, _round: u64) -> Command {
        quiet(world.command(&ROLLBACK))
    }

    fn end(&self, world: &World, round: u64) {
        if round == 0 {
            let _ = world.trellis(&ROLLBACK).exits(0);
            assert_same(&generated(world), &generated(&self.undisturbed));
            assert_eq!(world.git(&["status", "--short"]), "?? mine.txt\n");
        }
        let _ = world.grow(&self.generate.plot, &[]).exits(0);
        assert_same(&generated(world), &generated(&self.generate.undisturbed));
        assert_eq!(world.read("out/mine.txt"), "mine\n");
        assert_eq!(world.git(&["status", "--short"]), "?? mine.txt\n", "round {round}");
        let _ = world.trellis(&["log", "out", "--verify"]).exits(0);
    }
}

/// Returns the generated files, but for the report, which has the titles of all commits.
fn generated(world: &World) -> BTreeMap<String, String> {
    let mut files = world.tree();
    files.retain(|path, _| !["mine.txt", "docs/generation_report.md"].contains(&path.as_str()));
    files
}

/// Two failing tests, fixed beside staged and unstaged work of a person.
pub(crate) struct Repair;

impl Repair {
    fn options(round: u64) -> &'static [&'static str] {
        [&[][..], &["--commit"], &["--worktree"]][round as usize % 3]
    }
}

impl Workflow for Repair {
    fn world(&self, _round: u64) -> World {
        dirty()
    }

    fn command(&self, world: &World, round: u64) -> Command {
        quiet(world.command(&[&repair::ARGUMENTS, Repair::options(round)].concat()))
    }

    fn assert_whole(&self, world: &World, round: u64) {
        let code = world.read("p/calculator.py");
        let steps = [CALCULATOR.to_owned(), CALCULATOR.replace("a - b", "a + b"), mended()];
        let is_whole = steps.iter().any(|it| code == format!("{it}\n\nMINE = 1\n"));
        assert!(is_whole, "round {round}:\n{code}");
    }

    fn end(&self, world: &World, round: u64) {
        let options = Repair::options(round);
        let before = files(&dirty());
        let _ = repair(world, options).exits(0);
        let _ = world.trellis(&["log", "p", "--verify"]).exits(0);
        let mut left = files(world);
        let code = left.insert("calculator.py".into(), before["calculator.py"].clone());
        assert_same(&left, &before);
        let fixed = if options == ["--worktree"] { CALCULATOR.to_owned() } else { mended() };
        assert_eq!(code, Some(format!("{fixed}\n\nMINE = 1\n")), "round {round}, {options:?}");
        let p = world.root().join("p");
        assert_eq!(git(&p, &["worktree", "list"]).lines().count(), 1, "round {round}");
        assert_eq!(git(&p, &["diff", "--cached", "--name-only"]), "test_calculator.py\n");
        if options == ["--commit"] {
            assert_eq!(git(&p, &["show", "HEAD:calculator.py"]), mended(), "round {round}");
        }
        let waiting = world.trellis(&["fixes", "list", "--project", "p"]).exits(0).stdout;
        assert_eq!(waiting, "no fix needs your review\n", "round {round}, {options:?}");
    }
}

/// A list of tasks.
pub(crate) struct Tasks {
    tasks: Vec<Task>,
    undisturbed: World,
}

impl Tasks {
    pub(crate) fn new(tasks: &[Task]) -> Tasks {
        let undisturbed = list(tasks, (Vec::new(), Vec::new()));
        let _ = tasks::run(&undisturbed, &[]).exits(0);
        Tasks { tasks: tasks.to_vec(), undisturbed }
    }
}

impl Workflow for Tasks {
    fn world(&self, _round: u64) -> World {
        list(&self.tasks, (Vec::new(), Vec::new()))
    }

    fn command(&self, world: &World, _round: u64) -> Command {
        quiet(world.command(&tasks::ARGUMENTS))
    }

    fn end(&self, world: &World, round: u64) {
        let result = tasks::run(world, &[]).exits(0).json();
        assert_eq!(result["progress"], 100, "round {round}: {result:#}");
        assert_same(&tree(&world.out()), &tree(&self.undisturbed.out()));
        // Commits: the project, each task, and their common tests.
        let commits = (self.tasks.len() + 2).to_string();
        assert_eq!(in_out(world, &["rev-list", "--count", "main"]), commits, "round {round}");
        assert_eq!(in_out(world, &["status", "--short"]), "", "round {round}");
        in_out(world, &["worktree", "prune"]);
        let branches = in_out(world, &["branch", "--format=%(refname:short)"]);
        assert_eq!(branches, "main", "round {round}");
    }
}

/// Tests for an existing function, after an unusable reply.
pub(crate) struct WriteTests {
    undisturbed: World,
}

impl WriteTests {
    pub(crate) fn new() -> WriteTests {
        let undisturbed = write_tests::added_to();
        let _ = undisturbed.trellis(&write_tests::ARGUMENTS).exits(0);
        WriteTests { undisturbed }
    }
}

impl Workflow for WriteTests {
    fn world(&self, _round: u64) -> World {
        write_tests::added_to()
    }

    fn command(&self, world: &World, _round: u64) -> Command {
        quiet(world.command(&write_tests::ARGUMENTS))
    }

    /// Returns whether the work is complete, as after a kill at the very end.
    fn is_over(&self, world: &World) -> bool {
        tree(&world.root().join("app")) == tree(&self.undisturbed.root().join("app"))
            && write_tests::registered(world) == write_tests::registered(&self.undisturbed)
    }

    fn end(&self, world: &World, round: u64) {
        if !self.is_over(world) {
            let _ = world.trellis(&write_tests::ARGUMENTS).exits(0);
        }
        let app = |world: &World| tree(&world.root().join("app"));
        assert_same(&app(world), &app(&self.undisturbed));
        let registered = write_tests::registered(world);
        assert_eq!(registered, write_tests::registered(&self.undisturbed), "round {round}");
        let _ = world.trellis(&["log", "app", "--verify"]).exits(0);
    }
}

/// A decision on a fix: it is accepted, or undone after that, by round.
pub(crate) struct Decision;

const DECISIONS: [&[&str]; 2] =
    [&["fixes", "accept", "fix-1", "--sandbox", "local"], &["fixes", "undo", "fix-1"]];

impl Decision {
    fn decide(world: &World, round: usize) -> Ran {
        world.trellis(DECISIONS[round])
    }

    fn state(world: &World) -> String {
        let listed = world.trellis(&["fixes", "list", "--all", "--json"]).exits(0).json();
        listed["fixes"][0]["state"].as_str().expect("a state").to_owned()
    }
}

impl Workflow for Decision {
    fn world(&self, round: u64) -> World {
        let world = proposed();
        if round == 1 {
            let _ = Decision::decide(&world, 0).exits(0);
        }
        world
    }

    fn command(&self, world: &World, round: u64) -> Command {
        quiet(world.command(DECISIONS[round as usize]))
    }

    fn end(&self, world: &World, round: u64) {
        let round = round as usize;
        let states = ["waiting", "accepted", "undone"];
        if Decision::state(world) == states[round] {
            let _ = Decision::decide(world, round).exits(0);
        }
        assert_eq!(Decision::state(world), states[round + 1]);
        let is_fixed = world.read("rooms/bookings.py").contains("one.start < other.end");
        assert_eq!(is_fixed, round == 0);
        let waiting = world.trellis(&["fixes", "list"]).exits(0).stdout;
        assert_eq!(waiting, "no fix needs your review\n");
        if round == 0 {
            let _ = Decision::decide(world, 1).exits(0);
            assert!(world.read("rooms/bookings.py").contains("one.start <= other.end"));
        }
    }
}
