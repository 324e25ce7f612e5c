//! The review of an issue: asks for the decision, keeps the record of a change that waits, and leaves
//! out files that a person does not want.

use std::collections::BTreeSet;

use trellis_engine::issue::{Changes, Event, GateResult, lost};
use trellis_engine::{Decision, EditedFiles, TestRun};

use super::driver::{IssueRun, IssueServices};
use super::files::{is_test, targets};
use super::report;
use super::review::{Review, ReviewRequest, Reviewer, critical, needs_review};
use super::review_record::{self, ReviewedFile, WaitingReview};
use super::test_runner::with_packages;
use crate::fault::{Fault, FaultKind};

impl IssueRun<'_> {
    pub(super) async fn review(&mut self, history: &[String]) -> Result<Event, Fault> {
        self.log.doubts = self.doubts();
        // A person has seen what they edited.
        let loses = self.log.losses.all().next().is_some() && !self.work.record.edited;
        let is_decided = matches!(self.services.reviewer, Reviewer::Decided { .. });
        if !is_decided && !needs_review(self.order.mode, &self.log.doubts, loses) {
            let by = format!("mode {}", self.order.mode.as_str());
            return Ok(Event::Decided(Decision::Accept { by }));
        }
        self.record_review(None)?;
        loop {
            let Review { decision, leave_out } = self.replayed_or_reviewed().await?;
            let is_accepted = matches!(decision, Decision::Accept { .. });
            if is_accepted
                && !leave_out.is_empty()
                && let Some(why) = self.leave_out(&leave_out, history).await?
            {
                if let Reviewer::Terminal(_) = self.services.reviewer {
                    self.services.reporter.note(why);
                    continue;
                }
                self.wait_for_person()?;
                self.record_review(Some(why.clone()))?;
                return Ok(Event::NotMerged(why));
            }
            return self.decided(decision);
        }
    }

    /// Returns the decision of a person; a review that was sent back before the work was stopped is
    /// replayed.
    async fn replayed_or_reviewed(&mut self) -> Result<Review, Fault> {
        let tree = self.work.tree_of(self.work.tip());
        let mut earlier = self.work.record.sent_back.iter();
        let earlier = earlier.rfind(|(it, _)| tree.as_ref() == Some(it)).map(|it| it.1.clone());
        match earlier {
            Some(why) => Ok(Review::of(Decision::Reject { why })),
            None => self.reviewed(&tree).await,
        }
    }

    /// Asks the reviewer and records what they send back.
    async fn reviewed(&mut self, tree: &Option<String>) -> Result<Review, Fault> {
        let folder = self.work.root.display().to_string();
        let is_reviewed = |tip: &str| tree.is_some() && self.work.tree_of(tip) == *tree;
        let is_edited_from = |tip: &str| self.is_edited_from(tip, tree);
        let notes = self.log.notes();
        let notes: Vec<String> = self.log.doubts.iter().chain(&notes).cloned().collect();
        let shown = ReviewRequest {
            diff: &self.log.diff,
            is_same: &is_reviewed,
            is_edited_from: &is_edited_from,
            folder: &folder,
            branch: &self.work.branch(),
            notes: &notes,
        };
        let is_edited = || Ok(self.work.is_edited()?);
        let IssueServices { reviewer, reporter, control, .. } = self.services;
        let review = reviewer.review(&shown, reporter, &control.cancel, &is_edited).await?;
        if let (Decision::Reject { why }, Some(tree)) = (&review.decision, tree) {
            self.work.send_back(tree.clone(), why.clone())?;
        }
        Ok(review)
    }

    /// Returns whether the work is a commit and a person's edits since then, and nothing else.
    fn is_edited_from(&self, tip: &str, tree: &Option<String>) -> bool {
        self.work.edited_from.as_deref() == Some(tip) && tree.is_some() && *tree == self.adopted
    }

    fn decided(&mut self, mut decision: Decision) -> Result<Event, Fault> {
        match &mut decision {
            Decision::AcceptEdited(edit) => {
                let before = self.changes.clone();
                self.work.commit_user_edits(self.services.journal)?;
                self.adopt_user_edits()?;
                *edit = EditedFiles { files: self.changes.clone(), before };
            }
            Decision::NoReviewer => self.wait_for_person()?,
            // The record of an accepted change goes with its merge.
            Decision::Accept { .. } => {}
            _ => review_record::remove(&self.order.home, &self.order.name)?,
        }
        Ok(Event::Decided(decision))
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
        let files = self.work.changed_files()?.into_iter();
        let files = files.map(|it| ReviewedFile { path: it.path, lines: it.lines }).collect();
        let (passed, failed) = self.log.counts()[1].unwrap_or_default();
        let worktree = self.work.root.strip_prefix(&self.order.home).unwrap_or(&self.work.root);
        let context = self.words.context.code.iter().chain(&self.words.context.standards);
        let review = WaitingReview {
            version: review_record::VERSION,
            name: self.order.name.clone(),
            issue: self.order.id.clone(),
            title: report::title(self.order, &self.words),
            spec: self.words.lld.clone(),
            context: context.map(|it| it.0.clone()).collect(),
            branch: self.work.branch(),
            into: self.work.record.into.clone(),
            worktree: worktree.display().to_string(),
            base: self.work.record.base.clone(),
            tip: self.work.tip().to_owned(),
            files,
            passed,
            failed,
            passed_before: self.log.before,
            doubts: self.log.doubts.clone(),
            notes: self.log.notes(),
            refused,
            reports: self.log.reports.clone(),
            created_at: jiff::Timestamp::now().strftime("%FT%TZ").to_string(),
        };
        review.save(&self.order.home)
    }

    /// Restores files as they were before the work, if the tests pass without their changes. Returns
    /// the reason if nothing was changed.
    async fn leave_out(
        &mut self,
        paths: &BTreeSet<String>,
        history: &[String],
    ) -> Result<Option<String>, Fault> {
        let all: BTreeSet<String> =
            self.work.changed_files()?.into_iter().map(|it| it.path).collect();
        if let Some(other) = paths.difference(&all).next() {
            return Err(Fault::input(format!("{other:?} is not one of the changed files"))
                .kind(FaultKind::Stale)
                .hint("review the change again: its files are different by now"));
        }
        let left: Vec<&String> = all.difference(paths).collect();
        if left.is_empty() {
            return Ok(Some(
                "all files are left out, so there is nothing to merge: keep the change on its \
                 branch instead"
                    .to_owned(),
            ));
        }
        let names = paths.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        self.state("tests without files left out", &names)?;
        let commit = self.work.without(paths)?;
        let rest = self.changes.iter().filter(|it| !paths.contains(it.0));
        let rest: Changes = rest.map(|(path, text)| (path.clone(), text.clone())).collect();
        if let Some(why) = self.fails_at(&commit, &rest).await? {
            return Ok(Some(format!("without {names}, {why}; nothing was merged")));
        }
        if self.work.is_edited()? {
            return Ok(Some(
                "files were edited in the worktree meanwhile: review the change again; nothing \
                 was merged"
                    .to_owned(),
            ));
        }
        // A later start continues without the files.
        self.work.wait(self.fixes)?;
        let kept = self.work.leave_out(self.services.journal, &commit, paths)?;
        let kept = kept.map(|it| format!("; a copy is in {}", it.display())).unwrap_or_default();
        self.log.notes.push(format!("{names} was left out{kept}"));
        self.changes = rest;
        self.report(history)?;
        Ok(None)
    }

    /// Runs the tests of a commit; returns the reason if tests fail that have to pass. Tests that
    /// fail once may be flaky, and run again.
    async fn fails_at(&mut self, commit: &str, changes: &Changes) -> Result<Option<String>, Fault> {
        let before = self.before().await?;
        let there = self.work.checkout(self.services.journal, commit)?;
        let there = with_packages(there, &self.order.home)?;
        let mut failing = None;
        for _ in 0..2 {
            let new = self.ran_new(&there.root, &targets(changes)).await?;
            if let Some(new) = new.as_ref().filter(|it| !it.proves()) {
                failing = Some(failing_tests(new));
                continue;
            }
            let all = self.ran_at(&there.root, &Changes::new(), &[]).await?;
            if lost(&all, &before) == GateResult::Open {
                (self.log.new, self.log.all) = (new, Some(all));
                return Ok(None);
            }
            failing = Some(lost_tests(&all, &before));
        }
        Ok(failing)
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

/// Names the new tests that fail, and files whose tests cannot be collected.
fn failing_tests(new: &TestRun) -> String {
    let cases = new.cases.iter().filter(|it| !it.passed).map(|it| it.id.as_str());
    let files = new.collection.iter().map(|it| it.path.as_str()).filter(|it| !it.is_empty());
    match named(cases.chain(files)) {
        Some(names) => format!("the new tests fail: {names}"),
        None => format!("the new tests fail: {}", new.summary()),
    }
}

/// Names the tests that passed before and do not pass any more.
fn lost_tests(all: &TestRun, before: &[String]) -> String {
    let passes = |id: &&String| all.cases.iter().any(|it| it.passed && it.id == **id);
    let lost = before.iter().filter(|id| !passes(id)).map(String::as_str);
    format!("tests fail that passed before: {}", named(lost).unwrap_or_else(|| all.summary()))
}

/// Joins the first names, and counts the others; `None` without a name.
fn named<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<&str> = names.collect::<BTreeSet<_>>().into_iter().collect();
    let first = names[..names.len().min(NAMED)].join(", ");
    match names.len() {
        0 => None,
        count if count > NAMED => Some(format!("{first} and {} more", count - NAMED)),
        _ => Some(first),
    }
}

/// Maximum number of failing tests that a reason names.
const NAMED: usize = 5;
