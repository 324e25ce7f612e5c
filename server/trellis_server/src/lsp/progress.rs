//! Shows jobs in the editor: a progress bar with a cancel button.

use std::collections::BTreeMap;
use std::time::Duration;

use tower_lsp::Client;
use tower_lsp::ls_types::notification::Progress;
use tower_lsp::ls_types::{
    ProgressParams, ProgressParamsValue, ProgressToken, WorkDoneProgress, WorkDoneProgressBegin,
    WorkDoneProgressCancelParams, WorkDoneProgressEnd, WorkDoneProgressReport,
};

use crate::event_bus::{Event, JobState, Listener};
use crate::rpc::Context;

/// Notification by which an editor cancels a job.
pub(super) const CANCEL: &str = "window/workDoneProgress/cancel";

/// Prefix of progress tokens; the job's id follows.
const TOKEN: &str = "trellis/";
/// Timeout for the client to accept a progress bar.
const CLIENT_PATIENCE: Duration = Duration::from_secs(10);

/// Shows all jobs to a client that supports progress. A client that refuses, or does not answer, is
/// not asked again.
pub(super) async fn show(client: Client, listener: Listener) {
    // Current text of each job's bar.
    let mut shown: BTreeMap<String, String> = BTreeMap::new();
    loop {
        let (job, value) = match listener.next().await {
            Event::Job { job, title, state, error, .. } => {
                match (state, shown.contains_key(&job)) {
                    (JobState::Running, false) => {
                        let asking = client.create_work_done_progress(token(&job));
                        match tokio::time::timeout(CLIENT_PATIENCE, asking).await {
                            Ok(Ok(())) => {}
                            Ok(Err(_)) | Err(_) => {
                                return tracing::warn!("the editor does not show progress");
                            }
                        }
                        shown.insert(job.clone(), String::new());
                        (job, begin(title))
                    }
                    (_, false) => continue,
                    (JobState::Running, true) => {
                        let said = shown.get(&job).cloned().unwrap_or_default();
                        (job, report(said, None))
                    }
                    (JobState::Paused, true) => (job, report("paused".to_owned(), None)),
                    (state, true) => {
                        shown.remove(&job);
                        (job, end(state, error))
                    }
                }
            }
            Event::Progress { job, done, total, percent, eta_seconds } => {
                let Some(said) = shown.get_mut(&job) else { continue };
                *said = counted(done, total, eta_seconds);
                (job, report(said.clone(), Some(u32::from(percent))))
            }
            _ => continue,
        };
        let value = ProgressParamsValue::WorkDone(value);
        client.send_notification::<Progress>(ProgressParams { token: token(&job), value }).await;
    }
}

fn token(job: &str) -> ProgressToken {
    ProgressToken::String(format!("{TOKEN}{job}"))
}

/// Cancels the job behind a progress token; unknown or finished tokens are ignored.
pub(super) fn cancel(context: &Context, params: &WorkDoneProgressCancelParams) {
    if let ProgressToken::String(token) = &params.token
        && let Some(job) = token.strip_prefix(TOKEN)
    {
        let _ = context.jobs.cancel(job);
    }
}

fn begin(title: String) -> WorkDoneProgress {
    WorkDoneProgress::Begin(WorkDoneProgressBegin {
        title,
        cancellable: Some(true),
        message: None,
        percentage: Some(0),
    })
}

fn report(message: String, percentage: Option<u32>) -> WorkDoneProgress {
    let (message, cancellable) = (Some(message), Some(true));
    WorkDoneProgress::Report(WorkDoneProgressReport { cancellable, message, percentage })
}

fn end(state: JobState, error: Option<String>) -> WorkDoneProgress {
    let said = match state {
        JobState::Cancelled => "cancelled".to_owned(),
        JobState::Failed => error.unwrap_or_else(|| "failed".to_owned()),
        JobState::Done | JobState::Running | JobState::Paused => "done".to_owned(),
    };
    WorkDoneProgress::End(WorkDoneProgressEnd { message: Some(said) })
}

/// Returns a text such as `3/50, 2 min left`.
fn counted(done: usize, total: usize, eta_seconds: Option<u64>) -> String {
    let left = match eta_seconds {
        None => String::new(),
        Some(seconds @ ..90) => format!(", {seconds} s left"),
        Some(seconds) => format!(", {} min left", seconds.div_ceil(60)),
    };
    format!("{done}/{total}{left}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_what_is_left() {
        for (eta, wanted) in [
            (None, "3/50"),
            (Some(0), "3/50, 0 s left"),
            (Some(89), "3/50, 89 s left"),
            (Some(90), "3/50, 2 min left"),
            (Some(121), "3/50, 3 min left"),
        ] {
            assert_eq!(counted(3, 50, eta), wanted);
        }
    }
}
