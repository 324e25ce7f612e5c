//! A repair of the last commit, beside the tree: a worktree of git that nobody else uses, and a branch with the fixes.

use std::path::PathBuf;

use super::person::Person;
use super::{Order, commit, driver};
use crate::control::Control;
use crate::error::Fault;
use crate::methods::repair::RepairResult;
use crate::output::Output;
use crate::workspace::git::{Git, GitError};
use crate::workspace::journal::Journal;
use crate::workspace::scratch::ScratchFolder;

pub(super) async fn repair(
    order: &Order,
    person: &Person<'_>,
    output: &Output,
    control: &Control,
) -> Result<RepairResult, Fault> {
    let git = Git::around(&order.home).ok_or_else(|| {
        let home = order.home.display();
        Fault::input(format!("{home} is in no repository of git that has a commit"))
            .hint("leave `worktree` out: attempts are made on copies anyway")
    })?;
    let journal = Journal::join(&order.home).map_err(|error| {
        Fault::internal(format!("cannot write the journal: {error}"))
            .hint("make `.trellis` writable, and room on the disk")
    })?;
    let worktree = Worktree::add(&git, &journal)?;
    let there = Order {
        root: worktree.root.clone(),
        home: order.home.clone(),
        tests: order.tests.clone(),
        suite: order.suite.clone(),
        issue: order.issue.clone(),
        earlier: order.earlier.clone(),
        critical: order.critical.clone(),
        patch: order.patch.clone(),
        model: order.model.clone(),
        sandbox: order.sandbox.clone(),
        ..*order
    };
    let repaired = driver::repair(&there, person, output, control).await;
    worktree.remove(&git, &journal, output);
    let mut result = repaired?;
    if !result.all.is_empty() {
        let (name, made) = commit::branch(&git, &journal, &result.all, &result.title())?;
        output.note(format_args!("the fixes are on the branch {name}"));
        (result.branch, result.commit) = (Some(name), Some(made));
    }
    Ok(result)
}

struct Worktree {
    /// Where the project is in it.
    root: PathBuf,
    folder: PathBuf,
    /// Goes when the process dies, too: the next start sweeps it, and git forgets it.
    _scratch: ScratchFolder,
}

impl Worktree {
    fn add(git: &Git, journal: &Journal) -> Result<Worktree, Fault> {
        let failed = |error: GitError| {
            Fault::internal(format!("no worktree can be made: {error}"))
                .hint("leave `worktree` out: attempts are made on copies anyway")
        };
        let scratch = ScratchFolder::new()?;
        let folder = scratch.path().join("tree");
        let shown = folder.to_string_lossy().into_owned();
        // Those of processes that died.
        git.run(&["worktree", "prune"]).map_err(failed)?;
        git.step(journal, &["worktree", "add", "--quiet", "--detach", &shown, "HEAD"], "")
            .map_err(failed)?;
        let prefix = git.run(&["rev-parse", "--show-prefix"]).map_err(failed)?;
        let root = folder.join(prefix.trim_end());
        let root = root.canonicalize().unwrap_or(root);
        Ok(Worktree { root, folder, _scratch: scratch })
    }

    fn remove(self, git: &Git, journal: &Journal, output: &Output) {
        let shown = self.folder.to_string_lossy().into_owned();
        let gone = git.step(journal, &["worktree", "remove", "--force", &shown], "");
        if let Err(error) = gone {
            output.note(format_args!("the worktree {shown} stays: {error}"));
        }
    }
}
