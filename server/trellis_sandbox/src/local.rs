//! The local sandbox: as much isolation as this machine allows, and an honest account of it.
//!
//! From strong to weak; what does not work here is passed over, and the report says why:
//!
//! ```text
//! namespaces    own files, processes, network, IPC; made by us, or by bubblewrap
//! bare          Landlock and a system call filter on an ordinary process
//! ```
//!
//! Control groups, the filter and resource limits come on top of either.

mod landlock_only;
mod bubblewrap;
mod cgroup;
mod child;
mod orphans;
mod filter;
mod landlock;
mod layer;
mod namespaces;
mod owners;
mod spawn;
mod status;
mod mounts;

use std::{
    ffi::{CString, OsStr, OsString},
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Path, PathBuf},
    sync::Mutex,
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
    child::{Identity, ChildSetup},
    layer::Layer,
    spawn::{Child, ChildSpec, SpawnError, spawn},
};
use crate::{
    running_sandbox::RunningSandbox,
    report::LimitStatus,
    request::Limits,
    sandbox::{Connection, Launch, Writable},
};

/// A killed process is gone at once, unless the kernel is stuck in it.
const END: Duration = Duration::from_secs(10);

/// A way to contain a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Namespaces made by Trellis.
    Namespaces,
    /// Namespaces made by the program `bwrap`.
    Bubblewrap,
    /// An ordinary process under Landlock and a system call filter.
    LandlockOnly,
}

/// The local sandbox of this machine. Remembers what turned out not to work.
#[derive(Debug)]
pub(crate) struct Local {
    /// Where folders for sandboxes are made.
    scratch: PathBuf,
    only: Option<Isolation>,
    bubblewrap: Option<PathBuf>,
    refused: Mutex<Vec<(Isolation, String)>>,
    /// Has a token for every sandbox of which anything is left.
    remains: TaskTracker,
}

/// A process under isolation, and what was put up for it. Dropping it ends it in the background.
#[derive(Debug)]
pub(crate) struct LocalSandbox {
    parts: Option<SandboxParts>,
    /// What holds here.
    pub(crate) limits: Vec<LimitStatus>,
    pub(crate) writable: Writable,
    /// Tests run as a user who has no other processes.
    pub(crate) stranger: bool,
    /// Who that is, as this machine counts.
    owner: Option<u32>,
    /// What tests write to the project, where they can.
    layer: Option<Layer>,
}

#[derive(Debug)]
struct SandboxParts {
    child: Child,
    /// With bubblewrap: the worker, which is a child of the child.
    inner: Option<OwnedFd>,
    /// The worker's number.
    worker: Pid,
    isolation: Isolation,
}

impl Local {
    /// `only` None: whatever works best, with bubblewrap where `path` (a list as in `PATH`) has it.
    pub(crate) fn new(scratch: PathBuf, only: Option<Isolation>, path: &OsStr) -> Local {
        let bubblewrap =
            std::env::split_paths(path).map(|it| it.join("bwrap")).find(|it| it.is_file());
        Local { scratch, only, bubblewrap, refused: Mutex::default(), remains: TaskTracker::new() }
    }

    /// The order in which ways are tried. For root our own namespaces are the stronger ones: tests
    /// run as somebody else, which bubblewrap does not do.
    fn ways(&self) -> Vec<Isolation> {
        let ways = match (self.only, geteuid().is_root()) {
            (Some(only), _) => return vec![only],
            (None, true) => [Isolation::Namespaces, Isolation::Bubblewrap, Isolation::LandlockOnly],
            (None, false) => [Isolation::Bubblewrap, Isolation::Namespaces, Isolation::LandlockOnly],
        };
        let refused = self.refused();
        ways.into_iter().filter(|way| refused.iter().all(|(it, _)| it != way)).collect()
    }

    fn refused(&self) -> Vec<(Isolation, String)> {
        self.refused.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Remembers that a way does not work here.
    pub(crate) fn refuse(&self, way: Isolation, reason: String) {
        self.refused.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((way, reason));
    }

    /// Waits until nothing is left of sandboxes that were dropped.
    pub(crate) async fn settled(&self) {
        self.remains.close();
        self.remains.wait().await;
        self.remains.reopen();
    }

    /// Starts a worker in the strongest isolation to be had.
    pub(crate) async fn start(&self, launch: &Launch) -> Result<(LocalSandbox, Connection), String> {
        let mut last = "no isolation is available".to_owned();
        for way in self.ways() {
            match self.start_as(way, launch).await {
                Ok(started) => return Ok(started),
                Err(SpawnError::Program(reason)) => return Err(reason),
                Err(SpawnError::Isolation(reason)) => {
                    last.clone_from(&reason);
                    self.refuse(way, reason);
                }
            }
        }
        // The next attempt starts from the top: this may have been a full disk.
        self.refused.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clear();
        Err(last)
    }

    async fn start_as(
        &self,
        way: Isolation,
        launch: &Launch,
    ) -> Result<(LocalSandbox, Connection), SpawnError> {
        let folder = tempfile::Builder::new().prefix("cell-").tempdir_in(&self.scratch);
        let folder = folder.map_err(|error| {
            format!(
                "cannot create a folder in {}: {error}; choose another one",
                self.scratch.display()
            )
        })?;
        let group = Group::make(&launch.limits);
        let (ours, theirs) = streams().map_err(|error| format!("cannot create a pipe: {error}"))?;
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
            group: group.as_ref().map(Group::version).map_err(String::clone),
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
        let cell = LocalSandbox { parts: Some(parts), limits, writable, stranger, owner, layer: None };
        Ok((cell, ours))
    }

    /// A sandbox with a project that has nothing in it, and that project.
    pub(crate) async fn probe(&self, limits: &Limits) -> Result<(RunningSandbox, TempDir), String> {
        let tree = tempfile::tempdir_in(&self.scratch);
        let tree = tree.map_err(|error| format!("{}: {error}", self.scratch.display()))?;
        let launch = Launch {
            // It waits for as long as the sandbox is there.
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

/// What a way of isolation comes up with.
struct SandboxSetup {
    job: ChildSpec,
    writable: Writable,
    /// The reason why there is no Landlock or no filter, if there is none.
    landlock: Result<(), String>,
    filter: Result<(), String>,
    /// Where bubblewrap tells the worker's number.
    info: Option<OwnedFd>,
}

impl LocalSandbox {
    /// How many of its processes the kernel has killed for want of memory so far; none where that
    /// is not counted.
    pub(crate) fn memory_kills(&self) -> Option<u64> {
        Some(self.parts.as_ref()?.child.group.as_ref()?.memory_kills())
    }

    /// What contains it.
    pub(crate) fn isolation(&self) -> Option<Isolation> {
        self.parts.as_ref().map(|it| it.isolation)
    }

    /// From now on tests may write to `tree`. The error is a reason why they may not, for people.
    pub(crate) async fn open_tree(&mut self, tree: &Path, limits: &Limits) -> Result<(), String> {
        let Some(parts) = self.parts.as_ref().filter(|it| it.isolation != Isolation::LandlockOnly) else {
            return Err("without namespaces there is no alternative".to_owned());
        };
        let pid = parts.worker;
        self.layer = Some(Layer::of(pid, tree, limits.file_bytes, self.owner)?);
        let laid = self.lay().await;
        if laid.is_err() {
            self.layer = None;
        }
        laid
    }

    /// Gives the next run a project as it is on the disk, where tests may write to it. The error is a sentence for people.
    pub(crate) async fn lay(&mut self) -> Result<(), String> {
        self.with_layer(Layer::lay).await
    }

    /// Forgets what the last run wrote to the project.
    pub(crate) async fn lift(&mut self) -> Result<(), String> {
        self.with_layer(Layer::lift).await
    }

    async fn with_layer(
        &mut self,
        work: fn(&mut Layer) -> Result<(), String>,
    ) -> Result<(), String> {
        let Some(mut layer) = self.layer.take() else { return Ok(()) };
        let done = tokio::task::spawn_blocking(move || (work(&mut layer), layer)).await;
        let (done, layer) = done.map_err(|error| error.to_string())?;
        self.layer = Some(layer);
        done
    }

    /// Kills everything inside and waits until it is gone.
    pub(crate) async fn end(mut self) -> Result<(), String> {
        let Some(parts) = self.parts.take() else { return Ok(()) };
        parts.kill();
        let gone = parts.gone().await;
        let reaped = tokio::task::spawn_blocking(move || parts.finish()).await;
        reaped.map_err(|error| error.to_string())??;
        gone
    }
}

impl Drop for LocalSandbox {
    fn drop(&mut self) {
        if let Some(parts) = self.parts.take() {
            parts.kill();
            // Waiting could block the executor. There is nobody left to tell of an error.
            thread::spawn(move || parts.finish());
        }
    }
}

impl SandboxParts {
    fn kill(&self) {
        if self.isolation == Isolation::LandlockOnly {
            // The leader of a group: those it started go along, unless they left the group.
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
    async fn gone(&self) -> Result<(), String> {
        let lost = |error: io::Error| format!("lost contact with the sandbox: {error}");
        let handles = [
            self.child.exit_handle().map(Some),
            self.inner.as_ref().map(OwnedFd::try_clone).transpose(),
        ];
        for handle in handles {
            let Some(handle) = handle.map_err(lost)? else { continue };
            // SAFETY: an `OwnedFd` that this function keeps to itself: open, and the same, as long
            // as it lives.
            let ended = unsafe { AsyncFd::register_with_interest(handle, Interest::READABLE) };
            let ended = ended.map_err(|error| lost(error.into()))?;
            let Ok(done) = timeout(END, ended.readable()).await else {
                return Err("a killed sandbox did not end: it hangs in the kernel".to_owned());
            };
            let _ = done.map_err(lost)?;
        }
        Ok(())
    }

    /// Reaps the child, ends what escaped and removes the folder.
    fn finish(self) -> Result<(), String> {
        self.child
            .reap()
            .map_err(|error| format!("cannot wait for the end of the sandbox: {error}"))?;
        let Some((folder, _token)) = self.child.into_remains() else { return Ok(()) };
        if self.isolation == Isolation::LandlockOnly {
            orphans::kill_all(folder.path());
        }
        crate::tree::remove(folder.keep())
    }
}

/// Our ends of a worker's standard streams, and its own.
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

/// A string for the kernel. Paths and variables with a zero byte do not exist.
fn c_string(text: impl AsRef<OsStr>) -> CString {
    let bytes = text.as_ref().as_bytes();
    CString::new(bytes.split(|it| *it == 0).next().unwrap_or_default()).unwrap_or_default()
}

/// Orders that start the launch's program with nothing put up around it.
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
        limits: status::at_start(),
        program: c_string(command.first().map_or(OsStr::new(""), OsString::as_os_str)),
        arguments: command.iter().map(c_string).collect(),
        environment: environment.iter().map(pair).collect(),
    }
}
