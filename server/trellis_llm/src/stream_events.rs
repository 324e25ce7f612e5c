//! Splitting of a streamed answer into events: server-sent events, or JSON Lines.

/// Maximum size of an answer, in bytes. No valid answer comes near; a broken service must not
/// exhaust the memory.
pub(crate) const LARGEST_ANSWER: usize = 16 << 20;

/// Byte order mark at the beginning of some services' texts.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// Formats of event streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `data:` lines, an empty line after each event.
    ServerSent,
    /// One event per line.
    Lines,
}

impl Framing {
    /// Returns the framing for a content type; `None` for answers in one piece.
    pub(crate) fn of(content_type: &str) -> Option<Self> {
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match kind.as_str() {
            "text/event-stream" => Some(Self::ServerSent),
            "application/x-ndjson" | "application/jsonl" => Some(Self::Lines),
            _ => None,
        }
    }
}

/// Decoder from bytes to events.
pub(crate) struct EventDecoder {
    framing: Framing,
    /// Bytes of an incomplete line.
    rest: Vec<u8>,
    /// `data:` lines of the current event.
    data: Vec<u8>,
    seen: usize,
    /// True before the first line.
    is_at_start: bool,
}

/// Error of an answer larger than [`LARGEST_ANSWER`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

impl EventDecoder {
    pub(crate) fn new(framing: Framing) -> Self {
        Self { framing, rest: Vec::new(), data: Vec::new(), seen: 0, is_at_start: true }
    }

    /// Adds a piece; returns the completed events, and whether any line was completed (also a
    /// comment, which services send to keep the connection alive).
    pub(crate) fn push(&mut self, piece: &[u8]) -> Result<(Vec<Vec<u8>>, bool), TooLarge> {
        self.seen += piece.len();
        if self.seen > LARGEST_ANSWER {
            return Err(TooLarge);
        }
        // Only the new piece can hold the end of a line.
        let from = self.rest.len();
        self.rest.extend_from_slice(piece);
        let (mut events, mut start) = (Vec::new(), 0);
        while let Some(at) = memchr::memchr(b'\n', &self.rest[start.max(from)..]) {
            let end = start.max(from) + at;
            let line = self.rest[start..end].to_vec();
            events.extend(self.line(line.strip_suffix(b"\r").unwrap_or(&line)));
            start = end + 1;
        }
        self.rest.drain(..start);
        Ok((events, start > 0))
    }

    /// Returns the last event, which may lack its line break.
    pub(crate) fn finish(mut self) -> Option<Vec<u8>> {
        let rest = std::mem::take(&mut self.rest);
        let last = self.line(&rest);
        last.or_else(|| self.event())
    }

    fn line(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        // The mark may have arrived in several pieces.
        let is_first = std::mem::take(&mut self.is_at_start);
        let line = line.strip_prefix(BOM).filter(|_| is_first).unwrap_or(line);
        if self.framing == Framing::Lines {
            let line = line.trim_ascii();
            return (!line.is_empty()).then(|| line.to_vec());
        }
        if line.is_empty() {
            return self.event();
        }
        // Names of events are repeated in their data; ids and retry times are not used.
        if let Some(data) = line.strip_prefix(b"data:") {
            if !self.data.is_empty() {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
        }
        None
    }

    fn event(&mut self) -> Option<Vec<u8>> {
        let data = std::mem::take(&mut self.data);
        (!data.is_empty()).then_some(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(framing: Framing, text: &str, piece: usize) -> Vec<String> {
        let mut frames = EventDecoder::new(framing);
        let mut out = Vec::new();
        for piece in text.as_bytes().chunks(piece) {
            out.extend(frames.push(piece).unwrap().0);
        }
        out.extend(frames.finish());
        out.into_iter().map(|it| String::from_utf8(it).unwrap()).collect()
    }

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let sse = ": hello\r\nevent: x\r\ndata: {\"a\":\"ü\"}\r\n\r\ndata: 1\ndata:2\n\nid: 3\n\ndata: [DONE]";
        let lines = "\u{feff}{\"a\": 1}\n\n {\"b\": 2} \r\n{\"c\": 3}";
        for piece in [1, 2, 3, 7, 1000] {
            assert_eq!(
                events(Framing::ServerSent, sse, piece),
                ["{\"a\":\"ü\"}", "1\n2", "[DONE]"]
            );
            assert_eq!(
                events(Framing::Lines, lines, piece),
                ["{\"a\": 1}", "{\"b\": 2}", "{\"c\": 3}"]
            );
        }
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let mut frames = EventDecoder::new(Framing::ServerSent);
        let piece = vec![b'x'; 1 << 20];
        let pushed = (0..20).map(|_| frames.push(&piece)).find(Result::is_err);
        assert_eq!(pushed, Some(Err(TooLarge)));
    }

    #[test]
    fn comments_complete_lines_and_no_events() {
        let mut frames = EventDecoder::new(Framing::ServerSent);
        assert_eq!(frames.push(b": wai"), Ok((vec![], false)));
        assert_eq!(frames.push(b"t\n"), Ok((vec![], true)));
    }
}
