//! `trellis lsp`: what editors start.

use clap::Args;

use crate::error::{Exit, Fault};
use crate::lsp;

/// Serve an editor: the Language Server Protocol on standard input and output.
#[derive(Args)]
pub(crate) struct LspArgs {
    /// Speak over standard input and output, which is the only way there is; editors like to say it.
    #[arg(long)]
    stdio: bool,
}

pub(crate) async fn run(_args: &LspArgs) -> Result<Exit, Fault> {
    lsp::serve().await
}
