//! Streamed answers of model services.

use trellis_llm::{ChatReply, ReadReplyError, read_stream};

use super::piece_sizes;
use crate::memory;

/// A provider of each wire format, with the content type of its streams.
const FORMATS: [(&str, &str); 5] = [
    ("openai", "text/event-stream"),
    ("anthropic", "text/event-stream; charset=utf-8"),
    ("gemini", "text/event-stream"),
    ("ollama", "application/x-ndjson"),
    ("openai", "application/jsonl"),
];

/// A reply is the same whatever the pieces, has content that came from the stream, and memory is in
/// proportion to the stream.
pub(super) fn run(input: &[u8]) {
    for (provider, content_type) in FORMATS {
        let [one, some, all] = piece_sizes(input).map(|size| {
            let read = || read_stream(provider, content_type, input.chunks(size));
            memory::bounded(input, 1 << 20, 400, read)
        });
        assert_eq!(one, all, "{provider}: in pieces of one byte");
        assert_eq!(some, all, "{provider}: in other pieces");
        is_sound(input, &all);
    }
}

fn is_sound(input: &[u8], read: &Result<ChatReply, ReadReplyError>) {
    match read {
        Ok(reply) => {
            let is_empty = reply.text.trim().is_empty() && reply.tool_calls.is_empty();
            assert!(!is_empty, "an empty reply is no reply");
            assert!(reply.text.len() <= input.len(), "text that did not arrive");
            assert!(reply.tool_calls.iter().all(|it| !it.name.is_empty() && !it.id.is_empty()));
            if let Some(usage) = reply.usage {
                assert!(usage.cached_tokens <= usage.input_tokens, "{usage:?}");
            }
        }
        Err(error) => assert!(!error.to_string().trim().is_empty(), "{error:?}"),
    }
}
