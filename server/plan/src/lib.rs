//! The planning graph as data: reading its dialects, its problems, order, readiness, exploration, search and export.
//!
//! Everything here is a function of its arguments: no files, no clock, no environment, and no knowledge of the other
//! crates. A [`Plan`] never changes once read; what happens to its nodes during a run is kept in a [`Schedule`].

mod build;
mod check;
mod classes;
mod csr;
mod derived;
mod dialect;
mod edge;
mod explore;
mod export;
mod fields;
mod flow;
mod graph;
mod json;
mod levels;
mod near;
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
pub use derived::{DerivedEdge, DerivedNode, derived};
pub use dialect::{Dialect, UnknownDialect};
pub use edge::{Edge, EdgeKind, Role, UnknownEdge};
pub use explore::{Direction, Exploration, Step, explore};
pub use export::export;
pub use fields::Fields;
pub use flow::{Along, Flow, flows};
pub use levels::{Levels, levels};
pub use near::did_you_mean;
pub use node::{Gate, Kind, Level, Node, NodeIx};
pub use order::{Order, SetAside, order};
pub use plan::Plan;
pub use python::is_identifier;
pub use read::{ReadError, read};
pub use schedule::Schedule;
pub use search::{
    Document, Evidence, Facets, Hit, NodeHit, PlanSearch, Query, SearchIndex, spoken,
};
pub use status::{Counts, Skipped, Status, UnmetDependencies};
pub use task::Task;
pub use tree::{Tree, tree};
