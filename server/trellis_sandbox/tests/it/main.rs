//! Real runs of real pytest, in a virtual environment that all tests share.
//!
//! It is made once, in `TRELLIS_TEST_CACHE` or below the target folder. Where Python or the package
//! index is missing, the tests fail with the error that says so.

mod allowed;
mod copies;
mod coverage;
mod environment;
mod failures;
mod fidelity;
mod frameworks;
mod hostile;
mod lending;
mod outcomes;
#[expect(unreachable_pub, reason = "a library of tests has it as well")]
#[path = "../../../../tests/lsp/patience.rs"]
mod patience;
mod programs;
mod python;
mod records;
mod requirements;
mod support;
mod timeouts;
mod trees;
mod unittest;
mod uv;
mod whole;
mod writes;
mod xml;
