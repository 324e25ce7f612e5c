//! Tests of the repair of existing repositories, without a repository.

mod answers;
mod courses;
mod diagnostics;
mod failure_texts;
mod grouping;
mod questions;
mod unusual_answers;
