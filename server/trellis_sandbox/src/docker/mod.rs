//! The Docker sandbox: an engine, an image with pytest, and a container for each worker.
//!
//! ```text
//! place ──> Engine ──> image::provide ──> container::start ──> Container + Connection
//!             │                               │     └─ watch: events of this one container
//!             └── sweep: stale containers       └─ attached: its pipes
//! ```
//!
//! Where a swarm's manager is among the engines, Swarm starts the containers: they are tasks of a
//! service (`swarm`), and a worker takes one that is free on its engine.
//!
//! This module transports the worker's bytes and knows nothing of their meaning. It does not check
//! that the engine sees the same files as this process: an engine in a virtual machine or on
//! another host may not, and the caller has to ask the worker.

mod address;
mod attached;
mod connection;
mod container;
mod engine;
mod engines;
mod image;
mod launch;
mod limits;
mod open_all;
mod owner;
mod project_copy;
mod removal;
mod sent_project;
mod store;
mod swarm;
mod sweep;
#[cfg(test)]
mod tests;
mod watch;

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    error::{
        AddressError, DockerError, EngineError, FileAction, FileError, FolderAccessError,
        StartError,
    },
    report::LimitStatus,
    request::Limits,
    sandbox::Connection,
};

pub use self::{
    address::Variables,
    image::{ImageSpec, Progress},
    open_all::OpenedEngines,
};
pub(crate) use self::{
    container::Container,
    engines::{Engines, Seat},
    launch::user,
    project_copy::{Mounted, ORIGINAL, ProjectCopy, mounted},
    sent_project::SentProject,
    store::{STORE, Store},
};
use self::{
    engine::Engine,
    image::{Image, OnProgress, provide},
    swarm::{Node, Swarm},
    sweep::sweep,
};

/// An engine that answers, with an image in which tests can run.
#[derive(Clone, Debug)]
pub struct Docker {
    /// The engine's name, as the person gave it.
    pub(crate) name: String,
    pub(crate) engine: Engine,
    pub(crate) image: Image,
    /// The place for the project's files, if they are sent to the engine instead of mounted.
    pub(crate) store: Option<Store>,
    /// Maximum number of runs at a time.
    pub(crate) slots: usize,
    /// The swarms that may have the engine as a node.
    swarms: Vec<Arc<Swarm>>,
}

impl Docker {
    /// Connects to the engine at `host`, or else to the one named by `DOCKER_HOST`, the current
    /// context or the usual addresses. Removes stale containers of earlier processes there, and
    /// builds the image unless it exists. `cache` holds locks.
    pub async fn open(
        host: Option<&str>,
        spec: &ImageSpec,
        cache: &Path,
        on_progress: OnProgress<'_>,
    ) -> Result<Docker, DockerError> {
        let engine = match host {
            Some(host) => Engine::at(host).await?,
            None => Engine::connect().await?,
        };
        sweep(&engine).await?;
        let image = provide(&engine, spec, cache, on_progress).await?;
        let name = engine.describe().host.clone();
        Ok(Docker { name, engine, image, store: None, slots: usize::MAX, swarms: Vec::new() })
    }

    /// Returns one line about the engine that would be used, or the reason there is none.
    pub async fn describe() -> Result<String, EngineError> {
        Engine::connect().await.map(|engine| engine.describe().to_string())
    }

    /// Starts a worker: in a task of a swarm's service if the engine is a node of a swarm, else in a
    /// container of its own.
    pub(crate) async fn start(
        &self,
        launch: &Launch,
    ) -> Result<(Container, Connection), StartError> {
        match self.node().await {
            Some((swarm, node)) => swarm.start(&self.engine, &node, launch).await,
            None => {
                let (mut container, connection) = container::start(&self.engine, launch).await?;
                container.note = self.silent_manager().await;
                Ok((container, connection))
            }
        }
    }

    /// Returns a sentence for people if the engine is in a swarm of which no manager answers.
    async fn silent_manager(&self) -> Option<String> {
        if self.swarms.is_empty() || !swarm::is_member(&self.engine).await {
            return None;
        }
        for swarm in &self.swarms {
            if let Err(failure) = swarm.all_nodes().await {
                return Some(format!(
                    "the worker on {} is in a container of its own, outside of its swarm: {failure}",
                    self.name
                ));
            }
        }
        None
    }

    /// Asks whether the engine still takes runs.
    async fn asked(&self) -> Result<(), AddressError> {
        self.engine.asked().await?;
        match self.node().await {
            Some((_, node)) if node.is_drained => Err(AddressError::Drained { node: node.id }),
            _ => Ok(()),
        }
    }

    /// Returns the engine's node and its swarm; `None` if it is in no swarm with a manager that
    /// answers.
    async fn node(&self) -> Option<(&Arc<Swarm>, Node)> {
        for swarm in &self.swarms {
            if let Some(node) = swarm.node_of(&self.engine).await {
                return Some((swarm, node));
            }
        }
        None
    }

    /// Returns the limits that are enforced for a run under `limits`.
    pub fn limits(&self, limits: &Limits) -> Vec<LimitStatus> {
        self.engine.limits(limits)
    }

    /// Checks that a container's user, who is never root, may read `folder`.
    pub fn may_read(folder: &Path) -> Result<(), FolderAccessError> {
        let status = fs::metadata(folder).map_err(FileError::of(FileAction::Open, folder))?;
        let foreign = status.uid() == 0 && user().starts_with("1000:");
        if foreign && status.mode() & 0o005 != 0o005 {
            return Err(FolderAccessError::OnlyRoot { path: folder.to_owned() });
        }
        Ok(())
    }
}

/// The specification of a container for one worker.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// Name or id of an image that the engine has.
    pub(crate) image: String,
    /// The worker's command line; the image's own entry point is not used.
    pub(crate) command: Vec<String>,
    /// The project's folder on this machine, mounted read-only: at the same path, or at
    /// [`ORIGINAL`] if a copy takes its place.
    pub(crate) tree: PathBuf,
    pub(crate) copied: Option<ProjectCopy>,
    /// The volume of the store, if the project is sent to the engine instead of mounted.
    pub(crate) volume: Option<String>,
    /// The worker's working folder in the container.
    pub(crate) working: PathBuf,
    /// Variables added to the environment of the image.
    pub(crate) environment: BTreeMap<String, String>,
    /// Numeric `uid:gid` of the worker; see [`user`].
    pub(crate) user: String,
    /// Limits for all processes of the container together, where Docker can enforce them.
    pub(crate) limits: Limits,
    /// Folders in memory, by path in the container, with their size in bytes. Nothing else is
    /// writable, except 64 MiB at `/dev/shm` and the project's copy.
    pub(crate) scratch: Vec<(String, u64)>,
    /// True if programs may be started from the scratch folders.
    pub(crate) executable: bool,
    /// The project, shown as a label in `docker ps` for people.
    pub(crate) project: String,
}
