//! Reading of a run whose worker's output was kept.

use std::{path::Path, time::Duration};

use tokio::io::AsyncRead;

use crate::{
    build_report::{FinishedRun, SessionRecord, python_report},
    collector::ResultCollector,
    report::Report,
    request::Request,
    session::{Received, SessionUpdate},
    tracebacks::ProjectPaths,
    wire::Frames,
};

/// Returns the report of a pytest run from the bytes that a worker sent for it, as the runner makes
/// it from a running worker. `token` begins each record; paths are relative to `root`.
///
/// The stream is the worker's first run. It is untrusted: a stream that breaks the protocol makes a
/// report of a lost sandbox or of a run with changed results.
pub async fn read_recorded_run(
    stream: impl AsyncRead + Send + Unpin + 'static,
    root: &Path,
    token: &str,
    request: &Request,
) -> Report {
    let collector = ResultCollector::new(ProjectPaths::new(root, None), token.to_owned());
    let mut received = Received::new(1, collector, request);
    let mut frames = Frames::new(Box::new(stream));
    let end = loop {
        if let SessionUpdate::End(end) = received.take(frames.next().await) {
            break end;
        }
    };
    let finished = FinishedRun {
        stop: None,
        end,
        memory_kill: false,
        duration: Duration::ZERO,
        limits: Vec::new(),
        notes: Vec::new(),
    };
    python_report(request, SessionRecord::of(received), finished)
}
