//! The five workflows as work that can be killed: small, with a fix on the way, beside a person's
//! own work.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::{Workflow, nothing_accepted_runs_again};
use crate::commits::milestones;
use crate::implement::{
    self, ALONE, CART, CODE, code, command_asking, in_p, new_tests, records, shop,
};
use crate::interrupted_moves::half_written;
use crate::models::{Service, prompt, said};
use crate::repair::{self, CALCULATOR, dirty, files, git, mended, repair};
use crate::tasks::{self, Task, in_out, list};
use crate::world::{Plot, Ran, World, assert_same, tree};
use crate::write_tests;

/// Returns a command in a process group of its own, without output.
fn quiet(mut command: Command) -> Command {
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

/// One issue, in a repository with uncommitted work of a person.
pub(crate) struct Implement;

impl Workflow for Implement {
    fn world(&self, _round: u64) -> World {
        let world = shop(&[("scaffold", &[new_tests()]), ("implementation", &[code()])]);
        world.write("p/shop/cart.py", &format!("{CART}\n# mine\n"));
        world
    }

    fn command(&self, world: &World, _round: u64) -> Command {
        quiet(world.command(&[&implement::ARGUMENTS[..], &ALONE].concat()))
    }

    fn assert_whole(&self, world: &World, round: u64) {
        let commits = in_p(world, &["rev-list", "--count", "main"]);
        assert!(["1", "2"].contains(&commits.as_str()), "round {round}: {commits} commits");
    }

    /// Returns whether the work is merged and its remains are removed: another start would
    /// implement it again.
    fn is_over(&self, world: &World) -> bool {
        in_p(world, &["rev-list", "--count", "main"]) != "1" && records(world).is_empty()
    }

    fn end(&self, world: &World, round: u64) {
        if !self.is_over(world) {
            let _ = world.trellis(&[&implement::ARGUMENTS[..], &ALONE].concat()).exits(0);
        }
        assert_eq!(in_p(world, &["rev-list", "--count", "main"]), "2", "round {round}: one commit");
        assert_eq!(world.read("p/shop/discount.py"), CODE, "round {round}");
        assert_eq!(in_p(world, &["show", "main:shop/discount.py"]) + "\n", CODE, "round {round}");
        assert_eq!(in_p(world, &["status", "--short"]), "M shop/cart.py", "round {round}");
        assert_eq!(world.read("p/shop/cart.py"), format!("{CART}\n# mine\n"), "round {round}");
        // The next start removes scratch folders of a killed process, as pruning removes git's
        // record of them.
        in_p(world, &["worktree", "prune"]);
        assert_eq!(in_p(world, &["branch", "--format=%(refname:short)"]), "main", "round {round}");
    }
}

/// An issue that waits for a review, with a person's edits in its worktree: a file of the work,
/// another one, a new one, and a merge of the target that is not committed.
pub(crate) struct ImplementEdited;

const WORKTREE: &str = "p/.trellis/worktrees/issue-42";

impl Workflow for ImplementEdited {
    fn world(&self, _round: u64) -> World {
        let world = shop(&[("scaffold", &[new_tests()]), ("implementation", &[code()])]);
        let _ = implement::implement(&world, &[]).exits(2);
        world.write("p/theirs.txt", "theirs\n");
        in_p(&world, &["add", "theirs.txt"]);
        in_p(&world, &["commit", "--quiet", "-m", "theirs"]);
        let worktree = world.root().join(WORKTREE);
        git(&worktree, &["merge", "--quiet", "--no-commit", "--no-ff", "main"]);
        add(&worktree, &EDITED);
        world
    }

    fn command(&self, world: &World, _round: u64) -> Command {
        quiet(world.command(&[&implement::ARGUMENTS[..], &ALONE].concat()))
    }

    fn is_over(&self, world: &World) -> bool {
        in_p(world, &["rev-list", "--count", "main"]) == "3" && records(world).is_empty()
    }

    fn end(&self, world: &World, round: u64) {
        let _ = world.trellis(&[&implement::ARGUMENTS[..], &ALONE].concat()).exits(0);
        assert_eq!(in_p(world, &["rev-list", "--count", "main"]), "3", "round {round}");
        assert_eq!(in_p(world, &["status", "--short"]), "", "round {round}");
        for (path, text) in EDITED {
            assert!(world.read(&format!("p/{path}")).ends_with(text), "round {round}: {path}");
        }
        let changed = in_p(world, &["diff", "--name-only", "main~1", "main"]);
        assert!(!changed.contains("theirs.txt"), "round {round}: {changed}");
        in_p(world, &["worktree", "prune"]);
        assert_eq!(in_p(world, &["branch", "--format=%(refname:short)"]), "main", "round {round}");
    }
}

/// An issue that ended without a merge and is begun again: the work before is kept on a branch.
pub(crate) struct ImplementAgain;

impl Workflow for ImplementAgain {
    fn world(&self, _round: u64) -> World {
        let empty = implement::made("");
        let world = shop(&[("scaffold", &[new_tests()]), ("implementation", &[empty])]);
        let _ = implement::implement(&world, &["--max-retries", "0"]).exits(2);
        implement::answer(&world, &[("scaffold", &[new_tests()]), ("implementation", &[code()])]);
        world
    }

    fn command(&self, world: &World, _round: u64) -> Command {
        quiet(world.command(&[&implement::ARGUMENTS[..], &ALONE].concat()))
    }

    fn is_over(&self, world: &World) -> bool {
        in_p(world, &["rev-list", "--count", "main"]) != "1" && records(world).is_empty()
    }

    fn end(&self, world: &World, round: u64) {
        let _ = world.trellis(&[&implement::ARGUMENTS[..], &ALONE].concat()).exits(0);
        let changed = in_p(world, &["diff", "--name-status", "main~1", "main"]);
        let wanted = "A\tshop/discount.py\nA\ttests/test_discount.py";
        assert_eq!(changed, wanted, "round {round}");
        in_p(world, &["worktree", "prune"]);
        let branches = in_p(world, &["branch", "--format=%(refname:short)"]);
        assert_eq!(branches, "main\ntrellis/aside/issue-42-1", "round {round}");
    }
}

/// An issue in whose worktree a person edits files while the model is asked for code, once in each
/// world. That start ends with their names, and the next one merges them with the work.
#[derive(Default)]
pub(crate) struct ImplementEditedMeanwhile {
    /// The models, by the folder of their world.
    services: Mutex<BTreeMap<PathBuf, Service>>,
}

impl Workflow for ImplementEditedMeanwhile {
    fn world(&self, _round: u64) -> World {
        let (world, is_edited) = (shop(&[]), AtomicBool::new(false));
        let worktree = world.root().join(WORKTREE);
        let service = Service::start(Box::new(move |question| {
            if prompt(question).contains("nothing but tests") {
                return said(&new_tests());
            }
            if !is_edited.swap(true, Relaxed) {
                add(&worktree, &EDITED[1..]);
            }
            said(&code())
        }));
        self.services.lock().expect("no panic").insert(world.root().to_owned(), service);
        world
    }

    fn command(&self, world: &World, _round: u64) -> Command {
        let services = self.services.lock().expect("no panic");
        quiet(command_asking(world, &services[world.root()].url))
    }

    fn exit_code(&self) -> i32 {
        2
    }

    fn is_over(&self, world: &World) -> bool {
        in_p(world, &["rev-list", "--count", "main"]) != "1" && records(world).is_empty()
    }

    fn end(&self, world: &World, round: u64) {
        let start = || {
            let output = self.command(world, round).stderr(Stdio::piped()).output();
            Ran::of(output.expect("trellis starts"))
        };
        let (first, last) = (start(), start());
        assert!(first.code == Some(0) || last.code == Some(0), "{} {}", first.stderr, last.stderr);
        for (path, text) in &EDITED[1..] {
            assert!(world.read(&format!("p/{path}")).ends_with(text), "round {round}: {path}");
        }
        assert_eq!(world.read("p/shop/discount.py"), CODE, "round {round}");
        assert_eq!(in_p(world, &["status", "--short"]), "", "round {round}");
        in_p(world, &["worktree", "prune"]);
        assert_eq!(in_p(world, &["branch", "--format=%(refname:short)"]), "main", "round {round}");
    }
}

/// An issue whose start was killed while its files were written; a person has edited another file
/// since.
pub(crate) struct ImplementHalfWritten;

impl Workflow for ImplementHalfWritten {
    fn world(&self, _round: u64) -> World {
        let world = half_written();
        add(&world.root().join(WORKTREE), &EDITED[1..]);
        world
    }

    fn command(&self, world: &World, _round: u64) -> Command {
        quiet(world.command(&[&implement::ARGUMENTS[..], &ALONE].concat()))
    }

    fn is_over(&self, world: &World) -> bool {
        in_p(world, &["rev-list", "--count", "main"]) == "3" && records(world).is_empty()
    }

    fn end(&self, world: &World, round: u64) {
        let _ = world.trellis(&[&implement::ARGUMENTS[..], &ALONE].concat()).exits(0);
        let written = [("cut.txt", "two\nthree\n"), ("new.txt", "new\n"), ("kept", "a file now\n")];
        for (path, text) in written.iter().chain(&EDITED[1..]) {
            assert!(world.read(&format!("p/{path}")).ends_with(text), "round {round}: {path}");
        }
        assert!(!world.root().join("p/old.txt").exists(), "round {round}");
        assert_eq!(in_p(world, &["status", "--short"]), "", "round {round}");
        in_p(world, &["worktree", "prune"]);
        assert_eq!(in_p(world, &["branch", "--format=%(refname:short)"]), "main", "round {round}");
    }
}

/// Adds texts to the ends of files, by path.
fn add(folder: &Path, texts: &[(&str, &str)]) {
    for (path, text) in texts {
        let before = std::fs::read_to_string(folder.join(path)).unwrap_or_default();
        std::fs::write(folder.join(path), before + text).expect("written");
    }
}

/// A person's edits, by path: what they add to the files.
const EDITED: [(&str, &str); 3] =
    [("shop/discount.py", "# mine\n"), ("shop/audit.py", "# mine\n"), ("notes.txt", "mine\n")];

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
