//! The nodes of a swarm, and which of the named engines they belong to.

use std::collections::{BTreeMap, BTreeSet};

use bollard::models::{
    LocalNodeState, Node as ListedNode, NodeSpecAvailabilityEnum, NodeState, SwarmInfo,
};
use futures_util::future::join_all;

use super::Swarm;
use crate::{
    docker::engine::Engine,
    error::{AbsentEngine, EngineFailure},
};

/// The node of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(in crate::docker) id: String,
    /// True if Swarm moves its tasks to other nodes.
    pub(in crate::docker) is_drained: bool,
}

/// The role of an engine in a swarm.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Membership {
    node: String,
    /// The id of the swarm, if the engine manages it.
    managed: Option<String>,
}

/// The swarms of some engines.
#[derive(Debug, Default)]
pub(in crate::docker) struct Swarms {
    /// Managers by the id of their swarm.
    pub(super) managers: BTreeMap<String, Vec<Engine>>,
    /// The ids of the engines' nodes, in any swarm.
    pub(super) nodes: BTreeSet<String>,
}

impl Swarms {
    /// Asks the engines; one that does not answer is in no swarm.
    pub(super) async fn of(engines: &[Engine]) -> Swarms {
        let found = join_all(engines.iter().map(membership)).await;
        let mut swarms = Swarms::default();
        for (engine, membership) in engines.iter().zip(found) {
            let Some(Membership { node, managed }) = membership else { continue };
            swarms.nodes.insert(node);
            if let Some(id) = managed {
                swarms.managers.entry(id).or_default().push(engine.clone());
            }
        }
        swarms
    }
}

async fn membership(engine: &Engine) -> Option<Membership> {
    of(engine.answer(engine.docker.info()).await?.ok()?.swarm?)
}

/// Returns the role that an engine reports.
fn of(info: SwarmInfo) -> Option<Membership> {
    let is_active = info.local_node_state == Some(LocalNodeState::ACTIVE);
    let node = info.node_id.filter(|it| is_active && !it.is_empty())?;
    let manages = info.control_available == Some(true);
    let managed = info.cluster.and_then(|it| it.id).filter(|_| manages);
    Some(Membership { node, managed })
}

/// Returns whether the engine is in a swarm, as a manager or not.
pub(in crate::docker) async fn is_member(engine: &Engine) -> bool {
    membership(engine).await.is_some()
}

impl Swarm {
    /// Returns the node of the engine; `None` if it has none in this swarm, or no manager answers.
    pub(in crate::docker) async fn node_of(&self, engine: &Engine) -> Option<Node> {
        let id = membership(engine).await?.node;
        let (_, all) = self.all_nodes().await.ok()?;
        let listed = all.into_iter().find(|it| it.id.as_ref() == Some(&id))?;
        Some(Node { is_drained: is_drained(&listed), id })
    }

    /// Returns the nodes of the swarm and the manager that listed them, the first that answers:
    /// one of those at the start, otherwise one that was promoted since.
    pub(in crate::docker) async fn all_nodes(
        &self,
    ) -> Result<(&Engine, Vec<ListedNode>), EngineFailure> {
        let silent = || std::io::Error::other("no manager of the swarm answers").into();
        let mut failure = EngineFailure(silent());
        for manager in &self.managers {
            match manager.answer(manager.docker.list_nodes(None)).await {
                Some(Ok(nodes)) => return Ok((manager, nodes)),
                Some(Err(error)) => failure = EngineFailure(error),
                None => {}
            }
        }
        self.promoted().await.ok_or(failure)
    }

    /// Returns an engine that manages the swarm now, with the nodes that it lists.
    async fn promoted(&self) -> Option<(&Engine, Vec<ListedNode>)> {
        for engine in &self.engines {
            if membership(engine).await.and_then(|it| it.managed).as_ref() == Some(&self.id)
                && let Some(Ok(nodes)) = engine.answer(engine.docker.list_nodes(None)).await
            {
                return Some((engine, nodes));
            }
        }
        None
    }

    /// Returns the nodes that could work and whose engines are not named.
    pub(in crate::docker) async fn unnamed(&self) -> Vec<AbsentEngine> {
        let Ok((manager, all)) = self.all_nodes().await else { return Vec::new() };
        let own = &self.state.lock().await.nodes;
        let unnamed = all.iter().filter(|it| is_ready(it) && !is_drained(it));
        let unnamed = unnamed.filter(|it| it.id.as_ref().is_none_or(|id| !own.contains(id)));
        let manager = &manager.describe().host;
        unnamed.map(|it| absent(it, manager)).collect()
    }
}

fn absent(node: &ListedNode, manager: &str) -> AbsentEngine {
    let name = node.description.as_ref().and_then(|it| it.hostname.clone());
    let id = node.id.clone().unwrap_or_default();
    let name = format!("the node {} ({id})", name.unwrap_or_default());
    let reason = format!(
        "it is in the swarm of {manager}, and gets no runs as long as its engine is not named: \
         name it with `--engine` as well"
    );
    AbsentEngine { name, reason }
}

fn is_drained(node: &ListedNode) -> bool {
    let availability = node.spec.as_ref().and_then(|it| it.availability);
    availability == Some(NodeSpecAvailabilityEnum::DRAIN)
}

fn is_ready(node: &ListedNode) -> bool {
    node.status.as_ref().and_then(|it| it.state) == Some(NodeState::READY)
}

/// Returns the ids of the nodes whose engines are not named.
pub(super) fn excluded(all: &[ListedNode], own: &BTreeSet<String>) -> BTreeSet<String> {
    all.iter().filter_map(|it| it.id.clone()).filter(|it| !own.contains(it)).collect()
}

#[cfg(test)]
mod tests {
    use bollard::models::ClusterInfo;

    use super::*;

    fn info(state: LocalNodeState, manages: bool) -> SwarmInfo {
        SwarmInfo {
            node_id: Some("n1".to_owned()),
            local_node_state: Some(state),
            control_available: Some(manages),
            cluster: Some(ClusterInfo { id: Some("s1".to_owned()), ..ClusterInfo::default() }),
            ..SwarmInfo::default()
        }
    }

    #[test]
    fn only_an_active_node_is_in_a_swarm_and_only_a_manager_manages_it() {
        let managed = |it| of(it).map(|it| it.managed);
        assert_eq!(managed(info(LocalNodeState::INACTIVE, true)), None);
        assert_eq!(managed(info(LocalNodeState::PENDING, true)), None);
        assert_eq!(managed(info(LocalNodeState::ACTIVE, false)), Some(None));
        assert_eq!(managed(info(LocalNodeState::ACTIVE, true)), Some(Some("s1".to_owned())));
        assert_eq!(managed(SwarmInfo::default()), None);
    }

    #[test]
    fn nodes_without_a_named_engine_are_excluded() {
        let node = |id: &str| ListedNode { id: Some(id.to_owned()), ..ListedNode::default() };
        let own = BTreeSet::from(["b".to_owned()]);
        let left_out = excluded(&[node("a"), node("b"), node("c")], &own);
        assert_eq!(left_out, BTreeSet::from(["a", "c"].map(str::to_owned)));
    }
}
