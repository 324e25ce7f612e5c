//! The spectrum: executions of lines and functions by failing and passing tests.

use std::collections::{BTreeMap, BTreeSet};

use trellis_python::StatementKind;

use super::after_failure::{AfterFailure, Failures};
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
    pub(super) inherited: BTreeMap<Line, f64>,
    /// Number of calls between failing tests and the code that they reach according to the source
    /// only.
    pub(super) led: BTreeMap<Group, usize>,
}

/// Factor of the suspicion that a definition inherits from its readers: a wrong constant is rarer
/// than a wrong statement, since every test that reads it would have failed.
const INHERITED: f64 = 0.6;

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
        spectrum.inherit(evidence);
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
        own.max(self.inherited.get(&line).copied().unwrap_or_default())
    }

    pub(super) fn of_function(&self, function: Function) -> f64 {
        self.functions.get(&function).map_or(0.0, |it| self.ochiai(*it))
    }

    /// Gives names bound at import, default values and class attributes the suspicion of the
    /// statements that read them.
    fn inherit(&mut self, evidence: &Evidence) {
        let mut readers: BTreeMap<(Option<usize>, &str), f64> = BTreeMap::new();
        for ((number, line), counts) in &self.lines {
            let file = &evidence.files[*number];
            let Some(at) = file.facts.statement_at(*line).filter(|_| !file.is_test) else {
                continue;
            };
            let score = self.ochiai(*counts);
            for name in &file.facts.statements[at].reads {
                // Other files read constants; equal names of another kind in other files are mostly
                // different things.
                let constant = is_constant(name).then_some((None, name.as_str()));
                for key in [Some((Some(*number), name.as_str())), constant].into_iter().flatten() {
                    let best = readers.entry(key).or_default();
                    *best = best.max(score);
                }
            }
        }
        for (number, file) in evidence.files.iter().enumerate() {
            for statement in &file.facts.statements {
                let line = (number, statement.first);
                let score = match (statement.kind, statement.function) {
                    (StatementKind::Definition, Some(function)) => {
                        let says = statement.parts > 0 || !statement.oddities.is_empty();
                        if says { self.of_function((number, function)) } else { 0.0 }
                    }
                    // A declaration without a value holds nothing that could be wrong.
                    (StatementKind::Assignment, None) if statement.parts > 0 => {
                        let by = |name: &str| {
                            let own = readers.get(&(Some(number), name)).copied();
                            own.or_else(|| readers.get(&(None, name)).copied())
                        };
                        statement.binds.iter().filter_map(|it| by(it)).fold(0.0, f64::max)
                    }
                    _ => 0.0,
                };
                if score > 0.0 && !self.lines.contains_key(&line) {
                    self.inherited.insert(line, score * INHERITED);
                }
            }
        }
    }
}

/// Returns whether a name is a constant by Python's naming convention.
fn is_constant(name: &str) -> bool {
    name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
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
