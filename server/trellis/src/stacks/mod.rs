//! Tech stacks: what a new project begins with, how it is installed and tested, as data.
//!
//! Four are in the binary. Users add theirs as YAML files, which are held to the same rules; a stack names what installs
//! its packages and never a command for that, so that a file of a stranger's has nothing executed.

mod check;
mod find;
mod install;
mod scaffold;

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use find::{all, find};
pub(crate) use install::{Installed, install};
pub(crate) use scaffold::{project_name, scaffold};

/// What stands for the project's name in the texts of a stack.
const PROJECT_NAME: &str = "{{project_name}}";

/// A stack that keeps the rules.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    pub(crate) written: StackFile,
    pub(crate) origin: Origin,
}

/// Where a stack comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The binary.
    Builtin,
    /// A file of the user's or of the project's.
    File(PathBuf),
}

/// A stack as its file says it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StackFile {
    /// Lower-case letters, digits and `-`; what people call it by.
    pub(crate) name: String,
    pub(crate) display_name: String,
    /// One line.
    pub(crate) description: String,
    /// Such as `backend`.
    pub(crate) category: String,
    /// Where code goes: a folder below the project's root, with `/`; `.` is the root itself.
    pub(crate) src_dir: String,
    /// Where tests go; may be the same.
    pub(crate) test_dir: String,
    /// One program with its arguments, started without a shell in the project's root.
    pub(crate) test_command: String,
    pub(crate) install: Installer,
    /// Texts by path: what the tools of the stack read.
    pub(crate) config_files: BTreeMap<String, String>,
    /// Texts by path: some code and a test of it that passes.
    pub(crate) hello_world: BTreeMap<String, String>,
    /// How code is written in such a project, for the model.
    pub(crate) conventions: String,
}

/// The tool that installs the packages of a project. Other programs are not possible.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Installer {
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
    /// As in a stack's file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Installer::Npm => "npm",
            Installer::Pip => "pip",
            Installer::Go => "go",
            Installer::None => "none",
        }
    }

    /// The files in a project's root that say what is to be installed; one of them has to be there.
    pub(crate) fn manifests(self) -> &'static [&'static str] {
        match self {
            Installer::Npm => &["package.json"],
            Installer::Pip => &["requirements.txt", "pyproject.toml"],
            Installer::Go => &["go.mod"],
            Installer::None => &[],
        }
    }
}

impl Stack {
    /// What people call it by.
    pub(crate) fn name(&self) -> &str {
        &self.written.name
    }

    /// Every file of a new project by path, with the project's name in place.
    pub(crate) fn files(&self, project: &str) -> BTreeMap<String, String> {
        let all = self.written.config_files.iter().chain(&self.written.hello_world);
        all.map(|(path, text)| (path.clone(), text.replace(PROJECT_NAME, project))).collect()
    }
}
