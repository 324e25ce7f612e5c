//! Which files of a folder are its Python sources.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use ignore::{DirEntry, WalkBuilder, WalkState};

use super::disk::Stamp;

/// What a walk found.
#[derive(Default)]
pub(super) struct Listing {
    /// Paths relative to the root, with `/`, in no order.
    pub(super) files: Vec<(String, Stamp)>,
    /// What could not be looked at, as sentences.
    pub(super) problems: Vec<String>,
}

/// Lists `.py` and `.pyi` files below a root, which may be a file itself. Left out: what git ignores, what
/// is hidden, virtual environments and other folders that hold what was installed or made. Symbolic links
/// are not followed, so that no file is there twice. `folder` is called with every folder before its
/// entries are read, `file` with every source as soon as it is met. `None` when the deadline came first.
pub(super) fn list(
    root: &Path,
    deadline: Option<Instant>,
    folder: &(impl Fn(&Path) + Sync),
    file: &(impl Fn(&str, Stamp) + Sync),
) -> Option<Listing> {
    let found = Mutex::new(Listing::default());
    let late = || deadline.is_some_and(|it| Instant::now() >= it);
    builder(root).filter_entry(is_wanted).build_parallel().run(|| {
        Box::new(|entry| {
            match entry {
                Ok(entry) if is_folder(&entry) => folder(entry.path()),
                Ok(entry) => note(root, &entry, &found, file),
                Err(error) => lock(&found).problems.push(format!("{error}: left out")),
            }
            if late() { WalkState::Quit } else { WalkState::Continue }
        })
    });
    (!late()).then(|| found.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Whether a file or folder would be met on a walk from the root: the folders on the way are looked at,
/// and no others.
pub(super) fn lists(root: &Path, path: &Path) -> bool {
    let goal = path.to_owned();
    let on_the_way = move |entry: &DirEntry| goal.starts_with(entry.path()) && is_wanted(entry);
    let mut walk = builder(root).filter_entry(on_the_way).build();
    walk.any(|entry| entry.is_ok_and(|it| it.path() == path && !it.path_is_symlink()))
}

/// Whether a file with this path is a Python source, where it may stand at all.
pub(crate) fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "py" || it == "pyi")
}

/// Whether a name of a folder or file alone keeps it out.
pub(super) fn is_left_out(name: &OsStr) -> bool {
    let made = ["site-packages", "dist-packages", "node_modules", "__pycache__"];
    name.as_encoded_bytes().starts_with(b".") || made.iter().any(|it| name == *it)
}

fn builder(root: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    builder.require_git(false).follow_links(false);
    builder
}

/// The root was asked for by name, whatever it is.
fn is_wanted(entry: &DirEntry) -> bool {
    // What is installed in one lies below `site-packages`, so a look into those that are called so will do.
    let is_named = || entry.file_name().as_encoded_bytes().windows(3).any(|it| it == b"env");
    let is_environment =
        || is_folder(entry) && is_named() && entry.path().join("pyvenv.cfg").exists();
    entry.depth() == 0 || !(is_left_out(entry.file_name()) || is_environment())
}

fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|it| it.is_dir())
}

fn note(root: &Path, entry: &DirEntry, found: &Mutex<Listing>, file: &impl Fn(&str, Stamp)) {
    if !is_source(entry.path()) || !entry.file_type().is_some_and(|it| it.is_file()) {
        return;
    }
    let shown = entry.path().display();
    let stamp = entry.metadata().map(|it| Stamp::of(&it));
    match (relative(root, entry.path()), stamp) {
        (Some(path), Ok(stamp)) => {
            file(&path, stamp);
            lock(found).files.push((path, stamp));
        }
        (None, _) => lock(found).problems.push(format!("{shown}: its name is not UTF-8: left out")),
        // Gone between the listing and the look.
        (_, Err(error)) if is_gone(&error) => {}
        (_, Err(error)) => lock(found).problems.push(format!("{shown}: {error}: left out")),
    }
}

fn is_gone(error: &ignore::Error) -> bool {
    error.io_error().is_some_and(|it| it.kind() == std::io::ErrorKind::NotFound)
}

/// A path as an index names it; `None` if it is not below the root or not UTF-8.
pub(super) fn relative(root: &Path, path: &Path) -> Option<String> {
    let inner = path.strip_prefix(root).ok()?;
    let inner = if inner.as_os_str().is_empty() { Path::new(path.file_name()?) } else { inner };
    inner.to_str().map(str::to_owned)
}

fn lock(found: &Mutex<Listing>) -> std::sync::MutexGuard<'_, Listing> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}
