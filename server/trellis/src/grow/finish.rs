//! The end of a run: the whole suite once, packaging, README, report, the last commit.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cycle::assembly::{import_cycles, project_files, pytest_ini, readme, report};
use jiff::Timestamp;
use plan::{NodeIx, Status};
use run::{Request, Tree, junit};

use crate::error::{Exit, Fault};
use crate::grow::convert::test_run;
use crate::grow::metadata::{modules, project};
use crate::grow::owner::Owner;
use crate::grow::summary::{Suite, Summary, facts, summary};
use crate::grow::worker::Stop;
use crate::output::Output;
use crate::workspace::disk;
use crate::workspace::journal::Event;

/// Time for the whole suite.
const SUITE_SECONDS: u64 = 1800;

/// Writes everything that belongs to a finished repository.
pub(crate) async fn finish(owner: &mut Owner, output: &Output) -> Result<(Summary, Exit), Fault> {
    owner.flush()?;
    let sources = owner.sources()?.files;
    let suite = suite(owner, &sources).await?;
    if suite.failed > 0 {
        owner.warnings.push(format!(
            "{} tests fail in the whole suite although each node passed by itself; see test_results.xml",
            suite.failed
        ));
    }
    let cycles: Vec<String> = (import_cycles(&sources).into_iter())
        .map(|cycle| format!("{}: {}", cycle.modules.join(" -> "), cycle.suggestion))
        .collect();
    owner.warnings.extend(cycles.iter().map(|cycle| format!("circular import {cycle}")));
    let project = project(owner, &sources);
    let mut files = project_files(&project, &owner.shop.work.layout);
    files.insert("README.md".to_owned(), readme(&project, &modules(owner)));
    let left = leave_users_files(owner, &mut files, output);
    owner.warnings.extend(left);
    let mut all = sources;
    all.retain(|path, _| !owner.shop.kept.contains_key(path));
    all.extend(files);
    owner.write(&all)?;
    let summary = summary(owner, suite);
    summary.warnings.iter().for_each(|warning| output.note(format_args!("warning: {warning}")));
    if !owner.had_nothing_to_do() {
        documents(owner, &summary, cycles)?;
        owner.commit("docs: generation report", None)?;
        let (passed, failed, skipped) = (summary.passed, summary.failed, summary.skipped);
        let event = Event::Finished { passed, failed, skipped, seconds: summary.seconds };
        let logged = owner.shop.journal.commit(event);
        logged.map_err(|e| Fault::internal(format!("cannot write the journal: {e}")))?;
    }
    let exit = exit(&summary);
    Ok((summary, exit))
}

fn exit(summary: &Summary) -> Exit {
    if summary.failures.values().any(|reason| reason.starts_with("needs_human")) {
        Exit::NeedsHuman
    } else if summary.failed > 0 || summary.suite.failed > 0 {
        Exit::TestsFailed
    } else {
        Exit::Done
    }
}

/// Runs all tests on the finished tree, unless the journal has that tree's result.
async fn suite(owner: &mut Owner, sources: &BTreeMap<String, String>) -> Result<Suite, Fault> {
    let tree_hash = disk::hash(
        sources.iter().map(|(path, text)| format!("{path}\0{text}\0")).collect::<String>(),
    );
    if let Some((hash, outcome, passed, failed)) = &owner.past.suite
        && *hash == tree_hash
        && owner.root.join("test_results.xml").exists()
    {
        return Ok(Suite { outcome: outcome.clone(), passed: *passed, failed: *failed });
    }
    let mut tree: BTreeMap<String, Arc<str>> =
        sources.iter().map(|(path, text)| (path.clone(), Arc::from(text.as_str()))).collect();
    if !tree.keys().any(|path| path.starts_with("tests/")) {
        return Ok(Suite { outcome: "no tests".to_owned(), ..Suite::default() });
    }
    tree.insert("pytest.ini".to_owned(), Arc::from(pytest_ini(&owner.shop.work.layout)));
    for (path, text) in &owner.shop.user_files {
        tree.entry(path.clone()).or_insert_with(|| text.clone());
    }
    let request = Request {
        test_timeout: owner.shop.test_timeout,
        run_timeout: Duration::from_secs(SUITE_SECONDS),
        ..Request::new(Tree::Files(tree))
    };
    let report = owner.shop.runner.run(&request, &owner.shop.cancel).await;
    let run = test_run(&report).map_err(Stop::into_fault)?;
    let unfinished = usize::from(!run.proves() && run.failed() == 0);
    let suite = Suite {
        outcome: if run.proves() { "passed".to_owned() } else { run.summary() },
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

/// Files of the user's that stand where metadata would go are left alone, with a warning.
fn leave_users_files(
    owner: &Owner,
    files: &mut BTreeMap<String, String>,
    output: &Output,
) -> Vec<String> {
    let paths: Vec<String> = files.keys().cloned().collect();
    let foreign: Vec<String> = owner.writer.foreign(&paths);
    let _ = output;
    files.retain(|path, _| !foreign.contains(path) && !owner.shop.kept.contains_key(path));
    foreign.into_iter().map(|path| format!("{path} is yours and was left as it is")).collect()
}

/// `docs/rpg.json` and the report.
fn documents(
    owner: &mut Owner,
    summary: &Summary,
    import_cycles: Vec<String>,
) -> Result<(), Fault> {
    let work = &owner.shop.work;
    let now = Timestamp::now().to_string();
    let provenance = serde_json::json!({
        "tool": concat!("trellis ", env!("CARGO_PKG_VERSION")),
        "model": owner.shop.model.name(),
        "timestamp": now,
        "source": owner.order.graph.file_name().map(|name| name.to_string_lossy()),
        "dialect": work.plan.dialect().to_string(),
    });
    let status = |ix: NodeIx| owner.schedule.status(ix).map(Status::name);
    let graph = plan::export(&work.plan, status, &provenance);
    let text = report(&facts(owner, summary, import_cycles, now));
    let cannot = |e: std::io::Error| Fault::internal(format!("cannot write docs/: {e}"));
    for (path, text) in [("docs/rpg.json", graph), ("docs/generation_report.md", text)] {
        disk::write(&owner.root, path, &text).map_err(cannot)?;
    }
    Ok(())
}
