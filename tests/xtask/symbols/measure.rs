//! One round with one server: two processes in sequence. The first is asked for references before
//! anything else; the second answers all queries.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use lsp::{Failure, FileEvent, Place, Texts, Waiting};
use serde_json::{Value, json};

use super::figures::{Figures, Measure, milliseconds};
use super::process;
use super::questions::{self, Questions};
use super::scan::Definition;
use super::server::Server;
use super::session::{REQUEST, Round, Session, connect};

/// Timeout for a change to become visible.
const UNSEEN: Duration = Duration::from_secs(10);
/// Pause between two attempts of a query.
const PAUSE: Duration = Duration::from_millis(5);

/// Runs all queries; `thorough` also looks up definitions, which gives the same result in every
/// round.
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
    server.forget();
    let early = match early(server, root, questions, &mut round.figures) {
        Ok(places) => Some(places),
        Err(failure) => {
            round.notes.push(format!("first request: {failure}"));
            None
        }
    };
    server.forget();
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

/// Measures references as the first request of a process.
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

impl Session {
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
                self.keystrokes()?;
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

    /// Repeats the probes until all answers are right.
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

    /// Queries each symbol twice in a row, right after opening its file.
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

    /// Measures when a new function at the end of an open file becomes visible.
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

    /// Measures when a new, reported file on the disk becomes visible.
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

    /// Looks up definitions, before any file is closed; returns the processor time in seconds.
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
}
