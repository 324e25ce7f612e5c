//! Generous timeout for events that tests wait for, in one place, and longer on a busy machine.

use std::sync::OnceLock;
use std::time::Duration;

/// Environment variable with the factor, 1 or more, in place of the one derived from the load.
const VARIABLE: &str = "TRELLIS_PATIENCE";

/// Timeout on a quiet machine; only a stuck test reaches it.
const QUIET: Duration = Duration::from_secs(120);

/// Maximum factor, so that a stuck test ends.
const MOST: f64 = 8.0;

/// Returns how long a test waits for an event before it fails.
pub fn patience() -> Duration {
    static FACTOR: OnceLock<f64> = OnceLock::new();
    let factor = FACTOR.get_or_init(|| said().unwrap_or_else(of_load).min(MOST));
    QUIET.mul_f64(*factor)
}

fn said() -> Option<f64> {
    let factor: f64 = std::env::var(VARIABLE).ok()?.parse().ok()?;
    (factor >= 1.0).then_some(factor)
}

/// Returns the load average of the last minute per processor.
fn of_load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = text.split(' ').next().and_then(|it| it.parse::<f64>().ok());
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    (load.unwrap_or_default() / processors as f64).max(1.0)
}
