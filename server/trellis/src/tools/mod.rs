//! The tools a model may call, and the conversation in which it calls them.
//!
//! For the next door's author:
//!
//! ```ignore
//! let read_only = |path: &str| path.starts_with("tests/").then_some("tests say what is wanted");
//! let mut toolbox = Toolbox::new(&files, read_only, Limits::default())
//!     .with_suspects(suspects)           // offers `suspects`
//!     .with_plan(Arc::new(search));      // offers `search_plan`
//! let model = &shop.model;
//! let ask = |question| async move { model.ask(&question).await };
//! let talk = converse(ask, first, &mut toolbox).await?;
//! ```
//!
//! [`Toolbox::new`] takes the files as texts by their paths. Tools work on a copy in memory and never touch the disk:
//! what was changed is in [`Conversation::changes`], and it is the caller's to run tests and to write. However a
//! conversation ends, each change was accepted by its tool: it is inside the project, no read-only file, and a Python
//! file is no worse Python than it was. [`Conversation::ending`] says whether the model was done; `done` without any
//! change is no error here.
//!
//! `first` is the question with what the model has to know (the failure, what is wanted); its `tools` are filled in.
//! Every question is the conversation so far, with the same node, stage and attempt: a recording answers from the queue
//! of that key. `ask` is where a door counts tokens, keeps the journal and looks at budgets; its errors end the
//! conversation, and [`Toolbox::changes`] has what was changed before. Without a loop of our own, as an MCP server
//! needs it: [`Toolbox::tools`] and `Toolbox::call`.
//!
//! A new tool is a `tool!` declaration with an `impl Run` beside it, and a line in `table`. It is a function of a
//! snapshot that gives a text and the changes it wants, or says what went wrong, why, and what to do. It runs on a
//! thread where it may take its time until `Scene::deadline`.

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

pub(crate) use agent_loop::{CallRecord, StopReason, Transcript, converse};
pub(crate) use hints::{PlanSearch, PlannedNode};
pub(crate) use limits::Limits;
pub(crate) use overlay::Changes;
pub(crate) use tool_set::ToolSet;
