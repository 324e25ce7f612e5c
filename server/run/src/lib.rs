//! Runs Python tests and says, as data, what happened. The only crate that starts test code.
//!
//! ```text
//! Request ──> Runner ──> scratch folder, child process under limits ──> pytest with our plugin
//!                │                                                           │ JSON lines on a private pipe
//!                └── verdict <── tally <── events <──────────────────────────┘
//! ```
//!
//! - [`Runner::run`] always gives a [`Report`]; every way a run can end is an [`Outcome`].
//! - Pass or fail comes from the exit status and the plugin's records together, never from text.
//! - The process group dies with the run, and so does what left the group but kept its environment. What isolation
//!   the local runner does not give is listed in every report ([`LimitStatus`]).
//! - [`python`] finds an interpreter or makes a virtual environment with pytest.
//! - [`frameworks`] detects other test frameworks and reads what their runs leave behind.
//!
//! This crate knows nothing of plans, symbols, models or editors.

mod escaped;
mod events;
mod frames;
pub mod frameworks;
mod junit;
mod limits;
mod process;
pub mod python;
mod report;
mod request;
mod runner;
mod scratch;
mod session;
mod streams;
mod tally;
mod verdict;

pub use crate::{
    junit::junit,
    report::{
        Activity, Comparison, Coverage, Failure, FileCoverage, Frame, LimitStatus, Missing,
        Outcome, Report, Stuck, TestOutcome, TestResult,
    },
    request::{Limits, Request, Tree},
    runner::{Config, Runner},
};
