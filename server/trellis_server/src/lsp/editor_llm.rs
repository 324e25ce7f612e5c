//! The model provider `editor`: requests go to the client as `trellis/askModel`, and its models
//! reply.
//!
//! Replies are not trusted: a reply that is too large, malformed or endless becomes an error.

use std::collections::HashSet;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;
use tower_lsp::Client;
use tower_lsp::jsonrpc::{Error, ErrorCode};
use trellis_llm::{
    ChatReply, ChatRequest, Editor, EditorError, Message, Role, Tool, ToolCall, Usage,
};

use super::protocol_ext::{
    AskModel, AskModelErrorData, AskModelParams, AskModelResult, CancelModel, CancelModelParams,
    ModelMessage, ModelRole, ModelTool, ModelToolCall, ModelToolResult,
};

/// Timeout of a request: as long as for any provider, since the editor may ask the user for
/// permission first.
const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// Maximum bytes of a reply as JSON, far above any valid reply.
const LARGEST_ANSWER: usize = 16 << 20;
/// Maximum tool calls in one reply, above what any model sends.
const MOST_CALLS: usize = 128;
/// Maximum characters of client text that is passed on.
const LONGEST_LINE: usize = 400;

/// Client for the models of the editor.
pub(super) struct EditorLlm {
    client: Client,
    /// Id of the last request.
    id: AtomicU64,
}

impl EditorLlm {
    pub(super) fn new(client: Client) -> EditorLlm {
        EditorLlm { client, id: AtomicU64::new(0) }
    }

    async fn put(&self, model: &str, ask: &ChatRequest) -> Result<ChatReply, EditorError> {
        let id = self.id.fetch_add(1, Ordering::Relaxed) + 1;
        let mut open = Open { client: &self.client, id, answered: false };
        let since = Instant::now();
        let asking = self.client.send_request::<AskModel>(question(id, model, ask));
        let answer = tokio::time::timeout(PATIENCE, asking).await.map_err(|_| {
            let minutes = PATIENCE.as_secs() / 60;
            EditorError::Failed(format!("the editor did not answer within {minutes} minutes"))
        })?;
        open.answered = true;
        let answer = read(answer.map_err(|error| refused(&error))?)?;
        Ok(reply(answer, model, since.elapsed()))
    }
}

impl Editor for EditorLlm {
    fn ask<'a>(
        &'a self,
        model: &'a str,
        ask: &'a ChatRequest,
    ) -> Pin<Box<dyn Future<Output = Result<ChatReply, EditorError>> + Send + 'a>> {
        Box::pin(self.put(model, ask))
    }
}

/// A pending request; cancelled at the client if dropped before its reply.
struct Open<'a> {
    client: &'a Client,
    id: u64,
    answered: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        // Without a runtime the server is ending, which ends the client's request too.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if self.answered {
            return;
        }
        let (client, id) = (self.client.clone(), self.id);
        runtime.spawn(async move {
            client.send_notification::<CancelModel>(CancelModelParams { id }).await;
        });
    }
}

fn question(id: u64, model: &str, ask: &ChatRequest) -> AskModelParams {
    AskModelParams {
        id,
        model: model.to_owned(),
        node: ask.node.clone(),
        stage: ask.stage.clone(),
        attempt: ask.attempt,
        messages: ask.messages.iter().map(message).collect(),
        tools: ask.tools.iter().map(tool).collect(),
        // Converted through its shortest decimal form, since 0.2 widened from f32 is
        // 0.20000000298023224.
        temperature: ask.temperature.to_string().parse().unwrap_or(f64::from(ask.temperature)),
        max_output_tokens: ask.max_output_tokens,
    }
}

fn message(message: &Message) -> ModelMessage {
    let call = |it: &ToolCall| ModelToolCall {
        id: it.id.clone(),
        name: it.name.clone(),
        arguments: it.arguments.clone(),
    };
    let result = |it: &trellis_llm::ToolResult| ModelToolResult {
        id: it.id.clone(),
        name: it.name.clone(),
        text: it.text.clone(),
        is_error: it.is_error,
    };
    ModelMessage {
        role: match message.role {
            Role::System => ModelRole::System,
            Role::User => ModelRole::User,
            Role::Assistant => ModelRole::Assistant,
        },
        text: message.text.clone(),
        tool_calls: message.calls.iter().map(call).collect(),
        tool_results: message.results.iter().map(result).collect(),
    }
}

fn tool(tool: &Tool) -> ModelTool {
    ModelTool {
        name: tool.name.clone(),
        description: tool.description.clone(),
        parameters: tool.parameters.clone(),
    }
}

fn reply(answer: AskModelResult, asked: &str, latency: Duration) -> ChatReply {
    let call = |it: ModelToolCall| ToolCall {
        id: it.id,
        name: it.name,
        arguments: it.arguments,
        signature: None,
    };
    let usage = answer.usage.map(|it| Usage {
        input_tokens: it.input_tokens.into(),
        output_tokens: it.output_tokens.into(),
        cached_tokens: 0,
    });
    // Without a model name in the reply, the requested model counts as the one that replied.
    let named = answer.model.map(|it| one_line(&it)).filter(|it| !it.is_empty());
    let asked = if asked.is_empty() { "editor" } else { asked };
    ChatReply {
        text: answer.text,
        tool_calls: answer.tool_calls.into_iter().map(call).collect(),
        usage,
        model: named.unwrap_or_else(|| asked.to_owned()),
        latency,
    }
}

/// Parses and checks a reply.
fn read(result: Value) -> Result<AskModelResult, EditorError> {
    let unusable = |what: String| EditorError::Unusable(format!("the editor's answer {what}"));
    if is_larger_than(LARGEST_ANSWER, &result) {
        return Err(unusable(format!("is larger than {} MiB", LARGEST_ANSWER >> 20)));
    }
    let malformed = |error: serde_json::Error| {
        unusable(format!("is malformed: {}", one_line(&error.to_string())))
    };
    let answer = AskModelResult::deserialize(result).map_err(malformed)?;
    if answer.tool_calls.len() > MOST_CALLS {
        return Err(unusable(format!("has more than {MOST_CALLS} tool calls")));
    }
    let mut ids = HashSet::new();
    for call in &answer.tool_calls {
        if call.id.is_empty() || call.name.is_empty() {
            return Err(unusable("has a tool call without an id or a name".to_owned()));
        }
        if !ids.insert(&call.id) {
            return Err(unusable(format!(
                "has two tool calls with the id `{}`",
                one_line(&call.id)
            )));
        }
    }
    Ok(answer)
}

/// Classifies an error of the client.
fn refused(error: &Error) -> EditorError {
    if error.code == ErrorCode::MethodNotFound {
        return EditorError::Unavailable("this editor offers no models".to_owned());
    }
    let message = match one_line(&error.message) {
        empty if empty.is_empty() => format!("the editor gave no reason (code {})", error.code),
        message => message,
    };
    // Data of another shape carries no kind.
    let data = error.data.as_ref().and_then(|it| AskModelErrorData::deserialize(it).ok());
    match data.as_ref().map(|it| it.kind.as_str()) {
        Some("unavailable") => EditorError::Unavailable(message),
        Some("tooLong") => EditorError::TooLong(message),
        Some("unusable") => EditorError::Unusable(message),
        _ => EditorError::Failed(message),
    }
}

/// Returns the start of a text, on one line.
pub(super) fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let mut line = String::new();
    for word in words.filter(|it| !it.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if let Some((end, _)) = line.char_indices().nth(LONGEST_LINE) {
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    line
}

/// Returns whether a value needs more than `most` bytes as JSON, without storing the JSON.
fn is_larger_than(most: usize, value: &Value) -> bool {
    struct ByteBudget(usize);
    impl io::Write for ByteBudget {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let left = self.0.checked_sub(bytes.len());
            self.0 = left.ok_or_else(|| io::Error::other("too large"))?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    serde_json::to_writer(ByteBudget(most), value).is_err()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
    use tower_lsp::ls_types::{InitializeParams, InitializeResult};
    use tower_lsp::{LanguageServer, LspService, Server};

    use super::*;

    struct Idle(Client);

    impl LanguageServer for Idle {
        async fn initialize(
            &self,
            _: InitializeParams,
        ) -> tower_lsp::jsonrpc::Result<InitializeResult> {
            Ok(InitializeResult::default())
        }

        async fn shutdown(&self) -> tower_lsp::jsonrpc::Result<()> {
            Ok(())
        }
    }

    async fn message(stream: &mut BufReader<impl AsyncRead + Unpin>) -> Value {
        let mut header = String::new();
        stream.read_line(&mut header).await.unwrap();
        let length = header.trim().strip_prefix("Content-Length: ").unwrap().parse().unwrap();
        stream.read_line(&mut String::new()).await.unwrap();
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn an_editor_that_never_answers_is_given_up_and_reported() {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(ours);
        let (received, mut said) = tokio::io::split(theirs);
        let mut received = BufReader::new(received);
        let (service, socket) = LspService::new(Idle);
        let client = service.inner().0.clone();
        tokio::spawn(Server::new(input, output, socket).serve(service));
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "capabilities": {} } });
        let hello = hello.to_string();
        let hello = format!("Content-Length: {}\r\n\r\n{hello}", hello.len());
        said.write_all(hello.as_bytes()).await.unwrap();
        assert_eq!(message(&mut received).await["id"], 0);

        let call = ToolCall {
            id: "a".to_owned(),
            name: "grep".to_owned(),
            arguments: serde_json::Map::new(),
            signature: None,
        };
        let result = trellis_llm::ToolResult {
            id: "a".to_owned(),
            name: "grep".to_owned(),
            text: "none".to_owned(),
            is_error: true,
        };
        let grep = Tool {
            name: "grep".to_owned(),
            description: "finds".to_owned(),
            parameters: json!({ "type": "object" }),
        };
        let asked = Message { calls: vec![call], ..Message::new(Role::Assistant, "") };
        let ask = ChatRequest {
            node: "n".to_owned(),
            stage: "fix".to_owned(),
            attempt: 3,
            messages: vec![
                Message::new(Role::System, "rules"),
                asked,
                Message::results(vec![result]),
            ],
            tools: Arc::from([grep]),
            temperature: 0.2,
            max_output_tokens: None,
        };
        let answer = EditorLlm::new(client).put("gpt", &ask).await;
        let late = "the editor did not answer within 10 minutes".to_owned();
        assert_eq!(answer, Err(EditorError::Failed(late)));
        let question = message(&mut received).await;
        assert_eq!(question["method"], "trellis/askModel");
        let grep = json!({ "id": "a", "name": "grep" });
        let (mut call, mut result) = (grep.clone(), grep);
        call["arguments"] = json!({});
        (result["text"], result["isError"]) = (json!("none"), json!(true));
        let turn = |role: &str, text: &str, calls: Vec<Value>, results: Vec<Value>| json!({ "role": role, "text": text, "toolCalls": calls, "toolResults": results });
        let wanted = json!({
            "id": 1,
            "model": "gpt",
            "node": "n",
            "stage": "fix",
            "attempt": 3,
            "messages": [
                turn("system", "rules", vec![], vec![]),
                turn("assistant", "", vec![call], vec![]),
                turn("user", "", vec![], vec![result]),
            ],
            "tools": [{ "name": "grep", "description": "finds", "parameters": { "type": "object" } }],
            "temperature": 0.2,
        });
        assert_eq!(question["params"], wanted);
        let reported = message(&mut received).await;
        assert_eq!(
            (&reported["method"], &reported["params"]),
            (&json!("trellis/cancelModel"), &json!({ "id": 1 }))
        );
    }
}
