//! Writing of a recording while another model answers.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{STAGES, line};
use crate::chat::{ChatReply, ChatRequest};
use crate::error::{ModelError, RecordError};

/// A recording being written: one line per request, in the order of the answers.
pub(crate) struct Recorder {
    path: PathBuf,
    file: Mutex<File>,
}

impl Recorder {
    /// Opens the file for appending, so that a resumed run continues its recording.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        if !ends_in_line_break(&mut file)? {
            file.write_all(b"\n")?;
        }
        Ok(Self { path: path.to_owned(), file: Mutex::new(file) })
    }

    /// Appends the outcome of a request, and flushes the line before returning.
    ///
    /// The call blocks for one short write: another thread would cost more and could reorder lines.
    pub(crate) fn write(
        &self,
        ask: &ChatRequest,
        result: &Result<ChatReply, ModelError>,
    ) -> Result<(), ModelError> {
        if !STAGES.contains(&ask.stage.as_str()) {
            return Err(self.failed(RecordError::UnknownStage { stage: ask.stage.clone() }));
        }
        let line = line::write(ask, result);
        let Some(line) = line.map_err(|error| self.failed(error.into()))? else { return Ok(()) };
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // A single write per line keeps lines of two processes apart, and a killed process leaves
        // no half line.
        file.write_all(line.as_bytes())
            .and_then(|()| file.flush())
            .map_err(|error| self.failed(error.into()))
    }

    fn failed(&self, reason: RecordError) -> ModelError {
        ModelError::NotRecorded { path: self.path.clone(), reason }
    }
}

/// Returns whether a line can be appended as it is. A file edited by hand may lack its last line
/// break.
fn ends_in_line_break(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}
