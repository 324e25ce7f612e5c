//! `cargo xtask bench repair`: cost of an iteration of `trellis repair` besides its tests, compared
//! with one cold start of pytest.

mod project;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::Value;

use crate::symbols::figures::percentile;
use crate::{Outcome, bench, setup, symbols};
use project::Project;

#[derive(Args)]
pub(crate) struct RepairArgs {
    /// This binary instead of a release build of the working tree.
    #[arg(long, value_name = "FILE")]
    trellis: Option<PathBuf>,
    /// Times that everything is measured.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

impl RepairArgs {
    /// Returns the default arguments.
    pub(crate) fn usual() -> RepairArgs {
        RepairArgs { trellis: None, rounds: 3 }
    }
}

/// Number of wrong fixes before the right one, in the longer of two repairs.
const WRONG: u32 = 24;
/// Maximum cost of an iteration, as a share of a cold start.
const GOAL: f64 = 0.2;

/// Measurements, one value per round, in milliseconds.
#[derive(Default)]
struct Figures {
    /// Time from the start of `trellis` to its end.
    wall: Vec<f64>,
    /// Part of that time in test runs.
    tests: Vec<f64>,
    runs: Vec<f64>,
    /// Time of one more iteration, from the difference of both repairs: total, and without tests.
    each: Vec<f64>,
    more: Vec<f64>,
    /// All time without tests, divided by the iterations of the longer repair.
    spread: Vec<f64>,
    collected: Vec<f64>,
    started: Vec<f64>,
}

pub(crate) fn run(args: &RepairArgs) -> Outcome {
    let trellis = match &args.trellis {
        Some(path) => path.canonicalize().map_err(|e| format!("{}: {e}", path.display()))?,
        None => setup::released()?,
    };
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let made = Project::write(folder.path()).map_err(|e| e.to_string())?;
    // The first repair creates caches and the environment; the later ones are timed.
    repaired(&trellis, &made, 0)?;
    let python = bench::python(&trellis)?;
    cold(&python, &made, None)?;
    let mut all = Figures::default();
    for _ in 0..args.rounds {
        round(&trellis, &python, &made, &mut all)?;
    }
    shown(&all);
    Ok(())
}

fn round(trellis: &Path, python: &Path, made: &Project, all: &mut Figures) -> Outcome {
    all.collected.push(cold(python, made, None)?);
    all.started.push(cold(python, made, Some(&made.test_file))?);
    let short = repaired(trellis, made, 0)?;
    let long = repaired(trellis, made, WRONG)?;
    all.wall.push(long.wall);
    all.tests.push(long.tests);
    all.runs.push(long.runs);
    all.each.push((long.wall - short.wall) / f64::from(WRONG));
    all.more.push((long.beyond() - short.beyond()) / f64::from(WRONG));
    all.spread.push(long.beyond() / f64::from(WRONG + 1));
    Ok(())
}

fn shown(all: &Figures) {
    let median = |of: &[f64]| percentile(&mut of.to_vec(), 50).unwrap_or(f64::NAN);
    let goal = format!("goal: at most {GOAL}");
    println!("{} files, medians of {} rounds", project::FILES, all.wall.len());
    println!(
        "a cold pytest that collects them: {:.0} ms; one that collects a single file: {:.0} ms",
        median(&all.collected),
        median(&all.started)
    );
    println!(
        "a repair of {} iterations: {:.0} ms, of which {:.0} ms in {:.0} runs of tests",
        WRONG + 1,
        median(&all.wall),
        median(&all.tests),
        median(&all.runs)
    );
    println!("one iteration more: {:.0} ms, tests included", median(&all.each));
    let share = |of: &[f64], to: &[f64]| median(of) / median(to);
    for (what, of) in [
        ("one iteration more, beyond its tests", &all.more),
        ("start, surveys and end too, spread over the iterations", &all.spread),
    ] {
        println!(
            "{what}: {:.0} ms, {:.2} of the cold start ({goal}), {:.2} of that with a single file",
            median(of),
            share(of, &all.collected),
            share(of, &all.started)
        );
    }
    println!("load average: {}", symbols::load());
}

/// Times of one repair, in milliseconds.
struct Repaired {
    wall: f64,
    tests: f64,
    runs: f64,
}

impl Repaired {
    fn beyond(&self) -> f64 {
        self.wall - self.tests
    }
}

/// Repairs a new copy of the project, with this number of wrong fixes before the right one.
fn repaired(trellis: &Path, made: &Project, wrong: u32) -> Result<Repaired, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let copied = Command::new("cp").arg("-a").arg(&made.root).arg(folder.path()).status();
    copied.map_err(|e| e.to_string())?;
    let root = folder.path().join(made.root.file_name().unwrap_or_default());
    let recording = folder.path().join("replies.jsonl");
    fs::write(&recording, made.recording(wrong)).map_err(|e| e.to_string())?;
    let mut command = Command::new(trellis);
    command
        .arg("repair")
        .arg(&root)
        .arg("--trials=0")
        .arg(format!("--model=recorded:{}", recording.display()));
    command.args(["--json", "--approve=autonomous", "--sandbox=local"]);
    command.arg(format!("--max-iterations={}", wrong + 1));
    let since = Instant::now();
    let output = command.stderr(Stdio::null()).output().map_err(|e| e.to_string())?;
    let wall = millis(since.elapsed());
    let result: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("trellis ended with {} and without a result", output.status))?;
    let attempts = result["groups"][0]["attempts"].as_array().map_or(0, Vec::len);
    if result["outcome"] != "repaired" || attempts != wrong as usize + 1 {
        return Err(format!("it should be repaired by attempt {}: {result:#}", wrong + 1));
    }
    let number = |name: &str| result["time"][name].as_f64().unwrap_or(f64::NAN);
    Ok(Repaired { wall, tests: number("testSeconds") * 1000.0, runs: number("testRuns") })
}

/// Times a new pytest that collects without running: all files, or one.
fn cold(python: &Path, made: &Project, only: Option<&str>) -> Result<f64, String> {
    let mut command = Command::new(python);
    command.args(["-m", "pytest", "--collect-only", "-q"]).args(only).current_dir(&made.root);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let since = Instant::now();
    let status = command.status().map_err(|e| format!("{}: {e}", python.display()))?;
    let took = millis(since.elapsed());
    if status.success() { Ok(took) } else { Err(format!("pytest ended with {status}")) }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
