//! The hash chain of the journal: whoever changes, removes, puts in or moves a line leaves one that does not follow.
//!
//! A line ends in `,"chain":"C"}`. C is SHA-256, as 64 hexadecimal digits in small letters, of two things put together:
//! the C of the line above, as those digits, and the line's own bytes without `,"chain":"C"` and without the end of the
//! line. So each C stands for everything up to its line. Where the line above has none (the journal is new, or an
//! earlier version wrote what stands there), SHA-256 of all bytes above takes its place, of none at the very beginning.
//!
//! There is no key in it: who can write the file can make the chain anew from any line on, or cut lines off at its end.
//! Only the last C, noted elsewhere, shows that.

use sha2::{Digest, Sha256};

use super::disk::hex;

/// What stands before the digits.
const MARK: &[u8] = b",\"chain\":\"";
/// What stands after them.
const CLOSE: &[u8] = b"\"}";
const DIGITS: usize = 64;
/// Bytes by which the chain makes a line longer, the bracket that was there before among them.
pub(super) const SUFFIX: usize = MARK.len() + DIGITS + CLOSE.len();

/// Adds the chain to a line, which is a JSON object without spaces around it and has no end yet, and returns it.
pub(super) fn seal(line: &mut Vec<u8>, above: &str) -> String {
    let chain = hex(&Sha256::new().chain_update(above).chain_update(&*line).finalize());
    line.pop();
    line.extend_from_slice(MARK);
    line.extend_from_slice(chain.as_bytes());
    line.extend_from_slice(CLOSE);
    chain
}

/// The chain that a line carries; its last [`SUFFIX`] bytes before the end of the line are enough.
pub(super) fn carried(line: &[u8]) -> Option<&str> {
    let suffix = &line[line.len().checked_sub(SUFFIX)?..];
    let digits = suffix.strip_prefix(MARK)?.strip_suffix(CLOSE)?;
    let is_digit = |it: &u8| matches!(it, b'0'..=b'9' | b'a'..=b'f');
    digits.iter().all(is_digit).then(|| str::from_utf8(digits).ok()).flatten()
}

/// Why a line does not follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Break {
    /// It carries a chain that is not that of the lines above and its own bytes.
    Differs,
    /// It carries none, and a line above does.
    Bare,
    /// No line of the journal carries one.
    AllBare,
}

/// What the chain of a journal came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verification {
    /// The number of the first line that carries a chain, from 1.
    pub(crate) since: Option<usize>,
    /// The chain of the last line; none where a line does not follow, and none of no lines.
    pub(crate) head: Option<String>,
    /// The number of the first line that does not follow, from 1.
    pub(crate) broken: Option<(usize, Break)>,
}

/// Follows the chain through the bytes of a journal. It keeps no line.
pub(crate) struct Verifier {
    /// Whole lines so far.
    lines: usize,
    since: Option<usize>,
    broken: Option<(usize, Break)>,
    /// The chain of the line above, once there is one.
    above: String,
    /// Of all bytes, as long as no line carries a chain.
    before: Sha256,
    /// Of what the chain of this line is made of, as far as it is known.
    own: Sha256,
    /// The last bytes of this line so far, which may be its chain.
    rest: Vec<u8>,
}

impl Verifier {
    pub(crate) fn new() -> Verifier {
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

    /// More of the line.
    pub(crate) fn piece(&mut self, bytes: &[u8]) {
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

    /// The line is whole.
    pub(crate) fn end(&mut self) {
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

    /// What all whole lines came to.
    pub(crate) fn verdict(&self) -> Verification {
        let broken = match self.since {
            None if self.lines > 0 => Some((1, Break::AllBare)),
            _ => self.broken,
        };
        let is_intact = broken.is_none() && self.since.is_some();
        Verification { since: self.since, head: is_intact.then(|| self.above.clone()), broken }
    }
}
