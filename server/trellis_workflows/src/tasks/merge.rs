//! Merges finished tasks into the main branch: all waiting tasks as one chain of commits behind one
//! test run, or one by one if that does not pass. Conflicts that git cannot merge go to the model,
//! file by file.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use trellis_engine::TestRun;
use trellis_engine::issue::{Changes, GateResult, check_no_regressions};
use trellis_plan::NodeIx;

use super::conflict::resolve;
use super::log_stage;
use super::step_error::StepError;
use crate::fault::Fault;
use crate::issue::{ReadyToMerge, Services, TestRunner, with_packages};
use crate::llm_session::no_journal;
use trellis_git::merge::{Merge, MergeCommit, MergeOutcome, fast_forward};
use trellis_git::worktree::Worktree;
use trellis_store::journal::Event;

/// Result of merging a batch.
#[derive(Default)]
pub(super) struct BatchResult {
    pub(super) done: Vec<NodeIx>,
    pub(super) refused: Vec<(NodeIx, String)>,
}

/// Merges tasks that pass; the others stay on their branches.
pub(super) async fn merge(
    mut batch: Vec<(NodeIx, ReadyToMerge)>,
    verifier: MergeTester<'_>,
) -> Result<BatchResult, Fault> {
    let mut out = BatchResult::default();
    if batch.len() > 1 && try_all(&mut batch, verifier).await? {
        out.done = batch.into_iter().map(|it| it.0).collect();
        return Ok(out);
    }
    for (task, mut made) in batch {
        match merge_one(&mut made, verifier).await {
            Ok(()) => out.done.push(task),
            Err(StepError::Refused(why)) => {
                made.work.mark_finished(&why)?;
                out.refused.push((task, why));
            }
            Err(StepError::Fault(fault)) => return Err(fault),
        }
    }
    Ok(out)
}

/// Merges the whole batch or nothing. Returns whether it was merged.
async fn try_all(
    batch: &mut [(NodeIx, ReadyToMerge)],
    verifier: MergeTester<'_>,
) -> Result<bool, Fault> {
    let mut chain: Vec<MergeCommit> = Vec::new();
    for (_, made) in batch.iter() {
        let old = match chain.last() {
            Some(last) => last.commit.clone(),
            None => made.work.target()?,
        };
        match made.work.candidate_on(old, &made.message)? {
            Merge::Clean(candidate) => chain.push(candidate),
            Merge::Conflict(_) => return Ok(false),
        }
    }
    let all: Vec<&ReadyToMerge> = batch.iter().map(|it| &it.1).collect();
    let (Some(first), Some(last)) = (chain.first(), chain.last()) else { return Ok(true) };
    if find_regression(&all, first.target(), &last.commit, verifier).await?.is_some() {
        return Ok(false);
    }
    let mut works: Vec<&mut Worktree> = batch.iter_mut().map(|it| &mut it.1.work).collect();
    Ok(fast_forward(&mut works, verifier.tools.journal, &chain)? == MergeOutcome::Merged)
}

/// Merges one task.
pub(super) async fn merge_one(
    made: &mut ReadyToMerge,
    verifier: MergeTester<'_>,
) -> Result<(), StepError> {
    loop {
        let candidate = test_merge(made, verifier).await?;
        match fast_forward(
            &mut [&mut made.work],
            verifier.tools.journal,
            std::slice::from_ref(&candidate),
        )? {
            MergeOutcome::Merged => return Ok(()),
            MergeOutcome::TargetMoved => {}
            MergeOutcome::Blocked(why) => {
                return Err(StepError::Refused(format!("it cannot be merged: {why}")));
            }
        }
    }
}

/// Returns a merge that passes all tests.
async fn test_merge(
    made: &ReadyToMerge,
    verifier: MergeTester<'_>,
) -> Result<MergeCommit, StepError> {
    let conflict = match made.work.candidate(&made.message)? {
        Merge::Clean(it) if !it.is_untested => {
            verifier.known.learn(&it.commit, made.passed.clone());
            return Ok(it);
        }
        Merge::Clean(it) => {
            let why = find_regression(&[made], it.target(), &it.commit, verifier).await?;
            return match why {
                None => Ok(it),
                Some(why) => {
                    let why = format!("the tests do not pass after the merge: {why}");
                    Err(StepError::Refused(why))
                }
            };
        }
        Merge::Conflict(conflict) => conflict,
    };
    let (paths, branch) = (conflict.paths().join(", "), made.work.branch());
    log_stage(verifier.tools, &made.id, "merge conflict", &paths)?;
    match resolve(made, &conflict, verifier).await {
        Ok(settled) => {
            log_stage(verifier.tools, &made.id, "conflict resolved", &paths)?;
            Ok(settled)
        }
        Err(StepError::Refused(why)) => Err(StepError::Refused(format!(
            "{paths}: {branch} changed the same lines as work merged in the meantime, and the \
             model could not merge them ({why}); both versions are kept"
        ))),
        Err(fault) => Err(fault),
    }
}

/// Returns what fails on a commit that adds these works to a target, if anything does. Tests that
/// pass on the target or passed with the works must pass. The run is journaled with its branches.
async fn find_regression(
    all: &[&ReadyToMerge],
    target: &str,
    commit: &str,
    verifier: MergeTester<'_>,
) -> Result<Option<String>, Fault> {
    let Some(lead) = all.first() else { return Ok(None) };
    let mut wanted = verifier.passing(&lead.work, target).await?;
    wanted.extend(all.iter().flat_map(|it| it.passed.iter().cloned()));
    let began = Instant::now();
    let run = verifier.run(&lead.work, commit).await?;
    let branches: Vec<String> = all.iter().map(|it| it.work.branch()).collect();
    let event = Event::Stage {
        work: "tasks".to_owned(),
        stage: "tests of the merged result".to_owned(),
        reason: format!("{}: {}", branches.join(", "), run.summary()),
        milliseconds: Some(began.elapsed().as_millis() as u64),
    };
    verifier.tools.journal.log(event).map_err(no_journal)?;
    match check_no_regressions(&run, &wanted) {
        GateResult::Open => {
            verifier.known.learn(commit, passed(&run));
            Ok(None)
        }
        GateResult::Shut(why) => Ok(Some(first_line(&why))),
    }
}

/// Test runs that check merges.
#[derive(Clone, Copy)]
pub(super) struct MergeTester<'a> {
    pub(super) tools: Services<'a>,
    pub(super) trials: &'a TestRunner<'a>,
    pub(super) known: &'a PassingCache,
}

impl MergeTester<'_> {
    /// Runs all tests on a commit.
    pub(super) async fn run(&self, work: &Worktree, commit: &str) -> Result<TestRun, Fault> {
        let checkout = work.checkout(self.tools.journal, commit)?;
        let checkout = with_packages(checkout, work.home())?;
        self.trials.run(&checkout.root, &Changes::new(), &[]).await
    }

    /// Returns the tests that pass on a commit, from the cache if possible.
    pub(super) async fn passing(
        &self,
        work: &Worktree,
        commit: &str,
    ) -> Result<Vec<String>, Fault> {
        if let Some(known) = self.known.of(commit) {
            return Ok(known);
        }
        let ids = passed(&self.run(work, commit).await?);
        self.known.learn(commit, ids.clone());
        Ok(ids)
    }
}

/// Tests that pass on the last commit that was tested.
#[derive(Default)]
pub(super) struct PassingCache(Mutex<Option<(String, Vec<String>)>>);

impl PassingCache {
    fn of(&self, commit: &str) -> Option<Vec<String>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().filter(|it| it.0 == commit).map(|it| it.1.clone())
    }

    pub(super) fn learn(&self, commit: &str, passed: Vec<String>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some((commit.to_owned(), passed));
    }
}

/// Returns the ids of the tests that passed in a run.
pub(super) fn passed(run: &TestRun) -> Vec<String> {
    run.cases.iter().filter(|it| it.passed).map(|it| it.id.clone()).collect()
}

pub(super) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
