//! Python interpreters: finds one, and makes an environment that has pytest.

mod coverage_provider;
mod environments;
mod find;
mod install;
mod interpreter_error;
mod provide;
mod requirements;

use std::{
    io,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use tokio::process::Command;

use trellis_os::environment::plain_environment;

use crate::error::{PipProblem, UvProblem, VenvProblem};

pub use self::{
    coverage_provider::CoverageProvider,
    environments::{Variables, environments},
    find::{InterpreterSearch, find},
    install::Installer,
    interpreter_error::InterpreterError,
    provide::{Progress, beside, provide, provide_with},
    requirements::{Requirements, RequirementsError, of_project},
};
pub(crate) use self::{
    coverage_provider::{CoverageError, ProvidedCoverage, command},
    provide::all_requirements,
};

/// An interpreter that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Python {
    /// Absolute path of the executable.
    pub interpreter: PathBuf,
    /// The version, such as `3.11.7`.
    pub version: String,
    /// The origin of the interpreter.
    pub origin: Origin,
    /// True if the user has named or activated it, so that it may be started outside a sandbox.
    pub is_named: bool,
    /// Interpreters that were examined before this one, each with the reason it was not taken.
    pub passed_over: Vec<String>,
    /// For an environment without pytest, the interpreter of the same version with which [`beside`]
    /// installs pytest elsewhere.
    pub maker: Option<PathBuf>,
    /// A folder of packages searched after the interpreter's own, with pytest for an environment
    /// that has none.
    pub added: Option<PathBuf>,
}

/// The origin of an interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An environment of the project or the user, with everything the project needs except perhaps
    /// pytest.
    Project,
    /// An interpreter from the search path, or named by the user; it may not have pytest.
    Base,
    /// An environment made by [`provide`].
    Provided,
}

impl Python {
    /// Returns the folder of the executable.
    pub(crate) fn folder(&self) -> &Path {
        self.interpreter.parent().unwrap_or(Path::new("/"))
    }

    /// Returns the environment's folder, the one above `bin`.
    pub fn prefix(&self) -> &Path {
        self.folder().parent().unwrap_or(Path::new("/"))
    }

    /// Returns whether this is a virtual environment.
    pub(crate) fn is_virtual(&self) -> bool {
        self.prefix().join("pyvenv.cfg").is_file()
    }
}

/// The reason there is no environment to run tests in.
#[derive(Debug, thiserror::Error)]
pub enum PythonError {
    /// The search path has no usable interpreter.
    #[error(
        "found no Python 3.9 or newer{}; install Python (Debian, Ubuntu: `apt install python3 \
         python3-venv`) or put it on PATH",
        listed(.passed_over)
    )]
    NoPython {
        /// The reasons against the interpreters that were examined.
        passed_over: Vec<InterpreterError>,
    },
    /// The user named something that is no working interpreter.
    #[error(
        "{path} cannot run the tests: {source}; choose an environment's folder or an interpreter, \
         Python 3.9 or newer"
    )]
    Unusable {
        /// The path that the user named.
        path: PathBuf,
        /// The reason it cannot be used.
        source: InterpreterError,
    },
    /// `python -m venv` failed.
    #[error(
        "cannot create a virtual environment with {interpreter}: {detail}; {}", .problem.hint()
    )]
    VenvFailed {
        /// The base interpreter.
        interpreter: PathBuf,
        /// The last lines of its output.
        detail: String,
        /// The kind of failure.
        problem: VenvProblem,
    },
    /// `pip install` failed.
    #[error("pip could not install {}: {detail}; {}", .requirements.join(", "), .problem.hint())]
    PipFailed {
        /// The packages to install.
        requirements: Vec<String>,
        /// The last lines of pip's output.
        detail: String,
        /// The kind of failure.
        problem: PipProblem,
    },
    /// `uv pip install` works, but refused the requirements.
    #[error("uv could not install {}: {detail}; {}", .requirements.join(", "), .problem.hint())]
    UvFailed {
        /// The packages to install.
        requirements: Vec<String>,
        /// The last lines of uv's output.
        detail: String,
        /// The kind of failure.
        problem: UvProblem,
    },
    /// A line is an option or several lines, not a requirement.
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
        /// The system's error.
        source: io::Error,
    },
}

fn listed(passed_over: &[InterpreterError]) -> String {
    let reasons = sentences(passed_over);
    if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) }
}

/// Formats the reasons against interpreters for people.
fn sentences(passed_over: &[InterpreterError]) -> Vec<String> {
    passed_over.iter().map(ToString::to_string).collect()
}

/// Runs an interpreter to its end; dropping the future kills it. The interpreter gets the caller's
/// plain environment, for proxies and pip's settings, but no API keys, which a package's code could
/// read, and none of the variables that change the behavior of Python itself.
async fn output(interpreter: &Path, args: &[&str]) -> io::Result<Output> {
    let mut command = Command::new(interpreter);
    // `-I` ignores PYTHON* variables, the working folder and the user's own site-packages.
    command.arg("-I").args(args).current_dir("/").stdin(Stdio::null()).kill_on_drop(true);
    command.env_clear().envs(plain_environment()).env_remove("PIP_REQUIRE_VIRTUALENV");
    command.env("PIP_NO_INPUT", "1").env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    command.output().await
}

/// Returns the last lines of a program's output, joined into one line.
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
