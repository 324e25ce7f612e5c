//! Files that are whole or not there, and paths that stay inside.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::Fault;

/// SHA-256 of a text, in hexadecimal.
pub(crate) fn hash(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes.as_ref()))
}

/// Bytes in hexadecimal, in small letters.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |it: u8| char::from(b"0123456789abcdef"[usize::from(it)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Writes a file so that every reader sees the old text or the new one: a temporary file under
/// `.trellis/tmp`, fsync, rename, fsync of the folder.
pub(crate) fn write(root: &Path, path: &str, text: &str) -> io::Result<()> {
    let target = root.join(path);
    let folder = target.parent().unwrap_or(root);
    fs::create_dir_all(folder)?;
    let scratch = root.join(".trellis/tmp");
    fs::create_dir_all(&scratch)?;
    let mut file = tempfile::Builder::new().prefix("write-").tempfile_in(&scratch)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(&target).map_or(0o644, |old| old.permissions().mode());
    file.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
    file.persist(&target).map_err(|e| e.error)?;
    File::open(folder)?.sync_all()
}

/// Makes `.trellis`, which shows nowhere in the project's own version control.
pub(crate) fn own_folder(root: &Path) -> io::Result<()> {
    fs::create_dir_all(root.join(".trellis"))?;
    let ignore = root.join(".trellis/.gitignore");
    if !ignore.exists() {
        fs::write(ignore, "*\n")?;
    }
    Ok(())
}

/// The first part of `path` that is a symbolic link inside `root`, if any: writing there could leave
/// the folder.
pub(crate) fn symlink_on_the_way(root: &Path, path: &str) -> Option<PathBuf> {
    let mut at = root.to_owned();
    for part in path.split('/') {
        at.push(part);
        if fs::symlink_metadata(&at).is_ok_and(|meta| meta.file_type().is_symlink()) {
            return at.strip_prefix(root).ok().map(Path::to_owned);
        }
    }
    None
}

/// Whether a place is in one of these folders, with all links followed; what is not there yet counts by where it would
/// be made.
pub(crate) fn is_inside(folders: &[PathBuf], path: &Path) -> bool {
    let found = path.ancestors().find_map(|it| Some((it.canonicalize().ok()?, it)));
    let Some((real, there)) = found else { return false };
    let rest = path.strip_prefix(there).unwrap_or(path);
    let goes_down = rest.components().all(|it| matches!(it, Component::Normal(_)));
    // A link to what is not there would be followed by who makes it.
    let leaves = rest.components().next().is_some_and(|it| real.join(it).is_symlink());
    let is_in = |folder: &PathBuf| folder.canonicalize().is_ok_and(|it| real.starts_with(it));
    goes_down && !leaves && folders.iter().any(is_in)
}

/// Space kept so that a full disk can still be told in the checkpoint.
const RESERVE: usize = 256 * 1024;

pub(crate) fn reserve(root: &Path) -> io::Result<()> {
    let path = root.join(".trellis/reserve");
    if !path.exists() {
        fs::write(path, vec![0_u8; RESERVE])?;
    }
    Ok(())
}

pub(crate) fn release_reserve(root: &Path) {
    // If it is gone already there is nothing to release.
    let _ = fs::remove_file(root.join(".trellis/reserve"));
}

pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// A name that git and file systems take, another one for every text: what is not a letter, digit, `_`, `-` or
/// an inner dot becomes `=` and its code; long ones end in a hash.
pub(crate) fn safe_name(text: &str) -> String {
    let inner_dots = !text.contains("..")
        && !text.starts_with('.')
        && !text.ends_with(['.'])
        && !text.ends_with(".lock");
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c) || (c == '.' && inner_dots);
    let name: String = (text.chars())
        .map(|c| if plain(c) { c.to_string() } else { format!("={:X}", c as u32) })
        .collect();
    if name.len() <= LONGEST_NAME {
        name
    } else {
        format!("{}={}", &name[..LONGEST_NAME], &hash(text)[..16])
    }
}

/// Bytes; a tag is a file's name.
const LONGEST_NAME: usize = 120;

/// A file could not be read or written: nothing is lost by that.
pub(crate) fn cannot(what: &str, error: &std::io::Error) -> Fault {
    let fault = Fault::internal(format!("cannot {what}: {error}"));
    match is_full(error) {
        true => fault.hint("the disk is full: free some space and run again; nothing is lost"),
        false => fault.hint("make `.trellis` writable, and run again; nothing is lost"),
    }
}
