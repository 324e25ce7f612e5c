//! Sandboxes that stay open between runs of tests: the next run forks a worker that is warm already.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use tokio::sync::Mutex;
use trellis_sandbox::python;

use super::{Packages, Sandbox, SandboxArgs, Settled, activated, environments, open};
use crate::error::Fault;
use crate::output::Output;

/// More projects are worked on at once by few.
const KEPT_AT_MOST: usize = 4;

/// What a sandbox was opened for; with anything else it is another one.
#[derive(Clone, PartialEq)]
struct Key {
    root: PathBuf,
    args: SandboxArgs,
    /// The person's own file may have changed.
    allowed: Settled,
    /// What is installed for the tests.
    lines: Vec<String>,
    /// When something was installed into the project's own environment.
    installed: Vec<SystemTime>,
}

/// The sandboxes of one process, the last one used at the end.
#[derive(Default)]
pub(crate) struct WarmSandboxes(Mutex<Vec<(Key, Arc<Sandbox>)>>);

impl WarmSandboxes {
    /// The sandbox for the project in `root`: one that is open, else a new one.
    pub(crate) async fn open(
        &self,
        args: &SandboxArgs,
        root: &Path,
        needs: Packages,
        output: &Output,
    ) -> Result<Arc<Sandbox>, Fault> {
        let key = Key::of(args, root, &needs)?;
        let mut all = self.0.lock().await;
        if let Some(at) = all.iter().position(|(it, _)| *it == key) {
            let it = all.remove(at);
            let opened = it.1.clone();
            opened.voice.pass_to(output);
            all.push(it);
            return Ok(opened);
        }
        // Not while it is opened: an environment may have to be made, and other projects go on.
        drop(all);
        let opened = Arc::new(open(args, root, needs, output).await?);
        let mut all = self.0.lock().await;
        if let Some((_, other)) = all.iter().find(|(it, _)| *it == key) {
            // Somebody else was faster.
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

    /// Closes all of them; what they left behind, as sentences.
    pub(crate) async fn close(&self) -> Vec<String> {
        let all = std::mem::take(&mut *self.0.lock().await);
        let mut left = Vec::new();
        for (_, opened) in all {
            left.extend(opened.runner.close().await);
        }
        left
    }
}

/// Closes one without waiting: tests may be running in it, which nobody else has to wait for.
fn close_later(opened: Arc<Sandbox>) {
    tokio::spawn(async move { opened.runner.close().await });
}

impl Key {
    fn of(args: &SandboxArgs, root: &Path, needs: &Packages) -> Result<Key, Fault> {
        let allowed = args.settled(root)?;
        let lines = match needs {
            Packages::Lines(lines) => lines.clone(),
            Packages::Project => python::of_project(root).map_err(Fault::input)?.lines,
        };
        let chosen = allowed.python.as_deref().map(prefix).into_iter().chain(activated());
        let all = environments(root).into_iter().chain(chosen);
        let installed = all.flat_map(|it| stamps(&it)).collect();
        Ok(Key { root: root.to_owned(), args: args.clone(), allowed, lines, installed })
    }
}

/// The folder of an environment that is named by it, or by its interpreter.
fn prefix(named: &Path) -> PathBuf {
    let above = named.parent().and_then(Path::parent).filter(|_| !named.is_dir());
    above.unwrap_or(named).to_owned()
}

/// When packages were last added to an environment or removed from it, and when it was made.
fn stamps(environment: &Path) -> Vec<SystemTime> {
    let modified = |path: PathBuf| fs::metadata(path).and_then(|it| it.modified()).ok();
    let libraries = fs::read_dir(environment.join("lib")).into_iter().flatten().flatten();
    let packages = libraries.map(|it| it.path().join("site-packages"));
    let all = packages.chain([environment.join("pyvenv.cfg")]);
    all.filter_map(modified).collect()
}
