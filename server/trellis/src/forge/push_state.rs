//! What was pushed where, in `.trellis/pushed.json`: written before each push, so that a branch of ours is known after any
//! crash, and a merge that has still to be pushed is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Fault;
use crate::workspace::disk;
use crate::workspace::disk::cannot;
use crate::workspace::lock::Lock;

/// Of the file's shape.
const VERSION: u32 = 1;
const FILE: &str = ".trellis/pushed.json";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    /// By address.
    remotes: BTreeMap<String, RemoteState>,
}

/// What a remote has of ours.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RemoteState {
    /// Branches with the commits that they may be at: the one that was pushed last, and one that is on its way.
    pub(super) branches: BTreeMap<String, Vec<String>>,
    /// Merges that have still to be pushed.
    pub(super) owed: Vec<PendingPush>,
}

/// A merge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PendingPush {
    /// The branch that got it.
    pub(super) into: String,
    /// Its commit there; it may never have come so far.
    pub(super) commit: String,
    /// The branch of the work, which then can go.
    pub(super) branch: String,
}

/// The file, for one remote.
pub(super) struct PushState {
    home: PathBuf,
    remote: String,
}

impl PushState {
    pub(super) fn of(home: &Path, remote: &str) -> PushState {
        PushState { home: home.to_owned(), remote: remote.to_owned() }
    }

    /// What is written down of the remote.
    pub(super) fn read(&self) -> Result<RemoteState, Fault> {
        Ok(self.file()?.remotes.remove(&self.remote).unwrap_or_default())
    }

    /// Changes what is written down; several processes may, one after the other.
    pub(super) fn change(&self, change: impl FnOnce(&mut RemoteState)) -> Result<(), Fault> {
        let wait = || {
            disk::ensure(&self.home)?;
            Lock::wait_for(&self.home.join(".trellis/pushed.lock"))
        };
        let _alone =
            wait().map_err(|error| cannot("lock the record of pushed branches", &error))?;
        let mut file = self.file()?;
        change(file.remotes.entry(self.remote.clone()).or_default());
        let text = serde_json::to_string_pretty(&file)
            .map_err(|error| Fault::internal(format!("{FILE} is not valid JSON: {error}")))?;
        disk::write(&self.home, FILE, &(text + "\n"))
            .map_err(|error| cannot(&format!("write {FILE}"), &error))
    }

    fn file(&self) -> Result<File, Fault> {
        let path = self.home.join(FILE);
        let text = match trellis_sandbox::files::read_text(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(File { version: VERSION, remotes: BTreeMap::new() });
            }
            Err(error) => return Err(cannot(&format!("read {}", path.display()), &error)),
        };
        let wrong = |why: String| {
            Fault::input(format!("cannot understand {}: {why}", path.display()))
                .hint("move it away; Trellis then treats branches pushed earlier as someone else's")
        };
        let file: File = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        match file.version {
            VERSION => Ok(file),
            other => {
                Err(wrong(format!("it has version {other}, but this Trellis reads {VERSION}")))
            }
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
            assert!(one.read().expect_err("refused").message.contains("cannot understand"));
            assert!(one.change(|_| ()).is_err());
        }
    }
}
