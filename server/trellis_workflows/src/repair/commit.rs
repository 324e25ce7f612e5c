//! Commits the kept fixes and nothing else. A person's other changes, staged or not, stay as they
//! are.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::line_ends;
use crate::fault::Fault;
use trellis_git::error::{CommandCause, CommandError};
use trellis_git::git::{self, Git};
use trellis_git::trees::changed_tree;
use trellis_store::format::refuse_newer;
use trellis_store::journal::Journal;
use trellis_store::{disk, fault_point};

/// A commit in progress. The record stays on the disk until both the index and the branch have the
/// commit, so that a start after a crash can finish it.
#[derive(Serialize, Deserialize)]
struct Pending {
    version: u32,
    /// The commit that is checked out.
    from: String,
    /// The new commit on top of it, with the patch.
    made: String,
    title: String,
    patch: String,
    /// Hash of the index listing before the commit.
    index: String,
}

/// The reason why fixes were not committed.
#[derive(Debug)]
pub(super) enum NotCommitted {
    /// The repository does not allow it.
    Refused(String),
    /// An error of git or of the machine, after which a later start may commit them.
    Failed(String),
}

impl From<CommandError> for NotCommitted {
    fn from(error: CommandError) -> NotCommitted {
        match error.is_refused() {
            true => NotCommitted::Refused(error.to_string()),
            false => NotCommitted::Failed(error.to_string()),
        }
    }
}

/// Version of the record's format.
const VERSION: u32 = 1;
/// Path of the record, below the root.
const PENDING: &str = ".trellis/repair/commit.json";

/// Commits the patch on the current branch and adds it to the index, so that the rest of the tree
/// has the same status as before. Returns the commit.
///
/// # Errors
///
/// Refuses if there is no repository, or if the patch touches uncommitted lines. Nothing is
/// committed then.
pub(super) fn commit(
    root: &Path,
    journal: &Journal,
    patch: &str,
    title: &str,
) -> Result<String, NotCommitted> {
    let git = repository(root)?;
    // Both change or neither: the index is checked before anything is written.
    apply(&git, patch, &["--cached", "--check"]).map_err(not_there)?;
    let made = made(&git, patch, title).map_err(not_there)?;
    let pending = Pending {
        version: VERSION,
        from: head(&git)?,
        made: made.clone(),
        title: title.to_owned(),
        patch: patch.to_owned(),
        index: listed(&git)?,
    };
    serde_json::to_string(&pending)
        .map_err(Into::into)
        .and_then(|text| disk::write(root, PENDING, &text))
        .map_err(|error| NotCommitted::Failed(format!("cannot write {PENDING}: {error}")))?;
    pending.end(root, &git, journal)?;
    Ok(made)
}

/// Returns the repository to commit in.
fn repository(root: &Path) -> Result<Git, NotCommitted> {
    let why = match git::find("git") {
        Some(_) => "there is no git repository with a commit",
        None => "git is not installed",
    };
    Git::around(root)?.ok_or_else(|| NotCommitted::Refused(why.to_owned()))
}

fn not_there(error: CommandError) -> NotCommitted {
    if !error.is_verdict() {
        return error.into();
    }
    let why = error.cause;
    NotCommitted::Refused(format!("the change includes lines that are not committed yet ({why})"))
}

/// Returns whether a crash interrupted a commit.
pub(super) fn is_interrupted(root: &Path) -> bool {
    root.join(PENDING).exists()
}

/// Finishes a commit that a crash interrupted, if there is one, and returns a message about it.
///
/// # Errors
///
/// Returns a message if the record cannot be read or git fails. The record stays.
pub(super) fn resume(root: &Path, journal: &Journal) -> Result<Option<String>, String> {
    let text = match trellis_os::files::read_text(root.join(PENDING)) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read {PENDING}: {error}")),
    };
    refuse_newer(PENDING, text.as_bytes(), VERSION)
        .map_err(|newer| format!("{newer}: use that version of Trellis here"))?;
    let pending: Pending = serde_json::from_str(&text).map_err(|e| format!("{PENDING}: {e}"))?;
    // A project may ship such a file, and its commit names become arguments of git. They must be
    // nothing but hashes.
    let is_name = |it: &str| it.len() >= 40 && it.bytes().all(|it| it.is_ascii_hexdigit());
    if pending.version != VERSION || !is_name(&pending.from) || !is_name(&pending.made) {
        return Err(format!("{PENDING} was not written by this Trellis: check it, and remove it"));
    }
    let said = |what: String| format!("the commit of an earlier repair was interrupted; {what}");
    let git = Git::around(root).map_err(|error| error.to_string())?;
    let Some(git) = git else {
        forget(root).map_err(|error| error.to_string())?;
        return Ok(Some(said("it is not made, because there is no git repository".to_owned())));
    };
    let is_made = pending.end(root, &git, journal).map_err(|error| error.to_string())?;
    Ok(Some(said(match is_made {
        true => format!("it is made now: {}", pending.made),
        false => "it is not made, because the repository was changed since then".to_owned(),
    })))
}

/// Removes the record of the commit.
fn forget(root: &Path) -> Result<(), CommandError> {
    let removed = fault_point::reach().and_then(|()| fs::remove_file(root.join(PENDING)));
    removed.map_err(|error| CommandError {
        step: "commit".to_owned(),
        cause: CommandCause::IoAt { action: "remove", path: PENDING.into(), source: error },
    })
}

/// Returns the title of a commit with `fixes` fixes, the first of which is for the test `first`.
pub fn title(first: &str, fixes: usize) -> String {
    match fixes {
        1 => format!("Repair {first}"),
        count => format!("Repair {first} and {} more causes of failing tests", count - 1),
    }
}

/// Returns whether the tree contains the patch.
pub(super) fn is_in_tree(root: &Path, patch: &str) -> Result<bool, NotCommitted> {
    is_applied(root, patch, &["--reverse", "--check"])
}

/// Returns whether the index contains the patch, which is so once it is committed.
pub(super) fn is_in_index(root: &Path, patch: &str) -> Result<bool, NotCommitted> {
    is_applied(root, patch, &["--cached", "--reverse", "--check"])
}

fn is_applied(root: &Path, patch: &str, options: &[&str]) -> Result<bool, NotCommitted> {
    Ok(applies(&repository(root)?, patch, options)?)
}

impl Pending {
    /// Brings the index and then the branch to the commit, unless they are there already, and
    /// removes the record. The index comes first: a fix that is staged but not committed does no
    /// harm, but one that is committed and not staged would be undone by the person's next commit.
    /// Returns false if a person has changed either since, or the commit is gone.
    fn end(&self, root: &Path, git: &Git, journal: &Journal) -> Result<bool, CommandError> {
        let now = head(git)?;
        let is_there = git.resolve(&format!("{}^{{commit}}", self.made))?.is_some();
        let goes_on = is_there && (now == self.from || now == self.made);
        let is_staged = goes_on && self.stage(git)?;
        if is_staged && now == self.from {
            let update = ["update-ref", "-m", &self.title, "HEAD", &self.made, &self.from];
            git.step(journal, &update, "")?;
        }
        forget(root)?;
        Ok(is_staged)
    }

    /// Applies the patch to the index if that is unchanged. Returns whether the index contains the
    /// patch.
    fn stage(&self, git: &Git) -> Result<bool, CommandError> {
        if listed(git)? == self.index {
            apply(git, &self.patch, &["--cached"])?;
            return Ok(true);
        }
        applies(git, &self.patch, &["--cached", "--reverse", "--check"])
    }
}

fn head(git: &Git) -> Result<String, CommandError> {
    Ok(git.run(&["rev-parse", "--verify", "HEAD"])?.trim().to_owned())
}

/// Returns a hash of the index listing.
fn listed(git: &Git) -> Result<String, CommandError> {
    Ok(disk::hash(git.run(&["ls-files", "--stage", "-z"])?))
}

/// Creates a branch with the patch on top of the current commit. Returns the branch name and the
/// commit. Does not touch the tree or its index.
pub(super) fn branch(
    git: &Git,
    journal: &Journal,
    patch: &str,
    title: &str,
) -> Result<(String, String), Fault> {
    let failed = |error: CommandError| {
        Fault::internal(error.to_string())
            .hint("the patch is in .trellis/repair; apply it with `git apply`")
    };
    let made = made(git, patch, title).map_err(failed)?;
    let known = git.run(&["for-each-ref", "--format=%(refname:short)", "refs/heads/trellis"]);
    let known = known.map_err(failed)?;
    let number = known.lines().filter_map(|it| it.strip_prefix("trellis/repair-")?.parse().ok());
    let name = format!("trellis/repair-{}", number.max().unwrap_or(0_u32) + 1);
    git.step(journal, &["branch", "--no-track", &name, &made], "").map_err(failed)?;
    Ok((name, made))
}

/// Creates a commit of the patch on top of the current one, on no branch yet.
fn made(git: &Git, patch: &str, title: &str) -> Result<String, CommandError> {
    let tree = changed_tree(git, Some("HEAD"), |own| apply(own, patch, &["--cached"]))?;
    let commit = git.run(&["commit-tree", &tree, "-p", "HEAD", "-m", title])?;
    Ok(commit.trim().to_owned())
}

/// Returns whether a patch applies, by options that only check it.
fn applies(git: &Git, patch: &str, options: &[&str]) -> Result<bool, CommandError> {
    match apply(git, patch, options) {
        Err(error) if !error.is_verdict() => Err(error),
        verdict => Ok(verdict.is_ok()),
    }
}

/// Applies a patch of a person's files, to them or to the index. Its paths count from the folder in
/// which git runs, because the patch has no `diff --git` header.
fn apply(git: &Git, patch: &str, options: &[&str]) -> Result<(), CommandError> {
    let arguments: Vec<&str> =
        ["apply", "--whitespace=nowarn"].iter().chain(options).copied().collect();
    let patch = match options.contains(&"--cached") {
        true => line_ends::stored(git, patch)?,
        false => patch.to_owned(),
    };
    git.run_with(&arguments, &patch).map(drop)
}
