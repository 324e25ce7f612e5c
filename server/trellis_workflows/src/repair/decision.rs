//! Decides whether a fix stays, and translates a person's decision for the loop.

use trellis_engine::approval::{CRITICAL, Mode, review_reason};
use trellis_engine::repair::{Decision, Event, ProposalDecision};

use super::WriteTarget;
use super::approver::Verdict;
use super::driver::{RepairRun, lost};
use super::evaluate::{Candidate, Evaluation};
use crate::fault::{Fault, FaultKind};
use crate::proposals::{Proposal, State, Store};

impl RepairRun<'_> {
    pub(super) async fn decide(
        &mut self,
        candidate: usize,
        iteration: u32,
    ) -> Result<Event, Fault> {
        let Some(work) = &self.work else { return Ok(Event::NoReply(lost())) };
        let Some(it) = work.candidates.get(candidate).cloned() else {
            return Ok(Event::NoReply(lost()));
        };
        self.artifacts.choose(work.numbers.get(candidate).copied());
        let Some(why) = self.reason(&it, iteration) else {
            return Ok(Event::Decided(Decision::Keep));
        };
        let mut proposal = it.proposal.clone();
        proposal.reason = format!("{} ({why})", proposal.reason);
        let verdict = self.person.decide(
            &self.order.root,
            proposal,
            &why,
            self.reporter,
            &self.control.cancel,
        );
        self.apply_decision(verdict.await?, candidate).await
    }

    /// Returns the reason that a fix needs a review, if it does.
    fn reason(&self, it: &Candidate, iteration: u32) -> Option<String> {
        if self.order.place != WriteTarget::WorkingTree {
            return None;
        }
        let paths: Vec<&str> = it.proposal.files.iter().map(|it| it.path.as_str()).collect();
        let own = self.order.critical.iter().map(String::as_str);
        let critical: Vec<&str> = CRITICAL.into_iter().chain(own).collect();
        let overfitted = || {
            let is_asked = self.order.mode == Mode::Threshold && it.merit.is_suspicious();
            is_asked.then(|| "it looks tailored to its tests".to_owned())
        };
        review_reason(self.order.mode, iteration, it.confidence(), &paths, &critical)
            .or_else(overfitted)
    }

    /// Translates a person's decision into an event of the loop.
    async fn apply_decision(&mut self, verdict: Verdict, candidate: usize) -> Result<Event, Fault> {
        let Some(work) = &mut self.work else { return Ok(Event::NoReply(lost())) };
        match verdict {
            Verdict::Keep => Ok(Event::Decided(Decision::Keep)),
            Verdict::Edited(files) => {
                let texts = files.into_iter().map(|it| (it.path, it.proposed)).collect();
                let (group, mut notes) = (work.group.clone(), Vec::new());
                let files = self.files()?;
                let outcome =
                    self.evaluator(&group, &files, 0).evaluate(&texts, &mut notes).await?;
                self.artifacts.notes.extend(notes);
                match (outcome, &mut self.work) {
                    (Evaluation::Passes(it), Some(work)) => {
                        work.candidates[candidate] = *it;
                        Ok(Event::Decided(Decision::Keep))
                    }
                    (Evaluation::Fails { why, .. }, Some(work)) => {
                        self.reporter.note(format_args!("  your edit does not work: {why}"));
                        work.repair.earlier.push(format!("a person's edit: {why}"));
                        self.artifacts.choose(None);
                        Ok(Event::Decided(Decision::Reject { why }))
                    }
                    (_, None) => Ok(Event::NoReply(lost())),
                }
            }
            Verdict::Rejected(why) => {
                let diff = work.candidates.get(candidate).map(|it| it.proposal.diff());
                let said = if why.is_empty() { "without a reason" } else { &why };
                work.repair.earlier.push(rejection(said, &diff.unwrap_or_default()));
                self.artifacts.rejected(said);
                Ok(Event::Decided(Decision::Reject { why }))
            }
            Verdict::Waits(fix) => {
                if !self.person.is_waiting_editor() {
                    self.reporter.note(format_args!("  {fix} needs your review"));
                }
                self.pending.extend(self.work.take().map(|work| (fix.clone(), work)));
                Ok(Event::Decided(Decision::Waits(fix)))
            }
            Verdict::Skip => Ok(Event::Decided(Decision::Skip)),
            Verdict::Stop => Ok(Event::Decided(Decision::Stop)),
        }
    }

    /// Handles a decision about a waiting fix. If it was accepted, the fix is in the tree already.
    pub(super) async fn handle_decision(&mut self, wait: bool) -> Result<Event, Fault> {
        let ids: Vec<String> = self.pending.iter().map(|it| it.0.clone()).collect();
        let (root, cancel) = (&self.order.root, &self.control.cancel);
        let Some(proposal) = self.person.next_decided(root, &ids, wait, cancel).await? else {
            return Ok(Event::ProposalDecided(None));
        };
        let place = self.pending.iter().position(|it| it.0 == proposal.id);
        let Some((fix, mut work)) = place.map(|it| self.pending.remove(it)) else {
            return Ok(Event::ProposalDecided(None));
        };
        self.artifacts.take_up(&work.group);
        if proposal.state == State::Accepted {
            self.uncommitted.add(&proposal)?;
            self.artifacts.kept(&proposal);
            return Ok(Event::ProposalDecided(Some((fix, ProposalDecision::Accepted))));
        }
        let why = proposal.history.last().map(|it| it.note.clone()).unwrap_or_default();
        let said = if why.is_empty() { "without a reason" } else { &why };
        work.repair.earlier.push(rejection(said, &proposal.diff()));
        self.artifacts.rejected(said);
        work.candidates.clear();
        work.numbers.clear();
        self.rejected.push(work);
        Ok(Event::ProposalDecided(Some((fix, ProposalDecision::Rejected))))
    }

    pub(super) async fn write(&mut self, candidate: usize) -> Result<Event, Fault> {
        let work = self.work.as_ref();
        let Some(it) = work.and_then(|it| it.candidates.get(candidate)).cloned() else {
            return Ok(Event::NoReply(lost()));
        };
        let mut proposal = it.proposal;
        if self.order.place != WriteTarget::WorkingTree {
            let texts = proposal.files.iter();
            let texts = texts.map(|it| (it.path.clone(), it.proposed.as_str().into()));
            self.verifier.kept.extend(texts);
            self.artifacts.kept(&proposal);
            return Ok(Event::Written);
        }
        let store = Store::of(&self.order.root);
        store.put(&mut proposal).await?;
        self.uncommitted.add(&proposal)?;
        match self.person.write(&store, &proposal, &self.control.cancel).await {
            Ok(written) => {
                self.reporter.note(format_args!("  kept {}: {}", written.id, title_of(&written)));
                self.artifacts.kept(&written);
                Ok(Event::Written)
            }
            Err(fault) if fault.kind == Some(FaultKind::Stale) => {
                self.reporter.note(format_args!("  {}", fault.message));
                self.uncommitted.take_back()?;
                Ok(Event::Stale(fault.message))
            }
            Err(fault) => Err(fault),
        }
    }
}

/// Returns the text about a rejected fix for the next request.
fn rejection(said: &str, diff: &str) -> String {
    format!("a person rejected this one, {said}\n{diff}")
}

fn title_of(proposal: &Proposal) -> String {
    let paths: Vec<&str> = proposal.files.iter().map(|it| it.path.as_str()).collect();
    paths.join(", ")
}
