//! The Python sources below a folder as a [`trellis_python::Index`], as fresh as the disk and the
//! editor.
//!
//! One owner holds a [`Workspace`] and reports changes to it, in order; all others query a clone of
//! its index. The next query sees every change: files whose changes are not reported are checked
//! before each query.

mod background;
mod cache;
mod disk;
mod in_memory;
mod listing;
mod refresh;
mod rules;
mod stored_outline;
#[cfg(test)]
mod tests;
mod unsearched;
mod walk;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};
use trellis_python::Index;

use crate::error::ProjectError;
use disk::{Disk, Stamp};
pub use in_memory::of_texts;
pub use refresh::Refreshed;
pub use unsearched::{Unsearched, unsearched};
pub use walk::{changed_at, is_source, newest, paths, read_at};
use watch::Watch;

/// Origin of a workspace's files.
enum Scope {
    /// All files below the root.
    Folder,
    /// One file, which is the root.
    File,
    /// Only files that are open in the editor.
    Editor,
}

/// Known state of a file on the disk.
#[derive(Clone, Copy)]
struct IndexedFile {
    stamp: Stamp,
    hash: u128,
    /// True if an equal stamp proves an equal text.
    settled: bool,
}

/// The sources below a root.
pub struct Workspace {
    root: PathBuf,
    scope: Scope,
    index: Index,
    disk: Arc<Disk>,
    known: FxHashMap<Arc<str>, IndexedFile>,
    /// Documents with their state when they were last looked at; true if an equal stamp then proves
    /// an equal text.
    documents: FxHashMap<Arc<str>, (Stamp, bool)>,
    open: FxHashSet<String>,
    /// Problems of the walk, and problems by file.
    problems: (Vec<String>, FxHashMap<String, String>),
    /// Without a watch, every file is checked before each answer.
    watch: Option<Watch>,
    /// True if any file may have changed.
    unsure: bool,
    /// True if this process keeps serving the folder, and writes a cache for the next one.
    kept: bool,
    /// True once the background work began to prepare reference queries.
    warmed: bool,
    /// Number of files that changed since the cache was written.
    unsaved: usize,
    /// Flags of the background work: running, and requested to stop.
    working: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
}

/// An index to query, with the means to tell whether an answer is reliable.
#[derive(Clone)]
pub struct IndexSnapshot {
    pub index: Index,
    disk: Arc<Disk>,
    problems: Vec<String>,
}

impl IndexSnapshot {
    /// Returns what was left out and why, as sorted sentences.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Returns a number that grows when a text differed from the indexed version. If it grew during
    /// a query, the answer may be incomplete: refresh, and repeat the query.
    pub fn misses(&self) -> u64 {
        self.disk.misses()
    }
}

/// Maximum time that a query waits for a scan of the disk (W12).
pub const PATIENCE: Duration = Duration::from_secs(10);

impl Workspace {
    /// Reads a folder, or one file, for a few queries. Uses an existing cache but writes none: a
    /// query should leave no trace, and writing a cache would cost more than the query.
    pub fn open(path: &Path) -> Result<Workspace, ProjectError> {
        let mut workspace = Workspace::at(path)?;
        workspace.read();
        Ok(workspace)
    }

    /// Reads a folder to be served: its changes are watched, and its cache is written.
    pub fn serve(path: &Path) -> Result<Workspace, ProjectError> {
        let mut workspace = Workspace::at(path)?;
        workspace.kept = true;
        workspace.watch = Watch::new().map_err(|error| no_watch(path, &error)).ok();
        workspace.read();
        Ok(workspace)
    }

    fn at(path: &Path) -> Result<Workspace, ProjectError> {
        let missing = |source| ProjectError::Sources { path: path.to_owned(), source };
        let is_file = std::fs::metadata(path).map_err(missing)?.is_file();
        Ok(Workspace::new(path, if is_file { Scope::File } else { Scope::Folder }))
    }

    fn read(&mut self) {
        let cached = cache::is_there(&self.root);
        if matches!(self.scope, Scope::Folder) && !cached {
            let (listing, read) = self.list_and_read();
            self.take_in_read(read);
            self.compare(listing);
            return;
        }
        let store = || match self.scope {
            Scope::Folder => cache::load(&self.root),
            _ => None,
        };
        let (cached, listing) = rayon::join(store, || self.list(None));
        cached.into_iter().for_each(|it| self.put_cached(it));
        self.compare(listing.unwrap_or_default());
    }

    fn put_cached(&mut self, cached: cache::Cached) {
        for (file, known) in cached.files.iter().zip(cached.known) {
            self.disk.expect(&file.path, known.stamp);
            self.known.insert(file.path.clone(), known);
        }
        self.index.put_known(cached.files, &cached.outlines, cached.names);
    }

    /// Returns a workspace of open editor files only, such as a file outside of all folders.
    pub fn of_editor() -> Workspace {
        Workspace::new(Path::new(""), Scope::Editor)
    }

    fn new(root: &Path, scope: Scope) -> Workspace {
        let base = match scope {
            Scope::File => root.parent().unwrap_or(root),
            _ => root,
        };
        let disk = Arc::new(Disk::new(base));
        Workspace {
            root: root.to_owned(),
            scope,
            index: Index::new(disk.clone()),
            disk,
            known: FxHashMap::default(),
            documents: FxHashMap::default(),
            open: FxHashSet::default(),
            problems: Default::default(),
            watch: None,
            unsure: false,
            kept: false,
            warmed: false,
            unsaved: 0,
            working: Arc::default(),
            stop: Arc::default(),
        }
    }

    /// Returns the folder as given by the caller.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of a file by its name in the index; for an empty name, the folder of all
    /// names.
    pub fn file(&self, name: &str) -> PathBuf {
        let root = self.disk.root();
        let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
        root.join(name)
    }

    /// Returns a snapshot of the sources as known now.
    pub fn snapshot(&self) -> IndexSnapshot {
        IndexSnapshot {
            index: self.index.clone(),
            disk: self.disk.clone(),
            problems: self.problems(),
        }
    }

    /// Returns what was left out and why, as sorted sentences.
    pub fn problems(&self) -> Vec<String> {
        let (of_walk, of_files) = &self.problems;
        let mut all: Vec<String> = of_walk.iter().chain(of_files.values()).cloned().collect();
        all.sort();
        all
    }

    /// Runs a query, and repeats it whenever the disk turns out to be newer than the index.
    pub fn ask<T>(&mut self, question: impl Fn(&Index) -> T) -> T {
        loop {
            let snapshot = self.snapshot();
            let before = snapshot.misses();
            let answer = question(&snapshot.index);
            if snapshot.misses() == before {
                return answer;
            }
            self.refresh(PATIENCE);
        }
    }

    /// Returns whether a file is one of the sources, or would be if it were written.
    pub fn holds(&self, path: &Path) -> bool {
        let Some(name) = self.name_of(path) else { return false };
        self.index.file(&name).is_some() || self.would_list(path)
    }

    fn would_list(&self, path: &Path) -> bool {
        let there = path.ancestors().take_while(|it| it.starts_with(&self.root));
        let new = |it: &&Path| !it.exists();
        let names_fit = |it: &Path| it.file_name().is_some_and(|name| !walk::is_left_out(name));
        let is_listed = walk::is_source(path) || walk::is_document(path);
        let fits = matches!(self.scope, Scope::Folder) && is_listed;
        let first = there.clone().find(|it| it.exists());
        fits && there.take_while(new).all(names_fit)
            && first.is_some_and(|it| listing::lists(&self.root, it))
    }

    /// Returns a file's name in the index; `None` if it is not below the root.
    pub fn name_of(&self, path: &Path) -> Option<String> {
        match self.scope {
            Scope::Editor => path.to_str().map(str::to_owned),
            _ => walk::relative(&self.root, path),
        }
    }

    /// Sets the text of a file open in the editor; it overrides the disk until the file is closed.
    pub fn set_open(&mut self, name: &str, text: Arc<str>) {
        self.disk.forget(name);
        if !self.open.insert(name.to_owned()) || !self.is_indexed(name, &text) {
            self.index.put_text(name, text);
        }
    }

    /// Returns whether the index has this text, and need not forget what it knows of the file.
    fn is_indexed(&self, name: &str, text: &Arc<str>) -> bool {
        let is_equal = |it: &IndexedFile| it.hash == disk::hash(text);
        self.known.get(name).is_some_and(is_equal)
            && self.index.file(name).is_some_and(|it| self.index.keep_text(it, text))
    }

    /// Closes a file of the editor: the disk counts again.
    pub fn close(&mut self, name: &str) {
        if !self.open.remove(name) {
            return;
        }
        self.expect_open_text(name);
        self.disk_changed(&[name.to_owned()]);
        if !self.known.contains_key(name) && !self.documents.contains_key(name) {
            self.index.remove(name);
        }
    }

    /// Records the text that was open as the known one, so that a file with the same text on the
    /// disk counts as unchanged.
    fn expect_open_text(&mut self, name: &str) {
        let text = self.index.file(name).and_then(|it| self.index.text(it));
        let (Some(known), Some(text)) = (self.known.get_mut(name), text) else { return };
        let hash = disk::hash(&text);
        known.settled &= known.hash == hash;
        known.hash = hash;
    }
}

fn no_watch(path: &Path, error: &std::io::Error) {
    let shown = path.display();
    let rest = "Trellis checks every file before each answer";
    tracing::warn!("{shown}: changes are not reported ({error}); {rest}");
}
