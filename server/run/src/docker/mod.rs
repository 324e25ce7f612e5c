//! The Docker sandbox: an engine, an image with pytest, a container for a worker.
//!
//! ```text
//! place ──> Engine ──> image::provide ──> container::start ──> Container + Connection
//!             │                               │     └─ watch: events of this one container
//!             └── sweep: what dead owners left└─ attached: its pipes
//! ```
//!
//! This module carries the worker's bytes and knows nothing of what they say. It does not check
//! that the engine sees the same files as this process: an engine in a virtual machine or on
//! another host may not, and the caller has to ask the worker.

mod attached;
mod container;
mod engine;
mod image;
mod launch;
mod limits;
mod owner;
mod place;
mod removal;
mod sweep;
#[cfg(test)]
mod tests;
mod watch;

use std::{collections::BTreeMap, path::PathBuf};

use tokio::io::{AsyncRead, AsyncWrite};

use crate::request::Limits;

#[expect(unused_imports, reason = "wired in the next commit")]
pub(crate) use self::{
    container::{Container, How, StartError, start},
    engine::{Description, Engine},
    image::{Image, ImageSpec, Progress, provide},
    launch::user,
    sweep::sweep,
};

/// A container for one worker.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// Name or id of an image the engine has.
    pub(crate) image: String,
    /// The worker's command line; the image's own entry point is not used.
    pub(crate) command: Vec<String>,
    /// Folder of this machine, mounted read-only at the same path.
    pub(crate) tree: PathBuf,
    /// The worker's working folder in the container.
    pub(crate) working: PathBuf,
    /// Added to the environment the image gives.
    pub(crate) environment: BTreeMap<String, String>,
    /// Numeric `uid:gid` of the worker; see [`user`].
    pub(crate) user: String,
    /// Bounds for all processes of the container together, where Docker can hold them.
    pub(crate) limits: Limits,
    /// Folders in memory, by path in the container, with their size in bytes: the only places that
    /// can be written to, besides 64 MiB at `/dev/shm`.
    pub(crate) scratch: Vec<(String, u64)>,
    /// What the container is for; people see it in `docker ps` as a label.
    pub(crate) project: String,
}

/// The worker's three pipes. Output and errors arrive on one stream, so both have to be read for
/// either to go on; one that is dropped is drained.
pub(crate) struct Connection {
    /// Standard input; dropping it closes it, which ends a worker of ours.
    pub(crate) input: Box<dyn AsyncWrite + Send + Unpin>,
    /// Standard output.
    pub(crate) output: Box<dyn AsyncRead + Send + Unpin>,
    /// Standard error.
    pub(crate) errors: Box<dyn AsyncRead + Send + Unpin>,
}

/// An error with everything that caused it, for its own text often says nothing.
fn told(error: &bollard::errors::Error) -> String {
    if let bollard::errors::Error::DockerResponseServerError { message, .. } = error {
        return message.trim().to_owned();
    }
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = inner.source();
    }
    text
}

/// The status the engine answered with, if it answered.
fn status(error: &bollard::errors::Error) -> Option<u16> {
    match error {
        bollard::errors::Error::DockerResponseServerError { status_code, .. } => Some(*status_code),
        _ => None,
    }
}
