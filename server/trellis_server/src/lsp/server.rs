//! Handlers, named after the protocol's methods.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types::{self as lsp, MessageType, Uri};
use tower_lsp::{Client, LanguageServer};

use super::debounce::{Debouncer, SessionChange, SessionChanges};
use super::editor_llm::EditorLlm;
use super::protocol_ext::{HappenedNotification, TryModelParams};
use super::{
    actions, capabilities, commands, dynamic_registration, from_lsp, hover, lenses,
    outlined_lenses, probe_model, progress, queries, renaming, reply, resume_prompt, test_words,
    to_lsp,
};
use crate::parent_watch;
use crate::rpc::{Context, Methods, Settings};
use crate::session::positions;
use crate::session::{Anchors, Remembered, Snapshot, TestWords};
use trellis_outline::Language;
use trellis_python::{Outline, Unit};

/// Timeout for a response of the client.
const CLIENT_PATIENCE: Duration = Duration::from_secs(10);

/// The language server.
pub(super) struct Backend {
    client: Client,
    /// State shared by the `trellis/*` methods.
    context: Arc<Context>,
    methods: Methods,
    known: OnceLock<from_lsp::Client>,
    parent_gone: Mutex<Option<oneshot::Sender<()>>>,
    /// The models of the editor.
    editor: Arc<EditorLlm>,
    /// Token that ends background work.
    ending: CancellationToken,
    /// Sender of changes, and its receiver until the client is ready.
    stirs: SessionChanges,
    stirred: Mutex<Option<UnboundedReceiver<SessionChange>>>,
    /// True if symbol queries are answered.
    wants_symbols: watch::Sender<bool>,
    /// True if tests of JavaScript, TypeScript and Go have lenses.
    wants_outlines: watch::Sender<bool>,
}

impl Backend {
    pub(super) fn new(
        client: Client,
        context: Arc<Context>,
        editor: Arc<EditorLlm>,
        methods: Methods,
        parent_gone: oneshot::Sender<()>,
    ) -> Backend {
        let (stirs, stirred) = SessionChanges::new();
        Backend {
            stirs,
            stirred: Mutex::new(Some(stirred)),
            wants_symbols: watch::Sender::new(false),
            wants_outlines: watch::Sender::new(false),
            client,
            context,
            methods,
            editor,
            known: OnceLock::new(),
            parent_gone: Mutex::new(Some(parent_gone)),
            ending: CancellationToken::new(),
        }
    }

    /// Returns the `trellis/*` methods.
    pub(super) fn methods(&self) -> Methods {
        self.methods.clone()
    }

    /// Forwards events to the client, in order, at the client's reading speed.
    fn tell_events(&self) {
        let (client, listener) = (self.client.clone(), self.context.events.listen());
        let telling = async move {
            loop {
                client.send_notification::<HappenedNotification>(listener.next().await).await;
            }
        };
        self.go_on(telling);
    }

    /// Spawns background work that ends with `shutdown`.
    fn go_on(&self, work: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(self.ending.clone().run_until_cancelled_owned(work));
    }

    /// Handles `window/workDoneProgress/cancel`.
    pub(super) async fn cancel_progress(&self, params: lsp::WorkDoneProgressCancelParams) {
        progress::cancel(&self.context, &params);
    }

    /// Returns whether symbol queries are answered.
    fn answers_symbols(&self) -> bool {
        *self.wants_symbols.borrow()
    }

    fn unit(&self) -> Unit {
        self.known.get().map_or(Unit::Utf16, |it| it.unit)
    }

    /// Starts background work: diagnostics, lens refreshes, progress, resume offers.
    fn begin(&self) {
        let stirred = self.stirred.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Some(stirred), Some(known)) = (stirred, self.known.get().copied()) else { return };
        let (client, context) = (self.client.clone(), self.context.clone());
        // The subscription starts now, not at the listener's first poll.
        let listener = || self.context.events.listen();
        self.go_on(Debouncer::listen(context.clone(), listener(), self.stirs.clone()));
        let settling = context.clone();
        self.go_on(async move { settling.settle_edits().await });
        let (events, opening) = (context.events.clone(), context.clone());
        context.results.follow(move |it| events.publish(&it.event()));
        self.go_on(async move {
            let folders = opening.folders().await;
            open_results(&opening, folders).await;
        });
        for (features, wanted) in [
            (dynamic_registration::symbols(known.dynamic), &self.wants_symbols),
            (dynamic_registration::outlines(known.dynamic), &self.wants_outlines),
        ] {
            let keeping = dynamic_registration::keep(client.clone(), features, wanted.subscribe());
            self.go_on(keeping);
        }
        self.go_on(resume_prompt::offer(client.clone(), context.clone(), self.methods.clone()));
        if known.shows_progress {
            self.go_on(progress::show(client.clone(), listener()));
        }
        self.go_on(Debouncer { client, context, known }.run(stirred));
    }

    /// Records that files changed on the disk.
    fn on_disk(&self, files: Vec<PathBuf>) {
        files.iter().for_each(|it| self.context.results.edited(it));
        self.context.test_words.changed(&files);
        self.context.owner.on_disk(files);
        self.stirs.notify(SessionChange::Other);
    }

    /// Loads earlier test results of these folders.
    fn open_results(&self, folders: Vec<PathBuf>) {
        let context = self.context.clone();
        self.go_on(async move { open_results(&context, folders).await });
    }

    /// Returns the words of a folder's test files. After a change those from before are returned,
    /// while the new ones are read.
    async fn test_words(&self, folder: Option<PathBuf>) -> Arc<TestWords> {
        let Some(folder) = folder else { return Arc::default() };
        let Remembered { words, is_outdated } = test_words::known(&self.context, &folder).await;
        if is_outdated {
            let (context, stirs) = (self.context.clone(), self.stirs.clone());
            self.go_on(test_words::refresh(context, folder, stirs));
        }
        words
    }

    /// Runs a query on the state as of this call, on a worker thread.
    fn ask<T, Q>(&self, question: Q) -> impl Future<Output = Result<T>> + Send + use<T, Q>
    where
        T: Send + 'static,
        Q: Fn(&Snapshot) -> Result<T> + Send + Sync + 'static,
    {
        let asking = self.context.asker.ask(question);
        async move { asking.await.map_err(to_lsp::unanswered)? }
    }

    /// Does the same as [`Backend::ask`] for a large result, which is written as JSON on the worker
    /// thread and becomes that of the response.
    async fn ask_written<T, Q>(&self, question: Q) -> Result<()>
    where
        T: serde::Serialize + 'static,
        Q: Fn(&Snapshot) -> Result<T> + Send + Sync + 'static,
    {
        reply::set(self.ask(move |view| reply::written(&question(view)?)).await?)
    }

    fn watch_parent(&self, process: Option<u32>) {
        let gone = self.parent_gone.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Some(process), Some(gone)) = (process, gone) else { return };
        let leave = move || {
            // No receiver is left if the server has ended by itself.
            let _ = gone.send(());
        };
        if let Err(error) = parent_watch::watch(process, leave) {
            let rest = "Trellis only notices the end of the editor when the stream closes";
            tracing::warn!("cannot watch process {process}: {error}; {rest}");
        }
    }

    /// Handles `trellis/tryModel`: starts the test and returns at once.
    pub(super) async fn try_model(&self, params: TryModelParams) -> Result<()> {
        if params.model.as_ref().is_some_and(|it| it.trim().is_empty()) {
            return Err(Error::invalid_params(
                "`model` is empty: choose one, such as `editor`, or leave it out",
            ));
        }
        let root = self.context.owner.roots();
        self.go_on(probe_model::run(self.client.clone(), self.editor.clone(), root, params.model));
        Ok(())
    }

    /// Returns the lenses of a document of JavaScript, TypeScript or Go.
    async fn outlined_lenses(&self, uri: Uri) -> Result<Option<Vec<lsp::CodeLens>>> {
        let (asking, folders) = (self.context.owner.outlined(uri), self.context.owner.roots());
        let Some(open) = asking.await.map_err(|_| Error::internal_error())? else {
            return Ok(None);
        };
        let folders = folders.await.map_err(|_| Error::internal_error())?;
        let (unit, context) = (self.unit(), self.context.clone());
        let work = move || outlined_lenses::of(open, &folders, &context.grounds, unit);
        let lenses = tokio::task::spawn_blocking(work).await;
        lenses.map(Some).map_err(|_| Error::internal_error())
    }

    /// Applies the settings that decide which features are registered.
    fn register_by(&self, settings: &Settings) {
        self.wants_symbols.send_replace(settings.answers_symbols());
        self.wants_outlines.send_replace(settings.outlines_tests());
    }

    /// Asks the client to report changed files, for file systems that report none.
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
                    tracing::warn!("the editor does not report changed files: {error}");
                }
                Err(_) => {
                    tracing::warn!("the editor did not say whether it reports changed files")
                }
            }
        });
    }
}

/// Parses the client's settings; missing ones keep their default.
fn settings_of(value: serde_json::Value) -> Result<Settings> {
    serde_json::from_value(value).map_err(|error| {
        Error::invalid_params(format!(
            "the settings are wrong: {error}; leave out settings that keep their default"
        ))
    })
}

/// Loads earlier test results of these folders without blocking the caller.
async fn open_results(context: &Context, folders: Vec<PathBuf>) {
    let results = context.results.clone();
    let real = |it: PathBuf| it.canonicalize().unwrap_or(it);
    let open = move || results.open(&folders.into_iter().map(real).collect::<Vec<_>>());
    if tokio::task::spawn_blocking(open).await.is_err() {
        tracing::warn!("earlier test results are not shown");
    }
}

fn paths<'a>(uris: impl Iterator<Item = &'a Uri>) -> Vec<PathBuf> {
    uris.filter_map(positions::path).collect()
}

impl LanguageServer for Backend {
    async fn initialize(&self, params: lsp::InitializeParams) -> Result<lsp::InitializeResult> {
        let known = *self.known.get_or_init(|| from_lsp::client(&params.capabilities));
        self.context.owner.folders(from_lsp::folders(&params), Vec::new());
        if let Some(settings) = params.initialization_options {
            self.context.set(settings_of(settings)?);
        }
        self.watch_parent(params.process_id);
        self.register_by(&self.context.settings());
        Ok(capabilities::of(known))
    }

    async fn initialized(&self, _: lsp::InitializedParams) {
        self.register_watching();
        self.tell_events();
        self.begin();
    }

    async fn shutdown(&self) -> Result<()> {
        self.ending.cancel();
        Ok(())
    }

    async fn did_open(&self, params: lsp::DidOpenTextDocumentParams) {
        self.context.owner.opened(params.text_document);
        self.stirs.notify(SessionChange::Text);
    }

    async fn did_change(&self, params: lsp::DidChangeTextDocumentParams) {
        let document = params.text_document;
        self.context.owner.changed(
            document.uri,
            document.version,
            params.content_changes,
            self.unit(),
        );
        self.stirs.notify(SessionChange::Text);
    }

    async fn did_change_configuration(&self, params: lsp::DidChangeConfigurationParams) {
        let section = params.settings.get("trellis").cloned();
        match settings_of(section.unwrap_or(params.settings)) {
            Ok(settings) => {
                self.register_by(&settings);
                self.context.set(settings);
                self.stirs.notify(SessionChange::Other);
            }
            Err(error) => tracing::warn!("{}", error.message),
        }
    }

    async fn did_save(&self, params: lsp::DidSaveTextDocumentParams) {
        self.on_disk(paths([&params.text_document.uri].into_iter()));
    }

    async fn did_close(&self, params: lsp::DidCloseTextDocumentParams) {
        self.context.owner.closed(params.text_document.uri);
        self.stirs.notify(SessionChange::Text);
    }

    async fn did_change_watched_files(&self, params: lsp::DidChangeWatchedFilesParams) {
        self.on_disk(paths(params.changes.iter().map(|it| &it.uri)));
    }

    async fn did_change_workspace_folders(&self, params: lsp::DidChangeWorkspaceFoldersParams) {
        let folders = |them: &[lsp::WorkspaceFolder]| paths(them.iter().map(|it| &it.uri));
        let (added, removed) = (folders(&params.event.added), folders(&params.event.removed));
        self.context.owner.folders(added.clone(), removed);
        self.open_results(added);
        self.stirs.notify(SessionChange::Other);
    }

    async fn code_lens(&self, params: lsp::CodeLensParams) -> Result<Option<Vec<lsp::CodeLens>>> {
        if !self.context.settings().code_lenses {
            return Ok(None);
        }
        let (unit, uri) = (self.unit(), params.text_document.uri);
        if positions::path(&uri).is_some_and(|it| Language::of(&it).is_some()) {
            return self.outlined_lenses(uri).await;
        }
        let asking = self.context.owner.document(uri);
        // A document that is not open has no lenses: its file is not parsed for them.
        let Some(mut open) = asking.await.map_err(|_| Error::internal_error())? else {
            return Ok(None);
        };
        let words = self.test_words(open.root.clone()).await;
        let context = self.context.clone();
        let work = move || {
            if open.document.anchors.is_none() {
                let anchors = Anchors::of(&Outline::of(&open.document.text), &open.document.text);
                let (uri, version) = (open.document.uri.clone(), open.document.version);
                drop(context.owner.parsed(uri, version, anchors.clone()));
                open.document.anchors = Some(Arc::new(anchors));
            }
            let around = lenses::Around::of(&open, &context.grounds)?;
            Some(lenses::of(&open, &around, &context, words, unit))
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| Error::internal_error())
    }

    async fn hover(&self, params: lsp::HoverParams) -> Result<Option<lsp::Hover>> {
        let (at, context) = (params.text_document_position_params, self.context.clone());
        let markdown = self.known.get().is_some_and(|it| it.markdown);
        let how = hover::How { unit: self.unit(), markdown, symbols: self.answers_symbols() };
        self.ask(move |view| Ok(hover::of(view, &at, &context.grounds, how))).await
    }

    async fn code_action(
        &self,
        params: lsp::CodeActionParams,
    ) -> Result<Option<lsp::CodeActionResponse>> {
        let context = self.context.clone();
        let Some(known) = self.known.get().copied() else { return Ok(None) };
        self.ask(move |view| Ok(Some(actions::of(view, &params, &context.grounds, known)))).await
    }

    async fn execute_command(
        &self,
        params: lsp::ExecuteCommandParams,
    ) -> Result<Option<lsp::LSPAny>> {
        let (methods, results) = (self.methods.clone(), &self.context.results);
        let done = commands::execute(methods, results, &params.command, params.arguments).await?;
        if let Some((kind, message)) = done.message {
            let client = self.client.clone();
            let message = without_links(&message);
            tokio::spawn(async move { client.show_message(kind, message).await });
        }
        Ok(Some(done.result))
    }

    async fn symbol(
        &self,
        params: lsp::WorkspaceSymbolParams,
    ) -> Result<Option<lsp::WorkspaceSymbolResponse>> {
        if !self.answers_symbols() {
            return Ok(None);
        }
        let unit = self.unit();
        self.ask_written(move |view| Ok(queries::symbols(view, &params.query, unit))).await?;
        Ok(None)
    }

    async fn document_symbol(
        &self,
        params: lsp::DocumentSymbolParams,
    ) -> Result<Option<lsp::DocumentSymbolResponse>> {
        let (unit, uri) = (self.unit(), params.text_document.uri);
        let tree = self.known.get().is_some_and(|it| it.symbol_tree);
        let question = move |view: &Snapshot| {
            let symbols = queries::outline(view, &uri, unit);
            Ok(symbols.map(|it| match tree {
                true => lsp::DocumentSymbolResponse::Nested(it),
                false => lsp::DocumentSymbolResponse::Flat(to_lsp::flat(&uri, it)),
            }))
        };
        self.ask_written(question).await?;
        Ok(None)
    }

    async fn goto_definition(
        &self,
        params: lsp::GotoDefinitionParams,
    ) -> Result<Option<lsp::GotoDefinitionResponse>> {
        if !self.answers_symbols() {
            return Ok(None);
        }
        let (unit, at) = (self.unit(), params.text_document_position_params);
        let found = self.ask(move |view| Ok(queries::definition(view, &at, unit))).await?;
        Ok(Some(lsp::GotoDefinitionResponse::Array(found)))
    }

    async fn references(&self, params: lsp::ReferenceParams) -> Result<Option<Vec<lsp::Location>>> {
        if !self.answers_symbols() {
            return Ok(None);
        }
        let (unit, at) = (self.unit(), params.text_document_position);
        let declaration = params.context.include_declaration;
        self.ask_written(move |view| Ok(queries::references(view, &at, declaration, unit))).await?;
        Ok(None)
    }

    async fn prepare_rename(
        &self,
        at: lsp::TextDocumentPositionParams,
    ) -> Result<Option<lsp::PrepareRenameResponse>> {
        if !self.answers_symbols() {
            return Ok(None);
        }
        let unit = self.unit();
        self.ask(move |view| queries::prepare_rename(view, &at, unit)).await.map(Some)
    }

    async fn rename(&self, params: lsp::RenameParams) -> Result<Option<lsp::WorkspaceEdit>> {
        let known = self.known.get().copied();
        let Some(client) = known.filter(|_| self.answers_symbols()) else { return Ok(None) };
        let question = move |view: &Snapshot| {
            let lsp::RenameParams { text_document_position: at, new_name, .. } = &params;
            let renamed = renaming::rename(view, at, new_name, &client)?;
            Ok((reply::written(&renamed.edit(client.versioned_edits))?, renamed.warning()))
        };
        let (edit, warning) = self.ask(question).await?;
        reply::set(edit)?;
        if let Some(warning) = warning {
            let client = self.client.clone();
            let warning = without_links(&warning);
            tokio::spawn(async move { client.show_message(MessageType::WARNING, warning).await });
        }
        Ok(None)
    }
}

/// Breaks up Markdown links: editors turn `[words](command:…)` into links, and text of a repository
/// or model must stay text.
pub(super) fn without_links(text: &str) -> String {
    text.replace("](", "] (")
}
