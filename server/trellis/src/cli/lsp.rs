//! `trellis lsp`: starts the language server for editors.

use clap::Args;

use trellis_server::lsp;
use trellis_workflows::fault::{Exit, Fault};

/// Serve an editor over the Language Server Protocol (stdin, stdout).
#[derive(Args)]
pub(crate) struct LspArgs {
    /// Accepted for compatibility; stdin and stdout are the only transport.
    #[arg(long)]
    stdio: bool,
}

pub(crate) async fn run(_args: &LspArgs) -> Result<Exit, Fault> {
    lsp::serve().await
}
