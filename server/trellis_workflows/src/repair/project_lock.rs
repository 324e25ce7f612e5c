//! The lock of a project's repairs: one process at a time, so that no cause is paid for twice. The
//! repairs of one process, as of one editor, share it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::fault::{Fault, FaultKind};
use trellis_store::disk;
use trellis_store::lock::{Lock, LockError};

/// The locks that repairs of this process hold, by project.
static HELD: Mutex<BTreeMap<PathBuf, Weak<Lock>>> = Mutex::new(BTreeMap::new());

/// Takes the lock of the project in `home`, held until all of its repairs in this process have
/// dropped it. If another process holds the lock, the error names it.
pub(super) fn take(home: &Path) -> Result<Arc<Lock>, Fault> {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(lock) = held.get(home).and_then(Weak::upgrade) {
        return Ok(lock);
    }
    held.retain(|_, it| it.strong_count() > 0);
    let lock = Arc::new(of_process(home)?);
    held.insert(home.to_owned(), Arc::downgrade(&lock));
    Ok(lock)
}

fn of_process(home: &Path) -> Result<Lock, Fault> {
    let path = home.join(".trellis/repair.lock");
    let locked = disk::ensure(home).map_err(LockError::Failed).and_then(|()| Lock::of_file(&path));
    locked.map_err(|why| match why {
        LockError::Failed(error) => {
            Fault::internal(format!("cannot lock {}: {error}", path.display()))
        }
        LockError::Held(owner) => Fault::input(format!("{owner} is repairing {}", home.display()))
            .kind(FaultKind::Busy)
            .hint("wait for it, or stop it: fixes kept before stay"),
    })
}
