//! What changed below a folder, as the kernel tells it.
//!
//! The kernel queues a report before the writer's call returns, and the queue is emptied before each
//! question: so whatever was written before the question is in the answer. No thread, no delay. (Writes
//! through a memory map, and on file systems of other machines, are not reported; editors report theirs.)

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

/// Folders that are watched.
pub(super) struct Watch {
    queue: OwnedFd,
    folders: Mutex<FxHashMap<i32, PathBuf>>,
    /// Why a folder could not be watched.
    failed: Mutex<Option<Errno>>,
}

/// What may have changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Changes {
    /// These files; nothing, if there are none.
    Files(FxHashSet<PathBuf>),
    /// Anything: folders came or went, or rules changed, or there was too much to tell.
    Anything,
}

/// Bytes read at once: a few hundred reports.
const BUFFER: usize = 16 << 10;

impl Watch {
    pub(super) fn new() -> io::Result<Watch> {
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        Ok(Watch { queue, folders: Mutex::default(), failed: Mutex::default() })
    }

    /// Watches the entries of a folder from now on. Once more is fine, and needed after a folder moved.
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
            // Gone or replaced since it was listed: the folder around it says so.
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(error) => {
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
        }
    }

    /// Why not everything is watched, if so: such a watch cannot be relied on.
    pub(super) fn failed(&self) -> Option<Errno> {
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What happened since the last call. Never waits.
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
                    if walk::is_source(Path::new(name)) && !walk::is_left_out(name) {
                        files.insert(folder.join(name));
                    }
                }
                _ => anything |= matters(flags, name),
            }
        }
        if anything { Changes::Anything } else { Changes::Files(files) }
    }
}

/// Whether more than a file of this name may be another one now.
fn changes_much(flags: ReadFlags, name: &OsStr) -> bool {
    flags.contains(ReadFlags::ISDIR)
        || [".gitignore", ".ignore", "pyvenv.cfg"].iter().any(|it| name == *it)
}

/// Folders that are left out come and go unseen, and so do attributes of folders.
fn matters(flags: ReadFlags, name: Option<&OsStr>) -> bool {
    match name {
        None => !flags.contains(ReadFlags::ATTRIB),
        Some(name) => !(flags.contains(ReadFlags::ISDIR) && walk::is_left_out(name)),
    }
}
