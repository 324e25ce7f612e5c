//! Removes stale containers of owners that died without removing them.

use std::collections::HashMap;

use bollard::query_parameters::ListContainersOptionsBuilder;

use super::{
    engine::Engine,
    owner::{OWNER, Owner},
    removal::remove,
};
use crate::error::{DockerError, EngineFailure};

/// Removes every container of Trellis whose owner has certainly ended, and returns their number.
/// Containers of living owners, other machines and other programs are left alone.
pub(crate) async fn sweep(engine: &Engine) -> Result<usize, DockerError> {
    let filters = HashMap::from([("label", vec![OWNER])]);
    let options = ListContainersOptionsBuilder::default().all(true).filters(&filters).build();
    let found = engine.docker.list_containers(Some(options)).await;
    let found = found.map_err(|error| DockerError::Containers(EngineFailure(error)))?;
    let mut removed = 0;
    for container in found {
        let owner = container.labels.as_ref().and_then(Owner::of);
        if let (Some(id), true) = (container.id, owner.is_some_and(|owner| owner.is_gone())) {
            remove(&engine.docker, &id).await?;
            removed += 1;
        }
    }
    Ok(removed)
}
