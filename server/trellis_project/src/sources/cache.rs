//! Cache of a folder's index, in one file for the next start.
//!
//! A second start then lists the folder, compares sizes and times, and reads this file: no source
//! is read until a query needs its text. The file belongs to one build of the program, since
//! another build may see other symbols in the same text. A damaged, truncated or foreign file is
//! ignored. The file is replaced atomically, so concurrent writers and readers do not disturb each
//! other.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use trellis_python::{FileId, Index, KnownFile, NameTable, OutlineSource, Words};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::IndexedFile;
use super::disk::Stamp;
use super::stored_outline::{CachedOutlines, outline_bytes};
use trellis_store::disk;
use trellis_store::disk::cache_folder;

/// Folder of Trellis' own files in a project, and the cache folder in it.
const OWN: &str = ".trellis";
const CACHE: &str = "cache";
/// The cache file in that folder.
const FILE: &str = "sources";
/// File in the user's cache that names the root.
const ROOT: &str = "root";
/// Other users need not read the names in the code.
const PRIVATE: u32 = 0o700;

/// Format version; changes with the structures below.
const FORMAT: u32 = 2;
const MAGIC: &[u8; 8] = b"trellis\x01";
/// Magic, build and checksum.
const HEAD: usize = 8 + 16 + 8;

/// Everything but the outlines, which follow: one after the other, in their own form.
#[derive(Serialize, Deserialize)]
struct Stored<'a> {
    #[serde(borrow)]
    files: Vec<StoredFile<'a>>,
    /// The table of names.
    names: &'a str,
    #[serde(borrow)]
    numbers: [&'a [u8]; 4],
}

/// A file. Arrays of numbers have four bytes each, little-endian, here and in the table.
#[derive(Serialize, Deserialize)]
struct StoredFile<'a> {
    path: &'a str,
    size: u64,
    modified: i64,
    changed: i64,
    hash: u128,
    settled: bool,
    words: &'a [u8],
    /// End of the outline behind the first one's start.
    outline_end: u64,
}

/// A folder as of the last write of the cache.
pub(super) struct Cached {
    pub(super) files: Vec<KnownFile>,
    /// States of the files, in the same order.
    pub(super) known: Vec<IndexedFile>,
    pub(super) outlines: Arc<dyn OutlineSource>,
    pub(super) names: NameTable,
}

/// Returns the cached state of a root; `None` if the cache is missing, damaged or of another build.
pub(super) fn load(root: &Path) -> Option<Cached> {
    let bytes = trellis_os::files::read(Place::of(root)?.folder(root).join(FILE)).ok()?;
    let (head, payload) = bytes.split_at_checked(HEAD)?;
    header(payload).filter(|it| it == head)?;
    let (stored, outlines) = postcard::take_from_bytes::<Stored<'_>>(payload).ok()?;
    let files = stored.files.par_iter().with_min_len(64).map(restored);
    let files: Vec<KnownFile> = files.collect::<Option<_>>()?;
    let known = stored.files.iter().map(|it| IndexedFile {
        stamp: Stamp { size: it.size, modified: it.modified, changed: it.changed },
        hash: it.hash,
        settled: it.settled,
    });
    let known = known.collect();
    let mut start = bytes.len() - outlines.len();
    let first = start;
    let ranges = stored.files.iter().map(|it| {
        let end = first + it.outline_end as usize;
        std::mem::replace(&mut start, end)..end
    });
    let ranges = ranges.collect();
    let names = NameTable::from_parts(stored.names, stored.numbers.map(numbers));
    Some(Cached { files, known, outlines: Arc::new(CachedOutlines { bytes, ranges }), names })
}

/// Returns whether a root has a cache.
pub(super) fn is_there(root: &Path) -> bool {
    Place::of(root).is_some_and(|it| it.folder(root).join(FILE).exists())
}

/// Writes the cache for these files. All their outlines are read, so they should be prepared.
///
/// # Errors
///
/// The folder cannot be written, or a symbolic link leads outside.
pub(super) fn save(
    root: &Path,
    index: &Index,
    files: &[(Arc<str>, IndexedFile)],
) -> io::Result<()> {
    let of_index = |it: &(Arc<str>, IndexedFile)| Some((it.0.clone(), it.1, index.file(&it.0)?));
    let files: Vec<(Arc<str>, IndexedFile, FileId)> = files.iter().filter_map(of_index).collect();
    let ids: Vec<FileId> = files.iter().map(|it| it.2).collect();
    let words: Vec<Vec<u8>> = ids.iter().map(|it| bytes(index.words(*it).hashes())).collect();
    let mut outlines = Vec::new();
    let mut stored_files = Vec::new();
    for ((path, known, id), words) in files.iter().zip(&words) {
        let outline = outline_bytes(&index.passing_outline(*id)).map_err(io::Error::other)?;
        outlines.extend_from_slice(&outline);
        stored_files.push(StoredFile {
            path,
            size: known.stamp.size,
            modified: known.stamp.modified,
            changed: known.stamp.changed,
            hash: known.hash,
            settled: known.settled,
            words,
            outline_end: outlines.len() as u64,
        });
    }
    let table = index.name_table(&ids);
    let (names, numbers) = table.parts();
    let numbers = numbers.map(|it| bytes(&it));
    let numbers = [&*numbers[0], &numbers[1], &numbers[2], &numbers[3]];
    let stored = Stored { files: stored_files, names, numbers };
    let mut payload = postcard::to_stdvec(&stored).map_err(io::Error::other)?;
    payload.append(&mut outlines);
    let head = header(&payload).ok_or_else(|| io::Error::other("the program was replaced"))?;
    let place = Place::of(root).ok_or_else(|| io::Error::other("there is no folder for caches"))?;
    let folder = place.made(root)?;
    let mut file = tempfile::Builder::new().prefix("sources-").tempfile_in(&folder)?;
    file.write_all(&head)?;
    file.write_all(&payload)?;
    file.persist(folder.join(FILE)).map(drop).map_err(|it| it.error)
}

/// Location of a root's cache.
pub(super) enum Place {
    /// In the project's `.trellis`, which git ignores and which already exists.
    Project,
    /// In the user's cache, for a folder that was only opened: the folder of all caches, and that
    /// of this root.
    Person { all: PathBuf, own: PathBuf },
}

impl Place {
    /// Returns the location; `None` without `.trellis` and without a cache folder of the user.
    pub(super) fn of(root: &Path) -> Option<Place> {
        if root.join(OWN).is_dir() {
            return Some(Place::Project);
        }
        let all = cache_folder().ok()?.join("sources");
        let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let own = all.join(&disk::hash(real.as_os_str().as_encoded_bytes())[..32]);
        Some(Place::Person { all, own })
    }

    pub(super) fn folder(&self, root: &Path) -> PathBuf {
        match self {
            Place::Project => root.join(OWN).join(CACHE),
            Place::Person { own, .. } => own.clone(),
        }
    }

    /// Returns the cache folder, created if needed. Also removes caches of roots that no longer
    /// exist.
    fn made(&self, root: &Path) -> io::Result<PathBuf> {
        match self {
            Place::Project => disk::create(root, CACHE),
            Place::Person { all, own } => {
                DirBuilder::new().recursive(true).mode(PRIVATE).create(own)?;
                let real = root.canonicalize()?;
                fs::write(own.join(ROOT), real.as_os_str().as_encoded_bytes())?;
                sweep(all);
                Ok(own.clone())
            }
        }
    }
}

/// Removes caches of roots that no longer exist. A folder that cannot be removed is tried again
/// next time.
fn sweep(all: &Path) {
    let folders = fs::read_dir(all).into_iter().flatten().flatten().map(|it| it.path());
    for folder in folders {
        let root = fs::read(folder.join(ROOT)).unwrap_or_default();
        let root = Path::new(OsStr::from_bytes(&root));
        if root.is_absolute() && !root.exists() {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// Returns the header of a payload; `None` if the program's own file is gone.
fn header(payload: &[u8]) -> Option<Vec<u8>> {
    let program = fs::metadata(std::env::current_exe().ok()?).ok()?;
    let stamp = Stamp::of(&program);
    let build = format!("{FORMAT} {} {} {}", env!("CARGO_PKG_VERSION"), stamp.size, stamp.modified);
    let build = xxh3_128(build.as_bytes()).to_le_bytes();
    Some([&MAGIC[..], &build, &xxh3_64(payload).to_le_bytes()].concat())
}

fn restored(file: &StoredFile<'_>) -> Option<KnownFile> {
    let words = Words::from_hashes(numbers(file.words))?;
    Some(KnownFile { path: file.path.into(), words })
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|it| u32::from_le_bytes(*it)).collect()
}

fn bytes(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|it| it.to_le_bytes()).collect()
}
