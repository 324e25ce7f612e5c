//! `.trellis/journal.jsonl`: every decision, call, run, write and approval, appended and never changed.
//!
//! It is the truth a run resumes from; the checkpoint is a view of it for people and other tools. A line
//! cut short by a crash is the last one and is dropped when the journal is opened again. Each line carries a hash of
//! itself and all above it: `chain` says how it is made, `appended` how several processes append at once.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::workspace::append_log::AppendLog;
use crate::workspace::cost::Cost;
use crate::workspace::disk;
use crate::workspace::replay::ReplayedState;

/// Version of the lines' shape.
const VERSION: u32 = 1;

/// A node's accepted text: what resume needs to put the repository together again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Accepted {
    pub(crate) node: String,
    /// Hash of what the plan said about the node then.
    pub(crate) specification: String,
    pub(crate) tests: String,
    pub(crate) implementation: String,
    pub(crate) tests_passed: usize,
    pub(crate) fixes: u32,
    /// Tests that failed once and passed unchanged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) flaky: Vec<String>,
    pub(crate) cost: Cost,
}

/// What integration tests of a subgraph came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IntegrationResult {
    pub(crate) subgraph: String,
    /// Hash of what the plan said about the subgraph then.
    pub(crate) specification: String,
    /// `passed`, `failed`, or why there are none.
    pub(crate) outcome: String,
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) path: String,
    /// Test functions that were written; 0 in journals of before.
    #[serde(default)]
    pub(crate) functions: usize,
    /// Tests that passed; empty where too few did.
    pub(crate) text: String,
    /// Failed tests with the reason, and where the bug may be.
    pub(crate) left_out: Vec<String>,
    pub(crate) cost: Cost,
}

/// More about a question to a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CallDetails {
    /// The model that was asked for, as `provider:name`.
    pub(crate) asked: String,
    /// Why this one.
    pub(crate) why: String,
    /// Who asks, where it is no node of a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "door")]
    pub(crate) workflow: Option<String>,
    /// Version of the stage's prompt.
    pub(crate) prompt_version: u32,
    /// The model was given tools; then the prompt is another, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) tools: bool,
    /// Of the input, tokens the provider had in its cache.
    pub(crate) cached_tokens: u64,
    /// Billionths of a US dollar; none where no price is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) nano_usd: Option<u64>,
    /// Tokens are counted by size, since the provider did not say.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_estimate: bool,
    /// What a live model said: a run that is stopped does not pay for it twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reply: Option<RecordedReply>,
}

/// A reply, as far as it can be used again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecordedReply {
    pub(crate) text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) calls: Vec<RecordedToolCall>,
}

/// A tool the model wanted called.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecordedToolCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: serde_json::Map<String, serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) signature: Option<String>,
}

/// One thing that happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Event {
    Started {
        graph: String,
        dialect: String,
        model: String,
        jobs: usize,
        version: String,
        /// How it was asked for, without the folder; null in journals of before.
        #[serde(default)]
        options: serde_json::Value,
    },
    /// The order of the whole run, with the rule that made it.
    Ordered {
        rule: String,
        nodes: Vec<String>,
    },
    State {
        node: String,
        status: String,
        reason: String,
        /// What kind of thing kept it from passing; none in journals of before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<String>,
    },
    /// Work without a plan came to a stage, or to what was seen there.
    Stage {
        /// Such as `issue-42`.
        work: String,
        stage: String,
        reason: String,
        /// What that took, where it was a run of tests.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        milliseconds: Option<u64>,
    },
    ModelCall {
        node: String,
        stage: String,
        attempt: u32,
        prompt: String,
        model: String,
        milliseconds: u64,
        input_tokens: Option<u64>,
        output_tokens: Option<u64>,
        error: Option<String>,
        #[serde(default)]
        details: Box<CallDetails>,
    },
    /// A tool that a model called.
    ToolCall {
        node: String,
        name: String,
        arguments: String,
        /// Of the result.
        bytes: usize,
        is_error: bool,
        microseconds: u64,
    },
    TestRun {
        node: String,
        red: bool,
        outcome: String,
        passed: usize,
        failed: usize,
        milliseconds: u64,
        /// The first test that failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failing: Option<String>,
        /// How the tests failed without an implementation (T2).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<String>,
    },
    Localization {
        node: String,
        tool: String,
        query: String,
        found: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        #[serde(default)]
        microseconds: u64,
    },
    /// Tests of everything that builds on a changed node, run before the change was accepted or not.
    Regression {
        node: String,
        modified: Vec<String>,
        rerun: Vec<String>,
        outcome: String,
        passed: usize,
        failed: usize,
    },
    Note {
        node: String,
        what: String,
        text: String,
    },
    Accepted(Accepted),
    /// The last text of a node that did not pass; it is nowhere else.
    TakenBack {
        node: String,
        tests: String,
        implementation: String,
    },
    /// Written before the file is put in place.
    Writing {
        path: String,
        hash: String,
    },
    /// A file whose text a person took over.
    Kept {
        path: String,
        text: String,
        nodes: Vec<String>,
    },
    Git {
        arguments: Vec<String>,
        outcome: String,
    },
    Committed {
        subgraph: String,
        tag: Option<String>,
        nodes: Vec<String>,
    },
    Approval {
        node: String,
        question: String,
        answer: String,
    },
    /// Everything accepted before is void; its text stays in the lines above.
    Reset {
        reason: String,
    },
    /// `edits`: files people took over whose text the earlier state has too.
    RolledBack {
        to: String,
        kept: Vec<String>,
        edits: Vec<String>,
    },
    /// Integration tests of a subgraph; `text` holds those that were kept, in the file at `path`.
    Integration(IntegrationResult),
    /// A node that passed and fails in the whole suite; it is done again.
    Broken {
        node: String,
        reason: String,
    },
    Suite {
        tree: String,
        outcome: String,
        passed: usize,
        failed: usize,
    },
    /// Tests of a function that exists were put into a file.
    TestsWritten {
        function: String,
        path: String,
        hash: String,
        tests: Vec<String>,
        outcome: String,
    },
    Stopped {
        reason: String,
    },
    Finished {
        passed: usize,
        failed: usize,
        skipped: usize,
        seconds: u64,
    },
}

/// A line without its chain.
#[derive(Serialize, Deserialize)]
pub(super) struct Line {
    v: u32,
    pub(super) at: String,
    pub(super) event: Event,
}

/// Returns the events of a journal's text; lines that cannot be read are left out.
pub(crate) fn events(text: &str) -> impl Iterator<Item = Event> {
    text.lines().filter_map(|it| serde_json::from_str::<Line>(it).ok()).map(|it| it.event)
}

/// A function that is called with each event after it was written. It must not wait.
pub(crate) type Subscriber = Box<dyn Fn(&Event) + Send + Sync>;

/// The open journal.
pub(crate) struct Journal {
    file: Mutex<AppendLog>,
    subscriber: Option<Subscriber>,
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Journal {
    pub(crate) fn path(root: &Path) -> PathBuf {
        root.join(".trellis/journal.jsonl")
    }

    /// Reads the past and opens the journal for more.
    pub(crate) fn open(root: &Path) -> io::Result<(Journal, ReplayedState)> {
        let path = Journal::path(root);
        let journal = Journal::at(&path)?;
        let bytes = trellis_sandbox::files::read(&path)?;
        // Somebody else may be at it in this moment.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        Ok((journal, ReplayedState::read(&String::from_utf8_lossy(&bytes[..whole]))))
    }

    /// Opens the journal for a line or two beside whoever owns the folder.
    pub(crate) fn join(root: &Path) -> io::Result<Journal> {
        let path = Journal::path(root);
        disk::ensure(root)?;
        Journal::at(&path)
    }

    fn at(path: &Path) -> io::Result<Journal> {
        Ok(Journal { file: Mutex::new(AppendLog::open(path)?), subscriber: None })
    }

    /// Has `subscriber` called with every event from now on.
    pub(crate) fn subscribe(&mut self, subscriber: Subscriber) {
        self.subscriber = Some(subscriber);
    }

    /// Appends a line; a crash may lose it.
    pub(crate) fn log(&self, event: Event) -> io::Result<()> {
        self.append(&[event], false)
    }

    /// Appends a line and waits until it is on the disk.
    pub(crate) fn commit(&self, event: Event) -> io::Result<()> {
        self.append(&[event], true)
    }

    /// Appends lines and waits until they are on the disk.
    pub(crate) fn commit_all(&self, events: &[Event]) -> io::Result<()> {
        self.append(events, true)
    }

    fn append(&self, events: &[Event], sync: bool) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.append(sync, || lines(events))?;
        drop(file);
        if let Some(subscriber) = &self.subscriber {
            events.iter().for_each(subscriber);
        }
        Ok(())
    }
}

/// Events as lines of this moment, without their ends.
fn lines(events: &[Event]) -> io::Result<Vec<Vec<u8>>> {
    let at = Timestamp::now().to_string();
    let line = |event: &Event| {
        let line = Line { v: VERSION, at: at.clone(), event: event.clone() };
        Ok(serde_json::to_vec(&line)?)
    };
    events.iter().map(line).collect()
}
