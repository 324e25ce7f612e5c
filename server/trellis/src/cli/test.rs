//! `trellis test`: runs tests in the sandbox, with structured results.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use tokio_util::sync::CancellationToken;
use trellis_sandbox::{TestResult, junit};

use crate::cli::test_output::{line, summary};
use crate::output::Output;
use trellis_server::api::run_limits::{TEST_SECONDS, TimeLimits};
use trellis_server::api::run_tests::{Prepared, RunTestsParams, Tool};
use trellis_server::results::Results;
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::sandbox::{SandboxArgs, WarmSandboxes};
use trellis_workflows::signals::cancel_on_signal;

/// Run tests in the sandbox.
#[derive(Args)]
pub(crate) struct TestArgs {
    /// Test files, folders or pytest ids. Default: all tests of the project in this folder.
    paths: Vec<String>,
    #[command(flatten)]
    sandbox: SandboxArgs,
    /// Test framework [default: detected from the project's files].
    #[arg(long, value_enum, value_name = "NAME")]
    framework: Option<Tool>,
    /// Time limit for one Python test, in seconds.
    #[arg(long, alias = "timeout", help_heading = "Sandbox", value_name = "SECONDS", default_value_t = TEST_SECONDS, value_parser = clap::value_parser!(u64).range(1..))]
    test_timeout: u64,
    /// Time limit for all tests of a run, in seconds [default: 1800].
    #[arg(long, help_heading = "Sandbox", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    run_timeout: Option<u64>,
    /// Measure which lines the tests execute.
    #[arg(long)]
    coverage: bool,
    /// Start a fresh interpreter instead of forking a warm one.
    #[arg(long, help_heading = "Sandbox")]
    cold: bool,
    /// Also write the results to this file as JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Options for pytest, such as `-- -k name -x`.
    #[arg(last = true, value_name = "OPTION", allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Creates the result file before anything runs, since unsaved results would be lost.
fn create(path: &Path) -> Result<File, Fault> {
    File::create(path).map_err(|e| Fault::input(format!("cannot write {}: {e}", path.display())))
}

pub(crate) async fn run(args: TestArgs, output: &mut Output) -> Result<Exit, Fault> {
    let prepared = Prepared::of(
        &RunTestsParams {
            test_path: None,
            paths: args.paths,
            root: None,
            sandbox: args.sandbox,
            framework: args.framework,
            limits: TimeLimits { test_timeout: args.test_timeout, run_timeout: args.run_timeout },
            coverage: args.coverage,
            record_execution: false,
            cold: args.cold,
            arguments: args.arguments,
        },
        output.reporter(),
    )?;
    let mut junit_file = args.junit.as_deref().map(create).transpose()?;
    let cancel = CancellationToken::new();
    cancel_on_signal(cancel.clone())?;
    let is_json = output.is_json();
    let mut reported = HashSet::new();
    let mut screen = Output::new(is_json);
    let mut as_it_ends = |test: &TestResult| {
        reported.insert(test.id.clone());
        if !is_json {
            // A closed output is noticed when the summary is printed.
            let _ = screen.text(line(test));
        }
    };
    let sandboxes = WarmSandboxes::default();
    let (root, targets) = (prepared.root().to_owned(), prepared.targets().to_owned());
    let began = SystemTime::now();
    let ran = prepared.run(&sandboxes, output.reporter(), &cancel, &mut as_it_ends).await;
    let left = sandboxes.close().await;
    let ran = ran?;
    let results = Results::default();
    results.record(&root, &targets, &ran.report, began);
    results.keep();
    if let Some(file) = &mut junit_file {
        let written = file.write_all(junit(&ran.report, "tests").as_bytes());
        written.map_err(|e| Fault::internal(format!("cannot write the JUnit file: {e}")))?;
    }
    if is_json {
        output.json(&ran.result())?
    } else {
        output.text(summary(&ran.report, &reported))?
    }
    ran.verdict(&left)
}
