//! The pipes of a container: one multiplexed stream from the engine, three ends for the caller.

use std::{
    pin::{Pin, pin},
    time::Duration,
};

use bollard::container::{AttachContainerResults, LogOutput};
use futures_util::StreamExt;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt, DuplexStream, copy, duplex},
    task::JoinSet,
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use super::Connection;

/// Bytes buffered in one pipe before its writer has to wait. This bounds the memory that a worker's
/// output takes in this process.
const WAITING: usize = 256 << 10;

/// Time for a reader to read the last output of a killed worker.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Returns the caller's ends, and starts tasks that copy between them and the engine until they are
/// dropped.
pub(super) fn carry(
    attached: AttachContainerResults,
    killed: CancellationToken,
    tasks: &mut JoinSet<()>,
) -> Connection {
    let (input, from_caller) = duplex(WAITING);
    let (output, to_output) = duplex(WAITING);
    let (errors, to_errors) = duplex(WAITING);
    tasks.spawn(send(from_caller, attached.input));
    tasks.spawn(receive(attached.output, to_output, to_errors, killed));
    Connection { input: Box::new(input), output: Box::new(output), errors: Box::new(errors) }
}

/// Copies the caller's input to the container until either one ends.
async fn send(mut from: DuplexStream, mut to: Pin<Box<dyn AsyncWrite + Send>>) {
    if copy(&mut from, &mut to).await.is_ok() {
        // The container may have ended already; then there is nothing to close.
        let _ = to.shutdown().await;
    }
}

type Chunks =
    Pin<Box<dyn futures_util::Stream<Item = Result<LogOutput, bollard::errors::Error>> + Send>>;

/// Copies the container's output to the two ends. The engine keeps a container until its output has
/// been read. So once the container is killed and the output has no reader, the rest is dropped.
async fn receive(
    mut chunks: Chunks,
    mut output: DuplexStream,
    mut errors: DuplexStream,
    killed: CancellationToken,
) {
    let mut late = pin!(async {
        killed.cancelled().await;
        sleep(LAST_WORDS).await;
    });
    while let Some(Ok(chunk)) = chunks.next().await {
        let (end, bytes) = match &chunk {
            LogOutput::StdErr { message } => (&mut errors, message),
            LogOutput::StdOut { message }
            | LogOutput::StdIn { message }
            | LogOutput::Console { message } => (&mut output, message),
        };
        tokio::select! {
            // An end without a reader must not hold up the other.
            _ = end.write_all(bytes) => (),
            () = &mut late => break,
        }
    }
    drop((output, errors));
    while chunks.next().await.is_some_and(|chunk| chunk.is_ok()) {}
}
