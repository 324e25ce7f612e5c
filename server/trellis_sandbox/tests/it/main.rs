//! Real runs of real pytest, in a virtual environment that all tests share.
//!
//! The environment is made once, in `TRELLIS_TEST_CACHE` or below the target folder. Without Python
//! or the package index, the tests fail with an error that says so.

mod allowed;
mod copies;
mod coverage;
mod coverage_provider;
mod deselected;
mod engine_connections;
mod engine_faults;
mod engines;
mod environment;
mod executions;
mod failures;
mod fake_engine;
mod fake_worker;
mod fidelity;
mod frameworks;
mod hostile;
mod outcomes;
#[expect(unreachable_pub, reason = "a library of tests has it as well")]
#[path = "../../../../tests/lsp/patience.rs"]
mod patience;
mod programs;
mod python;
mod records;
mod requirements;
mod support;
mod swarm;
mod timeouts;
mod traces;
mod trees;
mod trials;
mod unittest;
mod uv;
mod writes;
mod xml;
