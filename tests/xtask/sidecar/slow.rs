//! A client that reads only on demand; the client of `lsp` always reads.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Instant;

use lsp::uri_of;
use serde_json::{Value, json};

use super::{Failed, PATIENCE};
use crate::symbols::server::Server;

/// A server with its pipes. Dropping it kills the server.
pub(super) struct Slow {
    child: Child,
    stdin: ChildStdin,
    stdout: Option<BufReader<ChildStdout>>,
}

impl Slow {
    /// Starts and initializes a server.
    pub(super) fn start(server: &Server, root: &Path) -> Result<Slow, Failed> {
        let mut command = server.command();
        command.current_dir(root).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failed::Other("a server without pipes".to_owned()));
        };
        let mut slow = Slow { child, stdin, stdout: Some(BufReader::new(stdout)) };
        let folder = json!({ "uri": uri_of(root), "name": "root" });
        let hello = json!({ "processId": null, "rootUri": folder["uri"], "workspaceFolders": [folder], "capabilities": {} });
        slow.send(json!({ "id": 1, "method": "initialize", "params": hello }))?;
        if let Some(stdout) = &mut slow.stdout {
            message(stdout)?;
        }
        slow.send(json!({ "method": "initialized", "params": {} }))?;
        Ok(slow)
    }

    pub(super) fn process_id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn send(&mut self, mut message: Value) -> Result<(), Failed> {
        message["jsonrpc"] = "2.0".into();
        let body = message.to_string();
        write!(self.stdin, "Content-Length: {}\r\n\r\n{body}", body.len())?;
        Ok(self.stdin.flush()?)
    }

    /// Starts to read at full speed.
    pub(super) fn read(&mut self) -> Messages {
        let (sender, messages) = channel();
        if let Some(mut stdout) = self.stdout.take() {
            thread::spawn(move || {
                while let Ok(message) = message(&mut stdout) {
                    if sender.send((message, Instant::now())).is_err() {
                        return;
                    }
                }
            });
        }
        Messages(messages)
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        // A server that has ended cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Messages of the server, with their arrival times.
pub(super) struct Messages(Receiver<(Value, Instant)>);

impl Messages {
    pub(super) fn next(&self) -> Result<(Value, Instant), Failed> {
        let silent = |_| Failed::Other("the server says nothing any more".to_owned());
        self.0.recv_timeout(PATIENCE).map_err(silent)
    }
}

fn message(stream: &mut impl BufRead) -> io::Result<Value> {
    let mut length = 0;
    let mut line = String::new();
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if line.trim_end().is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    let mut body = Vec::new();
    stream.take(length).read_to_end(&mut body)?;
    serde_json::from_slice(&body).map_err(io::Error::other)
}
