//! Code that a failing test ran only after it had failed, and that cannot be the cause.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::{Evidence, TestEvidence};
use super::spectrum::{Counts, Group, Line, Spectrum};
use super::trace::TestTrace;

/// Finds what failing tests ran after their failures, according to their traces.
#[derive(Debug, Default)]
pub(super) struct Failures<'e> {
    /// Exceptions that most failing tests raise and no passing one does: line and class.
    unusual: BTreeSet<(Line, &'e str)>,
}

/// Lines and functions that one test ran after its failure.
#[derive(Debug, Default)]
pub(super) struct AfterFailure {
    lines: BTreeSet<Line>,
    functions: BTreeSet<Group>,
    /// Lines first run after an unusual exception: probably its handling.
    handling: BTreeSet<Line>,
}

/// Returns the lines of code that raise an exception in most failing tests, and in no passing one:
/// caught exceptions too.
pub fn unusual_raises(evidence: &Evidence) -> BTreeSet<(usize, u32)> {
    Failures::of(evidence).unusual.into_iter().map(|(line, _)| line).collect()
}

impl<'e> Failures<'e> {
    pub(super) fn of(evidence: &'e Evidence) -> Failures<'e> {
        let traced = |failed: bool| {
            let tests = evidence.tests.iter().filter(move |it| it.failed == failed);
            tests.filter_map(|it| it.trace.as_ref())
        };
        let raised = |trace: &'e TestTrace| {
            let of_code = trace.raised.iter().filter(|it| !evidence.files[it.at.0].is_test);
            of_code.map(|it| (it.at, it.exception.as_str())).collect::<BTreeSet<_>>()
        };
        let usual: BTreeSet<_> = traced(false).flat_map(raised).collect();
        let mut counts: BTreeMap<_, usize> = BTreeMap::new();
        for it in traced(true).flat_map(raised).filter(|it| !usual.contains(it)) {
            *counts.entry(it).or_default() += 1;
        }
        let failing = traced(true).count();
        let most = counts.into_iter().filter(|(_, count)| count * 2 > failing);
        // Without a passing test to compare with, any exception looks unusual.
        let comparable = traced(false).next().is_some();
        Failures { unusual: most.filter(|_| comparable).map(|(it, _)| it).collect() }
    }

    /// Finds it for one test; nothing for passing and untraced ones. `spectrum` holds the counts of
    /// the passing tests.
    pub(super) fn after(
        &self,
        evidence: &Evidence,
        spectrum: &Spectrum,
        test: &TestEvidence,
    ) -> AfterFailure {
        let Some(trace) = test.trace.as_ref().filter(|_| test.failed) else {
            return AfterFailure::default();
        };
        let unusual = trace.raised.iter();
        let unusual = unusual.filter(|it| self.unusual.contains(&(it.at, it.exception.as_str())));
        let unusual = unusual.map(|it| it.moment).min();
        let after = |end: Option<u32>| {
            let first = trace.first.iter();
            let first =
                first.flat_map(|(file, lines)| lines.iter().map(|it| (*file, *it.0, *it.1)));
            let late = first.filter(|(_, _, moment)| *moment > end.unwrap_or(u32::MAX));
            late.map(|(file, line, _)| (file, line)).collect()
        };
        let mut handling: BTreeSet<Line> = after(unusual);
        if unusual.is_some() {
            handling.extend(&trace.handlers);
        }
        let functions = reporting(evidence, spectrum, test, trace);
        AfterFailure { lines: after(trace.decided), functions, handling }
    }
}

impl AfterFailure {
    pub(super) fn handles(&self, line: Line) -> bool {
        self.handling.contains(&line)
    }

    pub(super) fn contains(&self, line: Line, function: Option<usize>) -> bool {
        self.lines.contains(&line) || self.functions.contains(&(line.0, function))
    }
}

/// Returns the functions by which test helpers report a failure that they have found: those first
/// called, directly or not, from a branch of a helper that no passing test takes.
fn reporting(
    evidence: &Evidence,
    spectrum: &Spectrum,
    test: &TestEvidence,
    trace: &TestTrace,
) -> BTreeSet<Group> {
    let own = test.id.split('[').next().and_then(|it| it.rsplit("::").next());
    let mut reports: Vec<bool> = Vec::new();
    let passed = |it: &Counts| it.passed > 0;
    for call in &trace.calls {
        let inherited = call.caller.is_some_and(|it| reports[it]);
        let caller = call.caller.map(|it| &trace.calls[it]);
        let from_branch = caller.zip(call.line).is_some_and(|(caller, line)| {
            let helper = caller.function.and_then(|it| spectrum.functions.get(&(caller.file, it)));
            let at = evidence.statement_line((caller.file, line));
            let of = &evidence.files[caller.file];
            let name = caller.function.map(|it| of.facts.functions[it].name.as_str());
            of.is_test
                && name.and_then(|it| it.rsplit('.').next()) != own
                && helper.is_some_and(passed)
                && !spectrum.lines.get(&at).is_some_and(passed)
        });
        reports.push(inherited || from_branch);
    }
    let calls = trace.calls.iter().zip(reports).filter(|(_, it)| *it);
    calls.map(|(it, _)| (it.file, it.function)).filter(|it| it.1.is_some()).collect()
}
