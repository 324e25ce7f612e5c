//! Workers that wait for the next run.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use crate::{
    docker::Mounted,
    backend::Backend,
    request::{Limits, Request, Tree},
    toolchain::Toolchain,
    tree::VisibleFolder,
    worker::Worker,
};

/// As many are kept; each takes some 40 MB.
const KEPT: usize = 8;

/// What must be equal for a worker to serve another run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkerKey {
    /// With the numbers of its device and inode: a folder that was made anew is another one. None:
    /// texts, which any folder can hold.
    folder: Option<(PathBuf, Option<(u64, u64)>)>,
    /// The worker shows a copy of it.
    copied: bool,
    limits: Limits,
    /// The sandbox shows it.
    toolchain: Option<Toolchain>,
    /// The packages as they were when the worker imported them.
    packages: Vec<(PathBuf, Option<SystemTime>)>,
    /// The sandbox shows these of the folder itself.
    mounted: Vec<Mounted>,
    /// The worker has coverage.py from there, where it found no other.
    pub(crate) lent: Option<PathBuf>,
}

impl WorkerKey {
    pub(crate) fn of(request: &Request, place: &Backend, lent: Option<PathBuf>) -> WorkerKey {
        let folder = match &request.tree {
            Tree::Folder(path) | Tree::Copy { folder: path, .. } => {
                let numbers = fs::metadata(path).map(|it| (it.dev(), it.ino())).ok();
                Some((path.canonicalize().unwrap_or_else(|_| path.clone()), numbers))
            }
            Tree::Files(_) => None,
        };
        let packages = place.packages().map(packages).unwrap_or_default();
        let mounted = match &request.tree {
            Tree::Folder(path) => place.mounted(path),
            Tree::Copy { .. } | Tree::Files(_) => Vec::new(),
        };
        let toolchain = Toolchain::of(request.framework);
        let copied = matches!(request.tree, Tree::Copy { .. });
        WorkerKey { folder, copied, limits: request.limits, toolchain, packages, mounted, lent }
    }
}

/// An installation changes the folder it goes to.
fn packages(environment: &Path) -> Vec<(PathBuf, Option<SystemTime>)> {
    let versions = fs::read_dir(environment.join("lib")).into_iter().flatten().flatten();
    let folders = versions.map(|it| it.path().join("site-packages"));
    let stamp = |it: &PathBuf| fs::metadata(it).and_then(|it| it.modified()).ok();
    let mut found: Vec<_> = folders.map(|it| (it.clone(), stamp(&it))).collect();
    found.sort();
    found
}

/// A worker and the files it shows.
pub(crate) struct Lease {
    pub(crate) key: WorkerKey,
    pub(crate) worker: Worker,
    pub(crate) grounds: VisibleFolder,
}

impl Lease {
    /// Ends the sandbox and removes the files. The errors are sentences for people.
    pub(crate) async fn close(self) -> Vec<String> {
        let ended = self.worker.cage.end().await.map(drop);
        let grounds = self.grounds;
        let removed = tokio::task::spawn_blocking(move || grounds.remove()).await;
        let removed = removed.map_err(|error| error.to_string()).flatten();
        [ended, removed].into_iter().filter_map(Result::err).collect()
    }
}

/// The idle ones, the most recently used last.
#[derive(Default)]
pub(crate) struct Pool {
    idle: Mutex<Vec<Lease>>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl Pool {
    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Lease>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A worker that fits, if one waits.
    pub(crate) fn take(&self, key: &WorkerKey) -> Option<Lease> {
        let mut idle = self.idle();
        let position = idle.iter().rposition(|it| it.key == *key)?;
        Some(idle.remove(position))
    }

    /// Keeps a worker for later; gives one back that there is no room for.
    pub(crate) fn put(&self, post: Lease) -> Option<Lease> {
        let mut idle = self.idle();
        idle.push(post);
        (idle.len() > KEPT).then(|| idle.remove(0))
    }

    /// All of them, to be closed.
    pub(crate) fn empty(&self) -> Vec<Lease> {
        std::mem::take(&mut *self.idle())
    }
}
