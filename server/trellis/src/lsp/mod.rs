//! `trellis lsp`: the Language Server Protocol over standard input and output.
//!
//! Handlers do three things: what came in becomes ours (`from_lsp`), one call, what came out becomes theirs
//! (`to_lsp`). Two rules keep the stream in order and alive: a handler talks to the owner of the state before
//! its first `.await`, and none waits for the client. What takes longer than an answer may, such as a question to
//! a model, is begun by a handler and told by a notification; it ends with `shutdown`.
//!
//! Beside the protocol's own methods there are ours (`extensions`): the client can be asked for its models
//! (`client_model`, the model provider `editor`), and can have one tried (`trial`).

mod answers;
mod capabilities;
mod client_model;
mod documents;
mod extensions;
mod from_lsp;
mod owner;
mod parent;
mod server;
mod stdio;
mod to_lsp;
mod trial;
mod view;

use tower_lsp::{LspService, Server};

use crate::error::{Exit, Fault};
use server::Backend;

/// More than any client has under way: changes must never queue behind questions.
const REQUESTS_AT_ONCE: usize = 1024;

/// Serves until the client says `exit`, closes the stream or dies.
pub(crate) async fn serve() -> Result<Exit, Fault> {
    let (gone, parent_gone) = tokio::sync::oneshot::channel();
    let owner = owner::start().map_err(|e| Fault::internal(format!("cannot start: {e}")))?;
    let input = stdio::input().map_err(|e| Fault::internal(format!("cannot start: {e}")))?;
    let (service, socket) = LspService::build(|client| Backend::new(client, owner.clone(), gone))
        .custom_method(extensions::TRY_MODEL, Backend::try_model)
        .finish();
    let server = Server::new(input, tokio::io::stdout(), socket)
        .concurrency_level(REQUESTS_AT_ONCE)
        .serve(service);
    tokio::select! {
        () = server => {}
        Ok(()) = parent_gone => {}
    }
    owner.stop().await;
    Ok(Exit::Done)
}
