//! A worker: an interpreter inside a sandbox that has imported pytest and forks for each run.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    time::timeout,
};

use crate::{
    docker::SentProject,
    error::{ProjectError, WorkerError, WorkerFailure},
    report::LimitStatus,
    running_sandbox::RunningSandbox,
    sandbox::{Connection, Writable},
    streams::Capture,
    wire::{Control, Frame, Frames, Packages, Ready, bundle},
};

/// Time limit for starting Python, pytest and coverage on a machine that may be busy.
const STARTING: Duration = Duration::from_secs(60);

/// Time limit for the first copy of a project on a machine that may be busy.
const COPYING: Duration = Duration::from_secs(300);

/// Maximum number of attempts to send the project; each that fails found files changed since.
const ROUNDS: u32 = 10;

/// Bytes kept of the worker's own standard error.
const WORDS: usize = 16 << 10;

/// A worker that is ready for runs, one at a time. Dropping it ends the sandbox.
pub(crate) struct Worker {
    pub(crate) sandbox: RunningSandbox,
    pub(crate) frames: Frames,
    input: Box<dyn AsyncWrite + Send + Unpin>,
    words: Arc<Mutex<Capture>>,
    pub(crate) ready: Ready,
    /// The reason no coverage.py can be used; the outer `None` if the worker has not looked for one.
    unmeasured: Option<Option<String>>,
    pub(crate) runs: u64,
    /// The project, if it is sent to the engine.
    pub(crate) sent: Option<SentProject>,
}

impl Worker {
    /// Waits until the process behind `connection` is ready and sees `tree`.
    pub(crate) async fn begin(
        sandbox: RunningSandbox,
        connection: Connection,
        tree: &Path,
        packages: &Packages,
    ) -> Result<Worker, WorkerError> {
        let words = Arc::new(Mutex::new(Capture::new(WORDS)));
        tokio::spawn(listen(connection.errors, words.clone()));
        let mut frames = Frames::new(connection.output);
        let mut input = connection.input;
        let bundle = bundle(&sandbox.writable().all, tree, packages, sandbox.copied());
        let begin = async {
            // The reading below notices a worker that has already ended.
            let _ = input.write_all(&bundle).await;
            let _ = input.flush().await;
            match frames.next().await.map_err(WorkerFailure::Output)? {
                Some(Frame::Control(Control::Ready(ready))) => Ok(ready),
                Some(Frame::Control(Control::Failed(message))) => {
                    Err(WorkerFailure::Refused { message })
                }
                Some(_) => Err(WorkerFailure::Unexpected),
                None => Err(WorkerFailure::Ended),
            }
        };
        let outcome = timeout(STARTING, begin).await;
        let cause = match outcome.unwrap_or(Err(WorkerFailure::TooSlow { limit: STARTING })) {
            Ok(ready) => {
                let (unmeasured, runs, sent) = (None, 0, None);
                return Ok(Worker { sandbox, frames, input, words, ready, unmeasured, runs, sent });
            }
            Err(cause) => cause,
        };
        let end = sandbox.end().await.err().map(Box::new);
        let stderr = last_lines(&words.lock().unwrap_or_else(PoisonError::into_inner).text());
        Err(WorkerError { cause, stderr, end })
    }

    /// Makes the worker import coverage.py for the runs to come, once.
    pub(crate) async fn look_for_coverage(&mut self) -> Result<(), WorkerFailure> {
        if self.unmeasured.is_none() {
            self.order(&json!({ "op": "measure" })).await;
            let found = timeout(STARTING, self.measuring()).await;
            let too_slow = Err(WorkerFailure::TooSlow { limit: STARTING });
            self.unmeasured = Some(found.unwrap_or(too_slow)?);
        }
        Ok(())
    }

    /// Returns the reason no coverage.py can be used; `None` also if the worker has not looked.
    pub(crate) fn unmeasured(&self) -> Option<String> {
        self.unmeasured.clone().flatten()
    }

    async fn measuring(&mut self) -> Result<Option<String>, WorkerFailure> {
        loop {
            match self.frames.next().await.map_err(WorkerFailure::Output)? {
                Some(Frame::Control(Control::Measuring(found))) => return Ok(found),
                Some(Frame::Control(Control::Failed(message))) => {
                    return Err(WorkerFailure::Refused { message });
                }
                Some(_) => {}
                None => return Err(WorkerFailure::Ended),
            }
        }
    }

    /// Shows the next run the project as it is on disk.
    pub(crate) async fn lay(&mut self) -> Result<(), ProjectError> {
        self.sandbox.lay().await?;
        if self.sandbox.copied().is_none() {
            return Ok(());
        }
        let laid = timeout(COPYING, self.lay_copy()).await;
        laid.unwrap_or(Err(ProjectError::TooSlow { limit: COPYING }))
    }

    /// Makes the copy equal to the project; sends what the worker misses of it.
    async fn lay_copy(&mut self) -> Result<(), ProjectError> {
        let mut order = match &self.sent {
            Some(sent) => sent.order().await?,
            None => json!({ "op": "lay" }),
        };
        for _ in 0..ROUNDS {
            self.order(&order).await;
            let missing = self.laid().await?;
            match &self.sent {
                Some(sent) if !missing.is_empty() => order = sent.supply(missing).await?,
                _ => return Ok(()),
            }
        }
        Err(ProjectError::Unsettled)
    }

    /// Returns the digests of the contents that the worker misses, none if the copy is up to date.
    async fn laid(&mut self) -> Result<Vec<String>, ProjectError> {
        loop {
            let frame = self.frames.next().await.map_err(ProjectError::Output)?;
            match frame {
                Some(Frame::Control(Control::Laid(None))) => return Ok(Vec::new()),
                Some(Frame::Control(Control::Missing(digests))) => return Ok(digests),
                Some(Frame::Control(Control::Laid(Some(message)) | Control::Failed(message))) => {
                    return Err(ProjectError::Refused { message });
                }
                Some(_) => {}
                None => return Err(ProjectError::Ended),
            }
        }
    }

    /// Sends a command. A failure to deliver it shows when no reply comes.
    pub(crate) async fn order(&mut self, order: &Value) {
        let line = format!("{order}\n");
        let _ = self.input.write_all(line.as_bytes()).await;
        let _ = self.input.flush().await;
    }

    pub(crate) fn writable(&self) -> &Writable {
        self.sandbox.writable()
    }

    pub(crate) fn limits(&self) -> Vec<LimitStatus> {
        let mut limits = self.sandbox.limits().to_vec();
        if !self.ready.hidden {
            limits.push(crate::resource_limits::open(
                "results",
                "this Python has no `ctypes`, so tests can read the memory of the process that \
                 reports their results"
                    .to_owned(),
            ));
        }
        limits
    }

    /// Returns the last lines of the worker's own standard error, such as the interpreter's last
    /// message.
    pub(crate) fn words(&self) -> String {
        last_lines(&self.words.lock().unwrap_or_else(PoisonError::into_inner).text())
    }
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    lines[lines.len().saturating_sub(8)..].join(" / ")
}

async fn listen(mut source: Box<dyn AsyncRead + Send + Unpin>, words: Arc<Mutex<Capture>>) {
    let mut chunk = [0; 4096];
    while let Ok(length @ 1..) = source.read(&mut chunk).await {
        words.lock().unwrap_or_else(PoisonError::into_inner).take(&chunk[..length]);
    }
}
