//! Who is told what a sandbox does, while one sandbox serves one piece of work after another.

use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};

use crate::output::Output;
use crate::reporter::Reporter;

/// Tells whoever used the sandbox last.
#[derive(Clone)]
pub(super) struct ProgressReporter(Arc<Mutex<Reporter>>);

impl ProgressReporter {
    pub(super) fn of(output: &Output) -> ProgressReporter {
        ProgressReporter(Arc::new(Mutex::new(output.reporter())))
    }

    /// From now on this work is told.
    pub(super) fn pass_to(&self, output: &Output) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = output.reporter();
    }

    pub(super) fn report(&self, text: impl Display) {
        let reporter = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Output::reporting_to(reporter).note(text);
    }
}
