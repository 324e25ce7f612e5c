//! Wire format of Gemini's `generateContent`.

use serde_json::{Value, json};

use super::{WireRequest, count, list, text};
use crate::chat::{Message, Role};
use crate::error_body::shorten;
use crate::wire::{StopReason, StreamAccumulator, UnusableReply};

pub(super) fn path(model: &str, stream: bool) -> String {
    let model = escaped(model.strip_prefix("models/").unwrap_or(model));
    match stream {
        true => format!("/v1beta/models/{model}:streamGenerateContent?alt=sse"),
        false => format!("/v1beta/models/{model}:generateContent"),
    }
}

/// Escapes a name as part of a path, so that it can neither end nor leave the path.
fn escaped(model: &str) -> String {
    // Dots between slashes would lead to a parent, even if escaped.
    let climbs = model.split('/').any(|it| it == ".." || it == ".");
    let keep = |byte: u8| {
        byte.is_ascii_alphanumeric() || b"-_.~:@".contains(&byte) || (byte == b'/' && !climbs)
    };
    let escape = |byte: u8| match keep(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    model.bytes().map(escape).collect()
}

pub(super) fn body(question: &WireRequest<'_>) -> Value {
    let ask = question.ask;
    let (system, turns): (Vec<&Message>, Vec<&Message>) =
        ask.messages.iter().partition(|it| it.role == Role::System);
    let mut body = json!({"contents": turns.into_iter().map(turn).collect::<Vec<_>>()});
    if !system.is_empty() {
        let parts: Vec<Value> = system.iter().map(|it| json!({"text": it.text})).collect();
        body["systemInstruction"] = json!({"parts": parts});
    }
    let mut config = json!({});
    if let Some(temperature) = question.temperature() {
        config["temperature"] = json!(temperature);
    }
    if let Some(limit) = ask.max_output_tokens {
        config["maxOutputTokens"] = json!(limit);
    }
    body["generationConfig"] = config;
    if !ask.tools.is_empty() {
        let tools = ask.tools.iter().map(|tool| {
            json!({"name": tool.name, "description": tool.description,
                   "parametersJsonSchema": tool.parameters})
        });
        body["tools"] = json!([{"functionDeclarations": tools.collect::<Vec<_>>()}]);
    }
    body
}

fn turn(message: &Message) -> Value {
    let words = (!message.text.is_empty()).then(|| json!({"text": message.text}));
    let calls = message.calls.iter().map(|it| {
        let mut part = json!({"functionCall": {"name": it.name, "args": it.arguments}});
        // The service refuses a call that is sent back without its signature.
        if let Some(signature) = &it.signature {
            part["thoughtSignature"] = json!(signature);
        }
        part
    });
    let results = message.results.iter().map(|it| {
        let name = if it.is_error { "error" } else { "output" };
        json!({"functionResponse": {"name": it.name, "response": {name: it.text}}})
    });
    let role = if message.role == Role::Assistant { "model" } else { "user" };
    json!({"role": role, "parts": words.into_iter().chain(calls).chain(results).collect::<Vec<_>>()})
}

pub(super) fn whole(gathered: &mut StreamAccumulator, answer: &Value) -> Result<(), UnusableReply> {
    take(gathered, answer)?;
    gathered.end.get_or_insert(StopReason::Done);
    Ok(())
}

/// Streamed events have the same shape as whole answers.
pub(super) fn take(gathered: &mut StreamAccumulator, answer: &Value) -> Result<(), UnusableReply> {
    StreamAccumulator::failed(answer)?;
    let feedback = answer.get("promptFeedback");
    if let Some(reason) = feedback.and_then(|it| text(it, "blockReason")) {
        gathered.end = Some(StopReason::Declined(format!(
            "the provider blocked the prompt: {}",
            shorten(reason)
        )));
        return Ok(());
    }
    let known = ["candidates", "usageMetadata"];
    if !known.iter().any(|name| answer.get(name).is_some()) {
        return Err(UnusableReply::Garbled("it has no candidates".to_owned()));
    }
    if let Some(model) = text(answer, "modelVersion") {
        gathered.model = Some(model.to_owned());
    }
    if let Some(usage) = answer.get("usageMetadata") {
        tokens(gathered, usage);
    }
    let Some(candidate) = list(answer, "candidates").first() else { return Ok(()) };
    if let Some(content) = candidate.get("content") {
        list(content, "parts").iter().try_for_each(|it| part(gathered, it))?;
    }
    gathered.end = text(candidate, "finishReason").map(end).or(gathered.end.take());
    Ok(())
}

fn part(gathered: &mut StreamAccumulator, part: &Value) -> Result<(), UnusableReply> {
    if let Some(call) = part.get("functionCall") {
        let name = text(call, "name").unwrap_or_default();
        let added = gathered.add_call(text(call, "id"), name, call.get("args"))?;
        added.signature = text(part, "thoughtSignature").map(str::to_owned);
    } else if part.get("thought").and_then(Value::as_bool) != Some(true) {
        gathered.text += text(part, "text").unwrap_or_default();
    }
    Ok(())
}

/// Reads the token counts. Thoughts are billed like the reply.
fn tokens(gathered: &mut StreamAccumulator, usage: &Value) {
    gathered.input = count(usage, "promptTokenCount").or(gathered.input);
    let said = count(usage, "candidatesTokenCount");
    let thought = count(usage, "thoughtsTokenCount");
    if said.or(thought).is_some() || count(usage, "totalTokenCount").is_some() {
        let said = said.unwrap_or_default();
        gathered.output = Some(said.saturating_add(thought.unwrap_or_default()));
    }
    gathered.cached = count(usage, "cachedContentTokenCount").unwrap_or(gathered.cached);
}

fn end(reason: &str) -> StopReason {
    match reason {
        "STOP" => StopReason::Done,
        "MAX_TOKENS" => StopReason::Length,
        "MALFORMED_FUNCTION_CALL" => {
            StopReason::Declined("the model's tool call cannot be read".to_owned())
        }
        other => {
            StopReason::Declined(format!("the provider stopped the reply: {}", shorten(other)))
        }
    }
}
