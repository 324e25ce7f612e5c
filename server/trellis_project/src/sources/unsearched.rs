//! Files with Python code that are no sources: those that git ignores, and scripts without an
//! ending.

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

/// Files that have a word.
#[derive(Default)]
struct Found {
    ignored: Vec<String>,
    scripts: Vec<String>,
}

/// Returns sentences about files below a root that have a word and that are not in the index.
pub fn unsearched(root: &Path, index: &Index, word: &str) -> Vec<String> {
    if !root.is_dir() {
        return Vec::new();
    }
    let deadline = Instant::now() + PATIENCE;
    let found = Mutex::new(Found::default());
    let mut walk = WalkBuilder::new(root);
    walk.standard_filters(false).filter_entry(walk::is_wanted).build_parallel().run(|| {
        Box::new(|entry| {
            entry.iter().for_each(|entry| note(root, entry, index, word, &found));
            if Instant::now() < deadline { WalkState::Continue } else { WalkState::Quit }
        })
    });
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut sentences = Vec::new();
    let mut add = |files: Vec<String>, why: &str| {
        sentences.extend(
            named(files)
                .map(|it| format!("{it}: not searched, {why}, and `{word}` is a word there")),
        );
    };
    add(found.ignored, "git ignores it");
    add(found.scripts, "its name has no ending");
    if Instant::now() >= deadline {
        sentences
            .push("there are too many files that git ignores to look at all of them".to_owned());
    }
    sentences
}

/// Returns the first files as a list, with the number of the others.
fn named(mut files: Vec<String>) -> Option<String> {
    files.sort();
    let more = files.len().saturating_sub(NAMED);
    files.truncate(NAMED);
    let list = files.join(", ");
    match (files.is_empty(), more) {
        (true, _) => None,
        (_, 0) => Some(list),
        (_, more) => Some(format!("{list} and {more} more")),
    }
}

fn note(root: &Path, entry: &DirEntry, index: &Index, word: &str, found: &Mutex<Found>) {
    if !entry.file_type().is_some_and(|it| it.is_file()) {
        return;
    }
    let Some(name) = walk::relative(root, entry.path()) else { return };
    let found_in = |is_script: bool| {
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        if is_script { found.scripts.push(name.clone()) } else { found.ignored.push(name.clone()) }
    };
    if walk::is_source(entry.path()) {
        if index.file(&name).is_none() && has_word(entry.path(), word) {
            found_in(false);
        }
    } else if entry.path().extension().is_none() && is_script(entry) && has_word(entry.path(), word)
    {
        found_in(true);
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

/// Returns whether a text has a word. A file that is not UTF-8 is named already.
fn has_word(path: &Path, word: &str) -> bool {
    trellis_os::files::read_text(path)
        .is_ok_and(|it| it.contains(word) && Words::of(&it).may_hold(word))
}
