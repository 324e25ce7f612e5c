//! The engine's events about one container.
//!
//! A container that removes itself cannot be inspected afterwards, and the engine does not record
//! that a process in it was killed for lack of memory while the worker survived. Events report
//! both.

use std::collections::HashMap;

use bollard::{Docker, models::EventMessage, query_parameters::EventsOptionsBuilder};
use futures_util::StreamExt;
use tokio::sync::watch;

/// The state derived from the events so far.
#[derive(Clone, Debug, Default)]
pub(super) struct WatchState {
    /// True once the engine's first event has arrived, so that no later one can be missed.
    pub(super) live: bool,
    /// Number of kills for lack of memory in the container.
    pub(super) memory_kills: u64,
    /// Number of signals that the engine has sent to the worker, for whomever.
    pub(super) kills: u64,
    /// The end of the worker, with its exit status if the engine reported one.
    pub(super) ended: Option<Option<i64>>,
    /// True once the engine sends no more events.
    pub(super) engine_gone: bool,
}

/// Follows a newly created container until the engine goes away. This continues after the
/// container's removal: an engine that shuts down removes its containers first.
pub(super) async fn follow(docker: Docker, id: String, seen: watch::Sender<WatchState>) {
    let kinds = ["create", "attach", "kill", "oom", "die", "destroy"].map(str::to_owned).to_vec();
    let filters = HashMap::from([("container", vec![id]), ("event", kinds)]);
    // Since the epoch: the engine keeps the last few hundred events, the creation or the
    // attachment among them.
    let options = EventsOptionsBuilder::default().since("1").filters(&filters).build();
    let mut events = Box::pin(docker.events(Some(options)));
    while let Some(Ok(event)) = events.next().await {
        seen.send_modify(|seen| note(seen, &event));
    }
    seen.send_modify(|seen| seen.engine_gone = true);
}

fn note(seen: &mut WatchState, event: &EventMessage) {
    seen.live = true;
    match event.action.as_deref() {
        Some("oom") => seen.memory_kills += 1,
        Some("kill") => seen.kills += 1,
        Some("die") => seen.ended = Some(exit_code(event)),
        // The container was removed by force before it was started, or its end was missed.
        Some("destroy") if seen.ended.is_none() => seen.ended = Some(None),
        _ => (),
    }
}

fn exit_code(event: &EventMessage) -> Option<i64> {
    event.actor.as_ref()?.attributes.as_ref()?.get("exitCode")?.parse().ok()
}
