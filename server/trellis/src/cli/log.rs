//! `trellis log`: shows the journal and verifies its hash chain.

use std::cell::RefCell;
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use serde::ser::{Error as _, SerializeSeq as _, SerializeStruct as _};
use serde::{Serialize, Serializer};

use crate::cli::test_output::plain;
use crate::output::Output;
use trellis_server::api::log::EventKind;
use trellis_server::api::log::{Log, LogCost, LogEntry, LogFile, LogVerify, Wanted};
use trellis_workflows::fault::{Exit, Fault};

/// Maximum characters shown of a reason.
const SHOWN: usize = 300;

/// Show the history of a project: what happened, why, at what cost.
///
/// Prints one line for each event: time, node, what happened, why, cost. Long texts are shortened.
#[derive(Args)]
pub(crate) struct LogArgs {
    /// Output folder of a run, or a project that Trellis worked in.
    #[arg(default_value = ".")]
    project: PathBuf,
    /// Only events of this node, subgraph, function or test.
    #[arg(long, value_name = "ID")]
    node: Option<String>,
    /// Only events of these kinds.
    #[arg(long = "kind", value_name = "KIND", num_args = 1.., value_delimiter = ',')]
    kinds: Vec<EventKind>,
    /// Only the last N of these events.
    #[arg(long, value_name = "N")]
    last: Option<NonZeroUsize>,
    /// Check the hash chain instead: was a line changed, removed, inserted or moved? Exits with 65 if so.
    #[arg(long, conflicts_with_all = ["node", "kinds", "last"])]
    verify: bool,
}

pub(crate) fn run(args: &LogArgs, output: &mut Output) -> Result<Exit, Fault> {
    let (node, kinds) = (args.node.clone(), args.kinds.clone());
    let log = Log::open(&args.project, Wanted { node, kinds, last: args.last })?;
    match (args.verify, output.is_json()) {
        (true, _) => verify(log, output),
        (false, true) => {
            output.json(&Printed(RefCell::new(log)))?;
            Ok(Exit::Done)
        }
        (false, false) => show(log, output),
    }
}

fn show(mut log: Log, output: &mut Output) -> Result<Exit, Fault> {
    let mut count = 0;
    let mut failed = None;
    output.stream(|out| {
        for entry in log.by_ref() {
            match entry {
                Ok(entry) => writeln!(out, "{}", line(&entry))?,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
            count += 1;
        }
        Ok(())
    })?;
    if let Some(error) = failed {
        return Err(log.cannot(&error));
    }
    let (journal, chain) = log.end();
    if count == 0 {
        output.note(format_args!("no event asked for in {} lines", journal.lines));
    }
    about(&journal, output);
    if let Some(broken) = &chain.broken {
        output.note(format_args!("warning: line {} {}", broken.line, broken.why));
    }
    Ok(Exit::Done)
}

/// Reports lines of the file that are not events.
fn about(journal: &LogFile, output: &Output) {
    for it in &journal.unreadable {
        output.note(format_args!("warning: line {}: {}", it.line, plain(&it.why)));
    }
    let more = journal.unreadable_count - journal.unreadable.len();
    if more > 0 {
        output.note(format_args!("warning: {more} more lines are not events"));
    }
    if journal.is_torn {
        output.note(
            "note: the last line was cut short by a crash; the next one written takes its place",
        );
    }
}

fn verify(mut log: Log, output: &mut Output) -> Result<Exit, Fault> {
    if let Some(error) = log.find_map(Result::err) {
        return Err(log.cannot(&error));
    }
    let (journal, chain) = log.end();
    if output.is_json() {
        let exit = if chain.is_intact { Exit::Done } else { Exit::BadInput };
        output.json(&Found { entries: [], journal, verify: chain })?;
        return Ok(exit);
    }
    about(&journal, output);
    if let Some(broken) = &chain.broken {
        let place = journal.path.display();
        let hint = match chain.since {
            Some(_) => "compare the journal with a copy, if there is one",
            None => {
                "earlier versions kept no chain; it begins with the next line that Trellis writes"
            }
        };
        return Err(
            Fault::input(format!("line {} of {place} {}", broken.line, broken.why)).hint(hint)
        );
    }
    output.text(intact(&journal, &chain))?;
    Ok(Exit::Done)
}

fn intact(journal: &LogFile, chain: &LogVerify) -> String {
    let head = chain.head.as_ref().map_or("of no line".to_owned(), Clone::clone);
    let mut out = format!("{} lines, chain intact, head {head}\n", journal.lines);
    if let Some(since) = chain.since.filter(|it| *it > 1) {
        let above = since - 1;
        out += &format!(
            "the chain begins at line {since}; lines above it ({above}) carry none, and it covers them as a whole\n"
        );
    }
    out + "lines cut off at the end show only in another head: note it elsewhere to find that out"
}

/// Returns an event on one line.
fn line(it: &LogEntry) -> String {
    let at = it.at.parse::<jiff::Timestamp>();
    // An invalid time is shown as it is.
    let at = at.map_or_else(|_| it.at.clone(), |at| at.strftime("%FT%TZ").to_string());
    let node = it.node.as_deref().unwrap_or("-");
    let mut out = format!("{at}  {node:<16} {:<13} {}", name(it.kind), one_line(&it.what));
    it.reason.iter().for_each(|it| out += &format!(": {}", one_line(it)));
    let cost = it.cost.map(cost).unwrap_or_default();
    if !cost.is_empty() {
        out += &format!(" ({})", cost.join(", "));
    }
    plain(&out)
}

fn name(kind: EventKind) -> String {
    let value = clap::ValueEnum::to_possible_value(&kind);
    value.map(|it| it.get_name().to_owned()).unwrap_or_default()
}

fn cost(it: LogCost) -> Vec<String> {
    let tokens = match (it.input_tokens, it.output_tokens) {
        (None, None) => None,
        (input, output) => {
            let known = |it: Option<u64>| it.map_or("?".to_owned(), |it| it.to_string());
            Some(format!("{} + {} tokens", known(input), known(output)))
        }
    };
    let usd = it.usd.map(|it| format!("${it:.6}"));
    let time = it.milliseconds.map(|it| format!("{it} ms"));
    [tokens, usd, time].into_iter().flatten().collect()
}

/// Joins a text's words on one line, cut to [`SHOWN`] characters.
fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// The method's result without events.
#[derive(Serialize)]
struct Found {
    entries: [LogEntry; 0],
    journal: LogFile,
    verify: LogVerify,
}

/// The method's result, read while it is printed: a long journal need not fit into memory.
struct Printed(RefCell<Log>);

impl Serialize for Printed {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut all = to.serialize_struct("LogResult", 3)?;
        all.serialize_field("entries", &Entries(&self.0))?;
        let (journal, verify) = self.0.borrow().end();
        all.serialize_field("journal", &journal)?;
        all.serialize_field("verify", &verify)?;
        all.end()
    }
}

struct Entries<'l>(&'l RefCell<Log>);

impl Serialize for Entries<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut all = to.serialize_seq(None)?;
        for entry in self.0.borrow_mut().by_ref() {
            let entry = entry.map_err(|error| S::Error::custom(format!("reading on: {error}")))?;
            all.serialize_element(&entry)?;
        }
        all.end()
    }
}
