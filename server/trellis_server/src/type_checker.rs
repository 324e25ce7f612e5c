//! References of a symbol, as found by an installed type checker through its language server.
//!
//! Each question starts one process in the folder, opens the one file, asks, and kills the process
//! with all its children.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use rustix::process::{Pid, Signal, kill_process_group};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::ls_types::Uri;

use trellis_git::git::find;
use trellis_workflows::fault::Fault;

/// Timeout of the whole exchange.
const PATIENCE: Duration = Duration::from_secs(30);

/// The type checkers that can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Checker {
    Ty,
    Pyrefly,
    Basedpyright,
}

/// A symbol in the terms of a language server; lines and columns from 0, columns in UTF-16 units.
pub struct Question<'a> {
    /// Absolute path.
    pub folder: &'a Path,
    /// Absolute path.
    pub file: &'a Path,
    pub text: &'a str,
    pub line: usize,
    pub column: usize,
}

/// Start of a reference: the file as the checker names it, with line and column as in [`Question`].
pub type Start = (PathBuf, usize, usize);

impl Checker {
    /// Name of the program as installed and as shown in results.
    pub fn name(self) -> &'static str {
        match self {
            Checker::Ty => "ty",
            Checker::Pyrefly => "pyrefly",
            Checker::Basedpyright => "basedpyright",
        }
    }

    fn command(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Checker::Ty => ("ty", &["server"]),
            // In other modes Pyrefly answers before it has read the files.
            Checker::Pyrefly => ("pyrefly", &["lsp", "--indexing-mode", "lazy-blocking"]),
            Checker::Basedpyright => ("basedpyright-langserver", &["--stdio"]),
        }
    }

    /// Returns every reference that the checker finds, the definition included.
    pub fn references(self, question: &Question<'_>) -> Result<Vec<Start>, Fault> {
        let program = self.find()?;
        let failed =
            |e: io::Error| Fault::unavailable(format!("cannot start {}: {e}", program.display()));
        let log = tempfile::tempfile().map_err(failed)?;
        let mut talk = CheckerClient::start(&program, self.command().1, question.folder, log)
            .map_err(failed)?;
        talk.ask(question).map_err(|why| {
            let said = talk.said();
            Fault::unavailable(format!("{} found no references: {why}{said}", self.name()))
                .hint("without --confirm, possible references are marked as such")
        })
    }

    /// Finds the program on PATH only: it runs outside of the sandbox, and a program in a project
    /// cannot be trusted.
    fn find(self) -> Result<PathBuf, Fault> {
        let (program, _) = self.command();
        find(program).ok_or_else(|| {
            let name = self.name();
            Fault::unavailable(format!("{program} is not on PATH")).hint(format!(
                "install it with `uv tool install {name}`, or activate the environment that has \
                 it"
            ))
        })
    }
}

/// A running language server; killed with its children when dropped.
struct CheckerClient {
    child: Child,
    /// Channel to a writing thread, since a server may be slow to read.
    input: Sender<String>,
    messages: Receiver<io::Result<Value>>,
    log: File,
    until: Instant,
}

impl CheckerClient {
    fn start(
        program: &Path,
        arguments: &[&str],
        folder: &Path,
        log: File,
    ) -> io::Result<CheckerClient> {
        let mut child = Command::new(program)
            .env_clear()
            .envs(trellis_os::environment::offline_environment())
            .args(arguments)
            .current_dir(folder)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log.try_clone()?)
            .spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.ok_or_else(|| io::Error::other("it has no pipes"))?;
        let (input, messages) = (writer(input), reader(output));
        Ok(CheckerClient { child, input, messages, log, until: Instant::now() + PATIENCE })
    }

    fn ask(&mut self, it: &Question<'_>) -> Result<Vec<Start>, String> {
        let uri = |path: &Path| {
            Uri::from_file_path(path).ok_or_else(|| format!("{} has no URI", path.display()))
        };
        let (root, file) = (uri(it.folder)?, uri(it.file)?);
        let workspace = json!({ "workspaceFolders": true, "configuration": true });
        self.request(1, "initialize", &json!({
            "processId": std::process::id(), "rootUri": root, "capabilities": { "workspace": workspace },
            "workspaceFolders": [{ "uri": root, "name": "project" }],
        }))?;
        self.notify("initialized", &json!({}))?;
        let document =
            json!({ "uri": file, "languageId": "python", "version": 1, "text": it.text });
        self.notify("textDocument/didOpen", &json!({ "textDocument": document }))?;
        let found = self.request(
            2,
            "textDocument/references",
            &json!({
                "textDocument": { "uri": file },
                "position": { "line": it.line, "character": it.column },
                "context": { "includeDeclaration": true },
            }),
        )?;
        let all = found.as_array().map_or(&[][..], Vec::as_slice);
        Ok(all.iter().filter_map(start).collect())
    }

    fn request(&mut self, id: u64, method: &str, parameters: &Value) -> Result<Value, String> {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }))?;
        loop {
            let mut message = self.receive(method)?;
            match (message["method"].is_string(), message["id"].is_null()) {
                (true, false) => self.reply(&message)?,
                (false, _) if message["id"] == id => {
                    return match message["error"]["message"].as_str() {
                        Some(why) => Err(format!("it refused {method}: {why}")),
                        None => Ok(message["result"].take()),
                    };
                }
                _ => {}
            }
        }
    }

    /// Answers a request of the server with default values.
    fn reply(&mut self, asked: &Value) -> Result<(), String> {
        let items = asked["params"]["items"].as_array();
        let result = match items.filter(|_| asked["method"] == "workspace/configuration") {
            Some(items) => Value::Array(vec![Value::Null; items.len()]),
            None => Value::Null,
        };
        self.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }))
    }

    fn notify(&mut self, method: &str, parameters: &Value) -> Result<(), String> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": parameters }))
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let body = message.to_string();
        let framed = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.input.send(framed).map_err(|_| "it ended too early".to_owned())
    }

    fn receive(&mut self, method: &str) -> Result<Value, String> {
        let left = self.until.saturating_duration_since(Instant::now());
        match self.messages.recv_timeout(left) {
            Ok(message) => {
                message.map_err(|e| format!("its output is not a message of the protocol: {e}"))
            }
            Err(RecvTimeoutError::Disconnected) => Err("it ended too early".to_owned()),
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("no answer to {method} within {} seconds", PATIENCE.as_secs()))
            }
        }
    }

    /// Returns the last line of the server's standard error.
    fn said(&mut self) -> String {
        let mut bytes = Vec::new();
        // The text is only an addition to an error: failure to read it is ignored.
        let _ = self.log.rewind().and_then(|()| self.log.read_to_end(&mut bytes));
        let text = String::from_utf8_lossy(&bytes);
        let last = text.lines().rfind(|it| !it.trim().is_empty());
        last.map_or_else(String::new, |it| format!("; it printed: {}", it.trim()))
    }
}

impl Drop for CheckerClient {
    fn drop(&mut self) {
        // The group has the child's id, which cannot be reused before the wait below.
        if let Some(group) = Pid::from_raw(self.child.id().cast_signed()) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// Starts a thread that writes messages until the server or the sender is gone.
fn writer(mut input: ChildStdin) -> Sender<String> {
    let (sender, messages) = channel::<String>();
    std::thread::spawn(move || {
        let mut write = |it: String| input.write_all(it.as_bytes()).and_then(|()| input.flush());
        messages.into_iter().all(|it| write(it).is_ok())
    });
    sender
}

/// Starts a thread that reads messages until the server or the receiver is gone.
fn reader(output: ChildStdout) -> Receiver<io::Result<Value>> {
    let (sender, messages) = channel();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        std::iter::from_fn(|| read(&mut output)).all(|it| sender.send(it).is_ok())
    });
    messages
}

fn start(location: &Value) -> Option<Start> {
    let uri: Uri = location["uri"].as_str()?.parse().ok()?;
    let start = &location["range"]["start"];
    let number = |it: &Value| usize::try_from(it.as_u64()?).ok();
    Some((uri.to_file_path()?.into_owned(), number(&start["line"])?, number(&start["character"])?))
}

/// Reads the next message; `None` at the end.
fn read(output: &mut BufReader<ChildStdout>) -> Option<io::Result<Value>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        match output.read_line(&mut line) {
            Ok(0) => return None,
            Err(error) => return Some(Err(error)),
            Ok(_) => {}
        }
        let line = line.trim();
        let named =
            line.split_once(':').filter(|(it, _)| it.eq_ignore_ascii_case("content-length"));
        if let Some((_, value)) = named {
            length = value.trim().parse::<usize>().ok();
        } else if line.is_empty() {
            break;
        }
    }
    Some(body(output, length))
}

fn body(output: &mut BufReader<ChildStdout>, length: Option<usize>) -> io::Result<Value> {
    let length = length.ok_or_else(|| io::Error::other("a message has no length"))?;
    let mut bytes = Vec::new();
    output.take(length as u64).read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}
