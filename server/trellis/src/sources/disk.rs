//! Files as they are on disk: how to tell that one changed, and reading one that did not.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustc_hash::FxHashMap;
use trellis_python::{TextSource, Words};

/// What changes when a file is written. Times are nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) size: u64,
    pub(super) modified: i64,
    /// Of the inode: it betrays a writer that sets the other time back.
    pub(super) changed: i64,
}

/// A file written so short a time before it was looked at may be written again without another stamp:
/// clocks of file systems are coarse, the coarsest in use being two seconds.
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

    /// Whether an equal stamp at a later time proves an equal text.
    pub(super) fn is_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let newest = self.modified.max(self.changed);
        i64::try_from(now.saturating_sub(COARSEST).as_nanos()).is_ok_and(|it| newest < it)
    }
}

/// A file that was read.
pub(super) struct Contents {
    pub(super) text: Arc<str>,
    pub(super) words: Words,
    pub(super) hash: u128,
}

/// Reads a file. A byte order mark stays where it is: offsets are those of the file.
pub(super) fn read(path: &Path) -> io::Result<Contents> {
    let bytes = trellis_sandbox::files::read(path)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))?;
    let hash = xxhash_rust::xxh3::xxh3_128(text.as_bytes());
    Ok(Contents { words: Words::of(&text), text: text.into(), hash })
}

/// Reads texts when a question needs them, but only those that the index means: a file that was written
/// since is as good as unreadable, and noted, so that the question can be put again.
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

    /// Where names begin.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// From now on this file may be read, if it is as it was.
    pub(super) fn expect(&self, path: &Arc<str>, stamp: Stamp) {
        self.expected.write().unwrap_or_else(PoisonError::into_inner).insert(path.clone(), stamp);
    }

    /// From now on the index has another text of this file; what asks for the old one comes too late.
    pub(super) fn forget(&self, path: &str) {
        self.expected.write().unwrap_or_else(PoisonError::into_inner).remove(path);
    }

    /// The same text has another stamp now.
    pub(super) fn renew(&self, path: &str, stamp: Stamp) {
        let mut expected = self.expected.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(it) = expected.get_mut(path) {
            *it = stamp;
        }
    }

    /// How often a text could not be had because it was no longer there.
    pub(super) fn misses(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// The files of those times.
    pub(super) fn take_changed(&self) -> Vec<String> {
        std::mem::take(&mut *self.changed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn unchanged(&self, path: &str) -> Option<Arc<str>> {
        let expected = *self.expected.read().unwrap_or_else(PoisonError::into_inner).get(path)?;
        let full = self.root.join(path);
        let text = trellis_sandbox::files::read_text(&full).ok()?;
        // Looked at after the reading: whoever wrote meanwhile is seen.
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
