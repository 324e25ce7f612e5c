//! vitest's JSON report: jest's shape, with other words.

use super::{
    CommandResult, Malformed,
    judge::Records,
    node::{self, Dialect, Status},
};
use crate::report::TestOutcome;

/// `pending` is how vitest calls a test that was to run and never ended.
const VITEST: Dialect = Dialect {
    outcome: |status| match status {
        Status::Passed => Some(TestOutcome::Passed),
        Status::Failed => Some(TestOutcome::Failed),
        Status::Pending => None,
        _ => Some(TestOutcome::Skipped),
    },
    // In version 4 the words are lost, and the placeholder of the stack is left.
    timed_out: &["Test timed out in", "Hook timed out in", "STACK_TRACE_ERROR"],
};

/// What the report says.
pub(super) fn records(ended: &CommandResult<'_>) -> Result<Records, Malformed> {
    node::records(ended, &VITEST)
}
