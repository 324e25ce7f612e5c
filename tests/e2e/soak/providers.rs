//! The master fixture, from a provider instead of its recording.

use crate::faults::end_as_they_do_without;
use crate::mock::{OPENAI, Work, recorded};
use crate::providers::{every_format, grown_as_recorded};

#[test]
fn the_master_fixture_streamed_over_http_ends_as_from_its_recording() {
    let work = Work::master();
    let (reference, ran) = recorded(&work, 3);
    let _ = ran.exits(1);
    grown_as_recorded(&work, &reference, OPENAI, true, 3);
}

#[test]
fn with_one_call_in_five_failing_fifty_nodes_end_as_they_do_without() {
    end_as_they_do_without(&Work::master(), 5, 1);
}

#[test]
fn formats_that_the_check_has_plain_are_streamed_and_the_others_plain() {
    every_format(1);
}
