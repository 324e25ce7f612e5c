//! Parameters of the ranking, with their reasons.

/// Weights of the signals; those of a row add up to 1.
pub(super) struct Weights {
    /// Executions by failing and passing tests. The one signal available for every failure.
    pub(super) spectrum: f64,
    /// Origin of the exception. Strong if there is one; a failed assertion has none.
    pub(super) traceback: f64,
    /// Branches and values that only failing tests show. Weak, as few tests are traced.
    pub(super) observed: f64,
    /// Distance from the functions that the test calls. Decides between functions that the same
    /// tests run.
    pub(super) distance: f64,
    /// Time of the last change. Weak: most projects have no history, or one commit.
    pub(super) recency: f64,
    /// Evidence in the text: odd constructs, branches not taken, words of the failing test, parts
    /// that can be wrong. Each is weak, but the lines of one block have the same spectrum.
    pub(super) text: f64,
}

/// Weights for a line inside its function.
pub(super) const LINE: Weights = Weights {
    spectrum: 0.43,
    traceback: 0.2,
    observed: 0.07,
    distance: 0.0,
    recency: 0.05,
    text: 0.25,
};

/// Weights for a function.
pub(super) const FUNCTION: Weights = Weights {
    spectrum: 0.45,
    traceback: 0.25,
    observed: 0.05,
    distance: 0.12,
    recency: 0.03,
    text: 0.1,
};

/// Share of its function's score in a line's score, since a line of a correct function is correct.
pub(super) const OF_FUNCTION: f64 = 0.35;

/// Share of its most suspicious line's score in a function's score.
pub(super) const OF_LINE: f64 = 0.3;

/// Factor for test code with a failed assertion. Test code is wrong less often than the code under
/// test, but each test alone runs its own lines, so their spectrum is always maximal. A failed
/// assertion points to the code under test.
pub(super) const ASSERTING_TEST_CODE: f64 = 0.6;

/// Factor for such test code if passing tests prove little of the code under test: a test stands
/// alone only against code that others have found right.
pub(super) const TEST_OF_UNPROVEN_CODE: f64 = 0.5;

/// Similarity to failure from which passing tests prove little of a function: with one failing
/// test, that at most three passing ones run the function.
pub(super) const UNPROVEN: f64 = 0.5;

/// Factor for test code that raises any other error: the test itself is the likelier cause.
pub(super) const FAILING_TEST_CODE: f64 = 0.9;

/// Factor per frame outwards in a traceback.
pub(super) const OUTWARDS: f64 = 0.6;

/// Highest strength of a traceback for a line of an endless recursion: one of its lines fails to end
/// it, or what decides about that.
pub(super) const IN_CYCLE: f64 = 0.9;

/// Strength of an exception that only failing tests raise, next to that of the failure itself.
pub(super) const RAISED: f64 = 0.8;

/// Similarity to failure from which a branch or a value is worth a word.
pub(super) const TELLING: f64 = 0.7;

/// Factor for a line that only misses what another line should have provided.
pub(super) const VICTIM: f64 = 0.6;

/// Factor for a line that raises on purpose: it has detected a fault elsewhere, mostly in its
/// caller.
pub(super) const RAISED_ON_PURPOSE: f64 = 0.4;

/// Maximum score without a trial; scores above belong to lines with a successful trial.
pub(super) const UNTRIED: f64 = 0.7;

/// Minimum score of a line with an edit that makes every failing test pass and breaks none.
pub(super) const REPAIRED: f64 = 0.85;

/// Share of the way to that score for a line with such an edit of a kind that is weak evidence.
pub(super) const WEAKLY_REPAIRED: f64 = 0.9;

impl Weights {
    pub(super) fn sum(&self, parts: &super::ScoreParts) -> f64 {
        self.spectrum * parts.spectrum
            + self.traceback * parts.traceback
            + self.observed * parts.observed
            + self.distance * parts.distance
            + self.recency * parts.recency
            + self.text * parts.text
    }
}
