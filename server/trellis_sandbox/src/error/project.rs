//! Failures to show the project to tests.

use std::{io, path::PathBuf, time::Duration};

use tokio::task::JoinError;
use trellis_os::wording::bytes;

use super::{FileError, SendError};

/// The reason there is no layer for what tests write to the project.
#[derive(Debug, thiserror::Error)]
pub enum LayerError {
    /// The layer would hide what is mounted in the project.
    #[error("{place} is mounted below it")]
    MountedBelow {
        /// The first mount point.
        place: String,
    },
    /// The process that mounts the layer cannot be prepared.
    #[error("cannot {action}: {source}")]
    Process {
        /// The operation, such as `start a process`.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// A step of mounting or unmounting failed.
    #[error("{step} failed: {source}")]
    Step {
        /// The step, such as `mounting the overlay`.
        step: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The task that does the work broke off.
    #[error(transparent)]
    Task(#[from] JoinError),
}

/// The reason a sandbox does not show the project as it is on disk.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// There is no layer for what tests write.
    #[error(transparent)]
    Layer(#[from] LayerError),
    /// The copy was not ready in time.
    #[error("copying it took longer than {} s", .limit.as_secs())]
    TooSlow {
        /// The time limit.
        limit: Duration,
    },
    /// The worker's output cannot be read.
    #[error(transparent)]
    Output(io::Error),
    /// The worker cannot copy the project.
    #[error("{message}")]
    Refused {
        /// The worker's message.
        message: String,
    },
    /// The files do not reach the engine.
    #[error(transparent)]
    Sent(#[from] SendError),
    /// The files do not stay the same while they are sent.
    #[error("its files changed again and again while they were sent")]
    Unsettled,
    /// The worker ended.
    #[error("the sandbox ended")]
    Ended,
}

/// The reason tests may not write to the project.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadOnlyReason {
    #[error("as requested")]
    Requested,
    #[error("without namespaces there is no alternative")]
    NoNamespaces,
    #[error(transparent)]
    Layer(#[from] LayerError),
    /// The project lies in a folder that containers need.
    #[error("containers need {place} for their own use")]
    Reserved { place: &'static str },
    #[error(transparent)]
    File(#[from] FileError),
    /// A file is too large for a copy.
    #[error(
        "{} has {}, more than the limit of {} for one file",
        .path.display(), bytes(*.size), bytes(*.most)
    )]
    LargeFile { path: PathBuf, size: u64, most: u64 },
    #[error("it has more than the limit of {most} files and folders")]
    ManyFiles { most: u64 },
    #[error("it has more than the limit of {}", bytes(*.most))]
    Large { most: u64 },
    #[error("its folders are nested more than {most} levels deep")]
    Deep { most: usize },
    /// The task that measures the project broke off.
    #[error("cannot measure it: {0}")]
    Unmeasured(JoinError),
}
