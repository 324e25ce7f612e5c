//! Cost of a node: test runs, model requests, tokens, money.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Number of localization tools.
pub const TOOLS: usize = 4;

/// Cost of a node from its first test to its end. In a resumed run only the attempt that ended
/// counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    pub runs: usize,
    pub model_calls: usize,
    /// Tries and hits of each localization tool, in the order of [`Tool::ALL`].
    #[serde(default)]
    pub tools: [[usize; 2]; TOOLS],
    #[serde(default)]
    pub regressions: usize,
    #[serde(default)]
    pub regressions_passed: usize,
    /// Cost of model requests by stage.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub stages: BTreeMap<String, StageCost>,
}

/// Cost of the model requests of one stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageCost {
    pub calls: usize,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Billionths of a US dollar; whole numbers, so that no order of summing changes the sum.
    pub nano_usd: u64,
}

impl StageCost {
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    pub fn usd(&self) -> f64 {
        self.nano_usd as f64 / 1e9
    }
}

impl std::ops::AddAssign for StageCost {
    fn add_assign(&mut self, other: StageCost) {
        self.calls += other.calls;
        // A provider may report any number; sums saturate.
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.nano_usd = self.nano_usd.saturating_add(other.nano_usd);
    }
}

impl Cost {
    /// Adds the cost of a model request.
    pub fn asked(&mut self, stage: &str, cost: StageCost) {
        *self.stages.entry(stage.to_owned()).or_default() += cost;
    }

    /// Returns the sum of all stages.
    pub fn all(&self) -> StageCost {
        let mut all = StageCost::default();
        self.stages.values().for_each(|stage| all += *stage);
        all
    }
}

impl std::ops::AddAssign<&Cost> for Cost {
    fn add_assign(&mut self, other: &Cost) {
        self.runs += other.runs;
        self.model_calls += other.model_calls;
        let tallies = self.tools.iter_mut().flatten().zip(other.tools.iter().flatten());
        tallies.for_each(|(own, other)| *own += other);
        self.regressions += other.regressions;
        self.regressions_passed += other.regressions_passed;
        other.stages.iter().for_each(|(stage, cost)| self.asked(stage, *cost));
    }
}

/// Formats US dollars; tokens without a known price have the price "unknown", not zero.
pub fn price(tokens: u64, usd: f64) -> String {
    if tokens > 0 && usd == 0.0 { "price unknown".to_owned() } else { format!("${usd:.4}") }
}

#[cfg(test)]
mod tests {
    use super::price;

    #[test]
    fn an_unknown_price_is_not_zero() {
        let table = [(0, 0.0, "$0.0000"), (10, 0.0, "price unknown"), (10, 0.01234, "$0.0123")];
        for (tokens, usd, wanted) in table {
            assert_eq!(price(tokens, usd), wanted);
        }
    }
}
