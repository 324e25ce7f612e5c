//! Progress reports of a sandbox that serves one request after another.

use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};

use crate::output::Output;
use crate::reporter::Reporter;

/// Reports to the most recent user of the sandbox.
#[derive(Clone)]
pub(super) struct ProgressReporter(Arc<Mutex<Reporter>>);

impl ProgressReporter {
    pub(super) fn of(output: &Output) -> ProgressReporter {
        ProgressReporter(Arc::new(Mutex::new(output.reporter())))
    }

    /// Sends further reports to this output.
    pub(super) fn pass_to(&self, output: &Output) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = output.reporter();
    }

    pub(super) fn report(&self, text: impl Display) {
        let reporter = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Output::reporting_to(reporter).note(text);
    }
}
