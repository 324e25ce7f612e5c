//! Failures of the Docker sandbox: images and containers.

use std::{io, path::PathBuf, time::Duration};

use tokio::task::JoinError;

use super::{
    AbsentEngine, AddressError, ContextError, EngineError, EngineFailure, FREE_SPACE, FileError,
    ImageInstallProblem, RemovalError, is_full,
};
use crate::python::PythonError;

/// The reason the Docker sandbox cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum DockerError {
    /// There is no engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The named context has no engine.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// None of the named engines can be used.
    #[error(
        "none of the engines can be used: {}",
        .absent.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    )]
    NoEngines {
        /// The engines, with the reasons.
        absent: Vec<AbsentEngine>,
    },
    /// The given address has no engine that can be used.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The containers of earlier processes cannot be found.
    #[error("cannot list containers: {0}; look at the log of the engine")]
    Containers(EngineFailure),
    /// A container of an earlier process cannot be removed.
    #[error(transparent)]
    Removal(#[from] RemovalError),
    /// There is no image.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// There is no place for the project's files.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The reason there is no image in which tests can run.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// A requirement is not one of a package.
    #[error(transparent)]
    Requirement(#[from] PythonError),
    /// The lock of the image cannot be used.
    #[error(transparent)]
    Lock(#[from] FileError),
    /// The engine stopped answering.
    #[error(transparent)]
    Gone(#[from] AddressError),
    /// The engine does not describe the image.
    #[error("cannot inspect the image {name}: {source}; try `docker image inspect {name}`")]
    NotInspected {
        /// The name of the image.
        name: String,
        /// The engine's error.
        source: EngineFailure,
    },
    /// The engine has pulled the image and does not know it.
    #[error("the engine pulled the image {name}, but cannot find it; try `docker pull {name}`")]
    NotFound {
        /// The name of the image.
        name: String,
    },
    /// The base image cannot be pulled.
    #[error(
        "the base image {name} is not on this machine and cannot be pulled: {source}; {}",
        .problem.hint()
    )]
    NotPulled {
        /// The name of the image.
        name: String,
        /// The engine's error.
        source: EngineFailure,
        /// The kind of failure.
        problem: PullProblem,
    },
    /// The engine cannot get the image itself, nor does it take it from another engine.
    #[error("{error}; it could not be copied from {from} either: {source}{}", full(.source))]
    NotCopied {
        /// The reason the engine has no image of its own.
        error: Box<ImageError>,
        /// The name of the other engine.
        from: String,
        /// The error of the copy.
        source: EngineFailure,
    },
    /// A node of a swarm does not take the image of the other engines.
    #[error(
        "the nodes of a swarm need the same image, and {name} could not be copied from {from}: \
         {source}{}", full(.source)
    )]
    NotInSwarm {
        /// The name of the image.
        name: String,
        /// The name of the other engine.
        from: String,
        /// The engine's error.
        source: EngineFailure,
    },
    /// pip failed in the build.
    #[error(
        "pip could not install {} into the image {base}: {output}; {}",
        .requirements.join(", "), .problem.hint()
    )]
    NotBuilt {
        /// The packages to install.
        requirements: Vec<String>,
        /// The name of the base image.
        base: String,
        /// The last lines of pip's output, or the engine's error if there are none.
        output: String,
        /// The kind of failure.
        problem: ImageInstallProblem,
    },
}

impl ImageError {
    /// Returns whether another engine may have the image nevertheless.
    pub(crate) fn is_of_engine(&self) -> bool {
        matches!(self, ImageError::NotPulled { .. } | ImageError::NotBuilt { .. })
    }
}

/// Returns the remedy if the engine's disk is full.
fn full(failure: &EngineFailure) -> String {
    if failure.is_full() { format!("; {FREE_SPACE}") } else { String::new() }
}

/// Kinds of failures of pulling an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullProblem {
    /// The registry cannot be reached.
    Offline,
    /// The registry does not know the image, or requires a login.
    Unknown,
    /// The engine's disk is full.
    Full,
    /// Another failure.
    Other,
}

impl PullProblem {
    /// Recognizes the failure from the engine's message. The registry's error has no other form.
    pub(crate) fn of(message: &str) -> PullProblem {
        const OFFLINE: [&str; 7] = [
            "no such host",
            "dial tcp",
            "i/o timeout",
            "network is unreachable",
            "connection refused",
            "TLS handshake timeout",
            "Client.Timeout",
        ];
        const UNKNOWN: [&str; 4] =
            ["manifest unknown", "not found", "access denied", "unauthorized"];
        if is_full(message) {
            return PullProblem::Full;
        }
        let has = |signs: &[&str]| signs.iter().any(|sign| message.contains(sign));
        match (has(&OFFLINE), has(&UNKNOWN)) {
            (true, _) => PullProblem::Offline,
            (false, true) => PullProblem::Unknown,
            (false, false) => PullProblem::Other,
        }
    }

    /// Returns the remedy.
    fn hint(self) -> &'static str {
        match self {
            PullProblem::Offline => {
                "the registry cannot be reached: check the network and the engine's proxy, or \
                 choose a base image the engine already has (`docker images`)"
            }
            PullProblem::Unknown => {
                "check the name; if it needs a login, run `docker login` and `docker pull`"
            }
            PullProblem::Full => FREE_SPACE,
            PullProblem::Other => "try `docker pull` yourself",
        }
    }
}

/// The reason there is no store for the files of a project on an engine.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The engine makes no volume.
    #[error("the engine cannot make a volume for the project's files: {0}{hint}", hint = full(.0))]
    Engine(#[from] EngineFailure),
    /// This process has no name for its containers.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

/// The reason a project's files do not reach an engine.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// The files cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The name of a file cannot be sent.
    #[error("the name {} is not valid Unicode; rename the file", .path.display())]
    NotUnicode {
        /// The path.
        path: PathBuf,
    },
    /// The target of a link cannot be sent.
    #[error("the target of the link {} is not valid Unicode; rename the target", .path.display())]
    LinkNotUnicode {
        /// The path of the link.
        path: PathBuf,
    },
    /// The disk of the engine is full.
    #[error("the engine did not take the project's files: {0}; {FREE_SPACE}")]
    Full(EngineFailure),
    /// The engine does not take the files.
    #[error("the engine did not take the project's files: {0}")]
    Engine(#[from] EngineFailure),
    /// The files cannot be packed.
    #[error("cannot pack the project's files: {0}")]
    Unpacked(#[from] io::Error),
    /// The task that packs the files broke off.
    #[error("cannot pack the project's files: {0}")]
    Task(#[from] JoinError),
}

impl SendError {
    pub(crate) fn of(failure: EngineFailure) -> SendError {
        if failure.is_full() {
            return SendError::Full(failure);
        }
        SendError::Engine(failure)
    }

    /// Returns whether the engine is at fault, so that another one may take the files.
    pub(crate) fn is_of_engine(&self) -> bool {
        matches!(self, SendError::Full(_) | SendError::Engine(_))
    }
}

/// The reason there is no container.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The engine does not answer; another attempt may succeed.
    #[error("the Docker engine stopped answering: {0}; check it with `docker info`")]
    EngineGone(EngineFailure),
    /// The engine refuses to create or start the container.
    #[error("the Docker engine could not start a container: {0}{hint}", hint = full(.0))]
    Refused(EngineFailure),
    /// The engine's node was drained.
    #[error(transparent)]
    Drained(AddressError),
    /// The swarm's manager makes no service.
    #[error("the manager of the swarm made no service: {0}; look at `docker node ls` there")]
    NoService(EngineFailure),
    /// Swarm starts no task on the engine's node.
    #[error(
        "Swarm has started no task of the service {service} here within {} s{}; look at `docker \
         service ps --no-trunc {service}` on a manager",
        .limit.as_secs(), .why.as_ref().map(|it| format!(" ({it})")).unwrap_or_default()
    )]
    NoTask {
        /// The name of the service.
        service: String,
        /// The time limit.
        limit: Duration,
        /// Swarm's reason.
        why: Option<String>,
    },
    /// The container of a task has a network that cannot be taken away.
    #[error(
        "the container of the task is still on the network {network}, and tests get none: update \
         the engine"
    )]
    Network {
        /// The name of the network.
        network: String,
    },
    /// The image was removed.
    #[error(
        "the Docker engine could not start a container: the image {image} no longer exists; run \
         again to rebuild it"
    )]
    ImageGone {
        /// The name of the image.
        image: String,
    },
    /// The request for the container cannot be made.
    #[error("the Docker engine could not start a container: {0}")]
    Launch(#[from] LaunchError),
}

/// The reason the request for a container cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// Docker cannot name the path.
    #[error("{} is not valid Unicode, which Docker requires; rename it", .path.display())]
    NotUnicode {
        /// The path.
        path: PathBuf,
    },
    /// The start of this process is unknown.
    #[error("cannot read /proc/self/stat; mount /proc")]
    NoProcess,
    /// The user of the worker has no group.
    #[error("a user without a group")]
    NoGroup,
}

/// The reason a container's user may not read a folder.
#[derive(Debug, thiserror::Error)]
pub enum FolderAccessError {
    /// The folder cannot be opened.
    #[error(transparent)]
    File(#[from] FileError),
    /// Root keeps the folder for itself.
    #[error(
        "only root can read {}, and containers do not run as root: open it (`chmod o+rx`) or use \
         the local sandbox",
        .path.display()
    )]
    OnlyRoot {
        /// The folder.
        path: PathBuf,
    },
}
