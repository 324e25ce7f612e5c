//! Who watches a piece of work: on the command line nobody, in the sidecar the clients.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use crate::workspace::journal;

/// What work tells along the way.
#[derive(Debug)]
pub(crate) enum Progress<'a> {
    /// A line for a person.
    Note(String),
    /// So many of all nodes are settled.
    Progress { done: usize, total: usize, eta_seconds: Option<u64> },
    /// Where a node stands: each once when a run begins, then at every change.
    Node { node: &'a str, status: &'a str, reason: Option<&'a str>, subgraph: Option<&'a str> },
    /// What went into the journal.
    Journaled(&'a journal::Event),
    /// A fix waits for a decision.
    Proposal { root: &'a Path, id: &'a str, state: &'a str },
    /// Files of the project in this folder were written or removed.
    Files { root: &'a Path, paths: &'a [String] },
    /// A test of the project in this folder ended. `text_of`: when the project's texts were read that it ran with; none where
    /// it ran with others, such as a draft's.
    Test { root: &'a Path, test: &'a trellis_sandbox::TestResult, text_of: Option<SystemTime> },
}

type Sink = dyn Fn(Progress<'_>) + Send + Sync;

/// Nobody, or somebody who is told.
#[derive(Clone, Default)]
pub(crate) struct Reporter(Option<Arc<Sink>>);

impl Reporter {
    pub(crate) fn new(ear: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Reporter {
        Reporter(Some(Arc::new(ear)))
    }

    /// Must not wait: it is called in the midst of the work.
    pub(crate) fn emit(&self, reported: Progress<'_>) {
        if let Some(ear) = &self.0 {
            ear(reported);
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
