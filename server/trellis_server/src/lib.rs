//! The server: its API, method table, session, jobs, and transports.

use std::time::Duration;

pub mod api;
pub mod async_stdin;
pub mod event_bus;
pub mod jobs;
pub mod lsp;
pub mod mcp;
pub mod parent_watch;
pub mod results;
pub mod rpc;
pub mod session;
pub mod type_checker;
pub mod websocket;

/// Timeout at exit: a thread blocked on an unresponsive disk must not delay exit.
pub const LAST_WORK: Duration = Duration::from_secs(5);
