//! The spectrum: who ran what.

use std::collections::{BTreeMap, BTreeSet};

use code::StatementKind;

use super::evidence::{Evidence, TestEvidence};

/// A line: the place of its file, its number.
pub(super) type Line = (usize, u32);
/// A function: the place of its file, its place there.
pub(super) type Function = (usize, usize);

/// Lines of a function that belong together; `None`: the top level.
pub(super) type Group = (usize, Option<usize>);

/// How often something was executed by tests that failed and by tests that passed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counts {
    pub(super) failed: usize,
    pub(super) passed: usize,
    /// Of the tests that failed, those that are only known to lead there.
    pub(super) led: usize,
}

/// Counts of lines and functions.
#[derive(Debug, Default)]
pub(super) struct Spectrum {
    pub(super) total: Counts,
    pub(super) lines: BTreeMap<Line, Counts>,
    pub(super) functions: BTreeMap<Function, Counts>,
    /// Lines that no test executes on its own account but whose value reaches executed ones, with the share
    /// of suspicion that they inherit.
    pub(super) inherited: BTreeMap<Line, f64>,
    /// Calls between failing tests and what they are only known to lead to.
    pub(super) led: BTreeMap<Group, usize>,
}

/// What a definition inherits from the code that it reaches: a wrong constant is rarer than a wrong
/// statement, since every test that reads it would have failed.
const INHERITED: f64 = 0.6;

impl Spectrum {
    pub(super) fn of(evidence: &Evidence) -> Spectrum {
        let mut spectrum = Spectrum::default();
        for test in &evidence.tests {
            let one = match test.failed {
                true => Counts { failed: 1, ..Counts::default() },
                false => Counts { passed: 1, ..Counts::default() },
            };
            spectrum.total.add(one);
            let mut functions = BTreeSet::new();
            for (file, lines) in &test.lines {
                for line in lines {
                    spectrum.lines.entry((*file, *line)).or_default().add(one);
                    let facts = &evidence.files[*file].facts;
                    let statement = facts.statement_at(*line).map(|it| &facts.statements[it]);
                    let inside = statement.filter(|it| it.kind != StatementKind::Definition);
                    functions.extend(inside.and_then(|it| it.function).map(|it| (*file, it)));
                }
            }
            spectrum.lead(evidence, test, one, &functions);
            for function in functions {
                spectrum.functions.entry(function).or_default().add(one);
            }
        }
        let functions = &spectrum.functions;
        // Where another test was seen, that counts.
        spectrum.led.retain(|(file, function), _| {
            let counts = function.and_then(|it| functions.get(&(*file, it)));
            counts.is_none_or(|it| it.led == it.failed)
        });
        spectrum.inherit(evidence);
        spectrum
    }

    /// What nobody measured counts as executed where the test leads there.
    fn lead(
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

    /// What is left of the suspicion of something that failing tests are only known to lead to: the nearer, the more.
    pub(super) fn nearness(&self, group: Group) -> f64 {
        self.led.get(&group).map_or(1.0, |distance| 0.5 + 0.5 / (1.0 + *distance as f64))
    }

    /// The similarity of "executed" to "failed" (Ochiai; Abreu, Zoeteweij and van Gemund 2007): the number
    /// of failing tests that executed it over the root of all failing tests times all that executed it.
    pub(super) fn ochiai(&self, counts: Counts) -> f64 {
        let executed = (counts.failed + counts.passed) as f64;
        let product = self.total.failed as f64 * executed;
        if product == 0.0 { 0.0 } else { counts.failed as f64 / product.sqrt() }
    }

    pub(super) fn of_line(&self, line: Line) -> f64 {
        let own = self.lines.get(&line).map_or(0.0, |it| self.ochiai(*it));
        own.max(self.inherited.get(&line).copied().unwrap_or_default())
    }

    pub(super) fn of_function(&self, function: Function) -> f64 {
        self.functions.get(&function).map_or(0.0, |it| self.ochiai(*it))
    }

    /// Names bound at import, default values and class attributes inherit from the statements that read
    /// them.
    fn inherit(&mut self, evidence: &Evidence) {
        let mut readers: BTreeMap<(Option<usize>, &str), f64> = BTreeMap::new();
        for ((number, line), counts) in &self.lines {
            let file = &evidence.files[*number];
            let Some(at) = file.facts.statement_at(*line).filter(|_| !file.is_test) else {
                continue;
            };
            let score = self.ochiai(*counts);
            for name in &file.facts.statements[at].reads {
                // Other files read constants; other names of theirs are mostly their own.
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
                    // A field that is only declared has nothing in it that could be wrong.
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

/// By the custom of Python's style.
fn is_constant(name: &str) -> bool {
    name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.failed += other.failed;
        self.passed += other.passed;
        self.led += other.led;
    }
}
