//! The first runs: all tests with coverage, and named tests even if settings leave them out.

use std::mem::take;
use std::time::Duration;
use trellis_sandbox::test_ids::file_of;

use trellis_sandbox::{Outcome, Report, Request, TestOutcome, TestResult};

use super::{LocalizeRequest, has_failed, is_usage_error};
use crate::fault::{Exit, Fault};
use crate::sandbox::CONTINUE_ON_COLLECTION_ERRORS;

/// Maximum number of runs. A crash or an endless test cuts a run short, and the next one continues
/// after it.
const RUNS: usize = 12;

impl LocalizeRequest<'_> {
    /// Runs all tests once with coverage, and then the named tests that this left out. Returns the
    /// reports and notes.
    pub(super) async fn baseline(&self) -> Result<(Vec<Report>, Vec<String>), Fault> {
        let mut request = self.request(Vec::new(), self.test_timeout);
        request.targets.clone_from(&self.targets);
        request.also.clone_from(&self.also);
        request.coverage = true;
        // One file that cannot be collected must not keep the others from being tested.
        request.arguments.push(CONTINUE_ON_COLLECTION_ERRORS.to_owned());
        let (mut reports, mut notes) = self.all_of(&mut request).await?;
        request.targets = self.left_out(&reports);
        if !request.targets.is_empty() {
            let (mut more, said) = self.all_of(&mut request).await?;
            // The caller that looks for a named test's result reports that the test does not exist.
            more.iter_mut().for_each(|it| it.collection_errors.retain(|it| !is_usage_error(it)));
            more.retain(|it| !(it.tests.is_empty() && it.collection_errors.is_empty()));
            reports.extend(more);
            notes.extend(said);
        }
        if !is_measured(&reports) {
            notes.push(
                "no lines were measured: suspects come from tracebacks, and from what the tests \
                 import and call"
                    .to_owned(),
            );
        }
        notes.sort();
        notes.dedup();
        Ok((reports, notes))
    }

    /// Returns the named tests that no run reported.
    fn left_out(&self, reports: &[Report]) -> Vec<String> {
        let tests = reports.iter().flat_map(|it| &it.tests).map(|it| it.id.as_str());
        let broken = reports.iter().flat_map(|it| &it.collection_errors);
        let broken = broken.filter_map(|it| it.collecting.as_deref().or(it.path.as_deref()));
        let known: Vec<&str> = tests.chain(broken).collect();
        let is_known = |named: &&String| {
            let of_file = file_of(named);
            known.iter().any(|it| covers(named, it) || *it == of_file)
        };
        self.named.iter().filter(|it| !is_known(it)).cloned().collect()
    }

    /// Runs the tests of a request. If one test ends the run, the tests after it run in the next
    /// run.
    async fn all_of(&self, request: &mut Request) -> Result<(Vec<Report>, Vec<String>), Fault> {
        let (mut reports, mut notes) = (Vec::new(), Vec::new());
        for run in 1..=RUNS {
            let mut report = self.runner.run(request, self.cancel).await;
            check(&report, !self.named.is_empty())?;
            // Deselected tests need not pass, but a change may break those that do.
            let passed = |it: &TestResult| !has_failed(it);
            report.tests.extend(take(&mut report.deselected_tests).into_iter().filter(passed));
            let cut = |it: &&TestResult| {
                matches!(it.outcome, TestOutcome::Crashed | TestOutcome::TimedOut)
            };
            let ended = report.tests.iter().find(cut).map(|it| it.id.clone());
            request.targets.clone_from(&report.not_run);
            notes.extend(report.notes.iter().cloned());
            reports.push(report);
            let Some(id) = ended else { break };
            notes.push(format!("{id} ended the whole run, so the lines it executed are unknown"));
            match request.targets.len() {
                0 => break,
                left if run == RUNS => notes.push(format!(
                    "{} did not run: {RUNS} runs were ended by other tests first",
                    trellis_os::wording::counted(left, "test", "tests")
                )),
                _ => {}
            }
        }
        Ok((reports, notes))
    }
}

/// Returns whether any run measured lines.
pub(super) fn is_measured(reports: &[Report]) -> bool {
    reports.iter().any(|it| it.coverage.is_some())
}

/// Returns whether `target`, a test, file or folder, contains the test `id`.
pub fn covers(target: &str, id: &str) -> bool {
    let target = target.trim_end_matches('/');
    id.strip_prefix(target).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':', '[']))
}

/// Advice for the case that pytest finds no tests.
pub const NO_TESTS_HINT: &str = "pytest looks for functions test_* in files test_*.py and \
    *_test.py, unless the project's pytest settings say otherwise; give the folder of the project";

/// Checks that the run has results to use. Without any test, that is an error unless tests are
/// named, since these may exist anyway.
fn check(report: &Report, are_named: bool) -> Result<(), Fault> {
    match &report.outcome {
        Outcome::SandboxUnavailable { reason } | Outcome::SandboxLost { reason } => {
            Err(Fault::unavailable(reason))
        }
        Outcome::Cancelled => Err(Fault::new(Exit::Interrupted, "stopped before the tests ended")),
        Outcome::Tampered { what } => Err(Fault::new(
            Exit::TestsFailed,
            format!(
                "these results prove nothing, because the code under test has changed them: \
                 {what}"
            ),
        )),
        Outcome::NoTests if report.tests.is_empty() && !are_named => {
            Err(Fault::input("pytest found no tests").hint(NO_TESTS_HINT))
        }
        _ => Ok(()),
    }
}

/// Returns all test results of a run, with an error result for each file that could not be
/// collected.
pub(super) fn results(report: Report) -> Vec<TestResult> {
    let broken = report.collection_errors.into_iter().filter_map(|failure| {
        let file = failure.collecting.clone().or_else(|| failure.path.clone())?;
        Some(TestResult {
            id: file.clone(),
            outcome: TestOutcome::Error,
            duration: Duration::ZERO,
            path: file,
            line: Some(1),
            reason: None,
            failure: Some(failure),
            stdout: String::new(),
            stderr: String::new(),
            log: String::new(),
            subtests: Vec::new(),
        })
    });
    report.tests.into_iter().chain(broken).collect()
}
