//! `.trellis/journal.jsonl`: every decision, call, run, write and approval. Lines are appended and
//! never changed.
//!
//! A run resumes from the journal; the checkpoint is a view of it for people and other tools. A
//! line cut short by a crash is the last one, and is dropped when the journal is opened again. Each
//! line carries a hash of itself and all lines above: see [`crate::hash_chain`] for the hash, and
//! [`crate::append_log`] for concurrent appends.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::append_log::AppendLog;
use crate::committed_nodes::CommittedNodes;
use crate::cost::Cost;
use crate::disk;
use crate::format;
use crate::origin::Origin;
use crate::replay::ReplayedState;

/// Version of the line format. It grows with a change that the version before must not ignore; every
/// version writes it at the beginning of each line.
pub(crate) const VERSION: u32 = 1;

/// Accepted text of a node. A resumed run rebuilds the repository from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    pub node: String,
    /// Hash of the node's specification in the plan at that time.
    pub specification: String,
    pub tests: String,
    pub implementation: String,
    pub tests_passed: usize,
    pub fixes: u32,
    /// Tests that failed once and then passed unchanged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<String>,
    pub cost: Cost,
}

/// Result of the integration tests of a subgraph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntegrationResult {
    pub subgraph: String,
    /// Hash of the subgraph's specification in the plan at that time.
    pub specification: String,
    /// Hash of the tested flows' nodes; empty in old journals.
    #[serde(default)]
    pub flows: String,
    /// `passed`, `failed`, or the reason why there are no tests.
    pub outcome: String,
    pub passed: usize,
    pub failed: usize,
    pub path: String,
    /// Number of test functions written; 0 in old journals.
    #[serde(default)]
    pub functions: usize,
    /// Text of the tests that passed; empty if too few passed.
    pub text: String,
    /// Failed tests with the reason and the likely place of the bug.
    pub left_out: Vec<String>,
    pub cost: Cost,
}

/// Acceptance tests of a feature of the specification, written before any node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptanceTests {
    pub feature: String,
    pub path: String,
    /// Hash of the feature's sentences and of the signatures that serve them.
    pub specification: String,
    /// Text of the tests; empty if there are none.
    pub text: String,
    /// Number of test functions that the model wrote; 0 in old journals.
    #[serde(default)]
    pub functions: usize,
    /// The reason why there are no tests; empty if there are.
    pub reason: String,
    pub cost: Cost,
}

/// Details of a model request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallDetails {
    /// The requested model, as `provider:name`.
    pub asked: String,
    /// Reason for the choice of model.
    pub why: String,
    /// The workflow that sent the request, in old journals; now each line has it.
    #[serde(skip_serializing_if = "Option::is_none", rename = "door")]
    pub old_workflow: Option<String>,
    /// Version of the stage's prompt.
    pub prompt_version: u32,
    /// True if the model was given tools, which also changes the prompt.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tools: bool,
    /// Input tokens that the provider had in its cache.
    pub cached_tokens: u64,
    /// Billionths of a US dollar; absent if no price is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nano_usd: Option<u64>,
    /// True if tokens were estimated from size, since the provider reported none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_estimate: bool,
    /// Reply of a live model, kept so that a stopped run does not pay for it twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<RecordedReply>,
}

/// The reusable part of a reply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedReply {
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<RecordedToolCall>,
}

/// A tool call requested by the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedToolCall {
    pub id: String,
    pub name: String,
    pub arguments: serde_json::Map<String, serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// The first failure of a test run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordedFailure {
    pub exception: String,
    pub message: String,
    pub path: String,
    pub line: u32,
    /// Both sides of the comparison that failed, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<RecordedComparison>,
}

/// Operands of a comparison, as `repr` shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordedComparison {
    pub operator: String,
    pub left: String,
    pub right: String,
}

/// A journal event.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    Started {
        graph: String,
        dialect: String,
        model: String,
        jobs: usize,
        version: String,
        /// Options of the start, without the folder; null in old journals.
        #[serde(default)]
        options: serde_json::Value,
    },
    /// The order of all nodes of the run, with the rule behind it.
    Ordered {
        rule: String,
        nodes: Vec<String>,
    },
    State {
        node: String,
        status: String,
        reason: String,
        /// Kind of problem that kept the node from passing; absent in old journals.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<String>,
    },
    /// Work without a plan reached a stage, or made an observation there.
    Stage {
        /// Name of the work, such as `issue-42`.
        work: String,
        stage: String,
        reason: String,
        /// Duration, if the stage ran tests.
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
    /// A tool call by a model.
    ToolCall {
        node: String,
        name: String,
        arguments: String,
        /// Size of the result.
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
        /// Output of the tests without an implementation (T2).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<String>,
        /// The implementation, if the run failed and is its first; absent in old journals.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        implementation: Option<String>,
        /// The first failure; absent in old journals.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Box<RecordedFailure>>,
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
    /// Tests of everything that depends on a changed node, run before the decision about the
    /// change.
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
    /// Last text of a node that did not pass. No other place keeps this text.
    TakenBack {
        node: String,
        tests: String,
        implementation: String,
    },
    /// Intent to write a file, journaled before the file is replaced.
    Writing {
        path: String,
        hash: String,
    },
    /// A file whose text a person edited and Trellis adopted.
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
        #[serde(flatten)]
        nodes: CommittedNodes,
    },
    Approval {
        node: String,
        question: String,
        answer: String,
    },
    /// Discards everything accepted so far; its text stays in the lines above.
    Reset {
        reason: String,
    },
    /// A rollback. `edits` lists files edited by people whose text the restored state has too.
    RolledBack {
        to: String,
        kept: Vec<String>,
        edits: Vec<String>,
    },
    /// Integration tests of a subgraph; `text` holds the tests that were kept, in the file at
    /// `path`.
    Integration(IntegrationResult),
    Acceptance(AcceptanceTests),
    /// A run of all acceptance tests on the files with the hash `tree`. By the tests' path, `passed`
    /// has the hashes of their texts, and `failed` the reasons.
    AcceptanceRun {
        tree: String,
        #[serde(default)]
        passed: BTreeMap<String, String>,
        failed: BTreeMap<String, String>,
    },
    /// A node that passed alone and fails in the whole suite; it is implemented again.
    Broken {
        node: String,
        reason: String,
    },
    /// Accepted nodes with a dependency that changed in the plan. They count again once their tests
    /// pass.
    Unproven {
        nodes: Vec<String>,
    },
    /// An accepted node whose text does not count any more; it is generated again.
    Outdated {
        node: String,
        reason: String,
    },
    Suite {
        tree: String,
        outcome: String,
        passed: usize,
        failed: usize,
    },
    /// Tests of an existing function were written to a file.
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

/// A journal line without its chain.
#[derive(Serialize, Deserialize)]
pub(crate) struct Line {
    #[serde(deserialize_with = "format::not_newer::<_, VERSION>")]
    v: u32,
    pub(crate) at: String,
    /// Name of the workflow that wrote the line; absent in old journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) workflow: Option<String>,
    /// Id of the run that wrote the line; absent in old journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) run_id: Option<String>,
    pub(crate) event: Event,
}

/// Returns a journal's bytes as text. A damaged line, which is not valid UTF-8, becomes a line that
/// cannot be read: replacing its bytes could make it an event that nobody wrote.
pub fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let line = |line: &[u8]| match str::from_utf8(line) {
        Ok(text) => text.to_owned(),
        Err(_) => format!("\u{fffd}{}", String::from_utf8_lossy(line)),
    };
    bytes.split_inclusive(|byte| *byte == b'\n').map(line).collect::<String>().into()
}

/// Returns the events of a journal's text; lines that cannot be read are left out.
pub fn events(text: &str) -> impl Iterator<Item = Event> {
    lines_of(text).map(|it| it.event)
}

/// Returns the lines of a journal's text; those that cannot be read are left out.
pub(crate) fn lines_of(text: &str) -> impl Iterator<Item = Line> {
    text.lines().filter_map(|it| serde_json::from_str(it).ok())
}

/// A function that is called with each event after it was written. It must not wait.
pub type Subscriber = Box<dyn Fn(&Event) + Send + Sync>;

/// The open journal.
pub struct Journal {
    file: Mutex<AppendLog>,
    origin: Origin,
    subscriber: Option<Subscriber>,
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Journal {
    pub fn path(root: &Path) -> PathBuf {
        root.join(".trellis/journal.jsonl")
    }

    /// Opens the journal for appending, and replays its lines.
    pub fn open(root: &Path, origin: Origin) -> io::Result<(Journal, ReplayedState)> {
        let path = Journal::path(root);
        let journal = Journal::at(&path, origin)?;
        let bytes = trellis_os::files::read(&path)?;
        // Another process may be appending at this moment.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        Ok((journal, ReplayedState::read(&text_of(&bytes[..whole]))))
    }

    /// Refuses a journal that a newer Trellis wrote; opening it does so too.
    ///
    /// # Errors
    ///
    /// The last line has a newer format (a [`format::NewerFormat`]), or the file cannot be read.
    pub fn refuse_newer(root: &Path) -> io::Result<()> {
        AppendLog::refuse_newer(&Journal::path(root))
    }

    /// Opens the journal for a few lines, besides the process that owns the folder.
    pub fn join(root: &Path, origin: Origin) -> io::Result<Journal> {
        let path = Journal::path(root);
        disk::ensure(root)?;
        Journal::at(&path, origin)
    }

    fn at(path: &Path, origin: Origin) -> io::Result<Journal> {
        Ok(Journal { file: Mutex::new(AppendLog::open(path)?), origin, subscriber: None })
    }

    /// Has `subscriber` called with every event from now on.
    pub fn subscribe(&mut self, subscriber: Subscriber) {
        self.subscriber = Some(subscriber);
    }

    /// Appends a line without waiting for the disk; a crash may lose it.
    pub fn log(&self, event: Event) -> io::Result<()> {
        self.append(&[event], false)
    }

    /// Appends a line and waits until it is on the disk.
    pub fn commit(&self, event: Event) -> io::Result<()> {
        self.append(&[event], true)
    }

    /// Appends lines and waits until they are on the disk.
    pub fn commit_all(&self, events: &[Event]) -> io::Result<()> {
        self.append(events, true)
    }

    fn append(&self, events: &[Event], sync: bool) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.append(sync, || lines(events, &self.origin))?;
        drop(file);
        if let Some(subscriber) = &self.subscriber {
            events.iter().for_each(subscriber);
        }
        Ok(())
    }
}

/// Serializes events as lines with the current time, without line ends.
fn lines(events: &[Event], origin: &Origin) -> io::Result<Vec<Vec<u8>>> {
    let at = Timestamp::now().to_string();
    let (workflow, run_id) = (origin.workflow.as_str().to_owned(), origin.run_id.to_string());
    let line = |event: &Event| {
        let line = Line {
            v: VERSION,
            at: at.clone(),
            workflow: Some(workflow.clone()),
            run_id: Some(run_id.clone()),
            event: event.clone(),
        };
        Ok(serde_json::to_vec(&line)?)
    };
    events.iter().map(line).collect()
}
