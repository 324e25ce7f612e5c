//! The state that earlier runs left, folded from the journal's lines.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::committed_nodes::CommittedNodes;
use crate::disk;
use crate::journal::{
    AcceptanceTests, Accepted, Event, IntegrationResult, Line, RecordedReply, events, lines_of,
};
use crate::origin::Workflow;

/// A subgraph that was committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Milestone {
    pub subgraph: String,
    /// The tag, set once the whole subgraph passed.
    pub tag: Option<String>,
    /// The nodes, as a difference to the milestone before.
    pub nodes: CommittedNodes,
}

/// A run of the acceptance tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AcceptanceRun {
    /// Hash of the files.
    pub tree: String,
    /// Hashes of the texts that passed, by path.
    pub passed: BTreeMap<String, String>,
    /// Reasons of those that failed, by path.
    pub failed: BTreeMap<String, String>,
}

/// The state that earlier runs left.
#[derive(Clone, Debug, Default)]
pub struct ReplayedState {
    pub accepted: BTreeMap<String, Accepted>,
    /// Accepted nodes with a dependency that changed since.
    pub unproven: BTreeSet<String>,
    /// Hashes of everything ever written to a path.
    pub written: BTreeMap<String, BTreeSet<String>>,
    /// Files edited by people and adopted, with the nodes whose text was in them.
    pub kept: BTreeMap<String, (String, Vec<String>)>,
    /// Subgraphs committed, in order.
    pub committed: Vec<Milestone>,
    /// Integration tests by subgraph.
    pub integrated: BTreeMap<String, IntegrationResult>,
    /// Acceptance tests by path.
    pub acceptance: BTreeMap<String, AcceptanceTests>,
    /// Last run of the acceptance tests.
    pub acceptance_run: Option<AcceptanceRun>,
    /// Tree of the last run of the whole suite, with outcome and counts.
    pub suite: Option<(String, String, usize, usize)>,
    /// Cost of all model requests: tokens, and billionths of a US dollar.
    pub spent: (u64, u64),
    /// Replies that unfinished nodes had received when the run stopped.
    pub cached: HashMap<ReplyKey, CachedReply>,
    /// Lines that could not be read, by number.
    pub unreadable: Vec<usize>,
    /// True if the last run finished.
    pub finished: bool,
    /// Options of the last start.
    pub options: Option<serde_json::Value>,
    /// All nodes of the plan, in their order.
    pub nodes: Vec<String>,
}

/// Key of a model request: node, stage, attempt, hash of the prompt, requested model.
pub type ReplyKey = (String, String, u32, String, String);

/// A paid reply.
#[derive(Clone, Debug, PartialEq)]
pub struct CachedReply {
    pub said: RecordedReply,
    /// Name of the model as the provider reports it.
    pub model: String,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub nano_usd: u64,
}

/// Returns whether the line is a stage or a request of a workflow without a plan. In old journals,
/// which do not name the workflow, a request tells by its subject: no node of a plan has a test's
/// id.
fn is_without_plan(line: &Line) -> bool {
    match (&line.event, &line.workflow) {
        (Event::Stage { .. }, _) => true,
        (Event::ModelCall { .. }, Some(workflow)) => *workflow != Workflow::Generate.as_str(),
        (Event::ModelCall { stage, node, details, .. }, None) => {
            *stage == WRITE_TESTS || node.contains(".py::") || details.old_workflow.is_some()
        }
        _ => false,
    }
}

/// Returns the workflow of a request.
fn workflow_of(line: &Line) -> Option<&str> {
    let Event::ModelCall { details, .. } = &line.event else { return None };
    line.workflow.as_deref().or(details.old_workflow.as_deref())
}

/// Returns the cached replies of a piece of work without a plan.
pub fn cached(text: &str, work: &str) -> HashMap<ReplyKey, CachedReply> {
    let replies = events(text).filter_map(|event| reply(&event));
    replies.filter(|(question, _)| question.0 == work).collect()
}

/// Name on disk of the stage in which a model writes tests for an existing function.
pub const WRITE_TESTS: &str = "write_tests";

/// Name on disk of the stage in which a model writes acceptance tests.
const ACCEPTANCE_TESTS: &str = "acceptance_tests";

/// Note that a workflow, or its work on one subject, ended without success: a new attempt needs new
/// replies. The text of a note on a subject begins with the stage and a colon.
pub const GAVE_UP: &str = "gave-up";

/// Returns the replies to a workflow since it last gave up, for any subject; without those of stages
/// on which it gave up later.
pub fn replies_of(text: &str, workflow: Workflow) -> HashMap<ReplyKey, CachedReply> {
    let (mut found, workflow) = (HashMap::new(), workflow.as_str());
    for line in lines_of(text) {
        match &line.event {
            Event::Note { node, what, .. } if node == workflow && what == GAVE_UP => found.clear(),
            Event::Note { node, what, text } if what == GAVE_UP => {
                let is_own = line.workflow.as_deref() == Some(workflow);
                let stage = text.split(':').next();
                found.retain(|(of, at, ..): &ReplyKey, _| {
                    !is_own || of != node || Some(at.as_str()) != stage
                });
            }
            event if workflow_of(&line) == Some(workflow) => found.extend(reply(event)),
            _ => {}
        }
    }
    found
}

/// Returns the request of an event with its paid reply.
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

/// Returns tokens in and out, and billionths of a US dollar.
fn paid(event: &Event) -> Option<(u64, u64, u64)> {
    let Event::ModelCall { input_tokens, output_tokens, details, .. } = event else { return None };
    let known = |it: Option<u64>| it.unwrap_or_default();
    Some((known(*input_tokens), known(*output_tokens), known(details.nano_usd)))
}

impl ReplayedState {
    /// Folds the lines of a journal.
    pub fn read(text: &str) -> ReplayedState {
        let mut past = ReplayedState::default();
        for (index, line) in text.lines().enumerate() {
            match serde_json::from_str::<Line>(line) {
                // A run neither pays for another workflow's requests nor uses their replies.
                Ok(line) if is_without_plan(&line) => {}
                Ok(line) => past.take(line.event),
                Err(_) => past.unreadable.push(index + 1),
            }
        }
        past
    }

    fn take(&mut self, event: Event) {
        self.keep_reply(&event);
        self.finished = match event {
            Event::Finished { .. } => true,
            // A run that only inspects leaves these events.
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
                self.unproven.remove(&accepted.node);
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
            Event::Acceptance(tests) => {
                self.acceptance.insert(tests.path.clone(), tests);
            }
            Event::AcceptanceRun { tree, passed, failed } => {
                self.acceptance_run = Some(AcceptanceRun { tree, passed, failed });
            }
            Event::Reset { .. } => {
                self.integrated.clear();
                self.reset();
            }
            Event::Broken { node, .. } | Event::Outdated { node, .. } => {
                self.accepted.remove(&node);
                self.unproven.remove(&node);
            }
            Event::Unproven { nodes } => self.unproven.extend(nodes),
            Event::RolledBack { kept, to, edits } => {
                self.accepted.retain(|node, _| kept.contains(node));
                self.unproven.retain(|node| kept.contains(node));
                self.kept.retain(|path, _| edits.contains(path));
                if let Some(at) =
                    self.committed.iter().rposition(|it| it.subgraph == to && it.tag.is_some())
                {
                    self.committed.truncate(at + 1);
                }
                self.acceptance_run = None;
                self.suite = None;
            }
            Event::Suite { tree, outcome, passed, failed } => {
                self.suite = Some((tree, outcome, passed, failed));
            }
            _ => {}
        }
    }

    /// Forgets everything accepted.
    pub fn reset(&mut self) {
        self.accepted.clear();
        self.unproven.clear();
        self.kept.clear();
        self.committed.clear();
        self.suite = None;
        self.acceptance_run = None;
    }

    /// Returns the nodes of the first `count` milestones together: those of the last one's commit.
    pub fn nodes_after(&self, count: usize) -> BTreeSet<String> {
        let mut nodes = BTreeSet::new();
        self.committed.iter().take(count).for_each(|it| it.nodes.apply(&mut nodes));
        nodes
    }

    /// Updates the cached replies. A finished node's replies are dropped, since a new attempt needs
    /// new ones.
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
            // A feature may have the name of a node.
            Event::Acceptance(AcceptanceTests { feature, .. }) => {
                self.cached.retain(|(of, stage, ..), _| of != feature || stage != ACCEPTANCE_TESTS);
            }
            Event::State { node, status, .. } if status != "in_progress" => self.forget(node),
            Event::Reset { .. } => self.cached.clear(),
            _ => {}
        }
    }

    fn forget(&mut self, node: &str) {
        self.cached.retain(|(of, ..), _| of != node);
    }
}
