//! The spectrum: executions of lines and functions by failing and passing tests.

use std::collections::{BTreeMap, BTreeSet};

use trellis_python::StatementKind;

use super::after_failure::{AfterFailure, Failures};
use super::definitions::{Inherited, inherited};
use super::evidence::{Evidence, TestEvidence};

/// A line: index of its file, line number.
pub(super) type Line = (usize, u32);
/// A function: index of its file, index in the file.
pub(super) type Function = (usize, usize);

/// A function as a group of lines; `None` is the top level.
pub(super) type Group = (usize, Option<usize>);

/// Numbers of failing and passing tests that executed some code.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counts {
    pub(super) failed: usize,
    pub(super) passed: usize,
    /// Number of the failing tests that reach the code only according to the source, without a
    /// measurement.
    pub(super) led: usize,
    /// Number of the failing tests that ran the code only after an exception that passing tests do
    /// not raise.
    pub(super) handled: usize,
}

/// Counts of lines and functions.
#[derive(Debug, Default)]
pub(super) struct Spectrum {
    pub(super) total: Counts,
    pub(super) lines: BTreeMap<Line, Counts>,
    pub(super) functions: BTreeMap<Function, Counts>,
    /// Lines that no test executes directly but whose values are read by executed lines, with the
    /// inherited suspicion.
    pub(super) inherited: BTreeMap<Line, Inherited>,
    /// Number of calls between failing tests and the code that they reach according to the source
    /// only.
    pub(super) led: BTreeMap<Group, usize>,
}

/// Factor of the suspicion of lines that handle an exception which only failing tests raise: they
/// are executed by failing tests alone, but as a consequence.
const HANDLING: f64 = 0.6;

impl Spectrum {
    pub(super) fn of(evidence: &Evidence) -> Spectrum {
        let mut spectrum = Spectrum::default();
        let failures = Failures::of(evidence);
        let (failing, passing): (Vec<_>, Vec<_>) = evidence.tests.iter().partition(|it| it.failed);
        for test in passing.into_iter().chain(failing) {
            let after = failures.after(evidence, &spectrum, test);
            spectrum.count(evidence, test, &after);
        }
        let functions = &spectrum.functions;
        // A measurement by another test takes precedence.
        spectrum.led.retain(|(file, function), _| {
            let counts = function.and_then(|it| functions.get(&(*file, it)));
            counts.is_none_or(|it| it.led == it.failed)
        });
        spectrum.inherited = inherited(evidence, &spectrum);
        spectrum
    }

    /// Counts what a test executed; passing tests come first.
    fn count(&mut self, evidence: &Evidence, test: &TestEvidence, after: &AfterFailure) {
        let mut one = Counts::default();
        one.add_test(test.failed);
        self.total.add(one);
        let mut functions = BTreeSet::new();
        let lines = test.lines.iter();
        for line in lines.flat_map(|(file, lines)| lines.iter().map(|it| (*file, *it))) {
            let facts = &evidence.files[line.0].facts;
            let statement = facts.statement_at(line.1).map(|it| &facts.statements[it]);
            let inside = statement.filter(|it| it.kind != StatementKind::Definition);
            let function = inside.map_or_else(|| facts.function_at(line.1), |it| it.function);
            if after.contains(line, function) {
                continue;
            }
            let counts = self.lines.entry(line).or_default();
            counts.add(one);
            counts.handled += usize::from(after.handles(line));
            functions.extend(inside.and(function).map(|it| (line.0, it)));
        }
        self.count_reached(evidence, test, one, &functions);
        for function in functions {
            self.functions.entry(function).or_default().add(one);
        }
    }

    /// Counts unmeasured code as executed if the test reaches it according to the source.
    fn count_reached(
        &mut self,
        evidence: &Evidence,
        test: &TestEvidence,
        one: Counts,
        functions: &BTreeSet<Function>,
    ) {
        let led = Counts { led: one.failed, ..one };
        for it in &test.reached {
            let known = test.lines.get(&it.file);
            let lines = evidence.lines_of(it).into_iter();
            for line in lines.filter(|line| !known.is_some_and(|it| it.contains(line))) {
                self.lines.entry((it.file, line)).or_default().add(led);
            }
            let place = it.function.map(|function| (it.file, function));
            if let Some(place) = place.filter(|it| !functions.contains(it)) {
                self.functions.entry(place).or_default().add(led);
            }
            if test.failed {
                let distance = self.led.entry((it.file, it.function)).or_insert(usize::MAX);
                *distance = it.distance.min(*distance);
            }
        }
    }

    /// Returns the factor for code that failing tests reach according to the source only: the
    /// nearer, the higher.
    pub(super) fn nearness(&self, group: Group) -> f64 {
        self.led.get(&group).map_or(1.0, |distance| 0.5 + 0.5 / (1.0 + *distance as f64))
    }

    /// Returns the factor for a line that failing tests run only to handle an exception.
    pub(super) fn before_exceptions(&self, line: Line) -> f64 {
        let counts = self.lines.get(&line).copied().unwrap_or_default();
        if counts.failed > 0 && counts.handled == counts.failed { HANDLING } else { 1.0 }
    }

    /// Returns the similarity of "executed" to "failed" (Ochiai; Abreu, Zoeteweij and van Gemund
    /// 2007): the number of failing tests that executed the code, divided by the square root of the
    /// number of all failing tests times the number of all tests that executed it.
    pub(super) fn ochiai(&self, counts: Counts) -> f64 {
        let executed = (counts.failed + counts.passed) as f64;
        let product = self.total.failed as f64 * executed;
        if product == 0.0 { 0.0 } else { counts.failed as f64 / product.sqrt() }
    }

    /// Returns the same similarity if only some failing tests were observed.
    pub(super) fn ochiai_among(&self, counts: Counts, failing: usize) -> f64 {
        let product = failing as f64 * (counts.failed + counts.passed) as f64;
        if product == 0.0 { 0.0 } else { counts.failed as f64 / product.sqrt() }
    }

    pub(super) fn of_line(&self, line: Line) -> f64 {
        let own = self.lines.get(&line).map_or(0.0, |it| self.ochiai(*it));
        own.max(self.inherited.get(&line).map_or(0.0, |it| it.score))
    }

    pub(super) fn of_function(&self, function: Function) -> f64 {
        self.functions.get(&function).map_or(0.0, |it| self.ochiai(*it))
    }
}

impl Counts {
    pub(super) fn add_test(&mut self, failed: bool) {
        self.failed += usize::from(failed);
        self.passed += usize::from(!failed);
    }

    fn add(&mut self, other: Counts) {
        self.failed += other.failed;
        self.passed += other.passed;
        self.led += other.led;
    }
}
