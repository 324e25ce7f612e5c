//! Files on the disk: detects changes, and reads files that did not change.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustc_hash::FxHashMap;
use trellis_python::{TextSource, is_document};

/// File metadata that changes when a file is written. Times are nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) size: u64,
    pub(super) modified: i64,
    /// Change time of the inode, which reveals a writer that resets the other time.
    pub(super) changed: i64,
}

/// Coarsest clock of a file system in use. A file written this recently may be written again
/// without a new stamp.
const COARSEST: Duration = Duration::from_secs(2);

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Stamp {
        let time = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000) + nanos;
        Stamp {
            size: metadata.len(),
            modified: time(metadata.mtime(), metadata.mtime_nsec()),
            changed: time(metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Returns whether an equal stamp at a later time proves an equal text.
    pub(super) fn is_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let newest = self.modified.max(self.changed);
        i64::try_from(now.saturating_sub(COARSEST).as_nanos()).is_ok_and(|it| newest < it)
    }
}

/// Contents of a file.
pub(super) struct Contents {
    pub(super) text: Arc<str>,
    pub(super) hash: u128,
}

/// Reads a file. A byte order mark is kept, since offsets are those of the file.
pub(super) fn read(path: &Path) -> io::Result<Contents> {
    let bytes = trellis_os::files::read(path)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))?;
    Ok(Contents { hash: hash(&text), text: text.into() })
}

/// Returns the hash by which texts are compared.
pub(super) fn hash(text: &str) -> u128 {
    xxhash_rust::xxh3::xxh3_128(text.as_bytes())
}

/// Reads texts when a query needs them, but only the versions that the index knows. A file written
/// since then counts as unreadable and is noted, so that the query can be repeated.
pub(super) struct Disk {
    root: PathBuf,
    expected: RwLock<FxHashMap<Arc<str>, Stamp>>,
    changed: Mutex<Vec<String>>,
    count: AtomicU64,
}

impl Disk {
    pub(super) fn new(root: &Path) -> Disk {
        Disk {
            root: root.to_owned(),
            expected: RwLock::default(),
            changed: Mutex::default(),
            count: AtomicU64::new(0),
        }
    }

    /// Returns the folder that names are relative to.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Allows reads of a file as long as it has this stamp.
    pub(super) fn expect(&self, path: &Arc<str>, stamp: Stamp) {
        self.expected.write().unwrap_or_else(PoisonError::into_inner).insert(path.clone(), stamp);
    }

    /// Forbids reads of a file, because the index has a newer text: a query for the old text comes
    /// too late.
    pub(super) fn forget(&self, path: &str) {
        self.expected.write().unwrap_or_else(PoisonError::into_inner).remove(path);
    }

    /// Updates the stamp of an unchanged text.
    pub(super) fn renew(&self, path: &str, stamp: Stamp) {
        let mut expected = self.expected.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(it) = expected.get_mut(path) {
            *it = stamp;
        }
    }

    /// Returns the number of reads that failed because the file had changed.
    pub(super) fn misses(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Returns and clears the files of failed reads.
    pub(super) fn take_changed(&self) -> Vec<String> {
        std::mem::take(&mut *self.changed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn unchanged(&self, path: &str) -> Option<Arc<str>> {
        let expected = *self.expected.read().unwrap_or_else(PoisonError::into_inner).get(path)?;
        let full = self.root.join(path);
        let text = match trellis_os::files::read_text(&full) {
            Ok(text) => text,
            // A document that is no text, or may not be read, names nothing.
            Err(_) if is_document(path) => String::new(),
            Err(_) => return None,
        };
        // Read the stamp after the text, so that a concurrent write is noticed.
        let now = Stamp::of(&fs::symlink_metadata(&full).ok()?);
        (now == expected).then(|| text.into())
    }
}

impl TextSource for Disk {
    fn read(&self, path: &str) -> Option<Arc<str>> {
        let text = self.unchanged(path);
        if text.is_none() {
            let mut changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
            changed.push(path.to_owned());
            self.count.fetch_add(1, Ordering::Release);
        }
        text
    }
}
