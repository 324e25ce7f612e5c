//! A running sandbox, local or in a container.

use std::{path::Path, time::Duration};

use tokio::time::timeout;

use crate::{
    docker::{Container, ProjectCopy},
    error::{EndError, LayerError, ReadOnlyReason},
    local::{Isolation, LocalSandbox},
    report::LimitStatus,
    request::Limits,
    resource_limits::{held, process_ceiling},
    sandbox::Writable,
};

/// Time limit for the engine to report the reason a container ended; it takes seconds at most.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Descriptions of how writes of tests to the project are discarded.
const OVERLAY: &str =
    "each run's writes go to a layer in memory that is thrown away after it (overlay)";
const COPY: &str = "each run's writes go to a copy in memory that is made equal to your files before the next one (copy)";

fn project(opened: Result<&str, &ReadOnlyReason>) -> LimitStatus {
    let how = match opened {
        Ok(how) => format!("tests may write to it; {how}"),
        Err(reason) => format!("read-only: {reason}"),
    };
    held("project", how)
}

/// A running sandbox. Dropping it ends the sandbox in the background.
#[derive(Debug)]
pub(crate) struct RunningSandbox {
    kind: SandboxKind,
    limits: Vec<LimitStatus>,
    writable: Writable,
}

#[derive(Debug)]
enum SandboxKind {
    Local(LocalSandbox),
    /// A container, with the copy of the project that tests may write to.
    Docker(Container, Option<ProjectCopy>),
}

impl RunningSandbox {
    pub(crate) fn local(mut cell: LocalSandbox) -> RunningSandbox {
        let limits = std::mem::take(&mut cell.limits);
        RunningSandbox { limits, writable: cell.writable.clone(), kind: SandboxKind::Local(cell) }
    }

    /// Wraps a container. `copied`: the copy that tests may write to, or the reason there is none.
    pub(crate) fn docker(
        container: Container,
        mut limits: Vec<LimitStatus>,
        copied: Result<ProjectCopy, ReadOnlyReason>,
    ) -> RunningSandbox {
        limits.push(project(copied.as_ref().map(|_| COPY)));
        RunningSandbox {
            kind: SandboxKind::Docker(container, copied.ok()),
            limits,
            writable: Writable::private(),
        }
    }

    /// Returns the copy of the project that the worker has to make equal to the project before each
    /// run.
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

    /// Returns what people should know of each run here, a sentence.
    pub(crate) fn note(&self) -> Option<&str> {
        match &self.kind {
            SandboxKind::Local(_) => None,
            SandboxKind::Docker(container, _) => container.note.as_deref(),
        }
    }

    /// Returns how many processes inside the kernel has killed so far because memory ran out;
    /// `None` where these are not counted.
    pub(crate) fn memory_kills(&self) -> Option<u64> {
        match &self.kind {
            SandboxKind::Local(cell) => cell.memory_kills(),
            SandboxKind::Docker(container, _) => Some(container.memory_kills()),
        }
    }

    /// Lets tests write to `tree`, unless `read_only`, if the local sandbox can discard the writes.
    /// The limits record the result. For a container this was decided when it was created.
    pub(crate) async fn open_tree(&mut self, tree: &Path, limits: &Limits, read_only: bool) {
        let SandboxKind::Local(cell) = &mut self.kind else { return };
        let opened = match read_only {
            true => Err(ReadOnlyReason::Requested),
            false => cell.open_tree(tree, limits).await,
        };
        self.limits.push(project(opened.as_ref().map(|()| OVERLAY)));
    }

    /// Shows the next run the project as it is on disk; in a container the worker updates the copy
    /// instead.
    pub(crate) async fn lay(&mut self) -> Result<(), LayerError> {
        match &mut self.kind {
            SandboxKind::Local(cell) => cell.lay().await,
            SandboxKind::Docker(..) => Ok(()),
        }
    }

    /// Discards what the last run wrote to the project.
    pub(crate) async fn lift(&mut self) -> Result<(), LayerError> {
        match &mut self.kind {
            SandboxKind::Local(cell) => cell.lift().await,
            SandboxKind::Docker(..) => Ok(()),
        }
    }

    /// Returns the reason the sandbox ended, if known: a sentence for people.
    pub(crate) async fn end_reason(&self) -> Option<String> {
        match &self.kind {
            SandboxKind::Local(_) => None,
            SandboxKind::Docker(container, _) => {
                // A container that is still running has no reason to report.
                let how = timeout(LAST_WORDS, container.wait_end()).await.ok()?;
                how.engine_gone
                    .then(|| "the Docker engine stopped answering during the run".to_owned())
            }
        }
    }

    /// Ends every process inside and waits for the end.
    pub(crate) async fn end(self) -> Result<(), EndError> {
        match self.kind {
            SandboxKind::Local(cell) => cell.end().await,
            SandboxKind::Docker(container, _) => Ok(container.end().await?),
        }
    }

    /// Returns whether the memory of all processes inside together is bounded.
    pub(crate) fn holds_memory(&self) -> bool {
        match &self.kind {
            SandboxKind::Local(cell) => cell.memory_kills().is_some(),
            SandboxKind::Docker(..) => {
                self.limits().iter().any(|it| it.name == "memory" && it.enforced)
            }
        }
    }

    /// Returns whether this is bubblewrap, which can turn out not to work only once it runs.
    pub(crate) fn is_bubblewrap(&self) -> bool {
        matches!(&self.kind, SandboxKind::Local(cell) if cell.isolation() == Some(Isolation::Bubblewrap))
    }

    /// Returns whether the folders above the tree exist inside, though most of them cannot be read.
    /// In other sandboxes they do not exist.
    pub(crate) fn shows_parent_folders(&self) -> bool {
        matches!(&self.kind, SandboxKind::Local(cell) if cell.isolation().is_none_or(|it| it == Isolation::LandlockOnly))
    }

    /// Returns a bound for `RLIMIT_NPROC`; `None` if something else counts processes, or nothing
    /// does.
    pub(crate) fn process_ceiling(&self, limits: &Limits) -> Option<u64> {
        match &self.kind {
            SandboxKind::Local(cell) => process_ceiling(limits, cell.stranger),
            // The engine counts; other processes on the machine may share the container's user id.
            SandboxKind::Docker(..) => None,
        }
    }

    /// Returns whether no process inside can change the tree.
    pub(crate) fn protects_files(&self) -> bool {
        self.limits().iter().any(|it| it.name == "file system" && it.enforced)
    }
}
