//! Parses vitest's JSON report: jest's format with other statuses.

use super::{
    CommandResult, Malformed,
    judge::Records,
    node::{self, Dialect, Status},
};
use crate::report::TestOutcome;

/// vitest's statuses; `pending` is a test that was to run and never ended.
const VITEST: Dialect = Dialect {
    outcome: |status| match status {
        Status::Passed => Some(TestOutcome::Passed),
        Status::Failed => Some(TestOutcome::Failed),
        Status::Pending => None,
        _ => Some(TestOutcome::Skipped),
    },
    // Version 4 loses the message and leaves the placeholder of the stack.
    timed_out: &["Test timed out in", "Hook timed out in", "STACK_TRACE_ERROR"],
};

/// Returns the records of the report.
pub(super) fn records(ended: &CommandResult<'_>) -> Result<Records, Malformed> {
    node::records(ended, &VITEST)
}
