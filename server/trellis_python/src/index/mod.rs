//! The Python files of a workspace as one value that answers questions.
//!
//! Whoever owns the workspace puts texts in and takes them out; a clone is a snapshot for readers and costs
//! a copy of a list of pointers. Nothing is parsed before a question needs it, and what was parsed stays
//! until its file changes.

mod calls;
mod import_cycles;
mod names;
mod query;
mod reach;
mod references;
mod relations;
mod runtime_imports;
mod words;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use crate::lines::Lines;
use crate::outline::Outline;
use crate::semantics::{Layout, Memory, Module};
pub use calls::{CallEdge, CallNode, Calls, calls};
pub use import_cycles::{CycleImport, ImportCycle};
use names::Names;
pub use query::{Located, Place};
pub use reach::Reach;
pub use references::{Reference, ReferenceKind, References, Rename, RenameRefused};
pub use relations::{Caller, Unused};
use runtime_imports::RuntimeImport;
pub use words::Words;

/// A file of an index. Numbers are given in the order of arrival and never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub(crate) u32);

/// Where texts come from that the index was not given.
pub trait TextSource: Send + Sync {
    /// The present text of a file, by its path in the index; `None` if it cannot be read.
    fn read(&self, path: &str) -> Option<Arc<str>>;
}

/// One file.
pub(crate) struct File {
    pub(crate) path: Arc<str>,
    words: OnceLock<Words>,
    text: OnceLock<Option<Arc<str>>>,
    outline: OnceLock<Arc<Outline>>,
    pub(crate) module: OnceLock<Box<Module>>,
    lines: OnceLock<Arc<[usize]>>,
    loads: OnceLock<Box<[RuntimeImport]>>,
}

/// A file in its place. Each put has a stamp of its own, so that what was made from another text of the
/// file can be told from what was made from this one.
#[derive(Clone)]
struct Slot {
    stamp: u64,
    file: Arc<File>,
}

/// The Python files below one root. Paths are relative to it, with `/`.
#[derive(Clone)]
pub struct Index {
    texts: Arc<dyn TextSource>,
    files: Arc<Vec<Option<Slot>>>,
    by_path: Arc<FxHashMap<Arc<str>, FileId>>,
    /// What the paths say, once somebody asked since they changed.
    layout: Arc<OnceLock<Layout>>,
    /// What questions about this state have found out.
    memories: Arc<Mutex<Vec<Memory>>>,
    stamps: Arc<AtomicU64>,
    /// Shared with all clones: it only says where to look, and what changed since is looked at anew.
    names: Arc<RwLock<Arc<Names>>>,
}

impl Index {
    /// An empty one.
    pub fn new(texts: Arc<dyn TextSource>) -> Index {
        Index {
            texts,
            files: Arc::default(),
            by_path: Arc::default(),
            layout: Arc::default(),
            memories: Arc::default(),
            stamps: Arc::default(),
            names: Arc::default(),
        }
    }

    /// Adds a file or replaces its text. A file whose words are known from before may come without
    /// text: it is read when a question needs it.
    pub fn put(&mut self, path: &str, words: Words, text: Option<Arc<str>>) -> FileId {
        let text = text.map_or_else(OnceLock::new, |text| OnceLock::from(Some(text)));
        let (outline, module, lines, loads) = Default::default();
        self.place(File {
            path: path.into(),
            words: words.into(),
            text,
            outline,
            module,
            lines,
            loads,
        })
    }

    /// The same for a text that changes often: its words are found when a question needs them.
    pub fn put_text(&mut self, path: &str, text: Arc<str>) -> FileId {
        let (words, outline, module, lines, loads) = Default::default();
        let text = OnceLock::from(Some(text));
        self.place(File { path: path.into(), words, text, outline, module, lines, loads })
    }

    /// The same for a file whose outline is known from before too. It has to be that of the text that
    /// will be read.
    pub fn put_known(&mut self, path: &str, words: Words, outline: Outline) -> FileId {
        let outline = OnceLock::from(Arc::new(outline));
        let (text, module, lines, loads) = Default::default();
        self.place(File {
            path: path.into(),
            words: words.into(),
            text,
            outline,
            module,
            lines,
            loads,
        })
    }

    fn place(&mut self, file: File) -> FileId {
        self.memories = Arc::default();
        let path = file.path.clone();
        let stamp = self.stamps.fetch_add(1, Ordering::Relaxed) + 1;
        let slot = Some(Slot { stamp, file: Arc::new(file) });
        let files = Arc::make_mut(&mut self.files);
        if let Some(id) = self.by_path.get(&path) {
            files[id.0 as usize] = slot;
            return *id;
        }
        let id = FileId(files.len() as u32);
        files.push(slot);
        self.layout = Arc::default();
        Arc::make_mut(&mut self.by_path).insert(path, id);
        id
    }

    /// Takes a file out; whether it was there.
    pub fn remove(&mut self, path: &str) -> bool {
        self.memories = Arc::default();
        let Some(id) = Arc::make_mut(&mut self.by_path).remove(path) else { return false };
        Arc::make_mut(&mut self.files)[id.0 as usize] = None;
        self.layout = Arc::default();
        true
    }

    /// The file at a path.
    pub fn file(&self, path: &str) -> Option<FileId> {
        self.by_path.get(path).copied()
    }

    /// All files, in the order of arrival.
    pub fn files(&self) -> impl Iterator<Item = FileId> + '_ {
        let number = |(id, slot): (usize, &Option<Slot>)| slot.as_ref().map(|_| FileId(id as u32));
        self.files.iter().enumerate().filter_map(number)
    }

    /// Its path; empty for a file that was taken out.
    pub fn path(&self, file: FileId) -> &str {
        self.get(file).map_or("", |it| &it.path)
    }

    /// Its text, read now if it was not given; `None` if it cannot be read.
    pub fn text(&self, file: FileId) -> Option<Arc<str>> {
        let file = self.get(file)?;
        file.text.get_or_init(|| self.texts.read(&file.path)).clone()
    }

    /// The lines of its text, as [`Index::text`] gave it; found once.
    pub fn lines<'t>(&self, file: FileId, text: &'t str) -> Lines<'t> {
        match self.get(file) {
            Some(it) => Lines::with(text, it.lines.get_or_init(|| Lines::starts(text)).clone()),
            None => Lines::of(text),
        }
    }

    /// What it defines.
    pub fn outline(&self, file: FileId) -> Arc<Outline> {
        let Some(it) = self.get(file) else { return Arc::default() };
        let read = || Arc::new(Outline::of(self.text(file).as_deref().unwrap_or_default()));
        it.outline.get_or_init(read).clone()
    }

    /// The words of its text.
    pub fn words(&self, file: FileId) -> &Words {
        static NONE: std::sync::LazyLock<Words> = std::sync::LazyLock::new(Words::default);
        let Some(it) = self.get(file) else { return &NONE };
        it.words.get_or_init(|| Words::of(self.text(file).as_deref().unwrap_or_default()))
    }

    pub(crate) fn borrow_memory(&self) -> Memory {
        self.memories.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    pub(crate) fn return_memory(&self, memory: Memory) {
        if memory.is_worth_keeping() {
            self.memories.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
        }
    }

    pub(crate) fn layout(&self) -> &Layout {
        self.layout.get_or_init(|| Layout::of(self.by_path.keys().map(|it| &**it)))
    }

    /// Parses what no question needed so far and makes the questions for names fast, while `go_on` says
    /// so. Meant for the background: nothing depends on it, and clones share what it found.
    pub fn prepare(&self, go_on: impl Fn() -> bool) {
        self.prepare_outlines(&AtomicUsize::new(0), &go_on);
        if go_on() {
            self.prepare_names();
        }
    }

    /// The first part of it, which several threads may do together: they share a count of files.
    pub fn prepare_outlines(&self, next: &AtomicUsize, go_on: impl Fn() -> bool) {
        while go_on() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= self.files.len() {
                return;
            }
            self.outline(FileId(number as u32));
        }
    }

    /// The second part, once all outlines are there.
    pub fn prepare_names(&self) {
        let names = Arc::new(Names::of(self));
        *self.names.write().unwrap_or_else(PoisonError::into_inner) = names;
    }

    /// Brings files into the shape that questions for references need, as far as some bytes of text go,
    /// while `go_on` says so: what is not done here is done when a question needs it.
    pub fn prepare_references(&self, bytes: usize, go_on: impl Fn() -> bool) {
        let mut left = bytes;
        for file in self.files() {
            let length = self.text(file).map_or(0, |it| it.len());
            if !go_on() || length > left {
                return;
            }
            left -= length;
            self.module(file);
        }
    }

    /// How many files [`Index::prepare`] has not seen as they are now.
    pub fn unprepared(&self) -> usize {
        let names = self.names();
        self.files().filter(|file| !names.covers(self, *file)).count()
    }

    fn names(&self) -> Arc<Names> {
        self.names.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn stamp(&self, file: FileId) -> Option<u64> {
        self.files.get(file.0 as usize)?.as_ref().map(|it| it.stamp)
    }

    pub(crate) fn get(&self, file: FileId) -> Option<&Arc<File>> {
        self.files.get(file.0 as usize)?.as_ref().map(|it| &it.file)
    }
}
