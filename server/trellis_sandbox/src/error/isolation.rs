//! Failures of isolation on this machine.

use std::{io, path::PathBuf, sync::Arc};

use super::{FileError, WorkerError};

/// The reason a kind of isolation does not work on this machine.
#[derive(Debug, thiserror::Error)]
pub enum IsolationError {
    /// A file or folder that the sandbox needs cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// The process cannot be moved into its control group.
    #[error(transparent)]
    ControlGroup(#[from] ControlGroupError),
    /// The search path has no `bwrap`.
    #[error("bubblewrap is not installed (package `bubblewrap`)")]
    NoBubblewrap,
    /// `bwrap` ended without starting its program.
    #[error(
        "bubblewrap could not create the namespaces (try `bwrap --unshare-all --ro-bind / / \
         true`)"
    )]
    NoNamespaces,
    /// The process that `bwrap` named is gone.
    #[error("bubblewrap's process ended immediately: {source}")]
    BubblewrapEnded {
        /// The system's error.
        source: io::Error,
    },
    /// A pipe cannot be made or used.
    #[error("cannot {action}: {source}")]
    Pipe {
        /// The operation, such as `create a pipe`.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// A step of the setup failed.
    #[error("{step} failed: {source}")]
    Step {
        /// The step, such as `mounting files`.
        step: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

/// The reason there is no control group.
#[derive(Debug, thiserror::Error)]
pub enum ControlGroupError {
    /// A file or folder of the kernel's interface cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// No file system of version 2 is mounted.
    #[error("version 2 is not mounted")]
    NotMounted,
    /// A controller of version 1 is not mounted.
    #[error("the controller `{controller}` is not mounted")]
    NoController {
        /// The name of the controller.
        controller: &'static str,
    },
    /// No group above this process has the necessary controllers.
    #[error("no control group above this process passes on `memory` and `pids`")]
    NotDelegated,
    /// Neither version of the interface works.
    #[error("control groups cannot be used (version 2: {version_2}; version 1: {version_1})")]
    NoVersion {
        /// The reason against version 2.
        version_2: Box<ControlGroupError>,
        /// The reason against version 1.
        version_1: Box<ControlGroupError>,
    },
}

/// The reason there is no system call filter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// The filter library does not know this processor.
    #[error("there is no system call filter for {architecture} processors")]
    UnknownProcessor {
        /// The name of the processor's architecture.
        architecture: &'static str,
    },
    /// The filter library rejects a rule.
    #[error("{message}")]
    Rejected {
        /// The library's message.
        message: String,
    },
}

/// The reason there are no Landlock rules.
#[derive(Debug, thiserror::Error)]
pub enum LandlockError {
    /// The kernel rejects a rule.
    #[error("Landlock rejected the rules: {0}")]
    Rejected(#[from] landlock::RulesetError),
    /// The kernel is too old.
    #[error("this kernel has no Landlock (Linux 5.13 added it)")]
    Missing,
}

/// The reason there is no process in a local sandbox.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// Every kind of isolation was ruled out before.
    #[error("no isolation is available")]
    NoIsolation,
    /// The last kind of isolation does not work either.
    #[error(transparent)]
    Isolation(Arc<IsolationError>),
    /// The isolation works, but the program does not start.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The program starts, but is no working worker.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// The folder for scratch folders cannot be used.
    #[error("{}: {source}", .path.display())]
    Scratch {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The reason a program does not start in a working sandbox.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The thread that starts all processes is gone.
    #[error("the thread that starts processes has ended")]
    StarterEnded,
    /// The kernel cannot start the program.
    #[error("cannot start it: {source}")]
    NotStarted {
        /// The system's error.
        source: io::Error,
    },
}
