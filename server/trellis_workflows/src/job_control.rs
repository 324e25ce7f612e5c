//! Control of running work from outside: cancel and pause.

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use trellis_store::origin::{Origin, RunId, Workflow};

use crate::fault::Fault;
use crate::signals::cancel_on_signal;

/// The work's end, which it checks before each of its steps.
#[derive(Clone, Debug)]
pub struct JobControl {
    pub cancel: CancellationToken,
    run_id: RunId,
    paused: watch::Receiver<bool>,
}

/// The controlling end.
#[derive(Debug)]
pub struct JobHandle {
    cancel: CancellationToken,
    paused: watch::Sender<bool>,
}

impl JobControl {
    /// Creates a connected pair; the work runs until it ends or is controlled otherwise.
    pub fn new() -> (JobControl, JobHandle) {
        let cancel = CancellationToken::new();
        let (sender, paused) = watch::channel(false);
        (
            JobControl { cancel: cancel.clone(), run_id: RunId::create(), paused },
            JobHandle { cancel, paused: sender },
        )
    }

    /// Creates the control of work that a signal cancels.
    pub fn of_signals() -> Result<JobControl, Fault> {
        let (control, _) = JobControl::new();
        cancel_on_signal(control.cancel.clone())?;
        Ok(control)
    }

    /// Returns the origin of this run's journal lines.
    pub fn origin(&self, workflow: Workflow) -> Origin {
        Origin { workflow, run_id: self.run_id.clone() }
    }

    /// Waits while the work is paused. Also returns when it is cancelled.
    pub async fn wait_while_paused(&self) {
        let mut paused = self.paused.clone();
        tokio::select! {
            () = self.cancel.cancelled() => {}
            // Without a handle nothing could resume the work, so it continues.
            _ = paused.wait_for(|paused| !paused) => {}
        }
    }
}

impl JobHandle {
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Pauses or resumes the work. Returns whether that changed its state.
    pub fn pause(&self, paused: bool) -> bool {
        self.paused.send_if_modified(|now| std::mem::replace(now, paused) != paused)
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}
