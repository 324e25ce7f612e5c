//! `trellis generate`: generates a repository from a planning graph.

use std::collections::BTreeMap;

use trellis_engine::NO_FLOWS;

use crate::cli::test_output::plain;
use crate::output::Output;
use trellis_server::api::generate::GenerateArgs;
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::generate::{AcceptanceOutcome, AcceptedFeature, Flows, Summary, generate};
use trellis_workflows::job_control::JobControl;

pub(crate) async fn run(args: GenerateArgs, output: &mut Output) -> Result<Exit, Fault> {
    let order = args.order(None)?;
    let (summary, exit) = generate(order, JobControl::of_signals()?, output.reporter()).await?;
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
            0 => "on the first try".to_owned(),
            1 => "after 1 fix".to_owned(),
            n => format!("after {n} fixes"),
        };
        out += &format!("  {count:>4} {when}\n");
    }
    if summary.kept > 0 {
        out += &format!("  {:>4} kept their code after a dependency changed\n", summary.kept);
    }
    for (title, nodes) in [("failed", &summary.failures), ("skipped", &summary.skips)] {
        nodes.iter().for_each(|(id, reason)| out += &format!("  {title} {id}: {reason}\n"));
    }
    if summary.spent.tokens > 0 {
        let spent = &summary.spent;
        let price = trellis_store::cost::price(spent.tokens, spent.usd);
        out += &format!("model:       {} tokens, {price}\n", spent.tokens);
    }
    let suite = &summary.suite;
    out += &format!(
        "whole suite: {} ({} passed, {} failed)\n",
        suite.outcome, suite.passed, suite.failed
    );
    if let Some(it) = &summary.specification {
        out += &format!("specification: {} of {} sentences proved\n", it.proved, it.sentences);
    }
    out += &accepted(&summary.acceptance);
    out += &untested(&summary.integration);
    out +=
        &format!("repository:  {}\nreport:      {}/{}", summary.out, summary.out, summary.report);
    out
}

/// Returns the number of features whose acceptance tests hold, and the others with the reason; empty
/// without features.
fn accepted(all: &[AcceptedFeature]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let holds = |it: &&AcceptedFeature| it.outcome == AcceptanceOutcome::Holds;
    let count = all.iter().filter(holds).count();
    let mut out = format!("acceptance:  {count} of {} features hold\n", all.len());
    for it in all.iter().filter(|it| !holds(it)) {
        let what = match it.outcome {
            AcceptanceOutcome::Untested => "has no tests",
            AcceptanceOutcome::Edited => "has tests that were edited by hand",
            AcceptanceOutcome::Holds | AcceptanceOutcome::Fails => "does not hold",
        };
        let reason = it.reason.as_deref().and_then(|it| it.lines().next());
        let reason = reason.map(|it| format!(": {}", plain(it))).unwrap_or_default();
        out += &format!("  {} {what}{reason}\n", it.feature);
    }
    out
}

/// Returns the flows without integration tests, with the reason; empty if there are none.
fn untested(all: &BTreeMap<String, Flows>) -> String {
    let wanted: Vec<_> = all.iter().filter(|(_, it)| it.outcome != NO_FLOWS).collect();
    let without: Vec<_> = wanted.iter().filter(|(_, it)| it.outcome != "passed").collect();
    if without.is_empty() {
        return String::new();
    }
    let have = match wanted.len() {
        1 => "1 flow has".to_owned(),
        all => format!("{all} flows have"),
    };
    let mut out = format!("integration tests: {} of {have} tests\n", wanted.len() - without.len());
    for (name, it) in without {
        let reason = match it.outcome.as_str() {
            "failed" => {
                let first = it.left_out.first().map(|it| format!("; {it}")).unwrap_or_default();
                format!("{} of {} pass{first}", it.passed, it.passed + it.failed)
            }
            other => other.to_owned(),
        };
        out += &format!("  {name}: {}\n", plain(reason.lines().next().unwrap_or_default()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_integration_tests_are_said_with_the_reason() {
        let flows = |outcome: &str, passed, failed, left_out: &[&str]| Flows {
            outcome: outcome.to_owned(),
            passed,
            failed,
            left_out: left_out.iter().map(|it| (*it).to_owned()).collect(),
        };
        let index = ("index", flows("the tests cannot run: no slugify\nmore", 0, 0, &[]));
        let web = ("web", flows("failed", 1, 2, &["a: wrong", "b: wrong"]));
        let (good, none) =
            (("good", flows("passed", 2, 0, &[])), ("none", flows(NO_FLOWS, 0, 0, &[])));
        let table = [
            (vec![&good, &none], ""),
            (vec![], ""),
            (
                vec![&index],
                "integration tests: 0 of 1 flow has tests\n  index: the tests cannot run: no slugify\n",
            ),
            (
                vec![&index, &web, &good, &none],
                "integration tests: 1 of 3 flows have tests\n  index: the tests cannot run: no \
                 slugify\n  web: 1 of 3 pass; a: wrong\n",
            ),
        ];
        for (all, expected) in table {
            let all = all.into_iter().map(|(name, it)| ((*name).to_owned(), it.clone()));
            assert_eq!(untested(&all.collect()), expected);
        }
    }
}
