//! Documents and queries about them, with positions independent of the encoding.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, Failure};
use crate::text::{self, Texts};
use crate::uri::{path_of, uri_of};

/// A position in a file: line and column from 0, the column in code points.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub file: PathBuf,
    pub line: usize,
    pub column: usize,
}

/// Kind of change of a file on the disk.
#[derive(Clone, Copy, Debug)]
pub enum FileEvent {
    Created = 1,
    Changed = 2,
    Deleted = 3,
}

impl Client {
    /// Opens a file with its text on the disk, and returns the text.
    pub fn open(&mut self, file: &Path) -> Result<String, Failure> {
        let unreadable = |error| Failure::File { file: file.to_owned(), error };
        let text = text::read(file).map_err(unreadable)?;
        let document =
            json!({"uri": uri_of(file), "languageId": "python", "version": 1, "text": text});
        self.versions.insert(file.to_owned(), 1);
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
        Ok(text)
    }

    /// Replaces the whole text of an open file.
    pub fn change(&mut self, file: &Path, text: &str) {
        let version = self.versions.entry(file.to_owned()).or_insert(0);
        *version += 1;
        let document = json!({"uri": uri_of(file), "version": *version});
        let params = json!({"textDocument": document, "contentChanges": [{"text": text}]});
        self.notify("textDocument/didChange", params);
    }

    /// Inserts ASCII characters into an open file.
    pub fn insert(&mut self, file: &Path, (line, character): (usize, usize), text: &str) {
        let version = self.versions.entry(file.to_owned()).or_insert(0);
        *version += 1;
        let document = json!({"uri": uri_of(file), "version": *version});
        let at = json!({"line": line, "character": character});
        let change = json!({"range": {"start": at, "end": at}, "text": text});
        let params = json!({"textDocument": document, "contentChanges": [change]});
        self.notify("textDocument/didChange", params);
    }

    pub fn close(&mut self, file: &Path) {
        self.versions.remove(file);
        self.notify("textDocument/didClose", json!({"textDocument": {"uri": uri_of(file)}}));
    }

    /// Reports that a file on the disk was created, changed or deleted.
    pub fn watched(&self, file: &Path, event: FileEvent) {
        let changes = json!([{"uri": uri_of(file), "type": event as i32}]);
        self.notify("workspace/didChangeWatchedFiles", json!({"changes": changes}));
    }

    /// Returns parameters that name a position: the document, and the position in the agreed units.
    pub fn at(&self, place: &Place, texts: &mut Texts) -> Value {
        let line = texts.line(&place.file, place.line).unwrap_or_default();
        let character = self.encoding().units(line, place.column);
        json!({
            "textDocument": {"uri": uri_of(&place.file)},
            "position": {"line": place.line, "character": character},
        })
    }

    /// Returns parameters of `textDocument/references` with the declaration.
    pub fn references_at(&self, place: &Place, texts: &mut Texts) -> Value {
        let mut params = self.at(place, texts);
        params["context"] = json!({"includeDeclaration": true});
        params
    }

    /// Returns the starts of an array of locations.
    ///
    /// # Errors
    ///
    /// A location without a file, or with a position outside of all lines or inside of a character.
    pub fn places(&self, locations: &Value, texts: &mut Texts) -> Result<BTreeSet<Place>, Failure> {
        let locations = locations.as_array().into_iter().flatten();
        let place = |location: &Value| {
            let file = location["uri"].as_str().and_then(path_of);
            let place = file.and_then(|it| self.place(it, &location["range"]["start"], texts));
            place.ok_or_else(|| Failure::Odd { what: "a location", value: location.to_string() })
        };
        locations.map(place).collect()
    }

    /// Converts a position of the protocol.
    pub fn place(&self, file: PathBuf, position: &Value, texts: &mut Texts) -> Option<Place> {
        let line = usize::try_from(position["line"].as_u64()?).ok()?;
        let units = usize::try_from(position["character"].as_u64()?).ok()?;
        let column = self.encoding().column(texts.line(&file, line)?, units)?;
        Some(Place { file, line, column })
    }

    /// Repeats a request until its result is as wanted; returns the time from `since` to that
    /// result, or `None` after `patience`. An error counts as not wanted. The client listens for
    /// `pause` between requests, so that the server can work.
    pub fn until(
        &mut self,
        method: &str,
        params: &Value,
        waiting: Waiting,
        wanted: impl Fn(&Value) -> bool,
    ) -> Result<Option<Duration>, Failure> {
        while let Some(left) = waiting.patience.checked_sub(waiting.since.elapsed()) {
            match self.timed(method, params.clone(), left) {
                Ok(answer) if wanted(&answer.value) => {
                    return Ok(Some(answer.at.duration_since(waiting.since)));
                }
                Ok(_) | Err(Failure::Refused { .. } | Failure::TimedOut { .. }) => {}
                Err(failure) => return Err(failure),
            }
            self.listen(waiting.pause)?;
        }
        Ok(None)
    }
}

/// Limits of repeated requests.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    pub since: Instant,
    pub patience: Duration,
    pub pause: Duration,
}
