//! `trellis mcp`: starts the server for clients of the Model Context Protocol.

use std::path::PathBuf;

use clap::Args;

use trellis_server::mcp;
use trellis_workflows::fault::{Exit, Fault};

/// Serve an AI agent over the Model Context Protocol (stdin, stdout).
#[derive(Args)]
pub(crate) struct McpArgs {
    /// Folders that clients may work in.
    #[arg(default_value = ".", value_name = "PROJECT")]
    folders: Vec<PathBuf>,
}

pub(crate) async fn run(args: &McpArgs) -> Result<Exit, Fault> {
    mcp::serve(super::served(&args.folders)?).await
}
