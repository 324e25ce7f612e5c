//! What earlier runs left, folded from the journal's lines.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::workspace::disk;
use crate::workspace::journal::{Accepted, Event, IntegrationResult, Line, RecordedReply, events};

/// A subgraph that was committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Milestone {
    pub(crate) subgraph: String,
    /// Set when all of it passed.
    pub(crate) tag: Option<String>,
    /// Everything accepted then.
    pub(crate) nodes: Vec<String>,
}

/// What earlier runs left.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReplayedState {
    pub(crate) accepted: BTreeMap<String, Accepted>,
    /// Hashes of everything ever written to a path.
    pub(crate) written: BTreeMap<String, BTreeSet<String>>,
    /// Files people took over, with the nodes whose text was in them.
    pub(crate) kept: BTreeMap<String, (String, Vec<String>)>,
    /// Subgraphs committed, in order.
    pub(crate) committed: Vec<Milestone>,
    /// Integration tests by subgraph.
    pub(crate) integrated: BTreeMap<String, IntegrationResult>,
    /// The tree the whole suite last ran on, its outcome and counts.
    pub(crate) suite: Option<(String, String, usize, usize)>,
    /// What models have cost, whatever came of it: tokens, and billionths of a US dollar.
    pub(crate) spent: (u64, u64),
    /// Replies that nodes at work had heard when the run stopped.
    pub(crate) cached: HashMap<ReplyKey, CachedReply>,
    /// Lines that could not be read, by number.
    pub(crate) unreadable: Vec<usize>,
    /// Whether the last run came to its end.
    pub(crate) finished: bool,
    /// How the last start was asked for.
    pub(crate) options: Option<serde_json::Value>,
    /// All nodes of the plan, in their order.
    pub(crate) nodes: Vec<String>,
}

/// A question that was put before: node, stage, attempt, hash of the prompt, model asked for.
pub(crate) type ReplyKey = (String, String, u32, String, String);

/// A reply that was paid for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CachedReply {
    pub(crate) said: RecordedReply,
    /// In the provider's words.
    pub(crate) model: String,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) nano_usd: u64,
}

/// Tests for a function that exists, work told in words, or a fix of a failing test: no node of a plan goes by the id of a test.
fn is_another_workflows(event: &Event) -> bool {
    match event {
        Event::Stage { .. } => true,
        Event::ModelCall { stage, node, details, .. } => {
            *stage == WRITE_TESTS || node.contains(".py::") || details.workflow.is_some()
        }
        _ => false,
    }
}

/// The replies to a piece of work without a plan that a journal holds.
pub(crate) fn cached(text: &str, work: &str) -> HashMap<ReplyKey, CachedReply> {
    let replies = events(text).filter_map(|event| reply(&event));
    replies.filter(|(question, _)| question.0 == work).collect()
}

/// Name on disk of the stage in which a model writes tests for an existing function.
pub(crate) const WRITE_TESTS: &str = "write_tests";

/// What a door's own note is called that ends its work without success: whoever begins anew wants other answers.
pub(crate) const GAVE_UP: &str = "gave-up";

/// The replies to a door that has not given up since, whatever they were about.
pub(crate) fn replies_of(text: &str, workflow: &str) -> HashMap<ReplyKey, CachedReply> {
    let mut found = HashMap::new();
    for event in events(text) {
        match &event {
            Event::Note { node, what, .. } if node == workflow && what == GAVE_UP => found.clear(),
            Event::ModelCall { details, .. } if details.workflow.as_deref() == Some(workflow) => {
                found.extend(reply(&event));
            }
            _ => {}
        }
    }
    found
}

/// A question with the reply that was paid for.
fn reply(event: &Event) -> Option<(ReplyKey, CachedReply)> {
    let Event::ModelCall { node, stage, attempt, prompt, model, details, .. } = event else {
        return None;
    };
    let (input_tokens, output_tokens, nano_usd) = paid(event)?;
    let cached = CachedReply {
        said: details.reply.clone()?,
        model: model.clone(),
        input_tokens,
        output_tokens,
        nano_usd,
    };
    let asked = details.asked.clone();
    Some(((node.clone(), stage.clone(), *attempt, prompt.clone(), asked), cached))
}

/// Tokens in and out, and billionths of a US dollar.
fn paid(event: &Event) -> Option<(u64, u64, u64)> {
    let Event::ModelCall { input_tokens, output_tokens, details, .. } = event else { return None };
    let known = |it: Option<u64>| it.unwrap_or_default();
    Some((known(*input_tokens), known(*output_tokens), known(details.nano_usd)))
}

impl ReplayedState {
    /// Folds the lines of a journal.
    pub(crate) fn read(text: &str) -> ReplayedState {
        let mut past = ReplayedState::default();
        for (index, line) in text.lines().enumerate() {
            match serde_json::from_str::<Line>(line) {
                Ok(line) => past.take(line.event),
                Err(_) => past.unreadable.push(index + 1),
            }
        }
        past
    }

    fn take(&mut self, event: Event) {
        // Another door's; a run neither pays for it nor hears of it.
        if is_another_workflows(&event) {
            return;
        }
        self.keep_reply(&event);
        self.finished = match event {
            Event::Finished { .. } => true,
            // A run that only looks leaves these.
            Event::Started { .. }
            | Event::TestsWritten { .. }
            | Event::Ordered { .. }
            | Event::Note { .. }
            | Event::Approval { .. }
            | Event::Git { .. } => self.finished,
            _ => false,
        };
        match event {
            Event::Started { options, .. } if options.is_object() => self.options = Some(options),
            Event::Ordered { nodes, .. } => self.nodes = nodes,
            Event::Accepted(accepted) => {
                self.accepted.insert(accepted.node.clone(), accepted);
            }
            Event::Writing { path, hash } => {
                self.written.entry(path).or_default().insert(hash);
            }
            Event::Kept { path, text, nodes } => {
                self.written.entry(path.clone()).or_default().insert(disk::hash(&text));
                self.kept.insert(path, (text, nodes));
            }
            Event::Committed { subgraph, tag, nodes } => {
                self.committed.push(Milestone { subgraph, tag, nodes });
            }
            Event::Integration(integrated) => {
                self.integrated.insert(integrated.subgraph.clone(), integrated);
            }
            Event::Reset { .. } => {
                self.integrated.clear();
                self.accepted.clear();
                self.kept.clear();
                self.committed.clear();
                self.suite = None;
            }
            Event::Broken { node, .. } => {
                self.accepted.remove(&node);
            }
            Event::RolledBack { kept, to, edits } => {
                self.accepted.retain(|node, _| kept.contains(node));
                self.kept.retain(|path, _| edits.contains(path));
                if let Some(at) =
                    self.committed.iter().rposition(|it| it.subgraph == to && it.tag.is_some())
                {
                    self.committed.truncate(at + 1);
                }
                self.suite = None;
            }
            Event::Suite { tree, outcome, passed, failed } => {
                self.suite = Some((tree, outcome, passed, failed));
            }
            _ => {}
        }
    }

    /// Replies to a node that came to an end are of no further use: whoever does it again wants others.
    fn keep_reply(&mut self, event: &Event) {
        match event {
            Event::ModelCall { .. } => {
                let (input, output, nano_usd) = paid(event).unwrap_or_default();
                self.spent.0 = self.spent.0.saturating_add(input).saturating_add(output);
                self.spent.1 = self.spent.1.saturating_add(nano_usd);
                self.cached.extend(reply(event));
            }
            Event::Accepted(Accepted { node, .. })
            | Event::Broken { node, .. }
            | Event::Integration(IntegrationResult { subgraph: node, .. }) => self.forget(node),
            Event::State { node, status, .. } if status != "in_progress" => self.forget(node),
            Event::Reset { .. } => self.cached.clear(),
            _ => {}
        }
    }

    fn forget(&mut self, node: &str) {
        self.cached.retain(|(of, ..), _| of != node);
    }
}
