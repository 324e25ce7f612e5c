//! Sandboxes that stay open between test runs: the next run forks a worker that is already warm.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use tokio::sync::Mutex;
use trellis_sandbox::python;

use super::{Packages, Sandbox, SandboxArgs, Settled, activated, environments, open};
use crate::fault::Fault;
use crate::reporter::Reporter;

/// Maximum number of open sandboxes; few people work on more projects at once.
const KEPT_AT_MOST: usize = 4;

/// The purpose of a sandbox; any difference requires another one.
#[derive(Clone, PartialEq)]
struct Key {
    root: PathBuf,
    args: SandboxArgs,
    /// Permissions, which the person's own file may have changed.
    allowed: Settled,
    /// Requirement lines of the packages for the tests.
    lines: Vec<String>,
    /// Times of the last installations into the project's own environment.
    installed: Vec<SystemTime>,
}

/// The sandboxes of one process, the most recently used last.
#[derive(Default)]
pub struct WarmSandboxes(Mutex<Vec<(Key, Arc<Sandbox>)>>);

impl WarmSandboxes {
    /// Returns the sandbox for the project in `root`: an open one, else a new one.
    pub async fn open(
        &self,
        args: &SandboxArgs,
        root: &Path,
        needs: Packages,
        reporter: &Reporter,
    ) -> Result<Arc<Sandbox>, Fault> {
        let key = Key::of(args, root, &needs)?;
        let mut all = self.0.lock().await;
        if let Some(at) = all.iter().position(|(it, _)| *it == key) {
            let it = all.remove(at);
            let opened = it.1.clone();
            opened.voice.pass_to(reporter);
            all.push(it);
            return Ok(opened);
        }
        // The lock is released while a sandbox opens: that may create an environment, and other
        // projects must not wait for it.
        drop(all);
        let opened = Arc::new(open(args, root, needs, reporter).await?);
        let mut all = self.0.lock().await;
        if let Some((_, other)) = all.iter().find(|(it, _)| *it == key) {
            // Another task opened one first.
            let other = other.clone();
            close_later(opened);
            return Ok(other);
        }
        let (old, mut new): (Vec<_>, Vec<_>) =
            all.drain(..).partition(|(it, _)| it.root == key.root);
        new.push((key, opened.clone()));
        let surplus = new.len().saturating_sub(KEPT_AT_MOST);
        old.into_iter().chain(new.drain(..surplus)).for_each(|(_, it)| close_later(it));
        *all = new;
        Ok(opened)
    }

    /// Closes all sandboxes and returns messages about what they could not remove.
    pub async fn close(&self) -> Vec<String> {
        let all = std::mem::take(&mut *self.0.lock().await);
        let mut left = Vec::new();
        for (_, opened) in all {
            left.extend(opened.runner.close().await);
        }
        left
    }
}

/// Closes a sandbox in the background, since tests may still run in it.
fn close_later(opened: Arc<Sandbox>) {
    tokio::spawn(async move { opened.runner.close().await });
}

impl Key {
    fn of(args: &SandboxArgs, root: &Path, needs: &Packages) -> Result<Key, Fault> {
        let allowed = args.settled(root)?;
        let lines = match needs {
            Packages::Lines(lines) => lines.clone(),
            Packages::Project => python::of_project(root)?.lines,
        };
        let chosen = allowed.python.as_deref().map(prefix).into_iter().chain(activated());
        let all = environments(root).into_iter().chain(chosen);
        let installed = all.flat_map(|it| stamps(&it)).collect();
        Ok(Key { root: root.to_owned(), args: args.clone(), allowed, lines, installed })
    }
}

/// Returns the folder of an environment that is named by itself or by its interpreter.
fn prefix(named: &Path) -> PathBuf {
    let above = named.parent().and_then(Path::parent).filter(|_| !named.is_dir());
    above.unwrap_or(named).to_owned()
}

/// Returns the modification times of an environment's package folders, and of its creation.
fn stamps(environment: &Path) -> Vec<SystemTime> {
    let modified = |path: PathBuf| fs::metadata(path).and_then(|it| it.modified()).ok();
    let libraries = fs::read_dir(environment.join("lib")).into_iter().flatten().flatten();
    let packages = libraries.map(|it| it.path().join("site-packages"));
    let all = packages.chain([environment.join("pyvenv.cfg")]);
    all.filter_map(modified).collect()
}
