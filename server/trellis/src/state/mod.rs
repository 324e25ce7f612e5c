//! What the sidecar knows of its workspace: folders, open documents, their indexes.
//!
//! One [`owner`] takes changes in the order of the client's stream; who asks gets a [`View`] of one moment, in which open
//! documents are as the client has them, saved or not.

pub(crate) mod anchors;
mod asking;
mod documents;
mod grown;
mod marks;
mod owner;
pub(crate) mod positions;
mod tested;
mod view;

pub(crate) use anchors::{Anchor, AnchorKind, Anchors};
pub(crate) use asking::{Asker, Unanswered};
pub(crate) use documents::{Document, Open};
pub(crate) use grown::{Grounds, Grown, NodeState};
pub(crate) use owner::{Owner, start};
pub(crate) use tested::{Registered, Tested, Tests};
pub(crate) use view::{At, Base, Part, View};
