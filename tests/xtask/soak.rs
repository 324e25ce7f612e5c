//! `cargo xtask soak`: the long tests, each over many rounds, for a night or a given number of
//! minutes.

use std::path::Path;
use std::process::Command;

use clap::{Args, ValueEnum};

use crate::flaky::Flaky;
use crate::phases::Phases;
use crate::{Outcome, editor, engine, fuzz, mock, peers, setup};

#[derive(Args)]
pub(crate) struct SoakArgs {
    /// How long all parts together repeat their rounds; without it each has a fixed number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    minutes: Option<u64>,
    /// Run one fuzz target alone, guided by coverage; may be repeated.
    #[arg(long = "target", value_name = "NAME")]
    targets: Vec<String>,
    /// Seconds of each fuzz target.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    seconds: Option<u64>,
    /// The parts to run; all of them where none is named.
    #[arg(value_enum, value_name = "PART")]
    parts: Vec<Part>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Part {
    /// Work of every workflow, killed at random instants and gone on with.
    Kills,
    /// Work of every workflow, with each fault at each single step that changes the disk, and with
    /// each of its workers killed.
    Points,
    /// Work of every workflow, with several faults at random steps.
    Faults,
    /// Tasks whose models answer in another order each time.
    Orders,
    /// Texts, edits and messages made at random.
    Fuzz,
    /// The fuzz targets, guided by coverage.
    Targets,
    /// The master fixture, from a provider in place of its recording, and from one that fails.
    Providers,
    /// A list of tasks for each stack, with its packages installed by Trellis and once more by hand,
    /// and an issue in each other language.
    Sets,
    /// Every test of the extension in both editors.
    Editors,
}

/// Tests of a part, as a nextest filter, with the variables that make them long.
struct Tests {
    filter: &'static str,
    variables: &'static [(&'static str, &'static str)],
}

impl Part {
    /// Returns the tests; `None` for a part without Rust tests.
    fn tests(self) -> Option<Tests> {
        let (filter, variables): (_, &[_]) = match self {
            Part::Kills => ("test(/^soak::(kills|two_starts)::/)", &[]),
            Part::Points => {
                ("test(/^crash::(points|workers)::/)", &[("TRELLIS_POINTS_APART", "1")])
            }
            Part::Faults => ("test(/^soak::faults::/)", &[]),
            Part::Orders => ("test(/^soak::orders::/)", &[]),
            Part::Fuzz => (FUZZ, &[("PROPTEST_CASES", "20000"), ("TRELLIS_FUZZ_ROUNDS", "20000")]),
            Part::Providers => ("test(/^soak::providers::/)", &[]),
            Part::Sets => ("test(/^soak::(sets|languages)::/)", &[]),
            Part::Targets | Part::Editors => return None,
        };
        Some(Tests { filter, variables })
    }
}

/// Property tests with random texts, edits or messages.
const FUZZ: &str = "(package(trellis_python) & test(/^(after_edit|any_edits|hostile|robust)::/)) \
    | (package(trellis_project) & test(/^sources::(tests|listing)::/)) \
    | (package(trellis_server) & test(/^session::/)) | test(/^protocol::/)";

/// Runs all parts in order, also after failures; ends with their times.
pub(crate) fn run(args: &SoakArgs) -> Outcome {
    setup::machine()?;
    if !args.targets.is_empty() {
        return fuzz::guided(&args.targets, args.seconds.unwrap_or(fuzz::SOAK_SECONDS));
    }
    let mut phases = Phases::start();
    let flaky = Flaky::start()?;
    setup::optional();
    mock::install()?;
    peers::install()?;
    let trellis =
        phases.run("build", || setup::build(&mut setup::cargo(false), &["--bins", "--tests"]))?;
    let parts = if args.parts.is_empty() { Part::value_variants() } else { &args.parts };
    let seconds = args.minutes.map(|it| it * 60 / parts.len() as u64);
    let engine = engine::start();
    let mut failed = Vec::new();
    for part in parts {
        let of_target = args.seconds.or(seconds.map(fuzz::of_target));
        let outcome = match part.tests() {
            None if *part == Part::Targets => phases
                .run(name(*part), || fuzz::guided(&[], of_target.unwrap_or(fuzz::SOAK_SECONDS))),
            Some(tests) => phases.run(name(*part), || {
                let mut command = nextest(&trellis, &tests, seconds);
                setup::run(command.envs(engine.iter().flat_map(engine::Engine::variables)))
            }),
            None => editor::whole(&trellis, &mut phases, &flaky),
        };
        failed.extend(outcome.err());
    }
    drop(engine);
    eprint!("{}{}", phases.table(), flaky.told()?);
    match &failed[..] {
        [] => Ok(()),
        failed => Err(failed.join("\n")),
    }
}

fn name(part: Part) -> String {
    part.to_possible_value().map(|it| it.get_name().to_owned()).unwrap_or_default()
}

fn nextest(trellis: &Path, tests: &Tests, seconds: Option<u64>) -> Command {
    let mut command = setup::cargo(false);
    command.env("TRELLIS_BIN", trellis).env("PATH", setup::path());
    command.args(["nextest", "run", "--workspace", "--profile", "soak", "-E", tests.filter]);
    command.envs(tests.variables.iter().copied());
    command.envs(seconds.map(|it| ("TRELLIS_SOAK_SECONDS", it.to_string())));
    command
}
