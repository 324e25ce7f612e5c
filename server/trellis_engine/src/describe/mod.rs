//! Asks a model for the docstrings that code does not have: in batches, each of one file. Replies
//! are checked; what is wrong goes back once.
//!
//! ```text
//! definitions ──> batches ──> request ──> reply ──> docstrings
//!                                ^          │
//!                                └──────────┘   wrong or missing ones, once
//! ```

mod batches;
mod replies;

use std::collections::{BTreeMap, VecDeque};

use self::batches::{Batch, batches, request};
use self::replies::taken;
use crate::state_machine::{Machine, OutOfTurn};
use crate::vocabulary::{ModelRequest, Reply};

/// A definition without a docstring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undescribed {
    /// Id of its node.
    pub id: String,
    /// File, relative to the repository.
    pub path: String,
    /// `function` or `Class.method`, unique in its file.
    pub name: String,
    pub source: String,
}

/// The result: docstrings, and what is still without one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Descriptions {
    /// Docstrings by id.
    pub docstrings: BTreeMap<String, String>,
    /// Ids without a usable docstring, with the reason.
    pub missing: BTreeMap<String, String>,
}

/// Inputs of the machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Started,
    Replied(Reply),
}

/// Outputs of the machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// The model has to describe some definitions of a file, again if there are problems.
    Ask {
        path: String,
        names: Vec<String>,
        problems: Vec<String>,
        request: Box<ModelRequest>,
    },
    Finished(Descriptions),
    /// The model does not answer.
    GaveUp {
        path: String,
        why: String,
    },
}

/// The state of the work.
#[derive(Clone, Debug)]
pub struct DescribeMachine {
    left: VecDeque<Batch>,
    /// Batch whose reply is awaited; `None` before the start and after the end.
    asked: Option<Batch>,
    has_started: bool,
    /// Number of requests, by file.
    attempts: BTreeMap<String, u32>,
    found: Descriptions,
}

impl DescribeMachine {
    /// Creates the machine; definitions of one file have to follow each other.
    pub fn new(all: Vec<Undescribed>) -> DescribeMachine {
        DescribeMachine {
            left: batches(all).into(),
            asked: None,
            has_started: false,
            attempts: BTreeMap::new(),
            found: Descriptions::default(),
        }
    }

    /// Returns the number of batches that are not asked yet.
    pub fn batches_left(&self) -> usize {
        self.left.len()
    }

    fn next(&mut self) -> Action {
        match self.left.pop_front() {
            Some(batch) => self.ask(batch),
            None => Action::Finished(std::mem::take(&mut self.found)),
        }
    }

    fn ask(&mut self, batch: Batch) -> Action {
        let attempt = self.attempts.entry(batch.path.clone()).or_default();
        let request = request(&batch, *attempt);
        *attempt += 1;
        let action = Action::Ask {
            path: batch.path.clone(),
            names: batch.definitions.iter().map(|it| it.name.clone()).collect(),
            problems: batch.problems.clone(),
            request: Box::new(request),
        };
        self.asked = Some(batch);
        action
    }

    fn replied(&mut self, batch: Batch, reply: Reply) -> Action {
        let text = match reply {
            Reply::Text(text) => Ok(text),
            Reply::Unusable { why } => Err(why),
            Reply::Edited(_) => Err("it has no text".to_owned()),
            Reply::Failed { reason } => {
                return Action::GaveUp { path: batch.path, why: reason };
            }
        };
        let taken = taken(&batch, text);
        self.found.docstrings.extend(taken.docstrings);
        let is_first = batch.problems.is_empty();
        if taken.wrong.is_empty() {
            return self.next();
        }
        if is_first {
            return self.ask(batch.again(&taken.wrong));
        }
        self.found.missing.extend(taken.wrong);
        self.next()
    }
}

impl Machine for DescribeMachine {
    type Event = Event;
    type Action = Action;

    fn step(&mut self, event: Event) -> Result<Vec<Action>, OutOfTurn> {
        let action = match (self.asked.take(), event) {
            (None, Event::Started) if !self.has_started => {
                self.has_started = true;
                self.next()
            }
            (Some(batch), Event::Replied(reply)) => self.replied(batch, reply),
            (batch, event) => {
                let expected = if batch.is_some() { "a reply" } else { "a beginning" };
                self.asked = batch;
                let event = if event == Event::Started { "a beginning" } else { "a reply" };
                return Err(OutOfTurn::new(event, expected));
            }
        };
        Ok(vec![action])
    }
}
