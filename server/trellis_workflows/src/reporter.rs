//! Progress reports of running work: printed by the command line, sent to the clients by the sidecar.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use trellis_os::wording::without_numbers;

use trellis_store::journal;

/// A report of running work.
#[derive(Debug)]
pub enum Progress<'a> {
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
    /// A prompt to a person at the terminal was opened or closed.
    Prompt { is_open: bool },
    /// The result of a test of the project in this folder. `text_of` is the time at which the
    /// tested texts of the project were read; `None` if other texts were tested, such as a draft's.
    Test { root: &'a Path, test: &'a trellis_sandbox::TestResult, text_of: Option<SystemTime> },
}

type Sink = dyn Fn(Progress<'_>) + Send + Sync;

/// Sends reports to a sink, if there is one.
#[derive(Clone, Default)]
pub struct Reporter {
    sink: Option<Arc<Sink>>,
    is_attended: bool,
}

impl Reporter {
    /// Creates a reporter to clients, which can decide about proposals while the work waits.
    pub fn to_clients(sink: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Reporter {
        Reporter { sink: Some(Arc::new(sink)), is_attended: true }
    }

    /// Creates a reporter to a terminal or a file.
    pub fn to_printer(sink: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Reporter {
        Reporter { sink: Some(Arc::new(sink)), is_attended: false }
    }

    /// Returns a reporter whose reports go through `sink`, which passes them on itself.
    pub fn wrapped(
        &self,
        sink: impl Fn(Progress<'_>, &Reporter) + Send + Sync + 'static,
    ) -> Reporter {
        let next = self.clone();
        let sink: Arc<Sink> = Arc::new(move |progress| sink(progress, &next));
        Reporter { sink: Some(sink), is_attended: self.is_attended }
    }

    /// Sends a report. The sink must not block, since it is called in the middle of the work.
    pub fn emit(&self, progress: Progress<'_>) {
        if let Some(sink) = &self.sink {
            sink(progress);
        }
    }

    /// Sends a line for a person, without the numbers of system errors.
    pub fn note(&self, text: impl fmt::Display) {
        self.emit(Progress::Note(without_numbers(&text.to_string())));
    }

    /// Reports an open prompt until the returned guard is dropped.
    pub fn prompt(&self) -> PromptGuard {
        self.emit(Progress::Prompt { is_open: true });
        PromptGuard(self.clone())
    }

    /// Returns whether a client can decide about proposals while the work waits.
    pub fn is_attended(&self) -> bool {
        self.is_attended
    }
}

/// An open prompt to a person at the terminal.
pub struct PromptGuard(Reporter);

impl Drop for PromptGuard {
    fn drop(&mut self) {
        self.0.emit(Progress::Prompt { is_open: false });
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporter").field("is_attended", &self.is_attended).finish_non_exhaustive()
    }
}
