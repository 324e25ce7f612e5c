//! Atomic file writes, and checks that paths stay inside a folder.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::StoreError;
use crate::{fault_point, scratch};

/// Returns the SHA-256 of a text, in lowercase hexadecimal.
pub fn hash(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes.as_ref()))
}

/// Returns bytes in lowercase hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |it: u8| char::from(b"0123456789abcdef"[usize::from(it)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Writes a file so that every reader sees the old text or the new one: a temporary file under
/// `.trellis/tmp`, fsync, rename, fsync of the folder.
pub fn write(root: &Path, path: &str, text: &str) -> io::Result<()> {
    let target = root.join(path);
    let folder = target.parent().unwrap_or(root);
    match path.rsplit_once('/').map(|it| it.0) {
        Some(own) if own == OWN || own.starts_with(".trellis/") => drop(own_path(root, own)?),
        Some(folders) => refuse_link(root, folders)?,
        None => {}
    }
    fs::create_dir_all(folder)?;
    let scratch = create(root, "tmp")?;
    let mut file = scratch::file_in(&scratch)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(&target).map_or(0o644, |old| old.permissions().mode());
    file.as_file().set_permissions(fs::Permissions::from_mode(mode))?;
    fault_point::reach()?;
    file.persist(&target).map_err(|e| e.error)?;
    File::open(folder)?.sync_all()
}

/// Folder of Trellis' own files in a project.
const OWN: &str = ".trellis";
/// The folder holds prompts and code; other users of the machine need not read them.
const PRIVATE: u32 = 0o700;

/// Creates `.trellis`, with a `.gitignore` that hides the folder from the project's version
/// control.
pub fn ensure(root: &Path) -> io::Result<()> {
    create(root, "").map(drop)
}

/// Creates and returns a folder below `.trellis`, readable by this user alone. A project may bring
/// a `.trellis` of its own; symbolic links in it would redirect writes, and are refused.
pub fn create(root: &Path, below: &str) -> io::Result<PathBuf> {
    own_path(root, format!("{OWN}/{below}").trim_end_matches('/'))
}

fn own_path(root: &Path, path: &str) -> io::Result<PathBuf> {
    refuse_link(root, path)?;
    DirBuilder::new().recursive(true).mode(PRIVATE).create(root.join(path))?;
    let mut options = OpenOptions::new();
    // A dangling symbolic link there counts as existing.
    match options.write(true).create_new(true).open(root.join(".trellis/.gitignore")) {
        Ok(mut file) => file.write_all(b"*\n")?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    Ok(root.join(path))
}

fn refuse_link(root: &Path, path: &str) -> io::Result<()> {
    let link = symlink_on_the_way(root, path);
    let why = |link: PathBuf| {
        let shown = root.join(link);
        io::Error::other(format!(
            "{} is a symbolic link to another place: remove it",
            shown.display()
        ))
    };
    link.map_or(Ok(()), |link| Err(why(link)))
}

/// Opens a file of Trellis with these options. The file must be regular and no link; a new one is
/// readable by this user alone.
pub fn open_own(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // Opening a pipe must not wait for a process at its other end.
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let opened = options.mode(0o600).custom_flags(flags.bits() as i32).open(path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(code) if code == rustix::io::Errno::LOOP.raw_os_error() => {
            let shown = path.display();
            io::Error::other(format!("{shown} is a symbolic link to another place: remove it"))
        }
        _ => error,
    })?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

/// Returns the first part of `path` that is a symbolic link inside `root`, if any: writing there
/// could leave the folder.
pub fn symlink_on_the_way(root: &Path, path: &str) -> Option<PathBuf> {
    let mut at = root.to_owned();
    for part in path.split('/') {
        at.push(part);
        if fs::symlink_metadata(&at).is_ok_and(|meta| meta.file_type().is_symlink()) {
            return at.strip_prefix(root).ok().map(Path::to_owned);
        }
    }
    None
}

/// Returns whether `path` is inside one of `folders`, with all links followed. A path that does not
/// exist counts as inside its nearest existing ancestor.
pub fn is_inside(folders: &[PathBuf], path: &Path) -> bool {
    let found = path.ancestors().find_map(|it| Some((it.canonicalize().ok()?, it)));
    let Some((real, there)) = found else { return false };
    let rest = path.strip_prefix(there).unwrap_or(path);
    let goes_down = rest.components().all(|it| matches!(it, Component::Normal(_)));
    // A process that creates the path would follow a dangling link.
    let leaves = rest.components().next().is_some_and(|it| real.join(it).is_symlink());
    let is_in = |folder: &PathBuf| folder.canonicalize().is_ok_and(|it| real.starts_with(it));
    goes_down && !leaves && folders.iter().any(is_in)
}

/// Bytes kept in reserve so that a checkpoint can still report a full disk.
const RESERVE: usize = 256 * 1024;

pub fn reserve_space(root: &Path) -> io::Result<()> {
    let path = create(root, "")?.join("reserve");
    if !path.exists() {
        open_own(&path, OpenOptions::new().write(true).create(true).truncate(true))?
            .write_all(&vec![0_u8; RESERVE])?;
    }
    Ok(())
}

pub fn release_reserve(root: &Path) {
    // A missing reserve file needs no release.
    let _ = fs::remove_file(root.join(".trellis/reserve"));
}

pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Returns a name valid for git and file systems, unique per text: each character other than a
/// letter, digit, `_`, `-` or inner dot becomes `=` and its code; long names end in a hash.
pub fn escape_ref_name(text: &str) -> String {
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

/// Maximum name length in bytes; a tag is a file's name.
const LONGEST_NAME: usize = 120;

/// Returns the cache folder: `TRELLIS_CACHE`, else the user's cache folder.
pub fn cache_folder() -> Result<PathBuf, StoreError> {
    let variable =
        |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("TRELLIS_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|folder| folder.join("trellis")))
        .or_else(|| variable("HOME").map(|folder| folder.join(".cache/trellis")))
        .ok_or(StoreError::NoCacheFolder)
}
