//! One process a folder. The lock is the kernel's: it goes with the process, however that ends.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::Path;

use crate::error::Fault;

/// Held as long as the value lives.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Whether a process holds it.
    pub(crate) fn is_taken(root: &Path) -> bool {
        let file = OpenOptions::new().read(true).open(root.join(".trellis/lock"));
        file.is_ok_and(|file| file.try_lock_shared().is_err())
    }

    pub(crate) fn take(root: &Path) -> Result<Lock, Fault> {
        let path = root.join(".trellis/lock");
        let cannot =
            |e: std::io::Error| Fault::internal(format!("cannot lock {}: {e}", path.display()));
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .write(true)
            .truncate(false)
            .open(&path)
            .map_err(cannot)?;
        if file.try_lock().is_err() {
            let mut owner = String::new();
            // Who holds it is a courtesy; the lock says enough without it.
            let _ = file.read_to_string(&mut owner);
            let root = root.display();
            let who = format!("another trellis (process {}) is at work in {root}", owner.trim());
            return Err(Fault::input(who).kind("busy").hint(
                "wait for it, or stop it; it leaves a checkpoint, and ends with its editor",
            ));
        }
        file.set_len(0).and_then(|()| file.rewind()).map_err(cannot)?;
        let since = jiff::Timestamp::now().strftime("%FT%TZ");
        writeln!(file, "{}, since {since}", std::process::id()).map_err(cannot)?;
        Ok(Lock { _file: file })
    }
}
