//! `cargo xtask test`: every test, with everything they need.

use std::path::Path;
use std::process::{Command, Stdio};

use clap::{Args, ValueEnum};

use crate::{Outcome, editor, engine, mock, peers, setup};

#[derive(Args)]
pub(crate) struct TestArgs {
    /// Leave out the other tests.
    #[arg(long, value_enum)]
    only: Option<Part>,
    /// Passed on to the test runner, e.g. a test's name; without `--only` these are Rust's tests.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Part {
    /// The engine and its sidecar.
    Rust,
    /// The extension, in two real editors.
    Editor,
}

impl TestArgs {
    fn wants(&self, part: Part) -> bool {
        // A test's name is of one part.
        let named = (!self.rest.is_empty()).then_some(Part::Rust);
        self.only.or(named).is_none_or(|only| only == part)
    }
}

/// Rust's tests, then the extension's.
pub(crate) fn run(args: &TestArgs) -> Outcome {
    setup::machine()?;
    setup::optional();
    let trellis = setup::trellis(false)?;
    if args.wants(Part::Rust) {
        rust(&trellis, &args.rest)?;
    }
    if args.wants(Part::Editor) {
        editor::run(&trellis, &args.rest)?;
    }
    Ok(())
}

/// With nextest where it is installed (it runs the tests of all crates side by side), else with cargo.
fn rust(trellis: &Path, rest: &[String]) -> Outcome {
    mock::install()?;
    peers::install()?;
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(setup::root()).env("TRELLIS_BIN", trellis);
    command.args(if has_nextest() { ["nextest", "run"] } else { ["test", "--quiet"] });
    let engine = engine::start();
    command.envs(engine.iter().flat_map(engine::Engine::variables));
    let outcome = setup::run(command.arg("--workspace").args(rest));
    drop(engine);
    outcome
}

fn has_nextest() -> bool {
    let mut command = Command::new(env!("CARGO"));
    command.args(["nextest", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
