//! The generate workflow: walks a planning graph in dependency order and takes every node through
//! the cycle.
//!
//! [`prepare`] checks everything before anything starts, [`dispatcher`] holds the only copy of the
//! run's state, [`checkpoint_writer`] records the status of each node, [`worker`] takes a node
//! through the cycle, and [`finalize`] completes the repository.

mod acceptance;
mod acceptance_state;
mod accepted;
mod ask_tests;
mod checkpoint_writer;
mod coverage;
mod dispatcher;
mod estimate;
mod failure_lines;
mod failure_reasons;
mod finalize;
mod findings;
mod install;
mod integration;
mod items;
mod materialize;
mod memory;
mod metadata;
mod node_history;
mod prepare;
mod progress;
mod recover;
#[cfg(test)]
mod recover_tests;
mod requirements;
mod sentences;
mod subgraph_commits;
mod suite;
mod summary;
mod test_function_counts;
mod test_paths;
mod wait_queue;
mod worker;

pub use estimate::{Estimate, EstimatedCost, estimate};
pub use node_history::{NodeAttempt, NodeHistory, node_history};
pub use prepare::GenerateRequest;
pub use summary::{AcceptanceOutcome, AcceptedFeature, Flows, Summary};

use crate::fault::{Exit, Fault};
use crate::job_control::JobControl;
use crate::reporter::Reporter;

/// Generates the repository. A resumed run that had nothing left to do returns a summary as well.
pub async fn generate(
    order: GenerateRequest,
    control: JobControl,
    reporter: &Reporter,
) -> Result<(Summary, Exit), Fault> {
    let (mut owner, receivers) = prepare::open(order, control, reporter).await?;
    let ended = owner.run(receivers, reporter).await;
    let result = conclude(&mut owner, ended, reporter).await;
    // A sandbox that cannot be removed loses no data; the next start removes it.
    owner.run_context.runner.close().await;
    owner.run_context.runner.engines_used().into_iter().for_each(|it| reporter.note(it));
    result
}

async fn conclude(
    owner: &mut dispatcher::Dispatcher,
    ended: Result<dispatcher::LoopEnd, Fault>,
    reporter: &Reporter,
) -> Result<(Summary, Exit), Fault> {
    match ended {
        Ok(dispatcher::LoopEnd::Finished) => finalize::finish(owner, reporter).await,
        Ok(dispatcher::LoopEnd::Interrupted) => {
            owner.stop("interrupted")?;
            Err(Fault::new(Exit::Interrupted, "stopped; accepted code is kept")
                .hint("run the same command again to resume"))
        }
        Err(fault) => {
            // Only the first fault matters to the person; a second one would hide it.
            let _ = owner.stop(&fault.message);
            Err(fault)
        }
    }
}
