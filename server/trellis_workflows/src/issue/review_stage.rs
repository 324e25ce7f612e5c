//! The review of an issue: asks for the decision, and keeps the record of a change that waits.

use trellis_engine::issue::Event;
use trellis_engine::{Decision, EditedFiles};

use super::driver::{IssueRun, IssueServices};
use super::files::is_test;
use super::report;
use super::review::{Review, ReviewRequest, Reviewer, critical, needs_review};
use super::review_record::{self, ReviewedFile, WaitingReview};
use crate::fault::Fault;

impl IssueRun<'_> {
    /// Returns the decision about the work, after files that a person leaves out are taken back.
    pub(super) async fn review(&mut self, history: &[String]) -> Result<Event, Fault> {
        self.log.doubts = self.doubts();
        if !self.is_reviewed() {
            let by = format!("mode {}", self.order.mode.as_str());
            return Ok(Event::Decided(Decision::Accept { by }));
        }
        self.record_review(None)?;
        loop {
            let review = self.replayed_or_reviewed().await?;
            let Some(why) = self.take_back(&review, history).await? else {
                return self.decided(review.decision);
            };
            // A person at the terminal can choose again.
            let Reviewer::Terminal(_) = self.services.reviewer else {
                return self.refuse(why);
            };
            self.services.reporter.note(why);
        }
    }

    /// Returns whether a person decides.
    fn is_reviewed(&self) -> bool {
        // A person has seen what they edited.
        let loses = self.log.losses.all().next().is_some() && !self.work.record.edited;
        let is_decided = matches!(self.services.reviewer, Reviewer::Decided { .. });
        is_decided || needs_review(self.order.mode, &self.log.doubts, loses)
    }

    /// Takes back the files that an accepted change is merged without. Returns the reason if that
    /// is refused.
    async fn take_back(
        &mut self,
        review: &Review,
        history: &[String],
    ) -> Result<Option<String>, Fault> {
        let is_accepted = matches!(review.decision, Decision::Accept { .. });
        if !is_accepted || review.leave_out.is_empty() {
            return Ok(None);
        }
        self.leave_out(&review.leave_out, history).await
    }

    /// Leaves the change waiting, with the reason that it was not merged.
    fn refuse(&mut self, why: String) -> Result<Event, Fault> {
        self.wait_for_person()?;
        self.record_review(Some(why.clone()))?;
        Ok(Event::NotMerged(why))
    }

    /// Returns the decision of a person; a review that was sent back before the work was stopped is
    /// replayed.
    async fn replayed_or_reviewed(&mut self) -> Result<Review, Fault> {
        let tree = self.work.tree_of(self.work.tip())?;
        let mut earlier = self.work.record.sent_back.iter();
        let earlier = earlier.rfind(|(it, _)| tree.as_ref() == Some(it)).map(|it| it.1.clone());
        match earlier {
            Some(why) => Ok(Review::of(Decision::Reject { why })),
            None => self.reviewed(&tree).await,
        }
    }

    /// Asks the reviewer and records what they send back.
    async fn reviewed(&mut self, tree: &Option<String>) -> Result<Review, Fault> {
        let review = self.asked(tree).await?;
        if let (Decision::Reject { why }, Some(tree)) = (&review.decision, tree) {
            self.work.send_back(tree.clone(), why.clone())?;
        }
        Ok(review)
    }

    async fn asked(&self, tree: &Option<String>) -> Result<Review, Fault> {
        let shown = ReviewRequest {
            diff: &self.log.diff,
            is_same: &|tip: &str| self.has_tree(tip, tree),
            is_edited_from: &|tip: &str| self.is_edited_from(tip, tree),
            folder: &self.work.root.display().to_string(),
            branch: &self.work.branch(),
            notes: &[self.log.doubts.clone(), self.log.notes()].concat(),
        };
        let is_edited = || Ok(self.work.current_files()?.is_edited());
        let IssueServices { reviewer, reporter, control, .. } = self.services;
        reviewer.review(&shown, reporter, &control.cancel, &is_edited).await
    }

    fn has_tree(&self, commit: &str, tree: &Option<String>) -> bool {
        tree.is_some() && self.work.tree_of(commit).is_ok_and(|it| it == *tree)
    }

    /// Returns whether the work is a reviewed commit and a person's edits since then, and nothing
    /// else. Each start commits the same files anew, so commits are compared by their files.
    fn is_edited_from(&self, tip: &str, tree: &Option<String>) -> bool {
        let from = self.work.edited_from.as_deref();
        let before = from.and_then(|it| self.work.tree_of(it).ok().flatten());
        self.has_tree(tip, &before) && tree.is_some() && *tree == self.adopted
    }

    fn decided(&mut self, mut decision: Decision) -> Result<Event, Fault> {
        match &mut decision {
            Decision::AcceptEdited(edit) => *edit = self.commit_edits()?,
            Decision::NoReviewer => self.wait_for_person()?,
            // The record of an accepted change goes with its merge.
            Decision::Accept { .. } => {}
            _ => review_record::remove(&self.order.home, &self.order.name)?,
        }
        Ok(Event::Decided(decision))
    }

    /// Commits the person's edits.
    fn commit_edits(&mut self) -> Result<EditedFiles, Fault> {
        let before = self.changes.clone();
        let files = self.work.current_files()?;
        self.work.commit_user_edits(self.services.journal, &files)?;
        self.adopt_user_edits()?;
        Ok(EditedFiles { files: self.changes.clone(), before })
    }

    fn wait_for_person(&mut self) -> Result<(), Fault> {
        self.log.waits = true;
        Ok(self.work.wait(self.fixes)?)
    }

    /// Writes the record of the change, unless the caller merges it.
    pub(super) fn record_review(&self, refused: Option<String>) -> Result<(), Fault> {
        if !self.merges {
            return Ok(());
        }
        let review = WaitingReview { refused, ..self.waiting_review()? };
        review.save(&self.order.home)
    }

    /// Describes the change as it waits.
    fn waiting_review(&self) -> Result<WaitingReview, Fault> {
        let (order, words, work, log) = (self.order, &self.words, &self.work, &self.log);
        let (passed, failed) = log.counts()[1].unwrap_or_default();
        let worktree = work.root.strip_prefix(&order.home).unwrap_or(&work.root);
        let context = words.context.code.iter().chain(&words.context.standards);
        let files = work.changed_files()?.into_iter();
        Ok(WaitingReview {
            version: review_record::VERSION,
            name: order.name.clone(),
            issue: order.id.clone(),
            title: report::title(order, words),
            spec: words.lld.clone(),
            context: context.map(|it| it.0.clone()).collect(),
            branch: work.branch(),
            into: work.record.into.clone(),
            worktree: worktree.display().to_string(),
            base: work.record.base.clone(),
            tip: work.tip().to_owned(),
            files: files.map(|it| ReviewedFile { path: it.path, lines: it.lines }).collect(),
            passed,
            failed,
            passed_before: log.before,
            doubts: log.doubts.clone(),
            notes: log.notes(),
            refused: None,
            reports: log.reports.clone(),
            created_at: jiff::Timestamp::now().strftime("%FT%TZ").to_string(),
        })
    }

    /// Returns what a person should know before they approve.
    fn doubts(&self) -> Vec<String> {
        let mut out = self.log.twins.clone();
        out.extend(self.log.losses.all().cloned());
        out.extend(critical(self.changes.keys()));
        let old =
            self.changes.keys().filter(|it| is_test(it) && self.ground.root.join(it).exists());
        out.extend(old.map(|it| format!("{it} existed before and is changed")));
        out.extend(self.log.linted.doubts.iter().cloned());
        out
    }
}
