//! The whole suite, once, on the finished tree.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cycle::assembly::pytest_ini;
use cycle::{Failure, TestRun};
use run::{Request, Tree, junit};

use crate::error::Fault;
use crate::grow::convert::test_run;
use crate::grow::owner::Owner;
use crate::grow::summary::Suite;
use crate::grow::worker::Stop;
use crate::workspace::disk;
use crate::workspace::journal::Event;

/// Time for the whole suite.
const SUITE_SECONDS: u64 = 1800;

/// Runs all tests on the finished tree, unless the journal has that tree's result.
pub(crate) async fn suite(
    owner: &mut Owner,
    sources: &BTreeMap<String, String>,
) -> Result<Suite, Fault> {
    let tree = tree(owner, sources);
    let whole = tree.iter().map(|(path, text)| format!("{path}\0{text}\0")).collect::<String>();
    let tree_hash = disk::hash(whole);
    if let Some((hash, outcome, passed, failed)) = &owner.past.suite
        && *hash == tree_hash
        && owner.root.join("test_results.xml").exists()
    {
        return Ok(Suite { outcome: outcome.clone(), passed: *passed, failed: *failed });
    }
    if !tree.keys().any(|path| path.starts_with("tests/")) {
        return Ok(Suite { outcome: "no tests".to_owned(), ..Suite::default() });
    }
    let request = Request {
        test_timeout: owner.shop.test_timeout,
        run_timeout: Duration::from_secs(SUITE_SECONDS),
        // The last word is that of an interpreter with no history.
        cold: true,
        ..Request::new(Tree::Files(tree))
    };
    let report = owner.shop.runner.run(&request, &owner.shop.cancel).await;
    let run = test_run(&report).map_err(Stop::into_fault)?;
    mark_broken(owner, sources, &run)?;
    let unfinished = usize::from(!run.is_clean() && run.failed() == 0);
    let suite = Suite {
        outcome: if run.is_clean() { "passed".to_owned() } else { run.summary() },
        passed: run.passed(),
        failed: run.failed() + unfinished,
    };
    let cannot = |e: std::io::Error| {
        Fault::internal(format!("cannot write the results of the whole suite: {e}"))
    };
    disk::write(&owner.root, "test_results.xml", &junit(&report, "generated")).map_err(cannot)?;
    let (outcome, passed, failed) = (suite.outcome.clone(), suite.passed, suite.failed);
    owner
        .shop
        .journal
        .commit(Event::Suite { tree: tree_hash, outcome, passed, failed })
        .map_err(cannot)?;
    Ok(suite)
}

/// What plain pytest would see in the folder.
fn tree(owner: &Owner, sources: &BTreeMap<String, String>) -> BTreeMap<String, Arc<str>> {
    let mut tree: BTreeMap<String, Arc<str>> =
        sources.iter().map(|(path, text)| (path.clone(), Arc::from(text.as_str()))).collect();
    tree.insert("pytest.ini".to_owned(), Arc::from(pytest_ini(&owner.shop.work.layout)));
    for (path, text) in &owner.shop.user_files {
        tree.entry(path.clone()).or_insert_with(|| text.clone());
    }
    tree
}

/// A node whose tests fail here has not passed, whatever they did when it was alone: another node or a
/// person's edit broke it. It is done again by the next run.
fn mark_broken(
    owner: &mut Owner,
    sources: &BTreeMap<String, String>,
    run: &TestRun,
) -> Result<(), Fault> {
    let failed = run.cases.iter().filter(|case| !case.passed && !case.set_aside);
    let reasons: Vec<(String, String)> = (failed
        .map(|case| (case.id.clone(), reason(case.failure.as_ref()))))
    .chain(run.collection.iter().map(|it| (it.path.clone(), reason(Some(it)))))
    .collect();
    let accepted: Vec<(String, Vec<String>)> =
        owner.accepted.values().map(|it| (it.node.clone(), names(&it.tests))).collect();
    for (node, tests) in accepted {
        let Some(item) =
            owner.shop.work.plan.find(&node).and_then(|ix| owner.shop.work.items.get(&ix))
        else {
            continue;
        };
        let is_its = |id: &str| match id.split_once("::") {
            Some((path, rest)) => {
                path == item.test_path
                    && tests.iter().any(|name| is_named(rest, name, &item.suffix()))
            }
            None => id == item.test_path || (id == item.path && sources.contains_key(id)),
        };
        if let Some((_, why)) = reasons.iter().find(|(id, _)| is_its(id)) {
            let reason = format!("passed alone and fails in the whole suite: {why}");
            owner.break_node(&node, reason)?;
        }
    }
    Ok(())
}

fn reason(failure: Option<&Failure>) -> String {
    failure.map_or_else(
        || "failed".to_owned(),
        |it| format!("{}: {}", it.exception, it.message.lines().next().unwrap_or_default()),
    )
}

/// Tests and test classes of a node's test module.
fn names(tests: &str) -> Vec<String> {
    let items = code::Fragment::parse(tests).map(|it| it.items).unwrap_or_default();
    items.into_iter().filter(code::Item::is_definition).flat_map(|it| it.names).collect()
}

/// `test_a[1]`, `TestA::test_b`; a clash may have given the name the node's suffix.
fn is_named(rest: &str, name: &str, suffix: &str) -> bool {
    let first = rest.split(['[', ':']).next().unwrap_or(rest);
    first == name || first == format!("{name}_{suffix}")
}
