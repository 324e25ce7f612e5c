//! A model that the editor has: its client answers the questions.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::ask::{Ask, Reply};
use crate::error::{ModelError, usable};
use crate::retry::Failure;

/// What puts a question to the editor's client. Dropping the future cancels the question there.
pub trait Editor: Send + Sync {
    /// Asks the model of this name; the empty name leaves the choice to the editor.
    fn ask<'a>(
        &'a self,
        model: &'a str,
        ask: &'a Ask,
    ) -> Pin<Box<dyn Future<Output = Result<Reply, Unanswered>> + Send + 'a>>;
}

/// Why the editor's client did not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unanswered {
    /// It has no model, or the person did not allow its use.
    Unavailable(String),
    /// The question does not fit into its model's context.
    TooLong(String),
    /// Its model said nothing that could be used.
    Unusable(String),
    /// Something else went wrong that may pass.
    Failed(String),
}

impl fmt::Debug for dyn Editor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Editor")
    }
}

/// One question, one answer.
pub(crate) async fn once(
    editor: &dyn Editor,
    name: &str,
    model: &str,
    ask: &Ask,
) -> Result<Reply, Failure> {
    let name = name.to_owned();
    let unanswered = match editor.ask(model, ask).await {
        Ok(reply) => return usable(&name, reply).map_err(Failure::Final),
        Err(unanswered) => unanswered,
    };
    Err(match unanswered {
        Unanswered::Unavailable(message) => {
            Failure::Final(ModelError::Refused { model: name, status: 503, message })
        }
        Unanswered::TooLong(message) => {
            Failure::Final(ModelError::TooLong { model: name, message })
        }
        Unanswered::Unusable(what) => {
            Failure::Final(ModelError::BadResponse { model: name, what, usage: None })
        }
        Unanswered::Failed(reason) => crate::error::Outage::Connection { reason }.into(),
    })
}
