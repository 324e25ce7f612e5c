//! Log of an item's localization attempts by iteration (L6).

use crate::strategy::{Answer, Tool};

/// Maximum number of attempts per iteration; the next one is refused.
pub const ATTEMPTS: usize = 20;

/// One use of one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub tool: Tool,
    pub query: String,
    /// Found symbols or nodes, the likeliest first.
    pub found: Vec<String>,
    /// Reason why the tool failed.
    pub error: Option<String>,
}

/// Error of the 21st attempt of an iteration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("LocalizationExhausted: {ATTEMPTS} attempts found no place to look at")]
pub struct LocalizationExhausted;

/// The attempts of one item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttemptLog {
    /// Attempts of earlier iterations.
    earlier: Vec<Attempt>,
    attempts: Vec<Attempt>,
}

impl AttemptLog {
    /// Begins the next iteration: earlier attempts are kept, the count restarts.
    pub fn next_iteration(&mut self) {
        self.earlier.append(&mut self.attempts);
    }

    /// Begins an attempt.
    ///
    /// # Errors
    ///
    /// [`LocalizationExhausted`] for the 21st attempt of an iteration.
    pub fn begin(&mut self, tool: Tool, query: &str) -> Result<(), LocalizationExhausted> {
        if self.attempts.len() >= ATTEMPTS {
            return Err(LocalizationExhausted);
        }
        let (query, found) = (query.to_owned(), Vec::new());
        self.attempts.push(Attempt { tool, query, found, error: None });
        Ok(())
    }

    /// Records the result of the attempt begun last.
    pub fn end(&mut self, answer: &Answer) {
        let Some(last) = self.attempts.last_mut() else { return };
        match answer {
            Ok(found) => last.found = found.iter().map(|it| it.symbol.clone()).collect(),
            Err(error) => last.error = Some(error.clone()),
        }
    }

    /// Returns whether an earlier iteration tried the same without a result.
    pub fn has_failed(&self, tool: Tool, query: &str) -> bool {
        let same = |it: &&Attempt| it.tool == tool && it.query == query;
        self.earlier.iter().filter(same).any(|it| it.found.is_empty() && it.error.is_none())
    }

    /// Returns the number of attempts left in this iteration.
    pub fn left(&self) -> usize {
        ATTEMPTS.saturating_sub(self.attempts.len())
    }

    /// Records a lookup made by a model, with the first line of its result.
    ///
    /// # Errors
    ///
    /// [`LocalizationExhausted`] for the 21st attempt of an iteration.
    pub fn looked_up(
        &mut self,
        tool: Tool,
        query: &str,
        found: Option<&str>,
    ) -> Result<(), LocalizationExhausted> {
        self.begin(tool, query)?;
        if let Some(last) = self.attempts.last_mut() {
            last.found = found.map(str::to_owned).into_iter().collect();
        }
        Ok(())
    }

    /// Returns the attempts of this iteration.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// Returns all attempts, the earliest first.
    pub fn all(&self) -> impl Iterator<Item = &Attempt> {
        self.earlier.iter().chain(&self.attempts)
    }
}
