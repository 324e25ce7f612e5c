//! A streamed answer cut into its events: server-sent events, or a JSON text a line.

/// No honest answer comes near; a broken service must not fill the memory. In bytes.
pub(crate) const LARGEST_ANSWER: usize = 16 << 20;

/// What some services begin their texts with.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// How events are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `data:` lines, an empty line after each event.
    ServerSent,
    /// One event a line.
    Lines,
}

impl Framing {
    /// What a content type says; none for answers in one piece.
    pub(crate) fn of(content_type: &str) -> Option<Self> {
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match kind.as_str() {
            "text/event-stream" => Some(Self::ServerSent),
            "application/x-ndjson" | "application/jsonl" => Some(Self::Lines),
            _ => None,
        }
    }
}

/// Bytes in, events out.
pub(crate) struct Frames {
    framing: Framing,
    /// What has not become a line yet.
    rest: Vec<u8>,
    /// `data:` lines of the event at hand.
    data: Vec<u8>,
    seen: usize,
}

/// The answer is larger than any honest one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

impl Frames {
    pub(crate) fn new(framing: Framing) -> Self {
        Self { framing, rest: Vec::new(), data: Vec::new(), seen: 0 }
    }

    /// Takes in a piece; gives the events it completes, and whether it completed any line (a comment, which
    /// services send so that nobody loses patience, is one).
    pub(crate) fn push(&mut self, piece: &[u8]) -> Result<(Vec<Vec<u8>>, bool), TooLarge> {
        self.seen += piece.len();
        if self.seen > LARGEST_ANSWER {
            return Err(TooLarge);
        }
        // Only the new piece can hold a line's end.
        let from = self.rest.len();
        self.rest.extend_from_slice(piece);
        if self.seen == piece.len() && self.rest.starts_with(BOM) {
            self.rest.drain(..BOM.len());
        }
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

    /// What is left when the answer ends: an event may lack its last line break.
    pub(crate) fn finish(mut self) -> Option<Vec<u8>> {
        let rest = std::mem::take(&mut self.rest);
        let last = self.line(&rest);
        last.or_else(|| self.event())
    }

    fn line(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        if self.framing == Framing::Lines {
            let line = line.trim_ascii();
            return (!line.is_empty()).then(|| line.to_vec());
        }
        if line.is_empty() {
            return self.event();
        }
        // Names of events are in their data, too; numbers and waits are of no use here.
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
        let mut frames = Frames::new(framing);
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
        let lines = "{\"a\": 1}\n\n {\"b\": 2} \r\n{\"c\": 3}";
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
        let mut frames = Frames::new(Framing::ServerSent);
        let piece = vec![b'x'; 1 << 20];
        let pushed = (0..20).map(|_| frames.push(&piece)).find(Result::is_err);
        assert_eq!(pushed, Some(Err(TooLarge)));
    }

    #[test]
    fn comments_complete_lines_and_no_events() {
        let mut frames = Frames::new(Framing::ServerSent);
        assert_eq!(frames.push(b": wai"), Ok((vec![], false)));
        assert_eq!(frames.push(b"t\n"), Ok((vec![], true)));
    }
}
