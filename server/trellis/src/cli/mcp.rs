//! `trellis mcp`: what clients of the Model Context Protocol start.

use std::path::PathBuf;

use clap::Args;

use crate::error::{Exit, Fault};
use crate::mcp;

/// Serve a model's client: the Model Context Protocol on standard input and output.
#[derive(Args)]
pub(crate) struct McpArgs {
    /// Folders to answer about.
    #[arg(default_value = ".", value_name = "FOLDER")]
    folders: Vec<PathBuf>,
}

pub(crate) async fn run(args: &McpArgs) -> Result<Exit, Fault> {
    mcp::serve(super::served(&args.folders)?).await
}
