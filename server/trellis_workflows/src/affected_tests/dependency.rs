//! Parts of a project that a test depends on.

use serde::{Deserialize, Serialize};

/// A part of a project whose change may change a test's result.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Dependency {
    /// Code of a module outside of function bodies; a missing module is one as well.
    Module(String),
    /// Body of a function, by path and name.
    Function(String, String),
    /// Content of a file that is data for the test.
    File(String),
    /// Names in a folder.
    Folder(String),
    /// All Python code of the project: the test starts processes, which are not observed.
    Project,
}

/// A dependency with the hash of its content when the test ran.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct Version {
    pub(super) of: Dependency,
    pub(super) hash: u64,
}

/// Hash of what does not exist.
pub(super) const ABSENT: u64 = 0;
/// Hash of what changed during the run, so that the content that the test met is unknown.
pub(super) const UNSURE: u64 = 1;

impl Dependency {
    /// Returns the path of the file or folder; `None` for the whole project.
    pub fn path(&self) -> Option<&str> {
        match self {
            Dependency::Module(path)
            | Dependency::Function(path, _)
            | Dependency::File(path)
            | Dependency::Folder(path) => Some(path),
            Dependency::Project => None,
        }
    }
}
