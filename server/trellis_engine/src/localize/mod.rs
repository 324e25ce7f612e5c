//! Fault localization: functions and lines ranked by evidence from test runs.
//!
//! Five signals, each between 0 and 1, are combined with the factors in `weights`; trials of small
//! edits, if there were any, take precedence over them. Equal evidence gives equal ranks.
//!
//! Ties are broken by, in this order: the higher spectrum, the stronger traceback, the shorter
//! distance from the failing tests, the more recent change, the statement with more parts, the
//! path, the line.

mod after_failure;
mod definitions;
mod evidence;
mod explanations;
mod function_score;
mod origins;
mod rank;
mod signals;
mod spectrum;
mod suspects;
mod trace;
mod trials;
mod weights;
mod words;

pub use after_failure::unusual_raises;
pub use evidence::{Evidence, FileEvidence, ReachedFunction, TestEvidence};
pub use rank::rank;
pub use suspects::{LineSuspect, RankedFunction, Ranking, ScoreParts};
pub use trace::{RaisedException, TestTrace, TracedCall};
pub use trials::{SmallRepair, Trial};
