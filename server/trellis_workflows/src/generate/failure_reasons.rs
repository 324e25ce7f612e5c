//! Reasons why nodes did not pass, folded from the journal, so that every later reader gets the
//! same facts.

use std::collections::BTreeMap;
use std::path::Path;

use trellis_engine::Cause;
use trellis_engine::assembly::FailureFacts;

use trellis_store::journal::{Event, Journal, events, text_of};

/// The last attempt at a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Failed {
    pub facts: FailureFacts,
    /// The tests that were taken back with the node.
    pub tests: String,
}

/// Returns the last attempt at each node, from the journal in a folder. An unreadable journal
/// yields no attempts.
pub(super) fn failures(root: &Path) -> BTreeMap<String, Failed> {
    let bytes = trellis_os::files::read(Journal::path(root)).unwrap_or_default();
    let mut all = BTreeMap::new();
    events(&text_of(&bytes)).for_each(|event| take(&mut all, event));
    all
}

fn take(all: &mut BTreeMap<String, Failed>, event: Event) {
    match event {
        Event::State { node, status, .. } if status == "in_progress" => {
            all.remove(&node);
        }
        Event::State { node, reason, cause, .. } => {
            let facts = &mut all.entry(node).or_default().facts;
            facts.reason = reason;
            facts.cause = cause.as_deref().and_then(Cause::parse);
        }
        Event::Broken { node, reason } => {
            let cause = Some(Cause::WholeSuite);
            let facts = FailureFacts { cause, reason, ..FailureFacts::default() };
            all.insert(node, Failed { facts, tests: String::new() });
        }
        Event::TestRun { node, red: false, outcome, failing, .. } => {
            let facts = &mut all.entry(node).or_default().facts;
            (facts.test, facts.exception) = (failing, Some(outcome));
            (facts.finding, facts.unusable, facts.regression) = (None, None, None);
        }
        Event::Regression { node, outcome, failed, .. } if failed > 0 => {
            all.entry(node).or_default().facts.regression = Some(outcome);
        }
        Event::TakenBack { node, tests, .. } => all.entry(node).or_default().tests = tests,
        Event::Note { node, what, text } => {
            note(&mut all.entry(node).or_default().facts, &what, text);
        }
        _ => {}
    }
}

/// Adds a note of the engine about a node.
fn note(facts: &mut FailureFacts, what: &str, text: String) {
    match what {
        "diagnosed" => {
            let finding = text.split_once(": ");
            facts.finding = finding.map(|(rule, why)| (rule.to_owned(), why.to_owned()));
        }
        "voted" => facts.votes = Some(text),
        "attempt-unusable" => facts.unusable = Some(text),
        "debug-context" => facts.page = text.strip_prefix("see ").map(str::to_owned),
        _ => {}
    }
}
