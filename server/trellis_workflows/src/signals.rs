//! SIGINT and SIGTERM: the first signal requests a stop, the second one forces it.

use std::io::Write;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::fault::{Exit, Fault};

/// Cancels `token` at the first signal and exits at the second; a file being written then has its
/// old or its new text, never a part.
pub fn cancel_on_signal(token: CancellationToken) -> Result<(), Fault> {
    let cannot = |e: std::io::Error| Fault::internal(format!("cannot listen for signals: {e}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(cannot)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(cannot)?;
    tokio::spawn(async move {
        either(&mut interrupt, &mut terminate).await;
        // Standard error may be closed; the signal works anyway.
        let _ = writeln!(
            std::io::stderr(),
            "stopping after the current write; press again to stop immediately"
        );
        token.cancel();
        either(&mut interrupt, &mut terminate).await;
        std::process::exit(Exit::Interrupted as i32);
    });
    Ok(())
}

async fn either(interrupt: &mut Signal, terminate: &mut Signal) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
