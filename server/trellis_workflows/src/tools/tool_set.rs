//! A copy of files with the tools for it: one answer per call.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};
use trellis_engine::Suspect;

use super::hints::{Hints, PlanSearch};
use super::limits::Limits;
use super::lookups::{Lookup, Lookups};
use super::overlay::{Changes, Overlay, ReadOnly};
use super::paths;
use super::table::{Entry, Outcome, ToolContext, offered};
use super::truncate::{clipped, cut};
use crate::convert::Files;

/// The tools a model may call, and the copy of files that they work on.
pub struct ToolSet {
    copy: Overlay,
    leads: Hints,
    pub limits: Limits,
    /// Names of tools that are not offered.
    without: &'static [&'static str],
    /// Files that the model has seen in full; `None` if it may replace files it has not seen.
    seen: Option<BTreeSet<String>>,
    /// Lookups, if they are counted.
    lookups: Option<Lookups>,
}

/// Result of a tool call.
#[derive(Debug)]
pub(super) struct ToolInvocation {
    /// Text shown to the model.
    pub text: String,
    /// True if the call failed; the text has reason and remedy, and nothing was changed.
    pub is_error: bool,
    /// The model's summary, after `done`.
    pub done: Option<String>,
}

impl ToolSet {
    /// Creates tools for these files, by their paths relative to the project's root. A file for
    /// which `read_only` returns a reason can be read and not changed.
    pub fn new(
        files: &Files,
        read_only: impl Fn(&str) -> Option<&'static str> + Send + Sync + 'static,
        limits: Limits,
    ) -> ToolSet {
        let read_only: Arc<ReadOnly> = Arc::new(read_only);
        let copy = Overlay::new(files, read_only, limits.file_bytes);
        ToolSet { copy, leads: Hints::default(), limits, without: &[], seen: None, lookups: None }
    }

    /// Removes tools that are of no use.
    pub fn without(mut self, names: &'static [&'static str]) -> ToolSet {
        self.without = names;
        self
    }

    /// Allows replacing an existing file only after it was shown; `paths` were shown already.
    pub fn with_shown(mut self, paths: BTreeSet<String>) -> ToolSet {
        self.seen = Some(paths);
        self
    }

    /// Returns the files that the model has seen in full, if that is tracked.
    pub fn seen_files(&self) -> BTreeSet<String> {
        self.seen.clone().unwrap_or_default()
    }

    /// Offers `suspects`, best first.
    pub fn with_suspects(mut self, suspects: Vec<Suspect>) -> ToolSet {
        self.leads.suspects = Some(suspects.into());
        self
    }

    /// Offers `search_plan`.
    pub fn with_plan(mut self, search: Arc<PlanSearch>) -> ToolSet {
        self.leads.plan = Some(search);
        self
    }

    /// Limits the number of lookups.
    pub fn with_lookups(mut self, left: usize) -> ToolSet {
        self.lookups = Some(Lookups::new(left));
        self
    }

    /// Returns the lookups made, if they are counted.
    pub fn lookups(&self) -> &[Lookup] {
        self.lookups.as_ref().map_or(&[], |it| &it.made)
    }

    /// Returns whether the model wanted more lookups than allowed.
    pub fn is_exhausted(&self) -> bool {
        self.lookups.as_ref().is_some_and(|it| it.is_exhausted)
    }

    /// Returns the tools in the form presented to a model.
    pub fn tools(&self) -> Arc<[trellis_llm::Tool]> {
        self.offered().map(|it| it.tool()).collect()
    }

    /// Returns the files as given at the start.
    pub fn before(&self) -> Arc<Files> {
        self.copy.before()
    }

    /// Returns the changes so far.
    pub fn changes(&self) -> Changes {
        self.copy.changes()
    }

    /// Returns the files as they are now.
    #[cfg(test)]
    pub(super) fn files(&self) -> &Files {
        self.copy.files()
    }

    /// Calls a tool. The answer is always a text of limited length, within limited time.
    #[cfg(test)]
    pub(super) async fn call(
        &mut self,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> ToolInvocation {
        let deadline = Instant::now() + self.limits.call_time;
        self.call_within(name, arguments, self.limits.result_bytes, deadline).await
    }

    /// Calls a tool with at most `room` bytes of answer, until `deadline`.
    pub(super) async fn call_within(
        &mut self,
        name: &str,
        arguments: &Map<String, Value>,
        room: usize,
        deadline: Instant,
    ) -> ToolInvocation {
        let entry = self.offered().find(|it| it.name == name);
        let refused = self.lookups.as_mut().and_then(|it| it.refuse(name));
        let is_refused = refused.is_some();
        let outcome = match (entry, refused.or_else(|| self.unseen(name, arguments))) {
            (Some(_), Some(why)) => Err(why),
            (Some(entry), None) => self.run(entry, arguments, room, deadline).await,
            (None, _) => Err(self.unknown(name)),
        };
        if outcome.is_ok() {
            self.see(name, arguments);
        }
        if let Some(lookups) = self.lookups.as_mut().filter(|_| !is_refused) {
            let found = outcome.as_ref().ok().filter(|it| !it.is_empty);
            lookups.take(name, arguments, found.map(|it| it.text.as_str()));
        }
        match outcome {
            Ok(answer) => {
                self.copy.take(answer.changes);
                ToolInvocation { text: cut(answer.text, room), is_error: false, done: answer.done }
            }
            Err(why) => ToolInvocation { text: cut(why, room), is_error: true, done: None },
        }
    }

    fn offered(&self) -> impl Iterator<Item = Entry> {
        offered(&self.leads).filter(|it| !self.without.contains(&it.name))
    }

    /// Returns the refusal if a call would replace a file that the model has not seen.
    fn unseen(&self, name: &str, arguments: &Map<String, Value>) -> Option<String> {
        let seen = self.seen.as_ref().filter(|_| name == "write_file")?;
        let path = path_of(arguments)?;
        let before = self.copy.before();
        let text = before.get(&path).filter(|it| !it.trim().is_empty())?;
        let lines = text.lines().count();
        (!seen.contains(&path)).then(|| {
            format!("{path} is there, with {lines} lines that you have not seen: read_file it first, or change it by edit_file")
        })
    }

    /// Records a file that the model has seen in full.
    fn see(&mut self, name: &str, arguments: &Map<String, Value>) {
        let is_whole = match name {
            "read_file" => !["from_line", "lines"].iter().any(|it| arguments.contains_key(*it)),
            "write_file" => true,
            _ => false,
        };
        if let (true, Some(seen), Some(path)) = (is_whole, &mut self.seen, path_of(arguments)) {
            seen.insert(path);
        }
    }

    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.offered().map(|it| it.name).collect();
        format!("there is no tool `{}`; the tools are {}", clipped(name, 100), names.join(", "))
    }

    /// Runs a tool on a snapshot, on a thread of its own. After the deadline the thread runs on,
    /// but its changes are dropped.
    async fn run(
        &self,
        entry: Entry,
        arguments: &Map<String, Value>,
        room: usize,
        deadline: Instant,
    ) -> Outcome {
        let (copy, leads) = (self.copy.clone(), Arc::new(self.leads.clone()));
        let (scene, given) = (ToolContext { copy, leads, room, deadline }, arguments.clone());
        let work = tokio::task::spawn_blocking(move || entry.run(&given, &scene));
        match tokio::time::timeout_at(deadline.into(), work).await {
            Ok(Ok(outcome)) => outcome,
            // The panic message is on standard error; one failed call should not end the whole
            // conversation.
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

/// Returns the file named in a call, relative to the project's root.
fn path_of(arguments: &Map<String, Value>) -> Option<String> {
    paths::file(arguments.get("path")?.as_str()?).ok()
}
