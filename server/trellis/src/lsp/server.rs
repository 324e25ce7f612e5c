//! The handlers, under the names of the protocol's methods.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types::{self as lsp, MessageType, Uri};
use tower_lsp::{Client, LanguageServer};

use super::client_model::ClientModel;
use super::extensions::TryModelParams;
use super::owner::Owner;
use super::view::View;
use super::{answers, capabilities, from_lsp, parent, to_lsp, trial};
use crate::output::Output;
use code::Unit;

/// Questions that think at the same time; more would only take turns.
const THINKING_AT_ONCE: usize = 4;
/// How long an answer of the client to a request of ours is waited for.
const CLIENT_PATIENCE: Duration = Duration::from_secs(10);

/// The server as the protocol sees it.
pub(super) struct Backend {
    client: Client,
    owner: Owner,
    known: OnceLock<from_lsp::Client>,
    thinking: Arc<Semaphore>,
    parent_gone: Mutex<Option<oneshot::Sender<()>>>,
    /// The models of the editor.
    editor: Arc<ClientModel>,
    /// Work that outlives its request ends with this.
    ending: CancellationToken,
}

/// Tells work on another thread that nobody waits for it any more.
struct Cancelling(Arc<AtomicBool>);

impl Drop for Cancelling {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Backend {
    pub(super) fn new(client: Client, owner: Owner, parent_gone: oneshot::Sender<()>) -> Backend {
        Backend {
            editor: Arc::new(ClientModel::new(client.clone())),
            ending: CancellationToken::new(),
            client,
            owner,
            known: OnceLock::new(),
            thinking: Arc::new(Semaphore::new(THINKING_AT_ONCE)),
            parent_gone: Mutex::new(Some(parent_gone)),
        }
    }

    fn unit(&self) -> Unit {
        self.known.get().map_or(Unit::Utf16, |it| it.unit)
    }

    /// Puts a question to everything as of this call, on a thread that may think. When the disk turns out
    /// to be ahead, it is put again.
    fn ask<T, Q>(&self, question: Q) -> impl Future<Output = Result<T>> + Send + use<T, Q>
    where
        T: Send + 'static,
        Q: Fn(&View) -> Result<T> + Send + Sync + 'static,
    {
        // Asked for now, not at the first poll: what the client says later must not be in it.
        let first = self.owner.view();
        let owner = self.owner.clone();
        let thinking = self.thinking.clone();
        let question: Question<T> = Arc::new(question);
        async move {
            let mut view = first.await.map_err(|_| Error::internal_error())?;
            loop {
                let _turn = thinking.acquire().await.map_err(|_| Error::internal_error())?;
                let (misses, documents) = (view.misses(), view.documents.clone());
                let (answer, after) = think(view, question.clone()).await?;
                if after == misses {
                    return answer;
                }
                view = owner.view().await.map_err(|_| Error::internal_error())?;
                if !Arc::ptr_eq(&documents, &view.documents) {
                    return Err(to_lsp::overtaken());
                }
            }
        }
    }

    fn watch_parent(&self, process: Option<u32>) {
        let gone = self.parent_gone.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Some(process), Some(gone)) = (process, gone) else { return };
        let leave = move || {
            // Nobody listens if the server has ended by itself.
            let _ = gone.send(());
        };
        if let Err(error) = parent::watch(process, leave) {
            let rest = "it will only be noticed when its end of the stream closes";
            Output::say(format_args!("warning: cannot watch process {process}: {error}; {rest}"));
        }
    }

    /// `trellis/tryModel`: the answer is that it has begun.
    pub(super) async fn try_model(&self, params: TryModelParams) -> Result<()> {
        if params.model.as_ref().is_some_and(|it| it.trim().is_empty()) {
            return Err(Error::invalid_params(
                "`model` is empty: name one, such as `editor`, or leave it out",
            ));
        }
        let root = self.owner.root();
        let trial = trial::run(self.client.clone(), self.editor.clone(), root, params.model);
        tokio::spawn(self.ending.clone().run_until_cancelled_owned(trial));
        Ok(())
    }

    /// Asks the client to report changed files, for disks that report nothing themselves.
    fn register_watching(&self) {
        if !self.known.get().is_some_and(|it| it.watches_files) {
            return;
        }
        let client = self.client.clone();
        tokio::spawn(async move {
            let asking = client.register_capability(vec![capabilities::watched_files()]);
            match tokio::time::timeout(CLIENT_PATIENCE, asking).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    Output::say(format_args!(
                        "warning: the editor reports no changed files: {error}"
                    ));
                }
                Err(_) => {
                    Output::say("warning: the editor did not say whether it reports changed files")
                }
            }
        });
    }
}

type Question<T> = Arc<dyn Fn(&View) -> Result<T> + Send + Sync>;

/// The answer, and the view's misses after it.
async fn think<T: Send + 'static>(view: View, question: Question<T>) -> Result<(Result<T>, u64)> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let _cancelling = Cancelling(cancelled.clone());
    let work = tokio::task::spawn_blocking(move || {
        if cancelled.load(Ordering::Relaxed) {
            return (Err(Error::request_cancelled()), view.misses());
        }
        let answer = question(&view);
        (answer, view.misses())
    });
    work.await.map_err(|error| {
        Output::say(format_args!("error: a request failed: {error}"));
        Error::internal_error()
    })
}

fn paths<'a>(uris: impl Iterator<Item = &'a Uri>) -> Vec<PathBuf> {
    uris.filter_map(from_lsp::path).collect()
}

impl LanguageServer for Backend {
    async fn initialize(&self, params: lsp::InitializeParams) -> Result<lsp::InitializeResult> {
        let known = *self.known.get_or_init(|| from_lsp::client(&params.capabilities));
        self.owner.folders(from_lsp::folders(&params), Vec::new());
        self.watch_parent(params.process_id);
        Ok(capabilities::of(known.unit))
    }

    async fn initialized(&self, _: lsp::InitializedParams) {
        self.register_watching();
    }

    async fn shutdown(&self) -> Result<()> {
        self.ending.cancel();
        Ok(())
    }

    async fn did_open(&self, params: lsp::DidOpenTextDocumentParams) {
        self.owner.opened(params.text_document);
    }

    async fn did_change(&self, params: lsp::DidChangeTextDocumentParams) {
        let document = params.text_document;
        self.owner.changed(document.uri, document.version, params.content_changes, self.unit());
    }

    async fn did_save(&self, params: lsp::DidSaveTextDocumentParams) {
        self.owner.on_disk(paths([&params.text_document.uri].into_iter()));
    }

    async fn did_close(&self, params: lsp::DidCloseTextDocumentParams) {
        self.owner.closed(params.text_document.uri);
    }

    async fn did_change_watched_files(&self, params: lsp::DidChangeWatchedFilesParams) {
        self.owner.on_disk(paths(params.changes.iter().map(|it| &it.uri)));
    }

    async fn did_change_workspace_folders(&self, params: lsp::DidChangeWorkspaceFoldersParams) {
        let folders = |them: &[lsp::WorkspaceFolder]| paths(them.iter().map(|it| &it.uri));
        self.owner.folders(folders(&params.event.added), folders(&params.event.removed));
    }

    async fn symbol(
        &self,
        params: lsp::WorkspaceSymbolParams,
    ) -> Result<Option<lsp::WorkspaceSymbolResponse>> {
        let unit = self.unit();
        let answer = self.ask(move |view| Ok(answers::symbols(view, &params.query, unit))).await?;
        Ok(Some(lsp::WorkspaceSymbolResponse::Flat(answer)))
    }

    async fn document_symbol(
        &self,
        params: lsp::DocumentSymbolParams,
    ) -> Result<Option<lsp::DocumentSymbolResponse>> {
        let (unit, uri) = (self.unit(), params.text_document.uri);
        let tree = self.known.get().is_some_and(|it| it.symbol_tree);
        let asked = uri.clone();
        let symbols = self.ask(move |view| Ok(answers::outline(view, &asked, unit))).await?;
        Ok(symbols.map(|it| match tree {
            true => lsp::DocumentSymbolResponse::Nested(it),
            false => lsp::DocumentSymbolResponse::Flat(to_lsp::flat(&uri, it)),
        }))
    }

    async fn goto_definition(
        &self,
        params: lsp::GotoDefinitionParams,
    ) -> Result<Option<lsp::GotoDefinitionResponse>> {
        let (unit, at) = (self.unit(), params.text_document_position_params);
        let found = self.ask(move |view| Ok(answers::definition(view, &at, unit))).await?;
        Ok(Some(lsp::GotoDefinitionResponse::Array(found)))
    }

    async fn references(&self, params: lsp::ReferenceParams) -> Result<Option<Vec<lsp::Location>>> {
        let (unit, at) = (self.unit(), params.text_document_position);
        let declaration = params.context.include_declaration;
        self.ask(move |view| Ok(answers::references(view, &at, declaration, unit))).await
    }

    async fn prepare_rename(
        &self,
        at: lsp::TextDocumentPositionParams,
    ) -> Result<Option<lsp::PrepareRenameResponse>> {
        let unit = self.unit();
        self.ask(move |view| answers::prepare_rename(view, &at, unit)).await.map(Some)
    }

    async fn rename(&self, params: lsp::RenameParams) -> Result<Option<lsp::WorkspaceEdit>> {
        let unit = self.unit();
        let versioned = self.known.get().is_some_and(|it| it.versioned_edits);
        let question = move |view: &View| {
            let renamed =
                answers::rename(view, &params.text_document_position, &params.new_name, unit)?;
            Ok((renamed.edit(versioned), renamed.warning()))
        };
        let (edit, warning) = self.ask(question).await?;
        if let Some(warning) = warning {
            let client = self.client.clone();
            tokio::spawn(async move { client.show_message(MessageType::WARNING, warning).await });
        }
        Ok(Some(edit))
    }
}
