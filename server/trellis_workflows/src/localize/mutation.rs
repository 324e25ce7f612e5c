//! Trials of small edits of suspicious lines. Each runs against the failing tests, and if one of
//! these passes, against the passing tests that execute the line.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesOrdered;
use futures_util::{FutureExt as _, StreamExt as _};
use trellis_engine::localize::{Evidence, Ranking, TestEvidence, Trial};
use trellis_python::{Mutant, mutants, unified_diff};
use trellis_sandbox::{Report, TestOutcome, TestResult};

use super::{INTERRUPTED, LocalizeRequest, has_failed};

/// Number of trials at a time; each has its own worker.
const BATCH: usize = 2;
/// Maximum numbers of lines and files to edit.
const LINES: usize = 120;
const FILES: usize = 10;
/// Maximum number of edits per request.
const MOST: usize = 4000;
/// Maximum numbers of failing tests in the first look at an edit: of ordinary ones, and of those
/// that never end.
const FIRST_LOOK: usize = 8;
const ENDLESS: usize = 1;
/// Failing tests that take longer come later in the first look.
const SLOW: Duration = Duration::from_millis(100);
/// Maximum total duration of the passing tests of one trial, as measured in the first run.
const PASSING: Duration = Duration::from_secs(3);
/// Minimum time limit of a test in a trial. The limit is `TIMES` times the slowest passing test,
/// but at least this.
const SHORTEST: Duration = Duration::from_millis(300);
const TIMES: u32 = 6;

/// An edit to try.
struct MutantRun {
    file: usize,
    path: String,
    source: Arc<str>,
    mutant: Mutant,
    /// Priority; higher values are tried sooner.
    priority: f64,
}

pub(super) struct MutationRunner<'a> {
    search: &'a LocalizeRequest<'a>,
    evidence: &'a Evidence,
    attempts: Vec<MutantRun>,
    /// Exception and message of the failing tests by id, before any edit.
    failing: BTreeMap<String, (String, String)>,
    first_look: Vec<String>,
    durations: BTreeMap<String, Duration>,
    limit: Duration,
}

impl<'a> MutationRunner<'a> {
    pub(super) fn new(
        search: &'a LocalizeRequest<'a>,
        evidence: &'a Evidence,
        ranking: &Ranking,
        reports: &[Report],
        flaky: &[String],
    ) -> MutationRunner<'a> {
        let results: Vec<&TestResult> = reports.iter().flat_map(|it| &it.tests).collect();
        let durations = results.iter().map(|it| (it.id.clone(), it.duration)).collect();
        let slowest = results.iter().filter(|it| it.outcome == TestOutcome::Passed);
        let slowest = slowest.map(|it| it.duration).max().unwrap_or_default();
        let failed = results.into_iter().filter(|it| has_failed(it) && !flaky.contains(&it.id));
        let failed: Vec<&TestResult> = failed.collect();
        let failing = failed.iter().map(|it| (it.id.clone(), said(it))).collect();
        let limit = (slowest * TIMES).clamp(SHORTEST, search.test_timeout);
        let (first_look, attempts) = (first_look(&failed), attempts(search, evidence, ranking));
        MutationRunner { search, evidence, attempts, failing, first_look, durations, limit }
    }

    /// Tries edits until the time is over or none is left. Returns the trials, and notes on what
    /// was not tried.
    pub(super) async fn run(self, until: Instant) -> (Vec<Trial>, Vec<String>) {
        let mut notes = Vec::new();
        if self.first_look.is_empty() {
            notes
                .push("no trials: the failing tests end without a failure of their own".to_owned());
            return (Vec::new(), notes);
        }
        let all = self.attempts.len();
        let mut done: Vec<Trial> = Vec::new();
        let mut tried = 0;
        // After a repair, as many edits again are tried, so that a better one nearby is found.
        let mut last = all;
        let mut next = 0;
        // Trials finish in order, so that equal runs see equal results.
        let mut under_way: FuturesOrdered<BoxFuture<'_, Option<Trial>>> = FuturesOrdered::new();
        loop {
            while under_way.len() < BATCH
                && next < all.min(last)
                && Instant::now() < until
                && !self.search.cancel.is_cancelled()
            {
                under_way.push_back(self.attempt(&self.attempts[next], until).boxed());
                next += 1;
            }
            let Some(outcome) = under_way.next().await else { break };
            let Some(trial) = outcome else { continue };
            tried += 1;
            if trial.repairs() {
                last = last.min(next * 2 + 80);
            }
            done.push(trial);
        }
        drop(under_way);
        if next < all {
            let why =
                if Instant::now() >= until { "the time was up" } else { "a repair was found" };
            notes.push(format!(
                "the trials stopped early: {tried} of {all} small edits were tried, because \
                 {why}"
            ));
        } else {
            notes.push(format!("all {tried} small edits of suspicious lines were tried"));
        }
        (done, notes)
    }

    /// Tries one edit. `None` if the edited text is not Python, or the time is over.
    async fn attempt(&self, it: &MutantRun, until: Instant) -> Option<Trial> {
        if Instant::now() >= until {
            return None;
        }
        let text = it.mutant.apply(&it.source)?;
        let first = self.tests(it, &text, &self.first_look, until).await?;
        let mut trial = Trial {
            file: it.file,
            line: it.mutant.line,
            kind: it.mutant.kind,
            what: it.mutant.describe(&it.source),
            diff: String::new(),
            failing: self.first_look.len(),
            repaired: 0,
            altered: 0,
            passing: 0,
            broken: 0,
            left_out: 0,
            complete: false,
        };
        self.count(&mut trial, &self.first_look, &first);
        if trial.repaired == 0 {
            return Some(trial);
        }
        let rest: Vec<String> =
            self.failing.keys().filter(|id| !self.first_look.contains(id)).cloned().collect();
        let (passing, left_out) = self.passing(it);
        let more: Vec<String> = rest.iter().chain(&passing).cloned().collect();
        if !more.is_empty() {
            let second = self.tests(it, &text, &more, until).await?;
            self.count(&mut trial, &rest, &second);
            trial.failing += rest.len();
            (trial.passing, trial.left_out) = (passing.len(), left_out);
            trial.broken = passing.iter().filter(|id| !passed(&second, id)).count();
        }
        trial.complete = trial.failing == self.failing.len();
        if trial.repairs() {
            trial.diff = unified_diff(&it.path, &it.source, &text);
        }
        Some(trial)
    }

    /// Runs tests with an edit. `None` if it was cancelled, there is no sandbox, or the time was
    /// over before the tests were.
    async fn tests(
        &self,
        it: &MutantRun,
        text: &str,
        ids: &[String],
        until: Instant,
    ) -> Option<Report> {
        let changed = vec![(it.path.clone(), text.to_owned())];
        let mut request = self.search.request(changed, self.limit);
        request.targets = ids.to_vec();
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_secs(1));
        request.run_timeout = left.min(request.run_timeout);
        // Nobody reads the tracebacks, and for deep recursions pytest's own take longer than the
        // tests.
        request.arguments.push("--tb=native".to_owned());
        let report = self.search.runner.run(&request, self.search.cancel).await;
        let unusable = matches!(
            report.outcome,
            trellis_sandbox::Outcome::Cancelled
                | trellis_sandbox::Outcome::SandboxUnavailable { .. }
                | trellis_sandbox::Outcome::SandboxLost { .. }
        );
        let cut = report.outcome == trellis_sandbox::Outcome::TimedOut && Instant::now() >= until;
        (!unusable && !cut).then_some(report)
    }

    fn count(&self, trial: &mut Trial, ids: &[String], report: &Report) {
        for id in ids {
            if passed(report, id) {
                trial.repaired += 1;
                continue;
            }
            let Some(result) = report.tests.iter().find(|it| it.id == *id) else { continue };
            let (now, before) = (said(result), &self.failing[id]);
            // A new crash says that the edit is bad, not that the line is.
            let comparable = now.0 == before.0 || now.0 == "AssertionError";
            if comparable && now != *before {
                trial.altered += 1;
            }
        }
    }

    /// Returns quick passing tests that execute the line or read what it defines, and the number of
    /// further ones.
    fn passing(&self, it: &MutantRun) -> (Vec<String>, usize) {
        let facts = &self.evidence.files[it.file].facts;
        let statement = facts.statement_at(it.mutant.line).map(|at| &facts.statements[at]);
        let first = statement.map_or(it.mutant.line, |it| it.first);
        let function = statement.and_then(|it| it.function).map(|at| &facts.functions[at]);
        let reaches = |lines: &BTreeSet<u32>| match function {
            // An edit may change what runs before its line, so the whole function counts.
            Some(function) => lines.range(function.first..=function.last).next().is_some(),
            None => lines.contains(&first) || !lines.is_empty(),
        };
        let function = statement.and_then(|it| it.function);
        let leads = |test: &TestEvidence| {
            test.reached.iter().any(|to| to.file == it.file && to.function == function)
        };
        let duration = |id: &str| self.durations.get(id).copied().unwrap_or_default();
        let mut ids: Vec<&str> = (self.evidence.tests.iter())
            .filter(|test| !test.failed)
            .filter(|test| test.lines.get(&it.file).is_some_and(reaches) || leads(test))
            .map(|test| test.id.as_str())
            .collect();
        let all = ids.len();
        if ids.iter().map(|id| duration(id)).sum::<Duration>() > PASSING {
            ids.sort_by_key(|id| duration(id));
            let mut sum = Duration::ZERO;
            ids.retain(|id| {
                sum += duration(id);
                sum <= PASSING
            });
        }
        let left_out = all - ids.len();
        (ids.into_iter().map(str::to_owned).collect(), left_out)
    }
}

fn passed(report: &Report, id: &str) -> bool {
    report.tests.iter().any(|it| it.id == *id && !has_failed(it))
}

/// Returns the exception and message of a failed test, without addresses, which differ from run to
/// run.
fn said(test: &TestResult) -> (String, String) {
    let Some(failure) = &test.failure else {
        return (format!("{:?}", test.outcome), String::new());
    };
    let mut message = String::new();
    let mut parts = failure.message.split("0x");
    message.push_str(parts.next().unwrap_or_default());
    for part in parts {
        message.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    (failure.exception.clone(), message)
}

/// Returns the tests of the first look: the quick ones, and at most one that never ends.
fn first_look(failed: &[&TestResult]) -> Vec<String> {
    let endless = |it: &TestResult| {
        it.failure.as_ref().is_some_and(|it| it.exception == INTERRUPTED)
            || it.outcome == TestOutcome::TimedOut
    };
    let mut quick: Vec<&&TestResult> = failed.iter().filter(|it| !endless(it)).collect();
    // Not sorted by time alone: small differences are noise, and equal runs should look at equal
    // tests.
    quick.sort_by(|a, b| (a.duration > SLOW, &a.id).cmp(&(b.duration > SLOW, &b.id)));
    let mut ids: Vec<String> = quick.iter().take(FIRST_LOOK).map(|it| it.id.clone()).collect();
    ids.extend(failed.iter().filter(|it| endless(it)).take(ENDLESS).map(|it| it.id.clone()));
    ids
}

/// Returns edits of the suspicious lines, in the order in which they are tried.
fn attempts(
    search: &LocalizeRequest<'_>,
    evidence: &Evidence,
    ranking: &Ranking,
) -> Vec<MutantRun> {
    let mut prior: BTreeMap<usize, BTreeMap<u32, f64>> = BTreeMap::new();
    let lines = ranking.lines.iter().filter(|it| !evidence.files[it.file].is_test);
    for line in lines.take(LINES) {
        if prior.len() < FILES || prior.contains_key(&line.file) {
            prior.entry(line.file).or_default().insert(line.line, line.score);
        }
    }
    let highest = ranking.lines.first().map_or(1.0, |it| it.score.max(f64::EPSILON));
    let mut found = Vec::new();
    for (file, lines) in prior {
        let path = &evidence.files[file].path;
        let Some(source) = search.index.file(path).and_then(|it| search.index.text(it)) else {
            continue;
        };
        let facts = &evidence.files[file].facts;
        let score = |line: u32| {
            let first = facts.statement_at(line).map_or(line, |it| facts.statements[it].first);
            lines.get(&first).copied()
        };
        let Ok(all) = mutants(&source, |line| score(line).is_some()) else { continue };
        let mut all: Vec<Mutant> = all;
        all.sort_by(|a, b| b.kind.plausibility().total_cmp(&a.kind.plausibility()));
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for mutant in all {
            let count = counts.entry(mutant.line).or_default();
            *count += 1;
            let share = score(mutant.line).unwrap_or_default() / highest;
            // All lines get a turn before one gets many.
            let turn = 1.0 / (1.0 + 0.1 * *count as f64);
            let priority = (0.3 + 0.7 * share) * mutant.kind.plausibility() * turn;
            let (path, source) = (path.clone(), source.clone());
            found.push(MutantRun { file, path, source, mutant, priority });
        }
    }
    found.sort_by(|a, b| {
        b.priority
            .total_cmp(&a.priority)
            .then_with(|| (a.file, a.mutant.line).cmp(&(b.file, b.mutant.line)))
    });
    found.truncate(MOST);
    found
}
