//! Trials: what became of the tests when a line was changed.
//!
//! A line whose change alters how failing tests end is close to the fault (Papadakis and Le Traon 2015,
//! "Metallaxis"); one whose change makes failing tests pass is closer still, and one whose change breaks
//! passing tests is probably right as it is (Moon et al. 2014, "MUSE").

use std::collections::BTreeMap;

use code::MutantKind;

use super::spectrum::Line;
use super::weights;

/// One edit, and what the tests said to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The place of the file in [`super::Evidence::files`].
    pub file: usize,
    /// The line that was changed.
    pub line: u32,
    /// How.
    pub kind: MutantKind,
    /// The same in words.
    pub what: String,
    /// The change as a unified diff.
    pub diff: String,
    /// Failing tests that were run.
    pub failing: usize,
    /// How many of them passed.
    pub repaired: usize,
    /// How many failed in another way than before.
    pub altered: usize,
    /// Passing tests that were run.
    pub passing: usize,
    /// How many of them failed.
    pub broken: usize,
    /// Passing tests that reach the line and were not run, since there are too many.
    pub left_out: usize,
    /// All failing tests were run.
    pub complete: bool,
}

impl Trial {
    /// Every failing test passes and no other that was run fails.
    pub fn repairs(&self) -> bool {
        self.complete && self.failing > 0 && self.repaired == self.failing && self.broken == 0
    }

    /// What it says of its line: 1 the fault is here, 0 nothing.
    fn value(&self) -> f64 {
        let share = |count: usize, of: usize| if of == 0 { 0.0 } else { count as f64 / of as f64 };
        let (repaired, altered) =
            (share(self.repaired, self.failing), share(self.altered, self.failing));
        let intact = 1.0 - share(self.broken, self.passing);
        let harmless = if self.broken == 0 { 1.0 } else { 0.5 * intact };
        (0.75 * repaired + 0.03 * altered) * harmless
    }
}

/// What the trials say of one line.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdict<'t> {
    /// The best that was seen, between 0 and 1.
    pub(super) value: f64,
    /// The most plausible repair.
    pub(super) repair: Option<&'t Trial>,
    /// The trial that says most, repair or not.
    pub(super) best: Option<&'t Trial>,
    pub(super) tried: usize,
}

/// By line.
pub(super) fn verdicts(trials: &[Trial]) -> BTreeMap<Line, Verdict<'_>> {
    let mut found: BTreeMap<Line, Verdict<'_>> = BTreeMap::new();
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

impl Verdict<'_> {
    /// The prior suspicion of a line, between 0 and 1, corrected.
    pub(super) fn correct(&self, prior: f64) -> f64 {
        if let Some(repair) = self.repair {
            let rest = 1.0 - weights::REPAIRED;
            return weights::REPAIRED + rest * (0.7 * repair.kind.plausibility() + 0.3 * prior);
        }
        let room = weights::REPAIRED - 0.01;
        let untried = prior * weights::UNTRIED;
        let raised = untried + self.value * 0.5 * (room - untried);
        // The more edits left the failure as it is, the less is wrong here.
        let barren = if self.value == 0.0 { self.tried.min(10) as f64 / 10.0 } else { 0.0 };
        (raised * (1.0 - 0.08 * barren)).min(room)
    }
}
