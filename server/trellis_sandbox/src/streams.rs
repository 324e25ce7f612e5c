//! What a run writes, kept within bounds, and split into lines.

use std::collections::VecDeque;

/// The longest line the reporter may send; its own cuts keep it far below.
const LONGEST_LINE: usize = 16 << 20;

/// Keeps the first and the last bytes of a stream.
#[derive(Debug)]
pub(crate) struct Capture {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    cut: u64,
}

impl Capture {
    /// Keeps at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Capture {
        Capture { half: limit / 2, head: Vec::new(), tail: VecDeque::new(), cut: 0 }
    }

    /// Takes in the next bytes.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(first);
        // Of a long piece only the end can stay.
        let kept = &rest[rest.len().saturating_sub(self.half)..];
        self.tail.extend(kept);
        let excess = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..excess);
        self.cut += (rest.len() - kept.len() + excess) as u64;
    }

    /// The bytes kept from the start of the stream.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// What was kept, with a note in the place of what was not. Bytes that are no UTF-8 become
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

/// Keeps all of a stream, or knows that it did not.
#[derive(Debug, Default)]
pub(crate) struct CompleteStream {
    bytes: Vec<u8>,
    any: bool,
    over: bool,
}

impl CompleteStream {
    /// The most bytes that are kept.
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

    /// There was more than is kept; then nothing is.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Everything; None if nothing came, not even an empty piece. Bytes that are no UTF-8 become `U+FFFD`.
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
    /// Hands every line that `bytes` complete to `take`.
    pub(crate) fn split(&mut self, bytes: &[u8], mut take: impl FnMut(&[u8])) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(piece);
            // A line beyond all measure is handed on in pieces, none of which is a record: the
            // reader will say so.
            if piece.ends_with(b"\n") || self.partial.len() > LONGEST_LINE {
                take(&self.partial);
                self.partial.clear();
            }
        }
    }

    /// What came after the last line's end.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.partial
    }
}
