//! Decides whether a fix stays, and translates a person's decision for the loop.

use trellis_engine::approval::{CRITICAL, Mode, review_reason};
use trellis_engine::repair::{Event, FailedFix, ProposalCheck, ProposalDecision, Waiting};
use trellis_engine::{Decision, EditedFiles};

use super::WriteTarget;
use super::active_group::ActiveGroup;
use super::driver::{RepairRun, lost};
use super::evaluate::{Candidate, Evaluation};
use crate::fault::{Fault, FaultKind};
use crate::proposals::{Proposal, State, Store};

impl RepairRun<'_> {
    pub(super) async fn decide(
        &mut self,
        mut work: ActiveGroup,
        candidate: usize,
        iteration: u32,
    ) -> Result<Event<ActiveGroup>, Fault> {
        let it = work.candidate(candidate)?;
        self.artifacts.choose(Some(it.attempt));
        let doubt = work.doubt_of(it).cloned();
        let Some(why) = doubt.or_else(|| self.reason(it, iteration)) else {
            let decision = Decision::Accept { by: format!("mode {}", self.order.mode.as_str()) };
            return Ok(Event::Decided { work, decision });
        };
        let mut proposal = it.proposal.clone();
        proposal.reason = format!("{} ({why})", proposal.reason);
        let (root, cancel) = (&self.order.root, &self.control.cancel);
        let decision = self.person.decide(root, proposal, &why, self.reporter, cancel).await?;
        let decision = self.apply_decision(decision, &mut work, candidate).await?;
        Ok(Event::Decided { work, decision })
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

    /// Records a person's decision. An edit of theirs is tested, and is accepted or rejected by the
    /// result.
    async fn apply_decision(
        &mut self,
        decision: Decision,
        work: &mut ActiveGroup,
        candidate: usize,
    ) -> Result<Decision, Fault> {
        match decision {
            Decision::AcceptEdited(edit) => self.test_edit(edit, work, candidate).await,
            Decision::Reject { why } => {
                let diff = work.candidate(candidate)?.proposal.diff();
                self.record_rejection(work, &why, &diff);
                Ok(Decision::Reject { why })
            }
            Decision::Defer { proposal } => {
                if !self.person.is_waiting_editor() {
                    self.reporter.note(format_args!("  {proposal} needs your review"));
                }
                Ok(Decision::Defer { proposal })
            }
            decision => Ok(decision),
        }
    }

    async fn test_edit(
        &mut self,
        edit: EditedFiles,
        work: &mut ActiveGroup,
        candidate: usize,
    ) -> Result<Decision, Fault> {
        let mut notes = Vec::new();
        let files = self.files()?;
        let evaluator = self.evaluator(&work.group, &files, 0);
        let evaluation = evaluator.evaluate(&edit.files, &mut notes).await?;
        self.artifacts.notes.extend(notes);
        match evaluation {
            Evaluation::Passes(it) => {
                let kept = work.candidates.get_mut(candidate).ok_or_else(lost)?;
                *kept = Candidate { attempt: kept.attempt, ..*it };
                Ok(Decision::Accept { by: "you, after an edit".to_owned() })
            }
            Evaluation::Fails { why, .. } => {
                self.reporter.note(format_args!("  your edit does not work: {why}"));
                let why_not = format!("a person's edit of it: {why}");
                work.repair.earlier.push(FailedFix { why: why_not, diff: String::new() });
                self.artifacts.choose(None);
                Ok(Decision::Reject { why })
            }
        }
    }

    /// Records a rejected fix, also for the next request.
    fn record_rejection(&mut self, work: &mut ActiveGroup, why: &str, diff: &str) {
        let why = if why.is_empty() { "without a reason" } else { why };
        let rejected = format!("A person rejected this one: {why}.");
        work.repair.earlier.push(FailedFix { why: rejected, diff: diff.to_owned() });
        self.artifacts.rejected(why);
    }

    /// Looks for a decision about a waiting fix. If one was accepted, it is in the tree already.
    pub(super) async fn check_proposals(
        &mut self,
        mut waiting: Vec<Waiting<ActiveGroup>>,
        wait: bool,
    ) -> Result<Event<ActiveGroup>, Fault> {
        let ids: Vec<String> = waiting.iter().map(|it| it.proposal.clone()).collect();
        let (root, cancel) = (&self.order.root, &self.control.cancel);
        let proposal = self.person.next_decided(root, &ids, wait, cancel).await?;
        let place = |it: &Proposal| waiting.iter().position(|known| known.proposal == it.id);
        let found = proposal.and_then(|it| Some((place(&it)?, it)));
        let Some((place, proposal)) = found else {
            return Ok(Event::ProposalsChecked(ProposalCheck { waiting, decided: None }));
        };
        let mut work = waiting.remove(place).work;
        let decision = self.take_decision(&mut work, &proposal)?;
        let decided = Some((work, decision));
        Ok(Event::ProposalsChecked(ProposalCheck { waiting, decided }))
    }

    fn take_decision(
        &mut self,
        work: &mut ActiveGroup,
        proposal: &Proposal,
    ) -> Result<ProposalDecision, Fault> {
        self.artifacts.take_up(&work.group);
        if proposal.state == State::Accepted {
            self.uncommitted.add(proposal)?;
            self.artifacts.kept(proposal);
            return Ok(ProposalDecision::Accepted);
        }
        let why = proposal.history.last().map(|it| it.note.as_str()).unwrap_or_default();
        self.record_rejection(work, why, &proposal.diff());
        work.candidates.clear();
        Ok(ProposalDecision::Rejected)
    }

    pub(super) async fn write(
        &mut self,
        work: ActiveGroup,
        candidate: usize,
    ) -> Result<Event<ActiveGroup>, Fault> {
        let mut proposal = work.candidate(candidate)?.proposal.clone();
        if self.order.place != WriteTarget::WorkingTree {
            let texts = proposal.files.iter();
            let texts = texts.map(|it| (it.path.clone(), it.proposed.as_str().into()));
            self.verifier.kept.extend(texts);
            self.artifacts.kept(&proposal);
            return Ok(Event::Written);
        }
        let store = Store::of(&self.order.root);
        proposal.write_by_itself();
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
                Ok(Event::Stale { work, why: fault.message })
            }
            Err(fault) => Err(fault),
        }
    }
}

fn title_of(proposal: &Proposal) -> String {
    let paths: Vec<&str> = proposal.files.iter().map(|it| it.path.as_str()).collect();
    paths.join(", ")
}
