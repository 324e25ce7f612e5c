//! Tests of the implementation of an issue, without a project.

mod answers;
mod conflicts;
mod contexts;
mod courses;
mod gates;
mod losses;
mod questions;
mod shown;
mod unusual_answers;
