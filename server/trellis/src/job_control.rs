//! How work is stopped and held from outside.

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::error::Fault;
use crate::signals::cancel_on_signal;

/// Asked by work before each of its steps.
#[derive(Clone, Debug)]
pub(crate) struct JobControl {
    pub(crate) cancel: CancellationToken,
    paused: watch::Receiver<bool>,
}

/// The other end.
#[derive(Debug)]
pub(crate) struct JobHandle {
    cancel: CancellationToken,
    paused: watch::Sender<bool>,
}

impl JobControl {
    /// Work that runs until it ends or is told otherwise.
    pub(crate) fn new() -> (JobControl, JobHandle) {
        let cancel = CancellationToken::new();
        let (sender, paused) = watch::channel(false);
        (JobControl { cancel: cancel.clone(), paused }, JobHandle { cancel, paused: sender })
    }

    /// Work that a signal stops.
    pub(crate) fn of_signals() -> Result<JobControl, Fault> {
        let (control, _) = JobControl::new();
        cancel_on_signal(control.cancel.clone())?;
        Ok(control)
    }

    /// Waits while the work is held; ends as well when it is cancelled.
    pub(crate) async fn wait_while_paused(&self) {
        let mut paused = self.paused.clone();
        tokio::select! {
            () = self.cancel.cancelled() => {}
            // Who held it is gone: nobody could let it go on.
            _ = paused.wait_for(|paused| !paused) => {}
        }
    }
}

impl JobHandle {
    pub(crate) fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Whether that changed anything.
    pub(crate) fn pause(&self, paused: bool) -> bool {
        self.paused.send_if_modified(|now| std::mem::replace(now, paused) != paused)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}
