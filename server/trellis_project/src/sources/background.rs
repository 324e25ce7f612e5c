//! Work of an idle server: outlines of all files, the table of names, the cache.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use trellis_python::Index;

use super::{IndexedFile, Scope, Workspace, cache};

/// Maximum changed files that are read one by one before the table of names is rebuilt.
const UNPREPARED_AT_MOST: usize = 64;

/// Maximum bytes of text prepared for reference queries, which takes memory. In larger workspaces
/// the remaining texts are read when a query needs them.
const READY_AT_MOST: usize = 48 << 20;

/// One round of background work.
struct Job {
    root: PathBuf,
    index: Index,
    /// Files for the cache; `None` if the cache is up to date.
    files: Option<Vec<(Arc<str>, IndexedFile)>>,
}

impl Workspace {
    /// Starts the background work, unless nothing is to be done or it is running.
    pub fn work_in_background(&mut self) {
        let unprepared = self.index.unprepared() > UNPREPARED_AT_MOST;
        let is_due = self.kept && (unprepared || !self.warmed);
        if !is_due || self.working.swap(true, Ordering::Relaxed) {
            return;
        }
        self.warmed = true;
        let (job, working, stop) = (self.job(), self.working.clone(), self.stop.clone());
        let started = std::thread::Builder::new()
            .name("outlines".to_owned())
            .stack_size(trellis_os::STACK_BYTES)
            .spawn(move || {
                // Queries have priority. A refused `nice` does no harm.
                let _ = rustix::process::nice(10);
                job.run(&stop);
                working.store(false, Ordering::Relaxed);
            });
        if let Err(error) = started {
            self.working.store(false, Ordering::Relaxed);
            tracing::warn!("outlines are created only when needed: {error}");
        }
    }

    /// Stops the work, and saves changes since the last write of the cache if that is quick.
    pub fn finish(&mut self) {
        let quick = self.index.unprepared() <= UNPREPARED_AT_MOST;
        self.stop.store(true, Ordering::Relaxed);
        if self.kept && quick && self.unsaved > 0 {
            self.job().save();
        }
    }

    fn job(&mut self) -> Job {
        let wanted = matches!(self.scope, Scope::Folder) && self.unsaved > 0;
        let files = wanted.then(|| {
            self.unsaved = 0;
            let of_disk = self.known.iter().filter(|(name, _)| !self.open.contains(&***name));
            of_disk.map(|(name, known)| (name.clone(), *known)).collect()
        });
        Job { root: self.root.clone(), index: self.index.clone(), files }
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Job {
    fn run(self, stop: &AtomicBool) {
        self.outlines(stop);
        if !stop.load(Ordering::Relaxed) {
            if self.index.unprepared() > 0 {
                self.index.prepare_names();
            }
            self.save();
            self.index.prepare_references(READY_AT_MOST, || !stop.load(Ordering::Relaxed));
        }
    }

    /// Prepares all outlines on all processors: until then, each query for a name searches all
    /// texts.
    fn outlines(&self, stop: &AtomicBool) {
        let next = AtomicUsize::new(0);
        let work = || self.index.prepare_outlines(&next, || !stop.load(Ordering::Relaxed));
        let others = std::thread::available_parallelism().map_or(0, |it| it.get() - 1);
        std::thread::scope(|scope| {
            for _ in 0..others {
                // Without more threads this one does all the work.
                let builder = std::thread::Builder::new().stack_size(trellis_os::STACK_BYTES);
                let _ = builder.spawn_scoped(scope, || {
                    let _ = rustix::process::nice(10);
                    work();
                });
            }
            work();
        });
    }

    fn save(&self) {
        let Some(files) = &self.files else { return };
        if let Err(error) = cache::save(&self.root, &self.index, files) {
            let place = cache::Place::of(&self.root);
            let folder = place.map_or(self.root.clone(), |it| it.folder(&self.root));
            let shown = folder.display();
            tracing::warn!("the next start will be slower: {shown}: {error}");
        }
    }
}
