//! `trellis rollback`: restores the last subgraph that passed as a whole.

use std::path::PathBuf;

use clap::Args;
use trellis_os::wording::counted;

use crate::output::Output;
use trellis_server::api::rollback::{RollbackParams, rollback};
use trellis_workflows::fault::{Exit, Fault};

/// Reset a generated repository to its last finished subgraph.
#[derive(Args)]
pub(crate) struct RollbackArgs {
    /// Output folder of `trellis generate`.
    project: PathBuf,
    /// Reset to this subgraph instead of the last one.
    #[arg(long, value_name = "SUBGRAPH")]
    to: Option<String>,
}

pub(crate) fn run(args: &RollbackArgs, output: &mut Output) -> Result<Exit, Fault> {
    let result = rollback(&RollbackParams { out: args.project.clone(), to: args.to.clone() })?;
    if output.is_json() {
        output.json(&result)?;
    } else {
        output.text(format!(
            "reset to {}: {} changed, {} pending again",
            result.to,
            counted(result.files.len(), "file", "files"),
            counted(result.pending.len(), "node", "nodes")
        ))?;
    }
    Ok(Exit::Done)
}
