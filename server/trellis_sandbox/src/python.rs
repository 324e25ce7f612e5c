//! Interpreters: finding one, and making an environment that has pytest.

mod environments;
mod find;
mod install;
mod coverage_provider;
mod provide;
mod requirements;

use std::{
    io,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use tokio::process::Command;

use crate::environment::plain_environment;

pub use self::{
    environments::{Variables, environments},
    find::{InterpreterSearch, find},
    install::Installer,
    coverage_provider::CoverageProvider,
    provide::{Progress, beside, provide, provide_with},
    requirements::{Requirements, RequirementsError, of_project},
};
pub(crate) use self::{
    coverage_provider::{ProvidedCoverage, command},
    provide::all_requirements,
};

/// An interpreter that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Python {
    /// Absolute path of the executable.
    pub interpreter: PathBuf,
    /// Such as `3.11.7`.
    pub version: String,
    /// Where it came from.
    pub origin: Origin,
    /// A person has named or activated it: it may be started outside of a sandbox.
    pub is_named: bool,
    /// Interpreters that were looked at before it, each with the reason why it was not taken.
    pub passed_over: Vec<String>,
    /// An environment has no pytest: the interpreter of its version with which [`beside`] installs it elsewhere.
    pub maker: Option<PathBuf>,
    /// A folder of packages that are found after its own: pytest, where the environment has none.
    pub added: Option<PathBuf>,
}

/// Where an interpreter came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An environment of the project's own or of the person's, with all that the project needs but pytest perhaps.
    Project,
    /// Found on the search path, or named; whether it has pytest is not known.
    Base,
    /// Made by [`provide`].
    Provided,
}

impl Python {
    /// The folder of the executable.
    pub(crate) fn folder(&self) -> &Path {
        self.interpreter.parent().unwrap_or(Path::new("/"))
    }

    /// The environment's folder, the one above `bin`.
    pub fn prefix(&self) -> &Path {
        self.folder().parent().unwrap_or(Path::new("/"))
    }

    /// True inside a virtual environment.
    pub(crate) fn is_virtual(&self) -> bool {
        self.prefix().join("pyvenv.cfg").is_file()
    }
}

/// Why there is no environment to run tests in.
#[derive(Debug, thiserror::Error)]
pub enum PythonError {
    /// No usable interpreter on the search path.
    #[error(
        "found no Python 3.9 or newer{}; install Python (Debian, Ubuntu: `apt install python3 \
         python3-venv`) or put it on PATH",
        listed(.passed_over)
    )]
    NoPython {
        /// What was looked at, each with the reason why it was not taken.
        passed_over: Vec<String>,
    },
    /// What a person named is no interpreter that works.
    #[error(
        "{path} cannot run the tests: {why}; choose an environment's folder or an interpreter, \
         Python 3.9 or newer"
    )]
    Unusable {
        /// What was named.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// `python -m venv` failed.
    #[error("cannot create a virtual environment with {interpreter}: {detail}; {hint}")]
    VenvFailed {
        /// The base interpreter.
        interpreter: PathBuf,
        /// The end of what it wrote.
        detail: String,
        /// What to do.
        hint: &'static str,
    },
    /// `pip install` failed.
    #[error("pip could not install {}: {detail}; {hint}", .requirements.join(", "))]
    PipFailed {
        /// What was to be installed.
        requirements: Vec<String>,
        /// The end of what pip wrote.
        detail: String,
        /// What to do.
        hint: &'static str,
    },
    /// `uv pip install` works, and says no.
    #[error("uv could not install {}: {detail}; {hint}", .requirements.join(", "))]
    UvFailed {
        /// What was to be installed.
        requirements: Vec<String>,
        /// The end of what uv wrote.
        detail: String,
        /// What to do.
        hint: &'static str,
    },
    /// A line that is an option or several lines, not a requirement.
    #[error(
        "{requirement:?} is not a requirement; give one such as `requests>=2`, and put pip's \
         options into pip's own configuration"
    )]
    BadRequirement {
        /// The line.
        requirement: String,
    },
    /// The cache folder cannot be used.
    #[error(
        "cannot use the environment cache at {path}: {source}; choose another folder or free \
         some space"
    )]
    Cache {
        /// The file or folder in question.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn listed(passed_over: &[String]) -> String {
    if passed_over.is_empty() { String::new() } else { format!(" ({})", passed_over.join("; ")) }
}

/// Runs an interpreter to its end, killing it when the future is dropped. It sees the caller's
/// plain environment, for proxies and pip's settings, but no keys, which a package's own
/// code could read, and none of the variables that change how Python itself behaves.
async fn output(interpreter: &Path, args: &[&str]) -> io::Result<Output> {
    let mut command = Command::new(interpreter);
    // `-I`: neither PYTHON* variables nor the working folder nor the user's own site-packages have
    // a say.
    command.arg("-I").args(args).current_dir("/").stdin(Stdio::null()).kill_on_drop(true);
    command.env_clear().envs(plain_environment()).env_remove("PIP_REQUIRE_VIRTUALENV");
    command.env("PIP_NO_INPUT", "1").env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    command.output().await
}

/// The last lines of what a program said, on one line.
fn last_words(output: &Output) -> String {
    let text = String::from_utf8_lossy(if output.stderr.is_empty() {
        &output.stdout
    } else {
        &output.stderr
    });
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let tail = lines[lines.len().saturating_sub(12)..].join(" / ");
    if tail.is_empty() {
        format!("it printed nothing and ended with {}", output.status)
    } else {
        tail
    }
}
