//! Standard input and output, each on a thread that nobody waits for: tokio's own would keep the process from
//! ending until the client writes, reads or closes once more.

use std::io::{self, BufReader, Write};
use std::thread;

use tokio::sync::{mpsc, oneshot};

use super::codec::{Frame, Frames};

/// Bytes read at once.
const CHUNK: usize = 64 << 10;
/// Messages that are read ahead; each may be large.
const AHEAD: usize = 4;

/// What the client sends, until the end of its stream.
pub(super) fn input() -> io::Result<mpsc::Receiver<Frame>> {
    let (sender, receiver) = mpsc::channel(AHEAD);
    thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        let mut frames = Frames::new(BufReader::with_capacity(CHUNK, io::stdin().lock()));
        loop {
            match frames.next() {
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

/// Where bytes for the client are put, one piece at a time; closed when the client takes no more. The second end
/// hears when all that was put there is out.
pub(super) fn output() -> io::Result<(mpsc::Sender<Vec<u8>>, oneshot::Receiver<()>)> {
    let (sender, mut receiver) = mpsc::channel::<Vec<u8>>(1);
    let (done, all_out) = oneshot::channel();
    thread::Builder::new().name("stdout".to_owned()).spawn(move || {
        let mut stdout = io::stdout().lock();
        while let Some(bytes) = receiver.blocking_recv() {
            if stdout.write_all(&bytes).and_then(|()| stdout.flush()).is_err() {
                return;
            }
        }
        // Who listened has given up.
        let _ = done.send(());
    })?;
    Ok((sender, all_out))
}
