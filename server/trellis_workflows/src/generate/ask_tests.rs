//! Requests for tests of several nodes together: sent again with the reason until a reply can be
//! used.

use trellis_engine::{ModelRequest, Reply};

use crate::generate::worker::ask::send;
use crate::generate::worker::{RunContext, WorkerError};
use trellis_store::cost::Cost;

/// Tests that a model writes.
pub(super) trait WrittenTests {
    /// Returns the request; `complaint` is what was wrong with the last reply.
    fn request(&self, complaint: Option<&str>, attempt: u32) -> Result<ModelRequest, WorkerError>;

    /// Takes the tests of a reply, or returns what is wrong with them.
    async fn take(&mut self, reply: &str) -> Result<Option<String>, WorkerError>;
}

/// Asks for tests of `subject` and adds the cost. Returns the reason if no reply can be used.
pub(super) async fn ask_tests(
    run_context: &RunContext,
    subject: &str,
    tests: &mut impl WrittenTests,
    cost: &mut Cost,
) -> Result<Option<String>, WorkerError> {
    let mut complaint: Option<String> = None;
    for attempt in 0..=run_context.policy.malformed_reasks {
        run_context.control.wait_while_paused().await;
        let request = tests.request(complaint.as_deref(), attempt)?;
        let completion = send(run_context, subject, None, &request, cost).await?;
        complaint = match completion.into_reply() {
            Reply::Text(text) => match tests.take(&text).await? {
                None => return Ok(None),
                wrong => wrong,
            },
            Reply::Unusable { why } => Some(why),
            Reply::Edited(_) => complaint,
            // An optional request without a reply leaves everything as it is.
            Reply::Failed { reason } => return Ok(Some(complaint.unwrap_or(reason))),
        };
    }
    Ok(Some(complaint.unwrap_or_default()))
}
