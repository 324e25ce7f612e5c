//! The server's process, requests with deadlines, and shutdown.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use crate::pipes::{Incoming, Reader};
use crate::questions::Questions;
use crate::text::Encoding;
use crate::uri::uri_of;
use crate::{handshake, pipes, wire};

/// Maximum number of kept notifications; older ones are dropped.
const NOTICES: usize = 1000;
/// Timeout for an orderly shutdown.
const FAREWELL: Duration = Duration::from_secs(10);

/// Reason why there is no response.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("`{program}` could not be started: {error}; is it installed?")]
    NotStarted { program: String, error: io::Error },
    #[error("no answer to {method} in {seconds:.1} s")]
    TimedOut { method: String, seconds: f64 },
    #[error("{method} was refused: {message} (code {code})")]
    Refused { method: String, code: i64, message: String, data: Box<Value> },
    #[error("the server ended before it answered {method}: {reason}{last_words}")]
    Ended { method: String, reason: String, last_words: String },
    #[error("{}: {error}", file.display())]
    File { file: PathBuf, error: io::Error },
    #[error("{what} that makes no sense: {value}")]
    Odd { what: &'static str, value: String },
}

/// Result of a request.
#[derive(Debug)]
pub struct Answer {
    pub value: Value,
    /// Time from sending the request to the last byte of the response, without parsing.
    pub took: Duration,
    pub at: Instant,
}

/// Time to wait for the last output of a server that has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Message received before a deadline.
enum Heard {
    Response(Value, Instant),
    Notice,
    Nothing,
}

/// A server's process with its client. Dropping it kills the server and its children.
pub struct Client {
    child: Child,
    root: PathBuf,
    started: Instant,
    outgoing: Sender<Vec<u8>>,
    incoming: Receiver<Incoming>,
    last_words: Arc<Mutex<Vec<u8>>>,
    silent: Receiver<()>,
    notices: VecDeque<(String, Value)>,
    pub(crate) questions: Questions,
    encoding: Encoding,
    asked: i64,
    abilities: Value,
    pub(crate) versions: HashMap<PathBuf, i32>,
}

impl Client {
    /// Starts the server in the root folder (absolute), in a process group of its own. Sends
    /// nothing yet.
    pub fn start(mut command: Command, root: &Path) -> Result<Client, Failure> {
        let program = command.get_program().to_string_lossy().into_owned();
        command.current_dir(root).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = Instant::now();
        let mut child = command.spawn().map_err(|error| Failure::NotStarted { program, error })?;
        let (outgoing, to_write) = channel();
        let (to_client, incoming) = channel();
        let folder = json!({"uri": uri_of(root), "name": "root"});
        let questions = Questions::default();
        let reserved = questions.reserved.clone();
        let reader = Reader { folder, outgoing: outgoing.clone(), client: to_client, reserved };
        let last_words = Arc::default();
        let (speaks, silent) = channel();
        if let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        {
            thread::spawn(move || pipes::write_all(stdin, &to_write));
            thread::spawn(move || reader.run(stdout));
            let kept = Arc::clone(&last_words);
            thread::spawn(move || {
                pipes::keep(stderr, &kept);
                drop(speaks);
            });
        }
        Ok(Client {
            child,
            root: root.to_owned(),
            started,
            outgoing,
            incoming,
            last_words,
            silent,
            notices: VecDeque::new(),
            questions,
            encoding: Encoding::Utf16,
            asked: 0,
            abilities: Value::Null,
            versions: HashMap::new(),
        })
    }

    /// Adds client capabilities to the default ones: fields of `ClientCapabilities`.
    pub fn can(&mut self, abilities: Value) {
        self.abilities = abilities;
    }

    /// Sends `initialize` and `initialized`, offering these encodings in this order; returns the
    /// server's capabilities.
    pub fn initialize(
        &mut self,
        encodings: &[Encoding],
        options: &Value,
        patience: Duration,
    ) -> Result<Value, Failure> {
        let params = handshake::parameters(&self.root, encodings, options, &self.abilities);
        let mut result = self.request("initialize", params, patience)?;
        let capabilities = result["capabilities"].take();
        let name = capabilities["positionEncoding"].as_str();
        let odd = || Failure::Odd { what: "an encoding", value: format!("{name:?}") };
        self.encoding = Encoding::named(name).ok_or_else(odd)?;
        self.notify("initialized", json!({}));
        Ok(capabilities)
    }

    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the time at which the process was started.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// Returns the encoding agreed on in `initialize`.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns the result of a request.
    pub fn request(
        &mut self,
        method: &str,
        params: Value,
        patience: Duration,
    ) -> Result<Value, Failure> {
        Ok(self.timed(method, params, patience)?.value)
    }

    /// Returns the result of a request with its duration. A request that times out is cancelled;
    /// its late response is dropped.
    pub fn timed(
        &mut self,
        method: &str,
        params: Value,
        patience: Duration,
    ) -> Result<Answer, Failure> {
        self.asked += 1;
        let id = self.asked;
        let bytes = wire::frame(&message(Some(id), method, params));
        let sent = Instant::now();
        let _ = self.outgoing.send(bytes);
        loop {
            match self.next(sent + patience) {
                Ok(Some((message, at))) if message["id"] == id => {
                    let took = at.duration_since(sent);
                    return outcome(method, message).map(|value| Answer { value, took, at });
                }
                Ok(Some(_)) => {}
                Ok(None) => {
                    self.notify("$/cancelRequest", json!({"id": id}));
                    let seconds = patience.as_secs_f64();
                    return Err(Failure::TimedOut { method: method.to_owned(), seconds });
                }
                Err(reason) => return Err(self.ended(method, reason)),
            }
        }
    }

    pub fn notify(&self, method: &str, params: Value) {
        self.send(wire::frame(&message(None, method, params)));
    }

    /// Receives messages of the server for this long.
    pub fn listen(&mut self, time: Duration) -> Result<(), Failure> {
        let deadline = Instant::now() + time;
        loop {
            match self.next(deadline) {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(()),
                Err(reason) => return Err(self.ended("listening", reason)),
            }
        }
    }

    /// Returns the parameters of the next notification with this method, already received or still
    /// to come.
    pub fn notice(&mut self, method: &str, patience: Duration) -> Result<Value, Failure> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(index) = self.notices.iter().position(|(name, _)| name == method) {
                return Ok(self.notices.remove(index).map(|it| it.1).unwrap_or_default());
            }
            self.hear(method, deadline, patience)?;
        }
    }

    /// Receives one message of any kind, or fails at the deadline.
    pub(crate) fn hear(
        &mut self,
        method: &str,
        deadline: Instant,
        patience: Duration,
    ) -> Result<(), Failure> {
        match self.one(deadline) {
            Ok(Heard::Nothing) => {
                let seconds = patience.as_secs_f64();
                Err(Failure::TimedOut { method: method.to_owned(), seconds })
            }
            Ok(_) => Ok(()),
            Err(reason) => Err(self.ended(method, reason)),
        }
    }

    pub(crate) fn send(&self, bytes: Vec<u8>) {
        // A server that has ended is noticed at the next request.
        let _ = self.outgoing.send(bytes);
    }

    /// Sends `shutdown` and `exit`, and returns the exit status of the process.
    pub fn shutdown(mut self) -> Result<ExitStatus, Failure> {
        self.request("shutdown", Value::Null, FAREWELL)?;
        self.exit()
    }

    /// Sends `exit` after a `shutdown`, and returns the exit status of the process.
    pub fn exit(mut self) -> Result<ExitStatus, Failure> {
        self.notify("exit", Value::Null);
        let deadline = Instant::now() + FAREWELL;
        // The stream ends before the process; after that nothing blocks.
        while matches!(self.one(deadline), Ok(Heard::Response(..) | Heard::Notice)) {}
        let seconds = FAREWELL.as_secs_f64();
        let late = Failure::TimedOut { method: "exit".to_owned(), seconds };
        self.status(deadline).ok_or(late)
    }

    /// Returns the exit status if the process ends before the deadline.
    fn status(&mut self, deadline: Instant) -> Option<ExitStatus> {
        loop {
            let status = self.child.try_wait().ok().flatten();
            if status.is_some() || Instant::now() > deadline {
                return status;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns the next response; `None` at the deadline; an error if the server has ended.
    fn next(&mut self, deadline: Instant) -> Result<Option<(Value, Instant)>, String> {
        loop {
            match self.one(deadline)? {
                Heard::Response(message, at) => return Ok(Some((message, at))),
                Heard::Notice => {}
                Heard::Nothing => return Ok(None),
            }
        }
    }

    /// Receives the next message of any kind; notifications and reserved requests are stored.
    fn one(&mut self, deadline: Instant) -> Result<Heard, String> {
        match self.incoming.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(Incoming::Response { message, at }) => Ok(Heard::Response(message, at)),
            Ok(Incoming::Notice { method, params }) => {
                if self.notices.len() == NOTICES {
                    self.notices.pop_front();
                }
                self.notices.push_back((method, params));
                Ok(Heard::Notice)
            }
            Ok(Incoming::Question(question)) => {
                self.questions.waiting.push_back(question);
                Ok(Heard::Notice)
            }
            Ok(Incoming::End(reason)) => Err(reason),
            Err(RecvTimeoutError::Timeout) => Ok(Heard::Nothing),
            Err(RecvTimeoutError::Disconnected) => Err("it is gone".to_owned()),
        }
    }

    fn ended(&mut self, method: &str, mut reason: String) -> Failure {
        // The streams end one after the other, and the process last.
        let _ = self.silent.recv_timeout(LAST_WORDS);
        if let Some(status) = self.status(Instant::now() + LAST_WORDS) {
            reason = status.to_string();
        }
        let bytes = self.last_words.lock().map(|it| it.clone()).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let tail = &lines[lines.len().saturating_sub(5)..];
        let last_words = tail.iter().map(|line| format!("\n    {line}")).collect();
        Failure::Ended { method: method.to_owned(), reason, last_words }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = self.child.wait();
        }
    }
}

/// Builds a request or a notification. Parameters may be left out, but must not be null.
fn message(id: Option<i64>, method: &str, params: Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if let Some(id) = id {
        message["id"] = id.into();
    }
    if !params.is_null() {
        message["params"] = params;
    }
    message
}

/// Returns the result of a response, or its error.
fn outcome(method: &str, mut message: Value) -> Result<Value, Failure> {
    let error = &message["error"];
    if error.is_null() {
        return Ok(message["result"].take());
    }
    Err(Failure::Refused {
        method: method.to_owned(),
        code: error["code"].as_i64().unwrap_or_default(),
        message: error["message"].as_str().unwrap_or("without a word").to_owned(),
        data: Box::new(error["data"].clone()),
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::{Client, Failure};
    use crate::Encoding;

    const SOON: Duration = Duration::from_millis(200);

    /// Script that reads everything and keeps its output open.
    const LISTEN: &str = "while read -r line; do :; done";

    /// Starts a shell script as a server.
    fn server(script: &str) -> Client {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Client::start(command, &std::env::temp_dir()).expect("a shell")
    }

    #[test]
    fn a_server_that_does_not_answer_is_named_with_the_method() {
        let mut client = server(LISTEN);
        let failure = client.request("workspace/symbol", json!({}), SOON).expect_err("no answer");
        assert_eq!(failure.to_string(), "no answer to workspace/symbol in 0.2 s");
    }

    #[test]
    fn a_server_that_ends_leaves_its_last_words() {
        let mut client = server("echo no such command >&2; exit 3");
        let failure = client.initialize(&[Encoding::Utf8], &Value::Null, SOON * 50);
        let text = failure.expect_err("it ended").to_string();
        assert!(text.ends_with("\n    no such command"), "{text}");
    }

    #[test]
    fn what_is_no_server_is_not_started() {
        let client = Client::start(Command::new("/nonexistent"), &std::env::temp_dir());
        assert!(matches!(client, Err(Failure::NotStarted { .. })));
    }

    #[test]
    fn answers_are_told_from_notices_and_questions() {
        // The client answers the server's request before it sends its own; the script ignores that
        // response.
        let mut script = String::new();
        for body in [
            r#"{"id": 7, "method": "workspace/configuration", "params": {"items": [{}]}}"#,
            r#"{"method": "window/logMessage", "params": {"message": "hello"}}"#,
            r#"{"id": 99, "result": "late"}"#,
            r#"{"id": 1, "error": {"code": -5, "message": "not today"}}"#,
            r#"{"id": 2, "result": [1]}"#,
        ] {
            script += &format!("printf 'Content-Length: {}\\r\\n\\r\\n%s' '{body}';", body.len());
        }
        let mut client = server(&(script + LISTEN));
        let refused = client.request("first", json!({}), SOON * 50).expect_err("refused");
        assert_eq!(refused.to_string(), "first was refused: not today (code -5)");
        assert_eq!(client.request("second", json!({}), SOON * 50).expect("an answer"), json!([1]));
        let notice = client.notice("window/logMessage", SOON).expect("kept");
        assert_eq!(notice["message"], "hello");
    }
}
