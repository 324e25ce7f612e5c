//! Reads the journal: events with node, reason and cost, and the result of the chain's
//! verification.

use std::collections::VecDeque;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use trellis_store::describe::{self, Price};
use trellis_store::hash_chain::{Break, Verification};
use trellis_store::journal::{Event, Journal};
use trellis_store::reader::Reader;
use trellis_workflows::fault::Fault;

macro_rules! kinds {
    ($($name:ident)*) => {
        /// The kind of event, as in the journal.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        #[value(rename_all = "snake_case")]
        pub enum EventKind { $($name),* }

        impl EventKind {
            pub fn of(event: &Event) -> EventKind {
                match event { $(Event::$name { .. } => EventKind::$name),* }
            }
        }
    };
}

kinds! {
    Started Ordered State Stage ModelCall ToolCall TestRun Localization Regression Note Accepted TakenBack Writing Kept Git
    Committed Approval Reset RolledBack Integration Acceptance AcceptanceRun Broken Unproven Outdated Suite TestsWritten Stopped Finished
}

/// Default number of events in a result.
const SOME: usize = 1000;
/// Maximum number of events in a result.
const MOST: usize = 100_000;
/// Maximum characters of a text; the journal has the full text.
const LONGEST: usize = 2000;
/// Maximum number of unreadable lines listed.
const UNREADABLE: usize = 100;

/// Reads the journal of a run or a project, the oldest event first: what happened, to which node, why, and at what
/// cost; also checks its hash chain.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LogParams {
    /// The output folder of a run, or a project's folder; default: the first folder of the workspace.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// Only events of this node, subgraph, function or test.
    #[serde(default)]
    pub node: Option<String>,
    /// Only events of these kinds; all kinds if empty.
    #[serde(default)]
    pub kinds: Vec<EventKind>,
    /// Only the last events of those selected: 1000 by default, at most 100000.
    #[serde(default)]
    pub last: Option<NonZeroUsize>,
}

/// The contents of a journal.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogResult {
    /// The oldest first.
    pub entries: Vec<LogEntry>,
    pub journal: LogFile,
    pub verify: LogVerify,
}

/// One event.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogEntry {
    /// Its line in the journal, from 1.
    pub line: usize,
    /// When, in UTC (RFC 3339).
    pub at: String,
    pub kind: EventKind,
    /// The id of a node, subgraph, function or test; null for the run as a whole.
    pub node: Option<String>,
    /// What happened, at most 2000 characters.
    pub what: String,
    /// Why, or further details, at most 2000 characters.
    pub reason: Option<String>,
    /// The cost of this step alone; `what` contains sums over many steps.
    pub cost: Option<LogCost>,
}

/// The cost of a step; unknown values are null.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogCost {
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    /// US dollars.
    pub usd: Option<f64>,
    pub milliseconds: Option<u64>,
}

/// The file that was read.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogFile {
    pub path: PathBuf,
    /// The number of complete lines.
    pub lines: usize,
    /// The number of selected events before those returned.
    pub left_out: usize,
    /// Lines that are not events, whatever you selected; the first hundred.
    pub unreadable: Vec<UnreadableLine>,
    /// The total number of such lines.
    pub unreadable_count: usize,
    /// A crash cut the last line short; the next line overwrites it.
    pub is_torn: bool,
}

/// A line that is not an event.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnreadableLine {
    /// From 1.
    pub line: usize,
    pub why: String,
}

/// The result of checking the hash chain. If lines were cut off at the end, only `head` shows it: it differs from the
/// one you noted elsewhere.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogVerify {
    /// Whether each line matches the line above.
    pub is_intact: bool,
    /// The first line with a chain, from 1; earlier versions wrote the lines above, which the chain covers as a
    /// whole.
    pub since: Option<usize>,
    /// The chain of the last line, which covers the whole file: 64 hexadecimal digits; null if the file is empty or
    /// changed.
    pub head: Option<String>,
    /// The first line that does not match.
    pub broken: Option<BrokenLine>,
}

/// A line that does not match the line above.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrokenLine {
    /// From 1.
    pub line: usize,
    pub why: String,
}

/// Filter for events.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub node: Option<String>,
    /// Kinds to include; empty for all.
    pub kinds: Vec<EventKind>,
    /// Number of events from the end; `None` for all matches.
    pub last: Option<NonZeroUsize>,
}

/// Reader of a journal: first the matching events, then a summary.
pub struct Log {
    path: PathBuf,
    lines: Reader,
    wanted: Wanted,
    /// The last matching events, once everything is read.
    kept: Option<VecDeque<LogEntry>>,
    left_out: usize,
    unreadable: Vec<UnreadableLine>,
    unreadable_count: usize,
}

/// Handles the method.
pub fn log(root: &Path, params: LogParams) -> Result<LogResult, Fault> {
    let last = params.last.map_or(SOME, NonZeroUsize::get);
    if last > MOST {
        return Err(Fault::input(format!(
            "`last` is {last}, but one answer has at most {MOST} events"
        ))
        .hint(
            "request fewer events, or those of one node or kind; `trellis log --json` \
                 prints all",
        ));
    }
    let last = NonZeroUsize::new(last);
    let mut log = Log::open(root, Wanted { node: params.node, kinds: params.kinds, last })?;
    let entries = log.by_ref().collect::<io::Result<_>>().map_err(|error| log.cannot(&error))?;
    let (journal, verify) = log.end();
    Ok(LogResult { entries, journal, verify })
}

impl Log {
    /// Opens the journal of a folder.
    pub fn open(root: &Path, wanted: Wanted) -> Result<Log, Fault> {
        let path = Journal::path(root);
        let lines = Reader::open(&path).map_err(|error| {
            Fault::input(trellis_os::wording::cannot_read(path.display(), &error)).hint(
                "give the output folder of `trellis generate`, or a project in which \
                     Trellis has worked",
            )
        })?;
        let (kept, unreadable) = (None, Vec::new());
        Ok(Log { path, lines, wanted, kept, left_out: 0, unreadable, unreadable_count: 0 })
    }

    /// Returns the fault of a read error.
    pub fn cannot(&self, error: &io::Error) -> Fault {
        Fault::internal(format!("cannot read {}: {error}", self.path.display()))
            .hint("check the disk for errors")
    }

    /// Returns the summary after all events were taken.
    pub fn end(&self) -> (LogFile, LogVerify) {
        let ended = self.lines.ended();
        let file = LogFile {
            path: self.path.clone(),
            lines: ended.lines,
            left_out: self.left_out,
            unreadable: self.unreadable.clone(),
            unreadable_count: self.unreadable_count,
            is_torn: ended.is_torn,
        };
        (file, ended.chain.into())
    }

    /// Returns the next matching event, in the order of the file.
    fn read(&mut self) -> io::Result<Option<LogEntry>> {
        while let Some(written) = self.lines.read_entry()? {
            match written.event {
                Ok((at, event)) if self.wanted.has(&event) => {
                    return Ok(Some(entry(written.number, at, &event)));
                }
                Ok(_) => {}
                Err(why) => {
                    self.unreadable_count += 1;
                    if self.unreadable.len() < UNREADABLE {
                        let why = shortened(why.to_string());
                        self.unreadable.push(UnreadableLine { line: written.number, why });
                    }
                }
            }
        }
        Ok(None)
    }

    /// Reads everything, and returns the last matching events.
    fn read_last(&mut self, last: usize) -> io::Result<VecDeque<LogEntry>> {
        let mut kept = VecDeque::new();
        while let Some(entry) = self.read()? {
            if kept.len() == last {
                kept.pop_front();
                self.left_out += 1;
            }
            kept.push_back(entry);
        }
        Ok(kept)
    }
}

impl Iterator for Log {
    type Item = io::Result<LogEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        let Some(last) = self.wanted.last else { return self.read().transpose() };
        if self.kept.is_none() {
            match self.read_last(last.get()) {
                Ok(kept) => self.kept = Some(kept),
                Err(error) => return Some(Err(error)),
            }
        }
        self.kept.as_mut()?.pop_front().map(Ok)
    }
}

impl Wanted {
    fn has(&self, event: &Event) -> bool {
        let is_of_kind = self.kinds.is_empty() || self.kinds.contains(&EventKind::of(event));
        is_of_kind && self.node.as_ref().is_none_or(|node| describe::concerns(event, node))
    }
}

fn entry(line: usize, at: String, event: &Event) -> LogEntry {
    LogEntry {
        line,
        at: shortened(at),
        kind: EventKind::of(event),
        node: describe::node(event).map(|it| shortened(it.to_owned())),
        what: shortened(describe::what(event)),
        reason: describe::reason(event).map(shortened),
        cost: describe::price(event).map(LogCost::from),
    }
}

impl From<Price> for LogCost {
    fn from(it: Price) -> LogCost {
        LogCost {
            input_tokens: it.input_tokens,
            output_tokens: it.output_tokens,
            usd: it.nano_usd.map(|nano| nano as f64 / 1e9),
            milliseconds: it.milliseconds,
        }
    }
}

impl From<Verification> for LogVerify {
    fn from(it: Verification) -> LogVerify {
        let broken = |(line, flaw)| BrokenLine { line, why: why(line, flaw, it.since) };
        let broken = it.broken.map(broken);
        LogVerify { is_intact: broken.is_none(), since: it.since, head: it.head, broken }
    }
}

/// Returns the reason of a chain break, as text after the line's number.
fn why(line: usize, flaw: Break, since: Option<usize>) -> String {
    let why = match flaw {
        Break::Differs if since == Some(line) => {
            "does not match the line above, and is the first with a hash chain: it or a line \
             above was changed, or lines were removed, inserted or moved there"
        }
        Break::Differs => {
            "does not match the line above: it was changed, or lines were removed, inserted or \
             moved there"
        }
        Break::Bare => {
            "has no hash chain: it was changed, or a program without chains, such as an earlier \
             version, wrote it"
        }
        Break::AllBare => {
            "has no hash chain, and neither has any other line: an earlier version wrote them, \
             or the chains were removed"
        }
    };
    why.to_owned()
}

fn shortened(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(at - text[..at].chars().next_back().map_or(0, char::len_utf8));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests;
