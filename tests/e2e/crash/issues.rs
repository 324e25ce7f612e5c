//! The implementation of an issue as work that can be killed, beside a person's own work.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::Workflow;
use super::workflows::quiet;
use crate::implement::{
    self, ALONE, CART, CODE, code, command_asking, in_p, model_beside, new_tests, records, shop,
};
use crate::interrupted_moves::half_written;
use crate::models::Service;
use crate::odd_repositories::WORKTREE;
use crate::repair::git;
use crate::world::{Ran, World};

/// Returns the command that implements the issue with recorded replies.
fn start(world: &World) -> Command {
    quiet(world.command(&[&implement::ARGUMENTS[..], &ALONE].concat()))
}

/// Asserts that another start ends well.
fn ends_well(world: &World) {
    let _ = implement::implement(world, &ALONE).exits(0);
}

/// Returns whether the work is merged, on top of a number of commits, and its remains are removed:
/// another start would implement it again.
fn is_merged(world: &World, before: usize) -> bool {
    let commits = in_p(world, &["rev-list", "--count", "main"]);
    commits == (before + 1).to_string() && records(world).is_empty()
}

/// Asserts which files have uncommitted changes, and which branches are there.
fn assert_left(world: &World, changed: &str, branches: &str, round: u64) {
    assert_eq!(in_p(world, &["status", "--short"]), changed, "round {round}");
    // The next start removes scratch folders of a killed process, as pruning removes git's record
    // of them.
    in_p(world, &["worktree", "prune"]);
    let found = in_p(world, &["branch", "--format=%(refname:short)"]);
    assert_eq!(found, branches, "round {round}");
}

/// Asserts the ends of files, by path.
fn assert_added(world: &World, texts: &[(&str, &str)], round: u64) {
    for (path, text) in texts {
        assert!(world.read(&format!("p/{path}")).ends_with(text), "round {round}: {path}");
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

/// One issue, in a repository with uncommitted work of a person.
pub(crate) struct Implement;

impl Workflow for Implement {
    fn world(&self, _round: u64) -> World {
        let world = shop(&[("scaffold", &[new_tests()]), ("implementation", &[code()])]);
        world.write("p/shop/cart.py", &format!("{CART}\n# mine\n"));
        world
    }

    fn command(&self, world: &World, _round: u64) -> Command {
        start(world)
    }

    fn assert_whole(&self, world: &World, round: u64) {
        let commits = in_p(world, &["rev-list", "--count", "main"]);
        assert!(["1", "2"].contains(&commits.as_str()), "round {round}: {commits} commits");
    }

    fn is_over(&self, world: &World) -> bool {
        is_merged(world, 1)
    }

    fn end(&self, world: &World, round: u64) {
        if !self.is_over(world) {
            ends_well(world);
        }
        assert_eq!(in_p(world, &["rev-list", "--count", "main"]), "2", "round {round}: one commit");
        assert_eq!(world.read("p/shop/discount.py"), CODE, "round {round}");
        assert_eq!(in_p(world, &["show", "main:shop/discount.py"]) + "\n", CODE, "round {round}");
        assert_eq!(world.read("p/shop/cart.py"), format!("{CART}\n# mine\n"), "round {round}");
        assert_left(world, "M shop/cart.py", "main", round);
    }
}

/// An issue that waits for a review, with a person's edits in its worktree: a file of the work,
/// another one, a new one, and a merge of the target that is not committed.
pub(crate) struct ImplementEdited;

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
        start(world)
    }

    fn is_over(&self, world: &World) -> bool {
        is_merged(world, 2)
    }

    fn end(&self, world: &World, round: u64) {
        ends_well(world);
        assert_eq!(in_p(world, &["rev-list", "--count", "main"]), "3", "round {round}");
        assert_added(world, &EDITED, round);
        let changed = in_p(world, &["diff", "--name-only", "main~1", "main"]);
        assert!(!changed.contains("theirs.txt"), "round {round}: {changed}");
        assert_left(world, "", "main", round);
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
        start(world)
    }

    fn is_over(&self, world: &World) -> bool {
        is_merged(world, 1)
    }

    fn end(&self, world: &World, round: u64) {
        ends_well(world);
        let changed = in_p(world, &["diff", "--name-status", "main~1", "main"]);
        let wanted = "A\tshop/discount.py\nA\ttests/test_discount.py";
        assert_eq!(changed, wanted, "round {round}");
        assert_left(world, "", "main\ntrellis/aside/issue-42-1", round);
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
        let service = model_beside(move || {
            if !is_edited.swap(true, Relaxed) {
                add(&worktree, &EDITED[1..]);
            }
        });
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
        is_merged(world, 1)
    }

    fn end(&self, world: &World, round: u64) {
        let start = || {
            let output = self.command(world, round).stderr(Stdio::piped()).output();
            Ran::of(output.expect("trellis starts"))
        };
        let (first, last) = (start(), start());
        assert!(first.code == Some(0) || last.code == Some(0), "{} {}", first.stderr, last.stderr);
        assert_added(world, &EDITED[1..], round);
        assert_eq!(world.read("p/shop/discount.py"), CODE, "round {round}");
        assert_left(world, "", "main", round);
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
        start(world)
    }

    fn is_over(&self, world: &World) -> bool {
        is_merged(world, 2)
    }

    fn end(&self, world: &World, round: u64) {
        ends_well(world);
        assert_added(world, &[("cut.txt", "two\nthree\n"), ("new.txt", "new\n")], round);
        assert_added(world, &[("kept", "a file now\n")], round);
        assert_added(world, &EDITED[1..], round);
        assert!(!world.root().join("p/old.txt").exists(), "round {round}");
        assert_left(world, "", "main", round);
    }
}
