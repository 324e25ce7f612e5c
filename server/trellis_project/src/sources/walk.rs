//! Lists the Python sources of a folder.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ignore::{DirEntry, WalkBuilder, WalkState};

use super::disk::Stamp;

/// Result of a walk.
#[derive(Default)]
pub(super) struct Listing {
    /// Paths relative to the root, with `/`, unordered.
    pub(super) files: Vec<(String, Stamp)>,
    /// Documents, in the same form.
    pub(super) documents: Vec<(String, Stamp)>,
    /// Unreadable places, as sentences.
    pub(super) problems: Vec<String>,
}

/// Lists `.py` and `.pyi` files below a root, which may be a file itself. Leaves out git-ignored
/// and hidden files, virtual environments and other folders of installed or generated files.
/// Symbolic links are not followed, so that no file appears twice. Calls `folder` for every folder
/// before its entries are read, and `file` for every source as it is found. Returns `None` if the
/// deadline passes first.
pub(super) fn list(
    root: &Path,
    deadline: Option<Instant>,
    folder: &(impl Fn(&Path) + Sync),
    file: &(impl Fn(&str, Stamp) + Sync),
) -> Option<Listing> {
    let found = Mutex::new(Listing::default());
    let late = || deadline.is_some_and(|it| Instant::now() >= it);
    let traps = Arc::new(Mutex::new(unread_rules(root)));
    let met = traps.clone();
    let is_open = move |entry: &DirEntry| {
        let trap = if is_folder(entry) { trap(entry.path()) } else { None };
        lock(&met).extend(trap.as_deref().map(|it| format!("{}: skipped", unread(it))));
        trap.is_none()
    };
    let mut walk = builder(root);
    walk.filter_entry(move |entry| is_wanted(entry) && is_open(entry)).build_parallel().run(|| {
        Box::new(|entry| {
            match entry {
                Ok(entry) if is_folder(&entry) => folder(entry.path()),
                Ok(entry) => note(root, &entry, &found, file),
                Err(error) => lock(&found).problems.push(format!("{error}: skipped")),
            }
            if late() { WalkState::Quit } else { WalkState::Continue }
        })
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.problems.append(&mut lock(&traps));
    (!late()).then_some(found)
}

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

/// Returns whether a walk from the root would find a file or folder; checks only the folders on the
/// way.
pub(super) fn lists(root: &Path, path: &Path) -> bool {
    let goal = path.to_owned();
    let on_the_way = move |entry: &DirEntry| {
        goal.starts_with(entry.path()) && is_wanted(entry) && trap(entry.path()).is_none()
    };
    let mut walk = builder(root).filter_entry(on_the_way).build();
    walk.any(|entry| entry.is_ok_and(|it| it.path() == path && !it.path_is_symlink()))
}

/// Returns whether a path is that of a Python source.
pub fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "py" || it == "pyi")
}

/// Returns whether a path is that of a document, which may name symbols of the sources.
pub(super) fn is_document(path: &Path) -> bool {
    path.to_str().is_some_and(trellis_python::is_document)
}

/// Maximum size of a document, in bytes. Larger ones are data.
const LARGEST_DOCUMENT: u64 = 4 << 20;

/// Returns whether the name of a file or folder alone excludes it.
pub(super) fn is_left_out(name: &OsStr) -> bool {
    let made = ["site-packages", "dist-packages", "node_modules", "__pycache__"];
    name.as_encoded_bytes().starts_with(b".") || made.iter().any(|it| name == *it)
}

fn builder(root: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    builder.require_git(false).follow_links(false);
    if !unread_rules(root).is_empty() {
        builder.standard_filters(false);
    }
    builder
}

/// Files with the ignore rules of a folder.
const RULES: [&str; 4] = [".gitignore", ".ignore", ".git", ".git/info/exclude"];

/// Maximum size of a rules file, in bytes.
const LONGEST_RULES: u64 = 16 << 20;

/// Returns a rules file that is too large or not regular; the library would read it anyway.
fn trap(folder: &Path) -> Option<PathBuf> {
    let is_trap = |it: fs::Metadata| !it.is_dir() && (!it.is_file() || it.len() > LONGEST_RULES);
    RULES.iter().map(|it| folder.join(it)).find(|it| fs::metadata(it).is_ok_and(is_trap))
}

/// Returns sentences about such files in the root and above; with any of them, the walk ignores
/// git's rules.
fn unread_rules(root: &Path) -> Vec<String> {
    let traps = root.ancestors().filter_map(trap);
    traps.map(|it| format!("{}: files that git ignores are included", unread(&it))).collect()
}

fn unread(rules: &Path) -> String {
    format!("{}: it is larger than 16 MiB, or not a regular file", rules.display())
}

/// Returns whether a walk includes an entry. The root is always included, since the caller named
/// it.
pub(super) fn is_wanted(entry: &DirEntry) -> bool {
    // Installed packages lie below `site-packages`, so checking only folders with `env` in the name
    // suffices.
    let is_named = || entry.file_name().as_encoded_bytes().windows(3).any(|it| it == b"env");
    let is_environment =
        || is_folder(entry) && is_named() && entry.path().join("pyvenv.cfg").exists();
    entry.depth() == 0 || !(is_left_out(entry.file_name()) || is_environment())
}

fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|it| it.is_dir())
}

fn note(root: &Path, entry: &DirEntry, found: &Mutex<Listing>, file: &impl Fn(&str, Stamp)) {
    let is_source = is_source(entry.path());
    let is_wanted = is_source || is_document(entry.path());
    if !is_wanted || !entry.file_type().is_some_and(|it| it.is_file()) {
        return;
    }
    let shown = entry.path().display();
    let stamp = entry.metadata().map(|it| Stamp::of(&it));
    match (relative(root, entry.path()), stamp) {
        (Some(path), Ok(stamp)) if !is_source => {
            if stamp.size <= LARGEST_DOCUMENT {
                lock(found).documents.push((path, stamp));
            }
        }
        (Some(path), Ok(stamp)) => {
            file(&path, stamp);
            lock(found).files.push((path, stamp));
        }
        (None, _) => lock(found).problems.push(format!("{shown}: its name is not UTF-8: skipped")),
        // Removed between listing and reading.
        (_, Err(error)) if is_gone(&error) => {}
        (_, Err(error)) => lock(found).problems.push(format!("{shown}: {error}: skipped")),
    }
}

fn is_gone(error: &ignore::Error) -> bool {
    error.io_error().is_some_and(|it| it.kind() == std::io::ErrorKind::NotFound)
}

/// Returns a path as named in an index; `None` if it is not below the root or not UTF-8.
pub(super) fn relative(root: &Path, path: &Path) -> Option<String> {
    let inner = path.strip_prefix(root).ok()?;
    let inner = if inner.as_os_str().is_empty() { Path::new(path.file_name()?) } else { inner };
    inner.to_str().map(str::to_owned)
}

fn lock<T>(found: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}
