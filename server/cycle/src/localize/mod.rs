//! Where the bug is: functions and lines ranked by what runs of the tests showed.
//!
//! Five signs, each between 0 and 1, are weighed in one table (`weights`); trials of small edits, where
//! there were any, decide over them. Equal evidence gives equal ranks.
//!
//! Ties are broken by, in this order: the higher spectrum, the stronger traceback, the shorter way from the
//! failing tests, the more recent change, the statement with more parts, the path, the line.

mod evidence;
mod rank;
mod signs;
mod spectrum;
mod trials;
mod weights;
mod why;
mod words;

pub use evidence::{Evidence, FileEvidence, Reached, TestEvidence};
pub use rank::{LineSuspect, Parts, Ranked, Ranking, rank};
pub use trials::Trial;
