//! The tools a model may call, and the conversation in which it calls them.
//!
//! Use in a workflow:
//!
//! ```ignore
//! let read_only = |path: &str| path.starts_with("tests/").then_some("tests say what is wanted");
//! let mut toolbox = ToolSet::new(&files, read_only, Limits::default())
//!     .with_suspects(suspects)           // offers `suspects`
//!     .with_plan(Arc::new(search));      // offers `search_plan`
//! let ask = |request| async move { model.ask(&request).await };
//! let transcript = converse(ask, first, &mut toolbox).await?;
//! ```
//!
//! [`ToolSet::new`] takes the files as texts by their paths. Tools work on a copy in memory and
//! never touch the disk: [`Transcript::changes`] holds the changes, and the caller runs tests and
//! writes files. However a conversation ends, each change was accepted by its tool: it is inside
//! the project, changes no read-only file, and adds no syntax error to a Python file.
//! [`Transcript::ending`] says whether the model was done; `done` without any change is no error
//! here.
//!
//! `first` is the request with all that the model has to know (the failure, the goal); its `tools`
//! are filled in. Every request is the conversation so far, with the same node, stage and attempt:
//! a recording replays replies from the queue of that key. In `ask` a workflow counts tokens,
//! writes the journal and checks budgets; an error of `ask` ends the conversation, and
//! [`ToolSet::changes`] then has the earlier changes. A caller with a loop of its own, such as an
//! MCP server, uses [`ToolSet::tools`] and `ToolSet::call`.
//!
//! A new tool is a `tool!` declaration with an `impl Run` beside it, and a line in `table`. It is a
//! function of a snapshot. It returns a text and the changes it wants, or an error with the reason
//! and a remedy. It runs on a thread where it may block until `ToolContext::deadline`.

mod agent_loop;
mod arguments;
mod compact;
mod files;
mod grep;
mod hints;
mod limits;
mod lookups;
mod overlay;
mod paths;
mod rename;
mod symbol_edits;
mod symbols;
mod table;
#[cfg(test)]
mod tests;
mod tool_set;
mod truncate;

pub use agent_loop::{CallRecord, StopReason, Transcript, converse};
pub use hints::{PlanSearch, PlannedNode};
pub use limits::Limits;
pub use overlay::Changes;
pub use tool_set::ToolSet;
