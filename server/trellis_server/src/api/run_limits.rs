//! Limits of workflows without a plan: an issue, or a list of tasks.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_engine::approval::Mode;

use trellis_workflows::fault::{Exit, Fault};

/// Default timeout of one test, in seconds.
pub const TEST_SECONDS: u64 = 30;

/// Parses approval modes as option values, so that help and completions list them.
pub fn mode() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::as_str)).try_map(|it| it.parse::<Mode>())
}

/// Returns the default for a missing parameter.
pub fn test_seconds() -> u64 {
    TEST_SECONDS
}

/// What tests may take.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimeLimits {
    /// Seconds one test may take (of Python's), from 1; 30 if left out.
    #[serde(default = "test_seconds", alias = "timeout")]
    #[schemars(extend("x-alias" = "timeout"))]
    pub test_timeout: u64,
    /// Seconds all of them may take, from 1; if left out, as the person's settings say, else 1800.
    #[serde(default)]
    pub run_timeout: Option<u64>,
}

impl TimeLimits {
    /// Returns the timeout of one test.
    pub fn of_test(&self) -> Result<Duration, Fault> {
        seconds("testTimeout", self.test_timeout)
    }

    /// Returns the timeout of the whole run, if set.
    pub fn of_run(&self) -> Result<Option<Duration>, Fault> {
        self.run_timeout.map(|it| seconds("runTimeout", it)).transpose()
    }
}

/// One year; longer values are mistakes, and clocks could not add them.
const LONGEST_SECONDS: u64 = 365 * 86_400;

/// Returns a limit in whole seconds, at least one.
pub(super) fn seconds(name: &str, seconds: u64) -> Result<Duration, Fault> {
    match seconds {
        1..=LONGEST_SECONDS => Ok(Duration::from_secs(seconds)),
        _ => Err(Fault::new(Exit::Usage, format!("{name} is {seconds} seconds"))
            .hint(format!("give 1 to {LONGEST_SECONDS}"))),
    }
}

/// Fixes, and what its tests may take.
#[derive(clap::Args, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RunLimits {
    /// Try at most this many fixes after the first code; then the work needs your review.
    #[arg(long, default_value_t = RunLimits::default().max_retries, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=20))]
    pub max_retries: u32,
    /// Time limit for one test, in seconds.
    #[arg(long, alias = "timeout", help_heading = "Sandbox", default_value_t = RunLimits::default().test_timeout, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    test_timeout: u64,
    /// Time limit for all tests of a run, in seconds [default: 1800].
    #[arg(long, help_heading = "Sandbox", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    run_timeout: Option<u64>,
}

impl Default for RunLimits {
    fn default() -> RunLimits {
        RunLimits { max_retries: 3, test_timeout: TEST_SECONDS, run_timeout: None }
    }
}

impl RunLimits {
    /// Returns the timeout of one test.
    pub fn of_test(&self) -> Duration {
        Duration::from_secs(self.test_timeout.max(1))
    }

    /// Returns the timeout of the whole run, if set.
    pub fn of_run(&self) -> Option<Duration> {
        self.run_timeout.map(|it| Duration::from_secs(it.max(1)))
    }
}

#[cfg(test)]
mod limits {
    use super::*;

    #[test]
    fn a_limit_that_no_clock_can_hold_is_refused() {
        let table = [(0, false), (1, true), (LONGEST_SECONDS, true), (u64::MAX, false)];
        for (given, fits) in table {
            let limit = seconds("timeout", given);
            assert_eq!(
                limit.as_ref().ok().map(Duration::as_secs),
                fits.then_some(given),
                "{given}"
            );
            assert!(fits || limit.is_err_and(|it| it.exit == Exit::Usage), "{given}");
        }
    }
}
