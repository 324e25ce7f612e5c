//! `trellis test`: tests in the sandbox, structured results.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use run::{Config, LimitStatus, Outcome, Report, Request, Runner, TestResult, Tree, python};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::error::{Exit, Fault};
use crate::grow::cache_folder;
use crate::output::Output;
use crate::signals::cancel_on_signal;
use crate::workspace::scratch::ScratchFolder;

/// Run a project's tests in the sandbox.
#[derive(Args)]
pub(crate) struct TestArgs {
    /// Test files, folders or pytest ids; one folder alone is the project to test.
    paths: Vec<String>,
    /// Where tests run.
    #[arg(long, value_enum, default_value = "auto")]
    sandbox: super::Sandbox,
    /// Seconds one test may take.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// Measure which lines the tests execute.
    #[arg(long)]
    coverage: bool,
}

pub(crate) async fn run(args: TestArgs, output: &mut Output) -> Result<Exit, Fault> {
    let (root, targets) = place(&args.paths)?;
    let python = environment(&root).await?;
    let request = Request {
        targets,
        test_timeout: Duration::from_secs(args.timeout),
        coverage: args.coverage,
        ..Request::new(Tree::Folder(root))
    };
    let scratch = ScratchFolder::new()?;
    let config = Config { scratch: scratch.path().to_owned(), ..Config::from_environment() };
    let runner = Runner::new(python, config);
    let cancel = CancellationToken::new();
    cancel_on_signal(cancel.clone())?;
    let report = runner.run(&request, &cancel).await;
    let left = runner.close().await;
    if output.is_json() {
        output.json(&shape(&report))?
    } else {
        output.text(human(&report))?
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

/// The project's own environment, else one with its requirements.
async fn environment(root: &Path) -> Result<python::Python, Fault> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let base = python::find(Some(root), &path).await.map_err(Fault::unavailable)?;
    if base.origin == python::Origin::Project {
        return Ok(base);
    }
    let requirements = fs::read_to_string(root.join("requirements.txt")).unwrap_or_default();
    let lines: Vec<String> = requirements.lines().map(str::to_owned).collect();
    python::provide(&base, &lines, &cache_folder()?, &|_| {}).await.map_err(Fault::unavailable)
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
    let limit =
        |it: &LimitStatus| json!({ "name": it.name, "enforced": it.enforced, "how": it.how });
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

fn human(report: &Report) -> String {
    let mut out = String::new();
    for test in &report.tests {
        out +=
            &format!("{:<8} {} ({} ms)\n", test_outcome(test), test.id, test.duration.as_millis());
        if let Some(failure) = &test.failure {
            let line = failure.message.lines().next().unwrap_or_default();
            let place = failure.path.as_deref().unwrap_or_default();
            out += &format!(
                "         {}: {line} ({place}:{})\n",
                failure.exception,
                failure.line.unwrap_or(0)
            );
        }
    }
    for failure in &report.collection_errors {
        out += &format!("not collected: {}: {}\n", failure.exception, failure.message);
    }
    let loose: Vec<&str> =
        report.limits.iter().filter(|it| !it.enforced).map(|it| it.name).collect();
    if !loose.is_empty() {
        out += &format!("not enforced on this machine: {}\n", loose.join(", "));
    }
    out += outcome(&report.outcome);
    reason(report).iter().for_each(|reason| out += &format!(": {reason}"));
    out
}

fn reason(report: &Report) -> Option<&str> {
    match &report.outcome {
        Outcome::Tampered { what } => Some(what),
        Outcome::SandboxLost { reason } | Outcome::SandboxUnavailable { reason } => Some(reason),
        _ => report.reason.as_deref(),
    }
}
