//! What the sidecar knows of its workspace: folders, open documents, their indexes.
//!
//! One [`owner`] takes changes in the order of the client's stream; who asks gets a [`View`] of one moment, in which open
//! documents are as the client has them, saved or not.

pub(crate) mod definition_anchors;
mod query_pool;
mod documents;
mod generated_projects;
mod line_markers;
mod owner;
pub(crate) mod positions;
mod test_registry_cache;
mod view;

pub(crate) use definition_anchors::{Anchor, AnchorKind, Anchors};
pub(crate) use query_pool::{QueryPool, QueryError};
pub(crate) use documents::{Document, Open};
pub(crate) use generated_projects::{GeneratedProjects, GeneratedProject, NodeState};
pub(crate) use owner::{SessionHandle, start};
pub(crate) use test_registry_cache::{Registered, Tested, Tests};
pub(crate) use view::{At, FolderKind, WorkspaceFolder, Snapshot};
