//! `trellis test`: tests in the sandbox, structured results.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use run::frameworks::{Framework, detect};
use run::{LimitStatus, Outcome, Report, Request, TestResult, Tree, junit};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::error::{Exit, Fault};
use crate::output::Output;
use crate::sandbox::{self, Needs, SandboxArgs};
use crate::signals::cancel_on_signal;

/// Run a project's tests in the sandbox.
#[derive(Args)]
pub(crate) struct TestArgs {
    /// Test files, folders or pytest ids; one folder alone is the project to test.
    paths: Vec<String>,
    #[command(flatten)]
    sandbox: SandboxArgs,
    /// What runs the tests; found out from the project's files if not given.
    #[arg(long, value_enum)]
    framework: Option<Tool>,
    /// Seconds one test may take (of Python's).
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// Seconds all of them may take.
    #[arg(long, default_value_t = 3600, value_parser = clap::value_parser!(u64).range(1..))]
    run_timeout: u64,
    /// Measure which lines the tests execute.
    #[arg(long)]
    coverage: bool,
    /// Start a fresh interpreter, instead of forking a warm one.
    #[arg(long)]
    cold: bool,
    /// Write the results as JUnit XML too.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// The frameworks by the names of their programs.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Tool {
    Pytest,
    Unittest,
    Jest,
    Vitest,
    Go,
}

impl Tool {
    fn framework(self) -> Framework {
        match self {
            Tool::Pytest => Framework::Pytest,
            Tool::Unittest => Framework::Unittest,
            Tool::Jest => Framework::Jest,
            Tool::Vitest => Framework::Vitest,
            Tool::Go => Framework::Go,
        }
    }
}

/// What was asked for, else what the project's files show, else pytest.
fn framework(asked: Option<Tool>, root: &Path, output: &Output) -> Framework {
    if let Some(tool) = asked {
        return tool.framework();
    }
    let Some(found) = detect(root) else { return Framework::Pytest };
    if found.framework != Framework::Pytest {
        output.note(format_args!("{}: {}", found.framework, found.because));
    }
    found.framework
}

pub(crate) async fn run(args: TestArgs, output: &mut Output) -> Result<Exit, Fault> {
    let (root, targets) = place(&args.paths)?;
    let framework = framework(args.framework, &root, output);
    let python = matches!(framework, Framework::Pytest | Framework::Unittest);
    let needs = if python { Needs::Project } else { Needs::Lines(Vec::new()) };
    let sandbox = sandbox::open(&args.sandbox, &root, needs, output).await?;
    let request = Request {
        targets,
        framework,
        test_timeout: Duration::from_secs(args.timeout),
        run_timeout: Duration::from_secs(args.run_timeout),
        coverage: args.coverage,
        cold: args.cold,
        ..Request::new(Tree::Folder(root))
    };
    let cancel = CancellationToken::new();
    cancel_on_signal(cancel.clone())?;
    let is_json = output.is_json();
    let mut told = HashSet::new();
    let mut as_it_ends = |test: &TestResult| {
        told.insert(test.id.clone());
        if !is_json {
            // Whoever has gone away is noticed when the summary is printed.
            let _ = output.text(line(test));
        }
    };
    let report = sandbox.runner.run_telling(&request, &cancel, &mut as_it_ends).await;
    let left = sandbox.runner.close().await;
    if let Some(path) = &args.junit {
        let written = fs::write(path, junit(&report, "tests"));
        written.map_err(|e| Fault::input(format!("cannot write {}: {e}", path.display())))?;
    }
    if is_json {
        output.json(&shape(&report))?
    } else {
        output.text(summary(&report, &told))?
    }
    match &report.outcome {
        Outcome::Passed => Ok(Exit::Done),
        Outcome::Cancelled => Ok(Exit::Interrupted),
        Outcome::SandboxUnavailable { reason } | Outcome::SandboxLost { reason } => {
            Err(Fault::unavailable(reason))
        }
        _ if !left.is_empty() => Err(Fault::internal(left.join("; "))),
        _ => Ok(Exit::TestsFailed),
    }
}

fn place(paths: &[String]) -> Result<(PathBuf, Vec<String>), Fault> {
    let here = std::env::current_dir()
        .map_err(|e| Fault::input(format!("there is no current folder: {e}")))?;
    match paths {
        [only] if Path::new(only).is_dir() => {
            let root = Path::new(only).canonicalize();
            Ok((root.map_err(|e| Fault::input(format!("cannot use {only}: {e}")))?, Vec::new()))
        }
        many => {
            let missing = many
                .iter()
                .find(|path| !Path::new(path.split("::").next().unwrap_or(path)).exists());
            match missing {
                Some(path) => Err(Fault::input(format!("there is no {path}"))
                    .hint("give test files, folders or pytest ids")),
                None => Ok((here, many.to_vec())),
            }
        }
    }
}

fn outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Failed => "failed",
        Outcome::CollectionError => "collectionError",
        Outcome::NoTests => "noTests",
        Outcome::TimedOut => "timedOut",
        Outcome::KilledForMemory => "killedForMemory",
        Outcome::Crashed { .. } => "crashed",
        Outcome::Tampered { .. } => "tampered",
        Outcome::SandboxLost { .. } => "sandboxLost",
        Outcome::SandboxUnavailable { .. } => "sandboxUnavailable",
        Outcome::Cancelled => "cancelled",
    }
}

fn test_outcome(test: &TestResult) -> String {
    let name = format!("{:?}", test.outcome);
    let mut chars = name.chars();
    chars.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(chars).collect()
}

fn failure(failure: &run::Failure) -> Value {
    json!({
        "exception": failure.exception,
        "message": failure.message,
        "path": failure.path,
        "line": failure.line,
        "traceback": failure.traceback,
    })
}

fn shape(report: &Report) -> Value {
    let tests: Vec<Value> = (report.tests.iter())
        .map(|test| {
            json!({
                "id": test.id,
                "outcome": test_outcome(test),
                "durationMs": test.duration.as_millis() as u64,
                "path": test.path,
                "line": test.line,
                "failure": test.failure.as_ref().map(failure),
            })
        })
        .collect();
    let coverage = report.coverage.as_ref().map(|coverage| {
        let files = coverage.files.iter();
        files
            .map(|(path, it)| {
                (path.clone(), json!({ "executed": it.executed, "missing": it.missing }))
            })
            .collect::<serde_json::Map<_, _>>()
    });
    json!({
        "outcome": outcome(&report.outcome),
        "parsingFailed": report.parsing_failed,
        "reason": reason(report),
        "tests": tests,
        "collectionErrors": report.collection_errors.iter().map(failure).collect::<Vec<_>>(),
        "limits": report.limits.iter().map(limit).collect::<Vec<_>>(),
        "durationMs": report.duration.as_millis() as u64,
        "coverage": coverage,
    })
}

/// A limit as every command's JSON shows it.
pub(super) fn limit(it: &LimitStatus) -> Value {
    json!({ "name": it.name, "enforced": it.enforced, "how": it.how })
}

/// One test, as it ends.
fn line(test: &TestResult) -> String {
    let mut out =
        format!("{:<8} {} ({} ms)", test_outcome(test), test.id, test.duration.as_millis());
    if let Some(failure) = &test.failure {
        let message = failure.message.lines().next().unwrap_or_default();
        out += &format!("\n         {}: {message}{}", failure.exception, place_of(failure));
    }
    out
}

fn place_of(failure: &run::Failure) -> String {
    match (&failure.path, failure.line) {
        (Some(path), Some(line)) => format!(" ({path}:{line})"),
        (Some(path), None) => format!(" ({path})"),
        (None, _) => String::new(),
    }
}

/// What is left to say when all tests have ended; `told` have been shown.
fn summary(report: &Report, told: &HashSet<String>) -> String {
    let mut out = String::new();
    for test in report.tests.iter().filter(|it| !told.contains(&it.id)) {
        out += &format!("{}\n", line(test));
    }
    for failure in &report.collection_errors {
        let (message, place) = (&failure.message, place_of(failure));
        out += &format!("not collected: {}: {message}{place}\n", failure.exception);
    }
    for (path, file) in report.coverage.iter().flat_map(|it| &it.files) {
        let (executed, all) = (file.executed.len(), file.executed.len() + file.missing.len());
        out += &format!("coverage {path}: {executed} of {all} lines\n");
    }
    report.notes.iter().for_each(|note| out += &format!("note: {note}\n"));
    let loose: Vec<&str> =
        report.limits.iter().filter(|it| !it.enforced).map(|it| it.name).collect();
    if !loose.is_empty() {
        out +=
            &format!("not enforced on this machine: {}; see `trellis doctor`\n", loose.join(", "));
    }
    out += outcome(&report.outcome);
    out += &counts(report);
    reason(report).iter().for_each(|reason| out += &format!(": {reason}"));
    out
}

fn counts(report: &Report) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for name in report.tests.iter().map(test_outcome) {
        match counts.iter_mut().find(|(it, _)| *it == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let words: Vec<String> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let seconds = report.duration.as_secs_f64();
    if words.is_empty() {
        String::new()
    } else {
        format!(" ({} in {seconds:.2} s)", words.join(", "))
    }
}

fn reason(report: &Report) -> Option<&str> {
    match &report.outcome {
        Outcome::Tampered { what } => Some(what),
        Outcome::SandboxLost { reason } | Outcome::SandboxUnavailable { reason } => Some(reason),
        _ => report.reason.as_deref(),
    }
}
