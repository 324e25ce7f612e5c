//! Tests of the crate's public interface: recordings as text, live models as a canned server on
//! loopback.

mod embedding;
mod live;
mod opening;
mod recorded;
mod recorder;
mod refused;
mod server;
mod wires;

use std::sync::Arc;

use trellis_llm::{ChatRequest, Message, Role};

/// Returns a request of node `node`.
fn ask(node: &str, stage: &str, attempt: u32) -> ChatRequest {
    ChatRequest {
        node: node.to_owned(),
        stage: stage.to_owned(),
        attempt,
        messages: vec![
            Message::new(Role::System, "be brief"),
            Message::new(Role::User, "write add"),
        ],
        tools: Arc::from([]),
        temperature: 0.2,
        max_output_tokens: Some(64),
    }
}

/// An environment without variables.
fn no_env(_: &str) -> Option<String> {
    None
}
