//! Success rates of the localization tools, and the order that follows from them (L8).

use crate::strategy::{Answer, Attempt};

/// Minimum number of tries for a meaningful rate.
const ENOUGH: usize = 10;

/// The tools, in their initial order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tool {
    Symbol,
    Spectrum,
    References,
    Search,
}

impl Tool {
    pub const ALL: [Tool; 4] = [Tool::Symbol, Tool::Spectrum, Tool::References, Tool::Search];

    /// Returns `symbol lookup`, `spectrum`, `references` or `graph search`.
    pub fn as_str(self) -> &'static str {
        match self {
            Tool::Symbol => "symbol lookup",
            Tool::Spectrum => "spectrum",
            Tool::References => "references",
            Tool::Search => "graph search",
        }
    }
}

/// Uses of one tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HitRate {
    pub tries: usize,
    /// Tries that found something.
    pub hits: usize,
    /// Tries that failed with an error.
    pub errors: usize,
}

/// Success statistics of the tools, for one item or a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolStats {
    tallies: [HitRate; 4],
}

impl ToolStats {
    pub fn count(&mut self, tool: Tool, answer: &Answer) {
        self.add(tool, answer.as_ref().is_ok_and(|found| !found.is_empty()), answer.is_err());
    }

    /// Counts the result of an attempt.
    pub fn take(&mut self, attempt: &Attempt) {
        self.add(attempt.tool, !attempt.found.is_empty(), attempt.error.is_some());
    }

    fn add(&mut self, tool: Tool, is_hit: bool, is_error: bool) {
        let tally = &mut self.tallies[tool as usize];
        tally.tries += 1;
        tally.hits += usize::from(is_hit);
        tally.errors += usize::from(is_error);
    }

    pub fn of(&self, tool: Tool) -> HitRate {
        self.tallies[tool as usize]
    }

    /// Returns the tools in order of use: as listed, but a tool that succeeded in less than a fifth
    /// of at least ten tries comes last.
    pub fn order(&self) -> Vec<Tool> {
        let (good, poor): (Vec<Tool>, Vec<Tool>) =
            Tool::ALL.into_iter().partition(|tool| !self.is_poor(*tool));
        good.into_iter().chain(poor).collect()
    }

    fn is_poor(&self, tool: Tool) -> bool {
        let tally = self.of(tool);
        tally.tries >= ENOUGH && tally.hits * 5 < tally.tries
    }

    /// Returns a sentence for each tool that failed with an error in more than a fifth of at least
    /// ten tries.
    pub fn warnings(&self) -> Vec<String> {
        let failing = |tool: &Tool| {
            let tally = self.of(*tool);
            tally.tries >= ENOUGH && tally.errors * 5 > tally.tries
        };
        let line = |tool: Tool| {
            let HitRate { tries, errors, .. } = self.of(tool);
            format!(
                "{} failed in {errors} of {tries} uses; see the journal for the reasons",
                tool.as_str()
            )
        };
        Tool::ALL.into_iter().filter(failing).map(line).collect()
    }
}
