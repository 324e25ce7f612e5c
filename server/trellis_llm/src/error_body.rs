//! Parsing of a service's error messages.

use serde_json::Value;

/// Maximum length of a provider's message, in characters.
const LONGEST_MESSAGE: usize = 400;

/// A provider's error message, classified.
#[derive(Default)]
pub(crate) struct ErrorBody {
    /// The message in one line, shortened; not yet free of keys.
    pub(crate) message: String,
    /// The parameter that the provider does not support at all; not one whose value is out of
    /// range.
    pub(crate) unsupported: Option<String>,
    /// True if the provider names the faulty parameter, and with that the fault.
    pub(crate) names_parameter: bool,
    /// A status given in the body.
    pub(crate) status: Option<u16>,
    /// True if the request does not fit into the model's context.
    pub(crate) too_long: bool,
    /// True if the account has no credit left; waiting does not help.
    pub(crate) unpaid: bool,
    /// True if the key is wrong; some services report that with status 400.
    pub(crate) wrong_key: bool,
}

/// Names of error kinds at Anthropic and OpenAI, with the corresponding status.
const KINDS: [(&str, u16); 12] = [
    ("overloaded_error", 529),
    ("rate_limit_error", 429),
    ("rate_limit_exceeded", 429),
    ("timeout_error", 504),
    ("api_error", 500),
    ("server_error", 500),
    ("invalid_request_error", 400),
    ("authentication_error", 401),
    ("billing_error", 402),
    ("permission_error", 403),
    ("not_found_error", 404),
    ("request_too_large", 413),
];

/// Phrases for a request that is too long: from OpenAI, Anthropic, Gemini, vLLM, llama.cpp, LM
/// Studio.
const TOO_LONG: [&str; 10] = [
    "context length",
    "context_length",
    "context window",
    "context size",
    "context_size",
    "maximum context",
    "prompt is too long",
    "input is too long",
    "exceeds the maximum number of tokens",
    "too many tokens",
];

/// Phrases for an account without credit.
const UNPAID: [&str; 4] = [
    "insufficient_quota",
    "billing_hard_limit",
    "credit balance is too low",
    "insufficient credits",
];

/// Phrases for a wrong key.
const WRONG_KEY: [&str; 4] =
    ["api key not valid", "invalid_api_key", "invalid api key", "incorrect api key"];

impl ErrorBody {
    /// Parses any body: services put the message in different places, proxies send HTML.
    pub(crate) fn read(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::of(&value),
            Err(_) => Self { message: shorten(&String::from_utf8_lossy(body)), ..Self::default() },
        }
    }

    /// Returns the error in an answer that should be a reply; `None` if there is no error.
    pub(crate) fn in_answer(value: &Value) -> Option<Self> {
        let first = value.get(0).unwrap_or(value);
        let failed = first.get("error").is_some_and(|error| !error.is_null());
        failed.then(|| Self::of(value))
    }

    fn of(value: &Value) -> Self {
        // Gemini's OpenAI-compatible service wraps its error in a list.
        let value = value.get(0).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null());
        let text = |holder: &Value, name: &str| {
            holder.get(name).and_then(Value::as_str).map(str::to_owned)
        };
        let message = match error {
            Some(Value::String(message)) => Some(message.clone()),
            Some(error) => text(error, "message"),
            None => text(value, "message").or_else(|| text(value, "detail")),
        };
        let message = shorten(&message.unwrap_or_else(|| value.to_string()));
        let code = error.and_then(|error| error.get("code"));
        let kinds: Vec<String> = (error.into_iter())
            .flat_map(|error| [text(error, "code"), text(error, "type")])
            .flatten()
            .collect();
        let parameter = error.and_then(|error| text(error, "param"));
        let unsupported = kinds.iter().any(|code| code.starts_with("unsupported"));
        let numbered = code.and_then(Value::as_u64).filter(|code| (400..600).contains(code));
        let named =
            || KINDS.iter().find(|(name, _)| kinds.iter().any(|it| it == name)).map(|(_, it)| *it);
        let said = |words: &[&str]| {
            let message = message.to_lowercase();
            words
                .iter()
                .any(|it| message.contains(it) || kinds.iter().any(|kind| kind.contains(it)))
        };
        Self {
            too_long: said(&TOO_LONG),
            unpaid: said(&UNPAID),
            wrong_key: said(&WRONG_KEY),
            names_parameter: parameter.is_some(),
            unsupported: parameter.filter(|_| unsupported),
            status: numbered.and_then(|status| u16::try_from(status).ok()).or_else(named),
            message,
        }
    }
}

/// Joins a text into one line of bounded length without control characters.
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
