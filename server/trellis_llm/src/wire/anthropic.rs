//! Wire format of Anthropic's messages.

use serde_json::{Value, json};

use super::{WireRequest, count, list, text};
use crate::chat::{Message, Role};
use crate::wire::{StopReason, StreamAccumulator, UnusableReply};

/// Default output limit, since the format requires one.
const OUTPUT_TOKENS: u32 = 8192;

pub(super) fn body(question: &WireRequest<'_>) -> Value {
    let ask = question.ask;
    let (system, turns): (Vec<&Message>, Vec<&Message>) =
        ask.messages.iter().partition(|it| it.role == Role::System);
    let mut body = json!({
        "model": question.model,
        "max_tokens": ask.max_output_tokens.unwrap_or(OUTPUT_TOKENS),
        "messages": turns.into_iter().map(turn).collect::<Vec<_>>(),
        "stream": question.stream,
    });
    if !system.is_empty() {
        let texts: Vec<&str> = system.iter().map(|it| it.text.as_str()).collect();
        body["system"] = json!(texts.join("\n\n"));
    }
    if let Some(temperature) = question.temperature() {
        body["temperature"] = json!(temperature);
    }
    if !ask.tools.is_empty() {
        let tools = ask.tools.iter().map(|tool| {
            json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters})
        });
        body["tools"] = tools.collect();
    }
    body
}

/// Converts a message. The format requires results before text.
fn turn(message: &Message) -> Value {
    let results = message.results.iter().map(|it| {
        json!({"type": "tool_result", "tool_use_id": it.id, "content": it.text, "is_error": it.is_error})
    });
    let words = (!message.text.is_empty()).then(|| json!({"type": "text", "text": message.text}));
    let calls = message
        .calls
        .iter()
        .map(|it| json!({"type": "tool_use", "id": it.id, "name": it.name, "input": it.arguments}));
    let role = if message.role == Role::Assistant { "assistant" } else { "user" };
    json!({"role": role, "content": results.chain(words).chain(calls).collect::<Vec<_>>()})
}

pub(super) fn event(gathered: &mut StreamAccumulator, event: &Value) -> Result<(), UnusableReply> {
    StreamAccumulator::failed(event)?;
    let index = count(event, "index").unwrap_or_default();
    match text(event, "type") {
        Some("message_start") => {
            let message = event.get("message").unwrap_or(&Value::Null);
            head(gathered, message);
        }
        Some("content_block_start") => {
            let block = event.get("content_block").unwrap_or(&Value::Null);
            match text(block, "type") {
                Some("tool_use") => {
                    let call = gathered.call(index)?;
                    call.id = text(block, "id").map(str::to_owned);
                    call.name = text(block, "name").unwrap_or_default().to_owned();
                }
                _ => gathered.text += text(block, "text").unwrap_or_default(),
            }
        }
        Some("content_block_delta") => {
            let delta = event.get("delta").unwrap_or(&Value::Null);
            gathered.text += text(delta, "text").unwrap_or_default();
            if let Some(piece) = text(delta, "partial_json") {
                gathered.call(index)?.arguments.push_str(piece);
            }
        }
        Some("message_delta") => {
            let delta = event.get("delta").unwrap_or(&Value::Null);
            tokens(gathered, event);
            gathered.end = text(delta, "stop_reason").map(end).or(gathered.end.take());
        }
        // `ping`, `message_stop`, `content_block_stop`, and future types.
        Some(_) => {}
        None => return Err(UnusableReply::Garbled("an event without a type".to_owned())),
    }
    Ok(())
}

pub(super) fn whole(gathered: &mut StreamAccumulator, answer: &Value) -> Result<(), UnusableReply> {
    StreamAccumulator::failed(answer)?;
    if !answer.get("content").is_some_and(Value::is_array) {
        return Err(UnusableReply::Garbled("it has no content".to_owned()));
    }
    head(gathered, answer);
    for block in list(answer, "content") {
        match text(block, "type") {
            Some("tool_use") => {
                let name = text(block, "name").unwrap_or_default();
                gathered.add_call(text(block, "id"), name, block.get("input"))?;
            }
            _ => gathered.text += text(block, "text").unwrap_or_default(),
        }
    }
    gathered.end = Some(text(answer, "stop_reason").map_or(StopReason::Done, end));
    Ok(())
}

fn head(gathered: &mut StreamAccumulator, message: &Value) {
    gathered.model = text(message, "model").map(str::to_owned);
    tokens(gathered, message);
}

/// Reads the token counts. Cached and uncached input are reported separately; their sum is the
/// input.
fn tokens(gathered: &mut StreamAccumulator, holder: &Value) {
    let Some(usage) = holder.get("usage") else { return };
    if let Some(fresh) = count(usage, "input_tokens") {
        let cached = count(usage, "cache_read_input_tokens").unwrap_or_default();
        let stored = count(usage, "cache_creation_input_tokens").unwrap_or_default();
        gathered.input = Some(fresh.saturating_add(cached).saturating_add(stored));
        gathered.cached = cached;
    }
    gathered.output = count(usage, "output_tokens").or(gathered.output);
}

fn end(reason: &str) -> StopReason {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => StopReason::Declined("the model declined".to_owned()),
        _ => StopReason::Done,
    }
}
