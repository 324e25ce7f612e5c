//! `trellis localize`: locates the bug behind failing tests.

use std::path::PathBuf;

use clap::Args;
use tokio_util::sync::CancellationToken;

use crate::cli::test_output::plain;
use crate::output::Output;
use trellis_server::api::localize::{FailingTest, LocalizeParams, LocalizeResult, localize};
use trellis_server::api::run_limits::{TEST_SECONDS, TimeLimits};
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::sandbox::SandboxArgs;
use trellis_workflows::signals::cancel_on_signal;

/// Maximum seconds for any option.
const DAY: u64 = 86_400;

/// Rank the functions and lines most likely to cause a failure.
#[derive(Args)]
pub(crate) struct LocalizeArgs {
    /// Folder of the project. Nothing in it changes.
    #[arg(default_value = ".")]
    project: PathBuf,
    /// Only these tests: ids, files or folders. Default: all.
    #[arg(long = "test", value_name = "ID")]
    tests: Vec<String>,
    /// Show at most this many suspects.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    top: u16,
    /// Time for trying small edits of suspicious lines against the tests, in seconds; 0 for none.
    #[arg(long, default_value_t = 20, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(..=DAY))]
    trials: u64,
    /// Time limit for one test, in seconds.
    #[arg(long, alias = "timeout", help_heading = "Sandbox", default_value_t = TEST_SECONDS, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=DAY))]
    test_timeout: u64,
    /// Time limit for all tests of a run, in seconds [default: 1800].
    #[arg(long, help_heading = "Sandbox", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=DAY))]
    run_timeout: Option<u64>,
    #[command(flatten)]
    sandbox: SandboxArgs,
}

pub(crate) async fn run(args: LocalizeArgs, output: &mut Output) -> Result<Exit, Fault> {
    let params = LocalizeParams {
        root: Some(args.project),
        tests: args.tests,
        top: args.top,
        trials: args.trials,
        limits: TimeLimits { test_timeout: args.test_timeout, run_timeout: args.run_timeout },
        sandbox: args.sandbox,
    };
    let cancel = CancellationToken::new();
    cancel_on_signal(cancel.clone())?;
    let result = match localize(&params, output.reporter(), &cancel).await {
        Err(fault) if fault.exit == Exit::Interrupted => return Ok(Exit::Interrupted),
        result => result?,
    };
    if output.is_json() {
        output.json(&result)?;
    } else {
        output.text(table(&result))?;
    }
    let nothing = result.failures.is_empty() || !result.suspects.is_empty();
    Ok(if nothing { Exit::Done } else { Exit::TestsFailed })
}

/// Maximum number of failures listed.
const FAILURES: usize = 8;

/// Returns the failing tests with their failures.
fn failing(failures: &[FailingTest]) -> String {
    let count = failures.len();
    let mut out = match count {
        0 => return String::new(),
        1 => "1 test fails:\n".to_owned(),
        _ => format!("{count} tests fail:\n"),
    };
    for it in failures.iter().take(FAILURES) {
        let message = it.message.lines().next().unwrap_or_default();
        out += &plain(&format!("  {}: {}: {message}", it.id, it.exception));
        out.push('\n');
    }
    if count > FAILURES {
        out += &format!("  and {} more; --json has them\n", count - FAILURES);
    }
    out
}

fn table(result: &LocalizeResult) -> String {
    let mut out = String::new();
    if result.failures.is_empty() {
        out += "no test fails\n";
    }
    for (number, it) in result.suspects.iter().enumerate() {
        let symbol = if it.symbol.is_empty() { "(top level)" } else { &it.symbol };
        out += &format!("{:>2}. {:.2} {symbol}  {}:{}\n", number + 1, it.score, it.path, it.line);
        out += &plain(&format!("         | {}", it.text));
        out += &format!("\n      {}\n", it.why);
        if let Some(repair) = &it.repair {
            out += match it.is_proven {
                true => {
                    "      with this every failing test passes; it proves the place, not the fix:\n"
                }
                false => "      with this every failing test passes; it proves nothing:\n",
            };
            repair.lines().for_each(|line| out += &format!("         {}\n", plain(line)));
        }
    }
    if let Some(it) = &result.diagnosis {
        out += &plain(&format!("diagnosis: {} ({}): {}", it.kind, it.rule, it.why));
        out.push('\n');
    }
    result.notes.iter().for_each(|note| out += &format!("note: {note}\n"));
    if !result.flaky.is_empty() {
        out += &format!("flaky, passed when run again: {}\n", result.flaky.join(", "));
    }
    out += &failing(&result.failures);
    out.trim_end().to_owned()
}
