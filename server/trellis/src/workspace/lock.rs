//! Locks in files. They are the kernel's: a lock goes with the process, however that ends.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::error::Fault;

/// Held as long as the value lives.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// Why there was no lock.
pub(crate) enum NoLock {
    /// Somebody else has it: who, as words.
    Held(String),
    Failed(io::Error),
}

impl Lock {
    /// Whether a process works in this folder.
    pub(crate) fn is_taken(root: &Path) -> bool {
        let path = root.join(".trellis/lock");
        let file = run::files::open(path).map(io::Take::into_inner);
        file.is_ok_and(|file| file.try_lock_shared().is_err())
    }

    /// For work in a folder, which one process does at a time.
    pub(crate) fn take(root: &Path) -> Result<Lock, Fault> {
        let path = root.join(".trellis/lock");
        Lock::of_file(&path).map_err(|why| match why {
            NoLock::Failed(e) => Fault::internal(format!("cannot lock {}: {e}", path.display())),
            NoLock::Held(owner) => {
                Fault::input(format!("{owner} is at work in {}", root.display())).kind("busy").hint(
                    "wait for it, or stop it; it leaves a checkpoint, and ends with its editor",
                )
            }
        })
    }

    /// The lock of a file, now or not at all. The owner's name is written into it.
    pub(crate) fn of_file(path: &Path) -> Result<Lock, NoLock> {
        let mut file = open(path).map_err(NoLock::Failed)?;
        if file.try_lock().is_err() {
            return Err(NoLock::Held(owner(file)));
        }
        let since = jiff::Timestamp::now().strftime("%FT%TZ");
        let name = format!("{}, since {since}\n", std::process::id());
        let written = file.set_len(0).and_then(|()| file.rewind());
        written.and_then(|()| file.write_all(name.as_bytes())).map_err(NoLock::Failed)?;
        Ok(Lock { _file: file })
    }

    /// The lock of a file, as soon as nobody else has it.
    pub(crate) fn wait_for(path: &Path) -> io::Result<Lock> {
        let file = open(path)?;
        file.lock()?;
        Ok(Lock { _file: file })
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.create(true).read(true).write(true).truncate(false);
    // Nobody has to have the other end of a pipe for this to return.
    let file = options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")),
    }
}

/// Longest name of an owner that is read, in bytes.
const LONGEST_OWNER: u64 = 200;

fn owner(file: File) -> String {
    let mut owner = String::new();
    // Who holds it is a courtesy; the lock says enough without it.
    let read = file.take(LONGEST_OWNER).read_to_string(&mut owner);
    match owner.trim() {
        // Between taking it and writing the name.
        "" => "another trellis".to_owned(),
        _ if read.is_err() => "another trellis".to_owned(),
        owner if owner.starts_with(&format!("{},", std::process::id())) => {
            "another job of this trellis".to_owned()
        }
        owner => format!("another trellis (process {owner})"),
    }
}
