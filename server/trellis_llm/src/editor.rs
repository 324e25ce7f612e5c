//! Models provided by the editor: its client answers the requests.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::chat::{ChatReply, ChatRequest};
use crate::error::{ModelError, usable};
use crate::retry::AttemptError;

/// Sends requests to the editor's client. Dropping the future cancels the request there.
pub trait Editor: Send + Sync {
    /// Asks the model of this name; an empty name leaves the choice to the editor.
    fn ask<'a>(
        &'a self,
        model: &'a str,
        ask: &'a ChatRequest,
    ) -> Pin<Box<dyn Future<Output = Result<ChatReply, EditorError>> + Send + 'a>>;
}

/// Reasons why the editor's client did not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditorError {
    /// The editor has no model, or the person did not allow its use.
    Unavailable(String),
    /// The request does not fit into the model's context.
    TooLong(String),
    /// The model's reply was unusable.
    Unusable(String),
    /// Another failure that may be temporary.
    Failed(String),
}

impl fmt::Debug for dyn Editor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Editor")
    }
}

/// Performs one request without retries.
pub(crate) async fn once(
    editor: &dyn Editor,
    name: &str,
    model: &str,
    ask: &ChatRequest,
) -> Result<ChatReply, AttemptError> {
    let name = name.to_owned();
    let unanswered = match editor.ask(model, ask).await {
        Ok(reply) => return usable(&name, reply).map_err(AttemptError::Final),
        Err(unanswered) => unanswered,
    };
    Err(match unanswered {
        EditorError::Unavailable(message) => {
            AttemptError::Final(ModelError::Refused { model: name, status: 503, message })
        }
        EditorError::TooLong(message) => {
            AttemptError::Final(ModelError::TooLong { model: name, message })
        }
        EditorError::Unusable(what) => {
            AttemptError::Final(ModelError::BadResponse { model: name, what, usage: None })
        }
        EditorError::Failed(reason) => crate::error::TransientError::Connection { reason }.into(),
    })
}
