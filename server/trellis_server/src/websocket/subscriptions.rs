//! `trellis/subscribe`: events for subscribed clients.

use std::sync::Arc;
use std::time::Duration;

use jsonrpsee::PendingSubscriptionSink;
use serde_json::value::to_raw_value;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::connection_count::Counter;
use crate::rpc::{Context, EVENT, SUBSCRIBE, Table, UNSUBSCRIBE};
use trellis_workflows::fault::Fault;

/// All subscriptions.
pub(super) struct Subscriptions {
    ending: CancellationToken,
    subscribers: Counter,
}

impl Subscriptions {
    /// Adds the subscription method to the table.
    pub(super) fn register(table: &mut Table) -> Result<Subscriptions, Fault> {
        let telling =
            Subscriptions { ending: CancellationToken::new(), subscribers: Counter::default() };
        let (ending, subscribers) = (telling.ending.clone(), telling.subscribers.clone());
        let subscribe = move |_, sink, context: Arc<Context>, _| {
            let (ending, subscriber) = (ending.clone(), subscribers.enter());
            async move {
                forward(sink, &context, &ending).await;
                drop(subscriber);
            }
        };
        let added = table.module.register_subscription(SUBSCRIBE, EVENT, UNSUBSCRIBE, subscribe);
        added.map_err(|error| Fault::internal(format!("no events: {error}")))?;
        Ok(telling)
    }

    /// Ends the subscriptions once each subscriber has read all earlier events, or the time is up.
    pub(super) async fn end(&self, patience: Duration) {
        self.ending.cancel();
        if timeout(patience, self.subscribers.none()).await.is_err() {
            tracing::warn!("a client did not read its last events in time");
        }
    }
}

/// Forwards events at the client's reading speed; the listener's queue merges or counts those in
/// between.
async fn forward(sink: PendingSubscriptionSink, context: &Context, ending: &CancellationToken) {
    let listener = context.events.listen();
    // An error means that the client is gone.
    let Ok(sink) = sink.accept().await else { return };
    loop {
        let event = tokio::select! {
            biased;
            () = sink.closed() => return,
            event = listener.next() => event,
            () = ending.cancelled() => return,
        };
        match to_raw_value(&event) {
            Ok(event) => {
                if sink.send(event).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                tracing::error!("an event cannot be written as JSON: {error}")
            }
        }
    }
}
