//! Indexes the Python files of a workspace and answers questions on them.
//!
//! The owner of the workspace adds and removes texts. A clone is a snapshot for readers and costs a
//! copy of a list of pointers. A file is parsed only when a question needs it, and the result stays
//! until the file changes.

mod calls;
mod documents;
mod import_cycles;
mod imported_files;
mod known;
mod names;
mod query;
mod reach;
mod references;
mod relations;
mod runtime_imports;
mod test_settings;
mod unseen_uses;
mod words;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use memchr::memmem;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::lines::Lines;
use crate::semantics::{Composing, Layout, Memory, Module, Writes};
pub use calls::{CallEdge, CallNode, Calls, InnerDefinition, calls, definition_graph};
pub(crate) use documents::DocumentKind;
pub use documents::is_document;
pub use import_cycles::{CycleImport, ImportCycle};
use known::{Earlier, Outlines};
pub use known::{KnownFile, OutlineSource};
pub use names::NameTable;
pub use query::{Located, Place};
pub use reach::Reach;
pub use references::{Reference, ReferenceKind, References, Rename, RenameRefused};
pub use relations::{Caller, Unused};
use runtime_imports::RuntimeImport;
pub use words::Words;
pub(crate) use words::{Word, WordSet};

/// Identifier of a file in an index. Numbers are assigned in order of arrival and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub(crate) u32);

/// Source of texts that were not added to the index.
pub trait TextSource: Send + Sync {
    /// Returns the current text of a file, by its path in the index; `None` if it cannot be read.
    fn read(&self, path: &str) -> Option<Arc<str>>;
}

/// One file and the data computed from it.
#[derive(Default)]
pub(crate) struct File {
    pub(crate) path: Arc<str>,
    /// Set for a file that is no Python code.
    document: Option<DocumentKind>,
    words: OnceLock<Words>,
    text: OnceLock<Option<Arc<str>>>,
    outlines: Outlines,
    earlier: Earlier,
    pub(crate) module: OnceLock<Box<Module>>,
    lines: OnceLock<Arc<[usize]>>,
    loads: OnceLock<Box<[RuntimeImport]>>,
    pub(crate) composing: OnceLock<Composing>,
    pub(crate) writes: OnceLock<Box<Writes>>,
    stars: OnceLock<bool>,
}

impl File {
    fn new(path: &str) -> File {
        File { path: path.into(), document: DocumentKind::of(path), ..File::default() }
    }
}

/// A file with the stamp of its last change. Each change has its own stamp, so results computed
/// from an older text of the file are recognizable.
#[derive(Clone)]
struct Slot {
    stamp: u64,
    file: Arc<File>,
}

/// The Python files below one root. Paths are relative to the root, with `/`.
#[derive(Clone)]
pub struct Index {
    texts: Arc<dyn TextSource>,
    files: Arc<Vec<Option<Slot>>>,
    by_path: Arc<FxHashMap<Arc<str>, FileId>>,
    /// Module layout derived from the paths; computed on demand and reset when the paths change.
    layout: Arc<OnceLock<Layout>>,
    /// Cached results of questions on this state.
    memories: Arc<Mutex<Vec<Memory>>>,
    stamps: Arc<AtomicU64>,
    /// Name table shared with all clones. It only lists candidates; files that changed since are
    /// searched directly.
    names: Arc<RwLock<Arc<NameTable>>>,
}

impl Index {
    /// Creates an empty index.
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

    /// Adds a file or replaces its text. If the words of the file are already known, the text may
    /// be left out; it is read when a question needs it.
    pub fn put(&mut self, path: &str, words: Words, text: Option<Arc<str>>) -> FileId {
        let text = text.map_or_else(OnceLock::new, |text| OnceLock::from(Some(text)));
        self.place(File { words: words.into(), text, ..File::new(path) })
    }

    /// Does the same as [`Index::put`], but the words are computed when a question needs them.
    pub fn put_text(&mut self, path: &str, text: Arc<str>) -> FileId {
        let replaced = self.file(path).and_then(|it| self.get(it));
        let earlier = replaced.map(|it| Earlier::of(it)).unwrap_or_default();
        self.place(File { text: OnceLock::from(Some(text)), earlier, ..File::new(path) })
    }

    /// Adds a document (see [`is_document`]), or replaces one that changed. Its text is read when a
    /// question needs it.
    pub fn put_document(&mut self, path: &str) -> FileId {
        self.place(File::new(path))
    }

    fn place(&mut self, file: File) -> FileId {
        self.forget_answers();
        let path = file.path.clone();
        let stamp = self.stamps.fetch_add(1, Ordering::Relaxed) + 1;
        let slot = Some(Slot { stamp, file: Arc::new(file) });
        let files = Arc::make_mut(&mut self.files);
        if let Some(id) = self.by_path.get(&path) {
            let old = std::mem::replace(&mut files[id.0 as usize], slot);
            drop_aside(old.filter(|it| it.file.module.get().is_some()));
            return *id;
        }
        let id = FileId(files.len() as u32);
        files.push(slot);
        self.layout = Arc::default();
        Arc::make_mut(&mut self.by_path).insert(path, id);
        id
    }

    /// Removes a file. Returns whether it was in the index.
    pub fn remove(&mut self, path: &str) -> bool {
        self.forget_answers();
        let Some(id) = Arc::make_mut(&mut self.by_path).remove(path) else { return false };
        Arc::make_mut(&mut self.files)[id.0 as usize] = None;
        self.layout = Arc::default();
        true
    }

    fn forget_answers(&mut self) {
        let old = std::mem::take(&mut self.memories);
        let is_empty = old.lock().unwrap_or_else(PoisonError::into_inner).is_empty();
        drop_aside((!is_empty).then_some(old));
    }

    /// Returns the file at a path.
    pub fn file(&self, path: &str) -> Option<FileId> {
        self.by_path.get(path).copied()
    }

    /// Returns the files with Python code in order of arrival.
    pub fn files(&self) -> impl Iterator<Item = FileId> + '_ {
        self.all_files().filter(|it| self.document(*it).is_none())
    }

    fn all_files(&self) -> impl Iterator<Item = FileId> + '_ {
        let number = |(id, slot): (usize, &Option<Slot>)| slot.as_ref().map(|_| FileId(id as u32));
        self.files.iter().enumerate().filter_map(number)
    }

    /// Returns the path of a file; empty for a removed file.
    pub fn path(&self, file: FileId) -> &str {
        self.get(file).map_or("", |it| &it.path)
    }

    /// Returns the text of a file, read now if it was not given; `None` if it cannot be read.
    pub fn text(&self, file: FileId) -> Option<Arc<str>> {
        let file = self.get(file)?;
        file.text.get_or_init(|| self.texts.read(&file.path)).clone()
    }

    /// Gives a file the text that its current state is known to have, so that it is not read again;
    /// returns false if the file has another text.
    pub fn keep_text(&self, file: FileId, text: &Arc<str>) -> bool {
        let kept = self.get(file).map(|it| it.text.get_or_init(|| Some(text.clone())));
        kept.is_some_and(|it| it.as_deref() == Some(&**text))
    }

    /// Returns the lines of a file's text, which must come from [`Index::text`]; computed once.
    pub fn lines<'t>(&self, file: FileId, text: &'t str) -> Lines<'t> {
        match self.get(file) {
            Some(it) => Lines::with(text, it.lines.get_or_init(|| Lines::starts(text)).clone()),
            None => Lines::of(text),
        }
    }

    /// Returns the words of a file's text.
    pub fn words(&self, file: FileId) -> &Words {
        static NONE: std::sync::LazyLock<Words> = std::sync::LazyLock::new(Words::default);
        let Some(it) = self.get(file) else { return &NONE };
        it.words.get_or_init(|| Words::of(self.text(file).as_deref().unwrap_or_default()))
    }

    /// Returns whether a text may have a star import; `false` is certain.
    pub(crate) fn may_have_star(&self, file: FileId) -> bool {
        let text = || self.text(file);
        let look = || text().is_some_and(|it| memmem::find(it.as_bytes(), b"import *").is_some());
        self.get(file).is_some_and(|it| *it.stars.get_or_init(look))
    }

    /// Computes the words of all files that have none yet, in parallel: a search needs those of
    /// every file.
    pub(crate) fn scan_words(&self) {
        let is_new = |file: &FileId| self.get(*file).is_some_and(|it| it.words.get().is_none());
        let new: Vec<FileId> = self.all_files().filter(is_new).collect();
        new.into_par_iter().for_each(|it| {
            self.words(it);
        });
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
        let is_code = |path: &&str| path.ends_with(".py") || path.ends_with(".pyi");
        let paths = self.by_path.keys().map(|it| &**it).filter(is_code);
        self.layout.get_or_init(|| Layout::of(paths))
    }

    /// Analyzes files for reference questions, up to `bytes` bytes of text, as long as `go_on`
    /// returns true. The other files are analyzed when a question needs them.
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

    fn stamp(&self, file: FileId) -> Option<u64> {
        self.files.get(file.0 as usize)?.as_ref().map(|it| it.stamp)
    }

    pub(crate) fn get(&self, file: FileId) -> Option<&Arc<File>> {
        self.files.get(file.0 as usize)?.as_ref().map(|it| &it.file)
    }
}

/// Drops what may be large on another thread: a keystroke should not wait for that.
fn drop_aside<T: Send + 'static>(old: Option<T>) {
    if let Some(old) = old {
        rayon::spawn(move || drop(old));
    }
}
