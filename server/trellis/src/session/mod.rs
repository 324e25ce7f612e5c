//! Session state of the sidecar: folders, open documents and their indexes.
//!
//! One [`owner`] applies changes in the order of the client's stream. Queries get a [`Snapshot`] of
//! one moment, in which open documents are as the client has them, saved or not.

pub(crate) mod definition_anchors;
mod documents;
mod generated_projects;
mod line_markers;
mod owner;
pub(crate) mod positions;
mod query_pool;
mod snapshot;
mod test_registry_cache;

pub(crate) use definition_anchors::{Anchor, AnchorKind, Anchors};
pub(crate) use documents::{Document, Open};
pub(crate) use generated_projects::{GeneratedProject, GeneratedProjects, NodeState};
pub(crate) use owner::{SessionHandle, start};
pub(crate) use query_pool::{QueryError, QueryPool};
pub(crate) use snapshot::{At, FolderKind, Snapshot, WorkspaceFolder};
pub(crate) use test_registry_cache::{Registered, TestRegistryCache, Tests};
