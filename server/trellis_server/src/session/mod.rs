//! Session state of the sidecar: folders, open documents and their indexes.
//!
//! One [`owner`] applies changes in the order of the client's stream. Queries get a [`Snapshot`] of
//! one moment, in which open documents are as the client has them, saved or not.

pub mod definition_anchors;
mod documents;
mod generated_projects;
mod line_markers;
mod outlined_documents;
mod owner;
pub mod positions;
mod query_pool;
mod snapshot;
mod test_registry_cache;
mod test_words;

pub use definition_anchors::{Anchor, AnchorKind, Anchors};
pub use documents::{Document, Open};
pub use generated_projects::{GeneratedProject, GeneratedProjects, NodeState};
pub use outlined_documents::OutlinedDocument;
pub use owner::{SessionHandle, start};
pub use query_pool::{QueryError, QueryPool};
pub use snapshot::{At, FolderKind, Snapshot, WorkspaceFolder};
pub use test_registry_cache::{Registered, TestRegistryCache, Tests};
pub use test_words::{Remembered, TestWords, TestWordsCache};
