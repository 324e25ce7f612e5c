//! What the sidecar knows of its workspace: folders, open documents, their indexes.
//!
//! One [`owner`] takes changes in the order of the client's stream; who asks gets a [`View`] of one moment, in which open
//! documents are as the client has them, saved or not.

mod asking;
mod documents;
mod owner;
pub(crate) mod positions;
mod view;

pub(crate) use asking::{Asker, Unanswered};
pub(crate) use owner::{Owner, start};
pub(crate) use view::{At, Part, View};
