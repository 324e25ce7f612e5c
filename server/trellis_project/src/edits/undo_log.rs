//! Log of applied edits: kept, rolled back after a crash, undone on request.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trellis_python::TextEdits;

use super::files::{self, stage, sync_folder, write_synced};
use super::{AppliedEdit, Change, folder, transaction};
use crate::error::EditError;
use trellis_store::disk::{hash, is_inside};
use trellis_store::fault_point;
use trellis_store::format::refuse_newer;

/// Record of one edit on the disk; the old texts are beside it, as `<index>.before`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    pub(super) version: u32,
    pub(super) id: u64,
    /// Description of the request.
    pub(super) what: String,
    /// The edit that this edit undid.
    pub(super) undoes: Option<u64>,
    pub(super) files: Vec<FileRecord>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileRecord {
    /// Path as given by the caller.
    pub(super) shown: PathBuf,
    /// Absolute path behind symbolic links; on the disk relative to the project, which may be moved.
    /// Version 1 had absolute paths there.
    pub(super) path: PathBuf,
    /// SHA-256 of the text before.
    pub(super) before: String,
    /// SHA-256 of the text after.
    pub(super) after: String,
}

impl FileRecord {
    /// Returns the path as given by the caller, if it still leads to the file.
    fn known_as(&self) -> &Path {
        let leads_there = self.shown.canonicalize().is_ok_and(|it| it == self.path);
        if leads_there { &self.shown } else { &self.path }
    }
}

impl Record {
    /// Returns the bytes of the record on the disk.
    fn stored(&self, root: &Path) -> io::Result<Vec<u8>> {
        let root = root.canonicalize()?;
        let mut stored = self.clone();
        for file in &mut stored.files {
            file.path = file.path.strip_prefix(&root).unwrap_or(&file.path).to_owned();
        }
        Ok(serde_json::to_vec_pretty(&stored)?)
    }

    /// Parses a record on the disk.
    fn read(root: &Path, bytes: &[u8]) -> serde_json::Result<Record> {
        let mut record: Record = serde_json::from_slice(bytes)?;
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        record.files.iter_mut().for_each(|it| it.path = root.join(&it.path));
        Ok(record)
    }
}

/// Number of edits whose old texts are kept.
const KEPT: usize = 200;

/// Version of the record's format.
pub(super) const VERSION: u32 = 2;

const PENDING: &str = "pending";
const RECORD: &str = "edit.json";

/// Name of the record until it is on the disk.
const UNFINISHED: &str = "edit.json.tmp";

pub(super) fn pending(folder: &Path, id: u64) -> PathBuf {
    folder.join(format!("{id}.{PENDING}"))
}

/// Returns the numbers of the applied edits, in order.
pub(super) fn numbers(folder: &Path) -> Vec<u64> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.file_name());
    let mut numbers: Vec<u64> =
        names.filter_map(|name| name.to_str().and_then(|it| it.parse().ok())).collect();
    numbers.sort_unstable();
    numbers
}

/// Writes the record and the old texts of an edit to the disk, before anything is replaced.
pub(super) fn prepare(
    root: &Path,
    folder: &Path,
    record: &Record,
    before: &[&str],
) -> io::Result<()> {
    let place = pending(folder, record.id);
    fault_point::reach()?;
    fs::create_dir(&place)?;
    for (index, text) in before.iter().enumerate() {
        write_synced(&place.join(format!("{index}.before")), text.as_bytes())?;
    }
    // Written last, and whole or not at all: without the record nothing was replaced yet.
    write_synced(&place.join(UNFINISHED), &record.stored(root)?)?;
    fs::rename(place.join(UNFINISHED), place.join(RECORD))?;
    sync_folder(&place)?;
    sync_folder(folder)
}

/// Completes an edit, and removes the oldest ones beyond [`KEPT`].
pub(super) fn finish(folder: &Path, id: u64) -> io::Result<()> {
    fault_point::reach()?;
    fs::rename(pending(folder, id), folder.join(id.to_string()))?;
    sync_folder(folder)?;
    let numbers = numbers(folder);
    for old in &numbers[..numbers.len().saturating_sub(KEPT)] {
        // A folder that cannot be removed now is tried again next time.
        let _ = fs::remove_dir_all(folder.join(old.to_string()));
    }
    Ok(())
}

/// Rolls back edits that a crash interrupted, in files of the project that did not change since.
/// Returns one sentence per edit that needed a rollback.
pub(super) fn recover(root: &Path, folder: &Path) -> Result<Vec<String>, EditError> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
    let pending = entries.filter(|it| it.extension().is_some_and(|it| it == PENDING));
    let recovered = pending.map(|place| {
        let outcome = take_back(root, &place);
        outcome
            .map(|back| back.report(&place))
            .map_err(|source| EditError::NotRecovered { folder: place, source })
    });
    Ok(recovered.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Result of rolling back an interrupted edit.
#[derive(Default)]
pub(super) struct Undone {
    what: String,
    /// Files that have their old text again.
    restored: Vec<String>,
    /// Files changed since by another program: they may hold a part of the edit.
    left: Vec<String>,
}

impl Undone {
    fn report(&self, place: &Path) -> Option<String> {
        let Undone { what, restored, left } = self;
        let kept = kept(place);
        match (restored.as_slice(), left.as_slice()) {
            ([], []) => None,
            (files, []) => Some(format!(
                "a crash interrupted the edit {what:?}; it was undone: {}",
                files.join(", ")
            )),
            (_, left) => Some(format!(
                "a crash interrupted the edit {what:?}, and {} changed since then: it may \
                 contain a part of the edit; the text before it is in {}",
                left.join(", "),
                kept.display()
            )),
        }
    }
}

/// Returns the folder of old texts that were not all restored.
fn kept(place: &Path) -> PathBuf {
    place.with_extension("kept")
}

/// Restores the old texts and forgets the edit; old texts of files that were changed since stay on
/// the disk.
pub(super) fn take_back(root: &Path, place: &Path) -> io::Result<Undone> {
    let mut done = Undone::default();
    if let Ok(bytes) = trellis_os::files::read(place.join(RECORD)) {
        refuse_newer(place.join(RECORD).display(), &bytes, VERSION)?;
        let record = Record::read(root, &bytes)?;
        for (index, file) in record.files.iter().enumerate() {
            belongs(root, file).map_err(io::Error::other)?;
            let shown = file.known_as().display().to_string();
            match trellis_os::files::read(&file.path).map(hash) {
                Ok(now) if now == file.before => {}
                Ok(now) if now == file.after => {
                    let before = trellis_os::files::read(place.join(format!("{index}.before")))?;
                    stage(&file.path, &before)?.put()?;
                    done.restored.push(shown);
                }
                _ => done.left.push(shown),
            }
            file.path.parent().into_iter().for_each(files::sweep);
        }
        done.what = record.what;
    }
    fault_point::reach()?;
    match done.left.is_empty() {
        true => fs::remove_dir_all(place)?,
        false => fs::rename(place, kept(place))?,
    }
    Ok(done)
}

/// Checks that a file is in the project and not git's. A record is a project file that others may
/// have written, so it must change nothing outside the project, and nothing in `.git`, which may
/// name programs.
pub(super) fn belongs(root: &Path, file: &FileRecord) -> Result<(), EditError> {
    let is_gits = file.path.components().any(|it| it.as_os_str().eq_ignore_ascii_case(".git"));
    if file.path.is_absolute() && !is_gits && is_inside(&[root.to_owned()], &file.path) {
        return Ok(());
    }
    if is_gits {
        return Err(EditError::OfGit { path: file.path.clone() });
    }
    Err(EditError::Outside { path: file.path.clone(), root: root.to_owned() })
}

/// Undoes an edit; without a number, the last one not yet undone. Refuses if one of its files was
/// changed since. The undo is an edit too, and can be undone.
pub fn undo(root: &Path, id: Option<u64>) -> Result<AppliedEdit, EditError> {
    transaction::recover(root)?;
    let folder = folder(root)?;
    let record = match id {
        Some(id) => load(root, &folder, id)?,
        None => last(root, &folder)?,
    };
    let what = format!("undo of {} ({})", record.id, record.what);
    undo_record(root, &folder, &record, &what)
}

/// Undoes an edit as [`undo`] does, with a description.
pub fn undo_as(root: &Path, id: u64, what: &str) -> Result<AppliedEdit, EditError> {
    transaction::recover(root)?;
    let folder = folder(root)?;
    undo_record(root, &folder, &load(root, &folder, id)?, what)
}

fn undo_record(
    root: &Path,
    folder: &Path,
    record: &Record,
    what: &str,
) -> Result<AppliedEdit, EditError> {
    let changes: Vec<Change> = (record.files.iter().enumerate())
        .map(|(index, it)| belongs(root, it).and_then(|()| back(folder, record, index, it)))
        .collect::<Result<_, _>>()?;
    transaction::apply_as(root, what, Some(record.id), changes)
}

/// Returns the last applied edit with this description.
pub fn find(root: &Path, what: &str) -> Result<Option<u64>, EditError> {
    let folder = folder(root)?;
    let is_it = |id: &u64| load(root, &folder, *id).is_ok_and(|it| it.what == what);
    Ok(numbers(&folder).into_iter().rev().find(is_it))
}

fn back(
    folder: &Path,
    record: &Record,
    index: usize,
    file: &FileRecord,
) -> Result<Change, EditError> {
    let source = files::read(&file.path)?;
    let old = folder.join(record.id.to_string()).join(format!("{index}.before"));
    if hash(&source) != file.after {
        let path = file.known_as().to_owned();
        return Err(EditError::ChangedSince { id: record.id, path, before: old });
    }
    let before = files::read(&old)?;
    let path = file.known_as().to_owned();
    Ok(Change { path, edits: TextEdits::between(&source, &before), source })
}

fn load(root: &Path, folder: &Path, id: u64) -> Result<Record, EditError> {
    let path = folder.join(id.to_string()).join(RECORD);
    let bytes = trellis_os::files::read(&path).map_err(|_| {
        let known = numbers(folder).into_iter().rev().take(10).collect();
        EditError::UnknownEdit { id, known }
    })?;
    refuse_newer(path.display(), &bytes, VERSION)?;
    Record::read(root, &bytes).map_err(|source| EditError::DamagedRecord { record: path, source })
}

/// Returns the last edit that is no undo and was not undone.
fn last(root: &Path, folder: &Path) -> Result<Record, EditError> {
    let mut undone = Vec::new();
    for id in numbers(folder).into_iter().rev() {
        let record = load(root, folder, id)?;
        match record.undoes {
            // Undoing an undo restores the first edit.
            Some(other) if !undone.contains(&id) => undone.push(other),
            None if !undone.contains(&id) => return Ok(record),
            _ => {}
        }
    }
    Err(EditError::NothingToUndo)
}
