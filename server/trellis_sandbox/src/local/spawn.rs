//! Starts a process in namespaces of its own and keeps a handle on it.

use std::{
    ffi::CString,
    fs, io,
    os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd},
    ptr,
    sync::{LazyLock, mpsc},
    thread,
};

use libc::c_char;
use rustix::{
    io::Errno,
    pipe::{PipeFlags, pipe_with},
    process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid,
    },
};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::{
    cgroup::Group,
    child::{self, ChildSetup, Identity, NEWS, PROGRAM, STAGES, WANTS_MAPS},
};
use crate::error::{FileError, IsolationError, ProgramError};

/// The specification of a child. This process closes the child's end of each stream once the child
/// runs.
#[derive(Debug)]
pub(crate) struct ChildSpec {
    pub(crate) orders: ChildSetup,
    /// Kernel flags `CLONE_NEW…`.
    pub(crate) namespaces: i32,
    /// Descriptors that `orders` names by number.
    pub(crate) descriptors: Vec<OwnedFd>,
    /// The control group of the child, which joins before it does anything.
    pub(crate) group: Option<Group>,
    /// The resources that must exist as long as the child.
    pub(crate) remains: Option<SandboxFolder>,
}

/// The step that gives a child its users, for messages.
const USER_MAP: &str = "writing the user map";

/// A sandbox's folder, and the token that marks it as not yet removed.
pub(crate) type SandboxFolder = (TempDir, TaskTrackerToken);

/// A child that runs its program. It is reaped by [`Child::reap`] or when dropped.
#[derive(Debug)]
pub(crate) struct Child {
    pid: Pid,
    handle: OwnedFd,
    pub(crate) group: Option<Group>,
    remains: Option<SandboxFolder>,
}

impl Child {
    /// Returns the folder of a child that has been reaped; the control group is removed.
    pub(crate) fn into_remains(self) -> Option<SandboxFolder> {
        self.remains
    }

    /// Returns the process id in this process's namespace, valid until the child is reaped.
    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// Returns a handle that becomes readable when the child has ended.
    pub(crate) fn exit_handle(&self) -> io::Result<OwnedFd> {
        self.handle.try_clone()
    }

    /// Kills the child. As the first process of its namespace it takes all others along.
    pub(crate) fn kill(&self) {
        // The only possible error is that the child has already ended.
        let _ = pidfd_send_signal(&self.handle, Signal::KILL);
    }

    /// Waits for the end of the child, which the caller has brought about. In a process namespace
    /// the kernel reports it only after all others are gone.
    pub(crate) fn reap(&self) -> io::Result<()> {
        match waitid(WaitId::PidFd(self.handle.as_fd()), WaitIdOptions::EXITED) {
            Ok(_) | Err(Errno::CHILD) => Ok(()), // `CHILD`: reaped before
            Err(error) => Err(error.into()),
        }
    }
}

/// The reason there is no child.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpawnError {
    /// The isolation is not available here.
    #[error(transparent)]
    Isolation(#[from] IsolationError),
    /// The isolation works, but the program does not start.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

impl From<FileError> for SpawnError {
    fn from(error: FileError) -> SpawnError {
        SpawnError::Isolation(error.into())
    }
}

/// Starts a child. The error names the step that failed.
pub(crate) async fn spawn(job: ChildSpec) -> Result<Child, SpawnError> {
    let (reply, answer) = oneshot::channel();
    // Sending fails only if the thread is gone; then the reply's sender is gone as well.
    let _ = STARTER.send((job, reply));
    answer.await.unwrap_or(Err(SpawnError::Program(ProgramError::StarterEnded)))
}

type Reply = oneshot::Sender<Result<Child, SpawnError>>;

/// The thread that makes all children and lives as long as the program. Children die with the
/// *thread* that made them, and a worker thread of the runtime may end at any time.
static STARTER: LazyLock<mpsc::Sender<(ChildSpec, Reply)>> = LazyLock::new(|| {
    let (sender, jobs) = mpsc::channel::<(ChildSpec, Reply)>();
    let serve = move || {
        for (job, reply) in jobs {
            if let Err(Ok(child)) = reply.send(start(job)) {
                child.kill(); // the caller no longer waits
                let _ = child.reap();
            }
        }
    };
    thread::Builder::new()
        .name("run-starter".to_owned())
        .spawn(serve)
        .expect("a thread can be started");
    sender
});

fn start(mut job: ChildSpec) -> Result<Child, SpawnError> {
    let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(|e| failed("creating a pipe")(e.into()));
    let (go, go_writer) = pipe()?;
    let (news_reader, news) = pipe()?;
    (job.orders.go, job.orders.news) = (go.as_raw_fd(), news.as_raw_fd());
    let (arguments, environment) =
        (pointers(&job.orders.arguments), pointers(&job.orders.environment));
    let (pid, handle) = split(job.namespaces, &job.orders, &arguments, &environment, &go_writer)
        .map_err(failed("creating a process"))?;
    drop((go, news, std::mem::take(&mut job.descriptors)));
    let child = Child { pid, handle, group: job.group.take(), remains: job.remains.take() };
    let begun = introduce(&child, &job, &go_writer, &news_reader);
    if begun.is_err() {
        child.kill();
        let _ = child.reap();
    }
    begun.map(|()| child)
}

/// Returns the conversion of the system's error of a step.
fn failed(step: &'static str) -> impl FnOnce(io::Error) -> IsolationError {
    move |source| IsolationError::Step { step, source }
}

/// Brings the child to the point where its program runs.
fn introduce(
    child: &Child,
    job: &ChildSpec,
    go: &OwnedFd,
    news: &OwnedFd,
) -> Result<(), SpawnError> {
    if let Some(group) = &child.group {
        group.add(child.pid).map_err(IsolationError::from)?;
    }
    if job.namespaces & libc::CLONE_NEWUSER != 0 {
        own_maps(child.pid).map_err(failed(USER_MAP))?;
    }
    signal(go)?;
    loop {
        let mut record = [0; NEWS];
        let length = rustix::io::retry_on_intr(|| rustix::io::read(news, &mut record))
            .map_err(|error| pipe_error("read from the new process", error))?;
        if length < NEWS {
            return Ok(()); // closed by `execve`
        }
        let [a, b, c, d, e, f, g, h] = record;
        match i32::from_ne_bytes([a, b, c, d]) {
            WANTS_MAPS => {
                unprivileged_maps(child.pid, job.orders.identity).map_err(failed(USER_MAP))?;
                signal(go)?;
            }
            stage => {
                let stage = usize::try_from(stage).unwrap_or(PROGRAM);
                let source = io::Error::from_raw_os_error(i32::from_ne_bytes([e, f, g, h]));
                if stage == PROGRAM {
                    return Err(ProgramError::NotStarted { source }.into());
                }
                let step = STAGES.get(stage).copied().unwrap_or("starting");
                return Err(failed(step)(source).into());
            }
        }
    }
}

fn signal(go: &OwnedFd) -> Result<(), IsolationError> {
    let sent = rustix::io::write(go, b"!").map(drop);
    sent.map_err(|error| pipe_error("signal the new process to continue", error))
}

fn pipe_error(action: &'static str, error: Errno) -> IsolationError {
    IsolationError::Pipe { action, source: error.into() }
}

fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|it| it.as_ptr()).chain([ptr::null()]).collect()
}

/// Calls `clone` in the manner of `fork`: the child continues with a copy of the memory and never
/// returns from here.
fn split(
    namespaces: i32,
    orders: &ChildSetup,
    arguments: &[*const c_char],
    environment: &[*const c_char],
    go_writer: &OwnedFd,
) -> io::Result<(Pid, OwnedFd)> {
    let mut handle: RawFd = -1;
    let flags = namespaces | libc::CLONE_PIDFD | libc::SIGCHLD;
    // SAFETY: no stack and no shared memory, so that the child has its own of everything;
    // `become_program` does nothing that a single copied thread may not do. Closing the writer
    // makes the parent's end visible on the child's pipe.
    unsafe {
        let pid = libc::syscall(libc::SYS_clone, flags, 0, &raw mut handle, 0, 0);
        if pid == 0 {
            libc::close(go_writer.as_raw_fd());
            child::become_program(orders, arguments.as_ptr(), environment.as_ptr());
        }
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let Some(pid) = pid.filter(|_| handle >= 0) else {
            return Err(io::Error::other("the kernel gave no handle (Linux 5.2 added it)"));
        };
        Ok((pid, OwnedFd::from_raw_fd(handle)))
    }
}

/// Writes maps under which the child keeps the user and group of this process.
fn own_maps(pid: Pid) -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    write_maps(pid, &format!("{user} {user} 1\n"), &format!("{group} {group} 1\n"), true)
}

/// Writes maps under which root keeps its files and the child is an unprivileged user.
fn unprivileged_maps(pid: Pid, identity: Identity) -> io::Result<()> {
    let Identity::Unprivileged { inside, outside } = identity else { return Ok(()) };
    let map = format!("0 0 1\n{inside} {outside} 1\n");
    write_maps(pid, &map, &map, false)
}

fn write_maps(pid: Pid, users: &str, groups: &str, deny: bool) -> io::Result<()> {
    let file = |name: &str| format!("/proc/{}/{name}", pid.as_raw_nonzero());
    if deny {
        fs::write(file("setgroups"), "deny")?; // required without the rights of root
    }
    fs::write(file("uid_map"), users)?;
    fs::write(file("gid_map"), groups)
}

/// Returns a handle on a process that another program has made, and its process id.
pub(crate) fn handle_of(pid: i32) -> io::Result<(OwnedFd, Pid)> {
    let pid = (pid > 0).then(|| Pid::from_raw(pid)).flatten().ok_or(io::ErrorKind::InvalidInput)?;
    Ok((pidfd_open(pid, PidfdFlags::empty())?, pid))
}
