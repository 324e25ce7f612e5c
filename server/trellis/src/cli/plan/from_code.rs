//! `trellis plan from-code`: derives a planning graph from a repository.

use std::path::PathBuf;

use clap::Args;
use trellis_os::wording::counted;

use crate::output::Output;
use trellis_server::api::plan_from_code::{PlanFromCodeParams, PlanFromCodeResult, plan_from_code};
use trellis_workflows::fault::{Exit, Fault};

/// Derive a graph from existing code: files, definitions and what they use.
///
/// Without `--out` the graph is printed.
#[derive(Args)]
pub(super) struct FromCodeArgs {
    /// Folder of the code.
    #[arg(value_name = "DIR")]
    root: PathBuf,
    /// Write the graph to a new file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Include files of tests.
    #[arg(long)]
    tests: bool,
}

pub(super) fn run(args: &FromCodeArgs, output: &mut Output) -> Result<Exit, Fault> {
    let (root, out) = (args.root.clone(), args.out.clone());
    let result = plan_from_code(&PlanFromCodeParams { root, out, tests: args.tests })?;
    if output.is_json() {
        output.json(&result)?;
        return Ok(Exit::Done);
    }
    result.notes.iter().for_each(|it| output.note(format_args!("note: {it}")));
    match &result.graph {
        Some(graph) => {
            output.note(summary(&result));
            output.text(format_args!("{graph:#}"))?;
        }
        None => output.text(summary(&result))?,
    }
    Ok(Exit::Done)
}

fn summary(it: &PlanFromCodeResult) -> String {
    let size = [
        counted(it.files, "file", "files"),
        counted(it.definitions, "definition", "definitions"),
        counted(it.certain + it.possible, "dependency", "dependencies"),
    ];
    let mut out = format!("{} ({} only possible)", size.join(", "), it.possible);
    if it.tests > 0 {
        out += &format!("\n{} left out", counted(it.tests, "test file", "test files"));
    }
    if !it.problems.is_empty() {
        let kinds: Vec<String> =
            it.problems.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        out += &format!("\nproblems for a run of `generate`: {}", kinds.join(", "));
    }
    out
}
