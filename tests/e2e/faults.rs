//! A provider that fails in every way it can: the run ends as without, and nothing that came is paid for again.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::mock::{OPENAI, Work, command, of_kind, recorded, run, settings, tree};
use crate::world::{World, assert_same};

/// What a call may meet: too many requests, a failing server, a connection that breaks in mid-answer, an answer
/// that is no JSON, one that stops coming, one that never ends.
const KINDS: [&str; 6] = ["429", "500", "cut", "garbage", "drip", "huge"];

/// Fails one call in five the first time it is made; the same ones in every run.
fn some() -> Value {
    json!({ "faults": { "seed": 11, "share": 5, "kinds": KINDS } })
}

#[test]
fn with_one_call_in_five_failing_fifty_nodes_end_as_they_do_without() {
    let work = Work::master();
    let (reference, ran) = recorded(&work, 4);
    let _ = ran.exits(1);
    let world = World::new();
    // Long enough that a server on a busy machine is never taken for one that stopped.
    settings(&world, OPENAI, "idle_seconds = 5\nretry_seconds = 0.05");
    let served = work.serve(&some());
    let ran = run(command(&world, &work, OPENAI, &served.url()).arg("--jobs=8"));
    let events = served.finish().expect("events");
    let _ = ran.exits(1);
    let met: BTreeSet<&str> =
        of_kind(&events, "asked").iter().filter_map(|it| it["fault"].as_str()).collect();
    assert_eq!(met, BTreeSet::from(KINDS), "every kind was met");
    assert_same(&tree(&world), &tree(&reference));
    nothing_is_paid_twice(&events);
}

/// The same question, for a vote the same one of the five, is answered in full once.
fn nothing_is_paid_twice(events: &[Value]) {
    let mut paid: BTreeMap<String, usize> = BTreeMap::new();
    for event in of_kind(events, "ended").iter().filter(|event| event["complete"] == true) {
        let question = [&event["prompt"], &event["vote"], &event["node"], &event["stage"]];
        *paid.entry(json!(question).to_string()).or_default() += 1;
    }
    let twice: Vec<_> = paid.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}
