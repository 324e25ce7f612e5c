//! Removing containers so that they are certainly gone.

use std::{
    thread,
    time::{Duration, Instant},
};

use bollard::{Docker, query_parameters::RemoveContainerOptionsBuilder};

use super::{status, told};

/// An engine that takes longer than this to remove a container has a problem of its own.
const PATIENCE: Duration = Duration::from_secs(20);

/// Between two looks at a container that is being removed.
const PAUSE: Duration = Duration::from_millis(15);

/// Kills and removes a container and waits until the engine no longer knows it.
pub(super) async fn remove(docker: &Docker, id: &str) -> Result<(), String> {
    let failed = |why: String| {
        format!("cannot remove the container {id}: {why}; remove it with `docker rm -f`")
    };
    let deadline = Instant::now() + PATIENCE;
    loop {
        let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
        match docker.remove_container(id, Some(options)).await {
            Err(error) if status(&error) == Some(404) => return Ok(()),
            // It is removing itself; or it is gone, which the next look confirms.
            Err(error) if status(&error) == Some(409) => (),
            Err(error) => return Err(failed(told(&error))),
            Ok(()) => (),
        }
        if Instant::now() > deadline {
            return Err(failed(format!("it still exists after {} s", PATIENCE.as_secs())));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The same for a caller that cannot wait, on a thread of its own: the runtime may be ending. Where
/// the whole process ends first, its sockets are closed, which ends the worker and with it the
/// container; and what survives even that is swept at the next start.
pub(super) fn remove_soon(docker: Docker, id: String) {
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        if let Ok(runtime) = runtime {
            // Nobody is left to be told of a failure.
            let _ = runtime.block_on(remove(&docker, &id));
        }
    };
    let _ = thread::Builder::new().name("container-removal".to_owned()).spawn(work);
}
