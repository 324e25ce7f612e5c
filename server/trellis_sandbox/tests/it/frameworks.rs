//! Parses captured output of real runs of other frameworks. The captured files come from jest 29.7
//! and 30.5, vitest 2.1 and 4.1, go 1.19 and 1.27; times, foreign paths and most foreign frames are
//! cut out.

mod fallback;
mod projects;
mod reading;

use std::path::Path;

use trellis_sandbox::frameworks::{CommandResult, Framework, ParsedReport, read};

/// Returns the text of a captured file.
macro_rules! captured {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/frameworks/captured/", $name))
    };
}
use captured;

/// Returns a result without output and with status 0.
fn silent() -> CommandResult<'static> {
    CommandResult {
        status: Ok(0),
        stdout: "",
        stderr: "",
        report: None,
        incomplete: None,
        root: Path::new("/t"),
        go_module: Some("example.com/cart"),
    }
}

/// Parses a run of jest or vitest that wrote `report`.
fn node(framework: Framework, status: i32, report: &str) -> ParsedReport {
    read(framework, &CommandResult { status: Ok(status), report: Some(report), ..silent() })
}

fn go(status: i32, stdout: &str, stderr: &str) -> ParsedReport {
    read(Framework::Go, &CommandResult { status: Ok(status), stdout, stderr, ..silent() })
}

/// Formats a result for comparison: one line per test and per file that could not be loaded.
fn shown(parsed: &ParsedReport) -> String {
    let mut lines =
        vec![format!("{:?} {}", parsed.outcome, parsed.reason.as_deref().unwrap_or(""))];
    lines.extend(parsed.tests.iter().map(|test| {
        let line = test.line.map(|line| format!(" :{line}")).unwrap_or_default();
        let failure = test.failure.as_ref().map(failure).unwrap_or_default();
        format!("{:?} {}{line}{failure}", test.outcome, test.id)
    }));
    lines.extend(parsed.not_run.iter().map(|id| format!("not run {id}")));
    lines.extend(parsed.collection_errors.iter().map(|it| format!("error{}", failure(it))));
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn failure(failure: &trellis_sandbox::Failure) -> String {
    let place = failure.path.as_deref().unwrap_or("nowhere");
    let line = failure.line.map(|line| format!(":{line}")).unwrap_or_default();
    let message = failure.message.lines().next().unwrap_or_default();
    format!(" | {place}{line} {}: {message}", failure.exception)
}
