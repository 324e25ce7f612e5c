//! `trellis write-tests`: generates tests for an existing function.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tokio_util::sync::CancellationToken;

use crate::cli::test_output::plain;
use crate::output::{Output, color};
use trellis_server::api::run_limits::TEST_SECONDS;
use trellis_server::api::write_tests::{Generated, TestFramework};
use trellis_server::results::Results;
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::models::ModelArgs;
use trellis_workflows::sandbox::SandboxArgs;
use trellis_workflows::signals::cancel_on_signal;
use trellis_workflows::write_tests::report::{FailureReport, TestReport, WriteTestsReport};
use trellis_workflows::write_tests::{WriteTestsRequest, generate};

/// Maximum lines shown of a failure.
const EXPLAINED: usize = 6;

/// Generate tests for an existing function.
#[derive(Args)]
pub(crate) struct WriteTestsArgs {
    /// Function to test: FILE::NAME or FILE::Class.method; FILE::f[1] is the second `f`.
    #[arg(value_name = "FILE::FUNCTION")]
    function: String,
    /// Folder of the project [default: found from the file].
    #[arg(long, alias = "root", value_name = "DIR")]
    project: Option<PathBuf>,
    /// Style of the tests [default: detected from the project's files].
    #[arg(long, value_enum, value_name = "NAME")]
    framework: Option<TestFramework>,
    /// Folder for generated tests, inside the project [default: `tests_dir` in trellis.toml, then trellis_tests].
    #[arg(long, value_name = "DIR")]
    tests_dir: Option<String>,
    /// Show the tests and their results; write nothing.
    #[arg(long)]
    dry_run: bool,
    /// Also replace generated tests that you edited.
    #[arg(long)]
    replace_edited: bool,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    sandbox: SandboxArgs,
    /// Time limit for one test, in seconds.
    #[arg(long, alias = "timeout", help_heading = "Sandbox", value_name = "SECONDS", default_value_t = TEST_SECONDS, value_parser = clap::value_parser!(u64).range(1..))]
    test_timeout: u64,
    /// Time limit for all tests of a run, in seconds [default: 1800].
    #[arg(long, help_heading = "Sandbox", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    run_timeout: Option<u64>,
}

pub(crate) async fn run(args: WriteTestsArgs, output: &mut Output) -> Result<Exit, Fault> {
    let Some((file, name)) = args.function.split_once("::") else {
        let message = format!("{:?} names no function", args.function);
        return Err(Fault::new(Exit::Usage, message)
            .hint("give FILE::FUNCTION, such as shop/cart.py::Cart.total"));
    };
    let order = WriteTestsRequest {
        file: file.into(),
        name: name.to_owned(),
        root: args.project,
        framework: args.framework.map(Into::into),
        tests_dir: args.tests_dir,
        preview: args.dry_run,
        replace_edited: args.replace_edited,
        model: args.model,
        sandbox: args.sandbox,
        test_timeout: Duration::from_secs(args.test_timeout),
        run_timeout: args.run_timeout.map(Duration::from_secs),
    };
    let cancel = CancellationToken::new();
    cancel_on_signal(cancel.clone())?;
    let results = Results::default();
    let reporter = results.watching(output.reporter());
    let generated = generate(order, &reporter, cancel).await;
    results.keep();
    let generated = generated?;
    if output.is_json() {
        output.json(&Generated::from(generated.clone()))?;
    } else {
        output.text(human(&generated))?;
    }
    Ok(generated.exit())
}

fn human(it: &WriteTestsReport) -> String {
    let mut out = String::new();
    if !it.written && !it.diff.is_empty() {
        out += &format!("{}\n", plain_lines(&it.diff));
    }
    it.tests.iter().for_each(|test| out += &line(test));
    it.errors.iter().for_each(|error| out += &format!("not collected{}", failed(error)));
    it.warnings.iter().for_each(|warning| out += &format!("warning: {}\n", plain(warning)));
    let passed = it.tests.iter().filter(|test| test.outcome == "passed").count();
    let place = if it.written { "written to" } else { "not written:" };
    out += &format!("{} of {} tests of {} pass", passed, it.tests.len(), it.function);
    out += &it.reason.as_ref().map_or(String::new(), |why| format!(" ({}: {why})", it.outcome));
    out += &format!("; {place} {}", it.path);
    if passed < it.tests.len() && it.written {
        out += "\nFailing tests are kept: either the test is wrong, or the code has a bug.";
        out += &format!("\nnext: `trellis repair --test {}`", it.path);
    }
    out
}

fn line(test: &TestReport) -> String {
    let state = color::state(&format!("{:<8}", test.outcome));
    let mut out = format!("{state} {}", plain(&format!("{} ({} ms)", test.id, test.duration_ms)));
    match &test.failure {
        Some(failure) => out += &failed(failure),
        None => out.push('\n'),
    }
    out
}

fn failed(failure: &FailureReport) -> String {
    let place = match (&failure.path, failure.line) {
        (Some(path), Some(line)) => format!(" ({path}:{line})"),
        _ => String::new(),
    };
    let mut out = format!("\n         {}{place}\n", failure.exception);
    for line in failure.message.lines().take(EXPLAINED) {
        out += &format!("         {}\n", plain(line));
    }
    out
}

fn plain_lines(text: &str) -> String {
    text.lines().map(|line| color::diff(&plain(line))).collect::<Vec<_>>().join("\n")
}
