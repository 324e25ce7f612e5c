//! `trellis lsp`: the Language Server Protocol over standard input and output.
//!
//! A handler converts the request (`from_lsp`), makes one call, and converts the result (`to_lsp`).
//! Two rules keep the stream in order and responsive: a handler contacts the session owner before
//! its first `.await`, and no handler waits for the client. Longer work, such as a model request,
//! is started by a handler and reported by a notification; it ends with `shutdown`.
//!
//! Besides the protocol's own methods there are those of Trellis (`protocol_ext`): the server can
//! ask the client for a model reply (`editor_llm`, the model provider `editor`), and the client can
//! have a model tested (`probe_model`).

mod actions;
mod capabilities;
pub mod codec;
mod commands;
mod debounce;
mod diagnostics;
mod dispatch;
mod dynamic_registration;
mod editor_llm;
mod from_lsp;
mod hover;
mod lenses;
mod markdown;
mod outlined_lenses;
mod probe_model;
mod progress;
mod protocol_ext;
mod queries;
mod renaming;
mod reply;
mod resume_prompt;
mod server;
mod stdio;
mod test_words;
mod to_lsp;
mod transport;

use std::sync::Arc;
use std::time::Duration;

use tower_lsp::LspService;
use tower_service::Service;

use crate::rpc::{self, Context};
use editor_llm::EditorLlm;
use server::Backend;
use transport::{End, Transport};
use trellis_workflows::fault::{Exit, Fault};

/// Timeout for the last responses to be made and read, after the client has sent its last message.
const LAST_WORDS: Duration = Duration::from_secs(15);
/// The protocol requires exit code 1 for `exit` without `shutdown`, whatever the code means
/// elsewhere.
const WITHOUT_SHUTDOWN: Exit = Exit::TestsFailed;

/// Serves until the client sends `exit`, closes the stream or dies.
pub async fn serve() -> Result<Exit, Fault> {
    let (gone, parent_gone) = tokio::sync::oneshot::channel();
    let owner =
        crate::session::start().map_err(|e| Fault::internal(format!("cannot start: {e}")))?;
    let streams = stdio::input().and_then(|input| Ok((input, stdio::output()?)));
    let (input, output) = streams.map_err(|e| Fault::internal(format!("cannot start: {e}")))?;
    let (mut names, mut shared) = (Vec::new(), None::<Arc<Context>>);
    let mut builder = LspService::build(|client| {
        let editor = Arc::new(EditorLlm::new(client.clone()));
        let context = Arc::new(Context::new(owner.clone(), Some(editor.clone())));
        shared = Some(context.clone());
        let table = rpc::table(context.clone());
        names.extend(table.names());
        Backend::new(client, context, editor, table.module.into(), gone)
    })
    .custom_method(protocol_ext::TRY_MODEL, Backend::try_model)
    .custom_method(progress::CANCEL, Backend::cancel_progress);
    for name in names {
        let call = move |backend: &Backend, params| dispatch::call(backend.methods(), name, params);
        builder = builder.custom_method(name, call);
    }
    let (mut service, socket) = builder.finish();
    let handle = move |request| reply::collected(service.call(dispatch::filled(request)));
    let mut transport = Transport::new(handle, socket, output);
    let end = tokio::select! {
        end = transport.serve(input) => end,
        Ok(()) = parent_gone => End::Closed,
    };
    // Jobs that responses wait for end with the connection.
    let ending = async {
        if let Some(context) = shared {
            context.end().await;
        }
    };
    let last_words = tokio::time::timeout(LAST_WORDS, transport.finish());
    // A timeout is ignored: the client no longer reads.
    let ((), _) = tokio::join!(ending, last_words);
    owner.stop().await;
    match end {
        End::Exit { after_shutdown: false } => Ok(WITHOUT_SHUTDOWN),
        End::Exit { after_shutdown: true } | End::Closed => Ok(Exit::Done),
    }
}
