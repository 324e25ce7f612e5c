//! Parses jest's `--json` report.

use super::{
    CommandResult, Malformed,
    judge::Records,
    node::{self, Dialect, Status},
};
use crate::report::TestOutcome;

/// jest's statuses; `pending` is a test that is skipped or not selected.
const JEST: Dialect = Dialect {
    outcome: |status| match status {
        Status::Passed => Some(TestOutcome::Passed),
        Status::Failed => Some(TestOutcome::Failed),
        _ => Some(TestOutcome::Skipped),
    },
    // Versions 24 to 30 begin with one of these.
    timed_out: &["thrown: \"Exceeded timeout of", ": Timeout - Async callback was not invoked"],
};

/// Returns the records of the report.
pub(super) fn records(ended: &CommandResult<'_>) -> Result<Records, Malformed> {
    node::records(ended, &JEST)
}
