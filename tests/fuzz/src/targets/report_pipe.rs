//! What a worker sends about a run of tests.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use trellis_sandbox::{Outcome, Report, Request, TestOutcome, Tree, read_recorded_run};

use super::{piece_sizes, runtime};
use crate::memory;

/// Beginning of each record, which only the reporter knows.
const TOKEN: &str = "token";

/// A stream of bytes in memory that arrive in pieces.
struct Pieces {
    bytes: Vec<u8>,
    at: usize,
    size: usize,
}

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let end = self.bytes.len().min(self.at + self.size.min(buffer.remaining()));
        buffer.put_slice(&self.bytes[self.at..end]);
        self.at = end;
        Poll::Ready(Ok(()))
    }
}

/// The report is the same whatever the pieces, memory is in proportion to the stream, and a run has
/// passed only if all that was collected has ended well, and never without a record.
pub(super) fn run(input: &[u8]) {
    let [one, some, all] =
        piece_sizes(input).map(|size| memory::bounded(input, 8 << 20, 400, || report(input, size)));
    let shown = |it: &Report| format!("{it:?}");
    assert_eq!(shown(&one), shown(&all), "in pieces of one byte");
    assert_eq!(shown(&some), shown(&all), "in other pieces");
    if all.outcome == Outcome::Passed {
        passed_rightly(input, &all);
    }
}

fn report(input: &[u8], size: usize) -> Report {
    let stream = Pieces { bytes: input.to_vec(), at: 0, size };
    let request = Request::new(Tree::Folder("/project".into()));
    runtime().block_on(read_recorded_run(stream, Path::new("/project"), TOKEN, &request))
}

fn passed_rightly(input: &[u8], report: &Report) {
    assert!(input.windows(TOKEN.len()).any(|it| it == TOKEN.as_bytes()), "without a record");
    assert_eq!(report.exit_code, Some(0), "{report:?}");
    assert_eq!(report.not_run, [""; 0], "{report:?}");
    assert!(report.collection_errors.is_empty(), "{report:?}");
    let failed = [TestOutcome::Failed, TestOutcome::Error];
    assert!(report.tests.iter().all(|it| !failed.contains(&it.outcome)), "{report:?}");
    let passed = [TestOutcome::Passed, TestOutcome::XPassed];
    assert!(report.tests.iter().any(|it| passed.contains(&it.outcome)), "{report:?}");
}
