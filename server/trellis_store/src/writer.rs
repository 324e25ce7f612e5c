//! Buffer between accepted text and the disk: batches, detection of user edits, atomic replacement.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::journal::{Event, Journal};
use crate::{disk, fault_point};

/// Result of a flush.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Flushed {
    /// Paths written or removed.
    pub changed: Vec<String>,
}

/// Returns the syntax error of a Python text, if there is one.
pub type Check = fn(&str) -> Result<(), String>;

/// Writes files, and remembers the hashes of its writes to recognize foreign text.
#[derive(Debug)]
pub struct Writer {
    root: PathBuf,
    /// Checks the text of a Python file.
    check: Check,
    /// Every hash ever written to a path.
    written: BTreeMap<String, BTreeSet<String>>,
    /// Hash of the text that each path should hold now.
    current: BTreeMap<String, String>,
}

impl Writer {
    pub fn new(root: &Path, written: BTreeMap<String, BTreeSet<String>>, check: Check) -> Writer {
        Writer { root: root.to_owned(), check, written, current: BTreeMap::new() }
    }

    /// Returns the paths whose text on the disk was not written by Trellis.
    pub fn foreign<'a>(&self, paths: impl IntoIterator<Item = &'a String>) -> Vec<String> {
        paths.into_iter().filter(|path| self.is_foreign(path)).cloned().collect()
    }

    fn is_foreign(&self, path: &str) -> bool {
        match trellis_os::files::read(self.root.join(path)) {
            Ok(bytes) => {
                let hash = disk::hash(&bytes);
                !self.written.get(path).is_some_and(|known| known.contains(&hash))
            }
            Err(_) => false,
        }
    }

    /// Returns all paths ever written.
    pub fn known_paths(&self) -> Vec<String> {
        self.written.keys().cloned().collect()
    }

    /// Treats the text on the disk as written by Trellis from now on.
    pub fn adopt(&mut self, path: &str, text: &str) {
        self.written.entry(path.to_owned()).or_default().insert(disk::hash(text));
    }

    /// Brings the disk to `files`. Writes nothing if another program changed one of them, or if one
    /// is not valid Python. Removes owned files that are no longer listed.
    pub fn flush(
        &mut self,
        journal: &Journal,
        files: &BTreeMap<String, String>,
        owned: impl Fn(&str) -> bool,
    ) -> Result<Flushed, StoreError> {
        let changed: Vec<(&String, &String, String)> = (files.iter())
            .map(|(path, text)| (path, text, disk::hash(text)))
            .filter(|(path, _, hash)| self.current.get(*path) != Some(hash))
            .collect();
        let gone: Vec<String> = self
            .written
            .keys()
            .filter(|path| owned(path) && !files.contains_key(*path))
            .cloned()
            .collect();
        for (path, text, _) in &changed {
            self.refuse(path, text)?;
        }
        let foreign = self.foreign(changed.iter().map(|(path, ..)| *path).chain(&gone));
        if !foreign.is_empty() {
            return Err(StoreError::UserEdits { paths: foreign });
        }
        let on_disk = |path: &str, text: &str| {
            trellis_os::files::read(self.root.join(path))
                .is_ok_and(|bytes| bytes == text.as_bytes())
        };
        let known =
            |path: &str, hash: &str| self.written.get(path).is_some_and(|it| it.contains(hash));
        let (there, wanted): (Vec<_>, Vec<_>) = (changed.into_iter())
            .partition(|(path, text, hash)| known(path, hash) && on_disk(path, text));
        let events: Vec<Event> = (wanted.iter())
            .map(|(path, _, hash)| Event::Writing { path: (*path).clone(), hash: hash.clone() })
            .collect();
        if !events.is_empty() {
            journal.commit_all(&events).map_err(|e| failed(".trellis/journal.jsonl", e))?;
        }
        let mut flushed = Flushed::default();
        for (path, text, hash) in wanted {
            self.written.entry(path.clone()).or_default().insert(hash.clone());
            disk::write(&self.root, path, text).map_err(|e| failed(path, e))?;
            flushed.changed.push(path.clone());
            self.current.insert(path.clone(), hash);
        }
        self.current.extend(there.into_iter().map(|(path, _, hash)| (path.clone(), hash)));
        for path in gone {
            self.current.remove(&path);
            let removed =
                fault_point::reach().and_then(|()| fs::remove_file(self.root.join(&path)));
            match removed {
                Ok(()) => flushed.changed.push(path),
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(failed(&path, error)),
            }
        }
        Ok(flushed)
    }

    fn refuse(&self, path: &str, text: &str) -> Result<(), StoreError> {
        if let Some(link) = disk::symlink_on_the_way(&self.root, path) {
            return Err(StoreError::SymbolicLink { path: path.to_owned(), link });
        }
        if path.ends_with(".py")
            && let Err(error) = (self.check)(text)
        {
            return Err(StoreError::Syntax { path: path.to_owned(), error });
        }
        Ok(())
    }
}

/// Returns whether there is no file at the path, so that none needs to be removed.
fn is_gone(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | IsADirectory)
}

fn failed(path: &str, source: std::io::Error) -> StoreError {
    let path = path.to_owned();
    match disk::is_full(&source) {
        true => StoreError::DiskFull { path },
        false => StoreError::Write { path, source },
    }
}
