//! Failures of opening a sandbox, running tests in it and ending it.

use std::{io, path::PathBuf};

use tokio::task::JoinError;

use super::{
    FileError, FolderAccessError, LocalError, ProjectError, RemovalError, StartError, WorkerError,
    WorkerFailure,
};

/// The reason no test can be run.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A file or folder of the tests cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file of the tests would lie outside their folder.
    #[error("the file {name:?} would be outside its root: give a relative path without `..`")]
    OutsideRoot {
        /// The file's name.
        name: String,
    },
    /// The task that prepares the folder broke off.
    #[error("cannot prepare the scratch folder: {0}")]
    Unprepared(JoinError),
    /// The interpreter does not run in a local sandbox.
    #[error(
        "{python} does not work in the sandbox: {source}; choose another interpreter or \
         recreate the environment"
    )]
    Interpreter {
        /// The interpreter, as messages name it.
        python: String,
        /// The reason.
        source: LocalError,
    },
    /// The worker ended, or did not answer, when it looked for coverage.py.
    #[error(
        "coverage.py of {python} cannot be imported in the sandbox: {source}; reinstall it there, \
         or remove it"
    )]
    Coverage {
        /// The interpreter, as messages name it.
        python: String,
        /// The reason.
        source: WorkerError,
    },
    /// No local sandbox can be started.
    #[error(transparent)]
    Local(#[from] LocalError),
    /// The user of containers cannot read the tests.
    #[error(transparent)]
    FolderAccess(#[from] FolderAccessError),
    /// No engine takes runs any more.
    #[error(
        "no engine is left: {}; start one of them, or name others with `--engine`",
        .absent.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    )]
    NoEngines {
        /// The engines, with the reasons.
        absent: Vec<AbsentEngine>,
    },
    /// The project cannot be sent to an engine.
    #[error("the project cannot be sent to another engine: {reason}; run without `--engine`")]
    NotSent {
        /// The reason, for people.
        reason: String,
    },
    /// There is no container.
    #[error(transparent)]
    Container(#[from] StartError),
    /// The image has no working worker.
    #[error("cannot start a worker in the image {image}: {source}")]
    Image {
        /// The name of the image.
        image: String,
        /// The reason.
        source: WorkerError,
    },
    /// The tests need pytest.
    #[error("pytest is not installed for {python}: install it there")]
    NoPytest {
        /// The interpreter or image, as messages name it.
        python: String,
    },
    /// The tests need packages that are not installed.
    #[error("{} has no `node_modules`: run `npm install` there first", .root.display())]
    NoPackages {
        /// The folder of the tests.
        root: PathBuf,
    },
    /// A program of the test framework does not start.
    #[error("cannot start {program}: {message}; install {needed} and make sure that it is on PATH")]
    NoProgram {
        /// The program.
        program: String,
        /// The worker's message.
        message: String,
        /// The software to install.
        needed: &'static str,
    },
    /// A program of the test framework does not start in a container.
    #[error(
        "cannot start {program} in a container: {message}; choose an image with Python and \
         {needed} instead of {image}, or use the local sandbox"
    )]
    NoProgramInImage {
        /// The program.
        program: String,
        /// The worker's message.
        message: String,
        /// The software that the image needs.
        needed: &'static str,
        /// The name of the image.
        image: String,
    },
    /// The tests would not see the project as it is.
    #[error("the sandbox cannot show the project to the tests: {0}")]
    Project(#[from] ProjectError),
    /// The sandbox cannot be ended.
    #[error(transparent)]
    End(#[from] EndError),
}

impl SandboxError {
    /// Returns whether the engine is at fault, so that the run may succeed on another one.
    pub(crate) fn is_of_engine(&self) -> bool {
        match self {
            SandboxError::Container(StartError::Launch(_)) => false,
            SandboxError::Container(_) => true,
            SandboxError::Project(ProjectError::Sent(error)) => error.is_of_engine(),
            _ => false,
        }
    }

    /// Returns whether a new worker ended before it was ready. Its cause may be a passing one.
    pub(crate) fn is_of_ended_worker(&self) -> bool {
        let (SandboxError::Interpreter { source: LocalError::Worker(source), .. }
        | SandboxError::Image { source, .. }
        | SandboxError::Coverage { source, .. }) = self
        else {
            return false;
        };
        matches!(source.cause, WorkerFailure::Ended)
    }

    /// Returns whether the error is the same for each later run on the engine.
    pub(crate) fn remains(&self) -> bool {
        matches!(self, SandboxError::Container(StartError::ImageGone { .. }))
    }
}

/// An engine that gets no runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {reason}")]
pub struct AbsentEngine {
    /// The engine, as the person names it.
    pub name: String,
    /// The reason, for people.
    pub reason: String,
}

/// The reason a sandbox did not end, or left something behind.
#[derive(Debug, thiserror::Error)]
pub enum EndError {
    /// The end cannot be observed.
    #[error("lost contact with the sandbox: {source}")]
    LostContact {
        /// The system's error.
        source: io::Error,
    },
    /// The process continues after it was killed.
    #[error("a killed sandbox did not end: it hangs in the kernel")]
    Hangs,
    /// The process cannot be reaped.
    #[error("cannot wait for the end of the sandbox: {source}")]
    NotReaped {
        /// The system's error.
        source: io::Error,
    },
    /// A scratch folder cannot be removed.
    #[error(transparent)]
    Folder(#[from] FileError),
    /// A container cannot be removed.
    #[error(transparent)]
    Container(#[from] RemovalError),
    /// The task that waits for the end broke off.
    #[error(transparent)]
    Task(#[from] JoinError),
}
