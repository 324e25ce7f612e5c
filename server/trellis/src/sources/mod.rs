//! The Python sources below a folder as a [`code::Index`] that is as fresh as the disk and the editor.
//!
//! One owner holds a [`Workspace`] and tells it what changed, in order; everyone else asks a clone of its
//! index. A change is visible to the next question: what cannot report changes is looked at again before
//! each one.

mod disk;
mod walk;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use code::{Index, Words};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Fault;
use disk::{Contents, Disk, Stamp};
use walk::Listing;

/// Where the files of a workspace come from.
enum Scope {
    /// All below the root.
    Folder,
    /// One file, which is the root.
    File,
    /// What the editor has open, nothing else.
    Editor,
}

/// What is known of a file on disk.
struct Known {
    stamp: Stamp,
    hash: u128,
    /// Whether an equal stamp proves an equal text.
    settled: bool,
}

/// What became of a refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refreshed {
    /// Everything is as it was.
    Unchanged,
    /// So many files came, went or have another text.
    Changed(usize),
    /// Not done in time: the index is as it was, and the next refresh looks again.
    TimedOut,
}

/// The sources below a root.
pub(crate) struct Workspace {
    root: PathBuf,
    scope: Scope,
    index: Index,
    disk: Arc<Disk>,
    known: FxHashMap<Arc<str>, Known>,
    open: FxHashSet<String>,
    /// Of the walk, and by file.
    problems: (Vec<String>, FxHashMap<String, String>),
}

/// An index to ask, and whether an answer can be trusted.
#[derive(Clone)]
pub(crate) struct Snapshot {
    pub(crate) index: Index,
    disk: Arc<Disk>,
}

impl Snapshot {
    /// A number that grows when a text was not there as the index knows it. If it grew during a question,
    /// the answer may lack something: refresh, and put it again.
    pub(crate) fn misses(&self) -> u64 {
        self.disk.misses()
    }
}

/// How long a question waits for a look at the disk (W12).
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

impl Workspace {
    /// Reads a folder, or one file.
    pub(crate) fn open(path: &Path) -> Result<Workspace, Fault> {
        let missing = |error| {
            Fault::input(format!("there is no {}: {error}", path.display()))
                .hint("give a folder or a Python file")
        };
        let is_file = std::fs::metadata(path).map_err(missing)?.is_file();
        let scope = if is_file { Scope::File } else { Scope::Folder };
        let mut workspace = Workspace::new(path, scope);
        workspace.sweep(None);
        Ok(workspace)
    }

    /// A workspace of nothing but what the editor has open, such as a file outside of all folders.
    pub(crate) fn of_editor() -> Workspace {
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
            open: FxHashSet::default(),
            problems: Default::default(),
        }
    }

    /// The folder, as it was given.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The sources as they are known now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        Snapshot { index: self.index.clone(), disk: self.disk.clone() }
    }

    /// What was left out and why, as sentences, sorted.
    pub(crate) fn problems(&self) -> Vec<String> {
        let (of_walk, of_files) = &self.problems;
        let mut all: Vec<String> = of_walk.iter().chain(of_files.values()).cloned().collect();
        all.sort();
        all
    }

    /// Puts a question to the sources as they are now.
    pub(crate) fn ask<T>(&mut self, question: impl Fn(&Index) -> T) -> T {
        loop {
            self.refresh(PATIENCE);
            let snapshot = self.snapshot();
            let before = snapshot.misses();
            let answer = question(&snapshot.index);
            if snapshot.misses() == before {
                return answer;
            }
        }
    }

    /// Whether a file is one of the sources, or would be if it were written.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        let Some(name) = self.name_of(path) else { return false };
        self.index.file(&name).is_some() || self.would_list(path)
    }

    fn would_list(&self, path: &Path) -> bool {
        let there = path.ancestors().take_while(|it| it.starts_with(&self.root));
        let new = |it: &&Path| !it.exists();
        let names_fit = |it: &Path| it.file_name().is_some_and(|name| !walk::is_left_out(name));
        let fits = matches!(self.scope, Scope::Folder) && walk::is_source(path);
        let first = there.clone().find(|it| it.exists());
        fits && there.take_while(new).all(names_fit)
            && first.is_some_and(|it| walk::lists(&self.root, it))
    }

    /// A file's name in the index; `None` if it is not below the root.
    pub(crate) fn name_of(&self, path: &Path) -> Option<String> {
        match self.scope {
            Scope::Editor => path.to_str().map(str::to_owned),
            _ => walk::relative(&self.root, path),
        }
    }

    /// The editor has a file open with this text, which wins over the disk until it is closed.
    pub(crate) fn set_open(&mut self, name: &str, text: Arc<str>) {
        self.open.insert(name.to_owned());
        self.disk.forget(name);
        self.index.put(name, Words::of(&text), Some(text));
    }

    /// The editor closed a file: from now on the disk counts.
    pub(crate) fn close(&mut self, name: &str) {
        if self.open.remove(name) {
            self.known.remove(name);
            self.index.remove(name);
            self.disk_changed(&[name.to_owned()]);
        }
    }

    /// Files that came, went or were written, by name.
    pub(crate) fn disk_changed(&mut self, names: &[String]) -> usize {
        let mut listing = Listing::default();
        let mut gone = Vec::new();
        for name in names {
            let path = self.root.join(name);
            let metadata = std::fs::symlink_metadata(&path).ok().filter(|it| it.is_file());
            match metadata {
                Some(it) if self.known.contains_key(name.as_str()) || self.would_list(&path) => {
                    listing.files.push((name.clone(), Stamp::of(&it)));
                }
                Some(_) => {}
                None => gone.push(name.clone()),
            }
        }
        if matches!(self.scope, Scope::Editor) {
            return 0;
        }
        let removed = gone.iter().filter(|it| self.remove(it)).count();
        removed + self.take_in(listing.files)
    }

    /// Looks for changes on disk. Costs nothing where nothing changed and changes are reported.
    pub(crate) fn refresh(&mut self, patience: Duration) -> Refreshed {
        let missed = self.disk.take_changed();
        // Their texts could not be had, so they are put again even if they look as before.
        let unsettle = |it: &mut Known| (it.hash, it.settled) = (!it.hash, false);
        missed.iter().for_each(|name| {
            self.known.get_mut(&**name).map(unsettle);
        });
        let changed = self.disk_changed(&missed);
        match self.sweep(Some(Instant::now() + patience)) {
            Some(more) if changed + more == 0 => Refreshed::Unchanged,
            Some(more) => Refreshed::Changed(changed + more),
            None => Refreshed::TimedOut,
        }
    }

    /// Compares every file with what is known of it; how many changed, or `None` if time ran out.
    fn sweep(&mut self, deadline: Option<Instant>) -> Option<usize> {
        if matches!(self.scope, Scope::Editor) {
            return Some(0);
        }
        let listing = walk::list(&self.root, deadline, &|_| {})?;
        self.problems.0 = listing.problems;
        let listed: FxHashSet<&str> = listing.files.iter().map(|(name, _)| &**name).collect();
        let is_gone = |name: &&Arc<str>| !listed.contains(&***name);
        let gone: Vec<Arc<str>> = self.known.keys().filter(is_gone).cloned().collect();
        self.problems.1.retain(|name, _| listed.contains(&**name));
        let removed = gone.iter().filter(|it| self.remove(it)).count();
        Some(removed + self.take_in(listing.files))
    }

    /// Reads what is not known as it is; how many files have another text.
    fn take_in(&mut self, files: Vec<(String, Stamp)>) -> usize {
        let is_known = |(name, stamp): &(String, Stamp)| {
            let settled = |it: &Known| it.stamp == *stamp && it.settled;
            self.open.contains(name) || self.known.get(&**name).is_some_and(settled)
        };
        let new: Vec<_> = files.into_iter().filter(|it| !is_known(it)).collect();
        let root = self.disk.root();
        let read: Vec<_> = new
            .into_par_iter()
            // Settled or not as of before the reading.
            .map(|(name, stamp)| (stamp, stamp.is_settled(), disk::read(&root.join(&name)), name))
            .collect();
        read.into_iter().filter_map(|it| self.put(it.3, it.0, it.1, it.2)).count()
    }

    /// Takes in what reading a file gave; something if its text is another one than before.
    fn put(
        &mut self,
        name: String,
        stamp: Stamp,
        settled: bool,
        read: std::io::Result<Contents>,
    ) -> Option<()> {
        let contents = match read {
            Ok(contents) => contents,
            Err(error) => {
                let shown = self.disk.root().join(&name);
                let why = format!("{}: {error}: left out", shown.display());
                self.remove(&name);
                // Gone is no problem.
                if error.kind() != std::io::ErrorKind::NotFound {
                    self.problems.1.insert(name, why);
                }
                return None;
            }
        };
        self.problems.1.remove(&name);
        let name: Arc<str> = name.into();
        let known = Known { stamp, hash: contents.hash, settled };
        let before = self.known.insert(name.clone(), known);
        if before.is_some_and(|it| it.hash == contents.hash) {
            if self.disk.expects(&name) {
                self.disk.expect(&name, stamp);
            }
            return None;
        }
        self.disk.forget(&name);
        self.index.put(&name, contents.words, Some(contents.text));
        Some(())
    }

    /// Whether a file was there to be taken out; one that is open stays.
    fn remove(&mut self, name: &str) -> bool {
        self.problems.1.remove(name);
        self.disk.forget(name);
        self.known.remove(name).is_some() && !self.open.contains(name) && self.index.remove(name)
    }
}
