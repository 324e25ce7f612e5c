//! The sentences of the plan's specification, with what proved them.

use trellis_engine::assembly::SentenceLine;
use trellis_plan::{NodeIx, Sentence, SentenceKind, Status, trace};

use crate::generate::dispatcher::Dispatcher;

/// Returns a line for each sentence that describes something to build; none for a plan without
/// sentences.
pub(super) fn sentence_lines(owner: &Dispatcher) -> Vec<SentenceLine> {
    // `trace` and `check` report sentences that cannot be read.
    let Ok(Some(spec)) = owner.run_context.work.plan.spec() else { return Vec::new() };
    let plan = &owner.run_context.work.plan;
    let traced = trace(plan, &spec.sentences, &spec.background, &[]);
    let is_needed =
        |it: &Sentence| it.kind != SentenceKind::Heading && !spec.background.contains(&it.number);
    let sentences = spec.sentences.iter().zip(&traced.nodes);
    sentences
        .filter(|(it, _)| is_needed(it))
        .map(|(it, nodes)| SentenceLine {
            number: it.number,
            text: it.text.clone(),
            nodes: nodes.iter().map(|ix| plan.id(*ix).to_owned()).collect(),
            tests: nodes.iter().map(|ix| tests_passed(owner, *ix)).sum(),
            is_proved: !nodes.is_empty() && nodes.iter().all(|ix| passed(owner, *ix)),
        })
        .collect()
}

fn passed(owner: &Dispatcher, node: NodeIx) -> bool {
    let is_broken = owner.broken.contains_key(&owner.id(node));
    owner.schedule.status(node) == Some(Status::Passed) && !is_broken
}

/// Returns the number of a node's tests that passed.
fn tests_passed(owner: &Dispatcher, node: NodeIx) -> usize {
    owner.checkpoint.get(&owner.id(node)).map_or(0, |it| it.test_results.passed)
}
