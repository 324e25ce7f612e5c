//! The inputs of any sandbox: the process to start and the folders it may write to.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

use tokio::io::{AsyncRead, AsyncWrite};

use crate::request::Limits;

/// A worker process to start, whatever sandbox contains it.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// Program and arguments.
    pub(crate) command: Vec<OsString>,
    /// The folder under test, at the same path inside.
    pub(crate) tree: PathBuf,
    /// Further files and folders to show, at the same paths and read-only.
    pub(crate) visible: Vec<PathBuf>,
    /// Removes the bound on each process's memory if the sandbox as a whole has one.
    pub(crate) shares_memory: bool,
    /// All variables except those for the home folder and temporary files.
    pub(crate) variables: BTreeMap<OsString, OsString>,
    pub(crate) limits: Limits,
}

/// The standard streams of a worker.
pub(crate) struct Connection {
    pub(crate) input: Box<dyn AsyncWrite + Send + Unpin>,
    pub(crate) output: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) errors: Box<dyn AsyncRead + Send + Unpin>,
}

/// Folders inside a sandbox that tests may write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Writable {
    /// The value of `HOME`.
    pub(crate) home: PathBuf,
    /// The value of `TMPDIR`.
    pub(crate) temporary: PathBuf,
    /// The folder for data that test runners keep from one run to the next.
    pub(crate) cache: PathBuf,
    /// All folders, to be emptied after each run.
    pub(crate) all: Vec<PathBuf>,
}

impl Writable {
    /// Returns a home folder and `/tmp` that exist only inside.
    pub(crate) fn private() -> Writable {
        let [home, temporary, cache, shared] =
            ["/home/sandbox", "/tmp", "/run/sandbox", "/dev/shm"].map(PathBuf::from);
        let all = vec![home.clone(), temporary.clone(), cache.clone(), shared];
        Writable { home, temporary, cache, all }
    }

    /// Returns folders of the machine below `scratch`.
    pub(crate) fn below(scratch: &Path) -> Writable {
        let [home, temporary, cache] = ["home", "tmp", "cache"].map(|it| scratch.join(it));
        let all = vec![home.clone(), temporary.clone(), cache.clone()];
        Writable { home, temporary, cache, all }
    }

    /// Returns `variables` and those that name these folders.
    pub(crate) fn with(
        &self,
        variables: &BTreeMap<OsString, OsString>,
    ) -> BTreeMap<OsString, OsString> {
        let mut all = variables.clone();
        all.insert("HOME".into(), self.home.clone().into());
        all.insert("TMPDIR".into(), self.temporary.clone().into());
        all
    }
}
