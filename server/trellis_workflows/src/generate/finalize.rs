//! Finishes a run: the whole suite once, packaging, README, report and the last commit.

use std::sync::PoisonError;

use jiff::Timestamp;
use trellis_engine::assembly::{CheckResult, report};
use trellis_plan::{NodeIx, Status};

use crate::fault::{Exit, Fault};
use crate::generate::dispatcher::Dispatcher;
use crate::generate::dispatcher::NEEDS_HUMAN;
use crate::generate::findings::{CIRCLES, Findings, SUITE};
use crate::generate::install::install;
use crate::generate::metadata;
use crate::generate::suite::suite;
use crate::generate::summary::{AcceptanceOutcome, Summary, facts, summary};
use crate::reporter::Reporter;
use trellis_store::disk;
use trellis_store::journal::Event;

/// Writes everything that belongs to a finished repository.
pub(super) async fn finish(
    owner: &mut Dispatcher,
    reporter: &Reporter,
) -> Result<(Summary, Exit), Fault> {
    owner.run_acceptance().await?;
    owner.flush()?;
    let contents = owner.contents();
    let sources = owner.sources(&contents)?.files;
    let suite = suite(owner, &sources).await?;
    if suite.failed > 0 {
        let count = trellis_os::wording::counted(suite.failed, "test fails", "tests fail");
        owner.warnings.push(format!("{count} in the whole suite; see test_results.xml"));
    }
    let mut found = Findings::of(owner, &sources, &suite);
    let cycles = found.import_cycles.iter().map(|cycle| format!("circular import {cycle}"));
    owner.warnings.extend(cycles);
    let (files, warnings) = metadata::files(owner, &contents, &sources);
    owner.warnings.extend(warnings);
    let mut all = sources;
    all.retain(|path, _| !owner.run_context.kept.contains_key(path));
    all.extend(files);
    owner.write(&all, true)?;
    if !owner.had_nothing_to_do() {
        found.validation.extend(install(&owner.run_context.clone(), &all).await);
    }
    let failed = found.validation.iter().filter(|it| it.outcome == CheckResult::Failed);
    let failed = failed.filter(|it| it.check != CIRCLES && it.check != SUITE);
    owner.warnings.extend(failed.map(|it| format!("{} fails: {}", it.check, it.detail)));
    let record = *owner.run_context.tools.lock().unwrap_or_else(PoisonError::into_inner);
    owner.warnings.extend(record.warnings());
    let summary = summary(owner, suite);
    summary.warnings.iter().for_each(|warning| reporter.note(format_args!("warning: {warning}")));
    if !owner.had_nothing_to_do() {
        documents(owner, &summary, &found)?;
        owner.commit("docs: generation report");
        let (passed, failed, skipped) = (summary.passed, summary.failed, summary.skipped);
        let event = Event::Finished { passed, failed, skipped, seconds: summary.seconds };
        let logged = owner.run_context.journal.commit(event);
        logged.map_err(|e| Fault::internal(format!("cannot write the journal: {e}")))?;
    }
    let exit = exit(&summary);
    Ok((summary, exit))
}

fn exit(summary: &Summary) -> Exit {
    if summary.failures.values().any(|reason| reason.starts_with(NEEDS_HUMAN)) {
        Exit::NeedsHuman
    } else if summary.failed > 0
        || summary.suite.failed > 0
        || summary.integration.values().any(|it| it.outcome == "failed")
        || summary.acceptance.iter().any(|it| it.outcome == AcceptanceOutcome::Fails)
    {
        Exit::TestsFailed
    } else {
        Exit::Done
    }
}

/// Writes `docs/rpg.json` and the report.
fn documents(owner: &mut Dispatcher, summary: &Summary, found: &Findings) -> Result<(), Fault> {
    let work = &owner.run_context.work;
    let now = Timestamp::now().to_string();
    let provenance = serde_json::json!({
        "tool": concat!("trellis ", env!("CARGO_PKG_VERSION")),
        "model": owner.run_context.llm.models.name(),
        "timestamp": now,
        "source": owner.order.graph.file_name().map(|name| name.to_string_lossy()),
        "dialect": work.plan.dialect().to_string(),
    });
    let status = |ix: NodeIx| match owner.broken.contains_key(work.plan.id(ix)) {
        true => Some(Status::Failed.name()),
        false => owner.schedule.status(ix).map(Status::name),
    };
    let graph = trellis_plan::export(&work.plan, status, &provenance);
    let text = report(&facts(owner, summary, found, now));
    let cannot = |e: std::io::Error| Fault::internal(format!("cannot write docs/: {e}"));
    for (path, text) in [("docs/rpg.json", graph), ("docs/generation_report.md", text)] {
        disk::write(&owner.root, path, &text).map_err(cannot)?;
    }
    Ok(())
}
