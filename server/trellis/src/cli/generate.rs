//! `trellis generate`: the main job.

use crate::control::Control;
use crate::error::{Exit, Fault};
use crate::grow::{Summary, grow};
use crate::methods::generate::GenerateArgs;
use crate::output::Output;

pub(crate) async fn run(args: GenerateArgs, output: &mut Output) -> Result<Exit, Fault> {
    let order = args.order(None)?;
    let (summary, exit) = grow(order, Control::of_signals()?, output).await?;
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
        let price = crate::ledger::price(spent.tokens, spent.usd);
        out += &format!("model:       {} tokens, {price}\n", spent.tokens);
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
