//! What contains a worker, whichever sandbox it is.

use std::{path::Path, time::Duration};

use tokio::time::timeout;

use crate::{
    docker::{Container, ProjectCopy},
    limits::{held, process_ceiling},
    local::{LocalSandbox, Isolation},
    report::LimitStatus,
    request::Limits,
    sandbox::Writable,
};

/// An engine tells within seconds why a container ended.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// What becomes of what tests write to the project.
const OVERLAY: &str =
    "each run's writes go to a layer in memory that is thrown away after it (overlay)";
const COPY: &str = "each run's writes go to a copy in memory that is made equal to your files before the next one (copy)";

fn project(opened: Result<&str, &String>) -> LimitStatus {
    let how = match opened {
        Ok(how) => format!("tests may write to it; {how}"),
        Err(reason) => format!("read-only: {reason}"),
    };
    held("project", how)
}

/// A running sandbox. Dropping it ends it in the background.
#[derive(Debug)]
pub(crate) struct RunningSandbox {
    kind: SandboxKind,
    limits: Vec<LimitStatus>,
    writable: Writable,
}

#[derive(Debug)]
enum SandboxKind {
    Local(LocalSandbox),
    /// With the copy of the project that tests may write to.
    Docker(Container, Option<ProjectCopy>),
}

impl RunningSandbox {
    pub(crate) fn local(mut cell: LocalSandbox) -> RunningSandbox {
        let limits = std::mem::take(&mut cell.limits);
        RunningSandbox { limits, writable: cell.writable.clone(), kind: SandboxKind::Local(cell) }
    }

    /// `copied`: what tests may write to, or the reason why there is nothing, for people.
    pub(crate) fn docker(
        container: Container,
        mut limits: Vec<LimitStatus>,
        copied: Result<ProjectCopy, String>,
    ) -> RunningSandbox {
        limits.push(project(copied.as_ref().map(|_| COPY)));
        RunningSandbox { kind: SandboxKind::Docker(container, copied.ok()), limits, writable: Writable::private() }
    }

    /// The copy of the project that the worker has to make equal to it before each run.
    pub(crate) fn copied(&self) -> Option<&ProjectCopy> {
        match &self.kind {
            SandboxKind::Local(_) => None,
            SandboxKind::Docker(_, copied) => copied.as_ref(),
        }
    }

    pub(crate) fn writable(&self) -> &Writable {
        &self.writable
    }

    pub(crate) fn limits(&self) -> &[LimitStatus] {
        &self.limits
    }

    /// Processes inside that the kernel has killed for want of memory so far, where that is
    /// counted.
    pub(crate) fn memory_kills(&self) -> Option<u64> {
        match &self.kind {
            SandboxKind::Local(cell) => cell.memory_kills(),
            SandboxKind::Docker(container, _) => Some(container.memory_kills()),
        }
    }

    /// Lets tests write to `tree`, unless `read_only`, where it can be had that nothing of it remains. The limits say
    /// whether. A container was made for it, or was not.
    pub(crate) async fn open_tree(&mut self, tree: &Path, limits: &Limits, read_only: bool) {
        let SandboxKind::Local(cell) = &mut self.kind else { return };
        let opened = match read_only {
            true => Err("as requested".to_owned()),
            false => cell.open_tree(tree, limits).await,
        };
        self.limits.push(project(opened.as_ref().map(|()| OVERLAY)));
    }

    /// Gives the next run the project as it is on the disk; a copy in a container is the worker's to lay. The error is a
    /// sentence for people.
    pub(crate) async fn lay(&mut self) -> Result<(), String> {
        match &mut self.kind {
            SandboxKind::Local(cell) => cell.lay().await,
            SandboxKind::Docker(..) => Ok(()),
        }
    }

    /// Forgets what the last run wrote to the project. The error is a sentence for people.
    pub(crate) async fn lift(&mut self) -> Result<(), String> {
        match &mut self.kind {
            SandboxKind::Local(cell) => cell.lift().await,
            SandboxKind::Docker(..) => Ok(()),
        }
    }

    /// Why it ended, where that can be told: a sentence for people.
    pub(crate) async fn last_words(&self) -> Option<String> {
        match &self.kind {
            SandboxKind::Local(_) => None,
            SandboxKind::Docker(container, _) => {
                // A container that lives on has nothing to tell of its end.
                let how = timeout(LAST_WORDS, container.wait_end()).await.ok()?;
                how.engine_gone
                    .then(|| "the Docker engine stopped answering during the run".to_owned())
            }
        }
    }

    /// Ends everything inside and waits for that.
    pub(crate) async fn end(self) -> Result<(), String> {
        match self.kind {
            SandboxKind::Local(cell) => cell.end().await,
            SandboxKind::Docker(container, _) => container.end().await,
        }
    }

    /// The memory of all processes inside together is bounded.
    pub(crate) fn holds_memory(&self) -> bool {
        match &self.kind {
            SandboxKind::Local(cell) => cell.memory_kills().is_some(),
            SandboxKind::Docker(..) => self.limits().iter().any(|it| it.name == "memory" && it.enforced),
        }
    }

    /// Bubblewrap shows only when it runs whether it works.
    pub(crate) fn is_bubblewrap(&self) -> bool {
        matches!(&self.kind, SandboxKind::Local(cell) if cell.isolation() == Some(Isolation::Bubblewrap))
    }

    /// What lies above the tree is there, though most of it cannot be read. Elsewhere it does not exist.
    pub(crate) fn shows_what_is_above(&self) -> bool {
        matches!(&self.kind, SandboxKind::Local(cell) if cell.isolation().is_none_or(|it| it == Isolation::LandlockOnly))
    }

    /// A bound for `RLIMIT_NPROC`. None: something else counts, or nothing does.
    pub(crate) fn process_ceiling(&self, limits: &Limits) -> Option<u64> {
        match &self.kind {
            SandboxKind::Local(cell) => process_ceiling(limits, cell.stranger),
            // The engine counts; the user's number may be that of others on the machine.
            SandboxKind::Docker(..) => None,
        }
    }

    /// Nothing inside can change the tree.
    pub(crate) fn protects_files(&self) -> bool {
        self.limits().iter().any(|it| it.name == "file system" && it.enforced)
    }
}
