//! Tech stacks as data: the files of a new project, its installer and its test command.
//!
//! The binary contains four. Users add their own as YAML files, which follow the same rules. A
//! stack names the installer of its packages but never a command for that, so that a stranger's
//! file cannot execute anything.

mod check;
mod find;
mod install;
mod scaffold;

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use find::{all, find};
pub use install::{Installed, install};
pub use scaffold::{project_name, scaffold};

/// Placeholder for the project's name in the texts of a stack.
const PROJECT_NAME: &str = "{{project_name}}";

/// A stack that follows the rules.
#[derive(Clone, Debug)]
pub struct Stack {
    pub written: StackFile,
    pub origin: Origin,
}

/// The origin of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The binary.
    Builtin,
    /// A file of the user or of the project.
    File(PathBuf),
}

/// A stack as written in its file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StackFile {
    /// Name of lower-case letters, digits and `-`, by which people choose the stack.
    pub name: String,
    pub display_name: String,
    /// Description in one line.
    pub description: String,
    /// Category, such as `backend`.
    pub category: String,
    /// The folder for code, below the project's root, with `/`; `.` is the root itself.
    pub src_dir: String,
    /// The folder for tests; may be the same.
    pub test_dir: String,
    /// One program with its arguments, started without a shell in the project's root.
    pub test_command: String,
    pub install: Installer,
    /// Texts by path: configuration of the stack's tools.
    pub config_files: BTreeMap<String, String>,
    /// Texts by path: some code and a passing test of it.
    pub hello_world: BTreeMap<String, String>,
    /// Coding conventions of such a project, for the model.
    pub conventions: String,
}

/// The tool that installs the packages of a project. Other programs are not possible.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Installer {
    /// `npm install`, without the scripts of packages.
    Npm,
    /// An environment with pytest in the cache, as tests use it.
    Pip,
    /// `go mod tidy` and `go mod download`.
    Go,
    /// There is nothing to install.
    None,
}

impl Installer {
    /// Returns the installer's name in a stack's file.
    pub fn name(self) -> &'static str {
        match self {
            Installer::Npm => "npm",
            Installer::Pip => "pip",
            Installer::Go => "go",
            Installer::None => "none",
        }
    }

    /// Returns the files in a project's root that list requirements. At least one of them has to
    /// exist.
    pub fn manifests(self) -> &'static [&'static str] {
        match self {
            Installer::Npm => &["package.json"],
            Installer::Pip => &["requirements.txt", "pyproject.toml"],
            Installer::Go => &["go.mod"],
            Installer::None => &[],
        }
    }
}

impl Stack {
    /// Returns the name by which people choose the stack.
    pub fn name(&self) -> &str {
        &self.written.name
    }

    /// Returns every file of a new project by path, with the project's name filled in.
    pub fn files(&self, project: &str) -> BTreeMap<String, String> {
        let all = self.written.config_files.iter().chain(&self.written.hello_world);
        all.map(|(path, text)| (path.clone(), text.replace(PROJECT_NAME, project))).collect()
    }
}
