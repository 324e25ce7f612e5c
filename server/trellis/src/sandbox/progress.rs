//! Who is told what a sandbox does, while one sandbox serves one piece of work after another.

use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};

use crate::reporter::Reporter;
use crate::output::Output;

/// Tells whoever used the sandbox last.
#[derive(Clone)]
pub(super) struct ProgressReporter(Arc<Mutex<Reporter>>);

impl ProgressReporter {
    pub(super) fn of(output: &Output) -> ProgressReporter {
        ProgressReporter(Arc::new(Mutex::new(output.observer())))
    }

    /// From now on this work is told.
    pub(super) fn pass_to(&self, output: &Output) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = output.observer();
    }

    pub(super) fn say(&self, text: impl Display) {
        let observer = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Output::told(observer).note(text);
    }
}
