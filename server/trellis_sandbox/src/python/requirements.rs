//! The requirements of a project, from requirements files and `pyproject.toml`.

mod files;
mod poetry;
mod pyproject;

use std::{
    io,
    path::{Path, PathBuf},
};

/// The packages to install for a project's tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    /// Requirements for [`provide`](super::provide()), each as in one line of a requirements file,
    /// with markers. Hashes are dropped, since an environment with pytest in it has more packages
    /// than were hashed.
    pub lines: Vec<String>,
    /// Sentences on requirements that were left out.
    pub notes: Vec<String>,
}

impl Requirements {
    fn add(&mut self, line: String) {
        if !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }
}

/// The reason a project's requirements cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RequirementsError {
    /// A file that exists or is named cannot be read.
    #[error("cannot read the requirements in {path}: {source}; make it a readable text file")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// `pyproject.toml` is not valid TOML.
    #[error("{path} is not valid TOML: {detail}; correct it")]
    NotToml {
        /// The file.
        path: PathBuf,
        /// The fault and its place.
        detail: String,
    },
    /// A requirements file has an option that would change the source or the build of packages.
    #[error(
        "{path}, line {line}: Trellis does not accept the option {option} from a project; put \
         it into pip's own configuration (`pip config set`, or a PIP_ variable) if you trust it"
    )]
    Option {
        /// The file.
        path: PathBuf,
        /// The first line of the requirement, from 1.
        line: usize,
        /// The option's name.
        option: String,
    },
    /// A file includes one that is not below the project's root.
    #[error(
        "{path}, line {line}: {include} is outside the project; move it inside or list its \
         requirements here"
    )]
    Outside {
        /// The file.
        path: PathBuf,
        /// The first line of the requirement, from 1.
        line: usize,
        /// The included file.
        include: String,
    },
}

/// Returns the requirements for running the project at `root` and its tests. It reads those of
/// these sources that exist: `requirements.txt`, its variants for development and tests, and in
/// `pyproject.toml` the project's dependencies, its extras and groups for tests and development,
/// and poetry's tables. Packages inside the project are left out with a note: tests import them
/// from their folder.
pub fn of_project(root: &Path) -> Result<Requirements, RequirementsError> {
    let mut found = files::read(root)?;
    pyproject::add(root, &mut found)?;
    Ok(found)
}

/// Names of extras and groups that tests need.
const FOR_TESTS: [&str; 5] = ["test", "tests", "testing", "dev", "development"];

/// Returns a distribution's name at the start of `requirement`, normalized for comparison.
fn name_of(requirement: &str) -> String {
    let end = requirement.find(|it: char| !(it.is_ascii_alphanumeric() || "-_.".contains(it)));
    let name = &requirement[..end.unwrap_or(requirement.len())];
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

/// Returns whether a requirement is on this disk: `.`, `./sub[extra]`, `file:sub`.
fn is_local(requirement: &str) -> bool {
    let start = requirement.split('[').next().unwrap_or(requirement);
    let named = requirement.split_once(" @ ").map_or(requirement, |(_, address)| address);
    matches!(start, "." | "..")
        || ["./", "../", "/"].iter().any(|sign| start.starts_with(sign))
        || named.trim_start().starts_with("file:")
}
