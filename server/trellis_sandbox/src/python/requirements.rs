//! What a project says it needs: requirements files and `pyproject.toml`.

mod files;
mod poetry;
mod pyproject;

use std::{
    io,
    path::{Path, PathBuf},
};

/// What to install for a project's tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    /// Each as in one line of a requirements file, markers included, for [`provide`](super::provide()); hashes are
    /// dropped, since an environment with pytest in it holds more than was hashed.
    pub lines: Vec<String>,
    /// Sentences on what was left out.
    pub notes: Vec<String>,
}

impl Requirements {
    fn add(&mut self, line: String) {
        if !self.lines.contains(&line) {
            self.lines.push(line);
        }
    }
}

/// Why a project's requirements cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum RequirementsError {
    /// A file is there or is named, and cannot be read.
    #[error("cannot read the requirements in {path}: {source}; make it a readable text file")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// `pyproject.toml` is no TOML.
    #[error("{path} is not valid TOML: {detail}; correct it")]
    NotToml {
        /// The file.
        path: PathBuf,
        /// What is wrong where.
        detail: String,
    },
    /// A requirements file holds an option that would change where packages come from or how they are built.
    #[error(
        "{path}, line {line}: Trellis does not accept the option {option} from a project; put \
         it into pip's own configuration (`pip config set`, or a PIP_ variable) if you trust it"
    )]
    Option {
        /// The file.
        path: PathBuf,
        /// The line it begins on, from 1.
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
        /// The line it begins on, from 1.
        line: usize,
        /// What it includes.
        include: String,
    },
}

/// The requirements of the project at `root`, for running it and its tests. None of these need be there:
/// `requirements.txt`, its namesakes for development and tests, and in `pyproject.toml` the project's dependencies, its
/// extras and groups for tests and development, and poetry's tables. What lies in the project itself is left out with a
/// note: tests import it from where it is.
pub fn of_project(root: &Path) -> Result<Requirements, RequirementsError> {
    let mut found = files::read(root)?;
    pyproject::add(root, &mut found)?;
    Ok(found)
}

/// Extras and groups that tests need.
const FOR_TESTS: [&str; 5] = ["test", "tests", "testing", "dev", "development"];

/// A distribution's name at the start of `requirement`, in the form in which names are compared.
fn name_of(requirement: &str) -> String {
    let end = requirement.find(|it: char| !(it.is_ascii_alphanumeric() || "-_.".contains(it)));
    let name = &requirement[..end.unwrap_or(requirement.len())];
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

/// `.`, `./sub[extra]`, `file:sub`: something that lies on this disk.
fn is_local(requirement: &str) -> bool {
    let start = requirement.split('[').next().unwrap_or(requirement);
    let named = requirement.split_once(" @ ").map_or(requirement, |(_, address)| address);
    matches!(start, "." | "..")
        || ["./", "../", "/"].iter().any(|sign| start.starts_with(sign))
        || named.trim_start().starts_with("file:")
}
