//! The planning graph as data: reading its dialects, its problems, order, readiness, exploration, search and export.
//!
//! Everything here is a function of its arguments: no files, no clock, no environment, and no knowledge of the other
//! crates. A [`Plan`] never changes once read; what happens to its nodes during a run is kept in a [`Schedule`].

mod build;
mod check;
mod method_owners;
mod csr;
mod from_code;
mod dialect;
mod edge;
mod explore;
mod export;
mod extra_fields;
mod flow;
mod graph;
mod json;
mod levels;
mod did_you_mean;
mod node;
mod order;
mod plan;
mod python;
mod read;
mod schedule;
mod search;
mod status;
mod task;
mod tree;

pub use check::{Problem, ProblemKind, check, unsafe_path};
pub use from_code::{DerivedEdge, DerivedNode, derived};
pub use dialect::{Dialect, UnknownDialect};
pub use edge::{Edge, EdgeKind, Role, UnknownEdge};
pub use explore::{Direction, Exploration, Step, explore};
pub use export::export;
pub use extra_fields::ExtraFields;
pub use flow::{FlowKind, Flow, flows};
pub use levels::{Levels, levels};
pub use did_you_mean::did_you_mean;
pub use node::{RedGate, Kind, Level, Node, NodeIx};
pub use order::{Order, IgnoredEdge, order};
pub use plan::Plan;
pub use python::is_identifier;
pub use read::{ReadError, read};
pub use schedule::Schedule;
pub use search::{
    Document, Evidence, EmbeddingText, Hit, NodeHit, PlanSearch, Query, SearchIndex, spoken,
};
pub use status::{Counts, Skipped, Status, UnmetDependencies};
pub use task::Task;
pub use tree::{Tree, tree};
