//! Retries of requests after temporary failures, with growing, jittered waits.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

use crate::error::{ModelError, TransientError};

/// Number and waits of retries of a live model. Recordings use the same number without waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Number of retries after the first try.
    pub retries: u32,
    /// Wait before the first retry, doubled for each further one; the actual wait is random between
    /// half and all of it.
    pub first_wait: Duration,
    /// Maximum wait. A provider that asks for more (`Retry-After`) counts as unavailable at once.
    pub longest_wait: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            retries: 4,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    /// Returns the same policy without waits.
    pub(crate) fn without_waits(&self) -> Self {
        Self { retries: self.retries, first_wait: Duration::ZERO, longest_wait: Duration::ZERO }
    }

    /// Returns the wait before retry `number` (from 0), or `None` if the provider asks for more
    /// than the maximum.
    fn wait(&self, number: u32, asked: Option<Duration>) -> Option<Duration> {
        // A requested wait of zero is ignored, since an overloaded provider would still be
        // overloaded.
        match asked.filter(|asked| !asked.is_zero()) {
            Some(asked) => (asked <= self.longest_wait).then_some(asked),
            None => Some(jittered(self.backoff(number))),
        }
    }

    fn backoff(&self, number: u32) -> Duration {
        self.first_wait.saturating_mul(2_u32.saturating_pow(number)).min(self.longest_wait)
    }
}

/// Failure of one try.
#[derive(Debug)]
pub(crate) enum AttemptError {
    /// A temporary failure, with the wait requested by the provider.
    Temporary { outage: TransientError, retry_after: Option<Duration> },
    /// A failure for which a retry is pointless.
    Final(ModelError),
}

impl From<TransientError> for AttemptError {
    fn from(outage: TransientError) -> Self {
        Self::Temporary { outage, retry_after: None }
    }
}

/// Repeats a request until it succeeds, fails for good, or the retries are used up; reports each
/// retry to `tell` as a sentence.
///
/// `attempt` is a plain function that returns a future: with `AsyncFn` the compiler cannot see that
/// the result is `Send`.
pub(crate) async fn with_retries<T, R>(
    retry: &RetryPolicy,
    model: &str,
    attempt: impl Fn() -> T,
    tell: &(dyn Fn(String) + Sync),
) -> Result<R, ModelError>
where
    T: Future<Output = Result<R, AttemptError>>,
{
    let mut tries = 0;
    loop {
        let (outage, retry_after) = match attempt().await {
            Ok(reply) => return Ok(reply),
            Err(AttemptError::Final(error)) => return Err(error),
            Err(AttemptError::Temporary { outage, retry_after }) => (outage, retry_after),
        };
        tries += 1;
        let wait = if tries > retry.retries { None } else { retry.wait(tries - 1, retry_after) };
        let Some(wait) = wait else {
            let outage = outage.with_wait(retry_after.filter(|it| *it > retry.longest_wait));
            return Err(ModelError::Unavailable { model: model.to_owned(), outage, tries });
        };
        let (seconds, most) = (wait.as_secs_f64(), retry.retries);
        tell(format!("{model}: {outage}; retrying in {seconds:.0} s, {tries} of {most} tries"));
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }
}

/// Parses a `Retry-After` header: whole seconds or an HTTP date. `None` for anything else; then the
/// policy's own wait applies.
pub(crate) fn retry_after(header: &str, now: Timestamp) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = DateTimeParser::new().parse_timestamp(header).ok()?;
    // A date in the past means now.
    Some(Duration::try_from(date.duration_since(now)).unwrap_or(Duration::ZERO))
}

/// Returns a random duration between half and all of `wait`, so that node tasks refused together do
/// not retry together.
fn jittered(wait: Duration) -> Duration {
    // The standard library's only random source: each `RandomState` has a fresh key.
    let random = RandomState::new().build_hasher().finish();
    let share = f64::from((random >> 32) as u32) / f64::from(u32::MAX);
    wait.mul_f64(0.5 + share / 2.0)
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::time::Instant;

    use super::*;

    fn policy() -> RetryPolicy {
        RetryPolicy {
            retries: 4,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(5),
        }
    }

    fn overloaded(retry_after: Option<Duration>) -> AttemptError {
        AttemptError::Temporary {
            outage: TransientError::Status { status: 503, message: String::new() },
            retry_after,
        }
    }

    async fn tries_and_time(retry_after: Option<Duration>) -> (u32, Duration) {
        let (policy, tries, start) = (policy(), AtomicU32::new(0), Instant::now());
        let result = with_retries::<_, ()>(
            &policy,
            "m",
            || {
                tries.fetch_add(1, Ordering::Relaxed);
                ready(Err(overloaded(retry_after)))
            },
            &|_| {},
        );
        assert!(result.await.unwrap_err().is_unavailable());
        (tries.into_inner(), start.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn waits_double_up_to_the_longest() {
        let (tries, time) = tries_and_time(None).await;
        assert_eq!(tries, 5);
        // 1 + 2 + 4 + 5 seconds, half to all of each.
        assert!(
            time >= Duration::from_secs(6) && time <= Duration::from_millis(12_100),
            "{time:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_asked_again_is_reported() {
        let reported = std::sync::Mutex::new(Vec::new());
        let tell = |text: String| reported.lock().expect("free").push(text);
        let policy = policy();
        let asked = with_retries::<_, ()>(&policy, "m", || ready(Err(overloaded(None))), &tell);
        assert!(asked.await.is_err());
        let reported = reported.into_inner().expect("free");
        assert_eq!(reported.len(), 4, "{reported:?}");
        assert!(
            reported[3].contains("503") && reported[3].ends_with("4 of 4 tries"),
            "{reported:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn the_provider_sets_the_wait_unless_it_is_too_long() {
        let (tries, time) = tries_and_time(Some(Duration::from_secs(3))).await;
        assert_eq!(tries, 5);
        assert!(
            time >= Duration::from_secs(12) && time <= Duration::from_millis(12_100),
            "{time:?}"
        );
        assert_eq!(tries_and_time(Some(Duration::from_secs(6))).await, (1, Duration::ZERO));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now: Timestamp = "2026-08-01T10:00:00Z".parse().unwrap();
        let cases = [
            ("0", Some(0)),
            (" 17 ", Some(17)),
            ("Sat, 01 Aug 2026 10:00:30 GMT", Some(30)),
            ("Sat, 01 Aug 2026 09:00:00 GMT", Some(0)),
            ("soon", None),
            ("-3", None),
        ];
        for (header, expected) in cases {
            assert_eq!(retry_after(header, now), expected.map(Duration::from_secs), "{header}");
        }
    }
}
