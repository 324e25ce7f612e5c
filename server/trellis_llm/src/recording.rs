//! Model that replays a file: `recorded:FILE` answers from a JSON Lines file.
//!
//! A request matches the first of four keys in the file: its node, stage and attempt; its node and
//! stage without an attempt; then the same two with `*` for the node. Lines with the same key form
//! a queue. Each requesting node has its own position in a queue, so the replies to a node do not
//! depend on requests of other nodes.

mod line;
mod line_error;
mod recorder;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::chat::{ChatReply, ChatRequest};
use crate::error::{ModelError, TransientError, usable};
use crate::open_error::OpenError;
use crate::retry::AttemptError;
use line::{Line, RecordedError, RecordedOutcome};
pub use line_error::LineError;
pub(crate) use recorder::Recorder;

/// The stages that a recording may contain.
pub const STAGES: [&str; 19] = [
    "tests",
    "implementation",
    "fix",
    "diagnosis",
    "integration_tests",
    "acceptance_tests",
    "write_tests",
    "repair",
    "report",
    "review",
    "scaffold",
    "task",
    "integration",
    "merge",
    "localize",
    "features",
    "layout",
    "interface",
    "describe",
];

/// Node of a line that answers requests of any node.
const ANY_NODE: &str = "*";

/// Reply to a `diagnosis` request without a recorded one: the implementation is at fault.
const DEFAULT_VOTE: &str = "A";

/// Node, stage and attempt of a line.
type RecordKey = (String, String, Option<u32>);

/// A recording, with the position of each node in its queues.
pub(crate) struct Recording {
    name: String,
    replay_latency: bool,
    queues: HashMap<RecordKey, Vec<Line>>,
    /// Number of lines already used, by queue and requesting node.
    given: Mutex<HashMap<(RecordKey, String), usize>>,
}

impl Recording {
    /// Reads the whole file; `name` is the name of the model.
    pub(crate) fn open(name: &str, path: &Path, replay_latency: bool) -> Result<Self, OpenError> {
        let bytes = read_file(path)
            .map_err(|reason| OpenError::Unreadable { path: path.to_owned(), reason })?;
        let queues = read_lines(&bytes).map_err(|(line, what)| OpenError::Malformed {
            path: path.to_owned(),
            line,
            what,
        })?;
        Ok(Self { name: name.to_owned(), replay_latency, queues, given: Mutex::default() })
    }

    /// Returns the next recorded outcome for this request.
    pub(crate) async fn once(&self, ask: &ChatRequest) -> Result<ChatReply, AttemptError> {
        let Some(line) = self.next(ask) else {
            return self.unrecorded(ask).map_err(AttemptError::Final);
        };
        if self.replay_latency && !line.latency.is_zero() {
            tokio::time::sleep(line.latency).await;
        }
        self.say(line)
    }

    fn next(&self, ask: &ChatRequest) -> Option<&Line> {
        let (key, queue) = [ask.node.as_str(), ANY_NODE]
            .into_iter()
            .flat_map(|node| {
                [Some(ask.attempt), None]
                    .map(|attempt| (node.to_owned(), ask.stage.clone(), attempt))
            })
            .find_map(|key| self.queues.get(&key).map(|queue| (key, queue)))?;
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let given = given.entry((key, ask.node.clone())).or_default();
        *given += 1;
        queue.get(*given - 1).or_else(|| lasting(queue))
    }

    fn unrecorded(&self, ask: &ChatRequest) -> Result<ChatReply, ModelError> {
        if ask.stage == "diagnosis" {
            return Ok(self.reply(DEFAULT_VOTE, None));
        }
        Err(ModelError::NoRecordedReply {
            node: ask.node.clone(),
            stage: ask.stage.clone(),
            attempt: ask.attempt,
        })
    }

    /// Returns whether any reply in the recording calls a tool.
    pub(crate) fn calls_tools(&self) -> bool {
        let calls = |it: &Line| matches!(&it.said, RecordedOutcome::Reply { tool_calls, .. } if !tool_calls.is_empty());
        self.queues.values().flatten().any(calls)
    }

    fn say(&self, line: &Line) -> Result<ChatReply, AttemptError> {
        match &line.said {
            RecordedOutcome::Reply { text, tool_calls } => {
                let reply =
                    ChatReply { tool_calls: tool_calls.clone(), ..self.reply(text, Some(line)) };
                usable(&self.name, reply).map_err(AttemptError::Final)
            }
            RecordedOutcome::Failed { fault, partial } => Err(self.failure(*fault, partial, line)),
        }
    }

    fn reply(&self, text: &str, line: Option<&Line>) -> ChatReply {
        ChatReply {
            text: text.to_owned(),
            tool_calls: Vec::new(),
            usage: line.and_then(|line| line.usage),
            model: line.and_then(|line| line.model.clone()).unwrap_or_else(|| self.name.clone()),
            latency: line.map_or(Duration::ZERO, |line| line.latency),
        }
    }

    fn failure(&self, fault: RecordedError, partial: &str, line: &Line) -> AttemptError {
        let model = self.name.clone();
        match fault {
            RecordedError::Status(status) if status == 429 || status >= 500 => {
                TransientError::Status { status, message: String::new() }.into()
            }
            RecordedError::Status(status) => {
                AttemptError::Final(ModelError::Refused { model, status, message: String::new() })
            }
            RecordedError::Timeout => TransientError::TimedOut { after: None }.into(),
            RecordedError::Unreachable => {
                TransientError::Connection { reason: String::new() }.into()
            }
            RecordedError::Truncated => AttemptError::Final(ModelError::Truncated {
                model,
                partial: partial.to_owned(),
                usage: line.usage,
            }),
            RecordedError::BadResponse => AttemptError::Final(ModelError::BadResponse {
                model,
                what: "recorded as such".to_owned(),
                usage: line.usage,
            }),
        }
    }
}

/// Reads a file; other kinds of paths, such as pipes, may never end.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    fs::read(path)
}

/// Returns the line that answers after the end of a queue: its last reply, or its last error if it
/// has no reply.
fn lasting(queue: &[Line]) -> Option<&Line> {
    queue.iter().rfind(|line| matches!(line.said, RecordedOutcome::Reply { .. })).or(queue.last())
}

/// Returns the lines by key, or the number of the first malformed line (from 1) and its fault.
fn read_lines(bytes: &[u8]) -> Result<HashMap<RecordKey, Vec<Line>>, (usize, LineError)> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut queues: HashMap<RecordKey, Vec<Line>> = HashMap::new();
    for (index, raw) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if raw.trim_ascii().is_empty() {
            continue;
        }
        let line = line::parse(raw).map_err(|what| (index + 1, what))?;
        queues.entry((line.node.clone(), line.stage.clone(), line.attempt)).or_default().push(line);
    }
    Ok(queues)
}
