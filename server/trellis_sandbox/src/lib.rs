//! Runs Python tests and says, as data, what happened. The only crate that starts test code.
//!
//! ```text
//! Request ──> Runner ──> pool ──> sandbox with a warm worker ──> a fork of it: pytest with our reporter
//!                │                                                     │ frames: records, output, the end
//!                └── verdict <── tally <── events <── session <────────┘
//! ```
//!
//! - [`Runner::run`] always gives a [`Report`]; every way a run can end is an [`Outcome`].
//! - Pass or fail comes from the exit status and the reporter's records together, never from text.
//! - Everything a run has started dies with it. Which limits hold on this machine, and which cannot, is listed in
//!   every report ([`LimitStatus`]).
//! - [`python`] finds an interpreter or makes a virtual environment with pytest.
//! - [`files`] reads files of folders nobody vouches for: nothing that never begins or never ends.
//! - [`frameworks`] detects other test frameworks and reads what their runs leave behind; the runner starts those too.
//!
//! This crate knows nothing of plans, symbols, models or editors.

mod running_sandbox;
mod command;
mod build_report;
mod config;
mod docker;
mod environment;
mod events;
pub mod files;
mod tracebacks;
pub mod frameworks;
mod junit;
mod limits;
mod outside_links;
mod local;
mod acquire;
mod worker_command;
mod backend;
mod path_replacement;
mod pool;
pub mod python;
mod report;
mod request;
mod runner;
mod sandbox;
mod session;
mod streams;
mod collector;
mod toolchain;
mod tree;
mod run_outcome;
mod deselected;
mod wire;
pub mod wording;
mod worker;

pub use crate::environment::{offline_environment, plain_environment};
pub use crate::{
    config::Config,
    docker::{Docker, ImageSpec, Progress as ImageProgress},
    junit::junit,
    local::Isolation,
    report::{
        Activity, Comparison, Coverage, Failure, FileCoverage, Frame, FunctionCoverage,
        LimitStatus, MissingName, Outcome, Report, StoppedAt, TestOutcome, TestResult,
    },
    request::{Limits, RaisedBy, Request, Tree},
    runner::{Runner, Totals},
};
