//! One run on one worker: hands over the order, takes in what comes back, keeps the deadlines.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{
    select,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    tracebacks::dump_is_complete,
    frameworks::Framework,
    report::TestResult,
    request::Request,
    streams::{Capture, Lines, CompleteStream},
    collector::ResultCollector,
    wire::{Control, WorkerRunEnd, Frame},
    worker::Worker,
};

/// From the fork until the reporter's first word.
const LOADING: Duration = Duration::from_secs(60);

/// How long a process may take to answer with its stack; it takes a millisecond unless the machine
/// is overloaded.
const STACK_ANSWER: Duration = Duration::from_secs(2);

/// How long a worker may take to kill a run and to clean up after it.
const ENDING: Duration = Duration::from_secs(20);

/// When a deadline has passed, what is already on its way is still looked at for this long: this
/// process may itself have been held up.
const CATCHING_UP: Duration = Duration::from_millis(100);

/// A stack has a hundred frames at most.
const STACK_BYTES: usize = 256 << 10;

/// Why a run was ended from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// Python or pytest did not come up.
    Loading,
    /// One test, or one import, took too long.
    Phase,
    /// The whole run took too long.
    Run,
    Cancelled,
}

/// How a session ended.
#[derive(Debug)]
pub(crate) enum SessionEnd {
    /// The worker cleaned up and is there for the next run, if `Ended::clean` says so.
    Ended(WorkerRunEnd),
    /// The worker is gone, or does not answer; the sentence says what was seen.
    Lost(String),
}

impl SessionEnd {
    /// The exit status of a process that ended by itself.
    pub(crate) fn code(&self) -> Option<i32> {
        match self {
            SessionEnd::Ended(ended) => ended.code,
            SessionEnd::Lost(_) => None,
        }
    }
}

/// A run under way.
pub(crate) struct Session<'a> {
    worker: &'a mut Worker,
    id: u64,
    pub(crate) tally: ResultCollector,
    pub(crate) stdout: Capture,
    pub(crate) stderr: Capture,
    pub(crate) stack: Capture,
    /// The file that the run was told to write.
    pub(crate) file: CompleteStream,
    /// Standard output, where it holds the records.
    pub(crate) records: Option<CompleteStream>,
    lines: Lines,
    told: usize,
    on_test: &'a mut (dyn FnMut(&TestResult) + Send),
}

/// What the session is waiting for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitState {
    /// The next phase, or the end.
    Running,
    /// The stack of a run whose time is up.
    Stack,
    /// The end of a run that was killed.
    End,
}

impl<'a> Session<'a> {
    /// `on_test` hears of every test as it ends, where there is a reporter.
    pub(crate) fn new(
        worker: &'a mut Worker,
        tally: ResultCollector,
        request: &Request,
        on_test: &'a mut (dyn FnMut(&TestResult) + Send),
    ) -> Session<'a> {
        worker.runs += 1;
        let id = worker.runs;
        let capture = || Capture::new(request.limits.output_bytes);
        let (stdout, stderr) = (capture(), capture());
        let stack = Capture::new(STACK_BYTES);
        Session {
            worker,
            id,
            tally,
            stdout,
            stderr,
            stack,
            file: CompleteStream::default(),
            records: (request.framework == Framework::Go).then(CompleteStream::default),
            lines: Lines::default(),
            told: 0,
            on_test,
        }
    }

    /// Runs `order` to its end, which may be brought about by a deadline of `request` or by
    /// `cancel`.
    pub(crate) async fn follow(
        &mut self,
        mut order: Value,
        request: &Request,
        cancel: &CancellationToken,
    ) -> (Option<StopReason>, SessionEnd) {
        order["id"] = json!(self.id);
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
                    // Without an answer the report says nothing of the stack.
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

    /// The end of the time for what has begun.
    fn phase(&self, request: &Request) -> Instant {
        after(request.time_for_one().max(self.tally.own_time))
    }

    fn why(&self, run: bool) -> StopReason {
        match (run, self.tally.activity.is_none()) {
            (true, _) => StopReason::Run,
            (false, true) => StopReason::Loading,
            (false, false) => StopReason::Phase,
        }
    }

    async fn kill(&mut self) -> (WaitState, Instant) {
        self.worker.order(&json!({ "op": "kill" })).await;
        (WaitState::End, after(ENDING))
    }

    /// A new phase or the end that had been on its way while the deadline passed.
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
        let frame = match self.worker.frames.next().await {
            Ok(Some(frame)) => frame,
            Ok(None) => return SessionUpdate::End(SessionEnd::Lost("the sandbox ended during the run".to_owned())),
            Err(error) => {
                return SessionUpdate::End(SessionEnd::Lost(format!("cannot read the sandbox's output: {error}")));
            }
        };
        match frame {
            Frame::Control(Control::Ended(ended)) if ended.id == self.id => {
                return SessionUpdate::End(SessionEnd::Ended(ended));
            }
            Frame::Control(Control::Failed(reason)) => return SessionUpdate::End(SessionEnd::Lost(reason)),
            Frame::Control(Control::Ended(_) | Control::Ready(_) | Control::Laid(_)) => {}
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
                let (tally, mut begun) = (&mut self.tally, false);
                self.lines.split(bytes, |line| begun |= tally.take(line));
                let new = self.tally.tests.get(self.told..).unwrap_or_default();
                new.iter().for_each(|test| (self.on_test)(test));
                self.told = self.tally.tests.len();
                return if begun { SessionUpdate::Phase } else { SessionUpdate::Other };
            }
        }
        SessionUpdate::Other
    }

    /// True when the last record was cut off.
    pub(crate) fn is_torn(&self) -> bool {
        !self.lines.rest().is_empty()
    }
}

/// What one frame meant.
#[derive(Debug)]
enum SessionUpdate {
    /// Something began that has a deadline of its own.
    Phase,
    /// The stack that was asked for is there.
    Stack,
    End(SessionEnd),
    Other,
}

/// The moment `wait` from now, or as good as never.
fn after(wait: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(wait).unwrap_or(now + Duration::from_secs(u32::MAX.into()))
}
