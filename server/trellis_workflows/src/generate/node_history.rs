//! Attempts at one node or task, folded from the journal.

use std::path::Path;

use trellis_engine::assembly::{FailureFacts, recommendation, root_cause};
use trellis_store::describe;
use trellis_store::journal::{Accepted, Event, Journal, RecordedFailure, events, text_of};

use crate::generate::failure_reasons::failures;

/// The last round of work on a node or task.
#[derive(Clone, Debug, Default)]
pub struct NodeHistory {
    /// Implementations that were run or could not be run, in order.
    pub attempts: Vec<NodeAttempt>,
    /// The last tests.
    pub tests: String,
    /// The last implementation.
    pub implementation: String,
    /// Stages of a task with their reasons, in order.
    pub steps: Vec<(String, String)>,
    /// The cause of a failure in a sentence.
    pub cause: Option<String>,
    pub recommendation: Option<String>,
    /// The model that answered last.
    model: Option<String>,
    /// True if the model answered since the last attempt.
    is_answered: bool,
}

/// One implementation and its outcome.
#[derive(Clone, Debug, Default)]
pub struct NodeAttempt {
    /// The text that was run; `None` if it passed, if it could not be run, or in old journals.
    pub implementation: Option<String>,
    /// The outcome in one line.
    pub outcome: String,
    pub passed: usize,
    pub failed: usize,
    /// The first test that failed.
    pub test: Option<String>,
    pub failure: Option<RecordedFailure>,
    /// True if the answer held nothing that could be run.
    pub is_unusable: bool,
    /// Number of runs of the same text.
    pub runs: u32,
    /// The model that answered, if it was asked.
    pub model: Option<String>,
    /// The diagnosis of the failure.
    pub finding: Option<String>,
}

/// Returns the last round of work on the node `id` in a folder. `name` and `path` describe its
/// definition. An unreadable journal yields an empty history.
pub fn node_history(root: &Path, id: &str, name: &str, path: &str) -> NodeHistory {
    let bytes = trellis_os::files::read(Journal::path(root)).unwrap_or_default();
    let mut history = NodeHistory::default();
    let text = text_of(&bytes);
    events(&text).filter(|it| is_about(it, id)).for_each(|event| history.take(event));
    if let Some(failed) = failures(root).remove(id) {
        let (name, path) = (name.to_owned(), path.to_owned());
        let facts = FailureFacts { name, path, ..failed.facts };
        history.cause = root_cause(&facts);
        history.recommendation = recommendation(&facts);
    }
    history
}

fn is_about(event: &Event, id: &str) -> bool {
    let is_of_several = matches!(event, Event::Regression { node, .. } if node != id);
    describe::concerns(event, id) && !is_of_several
}

impl NodeHistory {
    fn take(&mut self, event: Event) {
        match event {
            Event::State { status, .. } if status == "in_progress" => *self = Self::default(),
            Event::Stage { stage, reason, .. } => self.steps.push((stage, reason)),
            Event::ModelCall { stage, model, error: None, .. } if writes_code(&stage) => {
                (self.model, self.is_answered) = (Some(model), true);
            }
            Event::TestRun { red: false, .. } => self.run(event),
            Event::Regression { outcome, failed, .. } if failed > 0 => {
                self.find(format!("tests of other nodes fail: {outcome}"));
            }
            Event::Note { what, text, .. } => self.note(&what, text),
            Event::TakenBack { tests, implementation, .. }
            | Event::Accepted(Accepted { tests, implementation, .. }) => {
                (self.tests, self.implementation) = (tests, implementation);
            }
            _ => {}
        }
    }

    /// Adds a run: to the last attempt, if its text was run again.
    fn run(&mut self, event: Event) {
        let Event::TestRun { outcome, passed, failed, failing, implementation, failure, .. } =
            event
        else {
            return;
        };
        if self.is_answered || implementation.is_some() || self.attempts.is_empty() {
            let model = self.model.take_if(|_| self.is_answered);
            self.attempts.push(NodeAttempt { implementation, model, ..NodeAttempt::default() });
            self.is_answered = false;
        }
        let Some(last) = self.attempts.last_mut() else { return };
        (last.outcome, last.passed, last.failed, last.test) = (outcome, passed, failed, failing);
        last.failure = failure.map(|it| *it);
        last.runs += 1;
    }

    fn note(&mut self, what: &str, text: String) {
        match what {
            "diagnosed" => {
                let why = text.split_once(": ").map(|(_, why)| why.to_owned());
                self.find(why.unwrap_or(text));
            }
            "attempt-unusable" => self.attempts.push(NodeAttempt {
                outcome: text,
                is_unusable: true,
                model: self.model.take_if(|_| std::mem::take(&mut self.is_answered)),
                ..NodeAttempt::default()
            }),
            _ => {}
        }
    }

    fn find(&mut self, why: String) {
        if let Some(last) = self.attempts.last_mut() {
            last.finding = Some(why);
        }
    }
}

fn writes_code(stage: &str) -> bool {
    matches!(stage, "implementation" | "fix")
}
