//! Outlines and names of files: computed when a question needs them, or known from an earlier run.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::names::NameTable;
use super::{File, FileId, Index, Words};
use crate::outline::Outline;

/// Source of outlines that were computed before.
pub trait OutlineSource: Send + Sync {
    /// Returns the outline of a file by its number in the source.
    fn outline(&self, number: usize) -> Outline;
}

/// A file whose words and outline are known.
pub struct KnownFile {
    /// Path in the index.
    pub path: Arc<str>,
    /// Words of its text.
    pub words: Words,
}

/// The outline of one file.
#[derive(Clone, Default)]
pub(super) struct Outlines {
    read: OnceLock<Arc<Outline>>,
    /// Source of the outline, with the number of the file in it.
    known: Option<(Arc<dyn OutlineSource>, usize)>,
}

impl Outlines {
    /// Returns whether the outline is available without parsing the text.
    pub(super) fn are_known(&self) -> bool {
        self.read.get().is_some() || self.known.is_some()
    }

    fn look(&self) -> Option<Arc<Outline>> {
        let from_source = || {
            let (source, number) = self.known.as_ref()?;
            Some(Arc::new(source.outline(*number)))
        };
        self.read.get().cloned().or_else(from_source)
    }
}

/// An older state of a file, from which its outline is computed.
#[derive(Default)]
pub(super) struct Earlier(Mutex<Option<(Arc<str>, Outlines)>>);

impl Earlier {
    /// Returns the state of a file that is being replaced: its own if its outline is available,
    /// else the one before.
    pub(super) fn of(file: &File) -> Earlier {
        let text = file.text.get().cloned().flatten().filter(|_| file.outlines.are_known());
        let own = text.map(|it| (it, file.outlines.clone()));
        Earlier(Mutex::new(own.or_else(|| file.earlier.lock().clone())))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(Arc<str>, Outlines)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the outline of a text; the older state is no longer needed then.
    fn outline(&self, text: &str) -> Outline {
        let earlier = self.lock().take();
        match earlier.and_then(|(before, outlines)| Some((before, outlines.look()?))) {
            Some((before, outline)) => Outline::after_edit(&before, &outline, text),
            None => Outline::of(text),
        }
    }
}

impl Index {
    /// Adds files to an empty index. The outlines must be those of the texts that will be read, in
    /// the order of the files; `names` is the table of their names ([`Index::name_table`]).
    pub fn put_known(
        &mut self,
        files: Vec<KnownFile>,
        outlines: &Arc<dyn OutlineSource>,
        names: NameTable,
    ) {
        let is_numbered = self.files.is_empty();
        for (number, it) in files.into_iter().enumerate() {
            let known = Some((outlines.clone(), number));
            let outlines = Outlines { known, ..Outlines::default() };
            self.place(File { words: it.words.into(), outlines, ..File::new(&it.path) });
        }
        if is_numbered {
            self.set_names(names.seen_by(self));
        }
    }

    /// Returns the outline of a file.
    pub fn outline(&self, file: FileId) -> Arc<Outline> {
        let it = self.get(file).filter(|it| it.document.is_none());
        let Some(it) = it else { return Arc::default() };
        let parse = || Arc::new(it.earlier.outline(self.text(file).as_deref().unwrap_or_default()));
        it.outlines.read.get_or_init(|| it.outlines.look().unwrap_or_else(parse)).clone()
    }

    /// Does the same as [`Index::outline`], but does not keep an outline that is known from an
    /// earlier run.
    pub fn passing_outline(&self, file: FileId) -> Arc<Outline> {
        let known = self.get(file).and_then(|it| it.outlines.look());
        known.unwrap_or_else(|| self.outline(file))
    }

    /// Parses the files that no question needed so far and builds the name table, as long as
    /// `go_on` returns true. Meant for the background: no result depends on it, and clones share
    /// its results.
    pub fn prepare(&self, go_on: impl Fn() -> bool) {
        self.prepare_outlines(&AtomicUsize::new(0), &go_on);
        if go_on() {
            self.prepare_names();
        }
    }

    /// Runs the first part of [`Index::prepare`]. Several threads can share the work through a
    /// common file counter.
    pub fn prepare_outlines(&self, next: &AtomicUsize, go_on: impl Fn() -> bool) {
        while go_on() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= self.files.len() {
                return;
            }
            let file = FileId(number as u32);
            if self.get(file).is_some_and(|it| !it.outlines.are_known()) {
                self.outline(file);
                self.words(file);
            }
        }
    }

    /// Runs the second part of [`Index::prepare`], after all outlines are computed.
    pub fn prepare_names(&self) {
        let files: Vec<FileId> = self.files().collect();
        self.set_names(NameTable::of(self, &files, |it| it.0).seen_by(self));
    }

    /// Returns the names of some files in the form that [`Index::put_known`] takes.
    pub fn name_table(&self, files: &[FileId]) -> NameTable {
        let numbers = files.iter().enumerate().map(|(number, it)| (*it, number as u32));
        let numbers = numbers.collect::<rustc_hash::FxHashMap<FileId, u32>>();
        NameTable::of(self, files, |it| numbers[&it])
    }

    /// Returns the number of files that [`Index::prepare`] has not processed in their current
    /// state.
    pub fn unprepared(&self) -> usize {
        let names = self.names();
        self.files().filter(|file| !names.covers(self, *file)).count()
    }

    pub(super) fn names(&self) -> Arc<NameTable> {
        self.names.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_names(&self, names: NameTable) {
        *self.names.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(names);
    }
}
