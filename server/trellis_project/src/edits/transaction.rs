//! Replaces several files, all or none.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use super::files::{refuse_other_encoding, stage, writable};
use super::undo_log::{self, FileRecord, Record, VERSION};
use super::{AppliedEdit, Change, folder};
use crate::error::{EditError, Rollback};
use trellis_store::disk::hash;
use trellis_store::error::StoreError;
use trellis_store::lock::Lock;

/// Applies changes to files; `what` describes the request. Nothing changes if one of the files
/// differs from the source of its change, or cannot be written. `root` is the folder with the
/// project's `.trellis`.
pub fn apply(root: &Path, what: &str, changes: Vec<Change>) -> Result<AppliedEdit, EditError> {
    apply_as(root, what, None, changes)
}

pub(super) fn apply_as(
    root: &Path,
    what: &str,
    undoes: Option<u64>,
    changes: Vec<Change>,
) -> Result<AppliedEdit, EditError> {
    let folder = folder(root)?;
    let _lock = lock(&folder)?;
    report_recovered(undo_log::recover(root, &folder)?);
    let files = changes.iter().map(checked).collect::<Result<Vec<_>, _>>()?;
    files.iter().try_for_each(|it| undo_log::belongs(root, it))?;
    refuse_twice(&files)?;
    let id = undo_log::numbers(&folder).last().map_or(1, |it| it + 1);
    let record = Record { version: VERSION, id, what: what.to_owned(), undoes, files };
    let before: Vec<&str> = changes.iter().map(|it| it.source.as_str()).collect();
    let made = undo_log::prepare(root, &folder, &record, &before)
        .and_then(|()| replace(&record, &changes, &|_| Ok(())))
        .and_then(|()| undo_log::finish(&folder, id));
    if let Err(error) = made {
        return Err(EditError::NotMade { source: error, rollback: rollback(root, &folder, id) });
    }
    Ok(AppliedEdit { id, changes })
}

/// Rolls back what a crash left half done in a project, so that later reads see complete edits.
pub fn recover(root: &Path) -> Result<(), EditError> {
    if !root.join(".trellis/edits").is_dir() {
        return Ok(());
    }
    let folder = folder(root)?;
    let _lock = lock(&folder)?;
    report_recovered(undo_log::recover(root, &folder)?);
    Ok(())
}

fn report_recovered(recovered: Vec<String>) {
    recovered.iter().for_each(|it| tracing::warn!("{it}"));
}

/// Takes the lock that allows one edit at a time in a project.
fn lock(folder: &Path) -> Result<Lock, EditError> {
    let path = folder.join("lock");
    let locked = Lock::wait_for(&path);
    locked.map_err(|source| StoreError::Lock { path, source }.into())
}

fn checked(change: &Change) -> Result<FileRecord, EditError> {
    let path = writable(&change.path)?;
    let text = change.text();
    refuse_other_encoding(&change.path, &text)?;
    let file = FileRecord {
        shown: change.path.clone(),
        before: hash(&change.source),
        after: hash(&text),
        path,
    };
    if trellis_os::files::read(&file.path).is_ok_and(|now| hash(now) == file.before) {
        return Ok(file);
    }
    Err(EditError::Changed { path: change.path.clone() })
}

fn refuse_twice(files: &[FileRecord]) -> Result<(), EditError> {
    let mut seen: HashSet<&PathBuf> = HashSet::new();
    match files.iter().find(|it| !seen.insert(&it.path)) {
        Some(twice) => Err(EditError::ListedTwice { path: twice.shown.clone() }),
        None => Ok(()),
    }
}

/// Stages every text before the first file is replaced, and calls `before` ahead of each
/// replacement.
fn replace(
    record: &Record,
    changes: &[Change],
    before: &dyn Fn(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let staged = (record.files.iter().zip(changes))
        .map(|(file, change)| stage(&file.path, change.text().as_bytes()))
        .collect::<io::Result<Vec<_>>>()?;
    for (staged, file) in staged.into_iter().zip(&record.files) {
        before(&staged.target)?;
        if hash(trellis_os::files::read(&file.path)?) != file.before {
            let why = format!("{} changed in the meantime", file.shown.display());
            return Err(io::Error::other(why));
        }
        staged.put()?;
    }
    Ok(())
}

/// Restores the files of an edit that failed.
fn rollback(root: &Path, folder: &Path, id: u64) -> Rollback {
    let place = undo_log::pending(folder, id);
    match undo_log::take_back(root, &place) {
        Ok(_) => Rollback::Complete,
        Err(source) => Rollback::Failed { folder: place, source },
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use trellis_python::{TextEdit, TextEdits};

    fn change(path: PathBuf, text: &str) -> Change {
        let source = fs::read_to_string(&path).expect("a file");
        let edit = TextEdit { range: 0..source.len(), text: text.to_owned() };
        let edits = TextEdits::new(&source, [edit]).expect("an edit");
        Change { path, source, edits }
    }

    /// Returns two files of an edit that stopped before the second was replaced, and the folder of
    /// its record.
    fn stopped(root: &Path) -> ([PathBuf; 2], PathBuf) {
        let paths = ["a.py", "b.py"].map(|it| root.join(it));
        paths.iter().for_each(|it| fs::write(it, "old\n").expect("a file"));
        let changes: Vec<Change> = paths.iter().map(|it| change(it.clone(), "new\n")).collect();
        let kept = folder(root).expect("a folder");
        let files = changes.iter().map(|it| checked(it).expect("fits")).collect();
        let record =
            Record { version: VERSION, id: 1, what: "test".to_owned(), undoes: None, files };
        undo_log::prepare(root, &kept, &record, &["old\n", "old\n"]).expect("prepared");
        let fails = |path: &Path| {
            if path.ends_with("b.py") { Err(io::Error::other("stopped")) } else { Ok(()) }
        };
        replace(&record, &changes, &fails).expect_err("it fails");
        assert_eq!(fs::read_to_string(&paths[0]).expect("a file"), "new\n");
        (paths, kept)
    }

    #[test]
    fn an_edit_that_is_cut_short_leaves_no_trace() {
        for dies in [false, true] {
            let root = tempfile::tempdir().expect("a folder");
            let (paths, kept) = stopped(root.path());
            if dies {
                fs::write(root.path().join(".trellis-Ab3.tmp"), "new\n").expect("a staged text");
                let reported = undo_log::recover(root.path(), &kept).expect("taken back");
                assert!(
                    reported[0].contains("a.py") && !reported[0].contains("b.py"),
                    "{reported:?}"
                );
                assert_eq!(undo_log::recover(root.path(), &kept).expect("once").len(), 0);
            } else {
                let rollback = rollback(root.path(), &kept, 1);
                assert!(matches!(rollback, Rollback::Complete), "{rollback:?}");
            }
            paths
                .iter()
                .for_each(|it| assert_eq!(fs::read_to_string(it).expect("a file"), "old\n"));
            let left = fs::read_dir(root.path()).expect("a folder").count();
            assert_eq!(left, 3, "two files and .trellis");
        }
    }

    #[test]
    fn edits_of_a_project_that_was_moved_are_undone_in_its_new_place() {
        let world = tempfile::tempdir().expect("a folder");
        let [old, new] = ["old", "new"].map(|it| world.path().join(it));
        fs::create_dir(&old).expect("a folder");
        fs::write(old.join("c.py"), "old\n").expect("a file");
        apply(&old, "test", vec![change(old.join("c.py"), "new\n")]).expect("made");
        // Another one is cut short, and nothing may be written where the project was.
        let (_, kept) = stopped(&old);
        fs::rename(undo_log::pending(&kept, 1), undo_log::pending(&kept, 2)).expect("renamed");
        fs::rename(&old, &new).expect("moved");
        let reported = undo_log::recover(&new, &folder(&new).expect("a folder")).expect("back");
        assert!(reported[0].contains(&*new.join("a.py").to_string_lossy()), "{reported:?}");
        fs::write(new.join("c.py"), "mine\n").expect("a file");
        let refused = undo_log::undo(&new, None).expect_err("refused").to_string();
        assert!(refused.contains(&*new.join("c.py").to_string_lossy()), "{refused}");
        fs::write(new.join("c.py"), "new\n").expect("a file");
        undo_log::undo(&new, None).expect("undone");
        for name in ["a.py", "b.py", "c.py"] {
            assert_eq!(fs::read_to_string(new.join(name)).expect("a file"), "old\n", "{name}");
        }
        assert!(!old.exists());
    }

    #[test]
    fn what_somebody_wrote_into_an_edit_that_was_cut_short_stays_and_so_does_the_text_before() {
        let root = tempfile::tempdir().expect("a folder");
        let ([changed, _], kept) = stopped(root.path());
        fs::write(&changed, "new\nmine\n").expect("a file");
        let reported = undo_log::recover(root.path(), &kept).expect("taken back");
        assert_eq!(fs::read_to_string(&changed).expect("a file"), "new\nmine\n");
        assert!(reported[0].contains("a.py changed since then"), "{reported:?}");
        assert_eq!(fs::read_to_string(kept.join("1.kept/0.before")).expect("kept"), "old\n");
    }

    #[test]
    fn a_record_moves_nothing_outside_the_project() {
        let world = tempfile::tempdir().expect("a folder");
        let (root, own) = (world.path().join("project"), world.path().join("own.py"));
        fs::create_dir(&root).expect("a folder");
        fs::write(&own, "new\n").expect("a file");
        let kept = folder(&root).expect("a folder");
        let file = FileRecord {
            shown: own.clone(),
            path: own.clone(),
            before: hash("old\n"),
            after: hash("new\n"),
        };
        let what = "test".to_owned();
        let record = Record { version: VERSION, id: 1, what, undoes: None, files: vec![file] };
        undo_log::prepare(&root, &kept, &record, &["old\n"]).expect("prepared");
        let refused = recover(&root).expect_err("refused").to_string();
        assert!(refused.contains("outside the project"), "{refused}");
        undo_log::finish(&kept, 1).expect("as if it was made");
        let refused = undo_log::undo(&root, None).expect_err("refused").to_string();
        assert!(refused.contains("outside the project"), "{refused}");
        let change = change(own.clone(), "newer\n");
        let refused = apply(&root, "test", vec![change]).expect_err("refused").to_string();
        assert!(refused.contains("outside the project"), "{refused}");
        assert_eq!(fs::read_to_string(&own).expect("a file"), "new\n");
    }
}
