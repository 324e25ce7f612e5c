//! Files with Python code that are not in an index: those that git ignores, that are no UTF-8, in
//! hidden folders or behind links, and scripts without an ending. JSON files that have the path of a
//! name are among them.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ignore::{DirEntry, WalkBuilder, WalkState};
use memchr::memmem;
use trellis_python::{Index, Words};

use super::walk;

/// Maximum time of the search. Ignored folders may be far larger than the sources.
const PATIENCE: Duration = Duration::from_secs(2);

/// Maximum size of a script without an ending, in bytes.
const LARGEST_SCRIPT: u64 = 1 << 20;

/// Largest number of files that a sentence names.
const NAMED: usize = 3;

/// Hidden folders that hold no code of the project's own.
const TOOLS: [&str; 10] = [
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".tox",
    ".nox",
    ".eggs",
    ".cache",
    ".trellis",
    ".ipynb_checkpoints",
];

/// Files that an index does not cover and that have a name, as sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unsearched {
    /// Files that have the name.
    pub doubts: Vec<String>,
    /// Limits of the search for them.
    pub notes: Vec<String>,
}

impl Unsearched {
    /// Returns all sentences.
    pub fn all(self) -> impl Iterator<Item = String> {
        self.doubts.into_iter().chain(self.notes)
    }
}

/// Files that have a word, by the reason why they are not in the index.
type Found = BTreeMap<&'static str, Vec<String>>;

/// Returns what is below a root, has a word, and is not in the index.
pub fn unsearched(root: &Path, index: &Index, word: &str) -> Unsearched {
    if !root.is_dir() {
        return Unsearched::default();
    }
    let search = Search { root, index, word, deadline: Instant::now() + PATIENCE };
    let found = Mutex::new(Found::new());
    let mut walk = WalkBuilder::new(root);
    walk.standard_filters(false).filter_entry(may_have_code).build_parallel().run(|| {
        Box::new(|entry| {
            if let Some((why, name)) = entry.ok().and_then(|it| search.reason(&it)) {
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                found.entry(why).or_default().push(name);
            }
            if search.is_late() { WalkState::Quit } else { WalkState::Continue }
        })
    });
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let sentence = |(why, files): (&str, Vec<String>)| {
        format!("{}: not searched, {why}, and `{word}` is a word there", named(files))
    };
    let late = "there are too many files that git ignores to look at all of them".to_owned();
    Unsearched {
        doubts: found.into_iter().map(sentence).collect(),
        notes: search.is_late().then_some(late).into_iter().collect(),
    }
}

/// Returns the first files as a list, with the number of the others.
fn named(mut files: Vec<String>) -> String {
    files.sort();
    let more = files.len().saturating_sub(NAMED);
    files.truncate(NAMED);
    let list = files.join(", ");
    if more == 0 { list } else { format!("{list} and {more} more") }
}

/// Returns whether a walk includes an entry: hidden folders as well, but those of tools.
fn may_have_code(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    if entry.depth() == 0 || !name.starts_with('.') {
        return walk::is_wanted(entry);
    }
    let has = |name: &str| entry.path().join(name).exists();
    let is_tool = TOOLS.iter().any(|it| *it == name) || has("CACHEDIR.TAG") || has("pyvenv.cfg");
    !(is_tool || name.ends_with("_cache"))
}

/// A search for a word in files that are not in an index.
struct Search<'s> {
    root: &'s Path,
    index: &'s Index,
    word: &'s str,
    deadline: Instant,
}

impl Search<'_> {
    fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Returns why an entry with the word is not in the index, and its name.
    fn reason(&self, entry: &DirEntry) -> Option<(&'static str, String)> {
        let (path, name) = (entry.path(), walk::relative(self.root, entry.path())?);
        let why = if entry.path_is_symlink() {
            self.is_behind(path).then_some("it is a link")
        } else if !entry.file_type().is_some_and(|it| it.is_file()) {
            None
        } else if walk::is_source(path) {
            let is_hidden = name.split('/').any(|it| it.starts_with('.'));
            let unread = if is_hidden { "it is hidden" } else { "git ignores it" };
            let is_known = self.index.file(&name).is_some();
            (!is_known).then(|| self.in_source(path, unread)).flatten()
        } else {
            if path.extension().is_some_and(|it| it == "json") {
                return self.is_in_json(entry).then_some(("it is JSON", name));
            }
            let is_plain = path.extension().is_none() && is_script(entry);
            (is_plain && self.in_source(path, "").is_some()).then_some("its name has no ending")
        };
        why.map(|why| (why, name))
    }

    /// Returns whether a string of a JSON file is a dotted path that begins with a module of the index
    /// and ends with the word.
    fn is_in_json(&self, entry: &DirEntry) -> bool {
        let is_small = entry.metadata().is_ok_and(|it| it.len() <= LARGEST_SCRIPT);
        let read = || trellis_os::files::read_text(entry.path()).ok();
        let Some(text) = is_small.then(read).flatten() else { return false };
        let is_end = |path: &str| {
            let last = path.rsplit(['.', ':']).next();
            path.len() > self.word.len() && last == Some(self.word)
        };
        text.split('"').filter(|it| is_end(it)).any(|it| self.begins_with_module(it))
    }

    /// Returns whether the first part of a dotted path is a module or a package of the index.
    fn begins_with_module(&self, path: &str) -> bool {
        let first = path.split(['.', ':']).next().unwrap_or_default();
        self.index.files().any(|it| {
            let parts = self.index.path(it).trim_end_matches(".py").split('/');
            !first.is_empty() && parts.into_iter().any(|it| it == first)
        })
    }

    /// Returns why a source with the word is not in the index.
    fn in_source(&self, path: &Path, unread: &'static str) -> Option<&'static str> {
        match trellis_os::files::read_text(path) {
            Ok(it) => {
                (it.contains(self.word) && Words::of(&it).may_hold(self.word)).then_some(unread)
            }
            Err(_) => {
                let bytes = std::fs::read(path).ok()?;
                memmem::find(&bytes, self.word.as_bytes()).map(|_| "it is not UTF-8")
            }
        }
    }

    /// Returns whether a source behind a link has the word. A link to a folder that contains it
    /// shows nothing that is not searched.
    fn is_behind(&self, link: &Path) -> bool {
        let Ok(target) = link.canonicalize() else { return false };
        let has_word = |path: &Path| self.in_source(path, "").is_some();
        if target.is_file() {
            return walk::is_source(link) && has_word(&target);
        }
        let around = link.parent().and_then(|it| it.canonicalize().ok());
        if around.is_none_or(|it| it.starts_with(&target)) {
            return false;
        }
        let mut inner = WalkBuilder::new(target);
        let inner = inner.standard_filters(false).filter_entry(walk::is_wanted).build();
        let mut inner = inner.take_while(|_| !self.is_late()).flatten();
        inner.any(|it| walk::is_source(it.path()) && has_word(it.path()))
    }
}

/// Returns whether the first line of a file names a Python interpreter.
fn is_script(entry: &DirEntry) -> bool {
    let is_small = entry.metadata().is_ok_and(|it| it.len() <= LARGEST_SCRIPT);
    let mut start = [0; 64];
    let read = || std::fs::File::open(entry.path()).and_then(|mut it| it.read(&mut start)).ok();
    let length = is_small.then(read).flatten().unwrap_or_default();
    let line = start[..length].split(|it| *it == b'\n').next().unwrap_or_default();
    line.starts_with(b"#!") && memmem::find(line, b"python").is_some()
}
