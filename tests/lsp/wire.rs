//! Framing of messages: a header with the length in bytes, an empty line, JSON.

use std::io::{self, BufRead, Error};

use serde_json::Value;

/// Returns one message as bytes.
pub fn frame(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Reads the bytes of the next message; `None` at the end of the stream.
pub(crate) fn next(stream: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let Some(length) = header(stream)? else { return Ok(None) };
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Some(body))
}

/// Reads a header and returns the length in it, in bytes.
fn header(stream: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut length = None;
    let mut line = String::new();
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let text = line.trim_end();
        if text.is_empty() {
            let missing = || Error::other("a message without Content-Length");
            return length.ok_or_else(missing).map(Some);
        }
        match text.split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = Some(value.trim().parse().map_err(Error::other)?);
            }
            Some(_) => {}
            None => return Err(Error::other(format!("`{text}` where a header should be"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{frame, next};

    #[test]
    fn what_is_framed_is_read_again() {
        let message = json!({"text": "zwölf 🙂"});
        let mut bytes = frame(&message);
        bytes.extend(b"content-type: x\r\ncontent-length: 2\r\n\r\n{}");
        let mut stream = bytes.as_slice();
        let first = next(&mut stream).expect("a message").expect("not the end");
        assert_eq!(first, message.to_string().into_bytes());
        assert_eq!(next(&mut stream).expect("a message"), Some(b"{}".to_vec()));
        assert_eq!(next(&mut stream).expect("the end"), None);
    }

    #[test]
    fn words_before_a_header_are_an_error() {
        assert!(next(&mut b"warning\r\n\r\n".as_slice()).is_err());
    }
}
