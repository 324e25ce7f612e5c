//! Reads, stages and replaces single files.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use tempfile::{NamedTempFile, TempPath};

use crate::error::{EditError, Rollback};
use trellis_store::fault_point;

/// Returns the text of a file; refuses a file that is not UTF-8.
pub fn read(path: &Path) -> Result<String, EditError> {
    let cannot = |source: io::Error| EditError::Unreadable { path: path.to_owned(), source };
    // Reading a pipe might never end.
    if !fs::metadata(path).map_err(cannot)?.is_file() {
        return Err(cannot(io::Error::other("it is not a regular file")));
    }
    let text = String::from_utf8(trellis_os::files::read(path).map_err(cannot)?).map_err(|e| {
        let valid = e.utf8_error().valid_up_to();
        EditError::NotUtf8 { path: path.to_owned(), valid }
    })?;
    refuse_other_encoding(path, &text)?;
    Ok(text)
}

/// Refuses a text with non-ASCII letters whose encoding declaration names another encoding than
/// UTF-8.
pub(super) fn refuse_other_encoding(path: &Path, text: &str) -> Result<(), EditError> {
    let declared = text.lines().take(2).find_map(declared_encoding);
    let known = ["utf-8", "utf8", "utf-8-sig", "ascii", "us-ascii"];
    match declared.map(|it| it.to_lowercase().replace('_', "-")) {
        Some(encoding) if !known.contains(&encoding.as_str()) && !text.is_ascii() => {
            Err(EditError::OtherEncoding { path: path.to_owned(), encoding })
        }
        _ => Ok(()),
    }
}

fn declared_encoding(line: &str) -> Option<&str> {
    let comment = line.trim_start_matches('\u{feff}').trim_start().strip_prefix('#')?;
    let rest = comment.split_once("coding")?.1.strip_prefix([':', '='])?.trim_start();
    let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')));
    Some(&rest[..end.unwrap_or(rest.len())])
}

/// Returns the file behind symbolic links, which stay; refuses a file that cannot be written.
pub(super) fn writable(path: &Path) -> Result<PathBuf, EditError> {
    let shown = path.to_owned();
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(source) => return Err(EditError::Unresolved { path: shown, source }),
    };
    let meta = match fs::metadata(&real) {
        Ok(meta) if meta.is_file() => meta,
        Ok(_) => return Err(EditError::NotAFile { path: shown }),
        Err(source) => return Err(EditError::NoMetadata { path: shown, source }),
    };
    let parent = real.parent().unwrap_or(&real);
    // The administrator may write everything; a mode without any write bit still means read-only.
    if meta.permissions().readonly() || access(&real, Access::WRITE_OK).is_err() {
        return Err(EditError::ReadOnly { path: shown });
    }
    if access(parent, Access::WRITE_OK).is_err() {
        return Err(EditError::ReadOnlyFolder { path: shown });
    }
    Ok(real)
}

/// A new text on the disk, staged beside its target; removed unless put in place.
pub(super) struct StagedFile {
    file: TempPath,
    pub(super) target: PathBuf,
}

/// Prefix and suffix of the names of staged texts.
const STAGED: (&str, &str) = (".trellis-", ".tmp");

/// Removes staged texts that a crash left in a folder. The caller holds the edit lock.
pub(super) fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_staged =
            name.to_str().is_some_and(|it| it.starts_with(STAGED.0) && it.ends_with(STAGED.1));
        if is_staged {
            // A leftover staged text is harmless: failure to remove it is ignored.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Writes a text beside its target, with the target's mode and owner.
pub(super) fn stage(target: &Path, text: &[u8]) -> io::Result<StagedFile> {
    let folder = target.parent().unwrap_or(target);
    let mut file: NamedTempFile =
        tempfile::Builder::new().prefix(STAGED.0).suffix(STAGED.1).tempfile_in(folder)?;
    file.write_all(text)?;
    let meta = fs::metadata(target)?;
    let own = file.as_file().metadata()?;
    if (own.uid(), own.gid()) != (meta.uid(), meta.gid()) {
        // Only an administrator can change a file's owner; otherwise the new owner stays, as with
        // any editor.
        let _ = chown(file.path(), Some(meta.uid()), Some(meta.gid()));
    }
    file.as_file().set_permissions(fs::Permissions::from_mode(meta.mode() & 0o7777))?;
    file.as_file().sync_all()?;
    Ok(StagedFile { file: file.into_temp_path(), target: target.to_owned() })
}

impl StagedFile {
    /// Replaces the target, atomically for every reader.
    pub(super) fn put(self) -> io::Result<()> {
        fault_point::reach()?;
        self.file.persist(&self.target).map_err(|e| e.error)?;
        sync_folder(self.target.parent().unwrap_or(&self.target))
    }
}

/// Replaces the text of a single file, if it is still `old`. Readers see the old text or the new one.
pub fn replace(path: &Path, old: &str, new: &str) -> Result<(), EditError> {
    let target = writable(path)?;
    let cannot = |source| EditError::Unreadable { path: path.to_owned(), source };
    if trellis_os::files::read(&target).map_err(cannot)? != old.as_bytes() {
        return Err(EditError::Changed { path: path.to_owned() });
    }
    stage(&target, new.as_bytes()).and_then(StagedFile::put).map_err(not_made)
}

/// Writes a new file; an existing one is never replaced.
pub fn create(path: &Path, text: &str) -> Result<(), EditError> {
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
    let folder = parent.unwrap_or(Path::new("."));
    let write = || {
        let mut file =
            tempfile::Builder::new().prefix(STAGED.0).suffix(STAGED.1).tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
        file.as_file().sync_all()?;
        file.persist_noclobber(path).map_err(|e| e.error)?;
        sync_folder(folder)
    };
    write().map_err(not_made)
}

fn not_made(source: io::Error) -> EditError {
    EditError::NotMade { source, rollback: Rollback::Complete }
}

pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Writes a new file and waits until it is on the disk.
#[track_caller]
pub(super) fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    fault_point::write(&mut file, bytes)?;
    file.sync_all()
}
