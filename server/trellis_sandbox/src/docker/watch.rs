//! What the engine tells of one container while it lives: its events, in their order.
//!
//! A container that removes itself cannot be asked afterwards how it ended, nor does the engine
//! keep that a process in it was killed for memory while the worker lived on. Events tell both.

use std::collections::HashMap;

use bollard::{Docker, models::EventMessage, query_parameters::EventsOptionsBuilder};
use futures_util::StreamExt;
use tokio::sync::watch;

/// What has been seen so far.
#[derive(Clone, Debug, Default)]
pub(super) struct WatchState {
    /// The engine's first event has arrived, so that none of the later ones can be missed.
    pub(super) live: bool,
    /// Times the kernel killed for want of memory in the container.
    pub(super) memory_kills: u64,
    /// The worker has ended, with this exit status where the engine gave one.
    pub(super) ended: Option<Option<i64>>,
    /// The engine tells no more.
    pub(super) engine_gone: bool,
}

/// Follows a container that has just been created until the engine goes away. It goes on beyond the
/// container's removal: an engine that shuts down removes its containers first.
pub(super) async fn follow(docker: Docker, id: String, seen: watch::Sender<WatchState>) {
    let kinds = ["create", "oom", "die", "destroy"].map(str::to_owned).to_vec();
    let filters = HashMap::from([("container", vec![id]), ("event", kinds)]);
    // From the beginning of time: the engine keeps the last few hundred, the creation among them.
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
        Some("die") => seen.ended = Some(exit_code(event)),
        // Removed by force before it was started, or its end was missed.
        Some("destroy") if seen.ended.is_none() => seen.ended = Some(None),
        _ => (),
    }
}

fn exit_code(event: &EventMessage) -> Option<i64> {
    event.actor.as_ref()?.attributes.as_ref()?.get("exitCode")?.parse().ok()
}
