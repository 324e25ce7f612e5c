//! Standard input and output on detached threads: tokio's own would delay exit until the client
//! writes, reads or closes once more.

use std::io::{self, BufReader, Write};
use std::thread;

use tokio::sync::{mpsc, oneshot};

use super::codec::{Frame, Frames};

/// Bytes read at once.
const CHUNK: usize = 64 << 10;
/// Maximum messages read ahead; each may be large.
const AHEAD: usize = 4;

/// Starts a thread that reads the client's messages until the end of the stream.
pub(super) fn input() -> io::Result<mpsc::Receiver<Frame>> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        let mut frames = Frames::new(BufReader::with_capacity(CHUNK, io::stdin().lock()));
        loop {
            match frames.read_frame() {
                Ok(Some(frame)) => {
                    if sender.blocking_send(frame).is_err() {
                        return;
                    }
                }
                Ok(None) => return,
                Err(error) => return tracing::error!("standard input: {error}"),
            }
        }
    })?;
    Ok(receiver)
}

/// Standard output, written by a thread of its own.
pub(super) struct ClientOutput {
    /// Takes bytes for the client, one chunk at a time; closes when the client takes no more.
    pub(super) sender: mpsc::Sender<Vec<u8>>,
    /// Fires once everything is written.
    pub(super) all_out: oneshot::Receiver<()>,
}

/// Starts the thread that writes to the client.
pub(super) fn output() -> io::Result<ClientOutput> {
    let (sender, mut receiver) = mpsc::channel::<Vec<u8>>(1);
    let (done, all_out) = oneshot::channel();
    thread::Builder::new().name("stdout".to_owned()).spawn(move || {
        let mut stdout = io::stdout().lock();
        while let Some(bytes) = receiver.blocking_recv() {
            if stdout.write_all(&bytes).and_then(|()| stdout.flush()).is_err() {
                return;
            }
        }
        // The receiver may have given up.
        let _ = done.send(());
    })?;
    Ok(ClientOutput { sender, all_out })
}
