//! Finds one fix of one failing test and stores it as a proposal: the repair loop for one group,
//! without an approver.

use std::path::PathBuf;
use std::time::Duration;

use futures_util::FutureExt as _;
use trellis_engine::FixWith;
use trellis_engine::approval::Mode;
use trellis_engine::repair::{FailedFix, Limits};

use super::report::GroupReport;
use super::{Approver, RepairRequest, WriteTarget, repair};
use crate::fault::{Exit, Fault, FaultKind};
use crate::job_control::JobControl;
use crate::models::ModelArgs;
use crate::proposals::{Choice, DecisionRequest, OpenTexts, Proposal, Store, decide};
use crate::reporter::Reporter;
use crate::sandbox::RAISED_BY;
use crate::sandbox::SandboxArgs;

/// Maximum number of fixes to try.
const ATTEMPTS: u32 = 3;
/// Maximum number of changed lines per file.
const LINES: usize = 50;

/// The failing test to fix, and the means.
pub struct Problem {
    /// The project's canonical folder.
    pub root: PathBuf,
    /// pytest's id of the failing test.
    pub test: String,
    /// Test files and folders to run in addition; empty for all tests.
    pub suite: Vec<String>,
    /// Test files that belong to all tests, whatever the project's settings name.
    pub also: Vec<String>,
    /// Other tests that are known to fail.
    pub failing: Vec<String>,
    /// The proposal that a person wants changed.
    pub revise: Option<RevisionRequest>,
    /// Time for trials of small edits before a model is asked; `None` for no trials.
    pub trials: Option<Duration>,
    pub model: ModelArgs,
    pub sandbox: SandboxArgs,
    /// Limit for one test.
    pub test_timeout: Duration,
    /// Limit for a whole test run; `None` for the usual one.
    pub run_timeout: Option<Duration>,
}

/// A person's request for another version of a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionRequest {
    /// Id of the proposal.
    pub fix: String,
    /// The person's words, for the model.
    pub words: String,
}

/// Looks for a fix and stores it as a pending proposal. A proposal that it revises is rejected then.
///
/// # Errors
///
/// The test passes, does not exist or is flaky; there is no model or sandbox; or no fix worked
/// (with the attempts).
pub async fn propose(
    problem: Problem,
    reporter: &Reporter,
    control: &JobControl,
) -> Result<Proposal, Fault> {
    let Problem { root, test, suite, also, failing, trials, revise, .. } = problem;
    let Problem { model, sandbox, test_timeout, run_timeout, .. } = problem;
    let store = Store::of(&root);
    let earlier = revise.as_ref().map(|it| unwanted(&store, it)).transpose()?;
    let order = RepairRequest {
        home: root.clone(),
        root,
        tests: vec![test.clone()],
        suite,
        also,
        failing,
        issue: revise.as_ref().map(|it| it.words.clone()),
        earlier: earlier.into_iter().collect(),
        limits: Limits { iterations: ATTEMPTS, candidates: 1 },
        most_lines: LINES,
        mode: Mode::Supervised,
        critical: Vec::new(),
        report: false,
        // Small edits know nothing of a person's words.
        trials: trials.filter(|_| revise.is_none()),
        fix_with: FixWith::OneReply,
        place: WriteTarget::WorkingTree,
        patch: None,
        commit: false,
        model,
        sandbox,
        test_timeout,
        run_timeout,
        raised_by: RAISED_BY,
    };
    let result = repair(&order, &Approver::Nobody, reporter, control).await?;
    match result.groups.iter().find_map(|it| it.waiting.as_ref()) {
        Some(fix) => {
            let found = store.get(fix)?;
            if let Some(it) = revise {
                replace(&store, &it, fix).await?;
            }
            Ok(found)
        }
        None => Err(none(&test, &result.groups)),
    }
}

/// Returns a proposal that a person wants changed, for the model.
fn unwanted(store: &Store, revision: &RevisionRequest) -> Result<FailedFix, Fault> {
    let proposal = store.get(&revision.fix)?;
    let why = format!("It passes its tests, but a person wants it changed: {}", revision.words);
    Ok(FailedFix { why, diff: proposal.diff() })
}

/// Rejects a proposal in favor of another one. One that was decided in the meantime stays as it is.
async fn replace(store: &Store, revision: &RevisionRequest, by: &str) -> Result<(), Fault> {
    let order = DecisionRequest {
        fix: revision.fix.clone(),
        revision: None,
        choice: Choice::Reject,
        hunks: Vec::new(),
        files: Vec::new(),
        note: format!("{by} replaces it: {}", revision.words),
    };
    let nothing_open = || async { Ok(OpenTexts::new()) }.boxed();
    match decide(store, &order, &nothing_open, None).await {
        Err(fault) if fault.kind != Some(FaultKind::Decided) => Err(fault),
        _ => Ok(()),
    }
}

fn none(test: &str, groups: &[GroupReport]) -> Fault {
    let attempts = groups.iter().flat_map(|it| &it.attempts);
    let tried: Vec<&str> = attempts.map(|it| it.what.as_str()).collect();
    if tried.is_empty() {
        let why = groups.iter().find_map(|it| it.given_up.clone()).unwrap_or_default();
        return Fault::unavailable(format!("there is no reply for {test}: {why}"))
            .hint("try again, or use another model; nothing was changed");
    }
    let count = tried.len();
    let message = format!("no fix was found for {test}; {count} were tried: {}", tried.join("; "));
    Fault::new(Exit::TestsFailed, message).kind(FaultKind::NoFix).hint(
        "nothing was changed; try another model, or check the places that `trellis \
             localize` shows",
    )
}
