//! Sources and other files of a folder, by their names and times.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ignore::DirEntry;

use super::listing::list;

/// Returns the paths found by [`list`], sorted.
pub fn paths(root: &Path) -> Vec<String> {
    // Without a deadline there is always a list.
    let listing = list(root, None, &|_| {}, &|_, _| {}).unwrap_or_default();
    let mut paths: Vec<String> = listing.files.into_iter().map(|(path, _)| path).collect();
    paths.sort_unstable();
    paths
}

/// Returns the source that changed last, with its time.
pub fn newest(root: &Path) -> Option<(PathBuf, SystemTime)> {
    let files = paths(root).into_iter().map(|it| root.join(it));
    let times = files.filter_map(|it| Some((changed_at(&it)?, it)));
    times.max().map(|(time, file)| (file, time))
}

/// Returns the time at which a file was last written or put in place: a copy may keep an older
/// modification time.
pub fn changed_at(file: &Path) -> Option<SystemTime> {
    let metadata = file.metadata().ok()?;
    let (seconds, nanos) = (metadata.ctime(), metadata.ctime_nsec());
    let since = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanos).ok()?);
    // Clocks of other machines may be ahead.
    Some(metadata.modified().ok()?.max(UNIX_EPOCH + since).min(SystemTime::now()))
}

/// Returns the time of the texts that tests used. The tests started at `began` and wrote the files
/// `written`, relative to the root. The time is now if no other file changed since `began`, else
/// `began`.
pub fn read_at(root: &Path, began: SystemTime, written: &[String]) -> SystemTime {
    let mut others = paths(root).into_iter().filter(|it| !written.contains(it));
    let is_newer = |it: String| changed_at(&root.join(it)).is_some_and(|time| time > began);
    if others.any(is_newer) { began } else { SystemTime::now() }
}

/// Returns whether a path is that of a Python source.
pub fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "py" || it == "pyi")
}

/// Returns whether a path is that of a document, which may name symbols of the sources.
pub(super) fn is_document(path: &Path) -> bool {
    path.to_str().is_some_and(trellis_python::is_document)
}

/// Returns whether the name of a file or folder alone excludes it.
pub(super) fn is_left_out(name: &OsStr) -> bool {
    let made = ["site-packages", "dist-packages", "node_modules", "__pycache__"];
    name.as_encoded_bytes().starts_with(b".") || made.iter().any(|it| name == *it)
}

/// Returns whether a walk includes an entry. The root is always included, since the caller named
/// it.
pub(super) fn is_wanted(entry: &DirEntry) -> bool {
    let is_environment =
        || entry.file_type().is_some_and(|it| it.is_dir()) && is_environment(entry.path());
    entry.depth() == 0 || !(is_left_out(entry.file_name()) || is_environment())
}

/// Returns whether a folder is a virtual environment.
pub(super) fn is_environment(folder: &Path) -> bool {
    // Installed packages lie below `site-packages`, so checking only folders with `env` in the name
    // suffices.
    let name = folder.file_name().unwrap_or_default().as_encoded_bytes();
    name.windows(3).any(|it| it == b"env") && folder.join("pyvenv.cfg").exists()
}

/// Returns a path as named in an index; `None` if it is not below the root or not UTF-8.
pub(super) fn relative(root: &Path, path: &Path) -> Option<String> {
    let inner = path.strip_prefix(root).ok()?;
    let inner = if inner.as_os_str().is_empty() { Path::new(path.file_name()?) } else { inner };
    inner.to_str().map(str::to_owned)
}
