//! Nodes of subgraph commits, as the journal holds them: a line names only what changed, so that its
//! length is that of the step and not that of the repository.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Nodes of a commit, by id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CommittedNodes {
    /// All of them, in old journals.
    All { nodes: Vec<String> },
    /// The difference to the commit before.
    Change {
        added: Vec<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        removed: Vec<String>,
    },
}

impl CommittedNodes {
    /// Returns the difference between two commits.
    pub fn change(before: &BTreeSet<String>, after: &BTreeSet<String>) -> CommittedNodes {
        CommittedNodes::Change {
            added: after.difference(before).cloned().collect(),
            removed: before.difference(after).cloned().collect(),
        }
    }

    /// Turns the nodes of the commit before into those of this commit.
    pub fn apply(&self, all: &mut BTreeSet<String>) {
        match self {
            CommittedNodes::All { nodes } => *all = nodes.iter().cloned().collect(),
            CommittedNodes::Change { added, removed } => {
                all.retain(|node| !removed.contains(node));
                all.extend(added.iter().cloned());
            }
        }
    }

    /// Returns the nodes that the line names.
    pub fn named(&self) -> &[String] {
        match self {
            CommittedNodes::All { nodes } => nodes,
            CommittedNodes::Change { added, .. } => added,
        }
    }
}
