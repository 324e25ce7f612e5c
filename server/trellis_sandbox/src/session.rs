//! One run on one worker: sends the command, takes in the frames and enforces the deadlines.

use std::{io, time::Duration};

use serde_json::{Value, json};
use tokio::{
    select,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    collector::ResultCollector,
    frameworks::Framework,
    request::Request,
    runner::RunProgress,
    streams::{Capture, CompleteStream, Lines},
    tracebacks::dump_is_complete,
    wire::{Control, Frame, WorkerRunEnd},
    worker::Worker,
};

/// Time limit from the fork to the reporter's first record.
const LOADING: Duration = Duration::from_secs(60);

/// Time limit for a process to reply with its stack; it takes a millisecond unless the machine is
/// overloaded.
const STACK_ANSWER: Duration = Duration::from_secs(2);

/// Time limit for a worker to kill a run and clean up after it.
const ENDING: Duration = Duration::from_secs(20);

/// Time in which frames that had arrived at a deadline are still read: this process may itself have
/// been held up.
const CATCHING_UP: Duration = Duration::from_millis(100);

/// Maximum bytes of a stack, which has a hundred frames at most.
const STACK_BYTES: usize = 256 << 10;

/// The reason a run was ended from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// Python or pytest did not start.
    Loading,
    /// One test, or one import, took too long.
    Phase,
    /// The whole run took too long.
    Run,
    Cancelled,
}

/// The end of a session.
#[derive(Debug)]
pub(crate) enum SessionEnd {
    /// The worker has cleaned up and can serve the next run if `WorkerRunEnd::clean` is set.
    Ended(WorkerRunEnd),
    /// The worker is gone or does not answer; the sentence describes the symptom.
    Lost(String),
}

impl SessionEnd {
    /// Returns the exit status of a process that ended by itself.
    pub(crate) fn code(&self) -> Option<i32> {
        match self {
            SessionEnd::Ended(ended) => ended.code,
            SessionEnd::Lost(_) => None,
        }
    }
}

/// Everything that a worker has sent about one run.
pub(crate) struct Received {
    id: u64,
    pub(crate) collector: ResultCollector,
    pub(crate) stdout: Capture,
    pub(crate) stderr: Capture,
    pub(crate) stack: Capture,
    /// The report file of the run.
    pub(crate) file: CompleteStream,
    /// Standard output, if it holds the records.
    pub(crate) records: Option<CompleteStream>,
    lines: Lines,
}

/// A run in progress.
pub(crate) struct Session<'a> {
    worker: &'a mut Worker,
    pub(crate) received: Received,
    reported: usize,
    tried: usize,
    on_progress: &'a mut (dyn FnMut(RunProgress<'_>) + Send),
}

/// The event that a session waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitState {
    /// The next phase, or the end of the run.
    Running,
    /// The stack of a run that has reached a deadline.
    Stack,
    /// The end of a run that is being killed.
    End,
}

impl<'a> Session<'a> {
    /// Starts a session. `on_progress` is called with every test and trial as it ends, if there is a
    /// reporter.
    pub(crate) fn new(
        worker: &'a mut Worker,
        collector: ResultCollector,
        request: &Request,
        on_progress: &'a mut (dyn FnMut(RunProgress<'_>) + Send),
    ) -> Session<'a> {
        worker.runs += 1;
        let received = Received::new(worker.runs, collector, request);
        Session { worker, received, reported: 0, tried: 0, on_progress }
    }

    /// Runs `order` to its end, which a deadline of `request` or `cancel` may bring about.
    pub(crate) async fn follow(
        &mut self,
        mut order: Value,
        request: &Request,
        cancel: &CancellationToken,
    ) -> (Option<StopReason>, SessionEnd) {
        order["id"] = json!(self.received.id);
        self.worker.order(&order).await;
        let run = after(request.run_timeout);
        let reports = request.framework.reports();
        let mut deadline = if reports { after(LOADING).min(run) } else { run };
        let (mut waiting, mut stop) = (WaitState::Running, None);
        loop {
            select! {
                news = self.next() => match news {
                    SessionUpdate::End(end) => return (stop, end),
                    SessionUpdate::Phase if waiting == WaitState::Running => {
                        deadline = self.phase(request).min(run);
                    }
                    SessionUpdate::Stack if waiting == WaitState::Stack => {
                        (waiting, deadline) = self.kill().await;
                    }
                    SessionUpdate::Phase | SessionUpdate::Stack | SessionUpdate::Other => {}
                },
                () = sleep_until(deadline) => match waiting {
                    WaitState::Running => {
                        match self.catch_up(deadline == run).await {
                            Some(SessionUpdate::End(end)) => return (stop, end),
                            Some(_) => {
                                deadline = self.phase(request).min(run);
                                continue;
                            }
                            None => {}
                        }
                        stop = Some(self.why(deadline == run));
                        if !reports {
                            (waiting, deadline) = self.kill().await;
                            continue;
                        }
                        self.worker.order(&json!({ "op": "stack" })).await;
                        (waiting, deadline) = (WaitState::Stack, after(STACK_ANSWER));
                    }
                    // Without a reply the report has no stack.
                    WaitState::Stack => (waiting, deadline) = self.kill().await,
                    WaitState::End => {
                        return (stop, SessionEnd::Lost("the sandbox did not end the run".to_owned()));
                    }
                },
                () = cancel.cancelled(), if stop.is_none() => {
                    stop = Some(StopReason::Cancelled);
                    (waiting, deadline) = self.kill().await;
                }
            }
        }
    }

    /// Returns the deadline of the phase that has begun.
    fn phase(&self, request: &Request) -> Instant {
        after(request.time_for_one().max(self.received.collector.own_time))
    }

    fn why(&self, run: bool) -> StopReason {
        match (run, self.received.collector.activity.is_none()) {
            (true, _) => StopReason::Run,
            (false, true) => StopReason::Loading,
            (false, false) => StopReason::Phase,
        }
    }

    async fn kill(&mut self) -> (WaitState, Instant) {
        self.worker.order(&json!({ "op": "kill" })).await;
        (WaitState::End, after(ENDING))
    }

    /// Returns a new phase or the end, if its frame was on its way while the deadline passed.
    async fn catch_up(&mut self, run_is_over: bool) -> Option<SessionUpdate> {
        let until = after(CATCHING_UP);
        while Instant::now() < until {
            match timeout(Duration::from_millis(1), self.next()).await {
                Ok(SessionUpdate::End(end)) => return Some(SessionUpdate::End(end)),
                Ok(SessionUpdate::Phase) if !run_is_over => return Some(SessionUpdate::Phase),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
        None
    }

    async fn next(&mut self) -> SessionUpdate {
        let update = self.received.take(self.worker.frames.next().await);
        let new = self.received.collector.tests.get(self.reported..).unwrap_or_default();
        new.iter().for_each(|test| (self.on_progress)(RunProgress::Test(test)));
        self.reported = self.received.collector.tests.len();
        let new = self.received.collector.trials.get(self.tried..).unwrap_or_default();
        new.iter().for_each(|trial| (self.on_progress)(RunProgress::Trial(trial)));
        self.tried = self.received.collector.trials.len();
        update
    }
}

impl Received {
    /// Makes the record of a run with this number, without content.
    pub(crate) fn new(id: u64, collector: ResultCollector, request: &Request) -> Received {
        let capture = || Capture::new(request.limits.output_bytes);
        let (stdout, stderr) = (capture(), capture());
        Received {
            id,
            collector,
            stdout,
            stderr,
            stack: Capture::new(STACK_BYTES),
            file: CompleteStream::default(),
            records: (request.framework == Framework::Go).then(CompleteStream::default),
            lines: Lines::default(),
        }
    }

    /// Takes in a frame; `None` is the end of the worker's stream.
    pub(crate) fn take(&mut self, frame: io::Result<Option<Frame<'_>>>) -> SessionUpdate {
        match frame {
            Ok(Some(frame)) => self.take_frame(frame),
            Ok(None) => lost("the sandbox ended during the run".to_owned()),
            Err(error) => lost(format!("cannot read the sandbox's output: {error}")),
        }
    }

    fn take_frame(&mut self, frame: Frame<'_>) -> SessionUpdate {
        match frame {
            Frame::Control(Control::Ended(ended)) if ended.id == self.id => {
                return SessionUpdate::End(SessionEnd::Ended(ended));
            }
            Frame::Control(Control::Failed(reason)) => return lost(reason),
            Frame::Control(_) => {}
            Frame::Output(bytes) => {
                self.stdout.take(bytes);
                self.records.iter_mut().for_each(|it| it.take(bytes));
            }
            Frame::File(bytes) => self.file.take(bytes),
            Frame::Errors(bytes) => self.stderr.take(bytes),
            Frame::Stack(bytes) => {
                self.stack.take(bytes);
                if dump_is_complete(self.stack.head()) {
                    return SessionUpdate::Stack;
                }
            }
            Frame::Events(bytes) => {
                let (collector, mut begun) = (&mut self.collector, false);
                self.lines.split(bytes, |line| begun |= collector.take(line));
                return if begun { SessionUpdate::Phase } else { SessionUpdate::Other };
            }
        }
        SessionUpdate::Other
    }

    /// Returns whether the last record was cut off.
    pub(crate) fn is_torn(&self) -> bool {
        !self.lines.rest().is_empty()
    }
}

fn lost(symptom: String) -> SessionUpdate {
    SessionUpdate::End(SessionEnd::Lost(symptom))
}

/// The meaning of one frame.
#[derive(Debug)]
pub(crate) enum SessionUpdate {
    /// A phase began that has a deadline of its own.
    Phase,
    /// The requested stack is complete.
    Stack,
    End(SessionEnd),
    Other,
}

/// Returns the moment `wait` from now, or one in the distant future if that overflows.
fn after(wait: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(wait).unwrap_or(now + Duration::from_secs(u32::MAX.into()))
}
