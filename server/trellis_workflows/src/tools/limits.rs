//! Limits of a conversation with tools.

use std::time::Duration;

/// All limits of a conversation.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum tool calls, `done` not counted.
    pub calls: usize,
    /// Maximum bytes of one result.
    pub result_bytes: usize,
    /// Maximum bytes of all results.
    pub all_bytes: usize,
    /// Maximum bytes of one written file.
    pub file_bytes: usize,
    /// Timeout of one call.
    pub call_time: Duration,
    /// Timeout of the whole conversation, including the model's time.
    pub time: Duration,
    /// Consecutive reminders to a model that calls no tool.
    pub reminders: usize,
    /// Approximate tokens of the conversation above which old results are shortened.
    pub tokens: usize,
    /// Number of remaining calls from which on results mention that number.
    pub reported_by: usize,
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

/// The limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Calls,
    Bytes,
    Time,
}

impl Limit {
    /// Returns the end of a sentence that starts with "the conversation ended:".
    pub fn reason(self, limits: &Limits) -> String {
        match self {
            Limit::Calls => format!("all {} calls were made", limits.calls),
            Limit::Bytes => format!("the results came to {} bytes", limits.all_bytes),
            Limit::Time => format!("{} seconds were up", limits.time.as_secs()),
        }
    }
}
