//! Duration of a workflow and of its test runs.

use std::time::Duration;

use serde::Serialize;
use trellis_sandbox::Totals;

/// Duration of a workflow.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Timing {
    /// Total time.
    pub seconds: f64,
    /// Time of the test runs, each from the start of its process to its end.
    pub test_seconds: f64,
    pub test_runs: u64,
}

impl Timing {
    /// Creates the timing of a workflow that took `all`, with these totals of test runs.
    pub fn of(all: Duration, tests: Totals) -> Timing {
        Timing {
            seconds: all.as_secs_f64(),
            test_seconds: tests.time.as_secs_f64(),
            test_runs: tests.runs,
        }
    }
}
