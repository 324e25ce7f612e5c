//! Trials: results of running the tests with a changed line.
//!
//! A line whose change alters the failures of failing tests is close to the fault (Papadakis and Le
//! Traon 2015, "Metallaxis"); one whose change makes failing tests pass is closer still, and one
//! whose change breaks passing tests is probably correct (Moon et al. 2014, "MUSE").

use std::collections::BTreeMap;

use trellis_python::MutantKind;

use super::spectrum::Line;
use super::weights;

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
    /// The edit as a unified diff.
    pub diff: String,
    /// Number of failing tests that were run.
    pub failing: usize,
    /// Number of those that passed.
    pub repaired: usize,
    /// Number of those that failed in another way than before.
    pub altered: usize,
    /// Number of passing tests that were run.
    pub passing: usize,
    /// Number of those that failed.
    pub broken: usize,
    /// Number of passing tests that reach the line and were not run because of the limit.
    pub left_out: usize,
    /// True if all failing tests were run.
    pub complete: bool,
}

impl Trial {
    /// Returns whether every failing test passes and no other executed test fails.
    pub fn repairs(&self) -> bool {
        self.complete && self.failing > 0 && self.repaired == self.failing && self.broken == 0
    }

    /// Returns the evidence for a fault in the line: from 1 (certain) to 0 (none).
    fn value(&self) -> f64 {
        let share = |count: usize, of: usize| if of == 0 { 0.0 } else { count as f64 / of as f64 };
        let (repaired, altered) =
            (share(self.repaired, self.failing), share(self.altered, self.failing));
        let intact = 1.0 - share(self.broken, self.passing);
        let harmless = if self.broken == 0 { 1.0 } else { 0.5 * intact };
        (0.75 * repaired + 0.03 * altered) * harmless
    }
}

/// Results of the trials of one line.
#[derive(Clone, Debug, Default)]
pub(super) struct LineEvidence<'t> {
    /// The highest value of a trial, between 0 and 1.
    pub(super) value: f64,
    /// The most plausible repair.
    pub(super) repair: Option<&'t Trial>,
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
        let better = |old: &Trial| trial.kind.plausibility() > old.kind.plausibility();
        if trial.repairs() && verdict.repair.is_none_or(better) {
            verdict.repair = Some(trial);
        }
    }
    found
}

impl LineEvidence<'_> {
    /// Corrects the prior suspicion of a line, between 0 and 1, by the trials.
    pub(super) fn correct(&self, prior: f64) -> f64 {
        if let Some(repair) = self.repair {
            let rest = 1.0 - weights::REPAIRED;
            return weights::REPAIRED + rest * (0.7 * repair.kind.plausibility() + 0.3 * prior);
        }
        let room = weights::REPAIRED - 0.01;
        let untried = prior * weights::UNTRIED;
        let raised = untried + self.value * 0.5 * (room - untried);
        // The more edits left the failure unchanged, the less suspicious is the line.
        let barren = if self.value == 0.0 { self.tried.min(10) as f64 / 10.0 } else { 0.0 };
        (raised * (1.0 - 0.08 * barren)).min(room)
    }
}
