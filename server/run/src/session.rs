//! One child from start to end: reads its pipes, keeps its deadlines, and ends it.

use std::{
    io,
    os::fd::{AsRawFd, OwnedFd, RawFd},
    process::Command,
    time::Duration,
};

use rustix::pipe::{PipeFlags, pipe_with};
use tokio::{
    io::{Interest, unix::AsyncFd},
    time::{Instant, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;

use crate::{
    frames::dump_is_complete,
    process::{Ended, Running},
    request::Request,
    streams::{Capture, Lines},
    tally::Tally,
};

/// From the start of the process until the plugin is loaded: Python and pytest themselves, on a
/// machine that may be busy.
const LOADING: Duration = Duration::from_secs(60);

/// How long a process may take to answer with its stack; it takes a millisecond unless the machine
/// is overloaded.
const STACK_ANSWER: Duration = Duration::from_secs(2);

/// A stack has a hundred frames at most.
const STACK_BYTES: usize = 256 << 10;

/// Why a run was ended from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Python or pytest did not come up.
    Loading,
    /// One test, or one import, took too long.
    Phase,
    /// The whole run took too long.
    Run,
    Cancelled,
}

/// The reading ends of a child's pipes.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdout: Capture,
    pub(crate) stderr: Capture,
    pub(crate) stack: Capture,
    events: Lines,
}

/// The writing ends that are not standard streams, to be inherited.
#[derive(Debug)]
pub(crate) struct Inherited {
    pub(crate) events: OwnedFd,
    pub(crate) stack: OwnedFd,
}

impl Inherited {
    /// The numbers of the event and of the stack pipe in the child.
    pub(crate) fn numbers(&self) -> (RawFd, RawFd) {
        (self.events.as_raw_fd(), self.stack.as_raw_fd())
    }
}

impl Pipes {
    /// Makes the pipes and ties standard output and error of `command` to theirs.
    pub(crate) fn new(
        command: &mut Command,
        output_bytes: usize,
    ) -> io::Result<(Pipes, Inherited)> {
        // Close-on-exec, so that no other child of this process holds a writing end open.
        let pipe = || pipe_with(PipeFlags::CLOEXEC);
        let (stdout, out) = pipe()?;
        let (stderr, err) = pipe()?;
        let (events, event_writer) = pipe()?;
        let (stack, stack_writer) = pipe()?;
        command.stdout(out).stderr(err);
        let pipes = Pipes {
            stdout: Capture::new(stdout, output_bytes)?,
            stderr: Capture::new(stderr, output_bytes)?,
            stack: Capture::new(stack, STACK_BYTES)?,
            events: Lines::new(events)?,
        };
        Ok((pipes, Inherited { events: event_writer, stack: stack_writer }))
    }

    /// Waits until one of the pipes has something and takes it in. True when a new phase began.
    async fn fill(&mut self, tally: &mut Tally) -> bool {
        let mut begun = false;
        tokio::select! {
            () = self.events.fill(|line| begun |= tally.take(line)) => {}
            () = self.stdout.fill() => {}
            () = self.stderr.fill() => {}
            () = self.stack.fill() => {}
        }
        begun
    }

    /// Takes in what the events' pipe holds by now.
    fn drain_events(&mut self, tally: &mut Tally) -> bool {
        let mut begun = false;
        self.events.drain(|line| begun |= tally.take(line));
        begun
    }

    /// Takes in all the pipes hold. Enough once the child is gone: waiting for their end would mean
    /// waiting for every process that inherited them.
    fn drain(&mut self, tally: &mut Tally) {
        self.drain_events(tally);
        self.stdout.drain();
        self.stderr.drain();
        self.stack.drain();
    }

    /// Waits for a whole stack, reading the other pipes on the side.
    async fn await_stack(&mut self, tally: &mut Tally) {
        let answer = async {
            while !dump_is_complete(self.stack.head()) {
                self.fill(tally).await;
            }
        };
        // Without an answer the report says nothing of the stack; the run is ended in any case.
        let _ = timeout(STACK_ANSWER, answer).await;
    }
}

/// The moment `wait` from now, or as good as never.
fn after(wait: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(wait).unwrap_or(now + Duration::from_secs(u32::MAX.into()))
}

/// Follows the child until it exits or has to be stopped, then ends it with all it started.
pub(crate) async fn follow(
    running: Running,
    pipes: &mut Pipes,
    tally: &mut Tally,
    request: &Request,
    cancel: &CancellationToken,
) -> io::Result<(Option<Stop>, Ended)> {
    let handle = running.exit_handle()?;
    // SAFETY: an `OwnedFd` that this function keeps to itself: open, and the same, as long as it
    // lives.
    let exit = unsafe { AsyncFd::register_with_interest(handle, Interest::READABLE) }?;
    let stop = tokio::select! {
        exited = exit.readable() => exited.map(|_| None)?,
        stop = watch(pipes, tally, request) => Some(stop),
        () = cancel.cancelled() => Some(Stop::Cancelled),
    };
    if matches!(stop, Some(Stop::Phase | Stop::Run)) {
        running.ask_for_stack();
        pipes.await_stack(tally).await;
    }
    running.kill();
    let _ = exit.readable().await?;
    pipes.drain(tally);
    let ended =
        tokio::task::spawn_blocking(move || running.end()).await.map_err(io::Error::other)??;
    Ok((stop, ended))
}

/// Reads the pipes until a deadline passes.
async fn watch(pipes: &mut Pipes, tally: &mut Tally, request: &Request) -> Stop {
    let run = after(request.run_timeout);
    let mut phase = after(LOADING);
    loop {
        let deadline = phase.min(run);
        match timeout_at(deadline, pipes.fill(tally)).await {
            Ok(true) => phase = after(request.test_timeout),
            Ok(false) => {}
            // This process may itself have been held up, and the news of the next phase be waiting.
            Err(_) if deadline < run && pipes.drain_events(tally) => {
                phase = after(request.test_timeout)
            }
            Err(_) if deadline == run => return Stop::Run,
            Err(_) if tally.activity.is_none() => return Stop::Loading,
            Err(_) => return Stop::Phase,
        }
    }
}
