//! What services say about requests they did not answer.

use serde_json::Value;

/// How much of a provider's message is passed on, in characters.
const LONGEST_MESSAGE: usize = 400;

/// What a provider says about a request it did not answer.
#[derive(Default)]
pub(crate) struct Complaint {
    /// Its words, on one line and shortened; not yet free of keys.
    pub(crate) message: String,
    /// The parameter it does not know at all; not one whose value is out of range.
    pub(crate) unsupported: Option<String>,
    /// A status given in the body.
    pub(crate) status: Option<u16>,
}

impl Complaint {
    /// Reads any body: services put the message in different places, proxies send HTML.
    pub(crate) fn read(body: &[u8]) -> Self {
        let Ok(value) = serde_json::from_slice::<Value>(body) else {
            return Self { message: shorten(&String::from_utf8_lossy(body)), ..Self::default() };
        };
        // Gemini's OpenAI-compatible service wraps its error in a list.
        let value = value.get(0).unwrap_or(&value);
        let error = value.get("error").filter(|error| !error.is_null());
        let text = |holder: &Value, name: &str| {
            holder.get(name).and_then(Value::as_str).map(str::to_owned)
        };
        let message = match error {
            Some(Value::String(message)) => Some(message.clone()),
            Some(error) => text(error, "message"),
            None => text(value, "message").or_else(|| text(value, "detail")),
        };
        let code = error.and_then(|error| error.get("code"));
        let unsupported =
            code.and_then(Value::as_str).is_some_and(|code| code.starts_with("unsupported"));
        let status = code.and_then(Value::as_u64).filter(|code| (400..600).contains(code));
        Self {
            message: shorten(&message.unwrap_or_else(|| value.to_string())),
            unsupported: error.filter(|_| unsupported).and_then(|error| text(error, "param")),
            status: status.and_then(|status| u16::try_from(status).ok()),
        }
    }
}

/// One line of bounded length without control characters.
pub(crate) fn shorten(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|w| !w.is_empty())
        .collect();
    let line = words.join(" ");
    match line.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
