//! Carries out a person's decision about a proposal.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use trellis_python::{TextEdits, with_ends_of};

use super::pending::wake;
use super::proposal::{PendingWrite, Proposal, ProposedFile, State, now, refuse_new_errors};
use super::store::{Listed, Store};
use super::verify::{Times, Verification, VerifiedTest, Verifier};
use crate::fault::{Fault, FaultKind};
use crate::reporter::Progress;
use crate::reporter::Reporter;
use crate::sandbox::SandboxArgs;
use trellis_project::edits::{self, AppliedEdit, Change};
use trellis_project::error::EditError;
use trellis_project::sources::read_at;
use trellis_store::disk;
use trellis_store::lock::Lock;

/// Texts of documents that are open in an editor, by their paths from the root.
pub type OpenTexts = BTreeMap<String, Arc<str>>;

/// A function that returns the documents open at the time of the call.
pub type OpenDocuments = dyn Fn() -> BoxFuture<'static, Result<OpenTexts, Fault>> + Send + Sync;

/// The possible decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Choice {
    /// Accept all of it, as proposed.
    Accept,
    /// Reject all of it; nothing is written.
    Reject,
    /// Accept all of it, with the given texts in place of those proposed.
    Edit,
    /// Accept these hunks; the others stay pending, against the new text.
    AcceptHunks,
    /// Reject these hunks; the others stay pending.
    RejectHunks,
    /// Decide nothing yet: apply the proposal, with the given texts in place of those proposed, to the current files,
    /// if each of its hunks still has one place there.
    Rebase,
}

impl Choice {
    fn as_str(self) -> &'static str {
        match self {
            Choice::Accept => "accepted",
            Choice::Reject => "rejected",
            Choice::Edit => "accepted with another text",
            Choice::AcceptHunks => "accepted in part",
            Choice::RejectHunks => "rejected in part",
            Choice::Rebase => "rebased",
        }
    }
}

/// One decision.
#[derive(Clone, Debug)]
pub struct DecisionRequest {
    /// Id of the proposal.
    pub fix: String,
    /// The revision that the person looked at, if it matters.
    pub revision: Option<u32>,
    pub choice: Choice,
    /// Hunk ids, for decisions about hunks.
    pub hunks: Vec<usize>,
    /// Path and text, for edits and rebases.
    pub files: Vec<(String, String)>,
    /// The person's reason.
    pub note: String,
}

impl DecisionRequest {
    /// Creates a request to rebase a proposal onto the current files.
    pub(super) fn rebase(fix: &str) -> DecisionRequest {
        DecisionRequest {
            fix: fix.to_owned(),
            revision: None,
            choice: Choice::Rebase,
            hunks: Vec::new(),
            files: Vec::new(),
            note: String::new(),
        }
    }
}

/// Means to test the tree with the accepted text.
pub struct VerifyMode<'a> {
    pub sandbox: SandboxArgs,
    pub reporter: &'a Reporter,
    pub times: Times,
    pub cancel: CancellationToken,
}

/// The result of a decision.
#[derive(Debug)]
pub struct Decided {
    pub proposal: Proposal,
    /// Number of the edit that was written.
    pub edit: Option<u64>,
    /// Files that were written.
    pub paths: Vec<String>,
    /// Results of the failing test, of others that failed and that the change may fix, and of those
    /// that fail with it.
    pub tests: Vec<VerifiedTest>,
    /// Tests that failed before and pass with the change.
    pub fixed: Vec<String>,
    /// Other waiting proposals that were rebased onto the current files.
    pub rebased: Vec<String>,
    pub notes: Vec<String>,
}

/// Decides about a proposal. Accepted text is written only if every file is as the proposal knows
/// it, on the disk and in the editor, and if the tests pass with it. Without `testing` the tests do
/// not run, and the history says so. If they fail, nothing is written and the proposal becomes
/// `failed`.
///
/// # Errors
///
/// The kind is `stale` if a file has changed, `decided` if everything was decided before, `busy` if
/// another process is deciding, and `syntax` if a file would be broken.
pub async fn decide(
    store: &Store,
    order: &DecisionRequest,
    open: &OpenDocuments,
    testing: Option<VerifyMode<'_>>,
) -> Result<Decided, Fault> {
    let lock = store.lock()?;
    edits::recover(store.root())?;
    let proposal = recover_write(store, store.get(&order.fix)?, &lock)?;
    proposal.check_decidable(order.revision)?;
    proposal.files.iter().try_for_each(|it| check_inside(store.root(), &it.path))?;
    let mut context = DecisionContext { store, lock: &lock, proposal, order };
    let decided = match order.choice {
        Choice::Reject => context.reject(),
        Choice::RejectHunks => context.leave_out(),
        Choice::Rebase => context.rebase(&open().await?),
        _ if context.proposal.run.is_some() => context.answer_run(),
        _ => context.take(open, testing).await,
    };
    wake();
    decided
}

pub(super) struct DecisionContext<'a> {
    pub(super) store: &'a Store,
    pub(super) lock: &'a Lock,
    pub(super) proposal: Proposal,
    pub(super) order: &'a DecisionRequest,
}

impl DecisionContext<'_> {
    fn reject(&mut self) -> Result<Decided, Fault> {
        self.proposal.state = State::Rejected;
        self.keep(Choice::Reject, self.order.note.clone())
    }

    fn leave_out(&mut self) -> Result<Decided, Fault> {
        let left_out = self.proposal.check_ids(&self.order.hunks)?;
        let all = self.proposal.pieces();
        let left: BTreeSet<usize> =
            all.iter().map(|it| it.id).filter(|id| !left_out.contains(id)).collect();
        let texts = self.proposal.texts_with(&left);
        self.check_syntax(&texts)?;
        let note = format!("hunks {}", listed(&self.order.hunks));
        let files = self.proposal.files.iter().zip(texts);
        let files = files.map(|(it, proposed)| ProposedFile { proposed, ..it.clone() }).collect();
        self.proposal.revise(files);
        self.proposal.state = match self.proposal.is_settled() {
            false => State::Waiting,
            true if self.proposal.applied.is_empty() => State::Rejected,
            true => State::Accepted,
        };
        self.keep(Choice::RejectHunks, note)
    }

    /// Records a decision that writes nothing to the tree.
    pub(super) fn keep(&mut self, choice: Choice, note: String) -> Result<Decided, Fault> {
        self.proposal.add_history(choice.as_str(), note.clone());
        self.store.save(&self.proposal, self.lock)?;
        self.store.journal(&self.proposal, format!("{} {note}", choice.as_str()).trim_end())?;
        Ok(self.decided())
    }

    fn decided(&self) -> Decided {
        let proposal = self.proposal.clone();
        Decided {
            proposal,
            edit: None,
            paths: Vec::new(),
            tests: Vec::new(),
            fixed: Vec::new(),
            rebased: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Decides about the draft of a run, which tests and writes it itself.
    fn answer_run(&mut self) -> Result<Decided, Fault> {
        let texts = self.wanted()?;
        self.check_syntax(&texts)?;
        let files = self.proposal.files.iter().zip(texts);
        let files = files.map(|(it, proposed)| ProposedFile { proposed, ..it.clone() }).collect();
        self.proposal.revise(files);
        self.proposal.state = State::Accepted;
        self.keep(self.order.choice, self.order.note.clone())
    }

    /// Returns the text of each file that the decision asks for.
    fn wanted(&self) -> Result<Vec<String>, Fault> {
        let proposal = &self.proposal;
        match self.order.choice {
            Choice::AcceptHunks => Ok(proposal.texts_with(&proposal.check_ids(&self.order.hunks)?)),
            Choice::Edit => self.given(),
            _ => Ok(proposal.files.iter().map(|it| it.proposed.clone()).collect()),
        }
    }

    /// Returns the text of each file as the request gives it, else as proposed. Changes that an
    /// editor makes to line ends or the byte order mark are undone.
    pub(super) fn given(&self) -> Result<Vec<String>, Fault> {
        let files = &self.proposal.files;
        let mut texts: Vec<String> = files.iter().map(|it| it.proposed.clone()).collect();
        let mut seen = BTreeSet::new();
        for (path, text) in &self.order.files {
            if !seen.insert(path) {
                return Err(Fault::input(format!("{path} is listed twice"))
                    .hint("give one text for each file; nothing was written"));
            }
            let at = files.iter().position(|it| it.path == *path);
            let at = at.ok_or_else(|| {
                Fault::input(format!("{path} is not a file of {}", self.proposal.id))
                    .hint("edit other files separately; nothing was written")
            })?;
            texts[at] = with_ends_of(&files[at].proposed, text);
        }
        Ok(texts)
    }

    fn check_syntax(&self, texts: &[String]) -> Result<(), Fault> {
        self.proposal
            .files
            .iter()
            .zip(texts)
            .try_for_each(|(file, text)| refuse_new_errors(file, text))
    }

    async fn take(
        &mut self,
        open: &OpenDocuments,
        testing: Option<VerifyMode<'_>>,
    ) -> Result<Decided, Fault> {
        let texts = self.wanted()?;
        self.refuse_stale(&open().await?)?;
        self.check_syntax(&texts)?;
        let mut decided = self.decided();
        let mut note = self.order.note.clone();
        let reporter = testing.as_ref().map(|it| it.reporter.clone());
        let mut ran = Vec::new();
        let began = SystemTime::now();
        match testing {
            None => note = format!("without a test; {note}"),
            Some(testing) => {
                let tried = self.tried(&texts, testing).await?;
                decided.notes.extend(tried.notes);
                decided.tests = tried.tests;
                decided.fixed = tried.fixed;
                ran = tried.ran;
                if let Some(why) = tried.failed {
                    self.proposal.state = State::Failed;
                    self.proposal.add_history(State::Failed.as_str(), why.clone());
                    self.store.save(&self.proposal, self.lock)?;
                    self.store.journal(&self.proposal, &format!("not written: {why}"))?;
                    decided.notes.push(format!("nothing was written: {why}"));
                    return Ok(Decided { proposal: self.proposal.clone(), ..decided });
                }
                // Tests take their time, and the person may have edited files meanwhile.
                self.refuse_stale(&open().await?)?;
            }
        }
        let (edit, paths) = self.write(texts, note.trim_end_matches("; ").to_owned())?;
        // Results from the copy now hold for the project as well.
        let root = self.store.root();
        let text_of = Some(read_at(root, began, &paths));
        let reported = reporter.iter().flat_map(|it| ran.iter().map(move |test| (it, test)));
        reported.for_each(|(reporter, test)| reporter.emit(Progress::Test { root, test, text_of }));
        let rebased = self.bring_others(&paths, &open().await?)?;
        let proposal = self.proposal.clone();
        Ok(Decided { proposal, edit: Some(edit), paths, rebased, ..decided })
    }

    async fn tried(
        &self,
        texts: &[String],
        testing: VerifyMode<'_>,
    ) -> Result<Verification, Fault> {
        let verifier = Verifier::open(self.store.root(), self.store.root(), &testing).await?;
        let changed = self.proposal.files.iter().zip(texts);
        let changed = changed.map(|(file, text)| (file.path.clone(), text.as_str().into()));
        let proposal = &self.proposal;
        let targets = std::slice::from_ref(&proposal.test.id);
        let tried = verifier
            .verify(&changed.collect(), targets, &proposal.affected, &proposal.failing)
            .await;
        let left = verifier.close().await;
        let mut tried = tried?;
        tried.notes.extend(left);
        Ok(tried)
    }

    /// Writes all files at once. Returns the number of the edit and the written paths.
    fn write(&mut self, texts: Vec<String>, note: String) -> Result<(u64, Vec<String>), Fault> {
        let choice = self.order.choice;
        let files: Vec<ProposedFile> = (self.proposal.files.iter().zip(texts))
            .map(|(it, text)| {
                let proposed =
                    if choice == Choice::AcceptHunks { it.proposed.clone() } else { text.clone() };
                ProposedFile { path: it.path.clone(), base: Some(text), proposed }
            })
            .collect();
        let changes: Vec<Change> = (self.proposal.files.iter().zip(&files))
            .filter_map(|(before, after)| self.change(before, after.before()))
            .collect();
        if changes.is_empty() {
            return Err(
                Fault::input("that does not change anything").hint("decide `reject` instead")
            );
        }
        let root = self.store.root();
        let mut paths: Vec<String> = self
            .proposal
            .files
            .iter()
            .zip(&files)
            .filter(|(before, after)| before.base != after.base)
            .map(|(it, _)| it.path.clone())
            .collect();
        paths.dedup();
        let is_settled = files.iter().all(|it| it.base.as_deref() == Some(&it.proposed));
        let state = if is_settled { State::Accepted } else { State::Waiting };
        let (id, revision) = (&self.proposal.id, self.proposal.revision);
        let name = format!("{id}, revision {revision}, at {}", now());
        let what = choice.as_str().to_owned();
        let writing = PendingWrite { name: name.clone(), files, state, what, note };
        let apply = || edits::apply(root, &name, changes);
        let edit = carry_out(self.store, &mut self.proposal, self.lock, writing, apply)?;
        Ok((edit, paths))
    }

    /// Returns the change of one file; `None` if nothing changes.
    fn change(&self, file: &ProposedFile, text: &str) -> Option<Change> {
        let source = file.before().to_owned();
        let edits = TextEdits::between(&source, text);
        let path = self.store.root().join(&file.path);
        (!edits.is_empty()).then_some(Change { path, source, edits })
    }
}

fn listed(ids: &[usize]) -> String {
    ids.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// Checks that a path stays inside the project. A proposal's file could have been written by
/// anyone.
fn check_inside(root: &Path, path: &str) -> Result<(), Fault> {
    let plain = Path::new(path).components().all(|it| matches!(it, Component::Normal(_)));
    let link = disk::symlink_on_the_way(root, path);
    if plain && !path.is_empty() && link.is_none() {
        return Ok(());
    }
    let why = link.map_or_else(String::new, |it| format!(" ({} is a link)", it.display()));
    Err(Fault::input(format!("{path:?} is outside the project{why}; nothing was written"))
        .hint("request a new proposal of the fix"))
}

/// Makes an edit, and records before and after it what it does to a proposal. Returns the number of
/// the edit.
pub(super) fn carry_out(
    store: &Store,
    proposal: &mut Proposal,
    lock: &Lock,
    writing: PendingWrite,
    edit: impl FnOnce() -> Result<AppliedEdit, EditError>,
) -> Result<u64, Fault> {
    proposal.writing = Some(writing);
    store.save(proposal, lock)?;
    match edit() {
        Ok(made) => finish(store, proposal, made.id, lock).map(|()| made.id),
        Err(error) => {
            proposal.writing = None;
            // The next decision finds no such edit if this cannot be stored now.
            let _ = store.save(proposal, lock);
            // A file that changed after the last check, a moment ago.
            let is_stale = matches!(error, EditError::Changed { .. });
            let fault = Fault::from(error);
            Err(if is_stale { fault.kind(FaultKind::Stale) } else { fault })
        }
    }
}

/// Completes a write that a crash cut short: the edit was either made or not.
pub(super) fn recover_write(
    store: &Store,
    mut proposal: Proposal,
    lock: &Lock,
) -> Result<Proposal, Fault> {
    if let Some(writing) = &proposal.writing {
        match edits::find(store.root(), &writing.name)? {
            Some(edit) => finish(store, &mut proposal, edit, lock)?,
            None => {
                proposal.writing = None;
                store.save(&proposal, lock)?;
            }
        }
    }
    Ok(proposal)
}

/// Completes the writes of ended processes; returns all proposals.
pub(super) fn recover_writes(store: &Store, lock: &Lock) -> Result<Listed, Fault> {
    edits::recover(store.root())?;
    let mut listed = store.list()?;
    for proposal in &mut listed.proposals {
        *proposal = recover_write(store, proposal.clone(), lock)?;
    }
    Ok(listed)
}

/// Completes the writes of ended processes. A fix that its own process was to write and did not
/// write becomes stale: nobody was asked about it.
pub(super) fn recover_all(store: &Store, lock: &Lock) -> Result<(), Fault> {
    for mut proposal in recover_writes(store, lock)?.proposals {
        if proposal.is_abandoned() {
            proposal.state = State::Stale;
            let why = "the repair was stopped before it wrote this fix";
            proposal.add_history(State::Stale.as_str(), why);
            store.save(&proposal, lock)?;
        }
    }
    Ok(())
}

/// Records that a write was made.
fn finish(store: &Store, proposal: &mut Proposal, edit: u64, lock: &Lock) -> Result<(), Fault> {
    let before = proposal.clone();
    if let Some(said) = proposal.complete_write(edit) {
        store.journal(&before, &said)?;
        store.save(proposal, lock)?;
    }
    Ok(())
}
