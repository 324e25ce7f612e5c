//! `cargo xtask test`: every test, with everything they need.

use std::process::{Command, Stdio};

use clap::Args;

use crate::{Outcome, engine, mock, peers, setup};

#[derive(Args)]
pub(crate) struct TestArgs {
    /// Passed on to the test runner, e.g. a test's name.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// With nextest where it is installed (it runs the tests of all crates side by side), else with cargo.
pub(crate) fn run(args: &TestArgs) -> Outcome {
    setup::machine()?;
    setup::optional();
    mock::install()?;
    peers::install()?;
    let trellis = setup::trellis(false)?;
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(setup::root()).env("TRELLIS_BIN", trellis);
    command.args(if has_nextest() { ["nextest", "run"] } else { ["test", "--quiet"] });
    let engine = engine::start();
    command.envs(engine.iter().flat_map(engine::Engine::variables));
    let outcome = setup::run(command.arg("--workspace").args(&args.rest));
    drop(engine);
    outcome
}

fn has_nextest() -> bool {
    let mut command = Command::new(env!("CARGO"));
    command.args(["nextest", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
