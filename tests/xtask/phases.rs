//! Phases of a check, with their times and processor use.

use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, Instant};

/// Measurement of a check, phase by phase.
pub(crate) struct Phases {
    started: Instant,
    ended: Vec<Phase>,
}

struct Phase {
    name: String,
    took: Duration,
    /// Share of all processors in use, 0 to 1; `None` if the system does not report it.
    busy: Option<f64>,
    succeeded: bool,
}

/// Counters since the system started, in ticks of all processors together.
#[derive(Clone, Copy)]
struct Ticks {
    idle: u64,
    all: u64,
}

impl Phases {
    pub(crate) fn start() -> Phases {
        Phases { started: Instant::now(), ended: Vec::new() }
    }

    /// Runs one phase and records its time, also on failure.
    pub(crate) fn run<T>(
        &mut self,
        name: impl Into<String>,
        work: impl FnOnce() -> Result<T, String>,
    ) -> Result<T, String> {
        let name = name.into();
        eprintln!("\n=== {name}");
        let (started, before) = (Instant::now(), Ticks::now());
        let outcome = work();
        let busy = before.zip(Ticks::now()).map(|(before, after)| after.busy_since(before));
        let (took, succeeded) = (started.elapsed(), outcome.is_ok());
        self.ended.push(Phase { name, took, busy, succeeded });
        outcome
    }

    /// Returns the table of all phases, in order, with their sum; ends with a line break.
    pub(crate) fn table(&self) -> String {
        let mut table = format!("\n{:<42} {:>8} {:>6}\n", "phase", "seconds", "busy");
        for phase in &self.ended {
            let busy = phase.busy.map(|it| format!("{:.0} %", it * 100.0)).unwrap_or_default();
            let failed = if phase.succeeded { "" } else { "  failed" };
            let seconds = phase.took.as_secs_f64();
            // Writing to a string never fails.
            let _ = writeln!(table, "{:<42} {seconds:>8.1} {busy:>6}{failed}", phase.name);
        }
        let all = self.started.elapsed().as_secs_f64();
        let _ = writeln!(table, "{:<42} {all:>8.1}   load {}", "all", load());
        table
    }
}

impl Ticks {
    fn now() -> Option<Ticks> {
        Ticks::read(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// Parses the first line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq,
    /// steal, …
    fn read(text: &str) -> Option<Ticks> {
        let words = text.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
        let counts: Vec<u64> = words.take(8).map_while(|it| it.parse().ok()).collect();
        let idle = counts.get(3)? + counts.get(4)?;
        Some(Ticks { idle, all: counts.iter().sum() })
    }

    fn busy_since(self, before: Ticks) -> f64 {
        let all = self.all.saturating_sub(before.all).max(1);
        1.0 - self.idle.saturating_sub(before.idle) as f64 / all as f64
    }
}

/// Returns the load averages of the last 1, 5 and 15 minutes, as the system prints them.
fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{Phases, Ticks};

    #[test]
    fn the_table_names_every_phase_and_those_that_failed() {
        let mut phases = Phases::start();
        assert_eq!(phases.run("build", || Ok(1)), Ok(1));
        assert_eq!(phases.run("tests", || Err::<(), _>("no".to_owned())), Err("no".to_owned()));
        let table = phases.table();
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[2].starts_with("build") && !lines[2].contains("failed"), "{table}");
        assert!(lines[3].starts_with("tests") && lines[3].ends_with("failed"), "{table}");
        assert!(lines[4].starts_with("all"), "{table}");
    }

    #[test]
    fn the_busy_share_leaves_out_what_was_idle_or_waited_for_a_disk() {
        let read = |text| Ticks::read(text).expect("counters");
        let before = read("cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 1 1 1");
        let after = read("cpu  150 0 150 760 140 0 0 0 0 0\n");
        assert!((after.busy_since(before) - 0.5).abs() < 1e-9);
        assert!(Ticks::read("intr 1 2 3").is_none());
    }
}
