//! `trellis/event`: events for all listening clients.
//!
//! A slow client costs a bounded amount of memory: events with a state are merged to the latest,
//! and other missed events are counted.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use trellis_workflows::proposals;

/// Maximum events that wait for one client.
const WAITING_AT_MOST: usize = 10_000;

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// A job started, paused, resumed or ended; `trellis/job` has its result.
    Job {
        job: String,
        /// The method that started it, without `trellis/`.
        method: String,
        title: String,
        state: JobState,
        /// Why it failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    },
    /// The progress of a job.
    Progress {
        job: String,
        done: usize,
        total: usize,
        percent: u8,
        /// Estimated seconds until the end; left out if unknown.
        #[serde(skip_serializing_if = "Option::is_none")]
        eta_seconds: Option<u64>,
    },
    /// The status of a node.
    Node {
        job: String,
        node: String,
        /// `pending`, `in_progress`, `passed`, `failed` or `skipped`.
        status: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        subgraph: Option<String>,
    },
    /// The current step of a node.
    Stage {
        job: String,
        node: String,
        /// `red`, `green`, or the stage of a prompt, such as `implementation`.
        stage: String,
        /// In a few words.
        outcome: String,
    },
    /// A test ended.
    Test {
        job: String,
        /// The folder of its project.
        root: String,
        id: String,
        outcome: String,
        duration_ms: u64,
        /// Why it was skipped or expected to fail.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The file that defines it, relative to the root.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// From 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
        /// What it failed with.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// The file in which it failed, relative to the root.
        #[serde(skip_serializing_if = "Option::is_none")]
        failed_path: Option<String>,
        /// The line there, from 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        failed_line: Option<u32>,
        /// When the tested texts were read, in milliseconds of Unix time.
        #[serde(skip_serializing_if = "Option::is_none")]
        text_of: Option<u64>,
        /// The tested texts are not in the project, such as those of a draft.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        draft: bool,
    },
    /// Another window or the command line ran tests of a project that is open here.
    Results {
        /// The folder of the project.
        root: String,
        tests: Vec<ForeignTest>,
    },
    /// A job wrote files; the paths are relative to its folder.
    Files { job: String, root: String, paths: Vec<String> },
    /// A proposed fix needs your decision, or has one.
    Proposal { proposal: String, root: String, state: String },
    /// A message of a job or the server.
    Log {
        #[serde(skip_serializing_if = "Option::is_none")]
        job: Option<String>,
        level: Level,
        message: String,
    },
    /// This many events were dropped, because the client did not read them in time; `trellis/jobs` and
    /// `trellis/status` show the current state.
    Missed { count: u64 },
}

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum JobState {
    Running,
    /// It starts nothing new until it is resumed.
    Paused,
    Done,
    Failed,
    Cancelled,
}

/// The importance of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    Info,
    Warning,
    Error,
}

/// Identity of an event: a newer event replaces a waiting one with the same key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Thing(u8, String, String),
    /// The event replaces no other; the number is unique.
    Alone(u64),
}

impl Event {
    /// Returns the event for the state of a proposal in `root`.
    pub fn of_proposal(root: &Path, id: &str, state: proposals::State) -> Event {
        Event::Proposal {
            proposal: id.to_owned(),
            root: root.to_string_lossy().into_owned(),
            state: state.as_str().to_owned(),
        }
    }

    fn key(&self, number: u64) -> Key {
        let thing = |kind, a: &str, b: &str| Key::Thing(kind, a.to_owned(), b.to_owned());
        match self {
            Event::Job { job, .. } => thing(0, job, ""),
            Event::Progress { job, .. } => thing(1, job, ""),
            Event::Node { job, node, .. } => thing(2, job, node),
            Event::Stage { job, node, stage, .. } => thing(3, job, &format!("{node}\n{stage}")),
            Event::Test { job, id, .. } => thing(4, job, id),
            Event::Proposal { proposal, root, .. } => thing(5, root, proposal),
            Event::Files { .. }
            | Event::Log { .. }
            | Event::Missed { .. }
            | Event::Results { .. } => Key::Alone(number),
        }
    }
}

/// A test that another process ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForeignTest {
    pub id: String,
    /// `passed`, `failed` or `skipped`.
    pub outcome: String,
    /// When the tested texts were read, in milliseconds of Unix time.
    pub text_of: u64,
    /// What it failed with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The file in which it failed, relative to the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_path: Option<String>,
    /// The line there, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_line: Option<u32>,
}

/// Bus on which events are published and received. Clones share one bus.
#[derive(Clone, Default)]
pub struct EventBus(Arc<Mutex<Vec<Weak<Queue>>>>);

#[derive(Default)]
struct Queue {
    waiting: Mutex<QueueState>,
    rings: Notify,
}

#[derive(Default)]
struct QueueState {
    /// Keys by event number, in the order of the events.
    order: BTreeMap<u64, Key>,
    events: FxHashMap<Key, (u64, Event)>,
    number: u64,
    missed: u64,
}

/// A client's receiver. Costs nothing once dropped.
pub struct Listener(Arc<Queue>);

impl EventBus {
    /// Publishes an event to all listeners, without waiting.
    pub fn publish(&self, event: &Event) {
        let mut mailboxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        mailboxes.retain(|mailbox| {
            let Some(mailbox) = mailbox.upgrade() else { return false };
            mailbox.waiting.lock().unwrap_or_else(PoisonError::into_inner).put(event.clone());
            mailbox.rings.notify_one();
            true
        });
    }

    /// Returns a listener for all later events.
    pub fn listen(&self) -> Listener {
        let mailbox = Arc::new(Queue::default());
        let mut mailboxes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        mailboxes.push(Arc::downgrade(&mailbox));
        Listener(mailbox)
    }
}

impl Listener {
    /// Waits for the next event.
    pub async fn next(&self) -> Event {
        loop {
            let next = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
            match next {
                Some(event) => return event,
                None => self.0.rings.notified().await,
            }
        }
    }
}

impl QueueState {
    /// Adds an event. A newer state replaces an older one in content and order, so that the end of
    /// a job comes last.
    fn put(&mut self, event: Event) {
        self.number += 1;
        let key = event.key(self.number);
        if let Some((older, _)) = self.events.insert(key.clone(), (self.number, event)) {
            self.order.remove(&older);
        }
        self.order.insert(self.number, key);
        if self.order.len() > WAITING_AT_MOST
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.events.remove(&oldest);
            self.missed += 1;
        }
    }

    fn take(&mut self) -> Option<Event> {
        let missed = std::mem::take(&mut self.missed);
        if missed > 0 {
            return Some(Event::Missed { count: missed });
        }
        let (_, key) = self.order.pop_first()?;
        self.events.remove(&key).map(|(_, event)| event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: usize, status: &str) -> Event {
        let (node, status) = (id.to_string(), status.to_owned());
        Event::Node { job: "1".to_owned(), node, status, reason: None, subgraph: None }
    }

    fn log(text: &str) -> Event {
        Event::Log { job: None, level: Level::Info, message: text.to_owned() }
    }

    #[tokio::test]
    async fn who_reads_late_hears_the_latest_state_and_every_line() {
        let events = EventBus::default();
        let listener = events.listen();
        for event in [node(1, "pending"), log("a"), node(2, "pending"), node(1, "passed"), log("a")]
        {
            events.publish(&event);
        }
        let mut received = Vec::new();
        for _ in 0..4 {
            received.push(listener.next().await);
        }
        assert_eq!(received, [log("a"), node(2, "pending"), node(1, "passed"), log("a")]);
    }

    #[tokio::test]
    async fn a_client_that_never_reads_costs_a_bounded_amount() {
        let events = EventBus::default();
        let listener = events.listen();
        (0..WAITING_AT_MOST + 7).for_each(|it| events.publish(&node(it, "passed")));
        assert_eq!(listener.next().await, Event::Missed { count: 7 });
        assert_eq!(listener.next().await, node(7, "passed"));
        let waiting = listener.0.waiting.lock().expect("nobody broke it");
        assert_eq!((waiting.order.len(), waiting.events.len()), (9_999, 9_999));
    }

    #[tokio::test]
    async fn who_is_gone_is_forgotten() {
        let events = EventBus::default();
        drop(events.listen());
        events.publish(&log("a"));
        assert!(events.0.lock().expect("nobody broke it").is_empty());
    }
}
