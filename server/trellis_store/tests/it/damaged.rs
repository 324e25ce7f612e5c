//! Journals with damaged lines, and with lines of earlier versions.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};
use trellis_store::committed_nodes::CommittedNodes;
use trellis_store::cost::Cost;
use trellis_store::journal::{Event, Journal};
use trellis_store::origin::{Origin, Workflow};
use trellis_store::reader::Reader;
use trellis_store::replay::ReplayedState;

#[test]
fn a_line_with_damaged_bytes_is_no_event_for_any_reader() {
    let root = tempfile::tempdir().expect("a folder");
    let origin = Origin::create(Workflow::Generate);
    fs::create_dir(root.path().join(".trellis")).expect("a folder");
    let (journal, _) = Journal::open(root.path(), origin.clone()).expect("a journal");
    for path in ["a.py", "b.py"] {
        let (path, hash) = (path.to_owned(), "h".to_owned());
        journal.commit(Event::Writing { path, hash }).expect("written");
    }
    drop(journal);
    let path = Journal::path(root.path());
    let mut bytes = fs::read(&path).expect("bytes");
    let at = bytes.windows(4).position(|it| it == b"a.py").expect("the path");
    bytes[at] = 0xff;
    fs::write(&path, &bytes).expect("written");

    let (_, past): (_, ReplayedState) = Journal::open(root.path(), origin).expect("a journal");
    assert_eq!(past.unreadable, [1]);
    assert_eq!(past.written.keys().collect::<Vec<_>>(), ["b.py"]);
    let mut reader = Reader::open(&path).expect("a journal");
    assert!(reader.read_entry().expect("a line").expect("the first").event.is_err());
    assert!(fs::read(&path).expect("bytes") == bytes, "opening changes no whole line");
}

#[test]
fn a_commit_names_only_the_nodes_that_are_new_in_it() {
    let root = tempfile::tempdir().expect("a folder");
    let origin = Origin::create(Workflow::Generate);
    fs::create_dir(root.path().join(".trellis")).expect("a folder");
    let (journal, _) = Journal::open(root.path(), origin.clone()).expect("a journal");
    let names =
        |count: u32| -> BTreeSet<String> { (0..count).map(|it| format!("n{it}")).collect() };
    let mut before = BTreeSet::new();
    let mut commit = |subgraph: &str, after: BTreeSet<String>| {
        let nodes = CommittedNodes::change(&before, &after);
        let event =
            Event::Committed { subgraph: subgraph.to_owned(), tag: Some("t".into()), nodes };
        journal.commit(event).expect("written");
        before = after;
    };
    (1..100).for_each(|count| commit(&format!("s{count}"), names(count)));
    let text = fs::read_to_string(Journal::path(root.path())).expect("text");
    let lengths: Vec<usize> = text.lines().map(str::len).collect();
    assert!(lengths.iter().max() < lengths.iter().min().map(|it| it + 16).as_ref(), "{lengths:?}");
    // A node that failed later is not in the next commit.
    commit("s100", ["n1", "n7"].map(str::to_owned).into());
    let to = "s3".to_owned();
    let (_, past) = Journal::open(root.path(), origin.clone()).expect("a journal");
    assert_eq!(past.nodes_after(3), names(3));
    assert_eq!(past.nodes_after(99), names(99));
    assert_eq!(past.nodes_after(100).into_iter().collect::<Vec<_>>(), ["n1", "n7"]);
    let kept = names(3).into_iter().collect();
    journal.commit(Event::RolledBack { to, kept, edits: Vec::new() }).expect("written");
    let (_, past) = Journal::open(root.path(), origin.clone()).expect("a journal");
    assert_eq!(past.nodes_after(past.committed.len()), names(3));
    journal.commit(Event::Reset { reason: "r".to_owned() }).expect("written");
    let (_, past) = Journal::open(root.path(), origin).expect("a journal");
    assert_eq!(past.nodes_after(past.committed.len()), names(0));
}

#[test]
fn lines_of_older_forms_are_read() {
    let event = |event: Value| json!({ "v": 1, "at": "2026-11-28T00:00:00Z", "event": event });
    let lines = [
        event(json!({
            "kind": "acceptance", "feature": "Sums", "path": "tests/acceptance/test_sums_feature.py",
            "specification": "h", "text": "def test_sum(): ...", "reason": "", "cost": Cost::default(),
        })),
        event(json!({ "kind": "committed", "subgraph": "s", "tag": null, "nodes": ["a", "b"] })),
        event(json!({ "kind": "acceptance_run", "tree": "h", "failed": { "p": "E: no" } })),
    ];
    let text: String = lines.iter().map(|it| format!("{it}\n")).collect();
    let past = ReplayedState::read(&text);
    assert_eq!(past.unreadable, [0_usize; 0]);
    assert_eq!(past.nodes_after(1).into_iter().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(past.acceptance["tests/acceptance/test_sums_feature.py"].functions, 0);
    let run = past.acceptance_run.expect("a run");
    assert_eq!((run.tree.as_str(), run.passed.len(), run.failed.len()), ("h", 0, 1));
}
