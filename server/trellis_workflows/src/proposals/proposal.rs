//! A proposed fix as a value, in the form that it has on disk.

use std::collections::BTreeSet;
use std::process;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_engine::approval::Confidence;
use trellis_python::{Hunk, TextEdits, apply_hunks, hunks, unified_diff};

use super::facts::FixFacts;
use crate::fault::{Fault, FaultKind, Remedy};
use trellis_os::process::is_alive;
use trellis_store::disk::hash;

/// Version of the form on disk.
pub(super) const VERSION: u32 = 1;

/// The state of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum State {
    /// Needs a decision.
    Waiting,
    Accepted,
    Rejected,
    /// A file has changed; the proposal can be rebased if all of its hunks still have a place.
    Stale,
    /// It was accepted and undone; you can decide again.
    Undone,
    /// Tests failed with it when it was accepted, so nothing was written; you can decide again.
    Failed,
}

impl State {
    pub fn as_str(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Accepted => "accepted",
            State::Rejected => "rejected",
            State::Stale => "stale",
            State::Undone => "undone",
            State::Failed => "failed",
        }
    }

    fn is_open(self) -> bool {
        !matches!(self, State::Accepted | State::Rejected)
    }
}

/// The failing test that it fixes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailingTest {
    /// pytest's node id.
    pub id: String,
    /// What it fails with.
    pub message: String,
    /// The failing place, relative to the root.
    pub path: Option<String>,
    /// Its line, from 1.
    pub line: Option<u32>,
}

/// One file of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposedFile {
    /// Path relative to the root, with `/`.
    pub path: String,
    /// The text that the proposal was made for; `None` for a new file.
    pub base: Option<String>,
    /// The proposed text.
    pub proposed: String,
}

/// A hunk of one of the files.
pub struct NumberedHunk {
    /// Number among the hunks of all files, from 1.
    pub id: usize,
    /// Index of the file.
    pub file: usize,
    pub hunk: Hunk,
}

/// One entry in the history of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HistoryEntry {
    /// RFC 3339.
    pub at: String,
    /// What was done: `proposed`, a decision, `undone`, `stale`, `failed`.
    pub what: String,
    /// Further details, in words.
    pub note: String,
    /// Number of the edit that was written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub edit: Option<u64>,
}

/// An accepted part, which can be undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Applied {
    pub(super) edit: u64,
    /// The files as they were proposed before the acceptance.
    pub(super) files: Vec<ProposedFile>,
}

/// A write in progress, with what to record when it is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PendingWrite {
    /// Name of the edit.
    pub(super) name: String,
    /// The proposal's files after the write.
    pub(super) files: Vec<ProposedFile>,
    pub(super) state: State,
    pub(super) what: String,
    pub(super) note: String,
}

/// Source of a fix that no model wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FoundBy {
    /// Trials of small edits, each with test runs; no model was asked.
    SmallEdits,
}

/// The run's draft behind a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    /// The node of the run's plan.
    pub node: String,
    /// SHA-256 of the files as first proposed, so that the same draft is not presented twice.
    pub(super) asked: String,
}

/// A fix that was proposed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    pub(super) version: u32,
    /// Id, such as `fix-3`.
    pub id: String,
    /// Revision, from 1. A change of the texts increases it and renumbers the hunks.
    pub revision: u32,
    pub state: State,
    /// Time of creation, in RFC 3339.
    pub created_at: String,
    pub reason: String,
    /// The model's words about the change.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub explanation: Option<String>,
    /// Source of the change; `None` for one that a model wrote.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub found_by: Option<FoundBy>,
    /// Results of the test runs, for the texts of this revision only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub facts: Option<FixFacts>,
    pub confidence: Confidence,
    pub test: FailingTest,
    /// Tests that passed and that the fix may break.
    pub affected: Vec<String>,
    /// Other tests that failed and that the fix may repair.
    #[serde(default)]
    pub failing: Vec<String>,
    pub files: Vec<ProposedFile>,
    pub history: Vec<HistoryEntry>,
    /// The run's draft, if a run made the proposal; the run then tests and writes the files itself.
    pub run: Option<Draft>,
    pub(super) applied: Vec<Applied>,
    pub(super) writing: Option<PendingWrite>,
    /// Number of the process that writes the fix itself, without a person's decision.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    writer: Option<u32>,
    /// Fields that a later version may add; they are kept.
    #[serde(flatten)]
    rest: serde_json::Map<String, serde_json::Value>,
}

/// Returns the current time in RFC 3339.
pub(super) fn now() -> String {
    Timestamp::now().strftime("%FT%TZ").to_string()
}

impl ProposedFile {
    /// Returns the SHA-256 of the text that the proposal was made for.
    pub fn base_hash(&self) -> Option<String> {
        self.base.as_ref().map(hash)
    }

    pub(super) fn before(&self) -> &str {
        self.base.as_deref().unwrap_or_default()
    }

    /// Returns whether a change is left to decide about.
    fn is_open(&self) -> bool {
        self.base.as_deref() != Some(&self.proposed)
    }
}

impl Proposal {
    /// Creates a waiting proposal, without an id until it is stored.
    pub fn new(
        test: FailingTest,
        reason: String,
        confidence: Confidence,
        affected: Vec<String>,
        files: Vec<ProposedFile>,
    ) -> Proposal {
        let mut proposal = Proposal {
            version: VERSION,
            id: String::new(),
            revision: 1,
            state: State::Waiting,
            created_at: now(),
            reason,
            explanation: None,
            found_by: None,
            facts: None,
            confidence,
            test,
            affected,
            failing: Vec::new(),
            files,
            history: Vec::new(),
            run: None,
            applied: Vec::new(),
            writing: None,
            writer: None,
            rest: serde_json::Map::new(),
        };
        proposal.add_history("proposed", "");
        proposal
    }

    /// Sets the other failing tests that the fix may repair.
    pub fn with_failing(self, failing: Vec<String>) -> Proposal {
        Proposal { failing, ..self }
    }

    /// Marks a fix that this process writes itself, without a person's decision.
    pub fn write_by_itself(&mut self) {
        self.writer = Some(process::id());
    }

    /// Returns whether the fix waits only since the process that would have written it has ended.
    pub(super) fn is_abandoned(&self) -> bool {
        self.state == State::Waiting && self.writer.is_some_and(|it| !is_alive(it))
    }

    pub(super) fn add_history(&mut self, what: &str, note: impl Into<String>) {
        self.history.push(HistoryEntry {
            at: now(),
            what: what.to_owned(),
            note: note.into(),
            edit: None,
        });
    }

    /// Returns the number of the edit that last wrote a part of it; `None` if no part is in the
    /// tree.
    pub(super) fn last_edit(&self) -> Option<u64> {
        self.applied.last().map(|it| it.edit)
    }

    /// Returns the hunks to accept or reject, in the order of the files.
    pub fn pieces(&self) -> Vec<NumberedHunk> {
        let of_file = |(file, it): (usize, &ProposedFile)| {
            hunks(it.before(), &it.proposed).into_iter().map(move |hunk| (file, hunk))
        };
        let all = self.files.iter().enumerate().flat_map(of_file);
        all.enumerate().map(|(at, (file, hunk))| NumberedHunk { id: at + 1, file, hunk }).collect()
    }

    /// Returns a unified diff of all files.
    pub fn diff(&self) -> String {
        let diff = |it: &ProposedFile| unified_diff(&it.path, it.before(), &it.proposed);
        self.files.iter().map(diff).collect()
    }

    /// Returns the files before any acceptance, with the texts that acceptance led to; as proposed
    /// if nothing was accepted.
    pub fn written(&self) -> Vec<ProposedFile> {
        let Some(first) = self.applied.first() else { return self.files.clone() };
        let both = first.files.iter().zip(&self.files);
        let file = |(before, after): (&ProposedFile, &ProposedFile)| ProposedFile {
            proposed: after.before().to_owned(),
            ..before.clone()
        };
        both.map(file).collect()
    }

    /// Returns the files' texts with the hunks of these ids.
    pub(super) fn texts_with(&self, taken: &BTreeSet<usize>) -> Vec<String> {
        let pieces = self.pieces();
        let text = |(file, it): (usize, &ProposedFile)| {
            let own: Vec<&NumberedHunk> =
                pieces.iter().filter(|piece| piece.file == file).collect();
            let hunks: Vec<Hunk> = own.iter().map(|it| it.hunk.clone()).collect();
            let places = (0..own.len()).filter(|at| taken.contains(&own[*at].id)).collect();
            apply_hunks(it.before(), &hunks, &places)
        };
        self.files.iter().enumerate().map(text).collect()
    }

    /// Refuses unknown ids, and an empty list.
    pub(super) fn check_ids(&self, ids: &[usize]) -> Result<BTreeSet<usize>, Fault> {
        let count = self.pieces().len();
        let wrong = ids.iter().find(|id| !(1..=count).contains(*id));
        let (id, revision) = (&self.id, self.revision);
        match wrong {
            Some(wrong) => Err(Fault::input(format!(
                "there is no hunk {wrong} in {id}: revision {revision} has {count}"
            ))
            .hint("`getFix` lists them")),
            None if ids.is_empty() => Err(Fault::input("no hunk is selected")
                .hint("give `hunks`, or decide `accept` or `reject` for the whole")),
            None => Ok(ids.iter().copied().collect()),
        }
    }

    /// Records the edit of a write in progress; returns what the journal says of it.
    pub(super) fn complete_write(&mut self, edit: u64) -> Option<String> {
        let PendingWrite { files, state, what, note, .. } = self.writing.take()?;
        let said = match state {
            State::Undone => {
                self.applied.pop();
                format!("{what}: {note}, by edit {edit}")
            }
            _ => {
                self.applied.push(Applied { edit, files: self.files.clone() });
                format!("{what}, edit {edit}; {note}")
            }
        };
        self.revise(files);
        self.state = state;
        self.history.push(HistoryEntry { at: now(), what, note, edit: Some(edit) });
        Some(said.trim_end_matches("; ").to_owned())
    }

    /// Refuses a proposal that was already decided, and a revision that the person has not seen.
    pub(super) fn check_decidable(&self, seen: Option<u32>) -> Result<(), Fault> {
        if !self.state.is_open() {
            let (id, state) = (&self.id, self.state.as_str());
            let hint = match self.state {
                State::Accepted => {
                    format!("`trellis fixes undo {id}` (`trellis/undoFix` for programs) reverts it")
                }
                _ => "request a new proposal".to_owned(),
            };
            return Err(Fault::input(format!("{id} is {state} already"))
                .kind(FaultKind::Decided)
                .hint(hint));
        }
        match seen.filter(|it| *it != self.revision) {
            Some(seen) => Err(Fault::input(format!(
                "{} has changed: it is at revision {}, but you decided about revision {seen}",
                self.id, self.revision
            ))
            .kind(FaultKind::Stale)
            .remedy(Remedy::Review)
            .hint("review it again, then decide")),
            None => Ok(()),
        }
    }

    /// Replaces the proposed files; hunks are renumbered.
    pub(super) fn revise(&mut self, files: Vec<ProposedFile>) {
        if self.files != files {
            self.files = files;
            self.facts = None;
            // Any different number will do; the stored file may contain any.
            self.revision = self.revision.checked_add(1).unwrap_or(1);
        }
    }

    /// Returns whether no change is left to decide about.
    pub(super) fn is_settled(&self) -> bool {
        !self.files.iter().any(ProposedFile::is_open)
    }
}

/// Refuses a text that adds syntax errors to a Python file.
pub(super) fn refuse_new_errors(file: &ProposedFile, text: &str) -> Result<(), Fault> {
    if !trellis_project::sources::is_source(file.path.as_ref()) {
        return Ok(());
    }
    let before = file.before();
    trellis_python::check_no_new_errors(before, &TextEdits::between(before, text)).map_err(|why| {
        Fault::input(format!("{} would be broken: {why}", file.path))
            .kind(FaultKind::Syntax)
            .hint("choose hunks that belong together, or edit the text; nothing was written")
    })
}
