//! `cargo xtask bench symbols`: the same queries to Trellis and other servers, through the Language
//! Server Protocol, one server at a time, three rounds, medians.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use crate::Outcome;

mod agreement;
pub(crate) mod corpus;
pub(crate) mod figures;
mod floors;
mod generated;
mod keystrokes;
mod measure;
pub(crate) mod process;
pub(crate) mod questions;
mod scan;
pub(crate) mod server;
mod session;
mod table;

use agreement::Agreement;
use corpus::Corpus;
use floors::Floor;
use questions::Questions;
use server::Server;
use session::Round;

#[derive(Args)]
pub(crate) struct SymbolsArgs {
    /// Any folder with Python files, which is copied first; Django's source distribution if none is given.
    folder: Option<PathBuf>,
    /// A generated folder of this many files instead.
    #[arg(long, value_name = "N", conflicts_with = "folder")]
    files: Option<usize>,
    /// Only these servers: trellis, ty, pyrefly.
    #[arg(long, value_delimiter = ',', value_parser = server::names())]
    only: Vec<String>,
    /// This binary instead of a release build of the working tree.
    #[arg(long, value_name = "FILE")]
    trellis: Option<PathBuf>,
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    rounds: u8,
    /// Symbols for each kind of query.
    #[arg(long, default_value_t = 40, value_name = "N")]
    queries: usize,
    /// Definitions to look up, of each sort.
    #[arg(long, default_value_t = 300, value_name = "N")]
    names: usize,
    /// How long a server may take to be ready, in seconds.
    #[arg(long, default_value_t = 120, value_name = "SECONDS")]
    patience: u64,
    /// List the places in which the answers to references differ.
    #[arg(long)]
    show_differences: bool,
    /// Write the figures to a file as well.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl SymbolsArgs {
    /// Returns the default arguments.
    pub(crate) fn usual() -> SymbolsArgs {
        SymbolsArgs {
            folder: None,
            files: None,
            only: Vec::new(),
            trellis: None,
            rounds: 3,
            queries: 40,
            names: 300,
            patience: 120,
            show_differences: false,
            json: None,
        }
    }
}

pub(crate) fn run(args: &SymbolsArgs) -> Outcome {
    let generated = args.files.map(generated::folder).transpose()?;
    let corpus = corpus::prepare(generated.as_deref().or(args.folder.as_deref()))?;
    let questions = Questions::of(&corpus, args.queries, args.names)?;
    let servers = server::columns(&args.only, args.trellis.as_deref());
    let load = [load()];
    let floors = floors::floors(&corpus, &questions.first.name);
    introduce(&corpus, &questions, &servers);
    let rounds = rounds(args, &corpus, &questions, &servers);
    let load = [load[0].clone(), self::load()];
    let columns: Vec<table::Column> = (servers.iter().zip(&rounds))
        .map(|(server, rounds)| {
            let each: Vec<_> = rounds.iter().map(|it| it.figures.clone()).collect();
            (server.name.clone(), figures::medians(&each))
        })
        .collect();
    table::show(&columns);
    println!("floors:");
    floors.iter().for_each(|(name, seconds)| println!("  {name}: {seconds:.3} s"));
    notes(&servers, &rounds);
    let agreements = agreements(&servers, &rounds, &questions);
    println!("places of {} reference questions (information):", questions.references.len());
    agreements.iter().for_each(|it| it.show(&corpus.root, args.show_differences));
    println!("goals:");
    table::goals(&columns);
    println!("load average before: {}; after: {}", load[0], load[1]);
    if let Some(file) = &args.json {
        let ran = Ran { corpus, servers, rounds, columns, floors, agreements, load };
        let text = serde_json::to_string_pretty(&ran.json()).map_err(|it| it.to_string())?;
        fs::write(file, text + "\n").map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(())
}

pub(crate) fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}

fn introduce(corpus: &Corpus, questions: &Questions, servers: &[Server]) {
    println!(
        "{}: {} files, {:.1} MB, {} definitions; servers work in a copy, files cached by the system",
        corpus.source.display(),
        corpus.count,
        corpus.bytes as f64 / 1e6,
        questions.definitions
    );
    for server in servers.iter().filter(|it| it.cache != server::Cache::Kept) {
        let version = server.version.as_ref().map_or("cannot be measured", |it| it);
        println!("{}: {version}", server.name);
    }
}

/// Returns the rounds of each server; the servers take turns.
fn rounds(
    args: &SymbolsArgs,
    corpus: &Corpus,
    questions: &Questions,
    servers: &[Server],
) -> Vec<Vec<Round>> {
    let mut out: Vec<Vec<Round>> = servers.iter().map(|_| Vec::new()).collect();
    let patience = Duration::from_secs(args.patience);
    for number in 1..=args.rounds {
        for (server, rounds) in servers.iter().zip(&mut out) {
            eprintln!("round {number} of {}: {}", args.rounds, server.name);
            let thorough = number == 1;
            rounds.push(measure::round(server, &corpus.root, questions, patience, thorough));
        }
    }
    out
}

/// Prints problems, each text once per server.
fn notes(servers: &[Server], rounds: &[Vec<Round>]) {
    for (server, rounds) in servers.iter().zip(rounds) {
        let mut told: Vec<&String> = Vec::new();
        for note in rounds.iter().flat_map(|it| &it.notes) {
            if !told.contains(&note) {
                println!("{}: {note}", server.name);
                told.push(note);
            }
        }
    }
}

/// Compares every pair of servers that answered, by the first round.
fn agreements(servers: &[Server], rounds: &[Vec<Round>], questions: &Questions) -> Vec<Agreement> {
    let answers: Vec<_> = (servers.iter().zip(rounds))
        .filter_map(|(server, rounds)| Some((&*server.name, &*rounds.first()?.answers)))
        .filter(|it| !it.1.is_empty())
        .collect();
    let mut out = Vec::new();
    for (index, left) in answers.iter().enumerate() {
        out.extend(answers[index + 1..].iter().map(|it| agreement::compare(*left, *it, questions)));
    }
    out
}

/// All results of a run, for JSON.
struct Ran {
    corpus: Corpus,
    servers: Vec<Server>,
    rounds: Vec<Vec<Round>>,
    columns: Vec<table::Column>,
    floors: Vec<Floor>,
    agreements: Vec<Agreement>,
    load: [String; 2],
}

impl Ran {
    fn json(&self) -> Value {
        let agreements = self.agreements.iter().map(
            |it| json!({"left": it.left, "right": it.right, "same": it.same, "both": it.both}),
        );
        let floors = self.floors.iter().map(|it| json!({"what": it.0, "seconds": it.1}));
        json!({
            "folder": self.corpus.source,
            "files": self.corpus.count,
            "bytes": self.corpus.bytes,
            "loadBefore": self.load[0],
            "loadAfter": self.load[1],
            "floors": floors.collect::<Vec<_>>(),
            "servers": (0..self.servers.len()).map(|it| self.server(it)).collect::<Vec<_>>(),
            "ratios": table::ratios(&self.columns),
            "agreements": agreements.collect::<Vec<_>>(),
        })
    }

    fn server(&self, index: usize) -> Value {
        let rounds = &self.rounds[index];
        json!({
            "name": self.servers[index].name,
            "version": self.servers[index].version.as_ref().ok(),
            "medians": table::json(&self.columns[index].1),
            "rounds": rounds.iter().map(|it| table::json(&it.figures)).collect::<Vec<_>>(),
            "notes": rounds.iter().flat_map(|it| it.notes.clone()).collect::<Vec<_>>(),
        })
    }
}
