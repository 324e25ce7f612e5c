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
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use trellis_python::{Index, NamePlace, Outline, Symbol, SymbolKind, SyntaxError, Words};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::IndexedFile;
use super::disk::Stamp;
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
const FORMAT: u32 = 1;
const MAGIC: &[u8; 8] = b"trellis\x01";
/// Magic, build and checksum.
const HEAD: usize = 8 + 16 + 8;

#[derive(Serialize, Deserialize)]
struct StoredFile<'a> {
    path: &'a str,
    size: u64,
    modified: i64,
    changed: i64,
    hash: u128,
    settled: bool,
    /// Hashes of four bytes each, little-endian.
    words: &'a [u8],
    /// A [`StoredOutline`], encoded separately so that many can be decoded in parallel.
    outline: &'a [u8],
}

#[derive(Serialize, Deserialize)]
struct StoredOutline<'a> {
    #[serde(borrow)]
    symbols: Vec<StoredSymbol<'a>>,
    #[serde(borrow)]
    errors: Vec<(u32, u32, &'a str)>,
}

type Bytes = (u32, u32);

#[derive(Serialize, Deserialize)]
struct StoredSymbol<'a> {
    name: &'a str,
    /// Index into [`SymbolKind::ALL`].
    kind: u8,
    range: Bytes,
    name_range: Bytes,
    header: Option<Bytes>,
    place: (u32, u32, u32, u32),
    docstring: Option<Bytes>,
    body: Option<Bytes>,
    decorators: Vec<Bytes>,
    parent: Option<u32>,
    nth: u32,
}

/// A file as of the last write of the cache.
pub(super) struct CachedFile {
    pub(super) path: String,
    pub(super) known: IndexedFile,
    pub(super) words: Words,
    pub(super) outline: Outline,
}

/// Returns the cached files of a root; none if the cache is missing, damaged or of another build.
pub(super) fn load(root: &Path) -> Vec<CachedFile> {
    let place = Place::of(root).map(|it| it.folder(root).join(FILE));
    let bytes = place.and_then(|it| trellis_os::files::read(it).ok()).unwrap_or_default();
    let Some((head, payload)) = bytes.split_at_checked(HEAD) else { return Vec::new() };
    let files = || postcard::from_bytes::<Vec<StoredFile<'_>>>(payload).ok();
    let files = header(payload).filter(|it| it == head).and_then(|_| files());
    let kept: Option<Vec<CachedFile>> =
        files.unwrap_or_default().par_iter().with_min_len(64).map(restored).collect();
    kept.unwrap_or_default()
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
    let parts: Vec<_> = files
        .iter()
        .filter_map(|(path, known)| {
            let file = index.file(path)?;
            let words = index.words(file).hashes().iter().flat_map(|it| it.to_le_bytes()).collect();
            Some((path, known, words, outline_bytes(&index.outline(file)).ok()?))
        })
        .collect::<Vec<(_, _, Vec<u8>, Vec<u8>)>>();
    let stored: Vec<StoredFile<'_>> = parts
        .iter()
        .map(|(path, known, words, outline)| StoredFile {
            path,
            size: known.stamp.size,
            modified: known.stamp.modified,
            changed: known.stamp.changed,
            hash: known.hash,
            settled: known.settled,
            words,
            outline,
        })
        .collect();
    let payload = postcard::to_stdvec(&stored).map_err(io::Error::other)?;
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

fn outline_bytes(outline: &Outline) -> postcard::Result<Vec<u8>> {
    let symbols = outline.symbols.iter().map(stored).collect();
    let errors =
        outline.errors.iter().map(|it| (it.line as u32, it.column as u32, &*it.message)).collect();
    postcard::to_stdvec(&StoredOutline { symbols, errors })
}

fn stored(symbol: &Symbol) -> StoredSymbol<'_> {
    let bytes = |it: &Range<usize>| (it.start as u32, it.end as u32);
    let kind = SymbolKind::ALL.iter().position(|it| *it == symbol.kind);
    StoredSymbol {
        name: &symbol.name,
        kind: kind.unwrap_or_default() as u8,
        range: bytes(&symbol.range),
        name_range: bytes(&symbol.name_range),
        header: symbol.header.as_ref().map(bytes),
        docstring: symbol.docstring.as_ref().map(bytes),
        body: symbol.body.as_ref().map(bytes),
        place: (symbol.place.line, symbol.place.utf8, symbol.place.utf16, symbol.place.chars),
        decorators: symbol.decorators.iter().map(bytes).collect(),
        parent: symbol.parent.map(|it| it as u32),
        nth: symbol.nth as u32,
    }
}

fn restored(file: &StoredFile<'_>) -> Option<CachedFile> {
    let (words, rest) = file.words.as_chunks::<4>();
    let words = Words::from_hashes(words.iter().map(|it| u32::from_le_bytes(*it)).collect())?;
    let outline: StoredOutline<'_> = postcard::from_bytes(file.outline).ok()?;
    let error = |(line, column, message): &(u32, u32, &str)| SyntaxError {
        line: *line as usize,
        column: *column as usize,
        message: (*message).to_owned(),
    };
    let symbols: Option<Vec<Symbol>> = outline.symbols.iter().map(symbol).collect();
    let stamp = Stamp { size: file.size, modified: file.modified, changed: file.changed };
    rest.is_empty().then_some(CachedFile {
        path: file.path.to_owned(),
        known: IndexedFile { stamp, hash: file.hash, settled: file.settled },
        words,
        outline: Outline { symbols: symbols?, errors: outline.errors.iter().map(error).collect() },
    })
}

fn symbol(it: &StoredSymbol<'_>) -> Option<Symbol> {
    let range = |(start, end): Bytes| start as usize..end as usize;
    let (line, utf8, utf16, chars) = it.place;
    Some(Symbol {
        name: it.name.to_owned(),
        kind: *SymbolKind::ALL.get(it.kind as usize)?,
        range: range(it.range),
        name_range: range(it.name_range),
        header: it.header.map(range),
        docstring: it.docstring.map(range),
        body: it.body.map(range),
        place: NamePlace { line, utf8, utf16, chars },
        decorators: it.decorators.iter().copied().map(range).collect(),
        parent: it.parent.map(|it| it as usize),
        nth: it.nth as usize,
    })
}
