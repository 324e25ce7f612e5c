//! The record beside a worktree: its target, its progress, its end.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::git::Git;
use crate::error::{GitError, WorktreeError};
use crate::worktree_metadata::{Metadata, folder_of, is_of_trellis, metadata};
use trellis_store::fault_point;
use trellis_store::journal::Journal;

/// First part of the names of branches of Trellis.
const PREFIX: &str = "trellis";

/// Version of the record format.
const VERSION: u32 = 1;

/// The record of a worktree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeState {
    version: u32,
    /// The branch that the work is for.
    pub into: String,
    /// The commit that the work began from.
    pub base: String,
    /// Length of the journal in bytes when the work began: later model requests belong to the work.
    pub journal_from: u64,
    /// Outcome of the work, if it cannot continue without a person.
    pub ended: Option<String>,
    /// Trees that a person has reviewed and sent back, each with the person's comment. Replayed
    /// work that reaches such a tree is sent back again.
    #[serde(default)]
    pub sent_back: Vec<(String, String)>,
    /// True if a person has edited the work: it continues from its last commit, and never begins
    /// again.
    #[serde(default)]
    pub edited: bool,
    /// The work passed every gate and waits for a review, after this number of fix requests: it
    /// continues from its last commit.
    #[serde(default)]
    pub waits: Option<u32>,
    /// Last commit made by Trellis.
    pub(crate) tip: Option<String>,
    /// The commit about to replace `tip`: files may be of either.
    pub(crate) next: Option<String>,
    pub(crate) merging: Option<Merging>,
}

/// A started merge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Merging {
    /// The target commit before the merge.
    pub(crate) old: String,
    /// The work's own commit on the target.
    pub(crate) new: String,
    /// The target commit after the merge.
    pub(crate) last: String,
}

/// Returns the target branch of work that ended without a merge and waits for a person; `None` if
/// there is no such work.
pub fn left(home: &Path, name: &str) -> Result<Option<String>, GitError> {
    let known = known(&record_path(home, name))?;
    Ok(known.filter(|it| it.ended.is_some()).map(|it| it.into))
}

/// Returns the branch that is checked out.
pub fn checked_out(git: &Git) -> Result<String, GitError> {
    let head = git.lookup(&["symbolic-ref", "--quiet", "--short", "HEAD"])?;
    head.ok_or(GitError::NoBranch)
}

/// Returns the names of works with a started merge, sorted. An unreadable record is skipped here
/// and reported when its work is resumed.
pub fn merging(home: &Path) -> Vec<String> {
    let entries = fs::read_dir(home.join(".trellis/worktrees")).into_iter().flatten().flatten();
    let name = |it: fs::DirEntry| it.file_name().to_str()?.strip_suffix(".json").map(str::to_owned);
    let is_merging = |name: &String| {
        known(&record_path(home, name)).is_ok_and(|it| it.is_some_and(|it| it.merging.is_some()))
    };
    let mut names: Vec<String> = entries.filter_map(name).filter(is_merging).collect();
    names.sort();
    names
}

/// Returns whether work of a name exists, or existed before a crash.
pub fn is_there(home: &Path, name: &str) -> bool {
    record_path(home, name).exists()
}

/// Returns whether work of a name was begun and has not ended. Work with an unreadable record is
/// open, too.
pub fn is_open(home: &Path, name: &str) -> bool {
    known(&record_path(home, name)).map_or(true, |it| it.is_some_and(|it| it.ended.is_none()))
}

/// Returns the branch of the work of a name.
pub fn branch(name: &str) -> String {
    format!("{PREFIX}/{name}")
}

pub fn full(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

pub(crate) fn record_path(home: &Path, name: &str) -> PathBuf {
    home.join(format!(".trellis/worktrees/{name}.json"))
}

/// Returns the record of work that was begun.
pub(crate) fn known(path: &Path) -> Result<Option<WorktreeState>, GitError> {
    let text = match trellis_os::files::read_text(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(GitError::io_at("read", path)(error)),
    };
    let record: WorktreeState = serde_json::from_str(&text)
        .map_err(|source| WorktreeError::DamagedRecord { path: path.to_owned(), source })?;
    match record.version {
        VERSION => record.is_ours(path).map(|()| Some(record)),
        version => {
            let path = path.to_owned();
            Err(WorktreeError::RecordVersion { path, version, known: VERSION }.into())
        }
    }
}

impl WorktreeState {
    /// Returns whether the branch of the work was made, and its end does not remove it.
    pub(crate) fn has_branch(&self) -> bool {
        self.merging.is_none() && (self.ended.is_some() || self.tip.is_some())
    }

    /// Returns the record if the work is for the branch `into`, where one is given. Ended work
    /// begins again, for any branch.
    pub(crate) fn for_target(
        self,
        name: &str,
        into: Option<&str>,
    ) -> Result<WorktreeState, GitError> {
        let other = into.filter(|it| *it != self.into && self.ended.is_none());
        other.map_or(Ok(()), |wanted| {
            let (name, wanted) = (name.to_owned(), wanted.to_owned());
            Err(WorktreeError::OtherTarget { name, into: self.into.clone(), wanted })
        })?;
        Ok(self)
    }

    /// Checks the record. A project may bring a forged one: commit names become arguments of git,
    /// so they must be hexadecimal.
    fn is_ours(&self, path: &Path) -> Result<(), GitError> {
        let merging = self.merging.iter().flat_map(|it| [&it.old, &it.new, &it.last]);
        let trees = self.sent_back.iter().map(|it| &it.0);
        let mut commits =
            [&self.base].into_iter().chain(&self.tip).chain(&self.next).chain(merging).chain(trees);
        let is_name = |it: &&String| it.len() >= 40 && it.bytes().all(|it| it.is_ascii_hexdigit());
        let wrong = commits
            .find(|it| !is_name(it))
            .or_else(|| Some(&self.into).filter(|it| it.starts_with('-')));
        let foreign = |it: &String| {
            WorktreeError::ForeignRecord { path: path.to_owned(), name: it.clone() }.into()
        };
        wrong.map_or(Ok(()), |it| Err(foreign(it)))
    }
}

/// Returns the record of new work.
pub(crate) fn create(
    git: &Git,
    name: &str,
    into: Option<&str>,
    folder: &Path,
    home: &Path,
) -> Result<WorktreeState, GitError> {
    let branch = branch(name);
    if matches!(metadata(git, name)?, Metadata::Whole(_)) && folder.join(".git").exists() {
        return Err(WorktreeError::RecordGone { folder: folder.to_owned(), branch }.into());
    }
    // git cannot have a branch below another.
    for taken in [branch.as_str(), PREFIX] {
        if git.resolve(&full(taken))?.is_some() {
            if let Some(folder) =
                folder_of(git, &full(taken))?.filter(|it| it.is_dir() && is_of_trellis(it))
            {
                let branch = taken.to_owned();
                return Err(WorktreeError::BranchOfOther { branch, folder }.into());
            }
            return Err(WorktreeError::BranchTaken { branch: taken.to_owned() }.into());
        }
    }
    if folder.exists() {
        return Err(WorktreeError::FolderTaken { folder: folder.to_owned() }.into());
    }
    let into = into.map_or_else(|| checked_out(git), |it| Ok(it.to_owned()))?;
    let base = git.run(&["rev-parse", "--verify", "--quiet", &full(&into)])?;
    let journal = fs::metadata(Journal::path(home)).map_or(0, |it| it.len());
    Ok(WorktreeState {
        version: VERSION,
        into,
        base: base.trim().to_owned(),
        journal_from: journal,
        ended: None,
        sent_back: Vec::new(),
        edited: false,
        waits: None,
        tip: None,
        next: None,
        merging: None,
    })
}

pub(crate) fn remove(path: &Path) -> Result<(), GitError> {
    match fault_point::reach().and_then(|()| fs::remove_file(path)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(GitError::io_at("remove", path)(error))
        }
        _ => Ok(()),
    }
}
