//! What was made, brought onto the main branch: all that waits in one chain of commits behind one run of the tests, and one by
//! one where that does not pass. What git cannot merge the model is asked for, file by file.

use std::time::Instant;

use cycle::feature::Changes;
use plan::NodeIx;

use super::conflict::settle;
use super::told;
use crate::counsel::no_journal;
use crate::error::Fault;
use crate::implement::{Made, Tools, Trials, with_packages};
use crate::workspace::journal::Event;
use crate::workspace::landing::{Candidate, Checkout, Landed, Merge, land};
use crate::workspace::worktree::Worktree;

/// What became of a batch.
#[derive(Default)]
pub(super) struct Merged {
    pub(super) done: Vec<NodeIx>,
    pub(super) refused: Vec<(NodeIx, String)>,
}

/// Merges what passes; what does not stays on its branch.
pub(super) async fn merge(
    mut batch: Vec<(NodeIx, Made)>,
    tools: Tools<'_>,
    trials: &Trials<'_>,
) -> Result<Merged, Fault> {
    let mut out = Merged::default();
    if batch.len() > 1 && try_all(&mut batch, tools, trials).await? {
        out.done = batch.into_iter().map(|it| it.0).collect();
        return Ok(out);
    }
    for (task, mut made) in batch {
        match one(&mut made, tools, trials).await? {
            None => out.done.push(task),
            Some(why) => {
                made.work.end(&why)?;
                out.refused.push((task, why));
            }
        }
    }
    Ok(out)
}

/// Whether all of it was merged; else nothing was.
async fn try_all(
    batch: &mut [(NodeIx, Made)],
    tools: Tools<'_>,
    trials: &Trials<'_>,
) -> Result<bool, Fault> {
    let mut chain: Vec<Candidate> = Vec::new();
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
    let works: Vec<&Worktree> = batch.iter().map(|it| &it.1.work).collect();
    let Some(last) = chain.last() else { return Ok(true) };
    if failure(&works, &last.commit, tools, trials).await?.is_some() {
        return Ok(false);
    }
    let mut works: Vec<&mut Worktree> = batch.iter_mut().map(|it| &mut it.1.work).collect();
    Ok(land(&mut works, tools.journal, &chain)? == Landed::Done)
}

/// Why it was not merged, if it was not.
pub(super) async fn one(
    made: &mut Made,
    tools: Tools<'_>,
    trials: &Trials<'_>,
) -> Result<Option<String>, Fault> {
    loop {
        let candidate = match tested(made, tools, trials).await? {
            Ok(candidate) => candidate,
            Err(why) => return Ok(Some(why)),
        };
        match land(&mut [&mut made.work], tools.journal, std::slice::from_ref(&candidate))? {
            Landed::Done => return Ok(None),
            Landed::Moved => {}
            Landed::InTheWay(why) => return Ok(Some(format!("it cannot be merged: {why}"))),
        }
    }
}

/// A merge that passes all tests; else why there is none.
async fn tested(
    made: &Made,
    tools: Tools<'_>,
    trials: &Trials<'_>,
) -> Result<Result<Candidate, String>, Fault> {
    let clash = match made.work.candidate(&made.message)? {
        Merge::Clean(it) if !it.is_untested => return Ok(Ok(it)),
        Merge::Clean(it) => {
            let why = failure(&[&made.work], &it.commit, tools, trials).await?;
            return Ok(match why {
                None => Ok(it),
                Some(why) => Err(format!("merged, the tests do not pass: {why}")),
            });
        }
        Merge::Conflict(clash) => clash,
    };
    let (paths, branch) = (clash.paths().join(", "), made.work.branch());
    told(tools, &made.id, "merge conflict", &paths)?;
    let settled = settle(made, &clash, tools, trials).await?;
    if settled.is_ok() {
        told(tools, &made.id, "conflict settled", &paths)?;
    }
    Ok(settled.map_err(|why| {
        format!(
            "{paths}: what was merged meanwhile and {branch} have changed the same lines, and the model did not merge them ({why}); both are kept"
        )
    }))
}

/// A checkout of a commit, with the packages of the project.
pub(super) fn checked_out<'j>(
    work: &Worktree,
    commit: &str,
    tools: Tools<'j>,
) -> Result<Checkout<'j>, Fault> {
    with_packages(work.checkout(tools.journal, commit)?, work.home())
}

/// What fails of all tests of a commit that has these works, if something does; the run is written down with their branches.
async fn failure(
    works: &[&Worktree],
    commit: &str,
    tools: Tools<'_>,
    trials: &Trials<'_>,
) -> Result<Option<String>, Fault> {
    let Some(lead) = works.first() else { return Ok(None) };
    let began = Instant::now();
    let checkout = checked_out(lead, commit, tools)?;
    let run = trials.run(&checkout.root, &Changes::new(), &[]).await?;
    let branches: Vec<String> = works.iter().map(|it| it.branch()).collect();
    let event = Event::Stage {
        work: "tasks".to_owned(),
        stage: "tests of what the merge makes".to_owned(),
        reason: format!("{}: {}", branches.join(", "), run.summary()),
        milliseconds: Some(began.elapsed().as_millis() as u64),
    };
    tools.journal.log(event).map_err(no_journal)?;
    Ok((!run.is_clean()).then(|| run.summary()))
}
