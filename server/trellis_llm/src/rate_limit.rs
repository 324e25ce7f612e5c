//! Limits on concurrent requests to a provider, and on their rate.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until};

/// Bounds on requests to one provider, shared by all its models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimits {
    /// Maximum number of concurrent requests, at least 1.
    pub concurrency: usize,
    /// Maximum number of requests started within a minute; `None` for no bound.
    pub requests_per_minute: Option<u32>,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self { concurrency: 16, requests_per_minute: None }
    }
}

/// The rate limiter of one provider.
pub(crate) struct RateLimiter {
    permits: Semaphore,
    spacing: Duration,
    /// Earliest start of the next request.
    next: Mutex<Instant>,
}

impl RateLimiter {
    pub(crate) fn new(pace: &RateLimits) -> Self {
        let per_minute = pace.requests_per_minute.filter(|it| *it > 0);
        Self {
            permits: Semaphore::new(pace.concurrency.clamp(1, Semaphore::MAX_PERMITS)),
            spacing: per_minute.map_or(Duration::ZERO, |it| Duration::from_secs(60) / it),
            next: Mutex::new(Instant::now()),
        }
    }

    /// Waits until a request may start; the request counts as running while the permit is held.
    pub(crate) async fn acquire(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed. Without a permit there would be no bound, but no deadlock
        // either.
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

    /// Delays all requests: the provider's wait applies to every task, not only to the one that
    /// received the answer.
    pub(crate) fn delay(&self, wait: Duration) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = (*next).max(Instant::now() + wait);
    }
}

/// The rate limiters of all providers, by name; clones share them.
#[derive(Clone, Default)]
pub struct RateLimiters(Arc<Mutex<HashMap<String, Arc<RateLimiter>>>>);

impl RateLimiters {
    pub(crate) fn of(&self, provider: &str, pace: &RateLimits) -> Arc<RateLimiter> {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        gates.entry(provider.to_owned()).or_insert_with(|| Arc::new(RateLimiter::new(pace))).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn requests_are_spaced_and_bounded() {
        let gate = RateLimiter::new(&RateLimits { concurrency: 2, requests_per_minute: Some(30) });
        let start = Instant::now();
        let first = gate.acquire().await;
        let second = gate.acquire().await;
        assert_eq!(start.elapsed().as_secs(), 2);
        let waiting = tokio::time::timeout(Duration::from_secs(60), gate.acquire()).await;
        assert!(waiting.is_err(), "a third one is under way");
        drop((first, second));
        gate.delay(Duration::from_secs(10));
        let start = Instant::now();
        drop(gate.acquire().await);
        assert_eq!(start.elapsed().as_secs(), 10);
    }
}
