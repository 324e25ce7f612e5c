//! `trellis`: the sidecar and command line. It knows every other crate; nothing knows it.

use std::process::ExitCode;

mod cli;
mod error;
mod output;

fn main() -> ExitCode {
    cli::main().into()
}
