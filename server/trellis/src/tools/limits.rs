//! How much a conversation with tools may take.

use std::time::Duration;

/// All limits in one table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Calls of tools, `done` aside.
    pub(crate) calls: usize,
    /// Bytes of one result.
    pub(crate) result_bytes: usize,
    /// Bytes of all results.
    pub(crate) all_bytes: usize,
    /// Bytes of one file that is written.
    pub(crate) file_bytes: usize,
    /// Of one call.
    pub(crate) call_time: Duration,
    /// Of the whole conversation, the model's share included.
    pub(crate) time: Duration,
    /// How often in a row a model that calls nothing is reminded of the tools.
    pub(crate) reminders: usize,
    /// Tokens of the conversation, about, above which old results are shortened.
    pub(crate) tokens: usize,
    /// Calls left from which on the model is told how many there are.
    pub(crate) reported_by: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            calls: 30,
            result_bytes: 8 << 10,
            all_bytes: 256 << 10,
            file_bytes: 1 << 20,
            call_time: Duration::from_secs(10),
            time: Duration::from_secs(15 * 60),
            reminders: 1,
            tokens: 32_000,
            reported_by: 5,
        }
    }
}

/// Which limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    Calls,
    Bytes,
    Time,
}

impl Limit {
    /// A sentence without its start, after "the conversation ended:".
    pub(crate) fn reason(self, limits: &Limits) -> String {
        match self {
            Limit::Calls => format!("all {} calls were made", limits.calls),
            Limit::Bytes => format!("the results came to {} bytes", limits.all_bytes),
            Limit::Time => format!("{} seconds were up", limits.time.as_secs()),
        }
    }
}
