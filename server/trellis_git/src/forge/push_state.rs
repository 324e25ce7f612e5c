//! Record of pushes, in `.trellis/pushed.json`. Written before each push, so that after any crash
//! Trellis recognizes its own branches, and knows merges that still have to be pushed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{GitError, RemoteError};
use trellis_store::disk;
use trellis_store::lock::Lock;

/// Version of the file format.
const VERSION: u32 = 1;
const FILE: &str = ".trellis/pushed.json";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    /// State by address.
    remotes: BTreeMap<String, RemoteState>,
}

/// State of a remote, as far as Trellis pushed it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoteState {
    /// Branches with the commits they may be at: the last one pushed, and one being pushed.
    pub(super) branches: BTreeMap<String, Vec<String>>,
    /// Merges that still have to be pushed.
    pub(super) owed: Vec<PendingPush>,
}

/// A merge to push.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PendingPush {
    /// The branch that work was merged into.
    pub(super) into: String,
    /// The merge's commit; the merge may not have happened.
    pub(super) commit: String,
    /// The branch of the work, which can be removed after the push.
    pub(super) branch: String,
}

/// Access to the record of one remote.
pub(super) struct PushState {
    home: PathBuf,
    remote: String,
}

impl PushState {
    pub(super) fn of(home: &Path, remote: &str) -> PushState {
        PushState { home: home.to_owned(), remote: remote.to_owned() }
    }

    /// Returns the recorded state of the remote.
    pub(super) fn read(&self) -> Result<RemoteState, GitError> {
        Ok(self.file()?.remotes.remove(&self.remote).unwrap_or_default())
    }

    /// Changes the recorded state, under a lock for all processes.
    pub(super) fn change(&self, change: impl FnOnce(&mut RemoteState)) -> Result<(), GitError> {
        let wait = || {
            disk::ensure(&self.home)?;
            Lock::wait_for(&self.home.join(".trellis/pushed.lock"))
        };
        let _alone = wait().map_err(GitError::io("lock the record of pushed branches"))?;
        let mut file = self.file()?;
        change(file.remotes.entry(self.remote.clone()).or_default());
        let text = serde_json::to_string_pretty(&file)
            .map_err(|source| RemoteError::NoJson { file: FILE, source })?;
        disk::write(&self.home, FILE, &(text + "\n"))
            .map_err(GitError::io_at("write", Path::new(FILE)))
    }

    fn file(&self) -> Result<File, GitError> {
        let path = self.home.join(FILE);
        let text = match trellis_os::files::read_text(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(File { version: VERSION, remotes: BTreeMap::new() });
            }
            Err(error) => return Err(GitError::io_at("read", &path)(error)),
        };
        match serde_json::from_str::<File>(&text) {
            Ok(file) if file.version == VERSION => Ok(file),
            Ok(File { version, .. }) => {
                Err(RemoteError::RecordVersion { path, version, known: VERSION }.into())
            }
            Err(source) => Err(RemoteError::DamagedRecord { path, source }.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_remote_has_its_own_and_what_cannot_be_read_is_said() {
        let world = tempfile::tempdir().expect("a folder");
        let [one, other] = ["one", "other"].map(|it| PushState::of(world.path(), it));
        assert_eq!(one.read().expect("nothing"), RemoteState::default());
        let branches = BTreeMap::from([("trellis/a".to_owned(), vec!["1".to_owned()])]);
        one.change(|it| it.branches.clone_from(&branches)).expect("written");
        other.change(|it| it.branches.clear()).expect("written");
        assert_eq!(one.read().expect("read").branches, branches);
        assert_eq!(other.read().expect("read"), RemoteState::default());
        for text in ["{", "{\"version\": 2, \"remotes\": {}}"] {
            std::fs::write(world.path().join(FILE), text).expect("written");
            assert!(one.read().expect_err("refused").to_string().contains("cannot understand"));
            assert!(one.change(|_| ()).is_err());
        }
    }
}
