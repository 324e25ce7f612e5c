//! How long tests wait for what has to come: generous, in one place, and longer where the machine is busy.

use std::sync::OnceLock;
use std::time::Duration;

/// Environment variable with the factor, 1 or more, in place of the one that the load sets.
const VARIABLE: &str = "TRELLIS_PATIENCE";

/// What nothing takes on a quiet machine, unless it is stuck.
const QUIET: Duration = Duration::from_secs(120);

/// Factors of busier machines are cut here: what is stuck has to end.
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

/// The load average of the last minute for each processor.
fn of_load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = text.split(' ').next().and_then(|it| it.parse::<f64>().ok());
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    (load.unwrap_or_default() / processors as f64).max(1.0)
}
