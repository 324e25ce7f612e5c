//! Reading what a child writes, always at once and never more than is wanted: a pipe that nobody
//! reads blocks its writer, and a buffer without a bound fills the memory.

use std::{collections::VecDeque, future::pending, io, os::fd::OwnedFd};

use tokio::net::unix::pipe::Receiver;

const CHUNK: usize = 64 << 10;

/// The longest line the plugin may send; its own cuts keep it far below.
const LONGEST_LINE: usize = 4 << 20;

/// The reading end of a pipe.
#[derive(Debug)]
struct Source {
    pipe: Option<Receiver>,
    chunk: Box<[u8]>,
}

impl Source {
    fn new(end: OwnedFd) -> io::Result<Source> {
        let pipe = Receiver::from_owned_fd(end)?;
        Ok(Source { pipe: Some(pipe), chunk: vec![0; CHUNK].into_boxed_slice() })
    }

    /// Waits for some bytes. Never returns once the other end is closed. Nothing is lost when the
    /// future is dropped.
    async fn next(&mut self) -> &[u8] {
        loop {
            let Some(pipe) = &self.pipe else { pending().await };
            if pipe.readable().await.is_err() {
                self.pipe = None;
            } else if let Some(length) = self.read() {
                return &self.chunk[..length];
            }
        }
    }

    /// Bytes that are there already. None: nothing now, or nothing ever again.
    fn read(&mut self) -> Option<usize> {
        match self.pipe.as_ref()?.try_read(&mut self.chunk) {
            Ok(length) if length > 0 => Some(length),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            // End of file, or an error that no later read would mend.
            Ok(_) | Err(_) => {
                self.pipe = None;
                None
            }
        }
    }
}

/// Keeps the first and the last bytes of a stream.
#[derive(Debug)]
pub(crate) struct Capture {
    source: Source,
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    cut: u64,
}

impl Capture {
    /// Keeps at most `limit` bytes.
    pub(crate) fn new(end: OwnedFd, limit: usize) -> io::Result<Capture> {
        let (head, tail) = (Vec::new(), VecDeque::new());
        Ok(Capture { source: Source::new(end)?, half: limit / 2, head, tail, cut: 0 })
    }

    /// Takes in the next bytes; never returns after the end.
    pub(crate) async fn fill(&mut self) {
        let length = self.source.next().await.len();
        self.keep(length);
    }

    /// Takes in whatever is there.
    pub(crate) fn drain(&mut self) {
        while let Some(length) = self.source.read() {
            self.keep(length);
        }
    }

    fn keep(&mut self, length: usize) {
        let bytes = &self.source.chunk[..length];
        let (first, rest) = bytes.split_at(length.min(self.half - self.head.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let excess = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..excess);
        self.cut += excess as u64;
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

/// Splits a stream into lines.
#[derive(Debug)]
pub(crate) struct Lines {
    source: Source,
    partial: Vec<u8>,
}

impl Lines {
    pub(crate) fn new(end: OwnedFd) -> io::Result<Lines> {
        Ok(Lines { source: Source::new(end)?, partial: Vec::new() })
    }

    /// Waits for bytes and hands every line they complete to `take`; never returns after the end.
    pub(crate) async fn fill(&mut self, take: impl FnMut(&[u8])) {
        let length = self.source.next().await.len();
        self.split(length, take);
    }

    /// The same for whatever is there.
    pub(crate) fn drain(&mut self, mut take: impl FnMut(&[u8])) {
        while let Some(length) = self.source.read() {
            self.split(length, &mut take);
        }
    }

    fn split(&mut self, length: usize, mut take: impl FnMut(&[u8])) {
        for piece in self.source.chunk[..length].split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(piece);
            // A line beyond all measure is handed on in pieces, none of which is a record: the
            // reader will say so.
            if piece.ends_with(b"\n") || self.partial.len() > LONGEST_LINE {
                take(&self.partial);
                self.partial.clear();
            }
        }
    }
}
