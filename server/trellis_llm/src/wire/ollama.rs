//! Wire format of Ollama's chat.

use serde_json::{Value, json};

use super::{WireRequest, count, list, text};
use crate::chat::{Message, Role};
use crate::wire::{StopReason, StreamAccumulator, UnusableReply};

/// Bytes per token in the estimate of a prompt's size; a lower bound for English and code.
const TOKEN_BYTES: usize = 3;
/// Minimum context, in tokens. Ollama's own default is smaller, and Ollama cuts off text beyond the
/// context without an error.
const LEAST_CONTEXT: usize = 8192;
/// Default room for a reply without a limit, in tokens.
const OUTPUT_TOKENS: u32 = 4096;

pub(super) fn body(question: &WireRequest<'_>) -> Value {
    let ask = question.ask;
    let mut options = json!({"num_ctx": context(question)});
    if let Some(temperature) = question.temperature() {
        options["temperature"] = json!(temperature);
    }
    if let Some(limit) = ask.max_output_tokens {
        options["num_predict"] = json!(limit);
    }
    let mut body = json!({
        "model": question.model,
        "messages": ask.messages.iter().flat_map(turns).collect::<Vec<_>>(),
        "stream": question.stream,
        "options": options,
    });
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

/// Returns the context size: a power of two, since a changed context makes the server load the
/// model again.
fn context(question: &WireRequest<'_>) -> usize {
    let ask = question.ask;
    let words: usize = ask.messages.iter().map(Message::bytes).sum();
    let tools: usize = ask.tools.iter().map(|it| it.parameters.to_string().len() + 200).sum();
    let output = ask.max_output_tokens.unwrap_or(OUTPUT_TOKENS) as usize;
    ((words + tools) / TOKEN_BYTES + output).next_power_of_two().max(LEAST_CONTEXT)
}

fn turns(message: &Message) -> Vec<Value> {
    let mut turns: Vec<Value> = (message.results.iter())
        .map(|it| json!({"role": "tool", "tool_name": it.name, "content": it.text}))
        .collect();
    if !message.text.is_empty() || !message.calls.is_empty() || turns.is_empty() {
        let role = match message.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let mut turn = json!({"role": role, "content": message.text});
        if !message.calls.is_empty() {
            let calls = message
                .calls
                .iter()
                .map(|it| json!({"function": {"name": it.name, "arguments": it.arguments}}));
            turn["tool_calls"] = calls.collect();
        }
        turns.push(turn);
    }
    turns
}

/// Processes a streamed line or a whole answer, which have the same shape; only the last line has
/// `done`.
pub(super) fn take(gathered: &mut StreamAccumulator, answer: &Value) -> Result<(), UnusableReply> {
    StreamAccumulator::failed(answer)?;
    let Some(message) = answer.get("message") else {
        return Err(UnusableReply::Garbled("it has no message".to_owned()));
    };
    gathered.text += text(message, "content").unwrap_or_default();
    for call in list(message, "tool_calls") {
        let function = call.get("function").unwrap_or(&Value::Null);
        let name = text(function, "name").unwrap_or_default();
        gathered.add_call(text(call, "id"), name, function.get("arguments"))?;
    }
    if let Some(model) = text(answer, "model") {
        gathered.model = Some(model.to_owned());
    }
    if answer.get("done").and_then(Value::as_bool) == Some(true) {
        gathered.input = count(answer, "prompt_eval_count");
        gathered.output = count(answer, "eval_count");
        let reason = text(answer, "done_reason");
        gathered.end =
            Some(if reason == Some("length") { StopReason::Length } else { StopReason::Done });
    }
    Ok(())
}
