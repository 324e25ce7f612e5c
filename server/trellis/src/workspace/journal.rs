//! `.trellis/journal.jsonl`: every decision, call, run, write and approval, appended and never changed.
//!
//! It is the truth a run resumes from; the checkpoint is a view of it for people and other tools. A line
//! cut short by a crash is the last one and is dropped when the journal is opened again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use cycle::Tool;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::workspace::disk;

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

/// What a node cost from its first test to its end. A resumed run counts the attempt that ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cost {
    pub(crate) runs: usize,
    pub(crate) model_calls: usize,
    /// Of each localization tool, in their order: tries and hits.
    #[serde(default)]
    pub(crate) tools: [[usize; 2]; Tool::ALL.len()],
    #[serde(default)]
    pub(crate) regressions: usize,
    #[serde(default)]
    pub(crate) regressions_passed: usize,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        self.runs += other.runs;
        self.model_calls += other.model_calls;
        let tallies = self.tools.iter_mut().flatten().zip(other.tools.iter().flatten());
        tallies.for_each(|(own, other)| *own += other);
        self.regressions += other.regressions;
        self.regressions_passed += other.regressions_passed;
    }
}

/// What integration tests of a subgraph came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Integrated {
    pub(crate) subgraph: String,
    /// Hash of what the plan said about the subgraph then.
    pub(crate) specification: String,
    /// `passed`, `failed`, or why there are none.
    pub(crate) outcome: String,
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) path: String,
    /// Tests that passed; empty where too few did.
    pub(crate) text: String,
    /// Failed tests with the reason, and where the bug may be.
    pub(crate) left_out: Vec<String>,
    pub(crate) cost: Cost,
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
    },
    TestRun {
        node: String,
        red: bool,
        outcome: String,
        passed: usize,
        failed: usize,
        milliseconds: u64,
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
    Integration(Integrated),
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

#[derive(Serialize, Deserialize)]
struct Line {
    v: u32,
    at: String,
    event: Event,
}

/// A subgraph that was committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Milestone {
    pub(crate) subgraph: String,
    /// Set when all of it passed.
    pub(crate) tag: Option<String>,
    /// Everything accepted then.
    pub(crate) nodes: Vec<String>,
}

/// What earlier runs left.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    pub(crate) accepted: BTreeMap<String, Accepted>,
    /// Hashes of everything ever written to a path.
    pub(crate) written: BTreeMap<String, BTreeSet<String>>,
    /// Files people took over, with the nodes whose text was in them.
    pub(crate) kept: BTreeMap<String, (String, Vec<String>)>,
    /// Subgraphs committed, in order.
    pub(crate) committed: Vec<Milestone>,
    /// Integration tests by subgraph.
    pub(crate) integrated: BTreeMap<String, Integrated>,
    /// The tree the whole suite last ran on, its outcome and counts.
    pub(crate) suite: Option<(String, String, usize, usize)>,
    /// Lines that could not be read, by number.
    pub(crate) unreadable: Vec<usize>,
    /// Whether the last run came to its end.
    pub(crate) finished: bool,
}

impl Past {
    /// Folds the lines of a journal.
    pub(crate) fn read(text: &str) -> Past {
        let mut past = Past::default();
        for (index, line) in text.lines().enumerate() {
            match serde_json::from_str::<Line>(line) {
                Ok(line) => past.take(line.event),
                Err(_) => past.unreadable.push(index + 1),
            }
        }
        past
    }

    fn take(&mut self, event: Event) {
        self.finished = match event {
            Event::Finished { .. } => true,
            // A run that only looks leaves these.
            Event::Started { .. }
            | Event::Ordered { .. }
            | Event::Note { .. }
            | Event::Git { .. } => self.finished,
            _ => false,
        };
        match event {
            Event::Accepted(accepted) => {
                self.accepted.insert(accepted.node.clone(), accepted);
            }
            Event::Writing { path, hash } => {
                self.written.entry(path).or_default().insert(hash);
            }
            Event::Kept { path, text, nodes } => {
                self.written.entry(path.clone()).or_default().insert(disk::hash(&text));
                self.kept.insert(path, (text, nodes));
            }
            Event::Committed { subgraph, tag, nodes } => {
                self.committed.push(Milestone { subgraph, tag, nodes });
            }
            Event::Integration(integrated) => {
                self.integrated.insert(integrated.subgraph.clone(), integrated);
            }
            Event::Reset { .. } => {
                self.integrated.clear();
                self.accepted.clear();
                self.kept.clear();
                self.committed.clear();
                self.suite = None;
            }
            Event::Broken { node, .. } => {
                self.accepted.remove(&node);
            }
            Event::RolledBack { kept, to, edits } => {
                self.accepted.retain(|node, _| kept.contains(node));
                self.kept.retain(|path, _| edits.contains(path));
                if let Some(at) =
                    self.committed.iter().rposition(|it| it.subgraph == to && it.tag.is_some())
                {
                    self.committed.truncate(at + 1);
                }
                self.suite = None;
            }
            Event::Suite { tree, outcome, passed, failed } => {
                self.suite = Some((tree, outcome, passed, failed));
            }
            _ => {}
        }
    }
}

/// The open journal.
#[derive(Debug)]
pub(crate) struct Journal {
    file: Mutex<File>,
}

impl Journal {
    pub(crate) fn path(root: &Path) -> PathBuf {
        root.join(".trellis/journal.jsonl")
    }

    /// Reads the past and opens the journal for more; a torn last line is cut off.
    pub(crate) fn open(root: &Path) -> io::Result<(Journal, Past)> {
        let path = Journal::path(root);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(e),
        };
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let past = Past::read(&String::from_utf8_lossy(&bytes[..whole]));
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        if whole < bytes.len() {
            file.set_len(whole as u64)?;
        }
        Ok((Journal { file: Mutex::new(file) }, past))
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

    /// One `write` a batch. What a full disk cut short is taken back, so that no later line joins it.
    fn append(&self, events: &[Event], sync: bool) -> io::Result<()> {
        let at = Timestamp::now().to_string();
        let mut bytes = Vec::new();
        for event in events {
            let line = Line { v: VERSION, at: at.clone(), event: event.clone() };
            serde_json::to_writer(&mut bytes, &line)?;
            bytes.push(b'\n');
        }
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let before = file.metadata()?.len();
        let written =
            file.write_all(&bytes).and_then(|()| if sync { file.sync_data() } else { Ok(()) });
        if written.is_err() {
            file.set_len(before)?;
        }
        written
    }
}
