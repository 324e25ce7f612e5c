//! `cargo xtask bench sidecar`: waiting times of an editor, and costs of the server. Figures are
//! shown with the load and as ratios within one run; no figure decides over success.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use lsp::{Client, Encoding, Failure};
use serde_json::Value;

use crate::symbols::corpus::{self, Corpus};
use crate::symbols::figures::percentile;
use crate::symbols::server::{self, Server};
use crate::{Outcome, symbols};

mod events;
mod keystrokes;
mod load;
mod memory;
mod queries;
mod slow;
mod start;

/// Timeout of one response.
const PATIENCE: Duration = Duration::from_secs(60);
const ENCODINGS: [Encoding; 2] = [Encoding::Utf8, Encoding::Utf16];

#[derive(Args)]
pub(crate) struct SidecarArgs {
    /// Only these parts.
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// This binary instead of a release build of the working tree.
    #[arg(long, value_name = "FILE")]
    trellis: Option<PathBuf>,
    /// Folder with Python files to work in, which is copied first; Django's source distribution if none is given.
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// From the start of the process to the answer to `initialize`.
    Start,
    /// Code lenses after each keystroke in a file of 5,000 lines.
    Keystrokes,
    /// Symbol queries while a generation runs, and while it does not.
    Queries,
    /// Resident memory.
    Memory,
    /// Events for a client that does not read them.
    Events,
    /// A graph of 10,000 nodes, grown while symbols are asked for; many minutes, left out unless it is named.
    Grow,
    /// A workspace of 100,000 files; left out unless it is named.
    Index,
    /// Eight hours of editing; left out unless it is named.
    Edit,
}

impl Part {
    fn is_long(self) -> bool {
        matches!(self, Part::Grow | Part::Index | Part::Edit)
    }
}

impl SidecarArgs {
    /// Returns the default arguments.
    pub(crate) fn usual() -> SidecarArgs {
        SidecarArgs { only: Vec::new(), trellis: None, folder: None }
    }
}

pub(crate) fn run(args: &SidecarArgs) -> Outcome {
    let parts = Part::value_variants().iter().copied();
    let parts: Vec<Part> = parts
        .filter(|it| args.only.contains(it) || (args.only.is_empty() && !it.is_long()))
        .collect();
    let names = ["trellis", "ty"].map(str::to_owned);
    // Servers start in other folders, so the path must be absolute.
    let binary = args
        .trellis
        .as_ref()
        .map(|it| it.canonicalize().map_err(|e| format!("{}: {e}", it.display())));
    let servers = server::columns(&names, binary.transpose()?.as_deref());
    let [ours, _, ty] = servers.as_slice() else { return Err("a server is missing".to_owned()) };
    for server in [ours, ty] {
        println!("{}: {}", server.name, server.version.clone()?);
    }
    let needs_corpus = |part: &Part| matches!(part, Part::Start | Part::Queries | Part::Memory);
    let corpus = match parts.iter().any(needs_corpus) {
        true => Some(corpus::prepare(args.folder.as_deref())?),
        false => None,
    };
    let corpus = || corpus.as_ref().ok_or("no folder was prepared".to_owned());
    for part in parts {
        println!("\nload average: {}", symbols::load());
        let outcome = match part {
            Part::Start => start::run(ours, ty, corpus()?),
            Part::Keystrokes => keystrokes::run(ours),
            Part::Queries => queries::run(ours, corpus()?),
            Part::Memory => memory::run(ours, ty, corpus()?),
            Part::Events => events::run(ours),
            Part::Grow => load::grow(ours),
            Part::Index => load::index(ours),
            Part::Edit => load::edit(ours),
        };
        outcome.map_err(|failure| failure.to_string())?;
    }
    println!("\nload average: {}", symbols::load());
    Ok(())
}

/// Result of a part.
type Measured = Result<(), Failed>;

/// Reason why a part could not be measured.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Server(#[from] Failure),
    #[error("a file of the measurement: {0}")]
    File(#[from] std::io::Error),
    #[error("{0}")]
    Other(String),
}

/// Starts and initializes a server.
fn connect(server: &Server, root: &Path) -> Result<Client, Failure> {
    let mut client = Client::start(server.command(), root)?;
    client.initialize(&ENCODINGS, &Value::Null, PATIENCE)?;
    Ok(client)
}

/// Times of one kind, in milliseconds.
#[derive(Clone, Default)]
struct Times(Vec<f64>);

impl Times {
    fn add(&mut self, time: Duration) {
        self.0.push(time.as_secs_f64() * 1000.0);
    }

    /// Returns the percentile (nearest rank); NaN without measurements.
    fn percentile(&self, percent: usize) -> f64 {
        percentile(&mut self.0.clone(), percent).unwrap_or(f64::NAN)
    }

    fn median(&self) -> f64 {
        self.percentile(50)
    }

    fn shown(&self) -> String {
        let [median, tail, most] = [50, 95, 100].map(|it| self.percentile(it));
        let count = self.0.len();
        format!(
            "median {median:.2} ms, 95th percentile {tail:.2} ms, longest {most:.2} ms ({count})"
        )
    }
}

/// Returns symbol queries for names spread over the folder.
fn names(corpus: &Corpus, count: usize) -> Result<Vec<String>, Failed> {
    let questions = symbols::questions::Questions::of(corpus, 1, count).map_err(Failed::Other)?;
    Ok(questions.unique.into_iter().map(|it| it.name).collect())
}
