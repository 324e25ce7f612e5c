//! A server under measurement: its process, the texts of its queries, and the results so far.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use lsp::{Client, Encoding, Failure, Place, Texts};
use serde_json::Value;

use super::figures::{Figures, Measure, milliseconds, percentile};
use super::scan::Definition;
use super::server::{Cache, Server};

/// Timeout of one request.
pub(crate) const REQUEST: Duration = Duration::from_secs(30);
/// Timeout for all requests of one kind; the remaining ones are skipped with a note.
const KIND: Duration = Duration::from_secs(120);
const ENCODINGS: [Encoding; 2] = [Encoding::Utf8, Encoding::Utf16];

/// Results of a round.
#[derive(Default)]
pub(crate) struct Round {
    pub(crate) figures: Figures,
    /// Problems, and notes on skipped requests.
    pub(crate) notes: Vec<String>,
    /// The places for each query for references.
    pub(crate) answers: Vec<Option<BTreeSet<Place>>>,
}

/// A server under measurement.
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) texts: Texts,
    pub(crate) round: Round,
    pub(crate) full: bool,
}

impl Session {
    /// Starts the server and opens one file, since some servers read nothing before.
    pub(crate) fn start(
        server: &Server,
        root: &Path,
        opened: &Definition,
    ) -> Result<Session, Failure> {
        let mut client = connect(server, root)?;
        client.open(&opened.place.file)?;
        let full = server.cache != Cache::Kept;
        Ok(Session { client, texts: Texts::default(), round: Round::default(), full })
    }

    /// Returns the places, and records the time in milliseconds.
    pub(crate) fn refer(
        &mut self,
        symbol: &Definition,
        times: &mut Vec<f64>,
    ) -> Result<BTreeSet<Place>, Failure> {
        let params = self.client.references_at(&symbol.place, &mut self.texts);
        let answer = self.client.timed("textDocument/references", params, REQUEST)?;
        times.push(milliseconds(answer.took));
        self.client.places(&answer.value, &mut self.texts)
    }

    /// Opens the symbol's file for the time of a query. An error becomes a note and does not end
    /// the round.
    pub(crate) fn opened<T>(
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

    /// Runs the queries in order as long as there is time.
    pub(crate) fn each(
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

    /// Continues after a failure, unless the server has ended.
    pub(crate) fn bear(&mut self, name: &str, failure: Failure) -> Result<(), Failure> {
        if matches!(failure, Failure::Ended { .. }) {
            return Err(failure);
        }
        self.note(format!("`{name}`: {failure}"));
        Ok(())
    }

    pub(crate) fn keep(&mut self, times: &mut [f64], measures: &[(Measure, usize)]) {
        for (measure, percent) in measures {
            if let Some(value) = percentile(times, *percent) {
                self.round.figures.insert(*measure, value);
            }
        }
    }

    pub(crate) fn note(&mut self, text: String) {
        self.round.notes.push(text);
    }
}

pub(crate) fn connect(server: &Server, root: &Path) -> Result<Client, Failure> {
    let mut client = Client::start(server.command(), root)?;
    client.initialize(&ENCODINGS, &Value::Null, REQUEST)?;
    Ok(client)
}
