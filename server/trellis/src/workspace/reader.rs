//! The journal read back line by line, with its chain: in bounded memory, and broken lines told, not fatal.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;

use super::hash_chain::{Verification, Verifier};
use super::journal::{Event, Line};

/// Longer lines are not shown, in bytes; the chain goes through them all the same. The longest events hold files.
const LONGEST: usize = 16 << 20;
/// Bytes that are read at once.
const BLOCK: usize = 64 << 10;
/// Bytes kept for lines once there was a long one.
const KEPT: usize = 1 << 20;

/// A line of the journal.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its number, from 1.
    pub(crate) number: usize,
    /// When, and what; or why it cannot be read.
    pub(crate) event: Result<(String, Event), String>,
}

/// What there is to say at the end.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    /// Whole lines.
    pub(crate) lines: usize,
    /// Whether a line without an end follows them, which only a crash leaves.
    pub(crate) is_torn: bool,
    pub(crate) chain: Verification,
}

/// The lines of a journal, as they were when it was opened.
pub(crate) struct Reader {
    reader: BufReader<io::Take<File>>,
    check: Verifier,
    lines: usize,
    is_torn: bool,
    /// The line that is being read.
    text: Vec<u8>,
    is_too_long: bool,
}

impl Reader {
    pub(crate) fn open(path: &Path) -> io::Result<Reader> {
        let file = trellis_sandbox::files::open(path)?.into_inner();
        // What is being written in this moment is whole once its writer gives the lock back.
        file.lock_shared()?;
        let length = file.metadata().map(|it| it.len());
        file.unlock()?;
        Ok(Reader {
            reader: BufReader::with_capacity(BLOCK, file.take(length?)),
            check: Verifier::new(),
            lines: 0,
            is_torn: false,
            text: Vec::new(),
            is_too_long: false,
        })
    }

    /// The next line; none at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Entry>> {
        if !self.read()? {
            return Ok(None);
        }
        self.lines += 1;
        let event = match self.is_too_long {
            true => Err(format!("it is longer than {} MiB", LONGEST >> 20)),
            false => serde_json::from_slice::<Line>(&self.text)
                .map(|line| (line.at, line.event))
                .map_err(|error| format!("it is not an event of this version: {error}")),
        };
        self.text.clear();
        self.text.shrink_to(KEPT);
        self.is_too_long = false;
        Ok(Some(Entry { number: self.lines, event }))
    }

    /// Reads up to the end of a line; false where there is none any more.
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

    /// What all lines so far came to.
    pub(crate) fn ended(&self) -> Summary {
        Summary { lines: self.lines, is_torn: self.is_torn, chain: self.check.verdict() }
    }
}
