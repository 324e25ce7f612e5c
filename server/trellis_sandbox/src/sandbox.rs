//! Where test code runs.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

use tokio::io::{AsyncRead, AsyncWrite};

use crate::request::Limits;

/// A worker process to be started, whatever contains it.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// Program and arguments.
    pub(crate) command: Vec<OsString>,
    /// The folder under test: at the same path inside.
    pub(crate) tree: PathBuf,
    /// Further files and folders to be shown, at the same paths and not to be written to.
    pub(crate) visible: Vec<PathBuf>,
    /// Runs are not held to a bound on each process's memory where the sandbox as a whole has one.
    pub(crate) shares_memory: bool,
    /// All variables but those for the home and for temporary files.
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
    /// Becomes `HOME`.
    pub(crate) home: PathBuf,
    /// Becomes `TMPDIR`.
    pub(crate) temporary: PathBuf,
    /// For what test runners remember from one run to the next.
    pub(crate) cache: PathBuf,
    /// All of them, to be emptied after each run.
    pub(crate) all: Vec<PathBuf>,
}

impl Writable {
    /// A home and `/tmp` that exist only inside.
    pub(crate) fn private() -> Writable {
        let [home, temporary, cache, shared] =
            ["/home/sandbox", "/tmp", "/run/sandbox", "/dev/shm"].map(PathBuf::from);
        let all = vec![home.clone(), temporary.clone(), cache.clone(), shared];
        Writable { home, temporary, cache, all }
    }

    /// Folders of the machine below `scratch`.
    pub(crate) fn below(scratch: &Path) -> Writable {
        let [home, temporary, cache] = ["home", "tmp", "cache"].map(|it| scratch.join(it));
        let all = vec![home.clone(), temporary.clone(), cache.clone()];
        Writable { home, temporary, cache, all }
    }

    /// `variables` and those that name these folders.
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
