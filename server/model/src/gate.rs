//! How many requests a provider gets at once, and how fast one after the other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until};

/// Bounds on requests to one provider, shared by all its models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pace {
    /// Requests under way at once, at least 1.
    pub concurrency: usize,
    /// Requests begun within a minute; `None` for no bound.
    pub requests_per_minute: Option<u32>,
}

impl Default for Pace {
    fn default() -> Self {
        Self { concurrency: 16, requests_per_minute: None }
    }
}

/// One provider's door.
pub(crate) struct Gate {
    permits: Semaphore,
    spacing: Duration,
    /// When the next request may begin.
    next: Mutex<Instant>,
}

impl Gate {
    pub(crate) fn new(pace: &Pace) -> Self {
        let per_minute = pace.requests_per_minute.filter(|it| *it > 0);
        Self {
            permits: Semaphore::new(pace.concurrency.clamp(1, Semaphore::MAX_PERMITS)),
            spacing: per_minute.map_or(Duration::ZERO, |it| Duration::from_secs(60) / it),
            next: Mutex::new(Instant::now()),
        }
    }

    /// Waits until a request may begin; it is under way as long as the permit is held.
    pub(crate) async fn enter(&self) -> Option<SemaphorePermit<'_>> {
        // Closed by nobody; without a permit nothing would be bounded, but nothing would hang either.
        let permit = self.permits.acquire().await.ok();
        loop {
            let begin = {
                let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
                let now = Instant::now();
                if *next <= now {
                    *next = now + self.spacing;
                    return permit;
                }
                *next
            };
            sleep_until(begin).await;
        }
    }

    /// The provider asks everyone to wait, not only who was told.
    pub(crate) fn pause(&self, wait: Duration) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = (*next).max(Instant::now() + wait);
    }
}

/// The doors of all providers, by name; a clone has the same doors.
#[derive(Clone, Default)]
pub struct Gates(Arc<Mutex<HashMap<String, Arc<Gate>>>>);

impl Gates {
    pub(crate) fn of(&self, provider: &str, pace: &Pace) -> Arc<Gate> {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        gates.entry(provider.to_owned()).or_insert_with(|| Arc::new(Gate::new(pace))).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn requests_are_spaced_and_bounded() {
        let gate = Gate::new(&Pace { concurrency: 2, requests_per_minute: Some(30) });
        let start = Instant::now();
        let first = gate.enter().await;
        let second = gate.enter().await;
        assert_eq!(start.elapsed().as_secs(), 2);
        let waiting = tokio::time::timeout(Duration::from_secs(60), gate.enter()).await;
        assert!(waiting.is_err(), "a third one is under way");
        drop((first, second));
        gate.pause(Duration::from_secs(10));
        let start = Instant::now();
        drop(gate.enter().await);
        assert_eq!(start.elapsed().as_secs(), 10);
    }
}
