//! The threads for the server's three streams.

use std::io::{BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Instant;

use serde_json::Value;

use crate::questions::{Question, Reserved};
use crate::{answers, wire};

/// Bytes kept of the server's standard error.
const LAST_WORDS: usize = 4096;

/// Messages of the server except its requests, which are answered at once unless they are reserved.
pub(crate) enum Incoming {
    /// A response; `at` is the arrival of its last byte, before parsing.
    Response {
        message: Value,
        at: Instant,
    },
    Notice {
        method: String,
        params: Value,
    },
    Question(Question),
    End(String),
}

/// Thread that reads from the server.
pub(crate) struct Reader {
    pub(crate) folder: Value,
    pub(crate) outgoing: Sender<Vec<u8>>,
    pub(crate) client: Sender<Incoming>,
    pub(crate) reserved: Reserved,
}

impl Reader {
    pub(crate) fn run(self, stdout: ChildStdout) {
        let mut stream = BufReader::with_capacity(1 << 16, stdout);
        let reason = loop {
            match wire::next(&mut stream) {
                Ok(Some(body)) => match self.hear(&body, Instant::now()) {
                    Ok(()) => {}
                    Err(reason) => break reason,
                },
                Ok(None) => break "it closed its output".to_owned(),
                Err(error) => break error.to_string(),
            }
        };
        let _ = self.client.send(Incoming::End(reason));
    }

    fn hear(&self, body: &[u8], at: Instant) -> Result<(), String> {
        let mut message: Value = serde_json::from_slice(body)
            .map_err(|error| format!("a message is no JSON: {error}"))?;
        let incoming = match message["method"].as_str() {
            Some(name) if !message["id"].is_null() && self.reserved.holds(name) => {
                let method = name.to_owned();
                let (id, params) = (message["id"].take(), message["params"].take());
                Incoming::Question(Question { id, method, params })
            }
            Some(method) if !message["id"].is_null() => {
                let answer =
                    answers::answer(&message["id"], method, &message["params"], &self.folder);
                let _ = self.outgoing.send(wire::frame(&answer));
                return Ok(());
            }
            Some(method) => {
                Incoming::Notice { method: method.to_owned(), params: message["params"].take() }
            }
            None => Incoming::Response { message, at },
        };
        let _ = self.client.send(incoming);
        Ok(())
    }
}

/// Writes messages to the server; ends when the server reads no more.
pub(crate) fn write_all(mut stdin: ChildStdin, messages: &Receiver<Vec<u8>>) {
    for bytes in messages {
        if stdin.write_all(&bytes).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// Keeps the end of the server's standard error.
pub(crate) fn keep(mut stderr: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut buffer) {
        if let Ok(mut kept) = kept.lock() {
            kept.extend(&buffer[..count]);
            let surplus = kept.len().saturating_sub(LAST_WORDS);
            kept.drain(..surplus);
        }
    }
}
