//! The bytes of one `ssh`, and the reason for its end.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared},
};
use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, BufReader, Join, ReadBuf, join},
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
    time::timeout,
};

use crate::error::{SshDestination, SshError, SshFault};

/// Time for the last line of an ssh that has ended. A master of ssh keeps the pipe open.
const LAST_LINE: Duration = Duration::from_secs(1);

/// Maximum length in bytes of a line from the other host.
const LONGEST_LINE: u64 = 4096;

/// The first bytes of every reply.
const REPLY: &[u8] = b"HTTP/";

/// The pipes of an `ssh`, which is killed when this is dropped.
pub(super) struct SshStream {
    io: Join<ChildStdout, ChildStdin>,
    /// The first bytes from the other host, as many as [`REPLY`] has.
    begin: Vec<u8>,
    destination: SshDestination,
    end: Shared<BoxFuture<'static, SshError>>,
}

impl SshStream {
    /// Returns the stream of a process with three pipes. Needs a tokio runtime.
    pub(super) fn of(mut child: Child, destination: &SshDestination) -> Option<SshStream> {
        let io = join(child.stdout.take()?, child.stdin.take()?);
        let last = Arc::new(Mutex::new(String::new()));
        let reading = tokio::spawn(keep_last_line(child.stderr.take()?, last.clone()));
        let destination = destination.clone();
        let error = {
            let destination = destination.clone();
            move |fault| SshError { destination, fault }
        };
        let end = async move {
            let status = child.wait().await;
            // Without the end of the pipe, the last line so far is the one.
            let _ = timeout(LAST_LINE, reading).await;
            let line = last.lock().map(|it| it.clone()).unwrap_or_default();
            error(SshFault::of(status.ok().and_then(|it| it.code()), line))
        };
        Some(SshStream { io, begin: Vec::new(), destination, end: end.boxed().shared() })
    }

    fn has_reply(&self) -> bool {
        self.begin.len() == REPLY.len()
    }

    /// Returns the error of an ssh that ended without a reply.
    fn poll_failure(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        // A shared future that is complete must not be polled; hyper reads after an error.
        let next = self.end.clone();
        let failure = ready!(self.end.poll_unpin(context));
        self.end = next;
        Poll::Ready(io::Error::other(failure))
    }

    /// Checks that the other host's first bytes are those of a reply.
    fn check_begin(&mut self, read: &[u8]) -> io::Result<()> {
        let missing = REPLY.len() - self.begin.len();
        self.begin.extend(read.iter().take(missing));
        if REPLY.starts_with(&self.begin) {
            return Ok(());
        }
        let line = read.split(|it| *it == b'\n').next().unwrap_or_default();
        let fault = SshFault::Noise { line: printable(line) };
        Err(io::Error::other(SshError { destination: self.destination.clone(), fault }))
    }
}

/// Keeps the last line that is not blank.
async fn keep_last_line(errors: ChildStderr, last: Arc<Mutex<String>>) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    while let Ok(1..) = (&mut errors).take(LONGEST_LINE).read_until(b'\n', &mut line).await {
        let text = printable(&line);
        line.clear();
        if let Ok(mut last) = last.lock()
            && !text.is_empty()
        {
            *last = text;
        }
    }
}

/// Returns the text of a line without control characters.
fn printable(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text: String = text.chars().filter(|it| !it.is_control()).collect();
    text.trim().to_owned()
}

impl AsyncRead for SshStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(context, buffer))?;
        if self.has_reply() {
            return Poll::Ready(Ok(()));
        }
        match &buffer.filled()[before..] {
            [] => self.poll_failure(context).map(Err),
            read => Poll::Ready(self.check_begin(read)),
        }
    }
}

impl AsyncWrite for SshStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match ready!(Pin::new(&mut self.io).poll_write(context, bytes)) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe && !self.has_reply() => {
                self.poll_failure(context).map(Err)
            }
            written => Poll::Ready(written),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

impl Connection for SshStream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use tokio::{io::AsyncWriteExt, process::Command};

    use super::*;

    /// Starts a program that ends without a reply, as `ssh` does with a wrong key.
    fn refused_ssh() -> SshStream {
        let mut command = Command::new("sh");
        command.args(["-c", "echo 'Permission denied (publickey).' >&2; exit 255"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let destination = SshDestination { host: "builder".to_owned(), port: None };
        SshStream::of(command.spawn().unwrap(), &destination).unwrap()
    }

    #[tokio::test]
    async fn each_read_and_write_after_the_end_has_its_reason() {
        let mut stream = refused_ssh();
        let errors = [
            stream.read(&mut [0; 8]).await.unwrap_err(),
            stream.write(b"GET /").await.unwrap_err(),
            stream.read(&mut [0; 8]).await.unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().contains("Permission denied (publickey)"), "{error}");
        }
    }
}
