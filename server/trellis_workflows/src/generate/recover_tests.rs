//! Tests of a start after a crash: whatever part of the journal and the files was on the disk, the
//! result has the same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use trellis_engine::assembly::{Contribution, sources};
use trellis_plan::{NodeIx, Schedule};

use super::accepted::AcceptedDrafts;
use super::items::WorkGraph;
use super::recover::{Resumed, kept_before, recover, resume, users_files};
use crate::convert::check_python;
use crate::reporter::Reporter;
use trellis_store::Writer;
use trellis_store::cost::Cost;
use trellis_store::journal::{Accepted, Event, Journal};
use trellis_store::origin::{Origin, Workflow};
use trellis_store::replay::ReplayedState;

/// Returns a plan with three nodes in two files; the last node builds on both others.
fn work() -> (WorkGraph, Schedule) {
    let node = |id: &str, file: &str, needs: &[&str]| {
        json!({
            "id": id, "name": id, "type": "function", "node_type": "leaf", "dependencies": needs,
            "signature": format!("def {id}(x: int) -> int"), "docstring": format!("Does {id}."),
            "file_path": format!("src/lib/{file}.py"),
        })
    };
    let edge = |to: &str| json!({ "source": "sum", "target": to, "type": "function_call" });
    let nodes = [
        node("double", "a", &[]),
        node("square", "a", &[]),
        node("sum", "b", &["double", "square"]),
    ];
    let edges = [edge("double"), edge("square")];
    let graph = json!({ "nodes": nodes, "edges": edges, "metadata": { "phase": 3 } });
    let plan = Arc::new(trellis_plan::read(graph.to_string().as_bytes(), None).expect("a plan"));
    let order = trellis_plan::order(&plan);
    let work = WorkGraph::new(plan.clone(), &order.sequence);
    (work, Schedule::new(plan, order))
}

/// Returns the accepted record of a node, which is the same each time.
fn accepted(work: &WorkGraph, ix: NodeIx) -> Accepted {
    let id = work.plan.id(ix);
    let (import, body) = match id {
        "sum" => ("from lib.a import double, square\n\n\n", "double(x) + square(x)"),
        _ => ("", "x"),
    };
    Accepted {
        node: id.to_owned(),
        specification: work.specification(ix),
        tests: format!("from lib import {id}\n\n\ndef test_{id}():\n    assert {id}(0) == 0\n"),
        implementation: format!("{import}def {id}(x: int) -> int:\n    return {body}\n"),
        tests_passed: 1,
        fixes: 0,
        flaky: Vec::new(),
        cost: Cost::default(),
    }
}

/// Performs one start: recovers the folder, accepts the remaining nodes, and writes after each
/// node, as a run does.
fn start(root: &Path) {
    let (work, mut schedule) = work();
    let reporter = Reporter::default();
    trellis_store::disk::ensure(root).expect("a folder");
    let (journal, mut past) =
        Journal::open(root, Origin::create(Workflow::Generate)).expect("a journal");
    recover(root, &journal, &mut past, &reporter).expect("a folder of ours");
    let mut writer = Writer::new(root, past.written.clone(), check_python);
    let kept = users_files(root, &mut writer, &work, &past, &journal, false);
    let kept = kept.expect("nobody else has written");
    assert!(kept.is_empty() && kept_before(&past).is_empty());
    let Resumed { mut accepted_drafts, accepted: done, .. } =
        resume(&work, &mut schedule, &past, &kept);
    flush(&work, &accepted_drafts, &mut writer, &journal);
    for &ix in work.leaves.iter().filter(|ix| !done.contains_key(work.plan.id(**ix))) {
        let text = |node: &str| Event::Note {
            node: node.to_owned(),
            what: "at work".to_owned(),
            text: String::new(),
        };
        journal.log(text(work.plan.id(ix))).expect("written");
        journal.commit(Event::Accepted(accepted(&work, ix))).expect("written");
        let past = ReplayedState {
            accepted: [(work.plan.id(ix).to_owned(), accepted(&work, ix))].into(),
            ..ReplayedState::default()
        };
        put(&work, &mut accepted_drafts, ix, &past);
        flush(&work, &accepted_drafts, &mut writer, &journal);
    }
}

/// Adds the text accepted for a node to the accepted drafts.
fn put(work: &WorkGraph, accepted_drafts: &mut AcceptedDrafts, ix: NodeIx, past: &ReplayedState) {
    let old = &past.accepted[work.plan.id(ix)];
    let parse = |text: &str| Some(trellis_python::Fragment::parse(text).expect("Python"));
    let draft = trellis_engine::Draft {
        tests: parse(&old.tests),
        implementation: parse(&old.implementation),
        ..trellis_engine::Draft::default()
    };
    accepted_drafts.put(ix, Some(Arc::new(draft)));
}

fn flush(
    work: &WorkGraph,
    accepted_drafts: &AcceptedDrafts,
    writer: &mut Writer,
    journal: &Journal,
) {
    let drafts: Vec<_> =
        work.leaves.iter().filter_map(|ix| Some((*ix, accepted_drafts.draft(*ix)?))).collect();
    let shares: Vec<Contribution<'_>> =
        drafts.iter().map(|(ix, draft)| Contribution { item: &work.items[ix], draft }).collect();
    let files = sources(&work.layout, &shares, &BTreeMap::new()).expect("they fit").files;
    writer.flush(journal, &files, |path| path.ends_with(".py")).expect("written");
}

/// Returns the files of a folder without `.trellis`.
fn files(root: &Path) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            match path.is_dir() {
                true if entry.file_name() == ".trellis" => {}
                true => left.push(path),
                false => {
                    let name = path.strip_prefix(root).expect("inside").display().to_string();
                    out.insert(name, fs::read_to_string(path).expect("text"));
                }
            }
        }
    }
    out
}

/// Returns all texts that a run had on the disk over time, by path and hash.
fn texts_over_time(journal: &str) -> BTreeMap<(String, String), String> {
    let (work, _) = work();
    let mut accepted_drafts = AcceptedDrafts::default();
    let mut all = BTreeMap::new();
    let past = ReplayedState::read(journal);
    let mut keep = |accepted_drafts: &AcceptedDrafts| {
        let drafts: Vec<_> =
            work.leaves.iter().filter_map(|ix| Some((*ix, accepted_drafts.draft(*ix)?))).collect();
        let shares: Vec<Contribution<'_>> = drafts
            .iter()
            .map(|(ix, draft)| Contribution { item: &work.items[ix], draft })
            .collect();
        let files = sources(&work.layout, &shares, &BTreeMap::new()).expect("they fit").files;
        all.extend(
            files.into_iter().map(|(path, text)| ((path, trellis_store::disk::hash(&text)), text)),
        );
    };
    keep(&accepted_drafts);
    for &ix in &work.leaves {
        put(&work, &mut accepted_drafts, ix, &past);
        keep(&accepted_drafts);
    }
    all
}

/// Creates the state after a crash: the first bytes of a journal and the files it names, with or
/// without the last one.
fn crashed(
    root: &Path,
    journal: &str,
    texts: &BTreeMap<(String, String), String>,
    is_written: bool,
) {
    fs::create_dir_all(root.join(".trellis")).expect("a folder");
    fs::write(Journal::path(root), journal).expect("a journal");
    let whole = &journal[..journal.rfind('\n').map_or(0, |at| at + 1)];
    let lines =
        whole.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a line"));
    let mut written: Vec<(String, String)> = lines
        .filter(|line| line["event"]["kind"] == "writing")
        .map(|line| {
            let text = |field: &str| line["event"][field].as_str().expect("text").to_owned();
            (text("path"), text("hash"))
        })
        .collect();
    if !is_written {
        written.pop();
    }
    for (path, hash) in written {
        let place = root.join(&path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
        fs::write(place, &texts[&(path, hash)]).expect("a file");
    }
}

#[test]
fn from_every_beginning_of_a_journal_the_same_bytes_come() {
    let undisturbed = tempfile::tempdir().expect("a folder");
    start(undisturbed.path());
    let journal = fs::read_to_string(Journal::path(undisturbed.path())).expect("a journal");
    let texts = texts_over_time(&journal);
    let wanted = files(undisturbed.path());
    assert!(wanted["src/lib/b.py"].contains("double(x) + square(x)"), "{wanted:#?}");
    // Cuts at the end of each line, and in the middle of the next one.
    let ends: Vec<usize> = journal.match_indices('\n').map(|(at, _)| at + 1).collect();
    let torn = ends.windows(2).map(|it| (it[0] + it[1]) / 2);
    let cuts: Vec<usize> = [0].into_iter().chain(ends.iter().copied()).chain(torn).collect();
    assert!(cuts.len() > 20, "{} cuts of\n{journal}", cuts.len());
    for cut in cuts {
        for is_written in [false, true] {
            let world = tempfile::tempdir().expect("a folder");
            crashed(world.path(), &journal[..cut], &texts, is_written);
            start(world.path());
            assert_eq!(
                files(world.path()),
                wanted,
                "cut at {cut}, the last file written: {is_written}"
            );
        }
    }
}
