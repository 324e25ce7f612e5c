//! The hash chain of the journal: a changed, removed, inserted or moved line breaks the chain.
//!
//! A line ends in `,"chain":"C"}`. C is SHA-256, as 64 lowercase hexadecimal digits, of two things
//! in sequence: the C of the line above, as those digits, and the line's own bytes without
//! `,"chain":"C"` and without the line end. So each C covers everything up to its line. Where the
//! line above has no C (the journal is new, or an earlier version wrote the line), SHA-256 of all
//! bytes above takes its place; at the very beginning, of no bytes.
//!
//! The chain has no key: a process that can write the file can recompute the chain from any line
//! on, or cut lines off at the end. Only a copy of the last C, kept elsewhere, reveals that.

use sha2::{Digest, Sha256};

use crate::disk::hex;

/// Bytes before the digits.
const MARK: &[u8] = b",\"chain\":\"";
/// Bytes after the digits.
const CLOSE: &[u8] = b"\"}";
const DIGITS: usize = 64;
/// Bytes from the start of the chain to the end of a line, including the closing brace that the
/// line had before.
pub(crate) const SUFFIX: usize = MARK.len() + DIGITS + CLOSE.len();

/// Adds the chain to a line, a JSON object without surrounding spaces and without line end, and
/// returns the new chain value.
pub(crate) fn seal(line: &mut Vec<u8>, above: &str) -> String {
    let chain = hex(&Sha256::new().chain_update(above).chain_update(&*line).finalize());
    line.pop();
    line.extend_from_slice(MARK);
    line.extend_from_slice(chain.as_bytes());
    line.extend_from_slice(CLOSE);
    chain
}

/// Returns the chain value that a line carries; its last [`SUFFIX`] bytes before the line end
/// suffice.
pub(crate) fn carried(line: &[u8]) -> Option<&str> {
    let suffix = &line[line.len().checked_sub(SUFFIX)?..];
    let digits = suffix.strip_prefix(MARK)?.strip_suffix(CLOSE)?;
    let is_digit = |it: &u8| matches!(it, b'0'..=b'9' | b'a'..=b'f');
    digits.iter().all(is_digit).then(|| str::from_utf8(digits).ok()).flatten()
}

/// Kind of chain break at a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// The line's chain value does not match the lines above and its own bytes.
    Differs,
    /// The line carries no chain value although a line above does.
    Bare,
    /// No line of the journal carries a chain value.
    AllBare,
}

/// Result of verifying the chain of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// The number of the first line that carries a chain, from 1.
    pub since: Option<usize>,
    /// Chain value of the last line; `None` if the chain is broken or no line carries a value.
    pub head: Option<String>,
    /// The number of the first line that breaks the chain, from 1.
    pub broken: Option<(usize, Break)>,
}

/// Verifies the chain over the bytes of a journal, without keeping lines.
pub struct Verifier {
    /// Number of complete lines so far.
    lines: usize,
    since: Option<usize>,
    broken: Option<(usize, Break)>,
    /// Chain value of the line above, once a line carries one.
    above: String,
    /// Hash of all bytes, as long as no line carries a chain value.
    before: Sha256,
    /// Hash of the chain input of the current line, as far as known.
    own: Sha256,
    /// Last bytes of the current line, which may be its chain.
    rest: Vec<u8>,
}

impl Default for Verifier {
    fn default() -> Verifier {
        let mut check = Verifier {
            lines: 0,
            since: None,
            broken: None,
            above: String::new(),
            before: Sha256::new(),
            own: Sha256::new(),
            rest: Vec::new(),
        };
        check.begin();
        check
    }
}

impl Verifier {
    /// Adds bytes of the current line.
    pub fn piece(&mut self, bytes: &[u8]) {
        if self.broken.is_some() {
            return;
        }
        if self.since.is_none() {
            self.before.update(bytes);
        }
        self.rest.extend_from_slice(bytes);
        let sure = self.rest.len().saturating_sub(SUFFIX);
        self.own.update(&self.rest[..sure]);
        self.rest.drain(..sure);
    }

    /// Ends the current line.
    pub fn end(&mut self) {
        self.lines += 1;
        if self.broken.is_some() {
            return;
        }
        let own = std::mem::take(&mut self.own).chain_update("}").finalize();
        match carried(&self.rest) {
            Some(chain) if chain == hex(&own) => {
                self.since.get_or_insert(self.lines);
                self.above = chain.to_owned();
            }
            Some(_) => {
                self.since.get_or_insert(self.lines);
                self.broken = Some((self.lines, Break::Differs));
            }
            None if self.since.is_some() => self.broken = Some((self.lines, Break::Bare)),
            None => self.before.update(b"\n"),
        }
        self.begin();
    }

    fn begin(&mut self) {
        self.rest.clear();
        let above = match self.since {
            Some(_) => self.above.clone(),
            None => hex(&self.before.clone().finalize()),
        };
        self.own = Sha256::new().chain_update(above);
    }

    /// Returns the result for all complete lines.
    pub fn verdict(&self) -> Verification {
        let broken = match self.since {
            None if self.lines > 0 => Some((1, Break::AllBare)),
            _ => self.broken,
        };
        let is_intact = broken.is_none() && self.since.is_some();
        Verification { since: self.since, head: is_intact.then(|| self.above.clone()), broken }
    }
}
