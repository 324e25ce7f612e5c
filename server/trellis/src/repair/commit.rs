//! What was kept, as a commit that holds nothing else: whatever a person has changed or staged beside it stays as it is.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Fault;
use crate::workspace::git::{Git, GitError};
use crate::workspace::journal::Journal;
use crate::workspace::{crash_point, disk};

/// A commit that is being made: on the disk until both the index and the branch have it, so that a start after a crash ends it.
#[derive(Serialize, Deserialize)]
struct Pending {
    version: u32,
    /// The commit that is checked out.
    from: String,
    /// The one on top of it, with the patch.
    made: String,
    title: String,
    patch: String,
    /// Hash of what the index listed before.
    index: String,
}

/// Of the record's shape.
const VERSION: u32 = 1;
/// The record, below the root.
const PENDING: &str = ".trellis/repair/commit.json";

/// Commits the patch on the current branch, and puts it into the index as well, so that the rest of the tree shows as it did
/// before; returns the commit.
///
/// # Errors
///
/// In words, where there is no repository, or the patch touches lines that are not committed yet; nothing is committed then.
pub(super) fn commit(
    root: &Path,
    journal: &Journal,
    patch: &str,
    title: &str,
) -> Result<String, String> {
    let git = Git::around(root).map_err(|error| error.to_string())?;
    let git = git.ok_or("there is no git repository with a commit")?;
    let not_there = |error: GitError| {
        format!("the change includes lines that are not committed yet ({})", error.why)
    };
    // Both or none: the index is looked at before anything is written.
    apply(&git, patch, &["--cached", "--check"]).map_err(not_there)?;
    let made = made(&git, patch, title).map_err(not_there)?;
    let failed = |error: GitError| error.to_string();
    let pending = Pending {
        version: VERSION,
        from: head(&git).map_err(failed)?,
        made: made.clone(),
        title: title.to_owned(),
        patch: patch.to_owned(),
        index: listed(&git).map_err(failed)?,
    };
    let text = serde_json::to_string(&pending).map_err(|error| error.to_string())?;
    disk::write(root, PENDING, &text)
        .map_err(|error| format!("cannot write {PENDING}: {error}"))?;
    pending.end(root, &git, journal).map_err(failed)?;
    Ok(made)
}

/// Whether a crash has cut a commit short.
pub(super) fn is_cut_short(root: &Path) -> bool {
    root.join(PENDING).exists()
}

/// Ends the commit that a crash cut short, if there is one; returns what became of it, in words.
///
/// # Errors
///
/// In words, where the record cannot be read or git does not do its part; the record stays.
pub(super) fn resume(root: &Path, journal: &Journal) -> Result<Option<String>, String> {
    let text = match trellis_sandbox::files::read_text(root.join(PENDING)) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read {PENDING}: {error}")),
    };
    let pending: Pending = serde_json::from_str(&text).map_err(|e| format!("{PENDING}: {e}"))?;
    // A project may come with such a file: names of commits go to git as arguments, and are nothing else.
    let is_name = |it: &str| it.len() >= 40 && it.bytes().all(|it| it.is_ascii_hexdigit());
    if pending.version != VERSION || !is_name(&pending.from) || !is_name(&pending.made) {
        return Err(format!("{PENDING} was not written by this Trellis: check it, and remove it"));
    }
    let git = Git::around(root).map_err(|error| error.to_string())?;
    let git =
        git.ok_or_else(|| format!("{PENDING} describes a commit, but there is no git repository"))?;
    let is_made = pending.end(root, &git, journal).map_err(|error| error.to_string())?;
    Ok(Some(match is_made {
        true => format!(
            "the commit of an earlier repair was interrupted; it is made now: {}",
            pending.made
        ),
        false => {
            "the commit of an earlier repair was interrupted; it is not made, because you have \
             committed since then"
                .to_owned()
        }
    }))
}

/// Of a commit with so many fixes, the first of them for this test.
pub(crate) fn title(first: &str, fixes: usize) -> String {
    match fixes {
        1 => format!("Repair {first}"),
        count => format!("Repair {first} and {} more causes of failing tests", count - 1),
    }
}

/// Whether the tree has what the patch makes of its lines.
pub(super) fn is_in_tree(root: &Path, patch: &str) -> bool {
    is_applied(root, patch, &["--reverse", "--check"])
}

/// Whether the index has it, as it does when it is committed.
pub(super) fn is_known(root: &Path, patch: &str) -> bool {
    is_applied(root, patch, &["--cached", "--reverse", "--check"])
}

fn is_applied(root: &Path, patch: &str, options: &[&str]) -> bool {
    let git = Git::around(root).ok().flatten();
    git.is_some_and(|git| apply(&git, patch, options).is_ok())
}

impl Pending {
    /// Brings the index and then the branch to the commit, as far as they are not there, and forgets it. The index comes first:
    /// a fix that is staged and not committed harms nobody, one that is committed and not staged would be undone by the person's
    /// next commit. False where a person has changed either since.
    fn end(&self, root: &Path, git: &Git, journal: &Journal) -> Result<bool, GitError> {
        let now = head(git)?;
        let goes_on = now == self.from || now == self.made;
        let is_staged = goes_on && self.stage(git)?;
        if is_staged && now == self.from {
            let update = ["update-ref", "-m", &self.title, "HEAD", &self.made, &self.from];
            git.step(journal, &update, "")?;
        }
        crash_point::reach();
        let removed = fs::remove_file(root.join(PENDING));
        removed.map_err(|error| GitError {
            step: "commit".to_owned(),
            why: format!("cannot remove {PENDING}: {error}"),
            is_refused: false,
        })?;
        Ok(is_staged)
    }

    /// Puts the patch into the index, if that is as it was; says whether it is there.
    fn stage(&self, git: &Git) -> Result<bool, GitError> {
        if listed(git)? == self.index {
            apply(git, &self.patch, &["--cached"])?;
            return Ok(true);
        }
        Ok(apply(git, &self.patch, &["--cached", "--reverse", "--check"]).is_ok())
    }
}

fn head(git: &Git) -> Result<String, GitError> {
    Ok(git.run(&["rev-parse", "--verify", "HEAD"])?.trim().to_owned())
}

/// Hash of what the index lists.
fn listed(git: &Git) -> Result<String, GitError> {
    Ok(disk::hash(git.run(&["ls-files", "--stage", "-z"])?))
}

/// Makes a branch with the patch on top of the current commit; returns its name and the commit. The tree and its index are not touched.
pub(super) fn branch(
    git: &Git,
    journal: &Journal,
    patch: &str,
    title: &str,
) -> Result<(String, String), Fault> {
    let failed = |error: GitError| {
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

/// A commit of the patch on top of the current one, which no branch has yet.
fn made(git: &Git, patch: &str, title: &str) -> Result<String, GitError> {
    let scratch = tempfile::tempdir().map_err(|error| GitError {
        step: "index".to_owned(),
        why: error.to_string(),
        is_refused: false,
    })?;
    let own = git.with_index(&scratch.path().join("index"));
    own.run(&["read-tree", "HEAD"])?;
    apply(&own, patch, &["--cached"])?;
    let tree = own.run(&["write-tree"])?;
    let commit = own.run(&["commit-tree", tree.trim(), "-p", "HEAD", "-m", title])?;
    Ok(commit.trim().to_owned())
}

/// Paths of the patch count from the folder that git was asked in: without a line of git's own above them it takes them so.
fn apply(git: &Git, patch: &str, options: &[&str]) -> Result<(), GitError> {
    let arguments: Vec<&str> =
        ["apply", "--whitespace=nowarn"].iter().chain(options).copied().collect();
    git.run_with(&arguments, patch).map(drop)
}
