//! Diagnoses failures as far as runs and rules allow: flaky, the environment, the tests, or the
//! code.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use trellis_engine::localize::{Evidence, Ranking, TestEvidence};
use trellis_engine::{
    Diagnosis, Finding, Flakiness, ProjectFacts, RerunHistory, RunOutcome, TestCase, TestRun,
    diagnose,
};
use trellis_python::may_vary;
use trellis_sandbox::{Outcome, Report, Request, TestOutcome};

use super::{FailingTest, INTERRUPTED, LocalizeRequest};
use crate::convert::{self, SkippedRun};
use crate::fault::{Exit, Fault};

/// Maximum number of repeats of failing tests.
const REPEATS: u32 = 5;
/// Time after which only the first repeat may still begin.
const REPEATING: Duration = Duration::from_secs(5);

/// Findings before anything is tried.
#[derive(Default)]
pub(super) struct Diagnosed {
    /// Finding for all failures together; `None` if that takes an opinion.
    pub finding: Option<Finding>,
    /// Findings for single failures by test id, where no opinion is needed.
    pub findings: BTreeMap<String, Finding>,
    /// Tests that failed and then passed unchanged.
    pub flaky: Vec<String>,
    /// True if code that ran may behave differently from one run to the next.
    pub varies: bool,
}

impl LocalizeRequest<'_> {
    /// Repeats the failing tests, and then applies the rules to those that keep failing.
    pub(super) async fn diagnose(
        &self,
        failures: &[FailingTest],
        reports: &[Report],
        evidence: &Evidence,
    ) -> Result<Diagnosed, Fault> {
        let first = failed_run(failures, reports, self.texts());
        let varies = self.may_vary(reports, evidence);
        let flaky = self.flaky(&first, varies).await?;
        if first.cases.len() == flaky.len() && !flaky.is_empty() {
            let why = format!("passed when run again unchanged: {}", flaky.join(", "));
            let finding = Finding { diagnosis: Diagnosis::Flaky, rule: "repeated", why };
            let finding = Some(finding);
            return Ok(Diagnosed { finding, findings: BTreeMap::new(), flaky, varies });
        }
        let mut steady = first;
        steady.cases.retain(|case| !flaky.contains(&case.id));
        let findings = failures.iter().filter(|it| !flaky.contains(&it.id)).filter_map(|it| {
            let alone = failed_run(std::slice::from_ref(it), &[], self.texts());
            Some((it.id.clone(), self.by_rule(&alone, evidence)?))
        });
        let findings: BTreeMap<String, Finding> = findings.collect();
        // A test that was cut short says nothing about those that failed on their own.
        let own = |it: &&FailingTest| !flaky.contains(&it.id) && !was_cut_short(&it.failure);
        let by_themselves: Vec<FailingTest> = failures.iter().filter(own).cloned().collect();
        let cut = steady.cases.len() + steady.collection.len() > by_themselves.len();
        let finding = match (cut, by_themselves.is_empty()) {
            (true, false) => {
                let rest = self.by_rule(&failed_run(&by_themselves, &[], self.texts()), evidence);
                let all_agree = |it: &Finding| {
                    let reported =
                        findings.values().filter(|other| other.diagnosis == it.diagnosis);
                    reported.count() == steady.cases.len() + steady.collection.len()
                };
                rest.filter(all_agree)
            }
            _ => self.by_rule(&steady, evidence),
        };
        Ok(Diagnosed { finding, findings, flaky, varies })
    }

    fn texts(&self) -> impl Fn(&str) -> Option<Arc<str>> {
        |path: &str| self.index.text(self.index.file(path)?)
    }

    /// Returns whether code that ran may behave differently from one run to the next. Without
    /// measured lines it is unknown what ran.
    fn may_vary(&self, reports: &[Report], evidence: &Evidence) -> bool {
        let measured: Option<Vec<_>> = reports.iter().map(|it| it.coverage.as_ref()).collect();
        let Some(measured) = measured else { return true };
        let ran = measured.iter().flat_map(|it| &it.files);
        let ran: BTreeSet<&String> =
            ran.filter(|(_, it)| !it.executed.is_empty()).map(|(path, _)| path).collect();
        let text = |path: &String| self.index.text(self.index.file(path)?);
        let texts: Option<Vec<Arc<str>>> = ran.into_iter().map(text).collect();
        let is_local = |module: &str| is_local(evidence, module);
        texts.is_none_or(|it| may_vary(it.iter().map(AsRef::as_ref), &is_local))
    }

    /// Returns failing tests that pass in a repeat. Interrupted runs are repeated once, as are
    /// failures of code that does the same in each run; other failures more often while there is
    /// time. From the second repeat on, each uses a new interpreter: all forks of one interpreter
    /// order sets of strings the same way.
    async fn flaky(&self, first: &TestRun, may_vary: bool) -> Result<Vec<String>, Fault> {
        let targets: Vec<String> = first.cases.iter().map(|case| case.id.clone()).collect();
        let most = if first.ending == RunOutcome::Failed { REPEATS } else { 1 };
        let until = Instant::now() + REPEATING;
        let mut repeats = RerunHistory::default();
        repeats.push(first.clone());
        for repeat in 0..most {
            let is_reported = repeats.judge(most, may_vary) != Flakiness::Unknown;
            if targets.is_empty() || is_reported || (repeat > 0 && Instant::now() > until) {
                break;
            }
            let mut request = Request {
                cold: repeat > 0,
                hash_seed: repeat,
                ..self.request(Vec::new(), self.test_timeout)
            };
            request.targets.clone_from(&targets);
            let report = self.runner.run(&request, self.cancel).await;
            let run = convert::test_run(&report, &self.texts()).map_err(stopped)?;
            repeats.push(run);
        }
        Ok(repeats.flaky())
    }

    fn by_rule(&self, run: &TestRun, evidence: &Evidence) -> Option<Finding> {
        let is_test = |path: &str| evidence.files.iter().any(|it| it.path == path && it.is_test);
        let documentation = self.documentation(run, evidence);
        let documentation: Vec<&str> = documentation.iter().map(String::as_str).collect();
        diagnose(
            run,
            &ProjectFacts {
                is_test: &is_test,
                is_local: &|module| is_local(evidence, module),
                // A project requires whatever it imports.
                is_declared: &|_| true,
                signatures_hold: true,
                documentation: &documentation,
            },
        )
    }

    /// Returns docstrings of the code that the failing tests executed.
    fn documentation(&self, run: &TestRun, evidence: &Evidence) -> Vec<String> {
        let failing: BTreeSet<&str> = run.cases.iter().map(|case| case.id.as_str()).collect();
        let tests = evidence.tests.iter().filter(|it| failing.contains(it.id.as_str()));
        let led = |it: &TestEvidence| it.reached.iter().map(|it| it.file).collect::<Vec<_>>();
        let files: BTreeSet<usize> =
            tests.flat_map(|it| it.lines.keys().copied().chain(led(it))).collect();
        let mut out = Vec::new();
        for file in files.into_iter().filter(|file| !evidence.files[*file].is_test) {
            let Some(id) = self.index.file(&evidence.files[file].path) else { continue };
            let Some(text) = self.index.text(id) else { continue };
            let outline = self.index.outline(id);
            let docstrings = outline.symbols.iter().filter_map(|it| it.docstring.clone());
            out.extend(docstrings.map(|range| text[range].trim_matches('"').to_owned()));
        }
        out
    }
}

/// Returns whether a module is a file or folder of the project.
fn is_local(evidence: &Evidence, module: &str) -> bool {
    let file = format!("{module}.py");
    let is_part = |it: &str| it == module || it == file;
    evidence.files.iter().any(|it| it.path.split('/').any(is_part))
}

/// Returns whether a test was ended from outside.
fn was_cut_short(failure: &trellis_sandbox::Failure) -> bool {
    [INTERRUPTED, "Timeout", "Crash"].contains(&failure.exception.as_str())
}

/// Converts the reason for a skipped repeat into a fault.
fn stopped(none: SkippedRun) -> Fault {
    match none {
        SkippedRun::Cancelled => {
            Fault::new(Exit::Interrupted, "stopped while the failing tests were repeated")
        }
        SkippedRun::Fault(fault) => fault,
    }
}

/// Returns the failures as a run of their own; an interrupted test stands for an interrupted run.
fn failed_run(
    failures: &[FailingTest],
    reports: &[Report],
    texts: impl Fn(&str) -> Option<Arc<str>>,
) -> TestRun {
    let mut run = TestRun {
        ending: RunOutcome::Failed,
        stack: Vec::new(),
        cases: Vec::new(),
        collection: Vec::new(),
        output: String::new(),
    };
    for it in failures {
        let failure = convert::failure(&it.failure, &texts);
        if it.failure.exception == INTERRUPTED {
            let why = Some(failure.message.clone());
            (run.ending, run.stack) = (RunOutcome::TimedOut { why }, failure.frames.clone());
        }
        match it.id.contains("::") {
            true => run.cases.push(TestCase {
                id: it.id.clone(),
                passed: false,
                set_aside: false,
                failure: Some(failure),
            }),
            false => run.collection.push(failure),
        }
    }
    for report in reports {
        let cut_short = |outcome| report.tests.iter().any(|it| it.outcome == outcome);
        let frames = report.stuck.iter().flat_map(|it| &it.frames);
        let ending = match &report.outcome {
            Outcome::Crashed { signal, .. } if cut_short(TestOutcome::Crashed) => {
                RunOutcome::Crashed { how: "early".to_owned(), signal: *signal }
            }
            Outcome::KilledForMemory => RunOutcome::KilledForMemory,
            Outcome::TimedOut => RunOutcome::TimedOut { why: report.reason.clone() },
            _ => continue,
        };
        run.ending = ending;
        run.stack = frames.map(|it| convert::frame(it, &texts)).collect();
    }
    run
}

/// Returns a finding against the code if a mutation satisfies several tests at once and breaks
/// none. A single test may be wrong itself, so an edit that satisfies it proves nothing.
pub(super) fn by_trial(
    ranking: &Ranking,
    evidence: &Evidence,
    failures: &[FailingTest],
) -> Option<Finding> {
    let functions: BTreeSet<&str> =
        failures.iter().filter_map(|it| it.id.split('[').next()).collect();
    if functions.len() < 2 {
        return None;
    }
    let line = ranking.lines.iter().find(|it| it.repair.is_some())?;
    let path = &evidence.files[line.file].path;
    (!evidence.files[line.file].is_test).then(|| Finding {
        diagnosis: Diagnosis::Implementation,
        rule: "trial",
        why: format!(
            "a small edit of {path}:{} makes every failing test pass, and no other fails",
            line.line
        ),
    })
}
