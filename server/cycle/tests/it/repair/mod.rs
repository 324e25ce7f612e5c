//! Mending repositories that nobody planned, without a repository.

mod answers;
mod courses;
mod diagnostics;
mod grouping;
