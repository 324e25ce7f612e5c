//! How far a run is and how long it will take.

use std::cell::Cell;
use std::time::Instant;

/// Lines are said every so many nodes.
const EVERY: usize = 10;

#[derive(Debug)]
pub(crate) struct Progress {
    started: Instant,
    done_before: usize,
    total: usize,
    said: Cell<usize>,
}

impl Progress {
    /// `done_before`: nodes that earlier runs settled.
    pub(crate) fn new(done_before: usize, total: usize) -> Progress {
        Progress {
            started: Instant::now(),
            done_before,
            total,
            said: Cell::new(done_before / EVERY),
        }
    }

    pub(crate) fn seconds(&self) -> u64 {
        self.started.elapsed().as_secs()
    }

    /// The line for `done` settled nodes, at or past every tenth node and at the end. A failure can
    /// settle several at once.
    pub(crate) fn line(&self, done: usize) -> Option<String> {
        if done / EVERY == self.said.replace(done / EVERY) && done != self.total {
            return None;
        }
        let percent = done * 100 / self.total.max(1);
        let now = done.saturating_sub(self.done_before);
        let eta = match now {
            0 => "unknown".to_owned(),
            now => {
                let each = self.started.elapsed().as_secs_f64() / now as f64;
                duration((each * (self.total - done) as f64).round() as u64)
            }
        };
        Some(format!("Completed {done}/{} nodes ({percent}%), ETA: {eta}", self.total))
    }
}

fn duration(seconds: u64) -> String {
    match seconds {
        0..=89 => format!("{seconds} s"),
        _ => format!("{} min", seconds.div_ceil(60)),
    }
}
