//! JSON in a model's reply.

use serde::de::DeserializeOwned;

use crate::reply::{answer_of, divide};

/// Reads the last fenced block of a reply, or what is between its first and last brace.
///
/// # Errors
///
/// A reason for the model: there is no JSON, it does not parse, or it has another form.
pub(crate) fn json_reply<T: DeserializeOwned>(reply: &str) -> Result<T, String> {
    let divided = divide(reply)?;
    let block = divided.last_fence().or_else(|| between_braces(answer_of(reply)));
    let block = block.ok_or("there is no JSON block")?;
    serde_json::from_str(block).map_err(|error| format!("the JSON block cannot be read: {error}"))
}

fn between_braces(text: &str) -> Option<&str> {
    let (begin, end) = (text.find('{')?, text.rfind('}')?);
    text.get(begin..=end)
}
