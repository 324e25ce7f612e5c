//! Trials: results of running the tests with a changed line.
//!
//! A line whose change alters the failures of failing tests is close to the fault (Papadakis and Le
//! Traon 2015, "Metallaxis"); one whose change makes failing tests pass is closer still, and one
//! whose change breaks passing tests is probably correct (Moon et al. 2014, "MUSE").

use std::collections::{BTreeMap, BTreeSet};

use trellis_python::{Loss, MutantKind, Weakness};

use super::spectrum::Line;
use super::{explanations, weights};

/// Factor for an edit after which tests no longer run the lines that raised their failures.
const AVOIDS: f64 = 0.2;

/// One edit with its test results.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Index of the file in [`super::Evidence::files`].
    pub file: usize,
    /// The changed line.
    pub line: u32,
    /// Kind of the edit.
    pub kind: MutantKind,
    /// The edit as text.
    pub what: String,
    /// The change, if an ordinary run of the tests has confirmed that it repairs.
    pub repair: Option<SmallRepair>,
    /// Ids of the failing tests that were run.
    pub failing: Vec<String>,
    /// Ids of those that passed.
    pub repaired: Vec<String>,
    /// Ids of those that failed in another way than before.
    pub altered: Vec<String>,
    /// Number of failing tests, run or not, that execute the function of the line.
    pub concerned: usize,
    /// Number of passing tests that were run.
    pub passing: usize,
    /// Number of those that failed.
    pub broken: usize,
    /// Number of those that execute the line itself without the edit.
    pub runs_line: usize,
    /// Number of passing tests that reach the line and were not run because of the limit.
    pub left_out: usize,
    /// True if all failing tests were run.
    pub complete: bool,
    /// True if the lines that raised the failures still run in the repaired tests; `None` if no
    /// line did, or this was not measured.
    pub still_reached: Option<bool>,
    /// Loss of the program by the edit.
    pub loss: Option<Loss>,
    /// Reason for which an edit of its kind is weak evidence.
    pub weakness: Option<Weakness>,
    /// The edited file in a form that is equal for edits of the same effect, if the edit repairs.
    pub effect: Option<String>,
}

/// A small edit of one file that makes all failing tests pass and breaks none.
#[derive(Clone, Debug, PartialEq)]
pub struct SmallRepair {
    /// The change as a unified diff.
    pub diff: String,
    /// The file's new text.
    pub text: String,
}

impl Trial {
    /// Returns whether every failing test passes and no other executed test fails.
    pub fn repairs(&self) -> bool {
        self.complete && self.repairs_all_run() && self.broken == 0
    }

    /// Returns whether the edit repairs, and more than a lack of tests speaks for it: a passing
    /// test executes the line, the tests pass without avoiding the lines that raised their
    /// failures, the program loses nothing, and an author might have meant it. It is a proof if no
    /// other edit repairs as well.
    pub fn is_sound(&self) -> bool {
        self.repairs()
            && self.runs_line > 0
            && !self.avoids()
            && self.loss.is_none()
            && self.weakness.is_none()
    }

    /// Returns whether another edit repairs by another effect, so that the tests do not decide
    /// between the two.
    fn rivals(&self, other: &Trial) -> bool {
        let is_same = self.file == other.file
            && match (&self.effect, &other.effect) {
                (Some(own), Some(of_other)) => own == of_other,
                _ => self.line == other.line && self.what == other.what,
            };
        self.repairs() && !self.avoids() && !is_same
    }

    /// Returns whether tests pass only because they no longer run the lines that raised their
    /// failures.
    fn avoids(&self) -> bool {
        self.still_reached == Some(false)
    }

    /// Returns whether every failing test passes that was run.
    pub(super) fn repairs_all_run(&self) -> bool {
        !self.failing.is_empty() && self.repaired.len() == self.failing.len()
    }

    /// Returns whether the edit repairs every failing test that executes the function, and breaks
    /// none: with several faults, no edit repairs more.
    fn repairs_concerned(&self) -> bool {
        self.concerned > 0 && self.repaired.len() >= self.concerned && self.broken == 0
    }

    /// Returns the evidence for a fault in the line: from 1 (certain) to 0 (none). Failing tests
    /// that do not execute the function may have another fault, so they do not count.
    fn value(&self) -> f64 {
        let share = |count: usize, of: usize| if of == 0 { 0.0 } else { count as f64 / of as f64 };
        let concerned = if self.concerned > 0 { self.concerned } else { self.failing.len() };
        let repaired = share(self.repaired.len(), concerned.max(self.repaired.len()));
        let altered = share(self.altered.len(), self.failing.len());
        let intact = 1.0 - share(self.broken, self.passing);
        let harmless = if self.broken == 0 { 1.0 } else { 0.5 * intact };
        let reaching = if self.avoids() { AVOIDS } else { 1.0 };
        (0.75 * repaired + 0.03 * altered) * harmless * reaching
    }
}

/// Results of the trials of one line.
#[derive(Clone, Debug, Default)]
pub(super) struct LineEvidence<'t> {
    /// The highest value of a trial, between 0 and 1.
    pub(super) value: f64,
    /// The most plausible repair that was confirmed.
    pub(super) repair: Option<&'t Trial>,
    /// Number of edits that repair by another effect than that one.
    pub(super) rivals: usize,
    /// The trial of the highest value, whether it repairs or not.
    pub(super) best: Option<&'t Trial>,
    pub(super) tried: usize,
}

/// Groups trials by line.
pub(super) fn verdicts(trials: &[Trial]) -> BTreeMap<Line, LineEvidence<'_>> {
    let mut found: BTreeMap<Line, LineEvidence<'_>> = BTreeMap::new();
    for trial in trials {
        let verdict = found.entry((trial.file, trial.line)).or_default();
        verdict.tried += 1;
        if trial.value() > verdict.value {
            (verdict.value, verdict.best) = (trial.value(), Some(trial));
        }
        let rank = |it: &Trial| (it.is_sound(), it.kind.plausibility());
        let better = |old: &Trial| rank(trial) > rank(old);
        if trial.repairs() && trial.repair.is_some() && verdict.repair.is_none_or(better) {
            verdict.repair = Some(trial);
        }
    }
    for it in found.values_mut() {
        it.rivals = it.repair.map_or(0, |own| rivals(own, trials));
    }
    found
}

/// Returns the number of edits, by their effects, that repair as well as one does.
fn rivals(of: &Trial, trials: &[Trial]) -> usize {
    let others = trials.iter().filter(|it| it.rivals(of));
    let effect = |it: &&Trial| (it.file, it.effect.clone().unwrap_or_else(|| it.what.clone()));
    others.map(|it| effect(&it)).collect::<BTreeSet<_>>().len()
}

impl LineEvidence<'_> {
    /// Returns whether the repair is the only one and an author might have meant it.
    pub(super) fn proves(&self) -> bool {
        self.rivals == 0 && self.repair.is_some_and(Trial::is_sound)
    }

    /// Describes the result of the most telling trial.
    pub(super) fn words(&self) -> Option<String> {
        let best = || self.best.map(|it| explanations::tried(it, 0));
        self.repair.map(|it| explanations::tried(it, self.rivals)).or_else(best)
    }

    /// Describes the result of the repair, if a person or a model could make something of it.
    pub(super) fn hint(&self) -> Option<String> {
        let repair = self.repair.filter(|it| !it.avoids() && it.loss.is_none())?;
        Some(explanations::tried(repair, self.rivals))
    }

    /// Corrects the prior suspicion of a line, between 0 and 1, by the trials.
    pub(super) fn correct(&self, prior: f64) -> f64 {
        if let Some(repair) = self.repair.filter(|it| !it.avoids() && it.weakness.is_none()) {
            let rest = 1.0 - weights::REPAIRED;
            let plausible = repair.kind.plausibility() * if self.proves() { 1.0 } else { 0.5 };
            return weights::REPAIRED + rest * (0.7 * plausible + 0.3 * prior);
        }
        let room = weights::REPAIRED - 0.01;
        let untried = prior * weights::UNTRIED;
        let share = if self.repair.is_some_and(|it| !it.avoids()) {
            weights::WEAKLY_REPAIRED
        } else if self.best.is_some_and(|it| it.repairs_concerned() && !it.avoids()) {
            0.9
        } else {
            0.5
        };
        let raised = untried + self.value * share * (room - untried);
        // The more edits left the failure unchanged, the less suspicious is the line.
        let barren = if self.value == 0.0 { self.tried.min(10) as f64 / 10.0 } else { 0.0 };
        (raised * (1.0 - 0.08 * barren)).min(room)
    }
}
