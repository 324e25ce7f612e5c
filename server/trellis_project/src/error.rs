//! Errors of projects, their planning graphs, and edits of their files.

use std::io;
use std::path::PathBuf;

use trellis_os::wording::{cannot_read, counted};
use trellis_plan::{Problem, ReadError};
use trellis_store::error::StoreError;
use trellis_store::format::NewerFormat;

/// Error of finding a project.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    #[error(transparent)]
    Targets(LocateError),
    /// A path whose project was asked for.
    #[error(transparent)]
    Root(LocateError),
    /// A folder or file whose sources cannot be indexed.
    #[error("{}", cannot_read(path.display(), source))]
    Sources { path: PathBuf, source: io::Error },
}

/// Error of locating a path.
#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    #[error("cannot find the current folder: {0}")]
    CurrentFolder(io::Error),
    #[error("{}", cannot_read(named, source))]
    Unreadable { named: String, source: io::Error },
}

/// Error of reading a planning graph.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    #[error("{}", cannot_read(path.display(), source))]
    Unreadable { path: PathBuf, is_task_list: bool, source: io::Error },
    #[error("{}: {source}", path.display())]
    Malformed { path: PathBuf, source: ReadError },
    #[error("{} is a list of tasks, not a planning graph", path.display())]
    TaskList { path: PathBuf },
    #[error("{}", listed(path, problems))]
    Problems { path: PathBuf, problems: Vec<Problem> },
}

fn listed(path: &std::path::Path, problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(|it| format!("  {it}\n    {}", it.hint)).collect();
    let count = counted(problems.len(), "problem", "problems");
    format!("{} has {count}:\n{}", path.display(), lines.join("\n"))
}

/// Error of reading, editing or undoing files.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error("{}", cannot_read(path.display(), source))]
    Unreadable { path: PathBuf, source: io::Error },
    /// A file with bytes that are not UTF-8 after the first `valid` bytes.
    #[error("{} is not UTF-8 (byte {valid}); it was not touched", path.display())]
    NotUtf8 { path: PathBuf, valid: usize },
    #[error(
        "{} declares the encoding {encoding} and would contain non-ASCII letters; it was not \
         touched",
        path.display()
    )]
    OtherEncoding { path: PathBuf, encoding: String },
    /// A file to edit that cannot be found.
    #[error("{}", cannot_read(path.display(), source))]
    Unresolved { path: PathBuf, source: io::Error },
    /// A file to edit whose mode cannot be read.
    #[error("{}", cannot_read(path.display(), source))]
    NoMetadata { path: PathBuf, source: io::Error },
    #[error("{} is not a file; nothing was changed", path.display())]
    NotAFile { path: PathBuf },
    #[error("{} is read-only; nothing was changed", path.display())]
    ReadOnly { path: PathBuf },
    #[error("{} is in a read-only folder; nothing was changed", path.display())]
    ReadOnlyFolder { path: PathBuf },
    #[error("{} belongs to git; nothing was changed", path.display())]
    OfGit { path: PathBuf },
    #[error("{} is outside the project {}; nothing was changed", path.display(), root.display())]
    Outside { path: PathBuf, root: PathBuf },
    #[error("{} changed after it was read; nothing was changed", path.display())]
    Changed { path: PathBuf },
    #[error("the edit lists {} twice; nothing was changed", path.display())]
    ListedTwice { path: PathBuf },
    #[error("cannot save edits in {}: {source}", folder.display())]
    NoFolder { folder: PathBuf, source: io::Error },
    #[error("the edit could not be made: {source}")]
    NotMade { source: io::Error, rollback: Rollback },
    #[error("cannot undo the interrupted edit in {}: {source}", folder.display())]
    NotRecovered { folder: PathBuf, source: io::Error },
    #[error(transparent)]
    NewerRecord(#[from] NewerFormat),
    #[error("there is no edit to undo")]
    NothingToUndo,
    /// An unknown edit; `known` are the numbers of the last ones, newest first.
    #[error("there is no edit {id} to undo; the last ones are: {}", numbers(known))]
    UnknownEdit { id: u64, known: Vec<u64> },
    #[error("{} is damaged: {source}", record.display())]
    DamagedRecord { record: PathBuf, source: serde_json::Error },
    /// A file that changed after the edit; `before` is the file with its text before.
    #[error("cannot undo edit {id}: {} changed since then; nothing was changed", path.display())]
    ChangedSince { id: u64, path: PathBuf, before: PathBuf },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// State of the files after an edit that failed.
#[derive(Debug)]
pub enum Rollback {
    Complete,
    /// Some files could not be restored; their old texts are in the folder.
    Failed {
        folder: PathBuf,
        source: io::Error,
    },
}

fn numbers(known: &[u64]) -> String {
    let known: Vec<String> = known.iter().map(u64::to_string).collect();
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
}
