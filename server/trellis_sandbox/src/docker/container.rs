//! One container with one worker in it.

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
    status, told,
    watch::{WatchState, follow},
};

/// How long the engine's first event is waited for; without it a very early end could be missed.
const FIRST_EVENT: Duration = Duration::from_secs(2);

/// The cause of an end may be told a little after the end itself.
const CAUSE: Duration = Duration::from_secs(3);

/// Exit status of a worker that was killed.
const KILLED: i64 = 128 + 9;

/// A started container. Dropping it removes it in the background; [`Container::end`] makes sure.
#[derive(Debug)]
pub(crate) struct Container {
    docker: Docker,
    id: String,
    seen: watch::Receiver<WatchState>,
    /// Cancelled when we kill it.
    killed: CancellationToken,
    removed: bool,
    /// Stopped when the container is dropped.
    tasks: JoinSet<()>,
}

/// How a worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExitKind {
    /// Its exit status, 128 and the signal's number for one that was killed; none where the engine
    /// did not say.
    pub(crate) exit_code: Option<i64>,
    /// Some process of the container was killed for want of memory, at any time. The status can be
    /// 0 nevertheless.
    pub(crate) oom_killed: bool,
    /// The engine went away, or is going: nothing is known about the worker, and what it ran may
    /// be run once more.
    pub(crate) engine_gone: bool,
}

/// Why there is no container.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StartError {
    /// The engine does not answer; another attempt may succeed.
    #[error("the Docker engine stopped answering: {0}; check it with `docker info`")]
    EngineGone(String),
    /// The engine will not do it.
    #[error("the Docker engine could not start a container: {0}")]
    Refused(String),
}

/// Creates a container, takes hold of its pipes, and starts it.
pub(crate) async fn start(
    engine: &Engine,
    launch: &Launch,
) -> Result<(Container, Connection), StartError> {
    let body = body(launch, engine.abilities).map_err(StartError::Refused)?;
    let docker = engine.docker.clone();
    let (mut container, teller) =
        create(&docker, body).await.map_err(|error| not_started(&error, launch))?;
    let id = container.id.clone();
    container.tasks.spawn(follow(docker.clone(), id.clone(), teller));
    let everything = AttachContainerOptionsBuilder::default()
        .stdin(true)
        .stdout(true)
        .stderr(true)
        .stream(true)
        .build();
    let attached = docker.attach_container(&id, Some(everything)).await;
    let attached = attached.map_err(|error| not_started(&error, launch))?;
    let connection = carry(attached, container.killed.clone(), &mut container.tasks);
    container.first_event().await;
    let started = docker.start_container(&id, None::<StartContainerOptions>).await;
    started.map_err(|error| not_started(&error, launch))?;
    Ok((container, connection))
}

/// Creates a container, in a task of its own: an engine that has been asked goes on even when the
/// caller gives up, and then somebody has to be there to drop what it made.
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

/// An answer is a refusal; no answer means that the engine is gone.
fn not_started(error: &bollard::errors::Error, launch: &Launch) -> StartError {
    let why = told(error);
    match status(error) {
        None => StartError::EngineGone(why),
        Some(404) if why.contains("No such image") => StartError::Refused(format!(
            "the image {} no longer exists; run again to rebuild it",
            launch.image
        )),
        Some(_) => StartError::Refused(why),
    }
}

impl Container {
    fn new(docker: Docker, id: String) -> (Container, watch::Sender<WatchState>) {
        let (teller, seen) = watch::channel(WatchState::default());
        let killed = CancellationToken::new();
        (Container { docker, id, seen, killed, removed: false, tasks: JoinSet::new() }, teller)
    }

    async fn first_event(&self) {
        let mut seen = self.seen.clone();
        // Without it, all but a very early end is still seen.
        let _ = timeout(FIRST_EVENT, seen.wait_for(|seen| seen.live || seen.engine_gone)).await;
    }

    /// The engine's name for it.
    #[cfg(test)]
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// How often the kernel has killed for want of memory in the container so far. The worker may
    /// well have survived.
    pub(crate) fn memory_kills(&self) -> u64 {
        self.seen.borrow().memory_kills
    }

    /// Kills every process of the container, as somebody else might. One that has ended already is no error. What it wrote
    /// can be read for another second.
    #[cfg(test)]
    pub(crate) async fn kill(&self) -> Result<(), String> {
        self.killed.cancel();
        match self
            .docker
            .kill_container(&self.id, None::<bollard::query_parameters::KillContainerOptions>)
            .await
        {
            Ok(()) => Ok(()),
            Err(error) if matches!(status(&error), Some(404 | 409)) => Ok(()),
            Err(error) => Err(format!(
                "the container {} could not be killed: {}; remove it with `docker rm -f`",
                self.id,
                told(&error)
            )),
        }
    }

    /// Waits for the worker's end, or the engine's. An end is told only after all output has been
    /// read.
    pub(crate) async fn wait_end(&self) -> ExitKind {
        let mut seen = self.seen.clone();
        // The teller is dropped only after it has told that the engine is gone.
        let _ = seen.wait_for(|seen| seen.ended.is_some() || seen.engine_gone).await;
        let exit_code = seen.borrow().ended.flatten();
        // Somebody killed it: the kernel for memory, or an engine that is shutting down.
        let unexplained = exit_code == Some(KILLED) && !self.killed.is_cancelled();
        if unexplained {
            let told = |seen: &WatchState| seen.memory_kills > 0 || seen.engine_gone;
            let _ = timeout(CAUSE, seen.wait_for(told)).await;
        }
        let (oom_killed, lost) = (seen.borrow().memory_kills > 0, seen.borrow().engine_gone);
        let engine_gone = lost && !oom_killed && (exit_code.is_none() || unexplained);
        ExitKind { exit_code, oom_killed, engine_gone }
    }

    /// Kills it if it still runs, removes it, and makes sure that it is gone.
    pub(crate) async fn end(mut self) -> Result<(), String> {
        // The pipes first: the engine waits for those who hold them.
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
