//! Messages of a language client.

use std::io::BufReader;

use trellis_server::lsp::codec::{Frame, Frames};

use super::piece_sizes;
use crate::memory;

/// Messages are the same whatever the pieces, a message reads back as itself, and memory is in
/// proportion to the bytes that arrive.
pub(super) fn run(input: &[u8]) {
    let [one, some, all] =
        piece_sizes(input).map(|size| memory::bounded(input, 1 << 20, 400, || read(input, size)));
    assert_eq!(one, all, "in pieces of one byte");
    assert_eq!(some, all, "in other pieces");
    all.iter().filter_map(|it| it.1.as_ref()).for_each(|text| reads_back(text));
}

/// Returns each message as text, and requests and responses as JSON.
fn read(input: &[u8], size: usize) -> Vec<(String, Option<String>)> {
    let mut frames = Frames::new(BufReader::with_capacity(size, input));
    let mut all = Vec::new();
    while let Some(frame) = frames.read_frame().expect("bytes in memory can be read") {
        let json = match &frame {
            Frame::Request(it) => serde_json::to_string(it).ok(),
            Frame::Response(it) => serde_json::to_string(it).ok(),
            Frame::Refused(_) => None,
        };
        all.push((format!("{frame:?}"), json));
    }
    all
}

fn reads_back(text: &str) {
    let framed = format!("Content-Length: {}\r\n\r\n{text}", text.len());
    let again = read(framed.as_bytes(), framed.len());
    let json: Vec<_> = again.iter().map(|it| it.1.as_deref()).collect();
    assert_eq!(json, [Some(text)], "a message that was read is read again");
}
