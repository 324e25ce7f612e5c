//! Work done after a pause in typing: definitions are located again, diagnostics published, lenses
//! refreshed. One timer serves all of it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;
use tower_lsp::Client;

use super::diagnostics::{self, Published};
use super::from_lsp;
use crate::event_bus::{Event, Listener};
use crate::rpc::Context;
use crate::session::{Anchors, QueryError, Snapshot};

/// Time without a change before the work starts.
const STILL: Duration = Duration::from_millis(300);
/// Timeout for a response of the client.
const CLIENT_PATIENCE: Duration = Duration::from_secs(10);

/// Kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionChange {
    /// An open document changed: all work waits for a pause in typing.
    Text,
    /// Something else that diagnostics or lenses show changed.
    Other,
}

/// Sender of changes. Clones share one channel.
#[derive(Clone)]
pub(super) struct SessionChanges(UnboundedSender<SessionChange>);

impl SessionChanges {
    pub(super) fn new() -> (SessionChanges, UnboundedReceiver<SessionChange>) {
        let (sender, receiver) = unbounded_channel();
        (SessionChanges(sender), receiver)
    }

    /// Reports a change without waiting; ignored after the end.
    pub(super) fn notify(&self, stir: SessionChange) {
        let _ = self.0.send(stir);
    }
}

/// Worker that reacts to changes.
pub(super) struct Debouncer {
    pub(super) client: Client,
    pub(super) context: Arc<Context>,
    pub(super) known: from_lsp::Client,
}

impl Debouncer {
    /// Runs until all senders are dropped.
    pub(super) async fn run(self, mut stirs: UnboundedReceiver<SessionChange>) {
        let mut published = Published::default();
        while let Some(stirred) = still(&mut stirs).await {
            self.refresh(stirred, &mut published).await;
        }
    }

    /// Reports changed results, nodes, files and jobs.
    pub(super) async fn listen(context: Arc<Context>, events: Listener, stirs: SessionChanges) {
        loop {
            tokio::select! {
                () = context.results.changed() => stirs.notify(SessionChange::Other),
                event = events.next() => {
                    if matches!(event, Event::Node { .. } | Event::Files { .. } | Event::Job { .. }) {
                        stirs.notify(SessionChange::Other);
                    }
                }
            }
        }
    }

    async fn refresh(&self, stirred: SessionChange, published: &mut Published) {
        let (failures, known) = (self.context.results.failures(), self.known);
        let question =
            move |view: &Snapshot| (parsed(view), diagnostics::of(view, &failures, known));
        let (parsed, found) = match self.context.asker.ask(question).await {
            Ok(found) => found,
            // A newer change caused this, and will start its own round.
            Err(QueryError::ContentModified | QueryError::Cancelled) => return,
            Err(QueryError::Panicked) => {
                return tracing::warn!("the diagnostics are out of date");
            }
        };
        let mut changed = stirred == SessionChange::Other;
        for (uri, version, anchors) in parsed {
            // The session owner ends after everything else.
            changed |= self.context.owner.parsed(uri, version, anchors).await.unwrap_or(false);
        }
        self.context.results.forget(&found.gone);
        self.context.results.moved(&found.lines);
        for (uri, version, marks) in found.marks.clone() {
            self.context.owner.marked(uri, version, marks);
        }
        for (uri, version, diagnostics) in published.news(found) {
            self.client.publish_diagnostics(uri, diagnostics, version).await;
        }
        if changed {
            self.refresh_lenses();
        }
    }

    /// Asks the client to request lenses again.
    pub(super) fn refresh_lenses(&self) {
        if !self.known.refreshes_lenses {
            return;
        }
        let client = self.client.clone();
        tokio::spawn(async move {
            // A client that refuses keeps the old lenses until its next request.
            let _ = tokio::time::timeout(CLIENT_PATIENCE, client.code_lens_refresh()).await;
        });
    }
}

/// Returns the combined change after a pause, or `None` at the end.
async fn still(stirs: &mut UnboundedReceiver<SessionChange>) -> Option<SessionChange> {
    let mut stirred = stirs.recv().await?;
    let mut until = Instant::now() + STILL;
    loop {
        match tokio::time::timeout_at(until, stirs.recv()).await {
            // Frequent other changes must not postpone the work.
            Ok(Some(SessionChange::Other)) => stirred = SessionChange::Other,
            Ok(Some(SessionChange::Text)) => until = Instant::now() + STILL,
            Ok(None) => return None,
            Err(_) => return Some(stirred),
        }
    }
}

/// Parses the definitions of all open documents; unchanged ones come from the index.
fn parsed(view: &Snapshot) -> Vec<(tower_lsp::ls_types::Uri, i32, Anchors)> {
    let documents = view.documents.values().filter_map(|document| {
        let at = view.file(&document.uri)?;
        let outline = at.part.index().outline(at.file);
        let anchors = Anchors::of(&outline, &document.text);
        Some((document.uri.clone(), document.version, anchors))
    });
    documents.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn typing_puts_it_off_and_other_changes_do_not() {
        let (stirs, mut receiver) = SessionChanges::new();
        let begin = Instant::now();
        let telling = tokio::spawn(async move {
            for stir in [
                SessionChange::Text,
                SessionChange::Text,
                SessionChange::Other,
                SessionChange::Other,
                SessionChange::Other,
            ] {
                stirs.notify(stir);
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            stirs
        });
        assert_eq!(still(&mut receiver).await, Some(SessionChange::Other));
        // The second text change came at 200 ms; the other change at 400 ms did not move the end.
        assert_eq!(begin.elapsed(), Duration::from_millis(500));
        assert_eq!(still(&mut receiver).await, Some(SessionChange::Other));
        assert_eq!(begin.elapsed(), Duration::from_millis(900));
        drop(telling.await);
        assert_eq!(still(&mut receiver).await, None);
    }
}
