//! A copy of files with the tools for it: one call, one answer.

use std::sync::Arc;
use std::time::Instant;

use cycle::Suspect;
use serde_json::{Map, Value};

use super::copy::{Changes, ReadOnly, WorkingCopy};
use super::leads::{Leads, PlanSearch};
use super::limits::Limits;
use super::page::{clipped, cut};
use super::table::{Entry, Outcome, Scene, offered};
use crate::convert::Files;

/// What a model may call, and the copy of files that it works on.
pub(crate) struct Toolbox {
    copy: WorkingCopy,
    leads: Leads,
    pub(crate) limits: Limits,
}

/// What a call came to.
#[derive(Debug)]
pub(crate) struct Called {
    /// What the model is shown.
    pub(crate) text: String,
    /// Whether it failed; the text says why and what to do, and nothing was changed.
    pub(crate) is_error: bool,
    /// The model's summary, after `done`.
    pub(crate) done: Option<String>,
}

impl Toolbox {
    /// Tools for these files, by their paths from the project's root. What `read_only` gives a reason for can be read
    /// and not changed.
    pub(crate) fn new(
        files: &Files,
        read_only: impl Fn(&str) -> Option<&'static str> + Send + Sync + 'static,
        limits: Limits,
    ) -> Toolbox {
        let read_only: Arc<ReadOnly> = Arc::new(read_only);
        let copy = WorkingCopy::new(files, read_only, limits.file_bytes);
        Toolbox { copy, leads: Leads::default(), limits }
    }

    /// Offers `suspects`, best first.
    pub(crate) fn with_suspects(mut self, suspects: Vec<Suspect>) -> Toolbox {
        self.leads.suspects = Some(suspects.into());
        self
    }

    /// Offers `search_plan`.
    pub(crate) fn with_plan(mut self, search: Arc<PlanSearch>) -> Toolbox {
        self.leads.plan = Some(search);
        self
    }

    /// The tools as a model is told of them.
    pub(crate) fn tools(&self) -> Arc<[model::Tool]> {
        offered(&self.leads).map(|it| it.tool()).collect()
    }

    /// The files as they were given.
    pub(crate) fn before(&self) -> Arc<Files> {
        self.copy.before()
    }

    /// What was changed so far.
    pub(crate) fn changes(&self) -> Changes {
        self.copy.changes()
    }

    /// The files as they are now.
    #[cfg(test)]
    pub(super) fn files(&self) -> &Files {
        self.copy.files()
    }

    /// Calls a tool. Whatever is asked for, the answer is a text of limited length within limited time.
    #[cfg(test)]
    pub(super) async fn call(&mut self, name: &str, arguments: &Map<String, Value>) -> Called {
        let deadline = Instant::now() + self.limits.call_time;
        self.call_within(name, arguments, self.limits.result_bytes, deadline).await
    }

    /// The same within so many bytes, until a moment.
    pub(super) async fn call_within(
        &mut self,
        name: &str,
        arguments: &Map<String, Value>,
        room: usize,
        deadline: Instant,
    ) -> Called {
        let outcome = match offered(&self.leads).find(|it| it.name == name) {
            Some(entry) => self.run(entry, arguments, room, deadline).await,
            None => Err(self.unknown(name)),
        };
        match outcome {
            Ok(answer) => {
                self.copy.take(answer.changes);
                Called { text: cut(answer.text, room), is_error: false, done: answer.done }
            }
            Err(why) => Called { text: cut(why, room), is_error: true, done: None },
        }
    }

    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = offered(&self.leads).map(|it| it.name).collect();
        format!("there is no tool `{}`; the tools are {}", clipped(name, 100), names.join(", "))
    }

    /// Runs a tool on a snapshot, on a thread of its own: one that takes too long is left to its end, and what it
    /// wanted changed is dropped.
    async fn run(
        &self,
        entry: Entry,
        arguments: &Map<String, Value>,
        room: usize,
        deadline: Instant,
    ) -> Outcome {
        let (copy, leads) = (self.copy.clone(), Arc::new(self.leads.clone()));
        let (scene, given) = (Scene { copy, leads, room, deadline }, arguments.clone());
        let work = tokio::task::spawn_blocking(move || entry.run(&given, &scene));
        match tokio::time::timeout_at(deadline.into(), work).await {
            Ok(Ok(outcome)) => outcome,
            // The panic itself is on standard error; one bad call should not cost the whole conversation.
            Ok(Err(_)) => Err(format!(
                "{} failed for a fault of Trellis's own; nothing was changed; try another tool",
                entry.name
            )),
            Err(_) => Err(format!(
                "{} took too long and was given up; nothing was changed; ask for less, such as one folder or file",
                entry.name
            )),
        }
    }
}
