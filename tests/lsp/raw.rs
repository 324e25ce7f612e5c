//! A client without protocol rules: it sends any bytes in any order without waiting, and reads only
//! on demand.

use std::io::{BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use crate::wire;

/// Item for the writing thread.
enum Outgoing {
    Bytes(Vec<u8>),
    /// Signals that everything before it is written.
    Mark(Sender<()>),
}

/// A server with raw streams. Dropping it kills the server and its children.
pub struct Raw {
    child: Child,
    outgoing: Option<Sender<Outgoing>>,
    stdout: Option<ChildStdout>,
    incoming: Option<Receiver<Value>>,
}

impl Raw {
    /// Starts the server in a folder, in a process group of its own; its standard error is dropped.
    ///
    /// # Panics
    ///
    /// The server cannot be started.
    pub fn start(mut command: Command, root: &Path) -> Raw {
        command.current_dir(root).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("a server");
        let mut stdin = child.stdin.take().expect("stdin");
        let stdout = child.stdout.take();
        let (outgoing, to_write) = channel();
        thread::spawn(move || {
            for out in to_write {
                match out {
                    // A server that has ended is noticed where its response is awaited.
                    Outgoing::Bytes(bytes) => drop(stdin.write_all(&bytes)),
                    Outgoing::Mark(done) => drop(done.send(())),
                }
            }
        });
        Raw { child, outgoing: Some(outgoing), stdout, incoming: None }
    }

    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a message without waiting.
    pub fn send(&self, message: &Value) {
        self.send_bytes(wire::frame(message));
    }

    /// Sends raw bytes without waiting.
    pub fn send_bytes(&self, bytes: Vec<u8>) {
        self.put(Outgoing::Bytes(bytes));
    }

    fn put(&self, out: Outgoing) {
        if let Some(outgoing) = &self.outgoing {
            let _ = outgoing.send(out);
        }
    }

    /// Waits until the server has read everything sent, up to the size of a pipe; false on a
    /// timeout.
    pub fn is_taken_in(&self, patience: Duration) -> bool {
        let (done, written) = channel();
        self.put(Outgoing::Mark(done));
        written.recv_timeout(patience).is_ok()
    }

    /// Returns the next message of the server; `None` at the end of its stream. Messages not
    /// requested stay in the pipe, except for one or two.
    ///
    /// # Panics
    ///
    /// A timeout, or an invalid message.
    pub fn next(&mut self, patience: Duration) -> Option<Value> {
        let stdout = &mut self.stdout;
        let incoming = self.incoming.get_or_insert_with(|| {
            let (sender, incoming) = sync_channel(1);
            let mut stream = BufReader::new(stdout.take().expect("nobody closed it"));
            thread::spawn(move || {
                while let Ok(Some(body)) = wire::next(&mut stream) {
                    let message = serde_json::from_slice(&body).unwrap_or(Value::Null);
                    if sender.send(message).is_err() {
                        return;
                    }
                }
            });
            incoming
        });
        match incoming.recv_timeout(patience) {
            Ok(message) => {
                assert!(!message.is_null(), "the server sent what is no JSON");
                Some(message)
            }
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => None,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                panic!("the server said nothing in {patience:?}")
            }
        }
    }

    /// Returns the next response; notifications and requests of the server are skipped.
    ///
    /// # Panics
    ///
    /// A timeout, or the end of the stream.
    pub fn answer(&mut self, patience: Duration) -> Value {
        loop {
            let message = self.next(patience).expect("the server is gone");
            if message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Closes the server's input, after everything sent before.
    pub fn close_input(&mut self) {
        self.outgoing = None;
    }

    /// Closes the server's output: nobody reads its later writes.
    pub fn close_output(&mut self) {
        self.stdout = None;
        self.incoming = None;
    }

    /// Returns the exit status of the server; `None` on a timeout.
    pub fn end(&mut self, patience: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + patience;
        loop {
            let status = self.child.try_wait().ok().flatten();
            if status.is_some() || Instant::now() > deadline {
                return status;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Kills only the server, as the system does when memory runs out.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = self.child.wait();
        }
    }
}
