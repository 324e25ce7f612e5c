//! `trellis fixes`: lists, shows and decides proposed fixes.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use futures_util::FutureExt as _;
use tokio_util::sync::CancellationToken;

use super::test_output::plain;
use crate::output::{Output, color};
use trellis_server::api::proposals::{
    DecideFixParams, DecideFixResult, FixResult, FixSummary, GetFixParams, ListFixesParams,
    decide_fix, get_fix, list_fixes, undo_fix,
};
use trellis_server::api::run_limits::{TEST_SECONDS, TimeLimits};
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::proposals::{Choice, OpenTexts, State, Store, VerifyMode};
use trellis_workflows::sandbox::SandboxArgs;
use trellis_workflows::signals::cancel_on_signal;

#[derive(Args)]
pub(crate) struct FixesArgs {
    #[command(subcommand)]
    command: FixesCommand,
}

#[derive(Subcommand)]
enum FixesCommand {
    /// List the fixes that need your review.
    List {
        /// List decided fixes as well.
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        project: ProjectArgs,
    },
    /// Show a fix as a diff, hunk by hunk.
    Show(FixArgs),
    /// Test a fix once more and write it.
    Accept(AcceptArgs),
    /// Reject a fix, or some of its hunks.
    Reject(RejectArgs),
    /// Apply an outdated fix to the current files.
    Rebase(FixArgs),
    /// Undo an accepted fix.
    Undo(FixArgs),
}

#[derive(Args)]
struct ProjectArgs {
    /// Folder of the project.
    #[arg(long, value_name = "DIR", default_value = ".")]
    project: PathBuf,
}

#[derive(Args)]
struct FixArgs {
    /// Id of the fix, such as fix-1.
    fix: String,
    #[command(flatten)]
    project: ProjectArgs,
}

#[derive(Args)]
struct AcceptArgs {
    #[command(flatten)]
    fix: FixArgs,
    /// Accept only these hunks; the others stay pending.
    #[arg(long, value_name = "N", value_delimiter = ',', num_args = 1..)]
    hunks: Vec<usize>,
    #[command(flatten)]
    sandbox: SandboxArgs,
    /// Time limit for one test, in seconds.
    #[arg(long, alias = "timeout", help_heading = "Sandbox", value_name = "SECONDS", default_value_t = TEST_SECONDS, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    test_timeout: u64,
    /// Time limit for all tests of a run, in seconds [default: 1800].
    #[arg(long, help_heading = "Sandbox", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    run_timeout: Option<u64>,
}

#[derive(Args)]
struct RejectArgs {
    #[command(flatten)]
    fix: FixArgs,
    /// Reject only these hunks; the others stay pending.
    #[arg(long, value_name = "N", value_delimiter = ',', num_args = 1..)]
    hunks: Vec<usize>,
    /// Reason, for the history.
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,
}

impl ProjectArgs {
    fn store(&self) -> Result<Store, Fault> {
        let root = trellis_server::api::doctor::folder(&self.project)?;
        Ok(Store::of(&root.canonicalize().unwrap_or_else(|_| root.to_owned())))
    }
}

impl FixArgs {
    fn decision(&self, decision: Choice, hunks: Vec<usize>) -> DecideFixParams {
        DecideFixParams {
            root: None,
            fix: self.fix.clone(),
            decision,
            revision: None,
            hunks,
            files: Vec::new(),
            test: true,
            note: String::new(),
            sandbox: SandboxArgs::default(),
            limits: TimeLimits { test_timeout: TEST_SECONDS, run_timeout: None },
        }
    }
}

pub(super) async fn run(args: FixesArgs, output: &mut Output) -> Result<Exit, Fault> {
    match args.command {
        FixesCommand::List { all, project } => list(&project.store()?, all, output)?,
        FixesCommand::Show(args) => show(&args, output)?,
        FixesCommand::Accept(args) => return accept(args, output).await,
        FixesCommand::Reject(args) => {
            let choice = if args.hunks.is_empty() { Choice::Reject } else { Choice::RejectHunks };
            let decision = args.fix.decision(choice, args.hunks);
            decide(&args.fix, DecideFixParams { note: args.note, ..decision }, output).await?;
        }
        FixesCommand::Rebase(args) => {
            decide(&args, args.decision(Choice::Rebase, Vec::new()), output).await?;
        }
        FixesCommand::Undo(args) => undo(&args, output)?,
    }
    Ok(Exit::Done)
}

fn list(store: &Store, all: bool, output: &mut Output) -> Result<(), Fault> {
    let state = if all { None } else { Some(State::Waiting) };
    let result = list_fixes(store, &ListFixesParams { root: None, state })?;
    if output.is_json() {
        return output.json(&result);
    }
    result.problems.iter().for_each(|it| output.note(format_args!("warning: {}", plain(it))));
    let lines: Vec<String> = result.fixes.iter().map(line).collect();
    match lines.is_empty() {
        true => output.text("no fix needs your review"),
        false => output.text(lines.join("\n")),
    }
}

/// Returns a proposal on one line.
fn line(it: &FixSummary) -> String {
    let state = color::state(&format!("{:<8}", it.state.as_str()));
    plain(&format!("{:<8}", it.fix)) + &format!(" {state} {}", plain(&what(it)))
}

fn what(it: &FixSummary) -> String {
    format!("{}: {}", it.test.id, it.paths.join(", "))
}

fn show(args: &FixArgs, output: &mut Output) -> Result<(), Fault> {
    let store = args.project.store()?;
    let fix = get_fix(&store, &GetFixParams { root: None, fix: args.fix.clone() })?;
    if output.is_json() {
        return output.json(&fix);
    }
    output.text(page(&fix))
}

fn page(fix: &FixResult) -> String {
    let mut out = format!("{}\n", line(&fix.summary));
    out += &format!("why: {}\n", plain(&fix.summary.reason));
    out += &format!("confidence: {}\n", fix.summary.confidence.breakdown());
    out.push('\n');
    fix.diff.lines().for_each(|it| out += &format!("{}\n", color::diff(&plain(it))));
    for file in &fix.files {
        for hunk in &file.hunks {
            out += &format!("hunk {}: {} {}\n", hunk.id, plain(&file.path), hunk.header);
        }
    }
    let id = &fix.summary.fix;
    out + &format!(
        "\nnext: `trellis fixes accept {id}`, `trellis fixes reject {id}`, or the same with --hunks N"
    )
}

async fn accept(args: AcceptArgs, output: &mut Output) -> Result<Exit, Fault> {
    let choice = if args.hunks.is_empty() { Choice::Accept } else { Choice::AcceptHunks };
    let limits = TimeLimits { test_timeout: args.test_timeout, run_timeout: args.run_timeout };
    let decision = args.fix.decision(choice, args.hunks);
    let params = DecideFixParams { sandbox: args.sandbox, limits, ..decision };
    let decided = decide(&args.fix, params, output).await?;
    let is_written = decided.edit.is_some();
    Ok(if is_written { Exit::Done } else { Exit::TestsFailed })
}

async fn decide(
    args: &FixArgs,
    params: DecideFixParams,
    output: &mut Output,
) -> Result<DecideFixResult, Fault> {
    let store = args.project.store()?;
    let cancel = CancellationToken::new();
    cancel_on_signal(cancel.clone())?;
    // Without an editor there are no unsaved texts.
    let open = || async { Ok(OpenTexts::new()) }.boxed();
    let testing = match params.runs_tests() {
        false => None,
        true => Some(VerifyMode {
            sandbox: params.sandbox.clone(),
            reporter: output.reporter(),
            times: params.times()?,
            cancel,
        }),
    };
    let decided = decide_fix(&store, params, &open, testing).await?;
    match output.is_json() {
        true => output.json(&decided)?,
        false => output.text(ending(&decided))?,
    }
    Ok(decided)
}

fn ending(it: &DecideFixResult) -> String {
    let mut out = String::new();
    for test in &it.tests {
        out += &format!("{} {}\n", color::state(&format!("{:<8}", test.outcome)), plain(&test.id));
    }
    for fix in &it.rebased {
        out += &format!("{fix} was applied to the new text: review it again\n");
    }
    it.notes.iter().for_each(|note| out += &format!("note: {}\n", plain(note)));
    let state = color::state(it.summary.state.as_str());
    let edit = it.edit.map_or_else(String::new, |edit| format!(" as edit {edit}"));
    let written = match it.written.is_empty() {
        true => String::new(),
        false => format!(": {} written{edit}", plain(&it.written.join(", "))),
    };
    out + &format!("{} is {state}{written}", it.summary.fix)
}

fn undo(args: &FixArgs, output: &mut Output) -> Result<(), Fault> {
    let undone = undo_fix(&args.project.store()?, &args.fix, &OpenTexts::new())?;
    if output.is_json() {
        return output.json(&undone);
    }
    let files = plain(&undone.written.join(", "));
    output.text(format_args!("{} is undone: {files} written as edit {}", args.fix, undone.edit))
}
