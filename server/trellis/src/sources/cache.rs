//! What is known of a folder's files, kept in one file for the next start.
//!
//! A second start then lists the folder, compares sizes and times, and reads this file: no source is read
//! until a question needs its text. The file belongs to one build of the program: another one may see other
//! symbols in the same text. One that is damaged, cut off or foreign is as good as none. It is replaced as a
//! whole, so processes that write at once do not disturb each other or those that read.

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
use crate::sandbox::cache_folder;
use crate::workspace::disk;

/// The folder of what is ours in a project, and in it that of the cache.
const OWN: &str = ".trellis";
const CACHE: &str = "cache";
/// The file in that folder.
const FILE: &str = "sources";
/// In the person's cache, the file that says whose it is.
const ROOT: &str = "root";
/// Names in the code are nobody else's business.
const PRIVATE: u32 = 0o700;

/// Changes with what is written below.
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
    /// Four bytes each, the lowest first.
    words: &'a [u8],
    /// A [`StoredOutline`]; on its own, so that many can be decoded at once.
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
    /// Place in [`SymbolKind::ALL`].
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

/// A file as it was when the cache was written.
pub(super) struct CachedFile {
    pub(super) path: String,
    pub(super) known: IndexedFile,
    pub(super) words: Words,
    pub(super) outline: Outline,
}

/// What was kept for a root; nothing if that is missing, damaged or of another build.
pub(super) fn load(root: &Path) -> Vec<CachedFile> {
    let place = Place::of(root).map(|it| it.folder(root).join(FILE));
    let bytes = place.and_then(|it| trellis_sandbox::files::read(it).ok()).unwrap_or_default();
    let Some((head, payload)) = bytes.split_at_checked(HEAD) else { return Vec::new() };
    let files = || postcard::from_bytes::<Vec<StoredFile<'_>>>(payload).ok();
    let files = header(payload).filter(|it| it == head).and_then(|_| files());
    let kept: Option<Vec<CachedFile>> =
        files.unwrap_or_default().par_iter().with_min_len(64).map(restored).collect();
    kept.unwrap_or_default()
}

/// Whether anything was kept for a root.
pub(super) fn is_there(root: &Path) -> bool {
    Place::of(root).is_some_and(|it| it.folder(root).join(FILE).exists())
}

/// Keeps what is known of these files. All their outlines are read, so they should be there.
///
/// # Errors
///
/// The folder cannot be written, or would be left through a symbolic link.
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

/// Where the cache of a root lies.
pub(super) enum Place {
    /// In the project, where git does not look: there is work of ours already.
    Project,
    /// In the person's cache: the folder was only opened. All of these, and the one for this root.
    Person { all: PathBuf, own: PathBuf },
}

impl Place {
    /// None where there is no work of ours and no place for caches.
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

    /// The same, made if it has to be. Caches of roots that are gone go as well.
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

/// Removes caches of roots that are gone. What cannot be removed is tried again by the next one.
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

/// What stands in front of a payload; `None` if the program's own file is gone.
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
