//! Facts about a fix, as its test runs showed them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Results of the tests that ran with a fix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FixFacts {
    /// Number of failing tests that pass with it.
    pub fixed: usize,
    /// Number of failing tests that ran with it.
    pub failing: usize,
    /// Number of tests that it may affect, passed before and still pass.
    pub still_passing: usize,
    /// Ids of hunks without a line that a passing test executes; null if coverage was not measured.
    pub uncovered_hunks: Option<Vec<usize>>,
}
