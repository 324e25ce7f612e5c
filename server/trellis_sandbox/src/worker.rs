//! A worker: an interpreter inside a sandbox that has pytest imported and forks for each run.

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
    running_sandbox::RunningSandbox,
    report::LimitStatus,
    sandbox::{Connection, Writable},
    streams::Capture,
    wire::{Control, Frame, Frames, Packages, Ready, bundle},
};

/// Python, pytest and coverage, on a machine that may be busy.
const STARTING: Duration = Duration::from_secs(60);

/// Copying a project for the first time, on a machine that may be busy.
const COPYING: Duration = Duration::from_secs(300);

/// Bytes kept of what a worker says in its own name.
const WORDS: usize = 16 << 10;

/// Ready for runs, one at a time. Dropping it ends the sandbox.
pub(crate) struct Worker {
    pub(crate) cage: RunningSandbox,
    pub(crate) frames: Frames,
    input: Box<dyn AsyncWrite + Send + Unpin>,
    words: Arc<Mutex<Capture>>,
    pub(crate) ready: Ready,
    pub(crate) runs: u64,
}

impl Worker {
    /// Waits until the process behind `connection` is ready and sees `tree`. The error is a sentence
    /// for people.
    pub(crate) async fn begin(
        cage: RunningSandbox,
        connection: Connection,
        tree: &Path,
        packages: &Packages,
    ) -> Result<Worker, String> {
        let words = Arc::new(Mutex::new(Capture::new(WORDS)));
        tokio::spawn(listen(connection.errors, words.clone()));
        let mut frames = Frames::new(connection.output);
        let mut input = connection.input;
        let bundle = bundle(&cage.writable().all, tree, packages, cage.copied());
        let begin = async {
            // A worker that has ended already is noticed by the reading below.
            let _ = input.write_all(&bundle).await;
            let _ = input.flush().await;
            frames.next().await.map_err(|error| error.to_string()).map(|frame| match frame {
                Some(Frame::Control(Control::Ready(ready))) => Ok(ready),
                Some(Frame::Control(Control::Failed(reason))) => Err(reason),
                Some(_) => Err("it sent an unexpected message".to_owned()),
                None => Err("it ended immediately".to_owned()),
            })
        };
        let outcome = timeout(STARTING, begin).await;
        let reason = match outcome {
            Ok(Ok(Ok(ready))) => return Ok(Worker { cage, frames, input, words, ready, runs: 0 }),
            Ok(Ok(Err(reason)) | Err(reason)) => reason,
            Err(_) => format!("it was not ready within {} s", STARTING.as_secs()),
        };
        let ended = cage.end().await.err();
        let said = last_lines(&words.lock().unwrap_or_else(PoisonError::into_inner).text());
        Err([Some(reason), Some(said), ended]
            .into_iter()
            .flatten()
            .filter(|it| !it.is_empty())
            .collect::<Vec<_>>()
            .join(": "))
    }

    /// Gives the next run the project as it is on the disk. The error is a sentence for people.
    pub(crate) async fn lay(&mut self) -> Result<(), String> {
        self.cage.lay().await?;
        if self.cage.copied().is_none() {
            return Ok(());
        }
        self.order(&json!({ "op": "lay" })).await;
        let laid = timeout(COPYING, self.laid()).await;
        laid.unwrap_or_else(|_| Err(format!("copying it took longer than {} s", COPYING.as_secs())))
    }

    async fn laid(&mut self) -> Result<(), String> {
        loop {
            let frame = self.frames.next().await.map_err(|error| error.to_string())?;
            match frame {
                Some(Frame::Control(Control::Laid(None))) => return Ok(()),
                Some(Frame::Control(Control::Laid(Some(reason)) | Control::Failed(reason))) => {
                    return Err(reason);
                }
                Some(_) => {}
                None => return Err("the sandbox ended".to_owned()),
            }
        }
    }

    /// Sends an order. One that does not arrive is noticed when no answer comes.
    pub(crate) async fn order(&mut self, order: &Value) {
        let line = format!("{order}\n");
        let _ = self.input.write_all(line.as_bytes()).await;
        let _ = self.input.flush().await;
    }

    pub(crate) fn writable(&self) -> &Writable {
        self.cage.writable()
    }

    pub(crate) fn limits(&self) -> Vec<LimitStatus> {
        let mut limits = self.cage.limits().to_vec();
        if !self.ready.hidden {
            limits.push(crate::limits::open(
                "results",
                "this Python has no `ctypes`, so tests can read the memory of the process that \
                 reports their results"
                    .to_owned(),
            ));
        }
        limits
    }

    /// What the worker has said in its own name: an interpreter's dying words.
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
