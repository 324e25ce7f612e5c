//! Recommendations of the report.

use crate::assembly::report::{NodeLine, ReportFacts};
use crate::assembly::validation::CheckResult;

/// Returns the next steps for a person.
pub(crate) fn recommendations(facts: &ReportFacts) -> Vec<String> {
    let mut out = Vec::new();
    let ids =
        |nodes: &[NodeLine]| nodes.iter().map(|it| it.id.as_str()).collect::<Vec<_>>().join(", ");
    let (human, failed): (Vec<NodeLine>, Vec<NodeLine>) =
        facts.failed.iter().cloned().partition(|node| node.reason.starts_with("needs_human"));
    if !human.is_empty() {
        out.push(format!("Needs your review: {}.", ids(&human)));
    }
    if !failed.is_empty() {
        out.push(format!(
            "Review and fix by hand: {}; their last code is in `.trellis/journal.jsonl` \
             (`taken_back`).",
            ids(&failed)
        ));
    }
    let broken = facts.acceptance.iter().filter(|it| it.has_tests && it.reason.is_some());
    let broken: Vec<String> = broken.map(|it| format!("`{}`", it.feature)).collect();
    let unproved = facts.acceptance.iter().filter(|it| !it.has_tests);
    let unproved: Vec<String> = unproved.map(|it| format!("`{}`", it.feature)).collect();
    let all_hold = broken.is_empty() && unproved.is_empty();
    if !unproved.is_empty() {
        out.push(format!(
            "No acceptance tests were kept for {}: check these features by hand, or try another \
             model.",
            unproved.join(", ")
        ));
    }
    if !broken.is_empty() {
        out.push(format!(
            "Compare the failing acceptance tests with the specification, and fix the code or the \
             test: {}.",
            broken.join(", ")
        ));
    }
    let flows = facts.integration.iter().filter(|it| it.outcome == "failed");
    let flows: Vec<String> = flows
        .map(|it| {
            let all = it.passed + it.failed;
            let first = it.left_out.first().map(|it| format!("; {it}")).unwrap_or_default();
            format!(
                "Check how the parts of `{}` work together: {} of {all} integration tests \
                 pass{first}.",
                it.subgraph, it.passed
            )
        })
        .collect();
    let untested: Vec<String> = (facts.integration.iter())
        .filter_map(|it| Some(format!("`{}` ({})", it.subgraph, it.missing()?)))
        .collect();
    let is_whole = all_hold && flows.is_empty() && untested.is_empty();
    out.extend(flows);
    if !untested.is_empty() {
        out.push(format!(
            "No integration tests were kept for {}: check how the parts work together, or try \
             another model.",
            untested.join(", ")
        ));
    }
    if !facts.flaky.is_empty() {
        out.push(format!("Fix the flaky tests: {}.", facts.flaky.join(", ")));
    }
    if !facts.unrequired.is_empty() {
        let modules = facts.unrequired.iter().map(|it| format!("`{}`", it.module));
        out.push(format!(
            "List the distribution that provides {} under `libraries` in the plan, or in your \
             own requirements: the name is a guess.",
            modules.collect::<Vec<_>>().join(", ")
        ));
    }
    let failed = facts.validation.iter().filter(|it| it.outcome == CheckResult::Failed);
    let failed: Vec<String> =
        failed.map(|it| format!("Fix the failed check: {}.", it.check)).collect();
    let is_valid = failed.is_empty();
    out.extend(failed);
    if !facts.skipped.is_empty() || !facts.failed.is_empty() {
        out.push("Run `trellis generate` again with the same arguments to retry them; what passed is kept.".to_owned());
    } else if is_whole && is_valid {
        out.push("Everything passed: the repository is ready for validation.".to_owned());
    }
    out
}
