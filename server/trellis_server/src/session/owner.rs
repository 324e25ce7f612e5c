//! Owner of the session state: folders, open documents and their indexes.
//!
//! A thread processes messages in sending order, which is the order of the client's stream. Sending
//! never waits. A query gets a snapshot with all earlier messages applied and no later one.

use std::collections::BTreeMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use rustc_hash::FxHashMap;
use tokio::sync::oneshot;
use tower_lsp::ls_types::{TextDocumentContentChangeEvent, TextDocumentItem, Uri};

use super::definition_anchors::Anchors;
use super::documents::{Document, Open};
use super::outlined_documents::OutlinedDocument;
use super::positions;
use super::snapshot::{FolderKind, Snapshot, WorkspaceFolder};
use trellis_project::sources::{PATIENCE, Refreshed, Workspace};
use trellis_python::Unit;
use trellis_workflows::fault::{Exit, Fault};

/// Message to the owner.
enum Message {
    Folders { added: Vec<PathBuf>, removed: Vec<PathBuf> },
    Opened(TextDocumentItem),
    Changed { uri: Uri, version: i32, changes: Vec<TextDocumentContentChangeEvent>, unit: Unit },
    Closed(Uri),
    OnDisk(Vec<PathBuf>),
    View(oneshot::Sender<Snapshot>),
    Document(Uri, oneshot::Sender<Option<Open>>),
    Outlined(Uri, oneshot::Sender<Option<OutlinedDocument>>),
    Parsed { uri: Uri, version: i32, anchors: Anchors, changed: oneshot::Sender<bool> },
    Marked { uri: Uri, version: i32, lines: Vec<(u64, Option<u32>)> },
    Roots(oneshot::Sender<Vec<PathBuf>>),
    Stop(oneshot::Sender<()>),
}

/// Handle for sending messages to the owner.
#[derive(Clone)]
pub struct SessionHandle(Sender<Message>);

/// Starts the owner. If it panics, the process exits: the editor then starts a new server, while a
/// server without state could only give wrong answers.
pub fn start() -> io::Result<SessionHandle> {
    let (sender, receiver) = channel();
    let run = move || {
        if catch_unwind(AssertUnwindSafe(|| State::default().run(&receiver))).is_err() {
            tracing::error!("the state of the workspace is lost; exiting");
            std::process::exit(Exit::Internal as i32);
        }
    };
    std::thread::Builder::new()
        .name("owner".to_owned())
        .stack_size(trellis_os::STACK_BYTES)
        .spawn(run)?;
    Ok(SessionHandle(sender))
}

impl SessionHandle {
    pub fn folders(&self, added: Vec<PathBuf>, removed: Vec<PathBuf>) {
        self.send(Message::Folders { added, removed });
    }

    pub fn opened(&self, document: TextDocumentItem) {
        self.send(Message::Opened(document));
    }

    pub fn changed(
        &self,
        uri: Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        unit: Unit,
    ) {
        self.send(Message::Changed { uri, version, changes, unit });
    }

    pub fn closed(&self, uri: Uri) {
        self.send(Message::Closed(uri));
    }

    pub fn on_disk(&self, paths: Vec<PathBuf>) {
        self.send(Message::OnDisk(paths));
    }

    /// Requests a snapshot of the current state. The request is sent by the call, not by the first
    /// `.await`.
    pub fn view(&self) -> oneshot::Receiver<Snapshot> {
        let (sender, receiver) = oneshot::channel();
        self.send(Message::View(sender));
        receiver
    }

    /// Requests one open document without reading the disk; `None` if it is not open. The request
    /// is sent by the call.
    pub fn document(&self, uri: Uri) -> oneshot::Receiver<Option<Open>> {
        let (sender, receiver) = oneshot::channel();
        self.send(Message::Document(uri, sender));
        receiver
    }

    /// Requests one open document of JavaScript, TypeScript or Go; `None` if it is not open. The
    /// request is sent by the call.
    pub fn outlined(&self, uri: Uri) -> oneshot::Receiver<Option<OutlinedDocument>> {
        let (sender, receiver) = oneshot::channel();
        self.send(Message::Outlined(uri, sender));
        receiver
    }

    /// Stores the definitions of a document's version, unless it has another version by now; the
    /// receiver gets whether anything changed.
    pub fn parsed(&self, uri: Uri, version: i32, anchors: Anchors) -> oneshot::Receiver<bool> {
        let (changed, receiver) = oneshot::channel();
        self.send(Message::Parsed { uri, version, anchors, changed });
        receiver
    }

    /// Sets the marked lines of a document's version, by id; ignored if the document has another
    /// version.
    pub fn marked(&self, uri: Uri, version: i32, lines: Vec<(u64, Option<u32>)>) {
        self.send(Message::Marked { uri, version, lines });
    }

    /// Requests the folders in the order in which they were added.
    pub fn roots(&self) -> oneshot::Receiver<Vec<PathBuf>> {
        let (sender, receiver) = oneshot::channel();
        self.send(Message::Roots(sender));
        receiver
    }

    /// Stops the owner after all earlier messages; work longer than [`crate::LAST_WORK`] ends with
    /// the process.
    pub async fn stop(&self) {
        let (sender, receiver) = oneshot::channel();
        self.send(Message::Stop(sender));
        // An error means that the owner has ended already, or that time ran out.
        let _ = tokio::time::timeout(crate::LAST_WORK, receiver).await;
    }

    /// Sends a message; only a stopped owner does not receive, and then no caller needs an answer.
    fn send(&self, message: Message) {
        let _ = self.0.send(message);
    }
}

#[derive(Default)]
struct State {
    /// Workspace folders by number, in the order of arrival.
    parts: BTreeMap<u64, (FolderKind, Workspace)>,
    next: u64,
    documents: Arc<FxHashMap<String, Document>>,
    outlined: FxHashMap<String, OutlinedDocument>,
}

impl State {
    fn run(mut self, messages: &Receiver<Message>) {
        for message in messages {
            match message {
                Message::Folders { added, removed } => self.folders(&added, &removed),
                Message::Opened(document) => self.opened(document),
                Message::Changed { uri, version, changes, unit } => {
                    self.changed(&uri, version, changes, unit);
                }
                Message::Closed(uri) => self.closed(&uri),
                Message::OnDisk(paths) => self.on_disk(&paths),
                Message::View(to) => self.answer(to),
                // The receiver may be gone, here and below.
                Message::Document(uri, to) => drop(to.send(self.document(&uri))),
                Message::Outlined(uri, to) => {
                    drop(to.send(self.outlined.get(uri.as_str()).cloned()));
                }
                Message::Parsed { uri, version, anchors, changed } => {
                    let document = self.version(&uri, version);
                    let _ = changed.send(document.is_some_and(|it| it.parsed(anchors)));
                }
                Message::Marked { uri, version, lines } => {
                    if let Some(document) = self.version(&uri, version) {
                        document.marks.set(lines);
                    }
                }
                Message::Roots(to) => drop(to.send(self.roots())),
                Message::Stop(done) => {
                    self.parts.values_mut().for_each(|(_, it)| it.finish());
                    let _ = done.send(());
                    return;
                }
            }
        }
    }

    fn folders(&mut self, added: &[PathBuf], removed: &[PathBuf]) {
        self.parts
            .retain(|_, (base, _)| !matches!(base, FolderKind::Folder(it) if removed.contains(it)));
        for path in added {
            let same =
                |(base, _): &(FolderKind, _)| matches!(base, FolderKind::Folder(it) if it == path);
            if self.parts.values().any(same) {
                continue;
            }
            match Workspace::serve(path) {
                Ok(workspace) => {
                    workspace.problems().iter().for_each(|it| tracing::warn!("{it}"));
                    self.add(FolderKind::Folder(path.clone()), workspace);
                }
                Err(error) => tracing::warn!("{}", Fault::from(error)),
            }
        }
        self.settle_documents();
    }

    fn roots(&self) -> Vec<PathBuf> {
        let folder = |(base, _): &(FolderKind, _)| match base {
            FolderKind::Folder(path) => Some(path.clone()),
            FolderKind::Alone(_) => None,
        };
        self.parts.values().filter_map(folder).collect()
    }

    fn document(&self, uri: &Uri) -> Option<Open> {
        let document = self.documents.get(uri.as_str())?.clone();
        let root = self.parts.get(&document.part).and_then(|(base, _)| match base {
            FolderKind::Folder(path) => Some(path.clone()),
            FolderKind::Alone(_) => None,
        });
        Some(Open { document, root })
    }

    /// Returns a document if it still has this version.
    fn version(&mut self, uri: &Uri, version: i32) -> Option<&mut Document> {
        if self.documents.get(uri.as_str())?.version != version {
            return None;
        }
        Arc::make_mut(&mut self.documents).get_mut(uri.as_str())
    }

    fn add(&mut self, base: FolderKind, workspace: Workspace) -> u64 {
        self.next += 1;
        self.parts.insert(self.next, (base, workspace));
        self.next
    }

    /// Reassigns open documents after folders were added or removed.
    fn settle_documents(&mut self) {
        self.parts.retain(|_, (base, _)| matches!(base, FolderKind::Folder(_)));
        let documents: Vec<Document> = self.documents.values().cloned().collect();
        documents.into_iter().for_each(|it| self.place(it.uri, it.version, it.text));
    }

    fn opened(&mut self, item: TextDocumentItem) {
        if let Some(outlined) = OutlinedDocument::of(&item) {
            self.outlined.insert(item.uri.as_str().to_owned(), outlined);
            return;
        }
        self.place(item.uri, item.version, item.text.into());
    }

    fn place(&mut self, uri: Uri, version: i32, text: Arc<str>) {
        let (part, name) = self.home(&uri);
        if let Some((_, workspace)) = self.parts.get_mut(&part) {
            workspace.set_open(&name, text.clone());
        }
        let key = uri.as_str().to_owned();
        let (anchors, marks) = Default::default();
        let document = Document { uri, version, text, part, name, anchors, marks };
        Arc::make_mut(&mut self.documents).insert(key, document);
    }

    /// Returns the innermost folder that holds a file; else one for the file alone.
    fn home(&mut self, uri: &Uri) -> (u64, String) {
        if let Some(open) =
            self.documents.get(uri.as_str()).filter(|it| self.parts.contains_key(&it.part))
        {
            return (open.part, open.name.clone());
        }
        let path = positions::path(uri);
        let held = path.as_ref().and_then(|path| {
            let holds = |(_, (base, it)): &(&u64, &(FolderKind, Workspace))| {
                matches!(base, FolderKind::Folder(_)) && it.holds(path)
            };
            let depth =
                |(_, (_, it)): &(&u64, &(FolderKind, Workspace))| it.root().as_os_str().len();
            let (number, (_, workspace)) = self.parts.iter().filter(holds).max_by_key(depth)?;
            Some((*number, workspace.name_of(path)?))
        });
        held.unwrap_or_else(|| {
            let named = path.as_ref().and_then(|it| it.file_name()?.to_str());
            let name = named.unwrap_or("untitled.py").to_owned();
            (self.add(FolderKind::Alone(uri.clone()), Workspace::of_editor()), name)
        })
    }

    fn changed(
        &mut self,
        uri: &Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        unit: Unit,
    ) {
        if let Some(outlined) = self.outlined.get_mut(uri.as_str()) {
            return outlined.apply(changes, unit);
        }
        let Some(document) = Arc::make_mut(&mut self.documents).get_mut(uri.as_str()) else {
            return tracing::warn!("{} changed but is not open", uri.as_str());
        };
        document.apply(changes, unit);
        document.version = version;
        if let Some((_, workspace)) = self.parts.get_mut(&document.part) {
            workspace.set_open(&document.name, document.text.clone());
        }
    }

    fn closed(&mut self, uri: &Uri) {
        if self.outlined.remove(uri.as_str()).is_some() {
            return;
        }
        let Some(document) = Arc::make_mut(&mut self.documents).remove(uri.as_str()) else {
            return;
        };
        match self.parts.get_mut(&document.part) {
            Some((FolderKind::Folder(_), workspace)) => workspace.close(&document.name),
            _ => drop(self.parts.remove(&document.part)),
        }
    }

    fn on_disk(&mut self, paths: &[PathBuf]) {
        for (base, workspace) in self.parts.values_mut() {
            if matches!(base, FolderKind::Folder(_)) {
                let names: Vec<String> =
                    paths.iter().filter_map(|it| workspace.name_of(it)).collect();
                workspace.disk_changed(&names);
            }
        }
    }

    fn answer(&mut self, to: oneshot::Sender<Snapshot>) {
        if to.is_closed() {
            return;
        }
        for (_, workspace) in self.parts.values_mut() {
            if workspace.refresh(PATIENCE) == Refreshed::TimedOut {
                let root = workspace.root().display();
                tracing::warn!(
                    "{root}: checking the disk takes longer than {PATIENCE:?}; the \
                     answer may be out of date"
                );
            }
        }
        let part = |(number, (base, workspace)): (&u64, &(FolderKind, Workspace))| {
            WorkspaceFolder { number: *number, base: base.clone(), snapshot: workspace.snapshot() }
        };
        let parts = self.parts.iter().map(part).collect();
        // The caller may have cancelled meanwhile.
        let outlined = self.outlined.values().map(OutlinedDocument::path_and_text).collect();
        let _ = to.send(Snapshot { parts, documents: self.documents.clone(), outlined });
        self.parts.values_mut().for_each(|(_, it)| it.work_in_background());
    }
}
