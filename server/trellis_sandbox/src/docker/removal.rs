//! Removes containers and waits until they are gone.

use std::{
    thread,
    time::{Duration, Instant},
};

use bollard::{Docker, query_parameters::RemoveContainerOptionsBuilder};

use crate::error::{EngineFailure, RemovalError, RemovalFault};

/// Time limit for the removal of a container; a slower engine has a problem of its own.
const PATIENCE: Duration = Duration::from_secs(20);

/// Pause between two attempts to remove a container.
const PAUSE: Duration = Duration::from_millis(15);

/// Kills and removes a container and waits until the engine no longer knows it.
pub(super) async fn remove(docker: &Docker, id: &str) -> Result<(), RemovalError> {
    let failed = |fault| RemovalError { id: id.to_owned(), fault };
    let deadline = Instant::now() + PATIENCE;
    loop {
        let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
        match docker.remove_container(id, Some(options)).await.map_err(EngineFailure) {
            Err(error) if error.status() == Some(404) => return Ok(()),
            // The container is removing itself, or is already gone, which the next attempt
            // confirms.
            Err(error) if error.status() == Some(409) => (),
            Err(error) => return Err(failed(RemovalFault::Engine(error))),
            Ok(()) => (),
        }
        if Instant::now() > deadline {
            return Err(failed(RemovalFault::StillThere { limit: PATIENCE }));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Removes a container for a caller that cannot wait, on a thread of its own, as the runtime may be
/// ending. If the whole process ends first, its sockets are closed, which ends the worker and so
/// the container. Any remaining container is swept at the next start.
pub(super) fn remove_soon(docker: Docker, id: String) {
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        if let Ok(runtime) = runtime {
            // No caller is left to receive an error.
            let _ = runtime.block_on(remove(&docker, &id));
        }
    };
    let _ = thread::Builder::new().name("container-removal".to_owned()).spawn(work);
}
