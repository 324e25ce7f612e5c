//! Changes below a folder, as reported by the kernel.
//!
//! The kernel queues a report before the writer's call returns, and the queue is emptied before
//! each query. So the answer includes every write before the query, without a thread and without
//! delay. (Writes through a memory map, and on network file systems, are not reported; editors
//! report theirs.)

use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::walk;

/// Watches on folders.
pub(super) struct Watch {
    queue: OwnedFd,
    folders: Mutex<FxHashMap<i32, PathBuf>>,
    /// Reason why a folder could not be watched.
    failed: Mutex<Option<Errno>>,
}

/// Possible changes since the last call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Changes {
    /// Exactly these files, possibly none.
    Files(FxHashSet<PathBuf>),
    /// Any file: folders came or went, rules changed, or the queue overflowed.
    Anything,
}

/// Bytes read at once; room for a few hundred reports.
const BUFFER: usize = 16 << 10;

impl Watch {
    pub(super) fn new() -> io::Result<Watch> {
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        Ok(Watch { queue, folders: Mutex::default(), failed: Mutex::default() })
    }

    /// Watches the entries of a folder. Repeated calls are allowed, and needed after a folder
    /// moved.
    pub(super) fn add(&self, folder: &Path) {
        let events = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::MOVE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF;
        match inotify::add_watch(&self.queue, folder, events | WatchFlags::ONLYDIR) {
            Ok(number) => {
                self.folders
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(number, folder.to_owned());
            }
            // Removed or replaced since it was listed: the parent folder's watch reports that.
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(error) => {
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
        }
    }

    /// Returns the reason if a folder is not watched; the watch is then unreliable.
    pub(super) fn failed(&self) -> Option<Errno> {
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the changes since the last call, without waiting.
    pub(super) fn drain(&self) -> Changes {
        let mut files = FxHashSet::default();
        let mut anything = false;
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut reader = Reader::new(&self.queue, &mut buffer);
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => continue,
                Err(_) => {
                    anything = true;
                    break;
                }
            };
            let (flags, number) = (event.events(), event.wd());
            if flags.contains(ReadFlags::IGNORED) {
                folders.remove(&number);
                continue;
            }
            let name = event.file_name().map(|it| OsStr::from_bytes(it.to_bytes()));
            match (folders.get(&number), name) {
                (Some(folder), Some(name)) if !changes_much(flags, name) => {
                    let name = Path::new(name);
                    let is_listed = walk::is_source(name) || walk::is_document(name);
                    if is_listed && !walk::is_left_out(name.as_os_str()) {
                        files.insert(folder.join(name));
                    }
                }
                _ => anything |= matters(flags, name),
            }
        }
        if anything { Changes::Anything } else { Changes::Files(files) }
    }
}

/// Returns whether an event may affect more than the file of this name.
fn changes_much(flags: ReadFlags, name: &OsStr) -> bool {
    flags.contains(ReadFlags::ISDIR)
        || [".gitignore", ".ignore", "pyvenv.cfg"].iter().any(|it| name == *it)
}

/// Returns whether an event matters: excluded folders and attributes of folders do not.
fn matters(flags: ReadFlags, name: Option<&OsStr>) -> bool {
    match name {
        None => !flags.contains(ReadFlags::ATTRIB),
        Some(name) => !(flags.contains(ReadFlags::ISDIR) && walk::is_left_out(name)),
    }
}
