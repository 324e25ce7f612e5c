//! Reads a specification.

use std::path::{Path, PathBuf};

use trellis_plan::{Sentence, SentenceKind};

use crate::fault::Fault;
use trellis_store::disk;

/// Longest specification, in bytes: a model could not read a longer one at once.
const LONGEST: usize = 200_000;
/// Greatest number of sentences.
const MOST: usize = 2_000;
const ONE_PACKAGE: &str = "describe one package at a time";

/// A specification, divided into sentences.
pub(super) struct Specification {
    path: PathBuf,
    pub(super) hash: String,
    /// Length of the text.
    pub(super) bytes: usize,
    pub(super) sentences: Vec<Sentence>,
}

impl Specification {
    /// Reads a specification.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is not text, is empty, or is too long.
    pub(super) fn read(path: &Path) -> Result<Specification, Fault> {
        let shown = path.display();
        let bytes = std::fs::metadata(path).map_or(0, |it| it.len());
        if bytes > LONGEST as u64 {
            let message = format!("{shown} is too long: {bytes} bytes; {LONGEST} are the most");
            return Err(Fault::input(message).hint(ONE_PACKAGE));
        }
        let text = trellis_os::files::read_text(path).map_err(|error| {
            let what = format_args!("the specification {shown}");
            Fault::input(trellis_os::wording::cannot_read(what, &error))
                .hint("give a UTF-8 text file, such as spec.md")
        })?;
        if text.contains('\0') {
            return Err(Fault::input(format!("{shown} is not text")).hint("give Markdown or text"));
        }
        let sentences = trellis_plan::sentences(&text);
        if sentences.is_empty() {
            return Err(Fault::input(format!("{shown} is empty"))
                .hint("write down what the project should do, a sentence for each point"));
        }
        if sentences.iter().all(|it| it.kind == SentenceKind::Heading) {
            return Err(Fault::input(format!("{shown} has only headings"))
                .hint("write below each what the project should do, a sentence for each point"));
        }
        if sentences.len() > MOST {
            let count = sentences.len();
            let message = format!("{shown} is too long: {count} sentences; {MOST} are the most");
            return Err(Fault::input(message).hint(ONE_PACKAGE));
        }
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Ok(Specification { path, hash: disk::hash(&text), bytes: text.len(), sentences })
    }

    /// Returns the path relative to a folder, or the whole path if it is elsewhere.
    pub(super) fn shown_from(&self, home: &Path) -> String {
        self.path.strip_prefix(home).unwrap_or(&self.path).to_string_lossy().into_owned()
    }
}
