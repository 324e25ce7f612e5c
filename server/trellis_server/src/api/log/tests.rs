//! Descriptions of all kinds of events, and filters.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::*;

/// Creates a journal of these events, without chains.
fn journal(events: &[Value]) -> tempfile::TempDir {
    let world = tempfile::tempdir().expect("a folder");
    let line = |event: &Value| {
        format!("{}\n", json!({ "v": 1, "at": "2026-11-23T15:40:00.123456789Z", "event": event }))
    };
    let text: String = events.iter().map(line).collect();
    fs::create_dir(world.path().join(".trellis")).expect("a folder");
    fs::write(Journal::path(world.path()), text).expect("written");
    world
}

fn asked(root: &Path, params: Value) -> LogResult {
    let params: LogParams = serde_json::from_value(params).expect("parameters");
    log(root, params).expect("a journal")
}

/// Returns kind, subject, description and reason of an event.
fn report(entry: &LogEntry) -> String {
    let kind = serde_json::to_value(entry.kind).expect("a kind");
    let node = entry.node.as_deref().unwrap_or("-");
    let reason = entry.reason.as_ref().map(|it| format!(" because {it}")).unwrap_or_default();
    format!("{} {node} {}{reason}", kind.as_str().expect("a text"), entry.what)
}

fn all_kinds() -> Vec<(Value, &'static str)> {
    let details = json!({ "asked": "p:m", "why": "a leaf", "prompt_version": 1, "cached_tokens": 0, "nano_usd": 1_500_000 });
    let cost = json!({ "runs": 2, "model_calls": 2, "stages": {
        "tests": { "calls": 2, "input_tokens": 10, "output_tokens": 5, "nano_usd": 2_000_000 },
    } });
    vec![
        (
            json!({ "kind": "started", "graph": "g.json", "dialect": "rpg", "model": "p:m", "jobs": 1, "version": "0.1.0" }),
            "started - run of g.json (rpg) with p:m, 1 job, version 0.1.0",
        ),
        (
            json!({ "kind": "ordered", "rule": "smallest first", "nodes": ["a", "b"] }),
            "ordered - 2 nodes in order because smallest first",
        ),
        (
            json!({ "kind": "state", "node": "a", "status": "skipped", "reason": "b failed" }),
            "state a skipped because b failed",
        ),
        (
            json!({ "kind": "model_call", "node": "a", "stage": "tests", "attempt": 0, "prompt": "h", "model": "m",
                "milliseconds": 12, "input_tokens": 3, "output_tokens": 4, "error": null, "details": details }),
            "model_call a tests, attempt 0, answered by m because a leaf",
        ),
        (
            json!({ "kind": "model_call", "node": "a", "stage": "fix", "attempt": 1, "prompt": "h", "model": "m",
                "milliseconds": 12, "input_tokens": null, "output_tokens": null, "error": "it is gone" }),
            "model_call a fix, attempt 1, no reply from m because it is gone",
        ),
        (
            json!({ "kind": "tool_call", "node": "a", "name": "grep", "arguments": "{}", "bytes": 9, "is_error": true, "microseconds": 2500 }),
            "tool_call a grep {}: an error of 9 bytes",
        ),
        (
            json!({ "kind": "test_run", "node": "a", "red": true, "outcome": "failed", "passed": 0, "failed": 3, "milliseconds": 40 }),
            "test_run a tests before the code: failed, 0 passed, 3 failed",
        ),
        (
            json!({ "kind": "localization", "node": "a", "tool": "symbols", "query": "f", "found": ["x"], "error": null, "microseconds": 70 }),
            "localization a symbols for f: 1 place",
        ),
        (
            json!({ "kind": "regression", "node": "a", "modified": ["b"], "rerun": ["c", "d"], "outcome": "passed", "passed": 6, "failed": 0 }),
            "regression a tests of 2 nodes after a change of b: passed, 6 passed, 0 failed",
        ),
        (
            json!({ "kind": "note", "node": "a", "what": "mended", "text": "import os" }),
            "note a mended because import os",
        ),
        (
            json!({ "kind": "accepted", "node": "a", "specification": "h", "tests": "t", "implementation": "i", "tests_passed": 3,
                "fixes": 2, "flaky": ["t1"], "cost": cost }),
            "accepted a 3 tests passed, 1 of them flaky after 2 fixes; 2 prompts of 15 \
             tokens, $0.0020 in total",
        ),
        (
            json!({ "kind": "taken_back", "node": "b", "tests": "t", "implementation": "i" }),
            "taken_back b its last code was removed",
        ),
        (
            json!({ "kind": "writing", "path": "a.py", "hash": "00ff" }),
            "writing - a.py, SHA-256 00ff",
        ),
        (
            json!({ "kind": "kept", "path": "a.py", "text": "x", "nodes": ["a"] }),
            "kept - a.py with your edits, with 1 node",
        ),
        (
            json!({ "kind": "git", "arguments": ["add", "a.py"], "outcome": "done" }),
            "git - git add a.py: done",
        ),
        (
            json!({ "kind": "committed", "subgraph": "s", "tag": "t", "nodes": ["a"] }),
            "committed s committed with 1 node in total, tag t",
        ),
        (
            json!({ "kind": "approval", "node": "a", "question": "may it stay?", "answer": "declined" }),
            "approval a declined because may it stay?",
        ),
        (
            json!({ "kind": "reset", "reason": "no checkpoint" }),
            "reset - everything accepted before is discarded because no checkpoint",
        ),
        (
            json!({ "kind": "rolled_back", "to": "s", "kept": ["a"], "edits": [] }),
            "rolled_back - rolled back to s, with 1 node",
        ),
        (
            json!({ "kind": "integration", "subgraph": "s", "specification": "h", "outcome": "passed", "passed": 4, "failed": 1,
                "path": "p", "text": "t", "left_out": ["t2: wrong"], "cost": cost }),
            "integration s integration tests: passed, 4 passed, 1 failed because t2: wrong",
        ),
        (
            json!({ "kind": "acceptance", "feature": "F", "path": "p", "specification": "h", "text": "t", "functions": 1, "reason": "", "cost": cost }),
            "acceptance F acceptance tests written, and red without code",
        ),
        (
            json!({ "kind": "acceptance", "feature": "F", "path": "p", "specification": "h", "text": "", "functions": 0, "reason": "no code", "cost": cost }),
            "acceptance F no acceptance tests because no code",
        ),
        (
            json!({ "kind": "acceptance_run", "tree": "h", "passed": {}, "failed": {} }),
            "acceptance_run - acceptance tests: every feature holds",
        ),
        (
            json!({ "kind": "acceptance_run", "tree": "h", "passed": {}, "failed": { "p": "E: no" } }),
            "acceptance_run - acceptance tests: 1 feature does not hold because p: E: no",
        ),
        (
            json!({ "kind": "broken", "node": "b", "reason": "fails with others" }),
            "broken b fails in the whole suite, and is generated again because fails with \
             others",
        ),
        (
            json!({ "kind": "unproven", "nodes": ["a", "b"] }),
            "unproven - 2 nodes tested again, because a dependency changed",
        ),
        (
            json!({ "kind": "outdated", "node": "b", "reason": "the contract of a changed" }),
            "outdated b is generated again because the contract of a changed",
        ),
        (
            json!({ "kind": "suite", "tree": "h", "outcome": "passed", "passed": 9, "failed": 0 }),
            "suite - the whole suite: passed, 9 passed, 0 failed",
        ),
        (
            json!({ "kind": "tests_written", "function": "a.py::f", "path": "t.py", "hash": "h", "tests": ["t1", "t2"], "outcome": "passed" }),
            "tests_written a.py::f 2 tests written to t.py: passed",
        ),
        (
            json!({ "kind": "stopped", "reason": "Ctrl-C" }),
            "stopped - the run stopped because Ctrl-C",
        ),
        (
            json!({ "kind": "finished", "passed": 1, "failed": 2, "skipped": 3, "seconds": 4 }),
            "finished - 1 passed, 2 failed, 3 skipped after 4 s",
        ),
        (
            json!({ "kind": "stage", "work": "issue-42", "stage": "green gate", "reason": "a test fails" }),
            "stage issue-42 green gate because a test fails",
        ),
        (
            json!({ "kind": "committed", "subgraph": "t", "tag": null, "added": ["e", "f"], "removed": ["d"] }),
            "committed t committed with 2 new nodes, without d",
        ),
    ]
}

#[test]
fn every_kind_of_event_is_reported_in_words_with_what_it_cost() {
    let (events, wanted): (Vec<Value>, Vec<&str>) = all_kinds().into_iter().unzip();
    let world = journal(&events);
    let result = asked(world.path(), json!({}));
    assert_eq!(result.entries.iter().map(report).collect::<Vec<_>>(), wanted);
    let kinds: std::collections::BTreeSet<String> =
        result.entries.iter().map(|it| format!("{:?}", it.kind)).collect();
    assert_eq!(
        kinds.len(),
        <EventKind as clap::ValueEnum>::value_variants().len(),
        "one of each kind"
    );
    let costs: Vec<(usize, Value)> = (result.entries.iter())
        .filter_map(|it| Some((it.line, serde_json::to_value(it.cost?).expect("JSON"))))
        .collect();
    let time = |milliseconds: u64| json!({ "inputTokens": null, "outputTokens": null, "usd": null, "milliseconds": milliseconds });
    let asked = json!({ "inputTokens": 3, "outputTokens": 4, "usd": 0.0015, "milliseconds": 12 });
    assert_eq!(costs, [(4, asked), (5, time(12)), (6, time(2)), (7, time(40)), (8, time(0))]);
    assert_eq!(result.entries[0].at, "2026-11-23T15:40:00.123456789Z");
}

#[test]
fn only_what_is_asked_for_is_given() {
    let events: Vec<Value> = all_kinds().into_iter().map(|(event, _)| event).collect();
    let world = journal(&events);
    let table: [(Value, &[usize], usize); 10] = [
        (json!({ "kinds": ["git", "suite"] }), &[15, 28], 0),
        (json!({ "node": "s" }), &[16, 20], 0),
        // An event that names the node among others is included; the order of the run is not.
        (json!({ "node": "b" }), &[9, 12, 25, 26, 27], 0),
        (json!({ "node": "c", "kinds": ["regression"] }), &[9], 0),
        (json!({ "node": "a", "last": 2 }), &[17, 26], 11),
        (json!({ "kinds": ["git"], "last": 5 }), &[15], 0),
        (json!({ "last": 1 }), &[33], 32),
        (json!({ "node": "f" }), &[33], 0),
        (json!({ "node": "nobody" }), &[], 0),
        (json!({ "node": "a", "kinds": ["kept"] }), &[14], 0),
    ];
    for (params, lines, left_out) in table {
        let result = asked(world.path(), params.clone());
        let found: Vec<usize> = result.entries.iter().map(|it| it.line).collect();
        assert_eq!((&found[..], result.journal.left_out), (lines, left_out), "{params}");
        assert_eq!(result.journal.lines, events.len(), "{params}");
    }
}

#[test]
fn lines_that_are_no_events_are_reported_by_number_and_texts_have_an_end() {
    let long = "é".repeat(3000);
    let world = journal(&[json!({ "kind": "note", "node": "a", "what": "w", "text": long })]);
    let path = Journal::path(world.path());
    let mut bytes = fs::read(&path).expect("bytes");
    bytes.extend_from_slice(
        b"garbage\n\n\xff\xfe\n{\"v\":1,\"at\":\"\",\"event\":{\"kind\":\"dance\"}}\n",
    );
    bytes.extend_from_slice(&b"\n".repeat(200));
    bytes.extend_from_slice(b"{\"v\":1");
    fs::write(&path, bytes).expect("written");
    let result = asked(world.path(), json!({}));
    let reason = result.entries[0].reason.as_ref().expect("a reason");
    assert_eq!((reason.chars().count(), reason.ends_with('…')), (2000, true));
    let file = &result.journal;
    let numbers: Vec<usize> = file.unreadable.iter().map(|it| it.line).collect();
    assert_eq!(numbers, (2..=101).collect::<Vec<_>>());
    assert!(file.unreadable[3].why.contains("dance"), "{}", file.unreadable[3].why);
    assert_eq!((file.lines, file.unreadable_count, file.is_torn), (205, 204, true));
    assert_eq!(result.entries.len(), 1);
}

#[test]
fn what_cannot_be_answered_is_refused_in_words() {
    let world = tempfile::tempdir().expect("a folder");
    let none = log(world.path(), serde_json::from_value(json!({})).expect("parameters"));
    let fault = none.expect_err("there is no journal");
    assert!(fault.hint.is_some_and(|it| it.contains("trellis generate")), "{}", fault.message);
    let world = journal(&[]);
    let many = serde_json::from_value(json!({ "last": 100_001 })).expect("parameters");
    let fault = log(world.path(), many).expect_err("too many");
    assert!(fault.message.contains("at most 100000 events"), "{}", fault.message);
    assert!(serde_json::from_value::<LogParams>(json!({ "last": 0 })).is_err());
    let empty = asked(world.path(), json!({}));
    assert!(empty.entries.is_empty() && empty.verify.is_intact && empty.verify.head.is_none());
}
