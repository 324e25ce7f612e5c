//! Progress reports of a sandbox that serves one request after another.

use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};

use crate::reporter::Reporter;

/// Reports to the most recent user of the sandbox.
#[derive(Clone)]
pub(super) struct ProgressReporter(Arc<Mutex<Reporter>>);

impl ProgressReporter {
    pub(super) fn of(reporter: &Reporter) -> ProgressReporter {
        ProgressReporter(Arc::new(Mutex::new(reporter.clone())))
    }

    /// Sends further reports to this output.
    pub(super) fn pass_to(&self, reporter: &Reporter) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = reporter.clone();
    }

    pub(super) fn report(&self, text: impl Display) {
        let reporter = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        reporter.note(text);
    }
}
