//! Fuzz targets: what comes from outside, read through public interfaces, with statements that hold
//! for every input.
//!
//! A target is a function that panics where a statement does not hold. Its corpus is the folder of
//! its name below `fixtures/fuzz`: inputs to start from, and those that once failed. Two runners use
//! both: [`runner`] mutates inputs in an ordinary build; `fuzz-guided` is libFuzzer, which follows
//! the coverage of an instrumented build.

pub mod corpus;
pub mod memory;
pub mod mutation;
pub mod runner;
pub mod targets;

pub use targets::{TARGETS, Target};
