//! Reproducible pseudo-random numbers, and the rounds of tests that use them.

use std::time::{Duration, Instant};

/// A linear congruential generator (Knuth's MMIX constants).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns the generator of a long test; `TRELLIS_SEED` changes its seed.
    pub(crate) fn of_soak() -> Random {
        let seed = number("TRELLIS_SEED").unwrap_or(20_261_123);
        eprintln!("TRELLIS_SEED={seed}");
        Random(seed)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

/// Returns the round numbers of a long test: rounds that begin within `TRELLIS_SOAK_SECONDS`, else
/// `TRELLIS_ROUNDS`, else 50.
pub(crate) fn rounds() -> impl Iterator<Item = u64> {
    let end = number("TRELLIS_SOAK_SECONDS").map(|it| Instant::now() + Duration::from_secs(it));
    let most = number("TRELLIS_ROUNDS").unwrap_or(if end.is_some() { u64::MAX } else { 50 });
    (0..most).take_while(move |round| *round == 0 || end.is_none_or(|end| Instant::now() < end))
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}
