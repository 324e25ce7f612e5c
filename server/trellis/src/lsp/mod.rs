//! `trellis lsp`: the Language Server Protocol over standard input and output.
//!
//! Handlers do three things: what came in becomes ours (`from_lsp`), one call, what came out becomes theirs
//! (`to_lsp`). Two rules keep the stream in order and alive: a handler talks to the owner of the state before
//! its first `.await`, and none waits for the client. What takes longer than an answer may, such as a question to
//! a model, is begun by a handler and told by a notification; it ends with `shutdown`.
//!
//! Beside the protocol's own methods there are ours (`extensions`): the client can be asked for its models
//! (`client_model`, the model provider `editor`), and can have one tried (`trial`).

mod actions;
mod answers;
mod capabilities;
mod client_model;
mod commands;
mod diagnostics;
mod extensions;
mod features;
mod from_lsp;
mod hover;
mod lenses;
mod markdown;
mod progress;
mod resume;
mod route;
mod server;
mod settle;
mod to_lsp;
mod trial;

use std::sync::Arc;

use tower_lsp::{LspService, Server};

use crate::error::{Exit, Fault};
use crate::rpc::{self, Context};
use crate::stdin;
use client_model::ClientModel;
use route::Filled;
use server::Backend;

/// More than any client has under way: changes must never queue behind questions.
const REQUESTS_AT_ONCE: usize = 1024;

/// Serves until the client says `exit`, closes the stream or dies.
pub(crate) async fn serve() -> Result<Exit, Fault> {
    let (gone, parent_gone) = tokio::sync::oneshot::channel();
    let owner = crate::state::start().map_err(|e| Fault::internal(format!("cannot start: {e}")))?;
    let input = stdin::input().map_err(|e| Fault::internal(format!("cannot start: {e}")))?;
    let (mut names, mut shared) = (Vec::new(), None::<Arc<Context>>);
    let mut builder = LspService::build(|client| {
        let editor = Arc::new(ClientModel::new(client.clone()));
        let context = Arc::new(Context::new(owner.clone(), Some(editor.clone())));
        shared = Some(context.clone());
        let table = rpc::table(context.clone());
        names.extend(table.entries.iter().map(|it| it.name));
        Backend::new(client, context, editor, table.module.into(), gone)
    })
    .custom_method(extensions::TRY_MODEL, Backend::try_model)
    .custom_method(progress::CANCEL, Backend::cancel_progress);
    for name in names {
        let call = move |backend: &Backend, params| route::call(backend.methods(), name, params);
        builder = builder.custom_method(name, call);
    }
    let (service, socket) = builder.finish();
    let server = Server::new(input, tokio::io::stdout(), socket)
        .concurrency_level(REQUESTS_AT_ONCE)
        .serve(Filled(service));
    tokio::select! {
        () = server => {}
        Ok(()) = parent_gone => {}
    }
    if let Some(context) = shared {
        context.end().await;
    }
    owner.stop().await;
    Ok(Exit::Done)
}
