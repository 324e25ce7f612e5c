//! The fuzz targets: for a bounded time with every test run, and guided by coverage in a soak.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::{Outcome, setup};

/// Seconds for each target in a test run.
const SECONDS: u64 = 30;
/// Longest time of one input, as in a soak.
const LONGEST_INPUT: Duration = Duration::from_secs(60);
/// Exit code of the runner if it was called wrongly.
const MISUSED: i32 = 2;
/// Seconds for each target in a soak.
pub(crate) const SOAK_SECONDS: u64 = 600;

/// Flags that have the compiler count each branch, as the fuzzing library expects.
const COVERAGE: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// Result of a target.
struct Row {
    name: String,
    executions: u64,
    seconds: f64,
    corpus: usize,
    finding: Option<PathBuf>,
}

/// Line that the runner of an ordinary build prints.
#[derive(Deserialize)]
struct Summary {
    executions: u64,
    seconds: f64,
    corpus: usize,
    finding: Option<PathBuf>,
}

/// Runs every target on its corpus and on changed copies of it, in an ordinary build.
/// `TRELLIS_FUZZ_SECONDS` sets the time of each.
pub(crate) fn bounded() -> Outcome {
    let seconds = std::env::var("TRELLIS_FUZZ_SECONDS").ok().and_then(|it| it.parse().ok());
    let seconds: u64 = seconds.unwrap_or(SECONDS);
    let targets = targets()?;
    // All at once: a target that waits for the disk leaves its processor to another one.
    all(&targets, targets.len(), &|name| mutated(name, seconds))
}

/// Runs targets for so many seconds each, guided by coverage; all targets if none is named.
pub(crate) fn guided(named: &[String], seconds: u64) -> Outcome {
    let known = targets()?;
    if let Some(unknown) = named.iter().find(|it| !known.contains(it)) {
        return Err(format!("there is no target {unknown}, only {}", known.join(", ")));
    }
    let program = built()?;
    let names = if named.is_empty() { &known } else { named };
    all(names, processors(), &|name| followed(&program, name, seconds))
}

/// Returns the seconds of each target if all of them have `seconds` together.
pub(crate) fn of_target(seconds: u64) -> u64 {
    let targets = targets().map_or(1, |it| it.len().max(1)) as u64;
    (seconds * processors() as u64 / targets).max(1)
}

/// Returns the names of all targets: the folders of their corpora.
fn targets() -> Result<Vec<String>, String> {
    let folder = corpora();
    let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let folders = entries.flatten().filter(|it| it.path().is_dir());
    let mut names: Vec<String> =
        folders.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

fn corpora() -> PathBuf {
    setup::root().join("fixtures/fuzz")
}

fn processors() -> usize {
    thread::available_parallelism().map_or(2, usize::from)
}

/// Runs targets, so many `together`; prints the table.
fn all(
    names: &[String],
    together: usize,
    run: &(dyn Fn(&str) -> Result<Row, String> + Sync),
) -> Outcome {
    let (next, rows) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..together {
            scope.spawn(|| {
                while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let row = run(name);
                    rows.lock().unwrap_or_else(|it| it.into_inner()).push(row);
                }
            });
        }
    });
    let rows = rows.into_inner().unwrap_or_else(|it| it.into_inner());
    let rows = rows.into_iter().collect::<Result<Vec<Row>, String>>()?;
    eprint!("{}", table(&rows));
    let found: Vec<String> =
        rows.iter().filter_map(|it| Some(it.finding.as_ref()?.display().to_string())).collect();
    match &found[..] {
        [] => Ok(()),
        found => Err(format!(
            "fuzz targets failed; these inputs are kept and fail with every test run until the \
             fault is repaired:\n{}",
            found.join("\n")
        )),
    }
}

fn table(rows: &[Row]) -> String {
    let mut table = format!(
        "{:<16} {:>10} {:>8} {:>7} {:>9}\n",
        "target", "executions", "a second", "corpus", "findings"
    );
    for it in rows {
        let rate = it.executions as f64 / it.seconds.max(0.001);
        let findings = usize::from(it.finding.is_some());
        table += &format!(
            "{:<16} {:>10} {rate:>8.0} {:>7} {findings:>9}\n",
            it.name, it.executions, it.corpus
        );
    }
    table
}

fn mutated(name: &str, seconds: u64) -> Result<Row, String> {
    let findings = setup::target().join("fuzz/findings").join(name);
    let began = Instant::now();
    let seed = std::env::var("TRELLIS_SEED").unwrap_or_else(|_| "20261127".to_owned());
    let mut command = Command::new(setup::target().join("debug/fuzz"));
    command.args([name, &seconds.to_string(), &seed]).arg(&findings);
    let current = findings.join("current");
    // One of an earlier run that was stopped says nothing about this one.
    let _ = fs::remove_file(&current);
    let output = ended(&mut command, Duration::from_secs(seconds) + LONGEST_INPUT)?;
    if output.status.code() == Some(MISUSED) {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the target {name} could not run: {}", words.trim()));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    match serde_json::from_str::<Summary>(text.trim()) {
        Ok(it) => {
            let finding = it.finding.map(|path| keep(name, &path, &output)).transpose()?;
            let (executions, seconds, corpus) = (it.executions, it.seconds, it.corpus);
            Ok(Row { name: name.to_owned(), executions, seconds, corpus, finding })
        }
        // The process died or did not end: the input of the last call is still there.
        Err(_) => {
            let finding = Some(keep(name, &current, &output)?);
            let seconds = began.elapsed().as_secs_f64();
            Ok(Row { name: name.to_owned(), executions: 0, seconds, corpus: 0, finding })
        }
    }
}

/// Runs a program that is stopped after `limit`.
fn ended(command: &mut Command, limit: Duration) -> Result<Output, String> {
    let program = command.get_program().display().to_string();
    let began = Instant::now();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|e| format!("`{program}` could not be started: {e}"))?;
    let pid = Pid::from_child(&child);
    let (done, is_done) = mpsc::channel::<()>();
    let watch = thread::spawn(move || {
        if is_done
            .recv_timeout(limit.saturating_sub(began.elapsed()))
            .is_err_and(|it| it == RecvTimeoutError::Timeout)
        {
            // It may have ended by itself in this moment.
            let _ = kill_process(pid, Signal::KILL);
        }
    });
    let output = child.wait_with_output();
    drop(done);
    let _ = watch.join();
    output.map_err(|error| format!("`{program}`: {error}"))
}

/// Builds the guided runner in a folder of its own and returns its path. With a target system,
/// build scripts are not instrumented.
fn built() -> Result<PathBuf, String> {
    let (folder, host) = (setup::target().join("fuzz/build"), host()?);
    let mut cargo = setup::cargo(false);
    cargo.args(["build", "--package", "trellis-fuzz", "--features", "guided"]);
    cargo.args(["--bin", "fuzz-guided", "--target", &host]).arg("--target-dir").arg(&folder);
    setup::run(cargo.env("RUSTFLAGS", COVERAGE.join(" ")))?;
    Ok(folder.join(host).join("debug/fuzz-guided"))
}

fn host() -> Result<String, String> {
    let output = run(Command::new("rustc").arg("-vV"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|it| it.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| format!("rustc does not name its system: {text}"))
}

/// Runs libFuzzer. New inputs go to a folder of the build; only those that fail come into the tree.
fn followed(program: &Path, name: &str, seconds: u64) -> Result<Row, String> {
    let folder = setup::target().join("fuzz");
    let (inputs, findings) = (folder.join("corpus").join(name), folder.join("findings").join(name));
    for it in [&inputs, &findings] {
        fs::create_dir_all(it).map_err(|error| format!("{}: {error}", it.display()))?;
    }
    let mut command = Command::new(program);
    command.env("TRELLIS_FUZZ_TARGET", name).current_dir(setup::root());
    command.args([
        format!("-max_total_time={seconds}"),
        format!("-artifact_prefix={}/", findings.display()),
        "-print_final_stats=1".to_owned(),
        "-max_len=65536".to_owned(),
        "-timeout=60".to_owned(),
    ]);
    let output = run(command.arg(&inputs).arg(corpora().join(name)))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let written = |line: &str| line.split_once("Test unit written to ").map(|it| it.1.to_owned());
    let artifact = text.lines().find_map(written);
    if !output.status.success() && artifact.is_none() {
        return Err(format!("the target {name} ended with {}:\n{text}", output.status));
    }
    let finding = artifact.map(|it| keep(name, Path::new(it.trim()), &output)).transpose()?;
    let corpus = fs::read_dir(&inputs).map_or(0, Iterator::count);
    let executions = counted(&text, "stat::number_of_executed_units:");
    Ok(Row { name: name.to_owned(), executions, seconds: seconds as f64, corpus, finding })
}

fn counted(text: &str, name: &str) -> u64 {
    let count = text.lines().find_map(|it| it.strip_prefix(name)?.trim().parse().ok());
    count.unwrap_or_default()
}

/// Copies an input that failed to the corpus in the tree, and prints the end of the runner's words.
fn keep(name: &str, input: &Path, output: &Output) -> Result<PathBuf, String> {
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = words.lines().filter(|it| !it.starts_with('#')).collect();
    eprintln!("{name}:\n{}", lines[lines.len().saturating_sub(60)..].join("\n"));
    let file = input.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let file = match file.strip_prefix("current") {
        Some(_) => format!("found-{}", hash_of(input)?),
        None if file.starts_with("found-") => file,
        None => format!("found-{file}"),
    };
    let place = corpora().join(name).join(file);
    fs::copy(input, &place).map_err(|error| format!("{}: {error}", input.display()))?;
    Ok(place)
}

/// Returns the first part of an input's SHA-256.
fn hash_of(input: &Path) -> Result<String, String> {
    let bytes = fs::read(input).map_err(|error| format!("{}: {error}", input.display()))?;
    Ok(Sha256::digest(&bytes)[..8].iter().map(|it| format!("{it:02x}")).collect())
}

fn run(command: &mut Command) -> Result<Output, String> {
    let program = command.get_program().display().to_string();
    let output = command.stdin(Stdio::null()).output();
    output.map_err(|error| format!("`{program}` could not be started: {error}"))
}
