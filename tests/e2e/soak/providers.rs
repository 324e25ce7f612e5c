//! The master fixture, from a provider in place of its recording.

use crate::mock::{OPENAI, Work, recorded};
use crate::providers::grown_as_recorded;

#[test]
fn the_master_fixture_streamed_over_http_ends_as_from_its_recording() {
    let work = Work::master();
    let (reference, ran) = recorded(&work, 3);
    let _ = ran.exits(1);
    grown_as_recorded(&work, &reference, OPENAI, true, 3);
}
