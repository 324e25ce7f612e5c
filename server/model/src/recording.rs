//! A model out of a file: `recorded:FILE` answers with what a JSON Lines file holds.
//!
//! A question finds the first of four keys that the file has: its node, stage and attempt; its node
//! and stage without an attempt; then the same two with `*` for the node. Lines with the same key
//! form a queue. Each asking node walks a queue on its own, so what a node hears does not depend on
//! what other nodes ask meanwhile.

mod line;
mod recorder;

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::ask::{Ask, Reply};
use crate::error::{ModelError, Outage, usable};
use crate::open_error::OpenError;
use crate::retry::Failure;
use line::{Fault, Line, Said};
pub(crate) use recorder::Recorder;

/// The stages a recording may name.
pub const STAGES: [&str; 14] = [
    "tests",
    "implementation",
    "fix",
    "diagnosis",
    "integration_tests",
    "write_tests",
    "repair",
    "report",
    "review",
    "scaffold",
    "task",
    "integration",
    "merge",
    "localize",
];

/// The node of a line that answers for any node.
const ANY_NODE: &str = "*";

/// The vote where none is recorded: the implementation is at fault.
const DEFAULT_VOTE: &str = "A";

/// Node, stage and attempt of a line.
type Key = (String, String, Option<u32>);

/// A recording, with how far each node has come in it.
pub(crate) struct Recording {
    name: String,
    replay_latency: bool,
    queues: HashMap<Key, Vec<Line>>,
    /// Lines already given, by queue and asking node.
    given: Mutex<HashMap<(Key, String), usize>>,
}

impl Recording {
    /// Reads the whole file; `name` is what the model is called.
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

    /// What the recording holds next for this question.
    pub(crate) async fn once(&self, ask: &Ask) -> Result<Reply, Failure> {
        let Some(line) = self.next(ask) else {
            return self.unrecorded(ask).map_err(Failure::Final);
        };
        if self.replay_latency && !line.latency.is_zero() {
            tokio::time::sleep(line.latency).await;
        }
        self.say(line)
    }

    fn next(&self, ask: &Ask) -> Option<&Line> {
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

    fn unrecorded(&self, ask: &Ask) -> Result<Reply, ModelError> {
        if ask.stage == "diagnosis" {
            return Ok(self.reply(DEFAULT_VOTE, None));
        }
        Err(ModelError::NoRecordedReply {
            node: ask.node.clone(),
            stage: ask.stage.clone(),
            attempt: ask.attempt,
        })
    }

    /// Whether any reply of it calls a tool.
    pub(crate) fn calls_tools(&self) -> bool {
        let calls = |it: &Line| matches!(&it.said, Said::Reply { tool_calls, .. } if !tool_calls.is_empty());
        self.queues.values().flatten().any(calls)
    }

    fn say(&self, line: &Line) -> Result<Reply, Failure> {
        match &line.said {
            Said::Reply { text, tool_calls } => {
                let reply =
                    Reply { tool_calls: tool_calls.clone(), ..self.reply(text, Some(line)) };
                usable(&self.name, reply).map_err(Failure::Final)
            }
            Said::Failed { fault, partial } => Err(self.failure(*fault, partial, line)),
        }
    }

    fn reply(&self, text: &str, line: Option<&Line>) -> Reply {
        Reply {
            text: text.to_owned(),
            tool_calls: Vec::new(),
            usage: line.and_then(|line| line.usage),
            model: line.and_then(|line| line.model.clone()).unwrap_or_else(|| self.name.clone()),
            latency: line.map_or(Duration::ZERO, |line| line.latency),
        }
    }

    fn failure(&self, fault: Fault, partial: &str, line: &Line) -> Failure {
        let model = self.name.clone();
        match fault {
            Fault::Status(status) if status == 429 || status >= 500 => {
                Outage::Status { status, message: String::new() }.into()
            }
            Fault::Status(status) => {
                Failure::Final(ModelError::Refused { model, status, message: String::new() })
            }
            Fault::Timeout => Outage::TimedOut { after: None }.into(),
            Fault::Unreachable => Outage::Connection { reason: String::new() }.into(),
            Fault::Truncated => Failure::Final(ModelError::Truncated {
                model,
                partial: partial.to_owned(),
                usage: line.usage,
            }),
            Fault::BadResponse => Failure::Final(ModelError::BadResponse {
                model,
                what: "recorded as such".to_owned(),
                usage: line.usage,
            }),
        }
    }
}

/// A file's bytes; what is no file may never end.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    fs::read(path)
}

/// The line that answers once a queue is used up: its last reply, or its last error where it has no
/// reply.
fn lasting(queue: &[Line]) -> Option<&Line> {
    queue.iter().rfind(|line| matches!(line.said, Said::Reply { .. })).or(queue.last())
}

/// The lines by key, or the number of the first bad line (from 1) and what is wrong with it.
fn read_lines(bytes: &[u8]) -> Result<HashMap<Key, Vec<Line>>, (usize, String)> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut queues: HashMap<Key, Vec<Line>> = HashMap::new();
    for (index, raw) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if raw.trim_ascii().is_empty() {
            continue;
        }
        let line = line::parse(raw).map_err(|what| (index + 1, what))?;
        queues.entry((line.node.clone(), line.stage.clone(), line.attempt)).or_default().push(line);
    }
    Ok(queues)
}
