//! Wire format of OpenAI's chat completions, used by many services.

use serde_json::{Value, json};

use super::{WireRequest, count, list, text};
use crate::chat::{Message, Role};
use crate::wire::{StopReason, StreamAccumulator, UnusableReply};

pub(super) fn body(question: &WireRequest<'_>) -> Value {
    let ask = question.ask;
    let mut body = json!({
        "model": question.model,
        "messages": ask.messages.iter().flat_map(turns).collect::<Vec<_>>(),
        "stream": question.stream,
    });
    if let Some(temperature) = question.temperature() {
        body["temperature"] = json!(temperature);
    }
    if let Some(limit) = ask.max_output_tokens {
        let name = if question.refused.max_tokens { "max_completion_tokens" } else { "max_tokens" };
        body[name] = json!(limit);
    }
    if question.stream && !question.refused.stream_options {
        body["stream_options"] = json!({"include_usage": true});
    }
    if !ask.tools.is_empty() {
        let tools = ask.tools.iter().map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters,
            }})
        });
        body["tools"] = tools.collect();
    }
    body
}

/// Converts a message to one turn, and each result to a turn of its own.
fn turns(message: &Message) -> Vec<Value> {
    let mut turns: Vec<Value> = (message.results.iter())
        .map(|it| json!({"role": "tool", "tool_call_id": it.id, "content": it.text}))
        .collect();
    if !message.text.is_empty() || !message.calls.is_empty() || turns.is_empty() {
        let mut turn = json!({"role": role(message.role), "content": message.text});
        if !message.calls.is_empty() {
            let calls = message.calls.iter().map(|call| {
                let arguments = Value::Object(call.arguments.clone()).to_string();
                json!({"id": call.id, "type": "function",
                       "function": {"name": call.name, "arguments": arguments}})
            });
            turn["tool_calls"] = calls.collect();
        }
        turns.push(turn);
    }
    turns
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

pub(super) fn event(gathered: &mut StreamAccumulator, event: &Value) -> Result<(), UnusableReply> {
    take(gathered, event, "delta")
}

pub(super) fn whole(gathered: &mut StreamAccumulator, answer: &Value) -> Result<(), UnusableReply> {
    StreamAccumulator::failed(answer)?;
    if answer.get("choices").is_some_and(Value::is_array) && list(answer, "choices").is_empty() {
        return Err(UnusableReply::Garbled("it has no choices".to_owned()));
    }
    take(gathered, answer, "message")?;
    // Some services omit the finish reason in whole answers.
    gathered.end.get_or_insert(StopReason::Done);
    Ok(())
}

fn take(gathered: &mut StreamAccumulator, value: &Value, part: &str) -> Result<(), UnusableReply> {
    StreamAccumulator::failed(value)?;
    let shaped = ["choices", "usage"].iter().any(|name| value.get(name).is_some());
    if !shaped {
        return Err(UnusableReply::Garbled("it has no choices".to_owned()));
    }
    if let Some(model) = text(value, "model").filter(|it| !it.is_empty()) {
        gathered.model = Some(model.to_owned());
    }
    if let Some(usage) = value.get("usage") {
        gathered.input = count(usage, "prompt_tokens").or(gathered.input);
        gathered.output = count(usage, "completion_tokens").or(gathered.output);
        let details = usage.get("prompt_tokens_details");
        gathered.cached =
            details.and_then(|it| count(it, "cached_tokens")).unwrap_or(gathered.cached);
    }
    // Only one choice was requested.
    let is_first = |it: &&Value| count(it, "index").unwrap_or_default() == 0;
    let Some(choice) = list(value, "choices").iter().find(is_first) else { return Ok(()) };
    if let Some(said) = choice.get(part) {
        content(&mut gathered.text, said.get("content"));
        gathered.refusal += text(said, "refusal").unwrap_or_default();
        for (at, call) in list(said, "tool_calls").iter().enumerate() {
            tool_call(gathered, call, at)?;
        }
    }
    let reason = text(choice, "finish_reason").filter(|it| !it.is_empty());
    gathered.end = reason.map(end).or(gathered.end.take());
    Ok(())
}

/// Appends a content: a text, or a list of parts.
fn content(out: &mut String, content: Option<&Value>) {
    match content {
        Some(Value::String(text)) => out.push_str(text),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| text(part, "text")).for_each(|text| out.push_str(text));
        }
        _ => {}
    }
}

fn tool_call(
    gathered: &mut StreamAccumulator,
    call: &Value,
    at: usize,
) -> Result<(), UnusableReply> {
    let index = count(call, "index").unwrap_or(at as u64);
    let part = gathered.call(index)?;
    if let Some(id) = text(call, "id").filter(|id| !id.is_empty()) {
        part.id = Some(id.to_owned());
    }
    let Some(function) = call.get("function") else { return Ok(()) };
    // Some services repeat the name in every piece.
    if let Some(name) = text(function, "name").filter(|_| part.name.is_empty()) {
        part.name = name.to_owned();
    }
    match function.get("arguments") {
        Some(Value::String(piece)) => part.arguments.push_str(piece),
        // Some services send the object itself.
        Some(Value::Object(whole)) => part.arguments = Value::Object(whole.clone()).to_string(),
        _ => {}
    }
    Ok(())
}

fn end(reason: &str) -> StopReason {
    match reason {
        "length" => StopReason::Length,
        "content_filter" => {
            StopReason::Declined("the provider's content filter stopped the reply".to_owned())
        }
        _ => StopReason::Done,
    }
}
