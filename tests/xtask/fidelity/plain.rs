//! Plain pytest, with the outcome of each test.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::projects::Project;

/// Lines of pytest's output that explain why there is no result.
const LAST_LINES: usize = 5;

/// Result of one way of running.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) tests: BTreeMap<String, String>,
    pub(crate) took: Duration,
    /// Reason why there is no result.
    pub(crate) trouble: Option<String>,
    /// Exceptions by test, or by module that could not be collected.
    pub(crate) failures: BTreeMap<String, TestFailure>,
}

/// An exception that ended a test.
#[derive(Clone, Default)]
pub(crate) struct TestFailure {
    /// First line of its text, with its type.
    pub(crate) message: String,
    /// Lines of the project that it passed, the innermost one last; counted from 1.
    pub(crate) lines: Vec<(PathBuf, u64)>,
}

/// Settings of a run besides the project.
#[derive(Default)]
pub(crate) struct Settings<'a> {
    /// Arguments of pytest.
    pub(crate) arguments: &'a [&'a str],
    /// Folders from which modules are imported before those that are installed.
    pub(crate) sources: &'a [PathBuf],
    /// Time after which the run is ended; without one it may take any time.
    pub(crate) limit: Option<Duration>,
}

pub(crate) fn plain(project: &Project) -> Result<Seen, String> {
    run_with(project, &Settings::default())
}

/// Runs a suite with settings.
pub(crate) fn run_with(project: &Project, settings: &Settings<'_>) -> Result<Seen, String> {
    let place = tempfile::tempdir().map_err(|e| format!("a folder for pytest's plugin: {e}"))?;
    let cannot = |e: std::io::Error| format!("{}: {e}", place.path().display());
    let plugin = include_str!("plain_outcomes.py");
    fs::write(place.path().join("plain_outcomes.py"), plugin).map_err(cannot)?;
    let results = place.path().join("results.json");
    let mut command = command(project, settings, place.path())?;
    command.env("PLAIN_OUTCOMES", &results);
    let began = Instant::now();
    let ran = command.output().map_err(|e| format!("{}: {e}", project.name))?;
    let took = began.elapsed();
    let text = fs::read_to_string(&results).unwrap_or_default();
    Ok(match serde_json::from_str::<Value>(&text) {
        Ok(result) => Seen { took, ..seen(&result) },
        Err(_) => Seen { took, trouble: Some(last_lines(&ran)), ..Seen::default() },
    })
}

fn command(project: &Project, settings: &Settings<'_>, plugins: &Path) -> Result<Command, String> {
    let python = project.environment.join("bin/python");
    let mut command = match settings.limit {
        Some(limit) => {
            let mut command = Command::new("timeout");
            command.args(["-k", "5", &limit.as_secs().to_string()]).arg(python);
            command
        }
        None => Command::new(python),
    };
    let folders = settings.sources.iter().map(PathBuf::as_path).chain([plugins]);
    let folders = std::env::join_paths(folders).map_err(|e| format!("{}: {e}", project.name))?;
    command.args(["-m", "pytest", "-q", "-p", "plain_outcomes", "-p", "no:cacheprovider"]);
    command.args(settings.arguments).args(&project.tests).current_dir(&project.folder);
    command.env("PYTHONPATH", folders).env("PYTHONDONTWRITEBYTECODE", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

/// Returns the last lines that pytest wrote.
fn last_lines(ran: &Output) -> String {
    let said = [&ran.stdout[..], &ran.stderr[..]].concat();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<&str> = said.lines().filter(|it| !it.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
    format!("{}: {}", ran.status, last.join(" / "))
}

fn seen(result: &Value) -> Seen {
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let tests = result["tests"].as_object().into_iter().flatten();
    let failures = result["failures"].as_object().into_iter().flatten();
    let status = result["status"].as_i64().unwrap_or_default();
    Seen {
        tests: tests.map(|(id, it)| (id.clone(), text(it))).collect(),
        failures: failures.map(|(id, it)| (id.clone(), test_failure(it))).collect(),
        trouble: (status > 1).then(|| format!("ended with status {status}")),
        took: Duration::ZERO,
    }
}

fn test_failure(value: &Value) -> TestFailure {
    let message = value["message"].as_str().unwrap_or_default().to_owned();
    let line = |it: &Value| Some((PathBuf::from(it[0].as_str()?), it[1].as_u64()?));
    let lines = value["lines"].as_array().into_iter().flatten().filter_map(line).collect();
    TestFailure { message, lines }
}
