//! Descriptions of journal events: subject, text, reason and cost.

use crate::committed_nodes::CommittedNodes;
use crate::cost::StageCost;
use crate::journal::{AcceptanceTests, Accepted, Event, IntegrationResult};

/// Cost of a step, as far as known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    /// Billionths of a US dollar.
    pub nano_usd: Option<u64>,
    pub milliseconds: Option<u64>,
}

/// Returns the subject of an event: a node, a subgraph, or a function or test that is in no plan.
pub fn node(event: &Event) -> Option<&str> {
    match event {
        Event::State { node, .. }
        | Event::Stage { work: node, .. }
        | Event::ModelCall { node, .. }
        | Event::ToolCall { node, .. }
        | Event::TestRun { node, .. }
        | Event::Localization { node, .. }
        | Event::Regression { node, .. }
        | Event::Note { node, .. }
        | Event::Accepted(Accepted { node, .. })
        | Event::TakenBack { node, .. }
        | Event::Approval { node, .. }
        | Event::Broken { node, .. }
        | Event::Outdated { node, .. }
        | Event::Committed { subgraph: node, .. }
        | Event::Integration(IntegrationResult { subgraph: node, .. })
        | Event::Acceptance(AcceptanceTests { feature: node, .. })
        | Event::TestsWritten { function: node, .. } => Some(node),
        Event::Started { .. }
        | Event::Ordered { .. }
        | Event::Writing { .. }
        | Event::Kept { .. }
        | Event::Git { .. }
        | Event::Reset { .. }
        | Event::RolledBack { .. }
        | Event::Unproven { .. }
        | Event::AcceptanceRun { .. }
        | Event::Suite { .. }
        | Event::Stopped { .. }
        | Event::Finished { .. } => None,
    }
}

/// Returns whether an event concerns the node `id`: its own events, and events about several nodes
/// that name it. The order of a run names all nodes and concerns none of them.
pub fn concerns(event: &Event, id: &str) -> bool {
    let has = |all: &[String]| all.iter().any(|it| it == id);
    let is_named = match event {
        Event::Committed { nodes, .. } => has(nodes.named()),
        Event::Kept { nodes, .. } | Event::Unproven { nodes } => has(nodes),
        Event::Regression { modified, rerun, .. } => has(modified) || has(rerun),
        _ => false,
    };
    let is_work =
        |it: &str| ["task-", "issue-"].iter().any(|kind| it.strip_prefix(kind) == Some(id));
    is_named || node(event).is_some_and(|it| it == id || is_work(it))
}

/// Returns the nodes of a commit in words.
fn changed(nodes: &CommittedNodes) -> String {
    let removed = match nodes {
        CommittedNodes::All { nodes } => return format!("{} in total", many(nodes.len(), "node")),
        CommittedNodes::Change { removed, .. } if removed.is_empty() => String::new(),
        CommittedNodes::Change { removed, .. } => format!(", without {}", removed.join(", ")),
    };
    format!("{}{removed}", many(nodes.named().len(), "new node"))
}

/// Returns a description of the event. One match arm per event.
pub fn what(event: &Event) -> String {
    match event {
        Event::Started { graph, dialect, model, jobs, version, .. } => {
            let jobs = many(*jobs, "job");
            format!("run of {graph} ({dialect}) with {model}, {jobs}, version {version}")
        }
        Event::Ordered { nodes, .. } => format!("{} in order", many(nodes.len(), "node")),
        Event::State { status, .. } => status.clone(),
        Event::Stage { stage, .. } => stage.clone(),
        Event::ModelCall { stage, attempt, model, error, .. } => {
            let outcome = if error.is_some() { "no reply from" } else { "answered by" };
            format!("{stage}, attempt {attempt}, {outcome} {model}")
        }
        Event::ToolCall { name, arguments, bytes, is_error, .. } => {
            let outcome = if *is_error { "an error" } else { "a result" };
            format!("{name} {arguments}: {outcome} of {bytes} bytes")
        }
        Event::TestRun { red, outcome, passed, failed, .. } => {
            let which = if *red { "tests before the code" } else { "tests" };
            format!("{which}: {}", counted(outcome, *passed, *failed))
        }
        Event::Localization { tool, query, found, .. } => {
            format!("{tool} for {query}: {}", many(found.len(), "place"))
        }
        Event::Regression { modified, rerun, outcome, passed, failed, .. } => format!(
            "tests of {} after a change of {}: {}",
            many(rerun.len(), "node"),
            modified.join(", "),
            counted(outcome, *passed, *failed)
        ),
        Event::Note { what, .. } => what.clone(),
        Event::Accepted(it) => accepted(it),
        Event::TakenBack { .. } => "its last code was removed".to_owned(),
        Event::Writing { path, hash } => format!("{path}, SHA-256 {hash}"),
        Event::Kept { path, nodes, .. } => {
            format!("{path} with your edits, with {}", many(nodes.len(), "node"))
        }
        Event::Git { arguments, outcome } => format!("git {}: {outcome}", arguments.join(" ")),
        Event::Committed { tag, nodes, .. } => {
            let tag = tag.as_ref().map(|it| format!(", tag {it}")).unwrap_or_default();
            format!("committed with {}{tag}", changed(nodes))
        }
        Event::Approval { answer, .. } => answer.clone(),
        Event::Reset { .. } => "everything accepted before is discarded".to_owned(),
        Event::RolledBack { to, kept, .. } => {
            format!("rolled back to {to}, with {}", many(kept.len(), "node"))
        }
        Event::Integration(it) => {
            format!("integration tests: {}", counted(&it.outcome, it.passed, it.failed))
        }
        Event::Acceptance(it) if it.text.is_empty() => "no acceptance tests".to_owned(),
        Event::Acceptance(_) => "acceptance tests written, and red without code".to_owned(),
        Event::AcceptanceRun { failed, .. } if failed.is_empty() => {
            "acceptance tests: every feature holds".to_owned()
        }
        Event::AcceptanceRun { failed, .. } => {
            let do_not = if failed.len() == 1 { "does not" } else { "do not" };
            format!("acceptance tests: {} {do_not} hold", many(failed.len(), "feature"))
        }
        Event::Broken { .. } => "fails in the whole suite, and is generated again".to_owned(),
        Event::Unproven { nodes } => {
            format!("{} tested again, because a dependency changed", many(nodes.len(), "node"))
        }
        Event::Outdated { .. } => "is generated again".to_owned(),
        Event::Suite { outcome, passed, failed, .. } => {
            format!("the whole suite: {}", counted(outcome, *passed, *failed))
        }
        Event::TestsWritten { path, tests, outcome, .. } => {
            format!("{} written to {path}: {outcome}", many(tests.len(), "test"))
        }
        Event::Stopped { .. } => "the run stopped".to_owned(),
        Event::Finished { passed, failed, skipped, seconds } => {
            format!("{passed} passed, {failed} failed, {skipped} skipped after {seconds} s")
        }
    }
}

/// Returns the reason of an event, or its details.
pub fn reason(event: &Event) -> Option<String> {
    let reason = match event {
        Event::State { reason, .. }
        | Event::Stage { reason, .. }
        | Event::Reset { reason }
        | Event::Broken { reason, .. }
        | Event::Outdated { reason, .. }
        | Event::Stopped { reason }
        | Event::Ordered { rule: reason, .. }
        | Event::Note { text: reason, .. }
        | Event::Approval { question: reason, .. } => reason.clone(),
        Event::ModelCall { error, details, .. } => error.as_ref().unwrap_or(&details.why).clone(),
        Event::Localization { error, .. } => error.clone()?,
        Event::Integration(it) => it.left_out.join("; "),
        Event::Acceptance(it) => it.reason.clone(),
        Event::AcceptanceRun { failed, .. } => {
            let line = |(path, reason): (&String, &String)| format!("{path}: {reason}");
            failed.iter().map(line).collect::<Vec<_>>().join("; ")
        }
        _ => return None,
    };
    (!reason.is_empty()).then_some(reason)
}

/// Returns the cost of the step itself. Totals of nodes and runs are part of the description.
pub fn price(event: &Event) -> Option<Price> {
    match event {
        Event::ModelCall { input_tokens, output_tokens, details, milliseconds, .. } => {
            Some(Price {
                input_tokens: *input_tokens,
                output_tokens: *output_tokens,
                nano_usd: details.nano_usd,
                milliseconds: Some(*milliseconds),
            })
        }
        Event::ToolCall { microseconds, .. } | Event::Localization { microseconds, .. } => {
            Some(Price { milliseconds: Some(microseconds / 1000), ..Price::default() })
        }
        Event::Stage { milliseconds: Some(milliseconds), .. }
        | Event::TestRun { milliseconds, .. } => {
            Some(Price { milliseconds: Some(*milliseconds), ..Price::default() })
        }
        _ => None,
    }
}

fn accepted(it: &Accepted) -> String {
    let StageCost { calls, nano_usd, .. } = it.cost.all();
    let tokens = it.cost.all().tokens();
    let flaky = match it.flaky.len() {
        0 => String::new(),
        count => format!(", {count} of them flaky"),
    };
    let usd = nano_usd as f64 / 1e9;
    let (tests, fixes) = (many(it.tests_passed, "test"), many(it.fixes as usize, "fix"));
    let prompts = many(calls, "prompt");
    let price = crate::cost::price(tokens, usd);
    format!("{tests} passed{flaky} after {fixes}; {prompts} of {tokens} tokens, {price} in total")
}

fn counted(outcome: &str, passed: usize, failed: usize) -> String {
    format!("{outcome}, {passed} passed, {failed} failed")
}

fn many(count: usize, what: &str) -> String {
    match (count, what.ends_with('x')) {
        (1, _) => format!("1 {what}"),
        (_, true) => format!("{count} {what}es"),
        (_, false) => format!("{count} {what}s"),
    }
}
