//! `cargo xtask test`: all tests that decide about a change, with their requirements.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::{self, ScopedJoinHandle};

use clap::{Args, ValueEnum};

use crate::flaky::{self, Flaky};
use crate::phases::Phases;
use crate::{Outcome, audit, editor, engine, fuzz, mock, peers, setup};

#[derive(Args)]
pub(crate) struct TestArgs {
    /// Leave out the other tests.
    #[arg(long, value_enum)]
    only: Option<Part>,
    /// Check formatting, lints and licences as well, as CI does.
    #[arg(long)]
    lint: bool,
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
        // A test's name belongs to one part.
        let named = (!self.rest.is_empty()).then_some(Part::Rust);
        self.only.or(named).is_none_or(|only| only == part)
    }
}

/// Runs the lints if requested, then the Rust tests, then the extension's; ends with the times of
/// the phases.
pub(crate) fn run(args: &TestArgs) -> Outcome {
    let mut phases = Phases::start();
    let flaky = Flaky::start()?;
    let outcome = all(args, &mut phases, &flaky);
    eprint!("{}{}", phases.table(), flaky.told()?);
    outcome
}

fn all(args: &TestArgs, phases: &mut Phases, flaky: &Flaky) -> Outcome {
    phases.run("needs of the machine", setup::machine)?;
    let trellis = thread::scope(|scope| {
        // Waits mostly for the network, while the build keeps the processors busy.
        let preparation = scope.spawn(|| prepare(args));
        if args.lint {
            phases.run("fmt", formatting)?;
        }
        let (name, what): (_, &[&str]) = match args.lint {
            true => ("build, with clippy", &["--all-targets"]),
            false => ("build", &["--bins", "--tests"]),
        };
        let trellis = phases.run(name, || setup::build(&mut setup::cargo(args.lint), what))?;
        phases.run("preparation, what is left", || joined(preparation))?;
        Ok::<PathBuf, String>(trellis)
    })?;
    if args.lint {
        phases.run("audit", audit::run)?;
    }
    if args.wants(Part::Rust) {
        phases.run("tests in Rust", || rust(&trellis, args, flaky))?;
    }
    thread::scope(|scope| {
        let is_fuzzed = args.wants(Part::Rust) && args.rest.is_empty();
        // Waits for the disk half of the time.
        let fuzzing = is_fuzzed.then(|| scope.spawn(fuzz::bounded));
        if args.wants(Part::Editor) {
            editor::without_editor(phases)?;
        }
        fuzzing.map_or(Ok(()), |it| phases.run("fuzz targets, what is left", || joined(it)))
    })?;
    if args.wants(Part::Editor) {
        editor::run(&trellis, &args.rest, phases, flaky)?;
    }
    Ok(())
}

fn formatting() -> Outcome {
    setup::run(setup::cargo(false).args(["fmt", "--all", "--check"]))
}

/// Installs requirements of the tests that the build does not need.
fn prepare(args: &TestArgs) -> Outcome {
    setup::optional();
    if args.wants(Part::Rust) {
        mock::install()?;
        peers::install()?;
        engine::prepare();
    }
    if args.wants(Part::Editor) {
        editor::prepare()?;
    }
    Ok(())
}

fn joined(work: ScopedJoinHandle<'_, Outcome>) -> Outcome {
    work.join().unwrap_or_else(|_| Err("a part of the check has panicked".to_owned()))
}

/// Runs the Rust tests with nextest if installed (in parallel over all crates), else with cargo.
fn rust(trellis: &Path, args: &TestArgs, flaky: &Flaky) -> Outcome {
    let engine = engine::start().map(engine::Engine::with_swarm);
    let mut command = setup::cargo(args.lint);
    command.env("TRELLIS_BIN", trellis).env("PATH", setup::path());
    command.envs(engine.iter().flat_map(engine::Engine::variables));
    let nextest = has_nextest();
    let profile = if flaky::are_run_again() { "ci" } else { "default" };
    match nextest {
        true => command.args(["nextest", "run", "--profile", profile, "--workspace"]),
        false => command.args(["test", "--quiet", "--workspace"]),
    };
    let outcome = setup::run(command.args(&args.rest));
    drop(engine);
    if nextest {
        flaky.add_junit(&setup::target().join("nextest").join(profile).join("junit.xml"))?;
    }
    outcome
}

fn has_nextest() -> bool {
    let mut command = setup::cargo(false);
    command.args(["nextest", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
