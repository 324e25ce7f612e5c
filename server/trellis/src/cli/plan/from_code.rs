//! `trellis plan from-code`: derives a planning graph from a repository.

use std::path::PathBuf;

use clap::Args;
use trellis_os::wording::counted;

use crate::cli::test_output::plain;
use crate::output::Output;
use trellis_server::api::plan_from_code::{
    DescribedDefinitions, MissingDocstring, PlanFromCodeParams, PlanFromCodeResult, SubgraphRule,
    plan_from_code, plan_from_described_code,
};
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::job_control::JobControl;
use trellis_workflows::models::ModelArgs;

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
    /// Rule by which definitions form subgraphs.
    #[arg(long, value_name = "RULE", value_enum, default_value_t)]
    subgraphs: SubgraphRule,
    /// Ask a model for the docstrings that the code does not have.
    #[arg(long, requires = "out")]
    describe: bool,
    #[command(flatten)]
    model: ModelArgs,
}

pub(super) async fn run(args: &FromCodeArgs, output: &mut Output) -> Result<Exit, Fault> {
    let params = PlanFromCodeParams {
        root: args.root.clone(),
        out: args.out.clone(),
        tests: args.tests,
        subgraphs: args.subgraphs,
    };
    let result = match args.describe {
        true => {
            let control = JobControl::of_signals()?;
            plan_from_described_code(&params, &args.model, output.reporter(), &control).await?
        }
        false => plan_from_code(&params)?,
    };
    let is_missing = result.described.as_ref().is_some_and(|it| !it.missing.is_empty());
    let exit = if is_missing { Exit::NeedsHuman } else { Exit::Done };
    if output.is_json() {
        output.json(&result)?;
        return Ok(exit);
    }
    result.notes.iter().for_each(|it| output.note(format_args!("note: {it}")));
    match &result.graph {
        Some(graph) => {
            output.note(summary(&result));
            output.text(format_args!("{graph:#}"))?;
        }
        None => output.text(summary(&result))?,
    }
    Ok(exit)
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
    if let Some(it) = &it.described {
        out += &described(it);
    }
    if !it.problems.is_empty() {
        let kinds: Vec<String> =
            it.problems.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        out += &format!("\nproblems for a run of `generate`: {}", kinds.join(", "));
    }
    out
}

fn described(it: &DescribedDefinitions) -> String {
    let docstrings = counted(it.docstrings, "docstring", "docstrings");
    let requests = counted(it.requests as usize, "request", "requests");
    let mut out = format!("\n{docstrings} of a model, {requests}");
    for MissingDocstring { node, problem } in &it.missing {
        out += &format!("\nproblem: {}: {}", plain(node), plain(problem));
    }
    out
}
