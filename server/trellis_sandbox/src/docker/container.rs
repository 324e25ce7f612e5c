//! A container with one worker in it.

use std::time::Duration;

use bollard::{
    Docker,
    models::ContainerCreateBody,
    query_parameters::{
        AttachContainerOptionsBuilder, CreateContainerOptions, StartContainerOptions,
    },
};
use tokio::{sync::watch, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{
    Connection, Launch,
    attached::carry,
    engine::Engine,
    launch::body,
    removal::{remove, remove_soon},
    swarm::Claim,
    watch::{WatchState, follow},
};
use crate::error::{EngineFailure, RemovalError, StartError};

/// Time limit for the engine's first event; without it a very early end could be missed.
const FIRST_EVENT: Duration = Duration::from_secs(2);

/// Time in which the cause of an end may arrive after the end itself.
const CAUSE: Duration = Duration::from_secs(3);

/// Exit status of a worker that was killed.
const KILLED: i64 = 128 + 9;

/// A started container. Dropping it removes the container in the background; [`Container::end`]
/// waits for the removal.
#[derive(Debug)]
pub(crate) struct Container {
    docker: Docker,
    id: String,
    seen: watch::Receiver<WatchState>,
    /// Cancelled when this process kills the container.
    killed: CancellationToken,
    removed: bool,
    /// The task of a swarm's service whose container this is.
    claim: Option<Claim>,
    /// A sentence for the reports of its runs.
    pub(crate) note: Option<String>,
    /// The tasks of the pipes and events, stopped when the container is dropped.
    tasks: JoinSet<()>,
}

/// The end of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExitKind {
    /// The exit status, 128 plus the signal's number for a killed worker; `None` if the engine did
    /// not report it.
    pub(crate) exit_code: Option<i64>,
    /// True if the kernel killed a process of the container at any time because memory ran out. The
    /// exit status can be 0 nevertheless.
    pub(crate) oom_killed: bool,
    /// True if the engine is gone or shutting down: the end of the worker is unknown, and its run
    /// may be repeated.
    pub(crate) engine_gone: bool,
}

/// Creates a container, attaches to its pipes, and starts it.
pub(crate) async fn start(
    engine: &Engine,
    launch: &Launch,
) -> Result<(Container, Connection), StartError> {
    let body = body(launch, engine.abilities)?;
    let docker = engine.docker.clone();
    let created = match create(&docker, body).await {
        Ok(created) => created,
        Err(error) => return Err(not_created(&docker, error, launch).await),
    };
    let (container, connection) = attach(created).await?;
    let started = docker.start_container(&container.id, None::<StartContainerOptions>).await;
    started.map_err(not_started)?;
    Ok((container, connection))
}

/// Attaches to the pipes of a task's container, which waits for its input.
pub(super) async fn join(
    engine: &Engine,
    claim: Claim,
) -> Result<(Container, Connection), StartError> {
    let (mut container, teller) = Container::new(engine.docker.clone(), claim.id().to_owned());
    container.claim = Some(claim);
    attach((container, teller)).await
}

async fn attach(
    (mut container, teller): (Container, watch::Sender<WatchState>),
) -> Result<(Container, Connection), StartError> {
    let (docker, id) = (container.docker.clone(), container.id.clone());
    container.tasks.spawn(follow(docker.clone(), id.clone(), teller));
    let everything = AttachContainerOptionsBuilder::default()
        .stdin(true)
        .stdout(true)
        .stderr(true)
        .stream(true)
        .build();
    let attached = docker.attach_container(&id, Some(everything)).await;
    let attached = attached.map_err(not_started)?;
    let connection = carry(attached, container.killed.clone(), &mut container.tasks);
    container.first_event().await;
    Ok((container, connection))
}

/// Creates a container in a task of its own: the engine continues even if the caller gives up, and
/// then the task has to drop the created container.
async fn create(
    docker: &Docker,
    body: ContainerCreateBody,
) -> Result<(Container, watch::Sender<WatchState>), bollard::errors::Error> {
    let docker = docker.clone();
    let work = async move {
        let created = docker.create_container(None::<CreateContainerOptions>, body).await?;
        Ok(Container::new(docker, created.id))
    };
    let done = tokio::spawn(work).await;
    done.unwrap_or_else(|error| Err(std::io::Error::other(error).into()))
}

/// Converts an error: with a status the engine refused, without one it is gone.
pub(super) fn not_started(error: bollard::errors::Error) -> StartError {
    let failure = EngineFailure(error);
    match failure.status() {
        None => StartError::EngineGone(failure),
        Some(_) => StartError::Refused(failure),
    }
}

/// Converts an error of creating a container, which may need an image that was removed.
async fn not_created(
    docker: &Docker,
    error: bollard::errors::Error,
    launch: &Launch,
) -> StartError {
    let is_unknown = |error: bollard::errors::Error| EngineFailure(error).status() == Some(404);
    match not_started(error) {
        StartError::Refused(failure)
            if failure.status() == Some(404)
                && docker.inspect_image(&launch.image).await.is_err_and(is_unknown) =>
        {
            StartError::ImageGone { image: launch.image.clone() }
        }
        error => error,
    }
}

impl Container {
    fn new(docker: Docker, id: String) -> (Container, watch::Sender<WatchState>) {
        let (teller, seen) = watch::channel(WatchState::default());
        let killed = CancellationToken::new();
        let (claim, note, tasks) = (None, None, JoinSet::new());
        (Container { docker, id, seen, killed, removed: false, claim, note, tasks }, teller)
    }

    async fn first_event(&self) {
        let mut seen = self.seen.clone();
        // Without the first event, only a very early end would be missed.
        let _ = timeout(FIRST_EVENT, seen.wait_for(|seen| seen.live || seen.engine_gone)).await;
    }

    /// Returns the engine's id of the container.
    #[cfg(test)]
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Returns how often the kernel has killed a process of the container because memory ran out.
    /// The worker may have survived.
    pub(crate) fn memory_kills(&self) -> u64 {
        self.seen.borrow().memory_kills
    }

    /// Kills every process of the container, as another program might. A container that has already
    /// ended is no error. Its output can be read for another second.
    #[cfg(test)]
    pub(crate) async fn kill(&self) -> Result<(), EngineFailure> {
        self.killed.cancel();
        let options = None::<bollard::query_parameters::KillContainerOptions>;
        match self.docker.kill_container(&self.id, options).await.map_err(EngineFailure) {
            Err(error) if !matches!(error.status(), Some(404 | 409)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Waits for the end of the worker or the engine. The end is reported only after all output has
    /// been read.
    pub(crate) async fn wait_end(&self) -> ExitKind {
        let mut seen = self.seen.clone();
        // The sender is dropped only after it has reported that the engine is gone.
        let _ = seen.wait_for(|seen| seen.ended.is_some() || seen.engine_gone).await;
        let exit_code = seen.borrow().ended.flatten();
        // The kill came from outside: from the kernel for lack of memory, or from an engine that
        // shuts down.
        let unexplained = exit_code == Some(KILLED) && !self.killed.is_cancelled();
        if unexplained {
            let report = |seen: &WatchState| seen.memory_kills > 0 || seen.engine_gone;
            let _ = timeout(CAUSE, seen.wait_for(report)).await;
        }
        let (oom_killed, lost) = (seen.borrow().memory_kills > 0, seen.borrow().engine_gone);
        // Swarm ends a task that it wants elsewhere.
        let is_taken = self.claim.is_some() && seen.borrow().kills > 0 && !oom_killed;
        let engine_gone = is_taken || lost && !oom_killed && (exit_code.is_none() || unexplained);
        ExitKind { exit_code, oom_killed, engine_gone }
    }

    /// Kills the container if it still runs, removes it, and waits until it is gone.
    pub(crate) async fn end(mut self) -> Result<(), RemovalError> {
        // The pipes go first: the engine waits for processes that hold them.
        self.tasks.shutdown().await;
        let gone = remove(&self.docker, &self.id).await;
        self.removed = gone.is_ok();
        gone
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if !self.removed {
            remove_soon(self.docker.clone(), self.id.clone());
        }
    }
}
