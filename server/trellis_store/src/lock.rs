//! File locks. The kernel holds them: a lock ends with its process, however that ends.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::disk;
use crate::error::StoreError;

/// A lock, held as long as the value lives.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Reason why a lock was not acquired.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds the lock.
    #[error("{0}")]
    Held(LockOwner),
    #[error("{0}")]
    Failed(io::Error),
}

/// The holder of a lock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockOwner {
    /// A process that has not written its name yet.
    #[error("another trellis")]
    Unknown,
    #[error("another job of this trellis")]
    ThisProcess,
    /// Another process, by its number and start: `4711, since 2026-01-01T00:00:00Z`.
    #[error("another trellis (process {0})")]
    Process(String),
}

impl Lock {
    /// Returns whether a process works in this folder.
    pub fn is_taken(root: &Path) -> bool {
        let path = root.join(".trellis/lock");
        let file = trellis_os::files::open(path).map(io::Take::into_inner);
        file.is_ok_and(|file| file.try_lock_shared().is_err())
    }

    /// Takes the lock of a folder, which allows one working process at a time.
    pub fn take(root: &Path) -> Result<Lock, StoreError> {
        let path = root.join(".trellis/lock");
        let locked =
            disk::ensure(root).map_err(LockError::Failed).and_then(|()| Lock::of_file(&path));
        locked.map_err(|why| match why {
            LockError::Failed(source) => StoreError::Lock { path, source },
            LockError::Held(owner) => StoreError::Busy { owner, root: root.to_owned() },
        })
    }

    /// Takes the lock of a file, without waiting for a living owner, and writes the owner's name
    /// into it.
    pub fn of_file(path: &Path) -> Result<Lock, LockError> {
        let mut file = open(path).map_err(LockError::Failed)?;
        let began = Instant::now();
        while file.try_lock().is_err() {
            let owner = owner(&mut file).map_err(LockError::Failed)?;
            if !owner.is_gone() || began.elapsed() > DYING {
                return Err(LockError::Held(owner.named()));
            }
            std::thread::sleep(STEP);
        }
        let since = jiff::Timestamp::now().strftime("%FT%TZ");
        let name = format!("{}, since {since}\n", std::process::id());
        let written = file.set_len(0).and_then(|()| file.rewind());
        written.and_then(|()| file.write_all(name.as_bytes())).map_err(LockError::Failed)?;
        Ok(Lock { _file: file })
    }

    /// Waits until no other process holds the lock of a file, and takes it.
    pub fn wait_for(path: &Path) -> io::Result<Lock> {
        let file = open(path)?;
        file.lock()?;
        Ok(Lock { _file: file })
    }
}

fn open(path: &Path) -> io::Result<File> {
    disk::open_own(path, OpenOptions::new().create(true).read(true).write(true).truncate(false))
}

/// Maximum bytes read of an owner's name.
const LONGEST_OWNER: u64 = 200;

/// Maximum time that children of a killed owner may hold its lock: they inherited it, and are about
/// to exit.
const DYING: Duration = Duration::from_secs(10);
/// Interval between attempts.
const STEP: Duration = Duration::from_millis(20);

/// The owner's note: `PROCESS, since TIME`. Empty between taking the lock and writing the note.
struct OwnerNote(String);

fn owner(file: &mut File) -> io::Result<OwnerNote> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(LONGEST_OWNER).read_to_end(&mut bytes)?;
    Ok(OwnerNote(String::from_utf8_lossy(&bytes).trim().to_owned()))
}

impl OwnerNote {
    fn process(&self) -> Option<u32> {
        self.0.split(',').next()?.parse().ok()
    }

    fn is_gone(&self) -> bool {
        let pid = self.process().and_then(|it| Pid::from_raw(i32::try_from(it).ok()?));
        pid.is_some_and(|it| test_kill_process(it) == Err(Errno::SRCH))
    }

    fn named(&self) -> LockOwner {
        match self.process() {
            None => LockOwner::Unknown,
            Some(it) if it == std::process::id() => LockOwner::ThisProcess,
            Some(_) => LockOwner::Process(self.0.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_of_a_killed_owner_are_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lock");
        std::fs::write(&path, "4194305, since long ago\n").expect("written");
        let child = open(&path).expect("open");
        child.lock().expect("locked");
        let (begun, begins) = std::sync::mpsc::channel();
        let place = path.clone();
        let waiter = std::thread::spawn(move || {
            begun.send(()).expect("sent");
            Lock::of_file(&place).map_err(|_| "held")
        });
        begins.recv().expect("begun");
        let since = Instant::now();
        while !waiter.is_finished() && since.elapsed() < 5 * STEP {
            std::thread::yield_now();
        }
        drop(child);
        let lock = waiter.join().expect("joined").expect("a lock");
        // The lock's owner is alive, so `of_file` does not wait.
        let Err(LockError::Held(who)) = Lock::of_file(&path) else { panic!("it is held") };
        assert_eq!(who.to_string(), "another job of this trellis");
        drop(lock);
    }
}
