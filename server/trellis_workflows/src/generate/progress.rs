//! Progress and remaining time of a run: a bar on a terminal, a line every ten nodes elsewhere.

use std::cell::Cell;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use crate::reporter::Progress;
use crate::reporter::Reporter;

/// Number of nodes between two progress lines.
const EVERY: usize = 10;

#[derive(Debug)]
pub(super) struct RunProgress {
    started: Instant,
    done_before: usize,
    total: usize,
    said: Cell<usize>,
    /// A progress bar, hidden if standard error is not a terminal.
    bar: ProgressBar,
}

impl RunProgress {
    /// Creates the progress of a run. `done_before` is the number of nodes that earlier runs
    /// settled.
    pub(super) fn new(done_before: usize, total: usize) -> RunProgress {
        let bar = ProgressBar::new(total as u64).with_style(style());
        bar.set_position(done_before as u64);
        bar.reset_eta();
        RunProgress {
            started: Instant::now(),
            done_before,
            total,
            said: Cell::new(done_before / EVERY),
            bar,
        }
    }

    pub(super) fn seconds(&self) -> u64 {
        self.started.elapsed().as_secs()
    }

    /// Reports that `done` nodes are settled.
    pub(super) fn show(&self, done: usize, reporter: &Reporter) {
        self.bar.set_position(done as u64);
        let (total, eta_seconds) = (self.total, self.eta(done));
        reporter.clone().emit(Progress::Count { done, total, eta_seconds });
        if self.bar.is_hidden()
            && let Some(line) = self.line(done)
        {
            reporter.note(line);
        }
    }

    /// Removes the bar.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Returns the progress line for `done` settled nodes: at or past every tenth node, and at the
    /// end. A failure can settle several nodes at once.
    fn line(&self, done: usize) -> Option<String> {
        if done / EVERY == self.said.replace(done / EVERY) && done != self.total {
            return None;
        }
        let percent = done * 100 / self.total.max(1);
        let eta = self.eta(done).map_or_else(|| "unknown".to_owned(), duration);
        Some(format!("Processed {done}/{} nodes ({percent}%), ETA: {eta}", self.total))
    }

    /// Estimates the seconds until the end from the speed of this run.
    fn eta(&self, done: usize) -> Option<u64> {
        let now = done.saturating_sub(self.done_before);
        let each = self.started.elapsed().as_secs_f64() / now as f64;
        (now > 0).then(|| (each * (self.total - done) as f64).round() as u64)
    }
}

fn style() -> ProgressStyle {
    let template = "{bar:40} {pos}/{len} nodes ({percent}%), ETA: {eta}";
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn duration(seconds: u64) -> String {
    match seconds {
        0..=89 => format!("{seconds} s"),
        _ => format!("{} min", seconds.div_ceil(60)),
    }
}
