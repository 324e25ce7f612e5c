//! The budget for model requests: each one reserves its maximum cost first, so that nothing beyond
//! the limits is spent.
//!
//! A request may start if what was spent, the reservations of requests under way, and its own
//! maximum cost fit into the budget together. If it does not fit only because of requests under
//! way, it waits for them, since most cost less than their maximum. If it does not fit without
//! them, the run ends.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use trellis_llm::Usage;

use crate::config::BudgetLimits;
use crate::fault::Fault;

/// Tokens and their cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    pub tokens: u64,
    /// US dollars.
    pub usd: f64,
}

impl std::ops::Add for Spent {
    type Output = Spent;

    fn add(self, other: Spent) -> Spent {
        Spent { tokens: self.tokens.saturating_add(other.tokens), usd: self.usd + other.usd }
    }
}

impl Spent {
    pub fn of(usage: Usage, usd: f64) -> Spent {
        Spent { tokens: usage.input_tokens.saturating_add(usage.output_tokens), usd }
    }
}

/// The budget of one run, including its earlier starts.
#[derive(Debug)]
pub struct Budget {
    limits: BudgetLimits,
    since: Instant,
    book: Mutex<Totals>,
    settled: Notify,
}

#[derive(Debug, Default)]
struct Totals {
    spent: Spent,
    /// Maximum cost of the requests under way.
    reserved: Spent,
    under_way: usize,
    /// Total duration of the requests answered so far.
    time: Duration,
    answered: u32,
}

/// The next request would exceed the budget.
#[derive(Clone, Debug, PartialEq)]
pub struct BudgetExceeded {
    what: String,
    /// The exceeded limit: `usd`, `tokens` or `minutes`.
    limit: &'static str,
}

impl From<BudgetExceeded> for Fault {
    fn from(exhausted: BudgetExceeded) -> Fault {
        let again = match exhausted.limit {
            "minutes" => "run again to resume".to_owned(),
            limit => format!(
                "to resume, raise the limit (--budget-{limit}, or {limit} under [budget] in \
                 trellis.toml), or allow only shorter replies (max_output_tokens)"
            ),
        };
        Fault::unavailable(&exhausted).hint(format!("accepted code is kept; {again}"))
    }
}

impl fmt::Display for BudgetExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// A request under way. Dropping it without [`Reservation::commit`] counts as no cost.
#[derive(Debug)]
pub struct Reservation<'a> {
    budget: &'a Budget,
    most: Spent,
    since: Instant,
}

impl Budget {
    /// Creates a budget, with what earlier starts of the run have spent.
    pub fn new(limits: BudgetLimits, spent: Spent) -> Budget {
        let book = Mutex::new(Totals { spent, ..Totals::default() });
        Budget { limits, since: Instant::now(), book, settled: Notify::new() }
    }

    /// Returns the budget after earlier starts of the run have spent this.
    pub fn after(self, spent: Spent) -> Budget {
        Budget::new(self.limits, spent)
    }

    pub fn spent(&self) -> Spent {
        self.totals().spent
    }

    fn totals(&self) -> std::sync::MutexGuard<'_, Totals> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a request with the maximum cost `most` fits, and reserves that cost.
    pub async fn reserve(&self, most: Spent) -> Result<Reservation<'_>, BudgetExceeded> {
        loop {
            let settled = self.settled.notified();
            tokio::pin!(settled);
            // A commit between the check and the wait must not be missed.
            settled.as_mut().enable();
            match self.try_reserve(most) {
                Ok(true) => return Ok(Reservation { budget: self, most, since: Instant::now() }),
                Ok(false) => settled.await,
                Err(exhausted) => return Err(exhausted),
            }
        }
    }

    /// Reserves the cost and returns true if the request may start, or returns false if it has to
    /// wait. An error if it does not fit.
    fn try_reserve(&self, most: Spent) -> Result<bool, BudgetExceeded> {
        let mut book = self.totals();
        self.in_time(&book)?;
        let exceeded = |all: Spent| {
            (self.limits.usd.is_some_and(|limit| all.usd > limit))
                || (self.limits.tokens.is_some_and(|limit| all.tokens > limit))
        };
        if !exceeded(book.spent + book.reserved + most) {
            book.reserved = book.reserved + most;
            book.under_way += 1;
            return Ok(true);
        }
        if book.under_way > 0 && !exceeded(book.spent + most) {
            return Ok(false);
        }
        Err(self.exhausted(book.spent, most))
    }

    fn exhausted(&self, spent: Spent, most: Spent) -> BudgetExceeded {
        match self.limits.usd {
            Some(limit) if (spent + most).usd > limit => BudgetExceeded {
                what: format!(
                    "stopped before the budget of ${limit} was exceeded: ${:.4} are spent, and \
                     the next prompt with its reply may cost ${:.4}",
                    spent.usd, most.usd
                ),
                limit: "usd",
            },
            _ => BudgetExceeded {
                what: format!(
                    "stopped before the budget of {} tokens was exceeded: {} are used, and the \
                     next prompt with its reply may need {}",
                    self.limits.tokens.unwrap_or_default(),
                    spent.tokens,
                    most.tokens
                ),
                limit: "tokens",
            },
        }
    }

    /// Checks that a request of average duration would end within the time limit.
    fn in_time(&self, book: &Totals) -> Result<(), BudgetExceeded> {
        let Some(minutes) = self.limits.minutes else { return Ok(()) };
        let usual = book.time.checked_div(book.answered).unwrap_or_default();
        let elapsed = self.since.elapsed();
        if (elapsed + usual).as_secs_f64() <= minutes * 60.0 {
            return Ok(());
        }
        let what = format!(
            "stopped before the budget of {minutes} minutes was exceeded: {:.2} are over, and a \
             reply needs {:.1} seconds",
            elapsed.as_secs_f64() / 60.0,
            usual.as_secs_f64()
        );
        Err(BudgetExceeded { what, limit: "minutes" })
    }
}

impl Reservation<'_> {
    /// Books the actual cost of the request.
    pub fn commit(self, cost: Spent) {
        let mut book = self.budget.totals();
        book.spent = book.spent + cost;
        book.time += self.since.elapsed();
        book.answered += 1;
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut book = self.budget.totals();
        book.under_way -= 1;
        book.reserved = match book.under_way {
            // Sums of fractions leave rounding errors.
            0 => Spent::default(),
            _ => Spent {
                tokens: book.reserved.tokens.saturating_sub(self.most.tokens),
                usd: book.reserved.usd - self.most.usd,
            },
        };
        drop(book);
        self.budget.settled.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn tokens(tokens: u64) -> Spent {
        Spent { tokens, usd: 0.0 }
    }

    fn budget(limit: u64, spent: u64) -> Budget {
        Budget::new(BudgetLimits { tokens: Some(limit), ..BudgetLimits::default() }, tokens(spent))
    }

    #[tokio::test]
    async fn what_cannot_fit_is_refused_before_it_is_asked() {
        let budget = budget(100, 40);
        let first = budget.reserve(tokens(50)).await.expect("it fits");
        first.commit(tokens(20));
        assert_eq!(budget.spent(), tokens(60));
        let refused = budget.reserve(tokens(41)).await.expect_err("60 and 41 are over 100");
        assert_eq!(
            refused.to_string(),
            "stopped before the budget of 100 tokens was exceeded: 60 are used, and the next \
             prompt with its reply may need 41"
        );
        drop(budget.reserve(tokens(40)).await.expect("it fits exactly"));
    }

    #[tokio::test]
    async fn who_may_fit_waits_for_those_under_way() {
        let budget = Arc::new(budget(100, 0));
        let first = budget.reserve(tokens(80)).await.expect("it fits");
        let other = budget.clone();
        let waiting = tokio::spawn(async move { other.reserve(tokens(80)).await.map(|_| ()) });
        while !waiting.is_finished() && Arc::strong_count(&budget) == 1 {
            tokio::task::yield_now().await;
        }
        assert!(!waiting.is_finished());
        first.commit(tokens(10));
        waiting.await.expect("no panic").expect("10 and 80 fit");
        // A request that costs its maximum leaves no room.
        budget.reserve(tokens(90)).await.expect("it fits").commit(tokens(90));
        assert!(budget.reserve(tokens(1)).await.is_err());
    }

    #[tokio::test]
    async fn money_and_time_are_bounds_as_well() {
        let money = Budget::new(
            BudgetLimits { usd: Some(1.0), ..BudgetLimits::default() },
            Spent::default(),
        );
        let refused = money.reserve(Spent { tokens: 1, usd: 1.5 }).await.expect_err("too dear");
        assert_eq!(refused.limit, "usd");
        assert!(refused.to_string().contains("may cost $1.5000"), "{refused}");
        let time = Budget::new(
            BudgetLimits { minutes: Some(0.0), ..BudgetLimits::default() },
            Spent::default(),
        );
        let refused = time.reserve(Spent::default()).await.expect_err("no time at all");
        assert_eq!(refused.limit, "minutes");
    }
}
