//! Suspicious functions and lines.

use super::trials::SmallRepair;
use super::{explanations, weights};

/// The signals, each between 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScoreParts {
    /// Ochiai similarity over the tests.
    pub spectrum: f64,
    /// Strength of the tracebacks of failing tests, and of exceptions that only they raise.
    pub traceback: f64,
    /// Branches and values that only failing tests show, among the traced ones.
    pub observed: f64,
    /// 1 for a function called by a failing test itself, less for each call in between.
    pub distance: f64,
    /// 1 for uncommitted changes, less for older ones.
    pub recency: f64,
    /// Evidence in the source text.
    pub text: f64,
    /// Evidence from trials; 0 without any.
    pub trials: f64,
}

/// A suspicious line.
#[derive(Clone, Debug, PartialEq)]
pub struct LineSuspect {
    /// Index of the file in [`Evidence::files`].
    pub file: usize,
    /// Line number, from 1.
    pub line: u32,
    /// Qualified name of the function around the line; empty at module level.
    pub symbol: String,
    /// Score between 0 and 1.
    pub score: f64,
    /// Explanation as text.
    pub why: String,
    /// Components of the score.
    pub parts: ScoreParts,
    /// An edit of the line that makes all failing tests pass and breaks none.
    pub repair: Option<SmallRepair>,
    /// True if the repair is a proof: the only edit that repairs, and one that an author might have
    /// meant.
    pub is_proven: bool,
    /// Result of the trial of the repair, in words, if the edit neither avoids the failure nor takes
    /// something from the program.
    pub hint: Option<String>,
}

/// A suspicious function, or the top level of a module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankedFunction {
    /// Index of the file in [`Evidence::files`].
    pub file: usize,
    /// Most suspicious line of the function.
    pub line: u32,
    /// Qualified name; empty for the top level.
    pub symbol: String,
    /// Score between 0 and 1.
    pub score: f64,
    /// Explanation as text.
    pub why: String,
    /// Components of the score.
    pub parts: ScoreParts,
    /// Lines of the function, the most suspicious first.
    pub lines: Vec<LineSuspect>,
    /// The repair of the best line that has one.
    pub repair: Option<SmallRepair>,
    /// True if that repair is a proof.
    pub is_proven: bool,
}

/// Suspicious functions and lines, the most suspicious first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranking {
    /// Functions, and modules with a suspicious statement at their top level.
    pub suspects: Vec<RankedFunction>,
    /// The lines of all suspects.
    pub lines: Vec<LineSuspect>,
}

impl RankedFunction {
    /// Takes over line number, repair and trial results from the lines. Without trials the
    /// function's own signals determine its score.
    pub(super) fn take(&mut self, lines: &[LineSuspect]) {
        let Some(best) = lines.first() else { return };
        self.line = best.line;
        if let Some(it) = lines.iter().find(|it| it.repair.is_some()) {
            (self.repair, self.is_proven) = (it.repair.clone(), it.is_proven);
        }
        let tried = best.parts.trials > 0.0;
        let untried = self.score * weights::UNTRIED;
        self.score = if tried { best.score.max(untried) } else { untried };
        self.why = explanations::both(&self.why, best.line, &best.why);
    }
}
