//! Durable state below `.trellis`: the journal (the truth), what is replayed from it, the checkpoint
//! for people, batched atomic writes, locks and scratch folders.

pub mod append_log;
pub mod checkpoint;
pub mod committed_nodes;
pub mod cost;
pub mod describe;
pub mod disk;
pub mod error;
pub mod fault_point;
pub mod format;
pub mod hash_chain;
pub mod journal;
pub mod lock;
pub mod origin;
pub mod project_cache;
pub mod reader;
pub mod replay;
pub mod scratch;
pub mod writer;

pub use writer::Writer;
