//! The `trellis/*` methods: defined once, in [`catalog`], and answered the same over every transport: inside the stream of
//! the language server, on a WebSocket, as MCP tools.
//!
//! [`table`] is what a method is and how it is called, [`context`] what all of them share, [`error`] how a fault looks on
//! the wire, [`describe`] the OpenRPC document.

mod catalog;
mod context;
mod describe;
mod error;
mod fixes;
mod graphs;
mod reference;
mod run_tests;
mod stacks;
mod symbols;
mod table;
mod workspace_query;

pub(crate) use catalog::table;
pub(crate) use context::{Context, Settings};
pub(crate) use describe::{EVENT, SUBSCRIBE, UNSUBSCRIBE, describe, inlined};
pub(crate) use error::{object as error_object, outside};
pub(crate) use reference::reference;
pub(crate) use table::{ApiDescription, Effect, Entry, Methods, PREFIX, Table, invoke};
