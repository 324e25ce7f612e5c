//! Tasks of a service that workers have taken.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bollard::{
    models::{ContainerUpdateBody, NetworkDisconnectRequest},
    query_parameters::ListContainersOptionsBuilder,
};

use crate::{
    docker::{Launch, container::not_started, engine::Engine, launch::signed},
    error::StartError,
};

/// Label with which Swarm names the service of a container.
pub(super) const SERVICE: &str = "com.docker.swarm.service.name";

/// The containers that workers have or had; none is used twice.
#[derive(Clone, Debug, Default)]
pub(super) struct Claims(Arc<Mutex<Taken>>);

#[derive(Debug, Default)]
struct Taken {
    all: BTreeSet<String>,
    /// Containers that workers have, each with its service.
    held: BTreeSet<(String, String)>,
}

impl Claims {
    /// Takes a running container of the service on the engine, if there is one without a worker.
    pub(super) async fn take(
        &self,
        engine: &Engine,
        service: &str,
    ) -> Result<Option<Claim>, StartError> {
        let label = format!("{SERVICE}={service}");
        let filters = HashMap::from([("label", vec![label.as_str()]), ("status", vec!["running"])]);
        let options = ListContainersOptionsBuilder::default().filters(&filters).build();
        let found = engine.docker.list_containers(Some(options)).await.map_err(not_started)?;
        let ids = found.into_iter().filter_map(|it| it.id);
        Ok(self.first_free(service, ids))
    }

    fn first_free(&self, service: &str, mut ids: impl Iterator<Item = String>) -> Option<Claim> {
        let mut taken = self.taken();
        let id = ids.find(|it| taken.all.insert(it.clone()))?;
        let key = (service.to_owned(), id);
        taken.held.insert(key.clone());
        Some(Claim { key, claims: self.clone() })
    }

    /// Returns whether a worker has a task of the service.
    pub(super) fn has(&self, service: &str) -> bool {
        self.taken().held.iter().any(|(it, _)| it == service)
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The container of a task that one worker has, until this is dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    /// The service and the container.
    key: (String, String),
    claims: Claims,
}

impl Claim {
    /// Returns the engine's id of the container.
    pub(in crate::docker) fn id(&self) -> &str {
        &self.key.1
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.claims.taken().held.remove(&self.key);
    }
}

/// Takes the container off its networks and its swap, which the specification of a service cannot.
/// No code under test has run in it yet.
pub(super) async fn isolate(engine: &Engine, id: &str, launch: &Launch) -> Result<(), StartError> {
    if engine.abilities.memory && engine.abilities.swap {
        let memory = Some(signed(launch.limits.memory_bytes));
        let body =
            ContainerUpdateBody { memory, memory_swap: memory, ..ContainerUpdateBody::default() };
        engine.docker.update_container(id, body).await.map_err(not_started)?;
    }
    if launch.limits.network {
        return Ok(());
    }
    for network in networks(engine, id).await? {
        let body = NetworkDisconnectRequest { container: id.to_owned(), force: Some(true) };
        engine.docker.disconnect_network(&network, body).await.map_err(not_started)?;
    }
    match networks(engine, id).await?.pop() {
        Some(network) => Err(StartError::Network { network }),
        None => Ok(()),
    }
}

/// Returns the names of the container's networks; that without an interface is none.
async fn networks(engine: &Engine, id: &str) -> Result<Vec<String>, StartError> {
    let status = engine.docker.inspect_container(id, None).await.map_err(not_started)?;
    let networks = status.network_settings.and_then(|it| it.networks).unwrap_or_default();
    Ok(networks.into_keys().filter(|it| it != "none").collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_container_is_taken_once() {
        let claims = Claims::default();
        let take = || claims.first_free("s", ["a", "b"].map(str::to_owned).into_iter());
        let (first, second) = (take().expect("one"), take().expect("one"));
        assert_eq!([first.id(), second.id()], ["a", "b"]);
        assert!(take().is_none());
        drop(first);
        assert!(claims.has("s") && take().is_none(), "its container is being removed");
        drop(second);
        assert!(!claims.has("s"));
    }
}
