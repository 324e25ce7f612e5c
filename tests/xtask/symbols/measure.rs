//! One round with one server: two processes, one after the other. The first is asked for references before anything
//! else; the second answers everything.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use lsp::{Client, Encoding, Failure, FileEvent, Place, Texts, Waiting};
use serde_json::{Value, json};

use super::figures::{Figures, Measure, milliseconds, percentile};
use super::process;
use super::questions::{self, Questions};
use super::scan::Definition;
use super::server::{Cache, Server};

/// How long one request may take.
const REQUEST: Duration = Duration::from_secs(30);
/// How long all requests of one kind may take; what is left over is not asked, and that is said.
const KIND: Duration = Duration::from_secs(120);
/// How long a change may go unseen.
const UNSEEN: Duration = Duration::from_secs(10);
/// Between two questions for the same thing.
const PAUSE: Duration = Duration::from_millis(5);
const ENCODINGS: [Encoding; 2] = [Encoding::Utf8, Encoding::Utf16];

/// What a round brought.
#[derive(Default)]
pub(crate) struct Round {
    pub(crate) figures: Figures,
    /// What went wrong, and what was cut short.
    pub(crate) notes: Vec<String>,
    /// For every reference question, the places.
    pub(crate) answers: Vec<Option<BTreeSet<Place>>>,
}

/// Asks everything; `thorough` looks definitions up as well, which is the same in every round.
pub(crate) fn round(
    server: &Server,
    root: &Path,
    questions: &Questions,
    ready: Duration,
    thorough: bool,
) -> Round {
    let mut round = Round::default();
    if let Err(why) = &server.version {
        round.notes.push(why.clone());
        return round;
    }
    server.forget(root);
    let early = match early(server, root, questions, &mut round.figures) {
        Ok(places) => Some(places),
        Err(failure) => {
            round.notes.push(format!("first request: {failure}"));
            None
        }
    };
    server.forget(root);
    let outcome = Session::start(server, root, &questions.probes[0]).and_then(|mut session| {
        let outcome = session.everything(questions, ready, thorough, early.as_ref());
        session.round.figures.append(&mut round.figures);
        session.round.notes.splice(0..0, round.notes.drain(..));
        round = std::mem::take(&mut session.round);
        outcome.and_then(|()| session.client.shutdown().map(drop))
    });
    if let Err(failure) = outcome {
        round.notes.push(failure.to_string());
    }
    round
}

fn connect(server: &Server, root: &Path) -> Result<Client, Failure> {
    let mut client = Client::start(server.command(), root)?;
    client.initialize(&ENCODINGS, &Value::Null, REQUEST)?;
    Ok(client)
}

/// References as the first request of a process.
fn early(
    server: &Server,
    root: &Path,
    questions: &Questions,
    figures: &mut Figures,
) -> Result<BTreeSet<Place>, Failure> {
    let mut texts = Texts::default();
    let place = &questions.first.place;
    texts.line(&place.file, place.line);
    let mut client = connect(server, root)?;
    client.open(&place.file)?;
    let params = client.references_at(place, &mut texts);
    let answer = client.timed("textDocument/references", params, REQUEST)?;
    figures.insert(Measure::FirstRequest, milliseconds(answer.took));
    let total = answer.at.duration_since(client.started());
    figures.insert(Measure::FirstRequestTotal, milliseconds(total));
    let places = client.places(&answer.value, &mut texts)?;
    client.shutdown()?;
    Ok(places)
}

/// A server that is being asked.
struct Session {
    client: Client,
    texts: Texts,
    round: Round,
    full: bool,
}

impl Session {
    /// Starts the server and opens one file, since some servers look at nothing before.
    fn start(server: &Server, root: &Path, opened: &Definition) -> Result<Session, Failure> {
        let mut client = connect(server, root)?;
        client.open(&opened.place.file)?;
        let full = server.cache != Cache::Kept;
        Ok(Session { client, texts: Texts::default(), round: Round::default(), full })
    }

    fn everything(
        &mut self,
        questions: &Questions,
        ready: Duration,
        thorough: bool,
        early: Option<&BTreeSet<Place>>,
    ) -> Result<(), Failure> {
        let mut looking = 0.0;
        let ready = self.ready(&questions.probes, ready)?;
        if ready {
            self.first(&questions.first, early)?;
            if self.full {
                self.symbols(&questions.references)?;
            }
            if thorough {
                looking = self.look_up(questions)?;
            }
            if self.full {
                self.references(&questions.references)?;
                self.renames(&questions.renames)?;
                self.changed(&questions.first)?;
                self.created()?;
            }
        }
        let usage = process::usage(self.client.process_id());
        self.round.figures.insert(Measure::Peak, usage.peak);
        if self.full {
            self.round.figures.insert(Measure::Cpu, usage.cpu - looking);
        }
        if ready && thorough && self.full {
            let what = "unique names, after files were opened, changed and closed";
            self.found(Measure::FoundLater, what, &questions.unique)?;
        }
        Ok(())
    }

    /// Asks for the probes until all are answered right.
    fn ready(&mut self, probes: &[Definition], patience: Duration) -> Result<bool, Failure> {
        let since = self.client.started();
        let mut last = Duration::ZERO;
        for (index, probe) in probes.iter().enumerate() {
            let waiting = Waiting { since, patience, pause: PAUSE };
            let params = json!({"query": probe.name});
            let holds = |answer: &Value| questions::holds(answer, probe);
            let Some(at) = self.client.until("workspace/symbol", &params, waiting, holds)? else {
                let seconds = patience.as_secs();
                let name = &probe.name;
                self.note(format!("never ready in {seconds} s: {index} of 10 right, `{name}` not"));
                return Ok(false);
            };
            last = at;
        }
        self.round.figures.insert(Measure::Ready, last.as_secs_f64());
        let usage = process::usage(self.client.process_id());
        self.round.figures.insert(Measure::ReadyCpu, usage.cpu);
        Ok(true)
    }

    fn first(
        &mut self,
        symbol: &Definition,
        early: Option<&BTreeSet<Place>>,
    ) -> Result<(), Failure> {
        let mut times = Vec::new();
        let later = self.opened(symbol, |it| it.refer(symbol, &mut times))?;
        if let Some(time) = times.first() {
            self.round.figures.insert(Measure::FirstAfterReady, *time);
        }
        if let (Some(early), Some(later)) = (early, later)
            && *early != later
        {
            let (early, later) = (early.len(), later.len());
            self.note(format!(
                "as the first request, references gave {early} places, once ready {later}"
            ));
        }
        Ok(())
    }

    fn symbols(&mut self, symbols: &[Definition]) -> Result<(), Failure> {
        let mut times = Vec::new();
        self.each("workspace/symbol", symbols, |it, symbol| {
            let params = json!({"query": symbol.name});
            let answer = it.client.timed("workspace/symbol", params, REQUEST)?;
            times.push(milliseconds(answer.took));
            Ok(())
        })?;
        self.keep(&mut times, &[(Measure::SymbolMedian, 50), (Measure::SymbolTail, 95)]);
        Ok(())
    }

    /// Twice in a row for every symbol, its file just opened.
    fn references(&mut self, symbols: &[Definition]) -> Result<(), Failure> {
        let (mut cold, mut warm) = (Vec::new(), Vec::new());
        let mut answers = Vec::new();
        self.each("references", symbols, |it, symbol| {
            answers.push(None);
            let places = it.opened(symbol, |it| {
                let places = it.refer(symbol, &mut cold);
                it.refer(symbol, &mut warm).and(places)
            })?;
            if let Some(last) = answers.last_mut() {
                *last = places;
            }
            Ok(())
        })?;
        self.round.answers = answers;
        let most = (Measure::ReferencesMost, 100);
        let cold_measures = [(Measure::ReferencesMedian, 50), (Measure::ReferencesTail, 95), most];
        self.keep(&mut cold, &cold_measures);
        self.keep(&mut warm, &[(Measure::WarmMedian, 50), (Measure::WarmTail, 95)]);
        Ok(())
    }

    /// The places, and the time in milliseconds.
    fn refer(
        &mut self,
        symbol: &Definition,
        times: &mut Vec<f64>,
    ) -> Result<BTreeSet<Place>, Failure> {
        let params = self.client.references_at(&symbol.place, &mut self.texts);
        let answer = self.client.timed("textDocument/references", params, REQUEST)?;
        times.push(milliseconds(answer.took));
        self.client.places(&answer.value, &mut self.texts)
    }

    fn renames(&mut self, symbols: &[Definition]) -> Result<(), Failure> {
        let mut times = Vec::new();
        self.each("rename", symbols, |it, symbol| {
            it.opened(symbol, |it| {
                let mut params = it.client.at(&symbol.place, &mut it.texts);
                let prepared =
                    it.client.timed("textDocument/prepareRename", params.clone(), REQUEST)?;
                params["newName"] = format!("{}_renamed", symbol.name).into();
                let renamed = it.client.timed("textDocument/rename", params, REQUEST)?;
                times.push(milliseconds(prepared.took + renamed.took));
                Ok(())
            })?;
            Ok(())
        })?;
        self.keep(&mut times, &[(Measure::RenameMedian, 50), (Measure::RenameTail, 95)]);
        Ok(())
    }

    /// A new function at the end of an open file.
    fn changed(&mut self, symbol: &Definition) -> Result<(), Failure> {
        let file = &symbol.place.file;
        let mut text = self.client.open(file)?;
        text.push_str("\n\ndef trellis_bench_changed():\n    pass\n");
        let since = Instant::now();
        self.client.change(file, &text);
        self.seen(Measure::ChangeSeen, "trellis_bench_changed", file, since)?;
        self.client.close(file);
        Ok(())
    }

    /// A new file on disk, which the server is told of.
    fn created(&mut self) -> Result<(), Failure> {
        let file = self.client.root().join("trellis_bench_created_file.py");
        let failed = |error| Failure::File { file: file.clone(), error };
        fs::write(&file, "def trellis_bench_created():\n    pass\n").map_err(failed)?;
        let since = Instant::now();
        self.client.watched(&file, FileEvent::Created);
        let seen = self.seen(Measure::FileSeen, "trellis_bench_created", &file, since);
        fs::remove_file(&file).map_err(failed)?;
        self.client.watched(&file, FileEvent::Deleted);
        seen
    }

    fn seen(
        &mut self,
        measure: Measure,
        name: &str,
        file: &Path,
        since: Instant,
    ) -> Result<(), Failure> {
        let waiting = Waiting { since, patience: UNSEEN, pause: PAUSE };
        let uri = lsp::uri_of(file);
        let wanted = |answer: &Value| {
            let mut symbols = answer.as_array().into_iter().flatten();
            symbols.any(|it| it["name"] == name && it["location"]["uri"] == uri)
        };
        let params = json!({"query": name});
        match self.client.until("workspace/symbol", &params, waiting, wanted)? {
            Some(time) => {
                self.round.figures.insert(measure, milliseconds(time));
            }
            None => self.note(format!("{name} not seen in {} s", UNSEEN.as_secs())),
        }
        Ok(())
    }

    /// Looks definitions up, while no file has been closed yet; returns the processor time it took, in seconds.
    fn look_up(&mut self, questions: &Questions) -> Result<f64, Failure> {
        let before = process::usage(self.client.process_id()).cpu;
        self.found(Measure::FoundUnique, "unique names", &questions.unique)?;
        self.found(Measure::FoundAny, "any names", &questions.any)?;
        Ok(process::usage(self.client.process_id()).cpu - before)
    }

    fn found(&mut self, measure: Measure, what: &str, names: &[Definition]) -> Result<(), Failure> {
        let (mut found, mut missing) = (0, Vec::new());
        self.each("looking up", names, |it, wanted| {
            let params = json!({"query": wanted.name});
            let answer = it.client.request("workspace/symbol", params, REQUEST)?;
            if questions::holds(&answer, wanted) {
                found += 1;
            } else {
                missing.push(wanted.name.clone());
            }
            Ok(())
        })?;
        self.round.figures.insert(measure, 100.0 * f64::from(found) / names.len() as f64);
        if !missing.is_empty() {
            let some = missing[..missing.len().min(5)].join(", ");
            let (few, all) = (missing.len(), names.len());
            self.note(format!("{what}: {few} of {all} not found: {some}"));
        }
        Ok(())
    }

    /// Opens the symbol's file for the time of a question. A refusal is worth a note, not the end.
    fn opened<T>(
        &mut self,
        symbol: &Definition,
        ask: impl FnOnce(&mut Session) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        let file = &symbol.place.file;
        self.texts.line(file, 0);
        self.client.open(file)?;
        let outcome = ask(self);
        self.client.close(file);
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(failure) => self.bear(&symbol.name, failure).map(|()| None),
        }
    }

    /// Asks one after the other as long as there is time.
    fn each(
        &mut self,
        what: &str,
        symbols: &[Definition],
        mut ask: impl FnMut(&mut Session, &Definition) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let started = Instant::now();
        for (index, symbol) in symbols.iter().enumerate() {
            if started.elapsed() > KIND {
                let (all, seconds) = (symbols.len(), KIND.as_secs());
                self.note(format!("{what}: {index} of {all} asked, then {seconds} s were over"));
                break;
            }
            if let Err(failure) = ask(self, symbol) {
                self.bear(&symbol.name, failure)?;
            }
        }
        Ok(())
    }

    /// Goes on after a failure, unless the server is gone.
    fn bear(&mut self, name: &str, failure: Failure) -> Result<(), Failure> {
        if matches!(failure, Failure::Ended { .. }) {
            return Err(failure);
        }
        self.note(format!("`{name}`: {failure}"));
        Ok(())
    }

    fn keep(&mut self, times: &mut [f64], measures: &[(Measure, usize)]) {
        for (measure, percent) in measures {
            if let Some(value) = percentile(times, *percent) {
                self.round.figures.insert(*measure, value);
            }
        }
    }

    fn note(&mut self, text: String) {
        self.round.notes.push(text);
    }
}
