//! Adds latencies to a recording: log-normal, as with live models, and the same in every run.

use std::collections::BTreeSet;
use std::f64::consts::TAU;

use serde_json::{Value, json};

/// Median in milliseconds.
const MEDIAN: f64 = 2000.0;
/// Standard deviation of the logarithm: two replies in a hundred take more than four times the
/// median.
const SIGMA: f64 = 0.7;
const SEED: u64 = 20_261_122;
/// Number of votes that a policy requests at once.
const VOTES: usize = 5;

/// Adds `latency_ms` to each line. Votes that are not recorded are written out with their default
/// reply, since no live model votes instantly.
pub(super) fn drawn(recording: &str, plan: &Value) -> Result<String, String> {
    let mut lines: Vec<Value> = Vec::new();
    for line in recording.lines().filter(|line| !line.trim().is_empty()) {
        lines.push(serde_json::from_str(line).map_err(|e| format!("the recording: {e}"))?);
    }
    let judged: BTreeSet<String> = (lines.iter().filter(|line| line["stage"] == "diagnosis"))
        .map(|line| line["node"].to_string())
        .collect();
    let nodes = plan["nodes"].as_array().into_iter().flatten().map(|node| &node["id"]);
    for node in nodes.filter(|node| !judged.contains(&node.to_string())) {
        let vote =
            |attempt| json!({"node": node, "stage": "diagnosis", "attempt": attempt, "reply": "A"});
        lines.extend((0..VOTES).map(vote));
    }
    let mut random = Random(SEED);
    for line in &mut lines {
        line["latency_ms"] = json!(random.latency());
    }
    Ok(lines.iter().map(|line| format!("{line}\n")).collect())
}

/// Returns a summary of the latencies, in one line.
pub(super) fn described(recording: &str) -> String {
    let lines = recording.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut all: Vec<u64> = lines.filter_map(|line| line["latency_ms"].as_u64()).collect();
    all.sort_unstable();
    let share = |part: f64| all.get((all.len() as f64 * part) as usize).copied().unwrap_or(0);
    let long = all.iter().filter(|it| **it > 4 * MEDIAN as u64).count();
    format!(
        "{} replies: median {} ms, nine in ten within {} ms, longest {} ms, {long} of more than {} s",
        all.len(),
        share(0.5),
        share(0.9),
        all.last().copied().unwrap_or(0),
        4.0 * MEDIAN / 1000.0
    )
}

/// `SplitMix64` generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns a uniform number between 0 and 1, both excluded.
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 + f64::EPSILON
    }

    /// Returns a latency in milliseconds (Box-Muller normal deviate as an exponent).
    fn latency(&mut self) -> u64 {
        let normal = (-2.0 * self.unit().ln()).sqrt() * (TAU * self.unit()).cos();
        (MEDIAN * (SIGMA * normal).exp()).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn half_of_the_waits_are_below_the_median_and_a_few_are_long() {
        let mut random = Random(1);
        let all: Vec<u64> = (0..10_000).map(|_| random.latency()).collect();
        let share = |limit: u64| all.iter().filter(|it| **it > limit).count() as f64 / 10_000.0;
        assert!((share(2000) - 0.5).abs() < 0.02, "{}", share(2000));
        assert!((share(8000) - 0.024).abs() < 0.006, "{}", share(8000));
    }
}
