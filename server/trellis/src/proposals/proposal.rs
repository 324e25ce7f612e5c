//! A proposed fix as a value, in the shape that it has on disk.

use std::collections::BTreeSet;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_engine::approval::Confidence;
use trellis_python::{Hunk, TextEdits, apply_hunks, hunks, unified_diff};

use crate::error::{Fault, Remedy};
use crate::workspace::disk::hash;

/// Of the shape on disk.
pub(super) const VERSION: u32 = 1;

/// The state of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum State {
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
    pub(crate) fn as_str(self) -> &'static str {
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
pub(crate) struct FailingTest {
    /// pytest's node id.
    pub(crate) id: String,
    /// What it fails with.
    pub(crate) message: String,
    /// The failing place, relative to the root.
    pub(crate) path: Option<String>,
    /// Its line, from 1.
    pub(crate) line: Option<u32>,
}

/// One file of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProposedFile {
    /// Relative to the root, with `/`.
    pub(crate) path: String,
    /// The text it was made for; none for a file that is new.
    pub(crate) base: Option<String>,
    /// The text as proposed.
    pub(crate) proposed: String,
}

/// A hunk of one of the files.
pub(crate) struct NumberedHunk {
    /// Among those of all files, from 1.
    pub(crate) id: usize,
    /// The place of its file.
    pub(crate) file: usize,
    pub(crate) hunk: Hunk,
}

/// One entry in the history of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HistoryEntry {
    /// RFC 3339.
    pub(crate) at: String,
    /// What was done: `proposed`, a decision, `undone`, `stale`, `failed`.
    pub(crate) what: String,
    /// Further details, in words.
    pub(crate) note: String,
    /// Number of the edit that was written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) edit: Option<u64>,
}

/// A part that was accepted and can be taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Applied {
    pub(super) edit: u64,
    /// The files as they were proposed before.
    pub(super) files: Vec<ProposedFile>,
}

/// A write that has begun: what is to be said of it when it is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PendingWrite {
    /// What the edit is called.
    pub(super) name: String,
    /// The proposal's files once it is done.
    pub(super) files: Vec<ProposedFile>,
    pub(super) state: State,
    pub(super) what: String,
    pub(super) note: String,
}

/// Whose draft a proposal is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Draft {
    /// The node of the run's plan.
    pub(crate) node: String,
    /// SHA-256 of the files as they were proposed first: the same draft is not put before a person twice.
    pub(super) asked: String,
}

/// A fix that was proposed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Proposal {
    pub(super) version: u32,
    /// Such as `fix-3`.
    pub(crate) id: String,
    /// From 1; grows when its texts change, and hunks have other numbers then.
    pub(crate) revision: u32,
    pub(crate) state: State,
    /// RFC 3339.
    pub(crate) created_at: String,
    pub(crate) reason: String,
    pub(crate) confidence: Confidence,
    pub(crate) test: FailingTest,
    /// Tests that passed and that the fix may break.
    pub(crate) affected: Vec<String>,
    /// Other tests that failed and that the fix may mend.
    #[serde(default)]
    pub(crate) failing: Vec<String>,
    pub(crate) files: Vec<ProposedFile>,
    pub(crate) history: Vec<HistoryEntry>,
    /// The run whose draft it is: that tests and writes the files itself.
    pub(crate) run: Option<Draft>,
    pub(super) applied: Vec<Applied>,
    pub(super) writing: Option<PendingWrite>,
}

/// The time now, in the form of RFC 3339.
pub(super) fn now() -> String {
    Timestamp::now().strftime("%FT%TZ").to_string()
}

impl ProposedFile {
    /// SHA-256 of the text it was made for.
    pub(crate) fn base_hash(&self) -> Option<String> {
        self.base.as_ref().map(hash)
    }

    pub(super) fn before(&self) -> &str {
        self.base.as_deref().unwrap_or_default()
    }

    /// Whether anything is left to be decided of it.
    fn is_open(&self) -> bool {
        self.base.as_deref() != Some(&self.proposed)
    }
}

impl Proposal {
    /// One that waits; without an id until it is stored.
    pub(crate) fn new(
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
            confidence,
            test,
            affected,
            failing: Vec::new(),
            files,
            history: Vec::new(),
            run: None,
            applied: Vec::new(),
            writing: None,
        };
        proposal.step("proposed", "");
        proposal
    }

    /// The same, which may mend these tests as well.
    pub(crate) fn may_mend(self, failing: Vec<String>) -> Proposal {
        Proposal { failing, ..self }
    }

    pub(super) fn step(&mut self, what: &str, note: impl Into<String>) {
        self.history.push(HistoryEntry {
            at: now(),
            what: what.to_owned(),
            note: note.into(),
            edit: None,
        });
    }

    /// Number of the edit by which something of it was written last; none where nothing of it is in the tree.
    pub(super) fn last_edit(&self) -> Option<u64> {
        self.applied.last().map(|it| it.edit)
    }

    /// What can be taken or left, in the order of the files.
    pub(crate) fn pieces(&self) -> Vec<NumberedHunk> {
        let of_file = |(file, it): (usize, &ProposedFile)| {
            hunks(it.before(), &it.proposed).into_iter().map(move |hunk| (file, hunk))
        };
        let all = self.files.iter().enumerate().flat_map(of_file);
        all.enumerate().map(|(at, (file, hunk))| NumberedHunk { id: at + 1, file, hunk }).collect()
    }

    /// A unified diff of all files.
    pub(crate) fn diff(&self) -> String {
        let diff = |it: &ProposedFile| unified_diff(&it.path, it.before(), &it.proposed);
        self.files.iter().map(diff).collect()
    }

    /// The files before anything of it was accepted, with the texts that they came to; as proposed if nothing was.
    pub(crate) fn written(&self) -> Vec<ProposedFile> {
        let Some(first) = self.applied.first() else { return self.files.clone() };
        let both = first.files.iter().zip(&self.files);
        let file = |(before, after): (&ProposedFile, &ProposedFile)| ProposedFile {
            proposed: after.before().to_owned(),
            ..before.clone()
        };
        both.map(file).collect()
    }

    /// The files' texts with some hunks, by their ids.
    pub(super) fn with(&self, taken: &BTreeSet<usize>) -> Vec<String> {
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

    /// Refuses ids that no hunk has, and none at all.
    pub(super) fn known(&self, ids: &[usize]) -> Result<BTreeSet<usize>, Fault> {
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

    /// Refuses what was decided before, or another revision than the person has seen.
    pub(super) fn may_be_decided(&self, seen: Option<u32>) -> Result<(), Fault> {
        if !self.state.is_open() {
            let (id, state) = (&self.id, self.state.as_str());
            let hint = match self.state {
                State::Accepted => "`undoFix` reverts it",
                _ => "request a new proposal",
            };
            return Err(Fault::input(format!("{id} is {state} already"))
                .kind("decided")
                .hint(hint));
        }
        match seen.filter(|it| *it != self.revision) {
            Some(seen) => Err(Fault::input(format!(
                "{} has changed: it is at revision {}, but you decided about revision {seen}",
                self.id, self.revision
            ))
            .kind("stale")
            .remedy(Remedy::Review)
            .hint("review it again, then decide")),
            None => Ok(()),
        }
    }

    /// Puts other files in the place of those proposed; hunks are numbered anew.
    pub(super) fn revise(&mut self, files: Vec<ProposedFile>) {
        if self.files != files {
            self.files = files;
            // Another number is all that it has to be; the file may hold any.
            self.revision = self.revision.checked_add(1).unwrap_or(1);
        }
    }

    /// Whether no change is left to decide about.
    pub(super) fn is_settled(&self) -> bool {
        !self.files.iter().any(ProposedFile::is_open)
    }
}

/// Refuses a text after which a Python file is worse Python than it was.
pub(super) fn no_worse(file: &ProposedFile, text: &str) -> Result<(), Fault> {
    if !crate::sources::is_source(file.path.as_ref()) {
        return Ok(());
    }
    let before = file.before();
    trellis_python::check_no_new_errors(before, &TextEdits::between(before, text)).map_err(|why| {
        Fault::input(format!("{} would be broken: {why}", file.path))
            .kind("syntax")
            .hint("choose hunks that belong together, or edit the text; nothing was written")
    })
}
