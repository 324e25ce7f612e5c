//! Finds one fix of one failing test and stores it as a proposal: the repair loop for one group,
//! without an approver.

use std::path::PathBuf;
use std::time::Duration;

use trellis_engine::FixWith;
use trellis_engine::approval::Mode;
use trellis_engine::repair::Limits;

use super::report::GroupReport;
use super::{Approver, RepairRequest, WriteTarget, repair};
use crate::fault::{Exit, Fault, FaultKind};
use crate::job_control::JobControl;
use crate::models::ModelArgs;
use crate::proposals::{Proposal, Store};
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
    pub model: ModelArgs,
    pub sandbox: SandboxArgs,
    /// Limit for one test.
    pub test_timeout: Duration,
    /// Limit for a whole test run; `None` for the usual one.
    pub run_timeout: Option<Duration>,
}

/// Looks for a fix and stores it as a pending proposal.
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
    let Problem { root, test, suite, also, failing, model, sandbox, test_timeout, run_timeout } =
        problem;
    let order = RepairRequest {
        home: root.clone(),
        root,
        tests: vec![test.clone()],
        suite,
        also,
        failing,
        issue: None,
        earlier: Vec::new(),
        limits: Limits { iterations: ATTEMPTS, candidates: 1 },
        most_lines: LINES,
        mode: Mode::Supervised,
        critical: Vec::new(),
        report: false,
        trials: None,
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
        Some(fix) => Store::of(&order.root).get(fix),
        None => Err(none(&test, &result.groups)),
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
