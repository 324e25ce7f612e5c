//! A swarm among the engines: workers are tasks of a service, which Swarm places, restarts and limits.
//!
//! ```text
//! Swarm ──> nodes: the engines' nodes, as a manager lists them
//!   ├─────> spec: the service of one kind of worker
//!   └─────> claim: a task on one node, taken by one worker
//! ```
//!
//! A service has as many tasks as the named engines take runs, and no node has more than its engine
//! takes. So a node that is drained or lost leaves its tasks waiting, and one that joins or is active
//! again gets them, all by Swarm. Tasks never run on nodes whose engines are not named, since a
//! worker is talked to through the engine of its node.

mod claim;
mod nodes;
mod removal;
mod spec;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use bollard::{
    models::ServiceSpec,
    query_parameters::{ListTasksOptionsBuilder, UpdateServiceOptionsBuilder},
};
use tokio::{
    sync::Mutex,
    time::{Instant, sleep},
};

pub(super) use self::{
    claim::Claim,
    nodes::{Node, is_member},
    removal::sweep,
};
use self::{
    claim::Claims,
    nodes::{Swarms, excluded},
};
use super::{Connection, Container, Launch, container, engine::Engine};
use crate::error::{AddressError, EngineFailure, StartError};

/// Time limit for Swarm to start a task; it takes two seconds on machines that have nothing to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// Pause between two looks for a task.
const PAUSE: Duration = Duration::from_millis(100);

/// A swarm with a manager among the named engines.
#[derive(Debug)]
pub(crate) struct Swarm {
    id: String,
    /// The managers at the start, at least one.
    managers: Vec<Engine>,
    /// All named engines; those that are not nodes of the swarm may join, and nodes may become
    /// managers.
    engines: Vec<Engine>,
    /// Maximum number of tasks of a service on one node.
    slots: usize,
    state: Mutex<State>,
    claims: Claims,
}

#[derive(Debug, Default)]
struct State {
    /// The nodes of the named engines, by id.
    nodes: BTreeSet<String>,
    /// Services by the hash of their tasks' specification.
    services: BTreeMap<String, Service>,
}

/// A service of this process.
#[derive(Clone, Debug)]
struct Service {
    name: String,
    spec: ServiceSpec,
    /// The nodes that get no tasks, by id.
    excluded: BTreeSet<String>,
}

impl Swarm {
    /// Starts a worker in a task on `node`, which is that of `engine`.
    pub(super) async fn start(
        &self,
        engine: &Engine,
        node: &Node,
        launch: &Launch,
    ) -> Result<(Container, Connection), StartError> {
        if node.is_drained {
            let node = node.id.clone();
            return Err(StartError::Drained(AddressError::Drained { node }));
        }
        let service = self.service(launch, &node.id).await?;
        let claim = self.claim(engine, &service).await?;
        claim::isolate(engine, claim.id(), launch).await?;
        container::join(engine, claim).await
    }

    /// Returns the name of the service for `launch`, after creating it or adding the node.
    async fn service(&self, launch: &Launch, node: &str) -> Result<String, StartError> {
        let key = spec::key(launch);
        let mut state = self.state.lock().await;
        state.nodes.insert(node.to_owned());
        let (manager, all) = self.all_nodes().await.map_err(StartError::NoService)?;
        let excluded = excluded(&all, &state.nodes);
        if let Some(service) = state.services.get_mut(&key) {
            if service.excluded != excluded {
                exclude(manager, service, excluded).await.map_err(StartError::NoService)?;
            }
            return Ok(service.name.clone());
        }
        self.remove_unused(&mut state.services).await;
        let replicas = self.slots * self.engines.len();
        let mut spec = spec::service(launch, replicas, self.slots)?;
        spec::constrain(&mut spec, &excluded);
        let made = manager.docker.create_service(spec.clone(), None).await;
        made.map_err(|error| StartError::NoService(EngineFailure(error)))?;
        let name = spec.name.clone().unwrap_or_default();
        state.services.insert(key, Service { name: name.clone(), spec, excluded });
        Ok(name)
    }

    /// Waits for a task of the service on the engine that no worker has; takes it.
    async fn claim(&self, engine: &Engine, service: &str) -> Result<Claim, StartError> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(claim) = self.claims.take(engine, service).await? {
                return Ok(claim);
            }
            if let Some(Node { is_drained: true, id }) = self.node_of(engine).await {
                return Err(StartError::Drained(AddressError::Drained { node: id }));
            }
            if Instant::now() > deadline {
                let (service, why) = (service.to_owned(), self.complaint(service).await);
                return Err(StartError::NoTask { service, limit: PATIENCE, why });
            }
            sleep(PAUSE).await;
        }
    }

    /// Returns the error of a task of the service, as Swarm words it.
    async fn complaint(&self, service: &str) -> Option<String> {
        let (manager, _) = self.all_nodes().await.ok()?;
        let filters = HashMap::from([("service", vec![service])]);
        let options = ListTasksOptionsBuilder::default().filters(&filters).build();
        let tasks = manager.docker.list_tasks(Some(options)).await.ok()?;
        let mut errors = tasks.into_iter().filter_map(|it| it.status?.err);
        errors.find(|it| !it.is_empty())
    }
}

/// Gives the service other nodes.
async fn exclude(
    manager: &Engine,
    service: &mut Service,
    excluded: BTreeSet<String>,
) -> Result<(), EngineFailure> {
    let mut spec = service.spec.clone();
    spec::constrain(&mut spec, &excluded);
    let known = manager.docker.inspect_service(&service.name, None).await.map_err(EngineFailure)?;
    let version = known.version.and_then(|it| it.index).unwrap_or_default();
    let version = i32::try_from(version).unwrap_or(i32::MAX);
    let options = UpdateServiceOptionsBuilder::default().version(version).build();
    let updated = manager.docker.update_service(&service.name, spec.clone(), options, None).await;
    updated.map_err(EngineFailure)?;
    (service.spec, service.excluded) = (spec, excluded);
    Ok(())
}

/// Returns the swarms whose managers are among the engines.
pub(super) async fn swarms(engines: &[Engine]) -> Vec<Arc<Swarm>> {
    let slots = engines.iter().map(|it| it.describe().processors.max(1)).max().unwrap_or(1);
    let Swarms { managers, nodes } = Swarms::of(engines).await;
    let swarm = |(id, managers)| Swarm {
        id,
        managers,
        engines: engines.to_vec(),
        slots,
        state: Mutex::new(State { nodes: nodes.clone(), ..State::default() }),
        claims: Claims::default(),
    };
    managers.into_iter().map(|it| Arc::new(swarm(it))).collect()
}
