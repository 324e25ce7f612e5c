//! Splits the client's stream into messages.
//!
//! Only the end of the stream ends reading. An unreadable message is answered with a JSON-RPC
//! error, and reading resumes after it. Memory grows with the bytes that arrive, not with the
//! announced length, and only up to a bound.

use std::io::{self, BufRead, Read};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};

/// Maximum bytes of one message. Files of that size are hardly written by hand, and a syntax tree
/// is many times as large as its text.
pub const LARGEST: u64 = 32 << 20;
/// Maximum bytes of one header line; a normal one has about fifty.
const LONGEST_LINE: usize = 8 << 10;
/// Maximum lines of one header.
const MOST_LINES: usize = 64;
/// The only required header.
const LENGTH: &[u8] = b"content-length";

/// One unit read from the client.
#[derive(Debug)]
pub enum Frame {
    /// A request or a notification.
    Request(Request),
    /// A response to a request of the server.
    Response(Response),
    /// An invalid message, with the error response to it.
    Refused(Response),
}

/// Message reader over a stream.
pub struct Frames<R> {
    input: R,
    /// Bytes of the next line that were read already.
    begun: Vec<u8>,
    /// Remaining bytes of a refused message.
    surplus: u64,
    /// True if the start of the next header is unknown.
    is_lost: bool,
}

enum Header {
    Body(u64),
    /// Length of a body that is skipped, and the reason.
    Unread(u64, String),
    Bad(&'static str),
    End,
}

impl<R: BufRead> Frames<R> {
    pub fn new(input: R) -> Frames<R> {
        Frames { input, begun: Vec::new(), surplus: 0, is_lost: false }
    }

    /// Returns the next message; `None` at the end of the stream, also within a message.
    ///
    /// # Errors
    ///
    /// The stream cannot be read.
    pub fn read_frame(&mut self) -> io::Result<Option<Frame>> {
        let skipped = io::copy(&mut (&mut self.input).take(self.surplus), &mut io::sink())?;
        if skipped < std::mem::take(&mut self.surplus) || (self.is_lost && !self.find_header()?) {
            return Ok(None);
        }
        match self.header()? {
            Header::End => Ok(None),
            Header::Bad(why) => {
                let why = format!("the header of a message is wrong: {why}");
                Ok(Some(Frame::Refused(refusal(Id::Null, ErrorCode::ParseError, why))))
            }
            Header::Unread(length, why) => {
                self.surplus = length;
                Ok(Some(Frame::Refused(refusal(Id::Null, ErrorCode::InvalidRequest, why))))
            }
            Header::Body(length) => {
                // The buffer grows with the bytes that arrive, not with the announced length.
                let mut body = Vec::new();
                let arrived = (&mut self.input).take(length).read_to_end(&mut body)?;
                Ok((arrived as u64 == length).then(|| message(&body)))
            }
        }
    }

    fn header(&mut self) -> io::Result<Header> {
        let (mut length, mut charset) = (None, None);
        for number in 0..MOST_LINES {
            let Some(line) = self.line()? else { return Ok(Header::End) };
            let text = line.trim_ascii_end();
            if text.is_empty() {
                match (length, charset.take()) {
                    // Empty lines between messages are harmless.
                    (None, _) if number == 0 => return self.header_after_blank(),
                    (None, _) => return Ok(self.lose(&[], "there is no Content-Length")),
                    (Some(length), Some(charset)) => {
                        let why = format!("texts must be utf-8, not {charset}");
                        return Ok(Header::Unread(length, why));
                    }
                    (Some(length), None) if length > LARGEST => {
                        let why = format!(
                            "a message of {length} bytes is too long: the limit is {LARGEST}"
                        );
                        return Ok(Header::Unread(length, why));
                    }
                    (Some(length), None) => return Ok(Header::Body(length)),
                }
            }
            let Some((name, value)) = named(text) else {
                return Ok(self.lose(&line, "a line is not `Name: value`"));
            };
            if name.eq_ignore_ascii_case(LENGTH) {
                match number_of(value) {
                    None => return Ok(self.lose(&[], "the Content-Length is not a number")),
                    found if length.is_some() && length != found => {
                        return Ok(self.lose(&[], "there are two lengths"));
                    }
                    found => length = found,
                }
            } else if name.eq_ignore_ascii_case(b"content-type") {
                charset = foreign_charset(value);
            }
        }
        Ok(self.lose(&[], "it has too many lines"))
    }

    fn header_after_blank(&mut self) -> io::Result<Header> {
        loop {
            let Some(line) = self.line()? else { return Ok(Header::End) };
            if !line.trim_ascii_end().is_empty() {
                self.begun = line;
                return self.header();
            }
        }
    }

    /// Reads up to and including a line end, or up to the line limit; `None` at the end of the
    /// stream.
    fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = std::mem::take(&mut self.begun);
        if !line.ends_with(b"\n") {
            let room = LONGEST_LINE.saturating_sub(line.len()) as u64;
            (&mut self.input).take(room).read_until(b'\n', &mut line)?;
        }
        Ok((line.ends_with(b"\n") || line.len() >= LONGEST_LINE).then_some(line))
    }

    /// Starts the search for the next header, which may be in the rest of a line.
    fn lose(&mut self, line: &[u8], why: &'static str) -> Header {
        let at = line.windows(LENGTH.len()).position(|it| it.eq_ignore_ascii_case(LENGTH));
        match at {
            Some(at @ 1..) => self.begun = line[at..].to_vec(),
            _ => self.is_lost = true,
        }
        Header::Bad(why)
    }

    /// Skips everything before a possible header; false at the end of the stream.
    fn find_header(&mut self) -> io::Result<bool> {
        let mut matched = 0;
        while matched < LENGTH.len() {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Ok(false);
            }
            let mut used = 0;
            for byte in buffer {
                used += 1;
                let byte = byte.to_ascii_lowercase();
                // The first letter of the header's name occurs nowhere else in it.
                matched = match byte == LENGTH[matched] {
                    true => matched + 1,
                    false => usize::from(byte == LENGTH[0]),
                };
                if matched == LENGTH.len() {
                    break;
                }
            }
            self.input.consume(used);
        }
        (self.begun, self.is_lost) = (LENGTH.to_vec(), false);
        Ok(true)
    }
}

/// Splits a line into name and value.
fn named(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|it| *it == b':')?;
    let (name, value) = (line[..colon].trim_ascii_end(), line[colon + 1..].trim_ascii());
    let is_name =
        !name.is_empty() && name.iter().all(|it| it.is_ascii_alphanumeric() || *it == b'-');
    is_name.then_some((name, value))
}

fn number_of(value: &[u8]) -> Option<u64> {
    let digits = value.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(value).ok().filter(|_| digits)?.parse().ok()
}

/// Returns the charset of a content type, if it is not UTF-8.
fn foreign_charset(value: &[u8]) -> Option<String> {
    let value = String::from_utf8_lossy(value).to_ascii_lowercase();
    let charset = value.split(';').find_map(|it| it.trim().strip_prefix("charset="))?;
    let charset = charset.trim_matches('"');
    (!matches!(charset, "utf-8" | "utf8")).then(|| charset.chars().take(40).collect())
}

fn message(body: &[u8]) -> Frame {
    let refused = |code, why: String| Frame::Refused(refusal(Id::Null, code, why));
    match serde_json::from_slice(body) {
        Ok(Value::Object(message)) => of_object(message).unwrap_or_else(|it| Frame::Refused(*it)),
        Ok(Value::Array(_)) => {
            let why =
                "a batch of messages, which the Language Server Protocol does not allow".to_owned();
            refused(ErrorCode::InvalidRequest, why)
        }
        Ok(_) => refused(ErrorCode::InvalidRequest, "a message must be an object".to_owned()),
        Err(error) => {
            refused(ErrorCode::ParseError, format!("a message is not valid JSON: {error}"))
        }
    }
}

fn of_object(mut message: Map<String, Value>) -> Result<Frame, Box<Response>> {
    let wrong = |id: &Option<Id>, why: &str| {
        let id = id.clone().unwrap_or_default();
        Box::new(refusal(id, ErrorCode::InvalidRequest, why.to_owned()))
    };
    let id = message.remove("id").map(id).transpose();
    let id = id.map_err(|()| wrong(&None, "an id must be a string or an integer"))?;
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(wrong(&id, "`jsonrpc` must be \"2.0\""));
    }
    match (message.remove("method"), id) {
        (Some(Value::String(method)), id) => {
            let mut request = Request::build(method);
            if let Some(params) = message.remove("params") {
                request = request.params(params);
            }
            if let Some(id) = id {
                request = request.id(id);
            }
            Ok(Frame::Request(request.finish()))
        }
        (Some(_), id) => Err(wrong(&id, "`method` must be a string")),
        (None, Some(id)) => {
            let (result, error) = (message.remove("result"), message.remove("error"));
            let body = match (result, error) {
                (_, Some(error)) if !error.is_null() => Err(said(error)),
                (Some(result), _) => Ok(result),
                _ => return Err(wrong(&None, "there is neither a method nor a result")),
            };
            Ok(Frame::Response(Response::from_parts(id, body)))
        }
        (None, None) => Err(wrong(&None, "there is neither a method nor an id")),
    }
}

fn id(value: Value) -> Result<Id, ()> {
    match value {
        Value::Null => Ok(Id::Null),
        Value::String(text) => Ok(Id::String(text)),
        number => number.as_i64().map(Id::Number).ok_or(()),
    }
}

/// Parses the error of a client's response; a malformed one becomes an internal error.
fn said(error: Value) -> Error {
    Error::deserialize(&error).unwrap_or_else(|why| Error {
        message: format!("the client's error is malformed: {why}").into(),
        ..Error::internal_error()
    })
}

/// Returns the error response to an invalid message.
pub(super) fn refusal(id: Id, code: ErrorCode, message: String) -> Response {
    let hint = "see the part \"Base Protocol\" of the Language Server Protocol";
    let data = Some(json!({ "kind": "protocol", "hint": hint }));
    Response::from_error(id, Error { code, message: message.into(), data })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a whole stream: methods, `answer` for responses, codes of refusals.
    fn read(stream: &[u8]) -> Vec<String> {
        // The bytes arrive one by one, so the result does not depend on chunks.
        let mut frames = Frames::new(io::BufReader::with_capacity(1, stream));
        let mut all = Vec::new();
        while let Some(frame) = frames.read_frame().expect("a slice can be read") {
            all.push(match frame {
                Frame::Request(it) => it.method().to_owned(),
                Frame::Response(it) => format!("answer {}", it.id()),
                Frame::Refused(it) => {
                    let error = it.error().expect("an error");
                    format!("{} {}", error.code.code(), it.id())
                }
            });
        }
        all
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn headers_are_read_as_they_come_and_found_again() {
        let good = framed(r#"{"jsonrpc":"2.0","method":"m"}"#);
        let body = r#"{"jsonrpc":"2.0","method":"m"}"#;
        let length = body.len();
        let cases: [(String, &[&str]); 18] = [
            (format!("Content-Length: {length}\n\n{body}"), &["m"]),
            (format!("content-length:{length}\r\nX-Other: 1\r\n\r\n{body}"), &["m"]),
            (format!("\r\n\r\nContent-Length: {length}\r\n\r\n{body}"), &["m"]),
            (format!("Content-Length: {length}\r\nContent-Length: {length}\r\n\r\n{body}"), &["m"]),
            (
                format!("Content-Length: 1\r\nContent-Length: {length}\r\n\r\n{body}"),
                &["-32700 null"],
            ),
            (
                format!("Content-Type: x; charset=UTF-8\r\nContent-Length: {length}\r\n\r\n{body}"),
                &["m"],
            ),
            (
                format!(
                    "Content-Type: x; charset=latin1\r\nContent-Length: {length}\r\n\r\n{body}"
                ),
                &["-32600 null"],
            ),
            (format!("Content-Type: x\r\n\r\n{body}"), &["-32700 null"]),
            (format!("Content-Length: -1\r\n\r\n{body}"), &["-32700 null"]),
            (format!("Content-Length: +{length}\r\n\r\n{body}"), &["-32700 null"]),
            (format!("Content-Length: 1e3\r\n\r\n{body}"), &["-32700 null"]),
            ("Content-Length: 99999999999999999999999\r\n\r\n".to_owned(), &["-32700 null"]),
            (body.to_owned(), &["-32700 null"]),
            (
                format!("Content-Length: {}\r\n\r\n{body}", length - 5),
                &["-32700 null", "-32700 null"],
            ),
            (format!("X: {}\r\n\r\n", "x".repeat(2 * LONGEST_LINE)), &["-32700 null"]),
            (format!("{}\r\n", "X: x\r\n".repeat(2 * MOST_LINES)), &["-32700 null"]),
            ("Content-Length: 0\r\n\r\n".to_owned(), &["-32700 null"]),
            (
                format!(
                    "Content-Length: {}\r\n\r\n{}",
                    LARGEST + 1,
                    "x".repeat(LARGEST as usize + 1)
                ),
                &["-32600 null"],
            ),
        ];
        for (stream, wanted) in cases {
            let shown: String = stream.chars().take(80).collect();
            let all = read(format!("{stream}{good}").as_bytes());
            assert_eq!(all[..all.len() - 1], *wanted, "{shown:?}");
            assert_eq!(all[all.len() - 1], "m", "what comes after {shown:?} is read");
        }
    }

    #[test]
    fn bodies_are_messages_or_get_an_answer() {
        let cases = [
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[]}"#, "m"),
            (r#"{"jsonrpc":"2.0","id":"a","result":null}"#, "answer \"a\""),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}"#, "answer 1"),
            (r#"{"jsonrpc":"2.0","id":1,"error":7}"#, "answer 1"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "-32600 null"),
            (r#"{"jsonrpc":"2.0"}"#, "-32600 null"),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "-32600 1"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, "-32600 1"),
            (r#"{"id":"x","method":"m"}"#, "-32600 \"x\""),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, "-32600 null"),
            (r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"m"}"#, "-32600 null"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, "m"),
            (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, "-32600 null"),
            (r#"[{"jsonrpc":"2.0","method":"m"}]"#, "-32600 null"),
            ("7", "-32600 null"),
            ("{", "-32700 null"),
            ("{} {}", "-32700 null"),
        ];
        for (body, wanted) in cases {
            assert_eq!(read(framed(body).as_bytes()), [wanted], "{body}");
        }
        let mut bytes = framed("\"ab\"").into_bytes();
        let at = bytes.len() - 2;
        bytes[at] = 0xff;
        assert_eq!(read(&bytes), ["-32700 null"], "invalid UTF-8");
        let deep = "[".repeat(100_000);
        assert_eq!(read(framed(&deep).as_bytes()), ["-32700 null"], "nested without end");
    }

    #[test]
    fn every_cut_ends_without_an_answer_to_the_half() {
        let one = framed(r#"{"jsonrpc":"2.0","method":"m"}"#);
        for end in 0..one.len() {
            assert_eq!(read(&one.as_bytes()[..end]), Vec::<String>::new(), "cut at {end}");
        }
    }
}
