//! A provider that fails in every possible way: the run ends as without failures, and no received
//! reply is paid for again.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::mock::{OPENAI, Work, command, of_kind, recorded, run, settings, tree};
use crate::world::{Plot, World, assert_same};

/// Kinds of failure: too many requests, a failing server, a connection that breaks during the
/// reply, a reply that is no JSON, one that stalls, one that never ends.
const KINDS: [&str; 6] = ["429", "500", "cut", "garbage", "drip", "huge"];

/// Asserts that a run ends like its recording if one call in `share` fails at the first attempt.
pub(crate) fn end_as_they_do_without(work: &Work, share: u32, code: i32) {
    let (reference, ran) = recorded(work, 4);
    let _ = ran.exits(code);
    let world = World::new();
    // Long enough that a server on a busy machine never counts as stalled.
    settings(&world, OPENAI, "idle_seconds = 5\nretry_seconds = 0.05");
    let served = work.serve(&json!({ "faults": { "seed": 11, "share": share, "kinds": KINDS } }));
    let ran = run(command(&world, work, OPENAI, &served.url()).arg("--jobs=8"));
    let events = served.finish().expect("events");
    let _ = ran.exits(code);
    let met: BTreeSet<&str> =
        of_kind(&events, "asked").iter().filter_map(|it| it["fault"].as_str()).collect();
    assert_eq!(met, BTreeSet::from(KINDS), "every kind was met");
    assert_same(&tree(&world), &tree(&reference));
    nothing_is_paid_twice(&events);
}

#[test]
fn with_one_call_in_two_failing_six_nodes_end_as_they_do_without() {
    let world = World::new();
    let names = [("basic", "double"), ("top", "negated")];
    let plot = Plot::garden().library(&names, "negated(double(1)) == -8");
    end_as_they_do_without(&Work::of(&world, &plot.with_usage()), 2, 0);
}

/// Asserts that each request, or each of five votes, is answered completely once.
fn nothing_is_paid_twice(events: &[Value]) {
    let mut paid: BTreeMap<String, usize> = BTreeMap::new();
    for event in of_kind(events, "ended").iter().filter(|event| event["complete"] == true) {
        let question = [&event["prompt"], &event["vote"], &event["node"], &event["stage"]];
        *paid.entry(json!(question).to_string()).or_default() += 1;
    }
    let twice: Vec<_> = paid.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}
