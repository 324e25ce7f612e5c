//! Creates the project that tasks build on: from its stack, with its packages, under git, and with
//! a passing test.

use std::fs;
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::{STACK, TASK, TasksRequest};
use crate::fault::{Exit, Fault, cannot};
use crate::reporter::Reporter;
use crate::stacks::{self, Stack};
use trellis_git::git::Git;
use trellis_git::worktree::Worktree;
use trellis_git::worktree_metadata::sweep;
use trellis_git::worktree_state::merging;
use trellis_store::disk;
use trellis_store::fault_point;
use trellis_store::journal::Journal;
use trellis_store::scratch;

/// Creates the project's folder completely or not at all. A folder of an earlier start is used as
/// it is.
///
/// # Errors
///
/// The folder contains something else.
pub(super) fn folder(order: &TasksRequest, stack: &Stack) -> Result<PathBuf, Fault> {
    let out = &order.out;
    let is_there = fs::read_dir(out).is_ok_and(|mut it| it.next().is_some());
    if !is_there {
        let name = stacks::project_name(order.name.as_deref(), out)?;
        create_project(stack, &name, out)?;
    }
    let real =
        out.canonicalize().map_err(|error| cannot(&format!("open {}", out.display()), &error))?;
    match trellis_os::files::read_text(marker(&real)) {
        Ok(known) if known.trim() == stack.name() => Ok(real),
        Ok(known) => Err(Fault::input(format!(
            "{} was created from the template {}",
            out.display(),
            known.trim()
        ))
        .hint("use that template, or another folder")),
        Err(_) => Err(Fault::input(format!(
            "{} is not empty, and no earlier run created it",
            out.display()
        ))
        .hint("give a new or empty folder")),
    }
}

/// Creates the project in a scratch folder first, so that a crash leaves nothing incomplete at its
/// path.
fn create_project(stack: &Stack, name: &str, out: &Path) -> Result<(), Fault> {
    let absolute =
        std::path::absolute(out).map_err(|error| cannot("find the current folder", &error))?;
    let parent = absolute.parent().unwrap_or(&absolute).to_owned();
    fs::create_dir_all(&parent)
        .map_err(|error| cannot(&format!("create {}", parent.display()), &error))?;
    let scratch = scratch::beside(&parent);
    let scratch =
        scratch.map_err(|error| cannot(&format!("write to {}", parent.display()), &error))?;
    let project = scratch.path().join("project");
    stacks::scaffold(stack, name, &project)?;
    // Another start may have put its own there meanwhile; which of them works, the lock decides.
    let is_there =
        || fs::read_to_string(marker(&absolute)).is_ok_and(|it| it.trim() == stack.name());
    let mark = || {
        disk::ensure(&project)?;
        fs::write(marker(&project), format!("{}\n", stack.name()))?;
        fault_point::reach()?;
        fs::rename(&project, &absolute).or_else(|error| is_there().then_some(()).ok_or(error))
    };
    mark().map_err(|error| cannot(&format!("create {}", out.display()), &error))
}

fn marker(out: &Path) -> PathBuf {
    out.join(".trellis/stack")
}

/// Opens the repository and returns the tasks merged in it; `None` if it has no first commit yet.
pub(super) fn repository(
    out: &Path,
    journal: &Journal,
) -> Result<(Git, Option<Vec<String>>), Fault> {
    let git = Git::open(out, journal)?.ok_or_else(|| {
        Fault::unavailable("git is not installed")
            .hint("install it: Trellis makes each task on its own branch")
    })?;
    if git.resolve("HEAD")?.is_none() {
        return Ok((git, None));
    }
    if trailers(&git, "HEAD", STACK)?.is_empty() {
        let here = git.lookup(&["symbolic-ref", "--short", "HEAD"])?;
        let here = here.as_deref().unwrap_or("what is checked out");
        let message = format!("{here} has no project from a template in {}", out.display());
        return Err(Fault::input(message)
            .hint("`git switch` to the branch that the tasks are for; nothing was changed"));
    }
    let merged = trailers(&git, "HEAD", TASK)?;
    Ok((git, Some(merged)))
}

/// Returns the values of a trailer in all commits on the branch. Only real trailers count, since
/// any other text in a message may come from anyone.
fn trailers(git: &Git, branch: &str, trailer: &str) -> Result<Vec<String>, Fault> {
    let key = trailer.trim_end_matches(": ");
    let format = format!("--format=%(trailers:key={key},valueonly,separator=%x00)");
    let log = git.run(&["log", &format, branch, "--"])?;
    let values = log.split(['\0', '\n']).filter(|it| !it.is_empty());
    Ok(values.map(str::to_owned).collect())
}

/// Finishes merges that a killed start began: merged work is cleaned up, unmerged work waits for
/// its turn.
pub(super) fn clear(
    out: &Path,
    git: &Git,
    journal: &Journal,
    reporter: &Reporter,
) -> Result<(), Fault> {
    // Incomplete worktrees of any task would block git for all of them. This process holds the
    // folder's lock, so no other uses them.
    sweep(git, |id| ["task-", "integration-"].iter().any(|it| id.starts_with(it)))?;
    for work in merging(out) {
        match Worktree::open(out, &work, journal).map_err(Fault::from) {
            // A person may have a file there.
            Err(fault) if fault.exit == Exit::NeedsHuman => {
                reporter.note(format_args!("{work}: {}", fault.message));
            }
            opened => drop(opened?),
        }
    }
    Ok(())
}

/// Returns whether a commit with this trailer is on the branch.
pub(super) fn is_merged(git: &Git, branch: &str, trailer: &str) -> Result<bool, Fault> {
    let (key, value) = trailer.split_once(": ").unwrap_or((trailer, ""));
    Ok(trailers(git, branch, key)?.iter().any(|it| it == value))
}

/// Installs the packages.
pub(super) async fn install(
    out: &Path,
    stack: &Stack,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<(), Fault> {
    match stack.written.install {
        stacks::Installer::None => Ok(()),
        _ => stacks::install(out, reporter, cancel).await.map(drop),
    }
}

/// Makes the project's first commit, with its lock file.
pub(super) fn commit(git: &Git, stack: &Stack, journal: &Journal) -> Result<(), Fault> {
    git.step(journal, &["add", "--all"], "")?;
    let message =
        format!("A project of {}\n\n{STACK}{}\n", stack.written.display_name, stack.name());
    let commit = ["commit", "--quiet", "--no-verify", "--message", &message];
    Ok(git.step(journal, &commit, "").map(drop)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_that_another_start_created_meanwhile_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("new");
        let stack = |name| {
            let all = stacks::all(folder.path(), |_| None).expect("the built-in templates");
            stacks::find(all, name).expect("a built-in template")
        };
        create_project(&stack("python-api"), "new", &out).expect("the first start");
        fs::write(out.join("mine.txt"), "mine").expect("a file");
        create_project(&stack("python-api"), "new", &out).expect("the second start");
        assert!(out.join("mine.txt").exists(), "the first project is still there");
        create_project(&stack("go-api"), "new", &out).expect_err("of another template");
    }
}
