//! Asks a model for the docstrings that the code of a repository does not have.
//!
//! The journal has the replies: work that was stopped is played again from its beginning, and no
//! reply is paid for twice.

use std::path::Path;

use tokio_util::sync::CancellationToken;
use trellis_engine::ModelRequest;
use trellis_engine::describe::{Action, DescribeMachine, Descriptions, Event, Undescribed};
use trellis_os::wording::counted;

use crate::budget::Spent;
use crate::driver::{Performed, Performer, drive};
use crate::fault::{Exit, Fault, cannot};
use crate::job_control::JobControl;
use crate::llm_session::LlmSession;
use crate::models::ModelArgs;
use crate::reporter::Reporter;
use trellis_store::disk;
use trellis_store::origin::Workflow;

/// Docstrings of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribeReport {
    pub descriptions: Descriptions,
    /// Number of requests to the model, those of earlier starts included.
    pub requests: u32,
    pub spent: Spent,
}

/// Asks for the docstrings of definitions. The journal is in `.trellis` below `home`.
///
/// # Errors
///
/// There is no model, it does not answer, the budget is used up, or the work was cancelled. What
/// was paid for stays in the journal.
pub async fn describe(
    home: &Path,
    definitions: Vec<Undescribed>,
    model: &ModelArgs,
    reporter: &Reporter,
    control: &JobControl,
) -> Result<DescribeReport, Fault> {
    disk::ensure(home).map_err(|error| cannot("create .trellis", &error))?;
    let origin = control.origin(Workflow::PlanFromCode);
    let session = LlmSession::open(home, origin, model, reporter, cancelled)?;
    session.load_replies(home)?;
    let mut machine = DescribeMachine::new(definitions);
    let mut run = DescribeRun { session, reporter, cancel: &control.cancel, requests: 0 };
    let descriptions = drive(&mut machine, Event::Started, &mut run).await?;
    Ok(DescribeReport { descriptions, requests: run.requests, spent: run.session.spent() })
}

fn cancelled() -> Fault {
    Fault::new(Exit::Interrupted, "stopped before all docstrings were there").hint(
        "run the same command again: it resumes, and you do not pay twice for the same prompts",
    )
}

/// The driver of one start.
struct DescribeRun<'a> {
    session: LlmSession,
    reporter: &'a Reporter,
    cancel: &'a CancellationToken,
    requests: u32,
}

impl DescribeRun<'_> {
    async fn ask(
        &mut self,
        path: &str,
        request: &ModelRequest,
        problems: &[String],
    ) -> Result<Event, Fault> {
        problems.iter().for_each(|it| self.reporter.note(format_args!("  {it}")));
        self.requests += 1;
        let reply = self.session.complete(path, request, self.cancel).await?;
        Ok(Event::Replied(reply))
    }

    fn gave_up(&self, path: &str, why: &str) -> Fault {
        let message = format!("{} did not answer about {path}: {why}", self.session.name());
        Fault::unavailable(message)
            .hint("run again: it resumes; without --describe you get the graph as the code has it")
    }
}

impl Performer<DescribeMachine> for DescribeRun<'_> {
    type Output = Descriptions;
    type Error = Fault;

    async fn perform(
        &mut self,
        action: Action,
        machine: &DescribeMachine,
    ) -> Result<Performed<Event, Descriptions>, Fault> {
        match action {
            Action::Ask { path, names, problems, request } => {
                let count = counted(names.len(), "docstring", "docstrings");
                let again = if problems.is_empty() { "" } else { ", again:" };
                let left = machine.batches_left();
                let left =
                    if left > 0 { format!(" ({left} requests left)") } else { String::new() };
                self.reporter.note(format_args!("{path}: {count}{left}{again}"));
                Ok(Performed::Event(self.ask(&path, &request, &problems).await?))
            }
            Action::Finished(found) => Ok(Performed::Finished(found)),
            Action::GaveUp { path, why } => Err(self.gave_up(&path, &why)),
        }
    }
}
