//! `trellis generate`: the main job.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::error::{Exit, Fault};
use crate::grow::{GrowOrder, Summary, grow};
use crate::models::ModelArgs;
use crate::output::Output;
use crate::sandbox::SandboxArgs;

/// Grow a tested repository from a planning graph; resumes by itself.
#[derive(Args)]
pub(crate) struct GenerateArgs {
    /// The planning graph (RPG JSON; the dialect is detected).
    graph: PathBuf,
    /// Folder to grow the repository in.
    #[arg(long)]
    out: PathBuf,
    #[command(flatten)]
    model: ModelArgs,
    /// Nodes worked on at once; the result is the same for any number.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,
    /// Nodes per write to the disk.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    batch: u16,
    /// Start at this node; what comes before it must have passed or is skipped.
    #[arg(long, value_name = "ID")]
    start_from_node: Option<String>,
    /// Files the model is shown as project context.
    #[arg(long, num_args = 1.., value_name = "FILE")]
    context: Vec<PathBuf>,
    /// Specification in prose: project name and description when the graph has none.
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,
    /// Force the graph's dialect: rpg, zerorepo, codermind or rpg-encoder.
    #[arg(long)]
    dialect: Option<plan::Dialect>,
    /// How the model gives a fix: in one reply, or with tools by which it looks around and edits.
    #[arg(long, value_enum, default_value_t = FixWith::Reply)]
    fix_with: FixWith,
    #[command(flatten)]
    sandbox: SandboxArgs,
    /// Seconds one test may take.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    test_timeout: u64,
    /// Build on files that were changed by hand, instead of stopping.
    #[arg(long)]
    keep_edits: bool,
    /// Remove what was grown for nodes that are not in the graph any more, instead of stopping.
    #[arg(long)]
    drop_removed: bool,
}

/// How a fix is given.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum FixWith {
    Reply,
    Tools,
}

pub(crate) async fn run(args: GenerateArgs, output: &mut Output) -> Result<Exit, Fault> {
    let order = GrowOrder {
        graph: args.graph,
        out: args.out,
        dialect: args.dialect,
        model: args.model,
        sandbox: args.sandbox,
        jobs: usize::from(args.jobs),
        batch: usize::from(args.batch),
        start_from: args.start_from_node,
        context: args.context,
        spec: args.spec,
        keep_edits: args.keep_edits,
        drop_removed: args.drop_removed,
        fix_with: match args.fix_with {
            FixWith::Reply => cycle::FixWith::OneReply,
            FixWith::Tools => cycle::FixWith::Tools,
        },
        test_timeout: Duration::from_secs(args.test_timeout),
    };
    let (summary, exit) = grow(order, output).await?;
    if output.is_json() {
        output.json(&summary)?
    } else {
        output.text(human(&summary))?
    }
    Ok(exit)
}

fn human(summary: &Summary) -> String {
    let mut out = format!(
        "\n{} of {} nodes passed, {} failed, {} skipped\n",
        summary.passed, summary.planned, summary.failed, summary.skipped
    );
    for (fixes, count) in summary.passed_by_fixes.iter().enumerate() {
        let when = match fixes {
            0 => "at once".to_owned(),
            1 => "after 1 fix".to_owned(),
            n => format!("after {n} fixes"),
        };
        out += &format!("  {count:>4} {when}\n");
    }
    for (title, nodes) in [("failed", &summary.failures), ("skipped", &summary.skips)] {
        nodes.iter().for_each(|(id, reason)| out += &format!("  {title} {id}: {reason}\n"));
    }
    if summary.spent.tokens > 0 {
        let spent = &summary.spent;
        out += &format!("model:       {} tokens, ${:.4}\n", spent.tokens, spent.usd);
    }
    let suite = &summary.suite;
    out += &format!(
        "whole suite: {} ({} passed, {} failed)\n",
        suite.outcome, suite.passed, suite.failed
    );
    out +=
        &format!("repository:  {}\nreport:      {}/{}", summary.out, summary.out, summary.report);
    out
}
