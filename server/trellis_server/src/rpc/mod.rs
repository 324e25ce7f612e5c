//! The `trellis/*` methods. [`catalog`] defines them once for all transports: the language server's
//! stream, a WebSocket, MCP tools.
//!
//! [`table`] defines and calls methods, [`context`] holds their shared state, [`error`] converts
//! faults to wire format, and [`describe`] generates the OpenRPC document.

mod catalog;
mod context;
mod describe;
mod error;
mod fixes;
mod graphs;
mod plans;
mod reference;
mod run_tests;
mod stacks;
mod symbols;
mod table;
mod workspace_query;

pub use catalog::table;
pub use context::{Context, Settings};
pub use describe::{EVENT, SUBSCRIBE, UNSUBSCRIBE, describe, inlined};
pub use error::{object as error_object, outside};
pub use reference::reference;
pub use table::{ApiDescription, Effect, Entry, Methods, PREFIX, Table, invoke};
