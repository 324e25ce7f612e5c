//! Work of a worktree brought onto the branch that it is for: one commit, made beside the branch, and one move of it.
//!
//! What a crash left half done is found by the record: either the target has the commit, or files of the move are taken back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::conflict::MergeConflict;
use super::crash_point;
use super::disk::cannot;
use super::git::broken;
use super::stale_locks;
use super::worktree::Worktree;
use super::worktree_state::{Merging, full};
use crate::error::{Exit, Fault};
use crate::workspace::git::Git;
use crate::workspace::journal::Journal;
use crate::workspace::lock::Lock;
use crate::workspace::scratch::ScratchFolder;

/// The work as one commit on top of its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MergeCommit {
    /// The target that it is on top of.
    old: String,
    pub(crate) commit: String,
    /// The target has moved since the work began, so that nobody has tested what would come out.
    pub(crate) is_untested: bool,
}

impl MergeCommit {
    /// The target's commit that it is on top of.
    pub(crate) fn target(&self) -> &str {
        &self.old
    }
}

/// Whether there is such a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Merge {
    Clean(MergeCommit),
    Conflict(MergeConflict),
}

/// What became of the move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MergeOutcome {
    Merged,
    /// The target moved meanwhile: there has to be another candidate.
    TargetMoved,
    /// Nothing has changed, since this is in the way.
    Blocked(String),
}

impl Worktree {
    /// What would come of a merge; nothing is changed but git's store of objects.
    pub(crate) fn candidate(&self, message: &str) -> Result<Merge, Fault> {
        self.candidate_on(self.target()?, message)
    }

    /// The same on top of another commit, which is to be on the target by then.
    pub(crate) fn candidate_on(&self, old: String, message: &str) -> Result<Merge, Fault> {
        let merged = self.git.answer(&[
            "merge-tree",
            "--write-tree",
            "--no-messages",
            "-z",
            &old,
            &self.branch(),
        ]);
        let (code, said) = merged.map_err(broken)?;
        let mut words = said.split('\0').filter(|it| !it.is_empty());
        let tree = words.next().unwrap_or_default().to_owned();
        match code {
            0 => {}
            1 => return Ok(Merge::Conflict(MergeConflict::read(old, tree, words))),
            _ => {
                return Err(Fault::unavailable("git cannot merge without a worktree")
                    .hint("install git 2.38 or newer; the work is on its branch"));
            }
        }
        let commit = self.commit_on(&old, &tree, message)?;
        Ok(Merge::Clean(MergeCommit { is_untested: old != self.record.base, old, commit }))
    }

    /// A tree as one commit on top of another; no branch moves.
    fn commit_on(&self, old: &str, tree: &str, message: &str) -> Result<String, Fault> {
        let commit = self.git.run(&["commit-tree", tree, "-p", old, "-m", message]);
        Ok(commit.map_err(broken)?.trim().to_owned())
    }

    /// A merge whose files in conflict are these texts, by path.
    pub(crate) fn settled(
        &self,
        conflict: &MergeConflict,
        texts: &BTreeMap<String, String>,
        message: &str,
    ) -> Result<MergeCommit, Fault> {
        let tree = self.tree_with(&conflict.tree, texts)?;
        let commit = self.commit_on(&conflict.old, &tree, message)?;
        Ok(MergeCommit { is_untested: true, old: conflict.old.clone(), commit })
    }

    /// A checkout of a commit, beside the work.
    pub(crate) fn checkout<'j>(
        &self,
        journal: &'j Journal,
        commit: &str,
    ) -> Result<Checkout<'j>, Fault> {
        Checkout::of(&self.git, journal, commit)
    }

    /// The commit that the target is at.
    pub(crate) fn target(&self) -> Result<String, Fault> {
        let into = full(&self.record.into);
        let tip = self.git.run(&["rev-parse", "--verify", "--quiet", &into]).map_err(|_| {
            Fault::new(
                Exit::NeedsHuman,
                format!("the branch {} no longer exists", self.record.into),
            )
            .hint(format!("the work is on {}; merge it into any branch you like", self.branch()))
        })?;
        Ok(tip.trim().to_owned())
    }

    /// Looks whether a merge was begun: gives its commit where the target has it, else takes back what was moved. `killed` is
    /// the journal of a start that finds what an earlier one has left, git's locks among it.
    pub(super) fn recover(&mut self, killed: Option<&Journal>) -> Result<Option<String>, Fault> {
        let Some(merging) = self.record.merging.clone() else { return Ok(None) };
        let has_it = ["merge-base", "--is-ancestor", &merging.new, &self.target()?];
        if self.git.answer(&has_it).map_err(broken)?.0 == 0 {
            return Ok(Some(merging.new));
        }
        let into = full(&self.record.into);
        if let Some(git) = checked_out(&self.git, &into)? {
            roll_back(&top(&git)?, killed, &merging, &into)?;
        }
        self.record.merging = None;
        self.save_state()?;
        Ok(None)
    }
}

/// Moves the target to the last of a chain of candidates, each on top of the one before and each of one work, the files with
/// it where it is checked out, and removes what is left of the works.
pub(crate) fn fast_forward(
    works: &mut [&mut Worktree],
    journal: &Journal,
    chain: &[MergeCommit],
) -> Result<MergeOutcome, Fault> {
    let (Some(lead), Some(first), Some(last)) = (works.first(), chain.first(), chain.last()) else {
        return Ok(MergeOutcome::Merged);
    };
    let place = lead.home.join(".trellis/worktrees/merge.lock");
    let _alone = Lock::wait_for(&place).map_err(|error| cannot("wait for other merges", &error))?;
    if lead.target()? != first.old {
        return Ok(MergeOutcome::TargetMoved);
    }
    let (git, into) = (lead.git.at(lead.git.root()), full(&lead.record.into));
    let place = checked_out(&git, &into)?;
    // What is changed here is a person's, and never touched: neither by the move nor where that has to be taken back.
    if let Some(changed) =
        place.as_ref().map(|it| changed(it, &first.old, &last.commit)).transpose()?
        && !changed.is_empty()
    {
        let why =
            format!("{} would be overwritten, and have uncommitted changes", changed.join(", "));
        return Ok(MergeOutcome::Blocked(why));
    }
    for (work, candidate) in works.iter_mut().zip(chain) {
        let new = candidate.commit.clone();
        work.record.merging =
            Some(Merging { old: first.old.clone(), new, last: last.commit.clone() });
        work.save_state()?;
    }
    let ff =
        ["merge", "--ff-only", "--no-autostash", "--no-overwrite-ignore", "--quiet", &last.commit];
    let moved = match place {
        Some(git) => git.step(journal, &ff, ""),
        None => git.step(journal, &["update-ref", &into, &last.commit, &first.old], ""),
    };
    let Err(error) = moved else {
        works.iter().try_for_each(|it| it.clear(journal))?;
        return Ok(MergeOutcome::Merged);
    };
    for work in works.iter_mut() {
        work.recover(None)?;
    }
    Ok(MergeOutcome::Blocked(error.why))
}

/// A checkout of a commit in a folder that goes with the process.
pub(crate) struct Checkout<'a> {
    git: Git,
    journal: &'a Journal,
    folder: PathBuf,
    /// Where the project is in it.
    pub(crate) root: PathBuf,
    _scratch: ScratchFolder,
}

impl<'a> Checkout<'a> {
    pub(crate) fn of(git: &Git, journal: &'a Journal, commit: &str) -> Result<Checkout<'a>, Fault> {
        let scratch = ScratchFolder::new()?;
        // Git calls its own notes of it by this name, which tells whose they are.
        let folder = scratch.path().join(stale_locks::own_name());
        let shown = folder.to_string_lossy().into_owned();
        stale_locks::sweep(git, None)?;
        git.step(journal, &["worktree", "add", "--quiet", "--detach", &shown, commit], "")
            .map_err(broken)?;
        let prefix = git.run(&["rev-parse", "--show-prefix"]).map_err(broken)?;
        let root = folder.join(prefix.trim_end());
        let root = root.canonicalize().unwrap_or(root);
        Ok(Checkout { git: git.at(git.root()), journal, folder, root, _scratch: scratch })
    }

    /// Paths of the project's files, from [`Checkout::root`], sorted.
    pub(crate) fn tracked(&self) -> Result<Vec<String>, Fault> {
        self.git.at(&self.root).tracked().map_err(broken)
    }
}

impl Drop for Checkout<'_> {
    fn drop(&mut self) {
        let shown = self.folder.to_string_lossy().into_owned();
        // What stays is swept at the next start, and git forgets it then.
        let _ = self.git.step(self.journal, &["worktree", "remove", "--force", &shown], "");
    }
}

/// Where a branch is checked out, as the repository asked there.
fn checked_out(git: &Git, branch: &str) -> Result<Option<Git>, Fault> {
    let said = git.run(&["worktree", "list", "--porcelain", "-z"]).map_err(broken)?;
    let mut folder = None;
    for line in said.split('\0') {
        if let Some(path) = line.strip_prefix("worktree ") {
            folder = Some(PathBuf::from(path));
        }
        if line.strip_prefix("branch ") == Some(branch) {
            return Ok(folder.filter(|it| it.is_dir()).map(|it| git.at(&files_of(git, it))));
        }
    }
    Ok(None)
}

/// Of a repository whose folder is not with its files, git names the former in place of the latter.
fn files_of(git: &Git, folder: PathBuf) -> PathBuf {
    if folder.join(".git").exists() {
        return folder;
    }
    let said = git.run(&["config", "--get", "core.worktree"]).ok();
    let files = said.and_then(|it| folder.join(it.trim_end_matches('\n')).canonicalize().ok());
    files.unwrap_or(folder)
}

/// The repository asked at its top, from where git names paths.
fn top(git: &Git) -> Result<Git, Fault> {
    let top = git.run(&["rev-parse", "--show-toplevel"]).map_err(broken)?;
    Ok(git.at(Path::new(top.trim_end())))
}

/// A file that a move changes: its path from the top, and its blobs before and after, all zeros where there is none.
struct Change {
    path: String,
    before: String,
    after: String,
}

fn changes(git: &Git, old: &str, new: &str) -> Result<Vec<Change>, Fault> {
    let said = git.run(&["diff", "--raw", "-z", "--no-abbrev", "--no-renames", old, new]);
    let said = said.map_err(broken)?;
    let words: Vec<&str> = said.split('\0').filter(|it| !it.is_empty()).collect();
    let change = |pair: &[&str]| {
        let fields: Vec<&str> = pair[0].split(' ').collect();
        let (before, after) = (fields.get(2)?.to_string(), fields.get(3)?.to_string());
        Some(Change { path: pair[1].to_owned(), before, after })
    };
    Ok(words.chunks_exact(2).filter_map(change).collect())
}

/// Files that a move would change and that are not as the old commit has them.
fn changed(git: &Git, old: &str, new: &str) -> Result<Vec<String>, Fault> {
    let git = top(git)?;
    let mut out = Vec::new();
    for Change { path, before, .. } in changes(&git, old, new)? {
        let place = git.root().join(&path);
        if is_below_no_folder(git.root(), &path) {
            out.push(path);
            continue;
        }
        let is_as_before = match fs::symlink_metadata(&place) {
            Err(_) => is_none(&before),
            Ok(it) if it.is_file() => {
                let shown = place.to_string_lossy().into_owned();
                git.run(&["hash-object", "--", &shown]).map_err(broken)?.trim() == before
            }
            // git looks at links by itself.
            Ok(it) => it.is_symlink() && !is_none(&before),
        };
        if !is_as_before {
            out.push(path);
        }
    }
    Ok(out)
}

/// Whether something stands on the way to a file that is no folder: a person's, which git may know nothing of.
fn is_below_no_folder(top: &Path, path: &str) -> bool {
    let mut at = top.to_owned();
    let folders = path.rsplit_once('/').map_or("", |it| it.0);
    folders.split('/').filter(|it| !it.is_empty()).any(|part| {
        at.push(part);
        fs::symlink_metadata(&at).is_ok_and(|it| !it.is_dir())
    })
}

fn is_none(blob: &str) -> bool {
    blob.bytes().all(|it| it == b'0')
}

/// Takes back files of a move that did not come to its end: the branch and the index still have the old commit, and all files
/// of the move were as that has them when it began ([`changed`]), so that what is new, missing or cut off is the move's.
fn roll_back(
    git: &Git,
    killed: Option<&Journal>,
    merging: &Merging,
    into: &str,
) -> Result<(), Fault> {
    if let Some(journal) = killed {
        stale_locks::locks(git, journal, &["index.lock", "HEAD.lock", &format!("{into}.lock")])?;
    }
    let mut back = String::new();
    for Change { path: name, before, after } in changes(git, &merging.old, &merging.last)? {
        let path = git.root().join(&name);
        match write_state(git, &path, &before, &after)? {
            PartialWrite::No => {}
            PartialWrite::Restore => back += &format!("{name}\0"),
            PartialWrite::Remove => {
                crash_point::reach();
                fs::remove_file(&path)
                    .map_err(|error| cannot(&format!("remove {}", path.display()), &error))?;
            }
        }
    }
    if !back.is_empty() {
        git.run_with(&["checkout-index", "--force", "-z", "--stdin"], &back).map_err(broken)?;
    }
    Ok(())
}

/// Whether a file holds the beginning of a blob, as one does whose writer was killed.
pub(super) fn is_partial(git: &Git, path: &Path, blob: &str) -> Result<bool, Fault> {
    let whole = git.run(&["cat-file", "blob", blob]).map_err(broken)?;
    let found =
        fs::read(path).map_err(|error| cannot(&format!("read {}", path.display()), &error))?;
    Ok(whole.as_bytes().starts_with(&found))
}

enum PartialWrite {
    No,
    Restore,
    Remove,
}

/// Of a file that a move changes from one blob to another, both zeros where there is none.
fn write_state(git: &Git, path: &Path, before: &str, after: &str) -> Result<PartialWrite, Fault> {
    let there = match fs::symlink_metadata(path) {
        Ok(it) if it.is_file() => true,
        // A link or a folder: git would have had to remove it first, and does not.
        Ok(_) => return Ok(PartialWrite::No),
        Err(_) => false,
    };
    if !there {
        return Ok(if is_none(before) { PartialWrite::No } else { PartialWrite::Restore });
    }
    let shown = path.to_string_lossy().into_owned();
    let is = git.run(&["hash-object", "--", &shown]).map_err(broken)?;
    if is.trim() == before && before == after {
        // Nothing but its mode changes.
        return Ok(PartialWrite::Restore);
    }
    if is.trim() == before || is_none(after) {
        return Ok(PartialWrite::No);
    }
    match is.trim() == after || is_partial(git, path, after)? {
        false => Ok(PartialWrite::No),
        true if is_none(before) => Ok(PartialWrite::Remove),
        true => Ok(PartialWrite::Restore),
    }
}
