//! A copy of files with the tools for it: one call, one answer.

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

/// What a model may call, and the copy of files that it works on.
pub(crate) struct ToolSet {
    copy: Overlay,
    leads: Hints,
    pub(crate) limits: Limits,
    /// Tools that are not offered.
    without: &'static [&'static str],
    /// Files that the model has seen whole; none where it may replace what it has not seen.
    seen: Option<BTreeSet<String>>,
    /// Lookups, where they are counted.
    lookups: Option<Lookups>,
}

/// What a call came to.
#[derive(Debug)]
pub(crate) struct ToolInvocation {
    /// What the model is shown.
    pub(crate) text: String,
    /// Whether it failed; the text says why and what to do, and nothing was changed.
    pub(crate) is_error: bool,
    /// The model's summary, after `done`.
    pub(crate) done: Option<String>,
}

impl ToolSet {
    /// Tools for these files, by their paths from the project's root. What `read_only` gives a reason for can be read
    /// and not changed.
    pub(crate) fn new(
        files: &Files,
        read_only: impl Fn(&str) -> Option<&'static str> + Send + Sync + 'static,
        limits: Limits,
    ) -> ToolSet {
        let read_only: Arc<ReadOnly> = Arc::new(read_only);
        let copy = Overlay::new(files, read_only, limits.file_bytes);
        ToolSet { copy, leads: Hints::default(), limits, without: &[], seen: None, lookups: None }
    }

    /// Leaves tools out that are of no use.
    pub(crate) fn without(mut self, names: &'static [&'static str]) -> ToolSet {
        self.without = names;
        self
    }

    /// Lets a file that is there be replaced only after it was shown: these were.
    pub(crate) fn with_shown(mut self, paths: BTreeSet<String>) -> ToolSet {
        self.seen = Some(paths);
        self
    }

    /// Files that the model has seen whole, where that is looked at.
    pub(crate) fn record_lookup(&self) -> BTreeSet<String> {
        self.seen.clone().unwrap_or_default()
    }

    /// Offers `suspects`, best first.
    pub(crate) fn with_suspects(mut self, suspects: Vec<Suspect>) -> ToolSet {
        self.leads.suspects = Some(suspects.into());
        self
    }

    /// Offers `search_plan`.
    pub(crate) fn with_plan(mut self, search: Arc<PlanSearch>) -> ToolSet {
        self.leads.plan = Some(search);
        self
    }

    /// Lets no more than so many lookups be made.
    pub(crate) fn with_lookups(mut self, left: usize) -> ToolSet {
        self.lookups = Some(Lookups::new(left));
        self
    }

    /// The lookups that were made, where they are counted.
    pub(crate) fn lookups(&self) -> &[Lookup] {
        self.lookups.as_ref().map_or(&[], |it| &it.made)
    }

    /// Whether more lookups were wanted than there may be.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.lookups.as_ref().is_some_and(|it| it.is_exhausted)
    }

    /// The tools as a model is told of them.
    pub(crate) fn tools(&self) -> Arc<[trellis_llm::Tool]> {
        self.offered().map(|it| it.tool()).collect()
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
    pub(super) async fn call(
        &mut self,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> ToolInvocation {
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

    /// Why a file may not be replaced yet, if that is what is asked for.
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

    /// Remembers what the model has seen whole.
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
        let (scene, given) = (ToolContext { copy, leads, room, deadline }, arguments.clone());
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

/// The file that a call is about, from the project's root.
fn path_of(arguments: &Map<String, Value>) -> Option<String> {
    paths::file(arguments.get("path")?.as_str()?).ok()
}
