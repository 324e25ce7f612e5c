//! A piece of work that is told in words, without a project.

mod answers;
mod conflicts;
mod contexts;
mod courses;
mod gates;
mod losses;
mod questions;
mod shown;
