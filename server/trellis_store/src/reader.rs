//! Reads the journal line by line and verifies its chain, in bounded memory. Unreadable lines are
//! reported, not fatal.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;

use crate::hash_chain::{Verification, Verifier};
use crate::journal::{Event, Line};

/// Maximum bytes of a line that is shown; longer lines still count for the chain. The longest
/// events hold files.
const LONGEST: usize = 16 << 20;
/// Bytes read at once.
const BLOCK: usize = 64 << 10;
/// Bytes of the line buffer kept after a long line.
const KEPT: usize = 1 << 20;

/// A line of the journal.
#[derive(Debug)]
pub struct Entry {
    /// Line number, from 1.
    pub number: usize,
    /// Time and event, or the reason why the line is unreadable.
    pub event: Result<(String, Event), LineError>,
}

/// Reason why a line is unreadable.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    #[error("it is longer than {} MiB", LONGEST >> 20)]
    TooLong,
    #[error("it is not an event of this version: {0}")]
    NoEvent(#[from] serde_json::Error),
}

/// Parses a line. Fields that are not used must be valid UTF-8 as well, as for [`crate::journal::text_of`].
fn event(line: &[u8]) -> Result<(String, Event), LineError> {
    let text = str::from_utf8(line).map_err(serde::de::Error::custom);
    let line: Line = text.and_then(serde_json::from_str)?;
    Ok((line.at, line.event))
}

/// Summary of the lines read.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Number of complete lines.
    pub lines: usize,
    /// True if a line without end follows them, which only a crash leaves.
    pub is_torn: bool,
    pub chain: Verification,
}

/// The lines of a journal, up to its length at opening.
pub struct Reader {
    reader: BufReader<io::Take<File>>,
    check: Verifier,
    lines: usize,
    is_torn: bool,
    /// The current line.
    text: Vec<u8>,
    is_too_long: bool,
}

impl Reader {
    pub fn open(path: &Path) -> io::Result<Reader> {
        let file = trellis_os::files::open(path)?.into_inner();
        // A line being written is complete once its writer releases the lock.
        file.lock_shared()?;
        let length = file.metadata().map(|it| it.len());
        file.unlock()?;
        Ok(Reader {
            reader: BufReader::with_capacity(BLOCK, file.take(length?)),
            check: Verifier::default(),
            lines: 0,
            is_torn: false,
            text: Vec::new(),
            is_too_long: false,
        })
    }

    /// Returns the next line; `None` at the end.
    pub fn read_entry(&mut self) -> io::Result<Option<Entry>> {
        if !self.read()? {
            return Ok(None);
        }
        self.lines += 1;
        let event = match self.is_too_long {
            true => Err(LineError::TooLong),
            false => event(&self.text),
        };
        self.text.clear();
        self.text.shrink_to(KEPT);
        self.is_too_long = false;
        Ok(Some(Entry { number: self.lines, event }))
    }

    /// Reads up to the end of a line; returns false at the end of the file.
    fn read(&mut self) -> io::Result<bool> {
        loop {
            let block = self.reader.fill_buf()?;
            let end = memchr::memchr(b'\n', block);
            let piece = &block[..end.unwrap_or(block.len())];
            self.is_torn = end.is_none() && (self.is_torn || !piece.is_empty());
            self.check.piece(piece);
            match self.text.len() + piece.len() > LONGEST {
                true => self.is_too_long = true,
                false => self.text.extend_from_slice(piece),
            }
            let (read, is_over) = (piece.len() + usize::from(end.is_some()), block.is_empty());
            self.reader.consume(read);
            if end.is_some() {
                self.check.end();
                return Ok(true);
            }
            if is_over {
                return Ok(false);
            }
        }
    }

    /// Returns the summary of all lines so far.
    pub fn ended(&self) -> Summary {
        Summary { lines: self.lines, is_torn: self.is_torn, chain: self.check.verdict() }
    }
}
