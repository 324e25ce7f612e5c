//! Questions to the model: put, written down, heard.

use std::time::Instant;

use cycle::{Ask, Observation};
use futures_util::future::join_all;
use model::{ModelError, Reply};
use plan::NodeIx;

use crate::convert;
use crate::error::Fault;
use crate::grow::worker::{Shop, Stop, Worker};
use crate::workspace::disk;
use crate::workspace::journal::Event;

impl Worker {
    pub(super) async fn ask(&mut self, ask: &Ask) -> Result<Observation, Stop> {
        self.cost.model_calls += 1;
        let reply = self.put(ask).await?;
        Ok(match reply {
            Ok(text) => Observation::Reply(text),
            Err(reason) => Observation::NoReply { reason },
        })
    }

    /// All questions at once; the slowest answer is waited for, not their sum.
    pub(super) async fn vote(&mut self, asks: &[Ask]) -> Result<Observation, Stop> {
        self.cost.model_calls += asks.len();
        let replies = join_all(asks.iter().map(|ask| self.put(ask))).await;
        replies.into_iter().collect::<Result<Vec<_>, Stop>>().map(Observation::Votes)
    }

    async fn put(&self, ask: &Ask) -> Result<Result<String, String>, Stop> {
        put(&self.shop, &self.id(), Some(self.node), ask).await
    }
}

/// Puts a question of a node, or of a subgraph, and writes it down: the model's text, or why there is none.
pub(crate) async fn put(
    shop: &Shop,
    id: &str,
    node: Option<NodeIx>,
    ask: &Ask,
) -> Result<Result<String, String>, Stop> {
    let question = convert::ask(id, ask, shop.policy.context_tokens);
    let prompt: String = question.messages.iter().map(|message| message.text.as_str()).collect();
    let started = Instant::now();
    let reply = tokio::select! {
        () = shop.cancel.cancelled() => return Err(Stop::Cancelled),
        reply = shop.model.ask(&question) => reply,
    };
    let usage = reply.as_ref().ok().and_then(|reply| reply.usage);
    let event = Event::ModelCall {
        node: id.to_owned(),
        stage: ask.stage.as_str().to_owned(),
        attempt: ask.attempt,
        prompt: disk::hash(prompt),
        model: reply.as_ref().map_or(shop.model.name(), |reply| &reply.model).to_owned(),
        milliseconds: started.elapsed().as_millis() as u64,
        input_tokens: usage.map(|usage| usage.input_tokens),
        output_tokens: usage.map(|usage| usage.output_tokens),
        error: reply.as_ref().err().map(ToString::to_string),
    };
    shop.journal.log(event).map_err(|error| Stop::Journal { node, error })?;
    heard(shop, reply)
}

fn heard(shop: &Shop, reply: Result<Reply, ModelError>) -> Result<Result<String, String>, Stop> {
    match reply {
        Ok(reply) => Ok(Ok(reply.text)),
        // What came is no usable answer; the cycle re-asks as for any other malformed one.
        Err(ModelError::Truncated { partial, .. }) => Ok(Ok(partial)),
        Err(ModelError::BadResponse { .. }) => Ok(Ok(String::new())),
        Err(error @ ModelError::NotRecorded { .. }) => {
            Err(Stop::Fault(Fault::internal(&error).hint(error.hint())))
        }
        // A recording says what happened then; a live model that is gone now is gone for every node.
        Err(error) if error.is_unavailable() && !shop.model.name().starts_with("recorded:") => {
            Err(Stop::Fault(Fault::unavailable(&error).hint(error.hint())))
        }
        Err(error) => Ok(Err(error.to_string())),
    }
}
