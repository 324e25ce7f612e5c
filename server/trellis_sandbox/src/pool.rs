//! The pool of idle workers.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use crate::{
    backend::Backend,
    docker::Mounted,
    error::EndError,
    request::{Limits, Request, Tree},
    toolchain::Toolchain,
    tree::VisibleFolder,
    worker::Worker,
};

/// Maximum number of idle workers on one engine; each takes about 40 MB.
const KEPT: usize = 8;

/// The properties that must be equal for a worker to serve another run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkerKey {
    /// The folder, with the numbers of its device and inode, which change when the folder is
    /// replaced. `None` for texts, which any scratch folder can hold.
    folder: Option<(PathBuf, Option<(u64, u64)>)>,
    /// True if the worker shows a copy of the folder.
    copied: bool,
    limits: Limits,
    /// The toolchain that the sandbox shows.
    toolchain: Option<Toolchain>,
    /// The package folders, with their modification times when the worker imported from them.
    packages: Vec<(PathBuf, Option<SystemTime>)>,
    /// The parts of the folder itself that the sandbox shows.
    mounted: Vec<Mounted>,
    /// The folder with coverage.py for an environment that has none.
    pub(crate) provided: Option<PathBuf>,
}

impl WorkerKey {
    pub(crate) fn of(request: &Request, place: &Backend, provided: Option<PathBuf>) -> WorkerKey {
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
        WorkerKey { folder, copied, limits: request.limits, toolchain, packages, mounted, provided }
    }
}

/// Returns the package folders with their modification times, which an installation changes.
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
    /// The engine of the worker; 0 for local sandboxes.
    pub(crate) engine: usize,
    pub(crate) worker: Worker,
    pub(crate) visible: VisibleFolder,
}

impl Lease {
    /// Gives up a worker whose engine does not answer, and removes the files on this machine. The
    /// engine removes the container when it answers again.
    pub(crate) async fn abandon(self) {
        drop(self.worker);
        let visible = self.visible;
        let _ = tokio::task::spawn_blocking(move || visible.remove()).await;
    }

    /// Ends the sandbox and removes the files. The errors are sentences for people.
    pub(crate) async fn close(self) -> Vec<String> {
        let ended = self.worker.sandbox.end().await;
        let visible = self.visible;
        let removed = tokio::task::spawn_blocking(move || visible.remove()).await;
        let removed = removed.map_err(EndError::from).and_then(|it| Ok(it?));
        let errors = [ended, removed].into_iter().filter_map(Result::err);
        errors.map(|error| error.to_string()).collect()
    }
}

/// Idle workers, the most recently used last.
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

    /// Returns whether there is an idle worker with `key` on `engine`.
    pub(crate) fn has(&self, key: &WorkerKey, engine: usize) -> bool {
        self.idle().iter().any(|it| it.key == *key && it.engine == engine)
    }

    /// Takes an idle worker with `key` on `engine` out of the pool, if there is one.
    pub(crate) fn take(&self, key: &WorkerKey, engine: usize) -> Option<Lease> {
        let mut idle = self.idle();
        let position = idle.iter().rposition(|it| it.key == *key && it.engine == engine)?;
        Some(idle.remove(position))
    }

    /// Adds an idle worker; returns the least recently used one of its engine if there are more
    /// than the limit.
    pub(crate) fn put(&self, lease: Lease) -> Option<Lease> {
        let (mut idle, engine) = (self.idle(), lease.engine);
        idle.push(lease);
        let there = idle.iter().filter(|it| it.engine == engine).count();
        let oldest = idle.iter().position(|it| it.engine == engine)?;
        (there > KEPT).then(|| idle.remove(oldest))
    }

    /// Takes all idle workers of `engine` out of the pool.
    pub(crate) fn take_all(&self, engine: usize) -> Vec<Lease> {
        self.idle().extract_if(.., |it| it.engine == engine).collect()
    }

    /// Empties the pool and returns the workers, for the caller to close.
    pub(crate) fn empty(&self) -> Vec<Lease> {
        std::mem::take(&mut *self.idle())
    }
}
