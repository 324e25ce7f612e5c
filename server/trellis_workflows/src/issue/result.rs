//! The result of an issue that ended, and what is pushed to a remote.

use trellis_engine::Outcome;
use trellis_engine::approval::Mode;
use trellis_sandbox::Totals;

use super::IssueRequest;
use super::driver::IssueServices;
use super::report::{self, Log};
use crate::fault::{Exit, Fault, explained};
use crate::models;
use crate::timing::Timing;
use trellis_git::forge::{self, Forge, Pushed, UnmergedBranch};
use trellis_git::worktree::{Worktree, repository};

/// Outcome of an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueOutcome {
    Merged,
    NeedsHuman,
    /// The work stays on its branch, as a person decided.
    Left,
    Failed,
    /// Nothing was done, as requested.
    Planned,
}

/// Result of an issue.
#[derive(Clone, Debug)]
pub struct IssueReport {
    pub outcome: IssueOutcome,
    /// Exit code of the command line.
    pub exit_code: u8,
    /// True if it passed every gate and needs a decision.
    pub waits: bool,
    /// Reason that it is not merged.
    pub reason: Option<String>,
    pub issue: String,
    /// Branch of the work, until it is merged.
    pub branch: Option<String>,
    /// Folder of the project in the worktree, until it is merged.
    pub worktree: Option<String>,
    /// Last commit of the branch.
    pub tip: Option<String>,
    /// Merged commit.
    pub commit: Option<String>,
    /// Changed files, relative to the project's folder.
    pub files: Vec<String>,
    /// Unified diff of the change.
    pub diff: String,
    /// Reasons against the change, as sentences.
    pub doubts: Vec<String>,
    /// Failed attempts, in order.
    pub history: Vec<String>,
    /// Number of tests that passed before the work.
    pub passed_before: usize,
    /// Results of the new tests; `None` if they did not run.
    pub new_tests: Option<TestTotals>,
    /// Results of all tests; `None` if they did not run.
    pub all_tests: Option<TestTotals>,
    /// Folder with both reports, relative to the project's.
    pub reports: Option<String>,
    pub pushed: Vec<Pushed>,
    /// Description of what would be done, and the first prompt.
    pub plan: Option<String>,
    /// US dollars, as far as prices are known.
    pub usd: Option<f64>,
    /// Tokens in and out.
    pub tokens: Option<u64>,
    pub time: Timing,
    /// Further notes, as sentences.
    pub notes: Vec<String>,
    /// Totals of the test runs.
    pub tested: Totals,
}

/// Number of tests of a run by result.
#[derive(Clone, Copy, Debug)]
pub struct TestTotals {
    pub passed: usize,
    pub failed: usize,
}

impl IssueReport {
    pub fn of(order: &IssueRequest, outcome: IssueOutcome, log: Log) -> IssueReport {
        let [new, all] =
            log.counts().map(|it| it.map(|(passed, failed)| TestTotals { passed, failed }));
        let notes = log.notes();
        IssueReport {
            outcome,
            exit_code: 0,
            waits: log.waits,
            reason: None,
            issue: order.id.clone(),
            branch: None,
            worktree: None,
            tip: None,
            commit: log.commit,
            files: log.paths,
            diff: log.diff,
            doubts: log.doubts,
            history: Vec::new(),
            passed_before: log.before,
            new_tests: new,
            all_tests: all,
            reports: log.reports,
            pushed: Vec::new(),
            plan: None,
            usd: log.spent.map(|it| it.usd),
            tokens: log.spent.map(|it| it.tokens),
            time: Timing::default(),
            notes,
            tested: log.tested,
        }
    }

    /// Returns the result of a merge made by an earlier call that was killed before it reported.
    pub fn merged_before(order: &IssueRequest, commit: String) -> IssueReport {
        let note = "an earlier call merged it; choose another name for more work on it";
        IssueReport {
            commit: Some(commit),
            notes: vec![note.to_owned()],
            ..IssueReport::of(order, IssueOutcome::Merged, Log::default())
        }
    }

    pub fn planned(order: &IssueRequest, plan: String) -> IssueReport {
        IssueReport {
            plan: Some(plan),
            ..IssueReport::of(order, IssueOutcome::Planned, Log::default())
        }
    }
}

/// Records the outcome of the work and converts it into a result.
pub(super) fn ended(
    order: &IssueRequest,
    mut work: Worktree,
    log: Log,
    end: Outcome,
    history: &[String],
) -> Result<IssueReport, Fault> {
    let (outcome, reason, exit) = match &end {
        Outcome::Passed => (IssueOutcome::Merged, None, Exit::Done),
        Outcome::Deferred => {
            (IssueOutcome::Left, Some("it was left on its branch".to_owned()), Exit::NeedsHuman)
        }
        Outcome::Failed { reason } | Outcome::Skipped { reason } => {
            (IssueOutcome::Failed, Some(reason.clone()), Exit::TestsFailed)
        }
        Outcome::NeedsHuman { reason } => {
            let is_unattended = order.mode == Mode::Autonomous
                && log.commit.is_none()
                && !log.conflicts
                && !log.waits;
            let exit = if is_unattended { Exit::TestsFailed } else { Exit::NeedsHuman };
            (IssueOutcome::NeedsHuman, Some(reason.clone()), exit)
        }
    };
    // Work that waits for a decision, for a model or for a merge can resume. All other ended work
    // starts anew unless a person edits it.
    let waits = matches!(end, Outcome::Failed { .. } | Outcome::Skipped { .. } | Outcome::Passed)
        || log.waits
        || log.conflicts;
    if !waits {
        work.mark_finished(reason.as_deref().unwrap_or("ended"))?;
    }
    let is_there = outcome != IssueOutcome::Merged;
    Ok(IssueReport {
        exit_code: exit as u8,
        reason,
        branch: is_there.then(|| work.branch()),
        worktree: is_there.then(|| work.root.display().to_string()),
        tip: is_there.then(|| work.tip().to_owned()),
        history: history.to_vec(),
        ..IssueReport::of(order, outcome, log)
    })
}

/// Opens the remote that the request names.
pub(super) fn forge<'a>(
    order: &IssueRequest,
    services: IssueServices<'a>,
) -> Result<Option<Forge<'a>>, Fault> {
    let Some(wanted) = &order.push else { return Ok(None) };
    let IssueServices { reporter, control, journal, .. } = services;
    let services = forge::Services {
        journal,
        note: Box::new(|text| reporter.note(text)),
        explain: explained,
        cancel: &control.cancel,
    };
    let settings = models::config(&order.home)?.forge;
    let git = repository(&order.home)?;
    Ok(Some(Forge::open(wanted, &order.home, git, settings, services)?))
}

/// Pushes the result: the merge, or the branch if a person has to review it.
pub(super) async fn push(
    forge: &Forge<'_>,
    order: &IssueRequest,
    it: &IssueReport,
    into: &str,
    message: &str,
) {
    match (it.outcome, &it.branch) {
        (IssueOutcome::Merged, _) => forge.push_pending().await,
        (IssueOutcome::NeedsHuman | IssueOutcome::Left, Some(branch)) => {
            let report = report::written(&order.home, it.reports.as_deref());
            let reason = it
                .reason
                .as_deref()
                .unwrap_or("look at the change, then approve it or request changes");
            forge
                .push_for_review(&UnmergedBranch { branch, into, message, reason, report: &report })
                .await;
        }
        _ => {}
    }
}
