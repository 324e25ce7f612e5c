//! Bounded capture of a run's output, and splitting into lines.

use std::collections::VecDeque;

/// Maximum length of a line; the reporter's own cuts keep records far below it.
const LONGEST_LINE: usize = 16 << 20;

/// The first and the last bytes of a stream.
#[derive(Debug)]
pub(crate) struct Capture {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    cut: u64,
}

impl Capture {
    /// Makes a capture of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Capture {
        Capture { half: limit / 2, head: Vec::new(), tail: VecDeque::new(), cut: 0 }
    }

    /// Takes in the next bytes.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(first);
        // Only the end of a long piece can stay.
        let kept = &rest[rest.len().saturating_sub(self.half)..];
        self.tail.extend(kept);
        let excess = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..excess);
        self.cut += (rest.len() - kept.len() + excess) as u64;
    }

    /// Returns the bytes kept from the start of the stream.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Returns the kept bytes as text, with a note in place of the cut. Invalid UTF-8 becomes
    /// `U+FFFD`.
    pub(crate) fn text(&self) -> String {
        let mut text = self.head.clone();
        if self.cut > 0 {
            text.extend(format!("\n[... {} bytes cut ...]\n", self.cut).bytes());
        }
        text.extend(&self.tail);
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// All bytes of a stream, or none if there were too many.
#[derive(Debug, Default)]
pub(crate) struct CompleteStream {
    bytes: Vec<u8>,
    any: bool,
    over: bool,
}

impl CompleteStream {
    /// Maximum number of bytes kept.
    pub(crate) const MOST: usize = 64 << 20;

    /// Takes in the next bytes.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.any = true;
        self.over |= self.bytes.len() + bytes.len() > CompleteStream::MOST;
        if self.over {
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Returns whether the stream exceeded the maximum; then no bytes are kept.
    pub(crate) fn is_too_large(&self) -> bool {
        self.over
    }

    /// Returns the whole stream; `None` if no piece came, not even an empty one. Invalid UTF-8
    /// becomes `U+FFFD`.
    pub(crate) fn text(self) -> Option<String> {
        let lossy = |bytes: std::string::FromUtf8Error| {
            String::from_utf8_lossy(bytes.as_bytes()).into_owned()
        };
        self.any.then(|| String::from_utf8(self.bytes).unwrap_or_else(lossy))
    }
}

/// Splits a stream into lines.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    partial: Vec<u8>,
}

impl Lines {
    /// Passes every line that `bytes` complete to `take`.
    pub(crate) fn split(&mut self, bytes: &[u8], mut take: impl FnMut(&[u8])) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(piece);
            // An oversized line is passed on in pieces. None of them is a record, so the reader
            // reports them.
            if piece.ends_with(b"\n") || self.partial.len() > LONGEST_LINE {
                take(&self.partial);
                self.partial.clear();
            }
        }
    }

    /// Returns the bytes after the end of the last line.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.partial
    }
}
