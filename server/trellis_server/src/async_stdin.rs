//! Standard input as an asynchronous stream that does not delay exit.

use std::io::{self, Read};

use futures_util::stream;
use tokio::io::AsyncRead;
use tokio::sync::mpsc;
use tokio_util::io::StreamReader;

/// Bytes read at once.
const CHUNK: usize = 64 << 10;

/// Reads standard input on a detached thread: tokio's own would delay exit until the client writes
/// or closes once more.
pub fn input() -> io::Result<impl AsyncRead + Unpin> {
    let (sender, receiver) = mpsc::channel::<io::Result<io::Cursor<Vec<u8>>>>(16);
    std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        let mut stdin = io::stdin().lock();
        let mut buffer = vec![0; CHUNK];
        loop {
            let chunk = match stdin.read(&mut buffer) {
                Ok(0) => return,
                Ok(length) => Ok(io::Cursor::new(buffer[..length].to_vec())),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let failed = chunk.is_err();
            if sender.blocking_send(chunk).is_err() || failed {
                return;
            }
        }
    })?;
    let next = |mut receiver: mpsc::Receiver<_>| async { Some((receiver.recv().await?, receiver)) };
    Ok(StreamReader::new(Box::pin(stream::unfold(receiver, next))))
}
