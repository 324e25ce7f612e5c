//! Serves a recording over HTTP in the formats of four providers; the Node.js scripts are beside
//! this file.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// Timeout that only a stuck server reaches.
const PATIENCE: Duration = Duration::from_secs(120);

/// Names of a provider for `trellis`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    /// Prefix of `--model` before the colon, also used in the server's events.
    pub(crate) provider: &'static str,
    /// Environment variable with the base URL.
    pub(crate) url_variable: &'static str,
    /// Environment variable with the key.
    pub(crate) key_variable: &'static str,
    /// True if requests without a key are not sent.
    pub(crate) wants_key: bool,
}

pub(crate) const OPENAI: Format = Format {
    provider: "openai",
    url_variable: "OPENAI_BASE_URL",
    key_variable: "OPENAI_API_KEY",
    wants_key: true,
};

/// A running server. It ends when this value is dropped or its process ends.
pub(crate) struct Served {
    child: Child,
    /// Standard input, open as long as the server should run.
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    events: Vec<Value>,
    port: u16,
}

/// Returns the folder of the scripts.
pub(crate) fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("mock")
}

/// Returns options for a server: a graph and a recording; `serve.mjs` lists further fields.
pub(crate) fn order(graph: &Path, recording: &Path) -> Value {
    json!({ "graph": graph, "recording": recording })
}

impl Served {
    /// Starts a server on a free port of the loopback interface. `home` holds the `node_modules`
    /// that `cargo xtask test` installs.
    pub(crate) fn start(home: &Path, order: &Value) -> Result<Served, String> {
        if !home.join("node_modules").exists() {
            return Err(format!("{} has no node_modules: run `cargo xtask test`", home.display()));
        }
        let mut command = Command::new("node");
        command.arg(scripts().join("serve.mjs")).env("MOCK_HOME", home);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|e| format!("node cannot be started: {e}"))?;
        let mut input = child.stdin.take().ok_or("no standard input")?;
        let output = child.stdout.take().ok_or("no standard output")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let values = BufReader::new(output).lines().map_while(Result::ok);
            for value in values.filter_map(|line| serde_json::from_str(&line).ok()) {
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        writeln!(input, "{order}").map_err(|e| format!("the server takes no order: {e}"))?;
        let mut served = Served { child, input: Some(input), lines, events: Vec::new(), port: 0 };
        let first = served.next()?.ok_or("the server ended before it began")?;
        served.port = first["port"].as_u64().and_then(|port| port.try_into().ok()).unwrap_or(0);
        Ok(served)
    }

    /// Returns the base URL, without a path.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Waits for an event of the server.
    pub(crate) fn wait_for(&mut self, is_it: impl Fn(&Value) -> bool) -> Result<Value, String> {
        while let Some(event) = self.next()? {
            self.events.push(event.clone());
            if is_it(&event) {
                return Ok(event);
            }
        }
        Err("the server ended before that".to_owned())
    }

    /// Ends the server and returns all its events.
    pub(crate) fn finish(mut self) -> Result<Vec<Value>, String> {
        self.input = None;
        while let Some(event) = self.next()? {
            self.events.push(event);
        }
        Ok(std::mem::take(&mut self.events))
    }

    /// Returns the next event; `None` after the last.
    fn next(&self) -> Result<Option<Value>, String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(value) => Ok(Some(value)),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => Err("the server says nothing".to_owned()),
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.input = None;
        // The server may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
