//! Keeps a workspace as fresh as the disk.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::disk::{self, Contents, Stamp};
use super::listing::{self, Listing};
use super::walk;
use super::watch::Changes;
use super::{IndexedFile, Scope, Workspace};

/// Result of a refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refreshed {
    /// Nothing changed.
    Unchanged,
    /// Number of files added, removed or changed.
    Changed(usize),
    /// Time ran out: the index is unchanged, and the next refresh scans again.
    TimedOut,
}

/// Maximum unknown files handled one by one per report; for more, one scan of the folder is
/// cheaper.
const UNKNOWN_AT_MOST: usize = 32;

/// A source that was read, or failed to be.
pub(super) struct Read {
    name: String,
    stamp: Stamp,
    /// State before the reading.
    settled: bool,
    contents: io::Result<Contents>,
}

fn read_one(root: &Path, name: String, stamp: Stamp) -> Read {
    let settled = stamp.is_settled();
    let contents = disk::read(&root.join(&name));
    Read { name, stamp, settled, contents }
}

impl Workspace {
    /// Updates the index from the disk. Cheap if nothing changed and the kernel reports changes;
    /// otherwise every file is checked, and read if it changed.
    pub fn refresh(&mut self, patience: Duration) -> Refreshed {
        let missed = self.disk.take_changed();
        // Reads of these files failed, so they are put again even if they look unchanged.
        let unsettle = |it: &mut IndexedFile| (it.hash, it.settled) = (!it.hash, false);
        missed.iter().for_each(|name| {
            self.known.get_mut(&**name).map(unsettle);
        });
        let found = match self.watch.as_ref().map(|it| it.drain()) {
            Some(Changes::Files(paths)) => {
                let names = paths.iter().filter_map(|it| self.name_of(it));
                self.disk_changed(&names.chain(missed).collect::<Vec<_>>())
            }
            Some(Changes::Anything) | None => {
                self.unsure = true;
                0
            }
        };
        let swept = if self.unsure { self.sweep(Some(Instant::now() + patience)) } else { Some(0) };
        match swept.map(|it| it + found) {
            Some(0) => Refreshed::Unchanged,
            Some(count) => Refreshed::Changed(count),
            None => Refreshed::TimedOut,
        }
    }

    /// Updates files that were added, removed or written, by name; returns the number of changed
    /// texts. With many unknown files, or changed ignore rules, the next refresh scans everything
    /// instead.
    pub fn disk_changed(&mut self, names: &[String]) -> usize {
        if !matches!(self.scope, Scope::Folder) {
            self.unsure |= matches!(self.scope, Scope::File);
            return 0;
        }
        let (documents, names): (Vec<String>, Vec<String>) =
            names.iter().cloned().partition(|it| walk::is_document(Path::new(it)));
        documents.iter().for_each(|it| self.document_changed(it));
        let unknown = names.iter().filter(|it| !self.known.contains_key(it.as_str())).count();
        let rules = names.iter().any(|it| it.ends_with(".gitignore") || it.ends_with(".ignore"));
        if unknown > UNKNOWN_AT_MOST || rules {
            self.unsure = true;
            return 0;
        }
        let (gone, there): (Vec<_>, Vec<_>) =
            names.iter().map(|it| (it, self.look(it))).partition(|(_, stamp)| stamp.is_none());
        let removed = gone.iter().filter(|(name, _)| self.remove(name)).count();
        let listed = |(name, stamp): (&String, Option<Stamp>)| {
            let wanted = self.known.contains_key(&**name) || self.would_list(&self.root.join(name));
            Some((name.clone(), stamp.filter(|_| wanted)?))
        };
        let files = there.into_iter().filter_map(listed).collect();
        removed + self.take_in(files)
    }

    /// Updates a document; its text is read when a query needs it.
    fn document_changed(&mut self, name: &str) {
        match self.look(name) {
            Some(stamp)
                if self.documents.contains_key(name) || self.would_list(&self.root.join(name)) =>
            {
                self.put_document(name, stamp);
            }
            Some(_) => {}
            None => self.remove_document(name),
        }
    }

    fn put_document(&mut self, name: &str, stamp: Stamp) {
        let name: Arc<str> = name.into();
        if !self.open.contains(&*name) {
            self.disk.expect(&name, stamp);
            self.index.put_document(&name);
        }
        self.documents.insert(name, (stamp, stamp.is_settled()));
    }

    fn remove_document(&mut self, name: &str) {
        if self.documents.remove(name).is_some() && !self.open.contains(name) {
            self.disk.forget(name);
            self.index.remove(name);
        }
    }

    /// Applies a complete list of documents.
    fn compare_documents(&mut self, listed: Vec<(String, Stamp)>) {
        let names: FxHashSet<&str> = listed.iter().map(|(name, _)| &**name).collect();
        let known = self.documents.keys().filter(|it| !names.contains(&***it));
        for name in known.cloned().collect::<Vec<_>>() {
            self.remove_document(&name);
        }
        for (name, stamp) in listed {
            if self.documents.get(&*name) != Some(&(stamp, true)) {
                self.put_document(&name, stamp);
            }
        }
    }

    fn look(&self, name: &str) -> Option<Stamp> {
        let metadata = std::fs::symlink_metadata(self.root.join(name)).ok();
        metadata.filter(|it| it.is_file()).map(|it| Stamp::of(&it))
    }

    /// Compares every file with its known state; returns the number of changes, or `None` if time
    /// ran out.
    pub(super) fn sweep(&mut self, deadline: Option<Instant>) -> Option<usize> {
        if matches!(self.scope, Scope::Editor) {
            return Some(0);
        }
        let listing = self.list(deadline)?;
        Some(self.compare(listing))
    }

    /// Lists every source below the root, and watches each folder.
    pub(super) fn list(&self, deadline: Option<Instant>) -> Option<Listing> {
        listing::list(&self.root, deadline, &|folder| self.watched(folder), &|_, _| {})
    }

    fn watched(&self, folder: &Path) {
        if let Some(watch) = &self.watch {
            watch.add(folder);
        }
    }

    /// Lists and reads the sources of a workspace without known files; reading runs in parallel
    /// with the walk.
    pub(super) fn list_and_read(&self) -> (Listing, Vec<Read>) {
        let read = Mutex::new(Vec::new());
        let root = self.disk.root();
        let listing = rayon::in_place_scope(|scope| {
            let read = &read;
            let file = |name: &str, stamp: Stamp| {
                let name = name.to_owned();
                scope.spawn(move |_| {
                    let one = read_one(root, name, stamp);
                    read.lock().unwrap_or_else(PoisonError::into_inner).push(one);
                });
            };
            listing::list(&self.root, None, &|folder| self.watched(folder), &file)
        });
        let read = read.into_inner().unwrap_or_else(PoisonError::into_inner);
        (listing.unwrap_or_default(), read)
    }

    /// Applies a complete listing; returns the number of changes.
    pub(super) fn compare(&mut self, listing: Listing) -> usize {
        self.unsure = false;
        self.give_up_broken_watch();
        self.problems.0 = listing.problems;
        self.compare_documents(listing.documents);
        let listed: FxHashSet<&str> = listing.files.iter().map(|(name, _)| &**name).collect();
        let is_gone = |name: &&Arc<str>| !listed.contains(&***name);
        let gone: Vec<Arc<str>> = self.known.keys().filter(is_gone).cloned().collect();
        self.problems.1.retain(|name, _| listed.contains(&**name));
        let removed = gone.iter().filter(|it| self.remove(it)).count();
        removed + self.take_in(listing.files)
    }

    fn give_up_broken_watch(&mut self) {
        let Some(error) = self.watch.as_ref().and_then(|it| it.failed()) else { return };
        self.watch = None;
        tracing::warn!(
            "{}: changes are not reported ({error}); Trellis checks every file before \
             each answer. Raising fs.inotify.max_user_watches helps",
            self.root.display()
        );
    }

    /// Reads files whose known state is outdated; returns the number of changed texts.
    fn take_in(&mut self, files: Vec<(String, Stamp)>) -> usize {
        let is_known = |(name, stamp): &(String, Stamp)| {
            let settled = |it: &IndexedFile| it.stamp == *stamp && it.settled;
            self.open.contains(name) || self.known.get(&**name).is_some_and(settled)
        };
        let new: Vec<_> = files.into_iter().filter(|it| !is_known(it)).collect();
        let root = self.disk.root();
        let read = new.into_par_iter().map(|(name, stamp)| read_one(root, name, stamp)).collect();
        self.take_in_read(read)
    }

    /// Applies files that were read; returns the number of changed texts.
    pub(super) fn take_in_read(&mut self, read: Vec<Read>) -> usize {
        let count = read
            .into_iter()
            .filter_map(|it| match it.contents {
                Ok(contents) => {
                    self.put(it.name.into(), it.stamp, it.settled, contents).then_some(())
                }
                Err(error) => self.unreadable(it.name, &error).then_some(()),
            })
            .count();
        self.unsaved += count;
        count
    }

    /// Applies one file that was read; returns whether its text changed.
    fn put(&mut self, name: Arc<str>, stamp: Stamp, settled: bool, contents: Contents) -> bool {
        self.problems.1.remove(&*name);
        let known = IndexedFile { stamp, hash: contents.hash, settled };
        let before = self.known.insert(name.clone(), known);
        if let Some(before) = before.filter(|it| it.hash == contents.hash) {
            self.disk.renew(&name, stamp);
            // Worth saving: the next start then need not read the file.
            self.unsaved += usize::from(settled && !before.settled);
            return false;
        }
        self.disk.forget(&name);
        self.index.put_text(&name, contents.text);
        true
    }

    /// Removes an unreadable file, and records the reason if it still exists; returns whether it
    /// was indexed.
    fn unreadable(&mut self, name: String, error: &io::Error) -> bool {
        let removed = self.remove(&name);
        if error.kind() != io::ErrorKind::NotFound {
            let shown = self.disk.root().join(&name);
            let why = format!("{}: {error}: skipped", shown.display());
            self.problems.1.insert(name, why);
        }
        removed
    }

    /// Removes a file unless it is open; returns whether it was removed.
    fn remove(&mut self, name: &str) -> bool {
        self.problems.1.remove(name);
        self.disk.forget(name);
        let removed = self.known.remove(name).is_some()
            && !self.open.contains(name)
            && self.index.remove(name);
        self.unsaved += usize::from(removed);
        removed
    }
}
