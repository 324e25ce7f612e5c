//! Removal of services: at the end, and of those whose owner died without removing them.

use std::{
    collections::{BTreeMap, HashMap},
    thread,
    time::Duration,
};

use bollard::query_parameters::{
    ListContainersOptionsBuilder, ListServicesOptionsBuilder, ListVolumesOptionsBuilder,
};
use futures_util::future::join_all;
use tokio::time::{sleep, timeout};

use super::{Service, Swarm, claim::SERVICE};
use crate::{
    docker::{
        engine::Engine,
        owner::{OWNER, Owner},
        store::remove_unused,
    },
    error::{DockerError, EngineFailure, SwarmRemovalError},
};

/// Time limit for the nodes to remove the containers of a service.
const PATIENCE: Duration = Duration::from_secs(20);

/// Pause between two looks at the containers of a service.
const PAUSE: Duration = Duration::from_millis(50);

impl Swarm {
    /// Removes all services, and waits until their containers are gone from the engines that answer.
    pub(in crate::docker) async fn close(&self) -> Result<(), SwarmRemovalError> {
        let services = std::mem::take(&mut self.state.lock().await.services);
        for service in services.values() {
            self.remove(&service.name).await?;
        }
        let ends = self.engines.iter().map(|it| cleared(it, &services));
        join_all(ends).await;
        Ok(())
    }

    /// Removes the services without workers.
    pub(super) async fn remove_unused(&self, services: &mut BTreeMap<String, Service>) {
        let unused = services.extract_if(.., |_, it| !self.claims.has(&it.name));
        for (_, service) in unused.collect::<Vec<_>>() {
            // The end of this process removes a service that is left.
            let _ = self.remove(&service.name).await;
        }
    }

    async fn remove(&self, service: &str) -> Result<(), SwarmRemovalError> {
        let failed = |source| SwarmRemovalError { service: service.to_owned(), source };
        let (manager, _) = self.all_nodes().await.map_err(failed)?;
        match manager.docker.delete_service(service).await.map_err(EngineFailure) {
            Err(error) if error.status() != Some(404) => Err(failed(error)),
            _ => Ok(()),
        }
    }
}

/// Waits until the engine has no containers of the services, then removes what they kept in memory.
async fn cleared(engine: &Engine, services: &BTreeMap<String, Service>) {
    let gone = async {
        for service in services.values() {
            while has_containers(engine, &service.name).await {
                sleep(PAUSE).await;
            }
        }
        if let Ok(owner) = Owner::current() {
            let _ = remove_volumes(engine, |it| *it == owner).await;
        }
    };
    let _ = timeout(PATIENCE, gone).await;
}

async fn has_containers(engine: &Engine, service: &str) -> bool {
    let label = format!("{SERVICE}={service}");
    let filters = HashMap::from([("label", vec![label.as_str()])]);
    let options = ListContainersOptionsBuilder::default().all(true).filters(&filters).build();
    let found = engine.answer(engine.docker.list_containers(Some(options))).await;
    found.is_some_and(|it| it.is_ok_and(|it| !it.is_empty()))
}

/// Removes the volumes that belong to containers of certain owners; one in use stays.
async fn remove_volumes(
    engine: &Engine,
    is_meant: impl Fn(&Owner) -> bool,
) -> Result<(), EngineFailure> {
    let filters = HashMap::from([("label", vec![OWNER])]);
    let options = ListVolumesOptionsBuilder::default().filters(&filters).build();
    let found = engine.docker.list_volumes(Some(options)).await.map_err(EngineFailure)?;
    for volume in found.volumes.into_iter().flatten() {
        if Owner::of(&volume.labels).is_some_and(|it| is_meant(&it)) {
            remove_unused(engine, &volume.name).await?;
        }
    }
    Ok(())
}

impl Drop for Swarm {
    /// Removes the services that are left, on a thread of its own, as the runtime may be ending.
    fn drop(&mut self) {
        let services = std::mem::take(&mut self.state.get_mut().services);
        // Any of them may manage the swarm by now.
        let engines = std::mem::take(&mut self.engines);
        if services.is_empty() {
            return;
        }
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            for (engine, service) in engines
                .iter()
                .flat_map(|engine| services.values().map(move |service| (engine, service)))
            {
                let Ok(runtime) = &runtime else { return };
                // No caller is left to receive an error; what is left is swept at the next start.
                let removal = engine.answer(engine.docker.delete_service(&service.name));
                let _ = runtime.block_on(removal);
            }
        };
        let _ = thread::Builder::new().name("service-removal".to_owned()).spawn(work);
    }
}

/// Removes the services of owners that have certainly ended, if the engine manages a swarm, and the
/// volumes of such owners' containers.
pub(in crate::docker) async fn sweep(engine: &Engine) -> Result<(), DockerError> {
    let filters = HashMap::from([("label", vec![OWNER])]);
    let options = ListServicesOptionsBuilder::default().filters(&filters).build();
    // An engine that manages no swarm refuses the question.
    let found = engine.docker.list_services(Some(options)).await.unwrap_or_default();
    for service in found {
        let spec = service.spec.unwrap_or_default();
        let owner = spec.labels.as_ref().and_then(Owner::of);
        if let (Some(name), true) = (spec.name, owner.is_some_and(|it| it.is_gone())) {
            let removed = engine.docker.delete_service(&name).await.map_err(EngineFailure);
            match removed {
                Err(error) if error.status() != Some(404) => {
                    return Err(DockerError::Containers(error));
                }
                _ => {}
            }
        }
    }
    remove_volumes(engine, Owner::is_gone).await.map_err(DockerError::Containers)
}
