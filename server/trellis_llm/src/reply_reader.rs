//! Reading of a service's answer into a reply, without the service.

use std::time::Duration;

use serde_json::Value;

use crate::chat::ChatReply;
use crate::error_body::shorten;
use crate::providers;
use crate::stream_events::{BOM, EventDecoder, Framing};
use crate::wire::{CompleteReply, StreamAccumulator, UnusableReply, WireFormat};

/// Last event of OpenAI's streams.
const DONE: &[u8] = b"[DONE]";

/// A reader of one answer in a wire format.
pub(crate) struct ReplyReader {
    wire: &'static WireFormat,
    pub(crate) gathered: StreamAccumulator,
}

impl ReplyReader {
    pub(crate) fn new(wire: &'static WireFormat) -> ReplyReader {
        ReplyReader { wire, gathered: StreamAccumulator::default() }
    }

    /// Returns whether the reply has ended; only token counts may follow.
    pub(crate) fn is_complete(&self) -> bool {
        self.gathered.end.is_some()
    }

    /// Processes streamed events; returns whether one of them was the last.
    pub(crate) fn take_all(&mut self, events: &[Vec<u8>]) -> Result<bool, UnusableReply> {
        for event in events {
            if event == DONE {
                return Ok(true);
            }
            self.take(self.wire.event, event)?;
        }
        Ok(false)
    }

    /// Processes the end of a stream, whose last event may lack its line break. A broken stream
    /// may leave an incomplete event, which is left out.
    pub(crate) fn take_last(&mut self, frames: EventDecoder) -> Result<(), UnusableReply> {
        let last = frames.finish().filter(|it| serde_json::from_slice::<Value>(it).is_ok());
        match last.filter(|_| !self.is_complete()) {
            Some(last) => self.take(self.wire.event, &last),
            None => Ok(()),
        }
    }

    /// Processes an answer in one piece.
    pub(crate) fn take_whole(&mut self, body: &[u8]) -> Result<(), UnusableReply> {
        self.take(self.wire.whole, body)
    }

    fn take(
        &mut self,
        taking: fn(&mut StreamAccumulator, &Value) -> Result<(), UnusableReply>,
        bytes: &[u8],
    ) -> Result<(), UnusableReply> {
        let taken = match serde_json::from_slice::<Value>(bytes) {
            Ok(value) => taking(&mut self.gathered, &value),
            Err(error) => Err(UnusableReply::Garbled(error.to_string())),
        };
        taken.map_err(|unusable| match unusable {
            UnusableReply::Garbled(why) => {
                let start = shorten(&String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]));
                let answer = self.wire.answer;
                UnusableReply::Garbled(format!(
                    "it is not the expected {answer} ({why}); it begins: {start}"
                ))
            }
            other => other,
        })
    }
}

/// Returns whether a body begins like server-sent events.
pub(crate) fn is_stream(body: &[u8]) -> bool {
    let body = body.strip_prefix(BOM).unwrap_or(body).trim_ascii_start();
    [&b"data:"[..], b"event:", b":"].iter().any(|it| body.starts_with(it))
}

/// The reason why an answer that was kept is no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadReplyError {
    /// The provider has no wire format, or the content type is that of no stream.
    #[error("`{0}` is not a provider of streams, or its content type is not that of a stream")]
    UnknownFormat(String),
    /// The stream is too long, or ended before the reply did.
    #[error("the stream is incomplete")]
    Incomplete,
    /// The reply reached the output limit; the text is its beginning.
    #[error("the reply reached the output limit")]
    Truncated(String),
    /// No usable reply, with the reason.
    #[error("{0}")]
    Unusable(String),
}

/// Reads a provider's streamed answer that was kept, from the pieces in which it arrived, as a
/// model reads it from its service.
///
/// # Errors
///
/// See [`ReadReplyError`].
pub fn read_stream<'a>(
    provider: &str,
    content_type: &str,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<ChatReply, ReadReplyError> {
    let unknown = || ReadReplyError::UnknownFormat(provider.to_owned());
    let wire = providers::find(provider).ok_or_else(unknown)?.wire;
    let mut frames = EventDecoder::new(Framing::of(content_type).ok_or_else(unknown)?);
    let mut reader = ReplyReader::new(wire);
    let read = || {
        for piece in pieces {
            let Ok((events, _)) = frames.push(piece) else { return Ok(()) };
            if reader.take_all(&events)? {
                return Ok(());
            }
        }
        reader.take_last(frames)
    };
    let read: Result<(), UnusableReply> = read();
    match read {
        Err(unusable) if !reader.is_complete() => return Err(unusable.into()),
        _ if !reader.is_complete() => return Err(ReadReplyError::Incomplete),
        _ => {}
    }
    let gathered = reader.gathered;
    match gathered.whole(str::to_owned) {
        CompleteReply::Reply { text, calls } => Ok(ChatReply {
            text,
            tool_calls: calls,
            usage: gathered.usage(),
            model: gathered.model.unwrap_or_default(),
            latency: Duration::ZERO,
        }),
        CompleteReply::Truncated(partial) => Err(ReadReplyError::Truncated(partial)),
        CompleteReply::Nothing(why) => Err(ReadReplyError::Unusable(why)),
    }
}

impl From<UnusableReply> for ReadReplyError {
    fn from(unusable: UnusableReply) -> ReadReplyError {
        ReadReplyError::Unusable(match unusable {
            UnusableReply::Failed(body) => {
                format!("the service reported an error: {}", body.message)
            }
            UnusableReply::Garbled(why) | UnusableReply::Nonsense(why) => why,
        })
    }
}
