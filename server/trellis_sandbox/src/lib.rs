//! Runs a project's tests in a sandbox and reports the result as data. No other crate starts test
//! code.
//!
//! ```text
//! Request ──> Runner ──> pool ──> sandbox with a warm worker ──> a fork: pytest with our reporter
//!               │                     frames: records, output, the end │
//!               └── Report <── run_outcome <── collector <── session <─┘
//! ```
//!
//! - [`Runner::run`] always returns a [`Report`]; every way a run can end is an [`Outcome`].
//! - The exit status and the reporter's records together decide between pass and fail, never text.
//! - All processes of a run end with it. Every report lists which limits hold on this machine and
//!   which cannot ([`LimitStatus`]).
//! - [`error`] has the reasons for which a sandbox cannot be opened or a test cannot be run.
//! - [`python`] finds an interpreter or makes a virtual environment with pytest.
//! - [`files`] reads files from untrusted folders: regular files only, so that no read blocks or
//!   runs without end.
//! - [`frameworks`] detects other test frameworks and parses the output of their runs; the runner
//!   starts those too.
//!
//! This crate knows nothing of plans, symbols, models or editors.

mod acquire;
mod attempt;
mod backend;
mod build_report;
mod collector;
mod command;
mod config;
mod deselected;
mod docker;
pub mod error;
mod events;
pub mod frameworks;
mod junit;
mod local;
mod outside_links;
mod path_replacement;
mod pool;
pub mod python;
mod recorded_run;
mod report;
mod request;
mod resource_limits;
mod run_outcome;
mod runner;
mod running_sandbox;
mod sandbox;
mod session;
mod session_scope;
mod streams;
pub mod test_ids;
mod toolchain;
mod tracebacks;
mod traces;
mod tree;
mod trials;
mod wire;
mod worker;
mod worker_command;

pub use crate::{
    config::Config,
    docker::{Docker, ImageSpec, OpenedEngines, Progress as ImageProgress, Variables},
    junit::junit,
    local::Isolation,
    recorded_run::read_recorded_run,
    report::{
        Activity, Comparison, Coverage, Execution, Failure, FileCoverage, Frame, FunctionCoverage,
        LimitStatus, MissingName, Outcome, RaisedException, Report, StoppedAt, Subtest,
        TestExecution, TestOutcome, TestResult, TestTrace, TracedCall, TracedValue,
    },
    request::{Limits, RaisedBy, Request, Tree},
    runner::{RunProgress, Runner, Totals},
    session_scope::SessionScope,
    trials::{
        PlannedEdit, PlannedFile, PlannedTest, RaisingLine, TrialEnd, TrialOutcome, TrialPlan,
        TrialResult, TrialTest,
    },
};
