//! Every number of the ranking, and why it is what it is.

/// What a sign counts for; those of a row make 1 together.
pub(super) struct Weights {
    /// Who ran it. The one sign that is there for every failure.
    pub(super) spectrum: f64,
    /// Where the exception came from. Strong where there is one; a failing assertion has none.
    pub(super) traceback: f64,
    /// How far from what the test calls. Decides between functions that the same tests run.
    pub(super) distance: f64,
    /// When it changed last. Weak: most projects have no history, or one commit.
    pub(super) recency: f64,
    /// What the text says: odd constructs, branches not taken, words of the failing test, parts that can
    /// be wrong. Weak each, but the lines of one block have the same spectrum.
    pub(super) text: f64,
}

/// Of a line inside its function.
pub(super) const LINE: Weights =
    Weights { spectrum: 0.45, traceback: 0.2, distance: 0.0, recency: 0.1, text: 0.25 };

/// Of a function.
pub(super) const FUNCTION: Weights =
    Weights { spectrum: 0.5, traceback: 0.25, distance: 0.05, recency: 0.05, text: 0.15 };

/// What a line takes from its function, since a line of an innocent function is innocent.
pub(super) const OF_FUNCTION: f64 = 0.35;

/// What a function takes from its most suspicious line.
pub(super) const OF_LINE: f64 = 0.3;

/// Test code is wrong less often than what it tests, but each test alone runs its own lines, so that its
/// spectrum is always as high as can be. An assertion that fails accuses what is tested.
pub(super) const ASSERTING_TEST_CODE: f64 = 0.6;

/// Anything else that is raised in test code itself rather accuses the test.
pub(super) const FAILING_TEST_CODE: f64 = 0.9;

/// What is left of a frame's suspicion one level further out.
pub(super) const OUTWARDS: f64 = 0.6;

/// A line that raises on purpose has found the fault of somebody else, mostly its caller's.
pub(super) const RAISED_ON_PURPOSE: f64 = 0.4;

/// Untried suspicion goes up to here; above are lines where an edit has proved something.
pub(super) const UNTRIED: f64 = 0.7;

/// An edit on this line makes every failing test pass and breaks none.
pub(super) const REPAIRED: f64 = 0.85;

impl Weights {
    pub(super) fn sum(&self, parts: &super::Parts) -> f64 {
        self.spectrum * parts.spectrum
            + self.traceback * parts.traceback
            + self.distance * parts.distance
            + self.recency * parts.recency
            + self.text * parts.text
    }
}
