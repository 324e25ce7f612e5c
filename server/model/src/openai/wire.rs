//! The chat-completions format: requests and answers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ask::{Ask, Role, ToolCall, Usage};
use crate::complaint::{Complaint, shorten};

/// A request.
#[derive(Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    messages: Vec<Turn<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
}

#[derive(Serialize)]
struct Turn<'a> {
    role: &'static str,
    content: &'a str,
}

impl<'a> Body<'a> {
    /// The request for a question, with or without a temperature, the output limit under its new or
    /// its common name.
    pub(super) fn new(
        model: &'a str,
        ask: &'a Ask,
        temperature: bool,
        completion_tokens: bool,
    ) -> Self {
        let limit = ask.max_output_tokens;
        Self {
            model,
            messages: ask
                .messages
                .iter()
                .map(|turn| Turn { role: role(turn.role), content: &turn.text })
                .collect(),
            stream: false,
            temperature: temperature.then_some(ask.temperature),
            max_tokens: limit.filter(|_| !completion_tokens),
            max_completion_tokens: limit.filter(|_| completion_tokens),
        }
    }

    pub(super) fn has_temperature(&self) -> bool {
        self.temperature.is_some()
    }

    pub(super) fn has_max_tokens(&self) -> bool {
        self.max_tokens.is_some()
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    usage: Option<Tokens>,
    model: Option<String>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    /// A text, a list of parts, or nothing.
    content: Option<Value>,
    refusal: Option<String>,
    tool_calls: Option<Vec<Call>>,
}

/// A tool call as it came.
#[derive(Deserialize)]
pub(super) struct Call {
    id: Option<String>,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    /// JSON in a text; some services send the object itself.
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct Tokens {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

/// A complete answer, not yet judged.
pub(super) struct Parsed {
    pub(super) text: String,
    pub(super) tool_calls: Vec<Call>,
    pub(super) usage: Option<Usage>,
    pub(super) model: Option<String>,
}

/// Why an answer with a good status holds no reply.
pub(super) enum Unusable {
    /// The body says that the request failed (gateways do, under status 200).
    Failed { status: u16 },
    /// Cut off at the output limit.
    Truncated { partial: String, usage: Option<Usage> },
    /// Anything else.
    Bad(String),
}

/// Reads an answer with a good status.
pub(super) fn read(body: &[u8]) -> Result<Parsed, Unusable> {
    if let Some(status) = Complaint::read(body).status {
        return Err(Unusable::Failed { status });
    }
    let completion: Completion =
        serde_json::from_slice(body).map_err(|error| unreadable(body, &error))?;
    let Some(choice) = completion.choices.into_iter().next() else {
        return Err(Unusable::Bad("it has no choices".to_owned()));
    };
    let (text, usage) = (text_of(choice.message.content), completion.usage.and_then(usage));
    match (choice.finish_reason.as_deref(), choice.message.refusal) {
        (Some("length"), _) => Err(Unusable::Truncated { partial: text, usage }),
        (Some("content_filter"), _) => {
            Err(Unusable::Bad("the provider's content filter stopped the reply".to_owned()))
        }
        (_, Some(refusal)) if text.is_empty() => {
            Err(Unusable::Bad(format!("the model declined: {}", shorten(&refusal))))
        }
        _ => {
            let tool_calls = choice.message.tool_calls.unwrap_or_default();
            Ok(Parsed { text, tool_calls, usage, model: completion.model })
        }
    }
}

fn unreadable(body: &[u8], error: &serde_json::Error) -> Unusable {
    let start = shorten(&String::from_utf8_lossy(body));
    Unusable::Bad(format!("it is not a chat completion ({error}); it begins: {start}"))
}

fn text_of(content: Option<Value>) -> String {
    match content {
        Some(Value::String(text)) => text,
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()
        }
        _ => String::new(),
    }
}

fn usage(tokens: Tokens) -> Option<Usage> {
    let (input_tokens, output_tokens) = tokens.prompt_tokens.zip(tokens.completion_tokens)?;
    Some(Usage { input_tokens, output_tokens })
}

/// The tool calls with their arguments read; `clean` is applied to every text before it is read.
///
/// # Errors
///
/// Which tool's arguments are no JSON object.
pub(super) fn tool_calls(
    calls: &[Call],
    clean: impl Fn(&str) -> String,
) -> Result<Vec<ToolCall>, String> {
    let read = |(index, call): (usize, &Call)| {
        let id = call.id.clone().unwrap_or_else(|| format!("call_{index}"));
        let name = clean(&call.function.name);
        match arguments(&call.function, &clean) {
            Some(arguments) => Ok(ToolCall { id, name, arguments, signature: None }),
            None => Err(format!("the arguments of the tool call `{name}` are not a JSON object")),
        }
    };
    calls.iter().enumerate().map(read).collect()
}

fn arguments(function: &Function, clean: impl Fn(&str) -> String) -> Option<Map<String, Value>> {
    let text = match &function.arguments {
        None => return Some(Map::new()),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    if text.trim().is_empty() {
        return Some(Map::new());
    }
    serde_json::from_str(&clean(&text)).ok()
}
