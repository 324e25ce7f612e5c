//! Every localization attempt of an item, iteration by iteration (L6).

use crate::strategy::{Answer, Tool};

/// Attempts one iteration may make; the next one is refused.
pub const ATTEMPTS: usize = 20;

/// One look of one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub tool: Tool,
    pub query: String,
    /// Symbols or nodes, the likeliest first.
    pub found: Vec<String>,
    /// Why the tool could not look.
    pub error: Option<String>,
}

/// The 21st attempt of an iteration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("LocalizationExhausted: {ATTEMPTS} attempts found no place to look at")]
pub struct LocalizationExhausted;

/// The attempts of one item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trail {
    /// Of earlier iterations.
    earlier: Vec<Attempt>,
    attempts: Vec<Attempt>,
}

impl Trail {
    /// The next iteration: what was tried before is remembered, the count begins anew.
    pub fn next_iteration(&mut self) {
        self.earlier.append(&mut self.attempts);
    }

    /// Announces an attempt.
    ///
    /// # Errors
    ///
    /// [`LocalizationExhausted`] for the 21st of an iteration.
    pub fn begin(&mut self, tool: Tool, query: &str) -> Result<(), LocalizationExhausted> {
        if self.attempts.len() >= ATTEMPTS {
            return Err(LocalizationExhausted);
        }
        let (query, found) = (query.to_owned(), Vec::new());
        self.attempts.push(Attempt { tool, query, found, error: None });
        Ok(())
    }

    /// What the attempt announced last came to.
    pub fn end(&mut self, answer: &Answer) {
        let Some(last) = self.attempts.last_mut() else { return };
        match answer {
            Ok(found) => last.found = found.iter().map(|it| it.symbol.clone()).collect(),
            Err(error) => last.error = Some(error.clone()),
        }
    }

    /// Whether an earlier iteration asked the same in vain.
    pub fn has_failed(&self, tool: Tool, query: &str) -> bool {
        let same = |it: &&Attempt| it.tool == tool && it.query == query;
        self.earlier.iter().filter(same).any(|it| it.found.is_empty() && it.error.is_none())
    }

    /// Attempts that this iteration has left.
    pub fn left(&self) -> usize {
        ATTEMPTS.saturating_sub(self.attempts.len())
    }

    /// A lookup that a model made by itself, with the first line of what it found.
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

    /// Attempts of this iteration.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// All attempts, the earliest first.
    pub fn all(&self) -> impl Iterator<Item = &Attempt> {
        self.earlier.iter().chain(&self.attempts)
    }
}
