//! Reasons against an interpreter.

use std::{io, path::PathBuf};

/// The reason an interpreter or environment cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InterpreterError {
    /// There is no such file.
    #[error("{} does not exist", .interpreter.display())]
    Missing {
        /// The interpreter.
        interpreter: PathBuf,
    },
    /// The path cannot be made absolute.
    #[error(transparent)]
    Path(io::Error),
    /// The settings of the environment cannot be read.
    #[error(
        "{} is not a virtual environment: pyvenv.cfg: {}",
        .folder.display(), trellis_os::wording::reason(.source)
    )]
    NoEnvironment {
        /// The environment's folder.
        folder: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The settings of the environment have no version.
    #[error("{} does not give its version in pyvenv.cfg: recreate it", .folder.display())]
    NoVersion {
        /// The environment's folder.
        folder: PathBuf,
    },
    /// The version is older than the oldest one that is supported.
    #[error(
        "{} is Python {}.{}, older than {}.{}",
        .path.display(), .version.0, .version.1, .oldest.0, .oldest.1
    )]
    TooOld {
        /// The interpreter or the environment's folder.
        path: PathBuf,
        /// The version.
        version: (u32, u32),
        /// The oldest supported version.
        oldest: (u32, u32),
    },
    /// The environment has no pytest, and no interpreter can install it.
    #[error(
        "{} has no pytest, and there is no Python {}.{} on PATH to install it with",
        .folder.display(), .version.0, .version.1
    )]
    NoPytest {
        /// The environment's folder.
        folder: PathBuf,
        /// The version of the environment.
        version: (u32, u32),
    },
    /// The interpreter is no program that can be started.
    #[error("{} does not start: {source}", .interpreter.display())]
    NotStarted {
        /// The interpreter.
        interpreter: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The interpreter ends with an error.
    #[error("{} does not work: {output}", .interpreter.display())]
    Failed {
        /// The interpreter.
        interpreter: PathBuf,
        /// The last lines of its output.
        output: String,
    },
    /// The interpreter does not print what it was asked for.
    #[error("{} gave an answer that Trellis cannot read: {source}", .interpreter.display())]
    Unreadable {
        /// The interpreter.
        interpreter: PathBuf,
        /// The fault of the answer.
        source: serde_json::Error,
    },
}
