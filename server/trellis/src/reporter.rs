//! Progress reports of running work: unobserved on the command line, sent to the clients in the
//! sidecar.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use crate::workspace::journal;

/// A report of running work.
#[derive(Debug)]
pub(crate) enum Progress<'a> {
    /// A line for a person.
    Note(String),
    /// The number of settled nodes.
    Count { done: usize, total: usize, eta_seconds: Option<u64> },
    /// The status of a node: once per node when a run begins, then at every change.
    Node { node: &'a str, status: &'a str, reason: Option<&'a str>, subgraph: Option<&'a str> },
    /// An event that was journaled.
    Journaled(&'a journal::Event),
    /// A proposal that waits for a decision.
    Proposal { root: &'a Path, id: &'a str, state: &'a str },
    /// Files of the project in this folder that were written or removed.
    Files { root: &'a Path, paths: &'a [String] },
    /// The result of a test of the project in this folder. `text_of` is the time at which the
    /// tested texts of the project were read; `None` if other texts were tested, such as a draft's.
    Test { root: &'a Path, test: &'a trellis_sandbox::TestResult, text_of: Option<SystemTime> },
}

type Sink = dyn Fn(Progress<'_>) + Send + Sync;

/// Sends reports to a sink, if there is one.
#[derive(Clone, Default)]
pub(crate) struct Reporter(Option<Arc<Sink>>);

impl Reporter {
    pub(crate) fn new(sink: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Reporter {
        Reporter(Some(Arc::new(sink)))
    }

    /// Sends a report. The sink must not block, since it is called in the middle of the work.
    pub(crate) fn emit(&self, reported: Progress<'_>) {
        if let Some(sink) = &self.0 {
            sink(reported);
        }
    }

    pub(crate) fn has_sink(&self) -> bool {
        self.0.is_some()
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.has_sink() { "Observer" } else { "Observer(nobody)" })
    }
}
