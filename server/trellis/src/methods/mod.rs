//! Parameters and results of the `trellis/*` methods, and what answers them. The command line prints the same results.

pub(crate) mod files;
pub(crate) mod generate;
pub(crate) mod jobs;
pub(crate) mod runs;
