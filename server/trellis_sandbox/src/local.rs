//! The local sandbox: the strongest isolation this machine allows, and a truthful report of it.
//!
//! The kinds of isolation, from strong to weak. A kind that does not work here is skipped, and the
//! report gives the reason:
//!
//! ```text
//! Namespaces, Bubblewrap  own files, processes, network, IPC; made by Trellis, or by `bwrap`
//! LandlockOnly            Landlock and a system call filter on an ordinary process
//! ```
//!
//! Control groups, the system call filter and resource limits apply in addition to each.

mod bubblewrap;
mod cgroup;
mod child;
mod filter;
mod landlock;
mod landlock_only;
mod layer;
mod mounts;
mod namespaces;
mod orphans;
mod owners;
mod spawn;
mod status;

use std::{
    ffi::{CString, OsStr, OsString},
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use rustix::{
    pipe::{PipeFlags, pipe_with},
    process::{Pid, geteuid},
};
use tempfile::TempDir;
use tokio::{
    io::{Interest, unix::AsyncFd},
    net::unix::pipe::{Receiver, Sender},
    time::timeout,
};
use tokio_util::task::TaskTracker;

use self::{
    cgroup::Group,
    child::{ChildSetup, Identity},
    layer::Layer,
    spawn::{Child, ChildSpec, SpawnError, spawn},
};
use crate::{
    error::{
        EndError, FileAction, FileError, FilterError, IsolationError, LandlockError, LayerError,
        LocalError, ReadOnlyReason,
    },
    report::LimitStatus,
    request::Limits,
    running_sandbox::RunningSandbox,
    sandbox::{Connection, Launch, Writable},
};

/// Time limit for the end of a killed process, which is immediate unless the kernel hangs in it.
const END: Duration = Duration::from_secs(10);

/// A kind of isolation for a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Namespaces made by Trellis.
    Namespaces,
    /// Namespaces made by the program `bwrap`.
    Bubblewrap,
    /// An ordinary process under Landlock and a system call filter.
    LandlockOnly,
}

/// The local sandbox of this machine. It remembers which kinds of isolation turned out not to work.
#[derive(Debug)]
pub(crate) struct Local {
    /// The folder for the scratch folders of sandboxes.
    scratch: PathBuf,
    only: Option<Isolation>,
    bubblewrap: Option<PathBuf>,
    refused: Mutex<Vec<(Isolation, Arc<LocalError>)>>,
    /// Tracks every sandbox whose cleanup has not finished.
    remains: TaskTracker,
}

/// A process under isolation, with the resources made for it. Dropping it ends the process in the
/// background.
#[derive(Debug)]
pub(crate) struct LocalSandbox {
    parts: Option<SandboxParts>,
    /// The status of the limits in this sandbox.
    pub(crate) limits: Vec<LimitStatus>,
    pub(crate) writable: Writable,
    /// True if tests run as a user who has no other processes.
    pub(crate) stranger: bool,
    /// The id of that user outside the sandbox.
    owner: Option<u32>,
    /// The layer for what tests write to the project, if they may.
    layer: Option<Layer>,
}

#[derive(Debug)]
struct SandboxParts {
    child: Child,
    /// With bubblewrap, a handle on the worker, which is a child of the child.
    inner: Option<OwnedFd>,
    /// The process id of the worker.
    worker: Pid,
    isolation: Isolation,
}

impl Local {
    /// Makes the sandbox of this machine. With `only` as `None` it uses the strongest isolation
    /// that works, with bubblewrap if `path` (a list as in `PATH`) has it.
    pub(crate) fn new(scratch: PathBuf, only: Option<Isolation>, path: &OsStr) -> Local {
        let bubblewrap =
            std::env::split_paths(path).map(|it| it.join("bwrap")).find(|it| it.is_file());
        Local { scratch, only, bubblewrap, refused: Mutex::default(), remains: TaskTracker::new() }
    }

    /// Returns the kinds of isolation in the order in which they are tried. For root, Trellis's own
    /// namespaces are stronger: tests run as a different user, which bubblewrap does not do.
    fn ways(&self) -> Vec<Isolation> {
        let ways = match (self.only, geteuid().is_root()) {
            (Some(only), _) => return vec![only],
            (None, true) => [Isolation::Namespaces, Isolation::Bubblewrap, Isolation::LandlockOnly],
            (None, false) => {
                [Isolation::Bubblewrap, Isolation::Namespaces, Isolation::LandlockOnly]
            }
        };
        let refused = self.refused();
        ways.into_iter().filter(|way| refused.iter().all(|(it, _)| it != way)).collect()
    }

    fn refused(&self) -> Vec<(Isolation, Arc<LocalError>)> {
        self.refused.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Remembers that a kind of isolation does not work here.
    pub(crate) fn refuse(&self, way: Isolation, reason: Arc<LocalError>) {
        self.refused.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((way, reason));
    }

    /// Waits until the cleanup of dropped sandboxes has finished.
    pub(crate) async fn settled(&self) {
        self.remains.close();
        self.remains.wait().await;
        self.remains.reopen();
    }

    /// Starts a worker in the strongest isolation available.
    pub(crate) async fn start(
        &self,
        launch: &Launch,
    ) -> Result<(LocalSandbox, Connection), LocalError> {
        let mut last = LocalError::NoIsolation;
        for way in self.ways() {
            match self.start_as(way, launch).await {
                Ok(started) => return Ok(started),
                Err(SpawnError::Program(error)) => return Err(error.into()),
                Err(SpawnError::Isolation(error)) => {
                    let error = Arc::new(error);
                    last = LocalError::Isolation(error.clone());
                    self.refuse(way, Arc::new(LocalError::Isolation(error)));
                }
            }
        }
        // The next attempt starts from the strongest kind again: the cause may have been a full
        // disk.
        self.refused.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clear();
        Err(last)
    }

    async fn start_as(
        &self,
        way: Isolation,
        launch: &Launch,
    ) -> Result<(LocalSandbox, Connection), SpawnError> {
        let folder = tempfile::Builder::new().prefix("cell-").tempdir_in(&self.scratch);
        let folder = folder.map_err(FileError::of(FileAction::CreateFolderIn, &self.scratch))?;
        let group = Group::make(&launch.limits);
        let (ours, theirs) =
            streams().map_err(|source| IsolationError::Pipe { action: "create a pipe", source })?;
        let mut plan = match way {
            Isolation::Namespaces => namespaces::plan(launch, folder.path())?,
            Isolation::Bubblewrap => bubblewrap::plan(self.bubblewrap.as_deref(), launch)?,
            Isolation::LandlockOnly => landlock_only::plan(launch, folder.path())?,
        };
        plan.job.orders.streams = [0, 1, 2].map(|it| theirs[it].as_raw_fd());
        plan.job.descriptors.extend(theirs);
        let owner = match plan.job.orders.identity {
            Identity::Unprivileged { outside, .. } => Some(outside),
            Identity::Own | Identity::Untouched => None,
        };
        let stranger = owner.is_some();
        let held = status::EnforcedLimits {
            limits: &launch.limits,
            shares_memory: launch.shares_memory,
            group: group.as_ref().map(Group::version),
            isolation: way,
            refused: self.refused(),
            stranger,
            landlock: plan.landlock,
            filter: plan.filter,
        };
        let limits = held.statuses();
        plan.job.group = group.ok();
        plan.job.remains = Some((folder, self.remains.token()));
        let child = spawn(plan.job).await?;
        let (inner, worker) = match plan.info {
            Some(info) => {
                let (handle, worker) = bubblewrap::worker(info).await?;
                (Some(handle), worker)
            }
            None => (None, child.pid()),
        };
        let parts = SandboxParts { child, inner, worker, isolation: way };
        let writable = plan.writable;
        let cell =
            LocalSandbox { parts: Some(parts), limits, writable, stranger, owner, layer: None };
        Ok((cell, ours))
    }

    /// Starts a sandbox with an empty project and returns both.
    pub(crate) async fn probe(
        &self,
        limits: &Limits,
    ) -> Result<(RunningSandbox, TempDir), LocalError> {
        let tree = tempfile::tempdir_in(&self.scratch);
        let path = || self.scratch.clone();
        let tree = tree.map_err(|source| LocalError::Scratch { path: path(), source })?;
        let launch = Launch {
            // The process waits for as long as the sandbox exists.
            command: vec!["/bin/sleep".into(), "infinity".into()],
            tree: tree.path().to_owned(),
            visible: Vec::new(),
            shares_memory: false,
            variables: Default::default(),
            limits: *limits,
        };
        let (cell, _) = self.start(&launch).await?;
        Ok((RunningSandbox::local(cell), tree))
    }
}

/// The setup for a sandbox of one kind of isolation.
struct SandboxSetup {
    job: ChildSpec,
    writable: Writable,
    /// `Ok` if Landlock applies or is not needed; else the reason there is none.
    landlock: Result<(), LandlockError>,
    filter: Result<(), FilterError>,
    /// The pipe on which bubblewrap reports the worker's process id.
    info: Option<OwnedFd>,
}

impl LocalSandbox {
    /// Returns how many processes inside the kernel has killed so far because memory ran out;
    /// `None` where these are not counted.
    pub(crate) fn memory_kills(&self) -> Option<u64> {
        Some(self.parts.as_ref()?.child.group.as_ref()?.memory_kills())
    }

    /// Returns the kind of isolation.
    pub(crate) fn isolation(&self) -> Option<Isolation> {
        self.parts.as_ref().map(|it| it.isolation)
    }

    /// Lets tests write to `tree` from now on.
    pub(crate) async fn open_tree(
        &mut self,
        tree: &Path,
        limits: &Limits,
    ) -> Result<(), ReadOnlyReason> {
        let Some(parts) = self.parts.as_ref().filter(|it| it.isolation != Isolation::LandlockOnly)
        else {
            return Err(ReadOnlyReason::NoNamespaces);
        };
        let pid = parts.worker;
        self.layer = Some(Layer::of(pid, tree, limits.file_bytes, self.owner)?);
        let laid = self.lay().await;
        if laid.is_err() {
            self.layer = None;
        }
        Ok(laid?)
    }

    /// Lays a fresh layer for the next run over the project as it is on disk, if tests may write to
    /// it.
    pub(crate) async fn lay(&mut self) -> Result<(), LayerError> {
        self.with_layer(Layer::lay).await
    }

    /// Discards what the last run wrote to the project.
    pub(crate) async fn lift(&mut self) -> Result<(), LayerError> {
        self.with_layer(Layer::lift).await
    }

    async fn with_layer(
        &mut self,
        work: fn(&mut Layer) -> Result<(), LayerError>,
    ) -> Result<(), LayerError> {
        let Some(mut layer) = self.layer.take() else { return Ok(()) };
        let done = tokio::task::spawn_blocking(move || (work(&mut layer), layer)).await;
        let (done, layer) = done?;
        self.layer = Some(layer);
        done
    }

    /// Kills every process inside and waits until they are gone.
    pub(crate) async fn end(mut self) -> Result<(), EndError> {
        let Some(parts) = self.parts.take() else { return Ok(()) };
        parts.kill();
        let gone = parts.gone().await;
        tokio::task::spawn_blocking(move || parts.finish()).await??;
        gone
    }
}

impl Drop for LocalSandbox {
    fn drop(&mut self) {
        if let Some(parts) = self.parts.take() {
            parts.kill();
            // Waiting could block the executor. No caller is left to receive an error.
            thread::spawn(move || parts.finish());
        }
    }
}

impl SandboxParts {
    fn kill(&self) {
        if self.isolation == Isolation::LandlockOnly {
            // The worker leads a process group: its descendants are killed with it unless they left
            // the group.
            let _ = rustix::process::kill_process_group(
                self.child.pid(),
                rustix::process::Signal::KILL,
            );
        }
        if let Some(inner) = &self.inner {
            let _ = rustix::process::pidfd_send_signal(inner, rustix::process::Signal::KILL);
        }
        self.child.kill();
    }

    /// Waits for the end of the worker without blocking the executor.
    async fn gone(&self) -> Result<(), EndError> {
        let lost = |source: io::Error| EndError::LostContact { source };
        let handles = [
            self.child.exit_handle().map(Some),
            self.inner.as_ref().map(OwnedFd::try_clone).transpose(),
        ];
        for handle in handles {
            let Some(handle) = handle.map_err(lost)? else { continue };
            // SAFETY: this function keeps the `OwnedFd` to itself, so the descriptor stays open and
            // the same as long as the value lives.
            let ended = unsafe { AsyncFd::register_with_interest(handle, Interest::READABLE) };
            let ended = ended.map_err(|error| lost(error.into()))?;
            let Ok(done) = timeout(END, ended.readable()).await else {
                return Err(EndError::Hangs);
            };
            let _ = done.map_err(lost)?;
        }
        Ok(())
    }

    /// Reaps the child, ends processes that escaped and removes the folder.
    fn finish(self) -> Result<(), EndError> {
        self.child.reap().map_err(|source| EndError::NotReaped { source })?;
        let Some((folder, _token)) = self.child.into_remains() else { return Ok(()) };
        if self.isolation == Isolation::LandlockOnly {
            orphans::kill_all(folder.path());
        }
        Ok(crate::tree::remove(folder.keep())?)
    }
}

/// Makes the pipes of a worker's standard streams and returns our ends and the worker's.
fn streams() -> io::Result<(Connection, [OwnedFd; 3])> {
    let pipe = || pipe_with(PipeFlags::CLOEXEC);
    let (input, our_input) = pipe()?;
    let (our_output, output) = pipe()?;
    let (our_errors, errors) = pipe()?;
    let connection = Connection {
        input: Box::new(Sender::from_owned_fd(our_input)?),
        output: Box::new(Receiver::from_owned_fd(our_output)?),
        errors: Box::new(Receiver::from_owned_fd(our_errors)?),
    };
    Ok((connection, [input, output, errors]))
}

/// Converts text for the kernel, cut at a zero byte: paths and variables with one do not exist.
fn c_string(text: impl AsRef<OsStr>) -> CString {
    let bytes = text.as_ref().as_bytes();
    CString::new(bytes.split(|it| *it == 0).next().unwrap_or_default()).unwrap_or_default()
}

/// Returns the setup that starts the launch's program without isolation.
fn orders(launch: &Launch, command: &[OsString], writable: &Writable) -> ChildSetup {
    let environment = writable.with(&launch.variables);
    let pair = |(name, value): (&OsString, &OsString)| {
        let mut text = name.clone();
        text.push("=");
        text.push(value);
        c_string(text)
    };
    ChildSetup {
        steps: Vec::new(),
        root: None,
        identity: Identity::Own,
        loopback: false,
        streams: [-1; 3],
        go: -1,
        news: -1,
        landlock: None,
        filters: Vec::new(),
        keep: Vec::new(),
        limits: status::initial_limits(),
        program: c_string(command.first().map_or(OsStr::new(""), OsString::as_os_str)),
        arguments: command.iter().map(c_string).collect(),
        environment: environment.iter().map(pair).collect(),
    }
}
