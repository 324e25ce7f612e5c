//! Derives the outcome from records and an exit status. Both must agree before a run counts as
//! passed.

use std::collections::HashMap;

use super::{Framework, ParsedReport};
use crate::report::{Failure, Outcome, TestOutcome, TestResult};

/// The records of a framework's own report.
#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) tests: Vec<TestResult>,
    pub(super) not_run: Vec<String>,
    pub(super) collection_errors: Vec<Failure>,
    /// The reason the run as a whole did not finish.
    pub(super) incomplete: Option<String>,
    /// The failure of something other than a test.
    pub(super) beyond_tests: Option<String>,
}

/// Returns the exit statuses that only mean "something failed".
fn usual(framework: Framework) -> &'static [i32] {
    match framework {
        Framework::Go => &[1, 2],
        _ => &[1],
    }
}

/// Combines records and exit status into a result.
pub(super) fn judge(
    framework: Framework,
    status: Result<i32, i32>,
    records: Records,
) -> ParsedReport {
    let (outcome, reason) = verdict(framework, status, &records);
    let mut tests = records.tests;
    number(&mut tests);
    ParsedReport {
        tests,
        not_run: records.not_run,
        collection_errors: records.collection_errors,
        outcome,
        reason,
        parsing_failed: false,
    }
}

/// Adds ` #2` to the id of the second test of a name, so that no result hides another.
fn number(tests: &mut [TestResult]) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for test in tests {
        let count = seen.entry(test.id.clone()).or_default();
        *count += 1;
        if *count > 1 {
            test.id = format!("{} #{count}", test.id);
        }
    }
}

fn verdict(
    framework: Framework,
    status: Result<i32, i32>,
    records: &Records,
) -> (Outcome, Option<String>) {
    let code = match status {
        Ok(code) => code,
        Err(signal) => {
            let outcome = Outcome::Crashed { signal: Some(signal), exit_code: None };
            return (outcome, Some(format!("{framework} died of signal {signal}")));
        }
    };
    let crashed =
        |reason: String| (Outcome::Crashed { signal: None, exit_code: Some(code) }, Some(reason));
    if code != 0 && !usual(framework).contains(&code) {
        return crashed(format!(
            "{framework} ended with the unusual status {code}; see the output"
        ));
    }
    if !records.collection_errors.is_empty() {
        return (Outcome::CollectionError, None);
    }
    let failed = records.tests.iter().any(|test| is_failure(test.outcome));
    let passed = records.tests.iter().any(|test| is_pass(test.outcome));
    match (code, failed) {
        (0, true) => {
            (Outcome::Failed, Some(format!("tests failed, although {framework} reported success")))
        }
        (_, true) => (Outcome::Failed, None),
        _ if let Some(reason) = &records.incomplete => crashed(reason.clone()),
        _ if !records.not_run.is_empty() => {
            crashed("the run ended before every test had a result; see the output".to_owned())
        }
        (0, _) if let Some(reason) = &records.beyond_tests => crashed(reason.clone()),
        (0, _) if passed => (Outcome::Passed, None),
        _ if records.tests.is_empty() && records.beyond_tests.is_none() => (Outcome::NoTests, None),
        (0, _) => (Outcome::NoTests, Some("every test was skipped".to_owned())),
        _ => (Outcome::Failed, Some(no_test_failed(framework, code, records))),
    }
}

fn no_test_failed(framework: Framework, code: i32, records: &Records) -> String {
    let what = records.beyond_tests.as_deref().unwrap_or("perhaps an unhandled error");
    format!("no test failed, but {framework} ended with status {code} ({what}); see the output")
}

fn is_failure(outcome: TestOutcome) -> bool {
    use TestOutcome::{Crashed, Error, Failed, TimedOut};
    matches!(outcome, Failed | Error | TimedOut | Crashed)
}

fn is_pass(outcome: TestOutcome) -> bool {
    matches!(outcome, TestOutcome::Passed | TestOutcome::XPassed)
}
