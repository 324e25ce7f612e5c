//! Represents planning graphs: reading dialects, checking, ordering, scheduling, exploration,
//! search and export.
//!
//! Every function depends only on its arguments: no files, no clock, no environment, and no other
//! crates of the project. A [`Plan`] is immutable once read; the state of its nodes during a run is
//! in a [`Schedule`].

mod build;
mod check;
mod communities;
mod csr;
mod dialect;
mod did_you_mean;
mod diff;
mod edge;
mod edit;
mod explore;
mod export;
mod extra_fields;
mod flow;
mod from_code;
mod from_repository;
mod graph;
mod id_positions;
mod json;
mod levels;
mod method_owners;
mod node;
mod order;
mod plan;
mod python;
mod read;
mod schedule;
mod search;
mod spec;
mod status;
mod subgraphs;
mod task;
mod trace;
mod tree;

pub use check::{Problem, ProblemKind, check, unsafe_path};
pub use dialect::{Dialect, UnknownDialect};
pub use did_you_mean::did_you_mean;
pub use diff::{EdgeChange, EdgeChangeKind, FieldChange, NodeChange, PlanDiff, Regeneration, diff};
pub use edge::{Edge, EdgeKind, Role, UnknownEdge};
pub use edit::{EditError, Edited, PlanEdit, edit};
pub use explore::{Direction, Exploration, Step, explore};
pub use export::export;
pub use extra_fields::ExtraFields;
pub use flow::{Flow, FlowKind, flows};
pub use from_code::{DerivedEdge, DerivedNode, DerivedPart, derived};
pub use from_repository::repository_plan;
pub use id_positions::{IdPositions, TextPosition};
pub use levels::{Levels, levels};
pub use node::{Kind, Level, Node, NodeIx, RedGate};
pub use order::{IgnoredEdge, Order, order};
pub use plan::Plan;
pub use python::is_identifier;
pub use read::{ReadError, read};
pub use schedule::Schedule;
pub use search::{
    Document, EmbeddingText, Evidence, Hit, NodeHit, PlanSearch, Query, SearchIndex, spoken,
};
pub use spec::{
    Sentence, SentenceChange, SentenceKind, Spec, SpecError, SpecFeature, sentence_changes,
    sentences,
};
pub use status::{Counts, Skipped, Status, UnmetDependencies};
pub use subgraphs::Grouping;
pub use task::Task;
pub use trace::{Trace, TraceProblem, TraceProblemKind, trace};
pub use tree::{Tree, tree};
