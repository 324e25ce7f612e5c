//! Starting a child under limits and ending it with all it started.

use std::{
    fs, io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd, RawFd},
        unix::process::{CommandExt, ExitStatusExt},
    },
    process::{Child, Command, ExitStatus},
    sync::{LazyLock, mpsc},
    thread,
};

use rustix::{
    io::{Errno, FdFlags, fcntl_getfd, fcntl_setfd},
    process::{
        Pid, PidfdFlags, Signal, getpid, getppid, kill_process, kill_process_group, pidfd_open,
        set_parent_process_death_signal, setrlimit, setsid,
    },
};
use tokio::sync::oneshot;

use crate::{escaped, limits::Bounds, scratch::Scratch};

/// Asks the plugin for the stack. No program is known to use this signal; the kernel never sends
/// it.
pub(crate) const STACK_SIGNAL: Signal = Signal::STKFLT;

/// A child that leads its own session, and the scratch folder it works in. Dropping it kills the
/// whole group, in the background.
#[derive(Debug)]
pub(crate) struct Running {
    parts: Option<(Child, Scratch)>,
    pid: Pid,
    exit: OwnedFd,
}

/// How a child ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// What else is to be told.
    pub(crate) notes: Vec<String>,
}

impl Running {
    /// A handle that becomes readable when the child has exited. The child is not reaped by that,
    /// so its number (and the group's) stays ours.
    pub(crate) fn exit_handle(&self) -> io::Result<OwnedFd> {
        self.exit.try_clone()
    }

    /// Asks the main thread where it stands.
    pub(crate) fn ask_for_stack(&self) {
        // It may have exited this instant; then there is no stack to be had, and that is seen from
        // the empty pipe.
        let _ = kill_process(self.pid, STACK_SIGNAL);
    }

    /// Kills the process group.
    pub(crate) fn kill(&self) {
        kill_group(self.pid);
    }

    /// Kills what is left, reaps the child and removes the scratch folder. Blocks until that is
    /// done.
    pub(crate) fn end(mut self) -> io::Result<Ended> {
        let (child, scratch) = self.parts.take().expect("only `end` and `drop` take the parts");
        end(self.pid, child, scratch)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some((child, scratch)) = self.parts.take() {
            kill_group(self.pid);
            let pid = self.pid;
            // Waiting could block the executor, and the folder must outlive those who write to it.
            // There is nobody left to tell of an error.
            thread::spawn(move || end(pid, child, scratch));
        }
    }
}

fn end(pid: Pid, mut child: Child, scratch: Scratch) -> io::Result<Ended> {
    kill_group(pid);
    let status = child.wait()?;
    let mut notes = Vec::new();
    let escaped = escaped::kill_all(scratch.folder(), pid);
    if escaped > 0 {
        notes.push(format!("{escaped} process(es) had left the process group and outlived the tests; they were killed"));
    }
    notes.extend(scratch.remove().err());
    Ok(Ended { status, notes })
}

/// Valid until the leader is reaped: after that the number may be another's.
fn kill_group(pid: Pid) {
    // The one possible error is that no process is left in the group.
    let _ = kill_process_group(pid, Signal::KILL);
}

/// Starts `command` as the leader of a new session under `bounds`. The child inherits
/// `descriptors`, under the same numbers, besides its standard streams.
pub(crate) async fn start(
    mut command: Command,
    bounds: Bounds,
    descriptors: Vec<OwnedFd>,
    scratch: Scratch,
) -> io::Result<Running> {
    let parent = getpid();
    let strays = strays()?;
    // SAFETY: the closure runs between fork and exec. It only makes system calls, on values made
    // before the fork; it neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(move || {
            prepare(parent, &bounds, &descriptors, &strays)?;
            Ok(())
        });
    }
    let (reply, answer) = oneshot::channel();
    STARTER.send(Job { command, scratch, reply }).map_err(|_| io::Error::other(STARTER_GONE))?;
    answer.await.map_err(|_| io::Error::other(STARTER_GONE))?
}

fn prepare(
    parent: Pid,
    bounds: &Bounds,
    descriptors: &[OwnedFd],
    strays: &[RawFd],
) -> Result<(), Errno> {
    setsid()?;
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid() != Some(parent) {
        return Err(Errno::SRCH); // the parent died before the line above
    }
    for stray in strays {
        // SAFETY: the number is used for this one call, which harms nothing if it has been closed
        // since.
        let stray = unsafe { BorrowedFd::borrow_raw(*stray) };
        let _ = fcntl_setfd(stray, FdFlags::CLOEXEC);
    }
    for descriptor in descriptors {
        fcntl_setfd(descriptor.as_fd(), FdFlags::empty())?;
    }
    bounds.iter().try_for_each(|(resource, limit)| setrlimit(*resource, *limit))
}

/// Open files that this process was itself handed by a careless parent, such as an editor, and that
/// tests must not get.
fn strays() -> io::Result<Vec<RawFd>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc/self/fd")? {
        let number = entry?.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(number) = number.filter(|number| *number > 2) else { continue };
        // SAFETY: the number is used for this one call, which fails if it has been closed since.
        let flags = fcntl_getfd(unsafe { BorrowedFd::borrow_raw(number) });
        if flags.is_ok_and(|flags| !flags.contains(FdFlags::CLOEXEC)) {
            found.push(number);
        }
    }
    Ok(found)
}

const STARTER_GONE: &str = "the thread that starts processes has ended";

struct Job {
    command: Command,
    scratch: Scratch,
    reply: oneshot::Sender<io::Result<Running>>,
}

/// All children are forked by one thread that lives as long as the program: the death signal is
/// sent when the *thread* that forked ends, and a worker of the runtime may end at any time.
static STARTER: LazyLock<mpsc::Sender<Job>> = LazyLock::new(|| {
    let (sender, jobs) = mpsc::channel::<Job>();
    thread::Builder::new()
        .name("run-starter".to_owned())
        .spawn(move || {
            for job in jobs {
                // Nobody waiting any more: the answer is dropped, and that kills the child.
                let _ = job.reply.send(fork(job.command, job.scratch));
            }
        })
        .expect("a thread can be started");
    sender
});

fn fork(mut command: Command, scratch: Scratch) -> io::Result<Running> {
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(exit) => Ok(Running { parts: Some((child, scratch)), pid, exit }),
        Err(error) => {
            kill_group(pid);
            child.wait()?;
            Err(error.into())
        }
    }
}

/// The signal that ended the child, or its exit code.
pub(crate) fn signal_or_code(status: ExitStatus) -> Result<i32, i32> {
    match status.signal() {
        Some(signal) => Err(signal),
        None => Ok(status.code().unwrap_or_default()),
    }
}
