//! The end of a run: the whole suite once, packaging, README, report, the last commit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use cycle::assembly::{
    ModuleFacts, NodeLine, Project, ReportFacts, SubgraphLine, import_cycles, project_files,
    pytest_ini, readme, report, third_party,
};
use jiff::Timestamp;
use plan::{NodeIx, Status};
use run::{Request, Tree, junit};
use serde::Serialize;

use crate::error::{Exit, Fault};
use crate::grow::owner::Owner;
use crate::output::Output;
use crate::workspace::disk;
use crate::workspace::journal::Event;

/// Time for the whole suite.
const SUITE_SECONDS: u64 = 1800;

/// Counts of one subgraph or of all.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Counts {
    pub(crate) planned: usize,
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
}

/// `generate --json`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Summary {
    pub(crate) out: String,
    #[serde(rename = "planned")]
    pub(crate) planned: usize,
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    /// Passed nodes by number of fixes, from 0.
    pub(crate) passed_by_fixes: Vec<usize>,
    pub(crate) subgraphs: BTreeMap<String, Counts>,
    pub(crate) failures: BTreeMap<String, String>,
    pub(crate) skips: BTreeMap<String, String>,
    pub(crate) suite: Suite,
    pub(crate) test_runs: usize,
    pub(crate) model_calls: usize,
    pub(crate) seconds: u64,
    pub(crate) warnings: Vec<String>,
    pub(crate) report: String,
}

/// The whole suite on the finished tree.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Suite {
    pub(crate) outcome: String,
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

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
    let run = crate::grow::convert::test_run(&report).map_err(|stop| match stop {
        crate::grow::worker::Stop::Fault(fault) => fault,
        crate::grow::worker::Stop::Cancelled => {
            Fault::new(Exit::Interrupted, "stopped during the whole suite")
        }
    })?;
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

/// Metadata from the plan, the specification and the code; what is missing gets a placeholder and a
/// warning.
fn project(owner: &mut Owner, sources: &BTreeMap<String, String>) -> Project {
    let plan = owner.shop.work.plan.clone();
    let spec = owner
        .order
        .spec
        .as_ref()
        .and_then(|path| std::fs::read_to_string(path).ok())
        .unwrap_or_default();
    let (title, paragraph) = heading(&spec);
    let folder = owner.root.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut warn = |what: &str, used: &str| {
        owner.warnings.push(format!("the plan gives no {what}; `{used}` is used"));
        used.to_owned()
    };
    let name = plan.project_name().or(title);
    let name =
        name.unwrap_or_else(|| warn("project name", folder.as_deref().unwrap_or("grown-project")));
    let description = plan.description().or(paragraph);
    let description = description
        .unwrap_or_else(|| warn("description", "A Python package grown from a planning graph"));
    let version = plan.version().unwrap_or_else(|| "0.1.0".to_owned());
    let requirements = requirements(owner, sources);
    Project {
        name,
        description,
        author: plan.author(),
        version,
        requirements,
        entry_points: entry_points(owner),
    }
}

/// First heading and first paragraph of the specification.
fn heading(spec: &str) -> (Option<String>, Option<String>) {
    let title =
        spec.lines().find_map(|line| line.strip_prefix("# ")).map(|it| it.trim().to_owned());
    let plain =
        |line: &&str| !line.trim().is_empty() && !line.starts_with(['#', '*', '-', '|', '`']);
    (title, spec.lines().find(plain).map(|it| it.trim().to_owned()))
}

/// What the code imports, as the plan's own lines where it has them, else by distribution name.
fn requirements(owner: &Owner, sources: &BTreeMap<String, String>) -> Vec<String> {
    let work = &owner.shop.work;
    let planned: Vec<&String> = work.items.values().flat_map(|item| &item.libraries).collect();
    let line = |module: &String| {
        let distribution = code::known::distribution(module);
        let is_it = |line: &&&String| {
            let name = cycle::assembly::library_name(line);
            name.eq_ignore_ascii_case(distribution) || name.eq_ignore_ascii_case(module)
        };
        planned.iter().find(is_it).map_or_else(|| distribution.to_owned(), |line| (*line).clone())
    };
    let mut lines: Vec<String> = third_party(&work.layout, sources).iter().map(line).collect();
    lines.sort();
    lines.dedup();
    lines
}

/// A passed function `main` in a module that is meant to be started.
fn entry_points(owner: &Owner) -> Vec<(String, String)> {
    let work = &owner.shop.work;
    let started = |item: &&cycle::Item| {
        let module = item.module.rsplit('.').next().unwrap_or_default();
        item.name == "main"
            && item.class.is_none()
            && matches!(module, "cli" | "main" | "__main__" | "app")
    };
    let passed = |item: &&cycle::Item| owner.accepted.contains_key(&item.id);
    let mut out: Vec<(String, String)> = (work.items.values().filter(started).filter(passed))
        .map(|item| {
            let name = item.module.split('.').next().unwrap_or("main").replace('_', "-");
            (name, format!("{}:main", item.module))
        })
        .collect();
    out.sort();
    out
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

fn modules(owner: &Owner) -> Vec<ModuleFacts> {
    let work = &owner.shop.work;
    let mut out: Vec<ModuleFacts> = Vec::new();
    for ix in &work.leaves {
        let item = &work.items[ix];
        if !owner.accepted.contains_key(&item.id) {
            continue;
        }
        let subgraph = work.plan.node(*ix).subgraph.as_deref().unwrap_or("main").to_owned();
        let summary = item.docstring.trim().lines().next().unwrap_or_default().to_owned();
        let definition = (item.qualified_name(), summary, item.examples.clone());
        match out.iter_mut().find(|facts| facts.module == item.module) {
            Some(facts) => facts.definitions.push(definition),
            None => out.push(ModuleFacts {
                subgraph,
                module: item.module.clone(),
                definitions: vec![definition],
            }),
        }
    }
    out.sort_by(|a, b| (&a.subgraph, &a.module).cmp(&(&b.subgraph, &b.module)));
    out
}

fn summary(owner: &Owner, suite: Suite) -> Summary {
    let counts = owner.schedule.counts();
    let of = |status: Status| -> BTreeMap<String, String> {
        let leaves =
            owner.shop.work.leaves.iter().filter(|ix| owner.schedule.status(**ix) == Some(status));
        leaves
            .map(|ix| {
                let reason = owner.schedule.reason(*ix).unwrap_or_default().to_owned();
                (owner.shop.work.plan.id(*ix).to_owned(), reason)
            })
            .collect()
    };
    let mut passed_by_fixes = Vec::new();
    for accepted in owner.accepted.values() {
        let fixes = accepted.fixes as usize;
        if passed_by_fixes.len() <= fixes {
            passed_by_fixes.resize(fixes + 1, 0);
        }
        passed_by_fixes[fixes] += 1;
    }
    let subgraphs = owner.schedule.counts_by_subgraph().into_iter().map(|(name, counts)| {
        let name = name.as_deref().unwrap_or("main").to_owned();
        let (passed, failed) = (counts.passed, counts.failed);
        (name, Counts { planned: counts.total, passed, failed, skipped: counts.skipped })
    });
    Summary {
        out: owner.root.display().to_string(),
        planned: counts.total,
        passed: counts.passed,
        failed: counts.failed,
        skipped: counts.skipped,
        passed_by_fixes,
        subgraphs: subgraphs.collect(),
        failures: of(Status::Failed),
        skips: of(Status::Skipped),
        suite,
        test_runs: owner.cost.runs,
        model_calls: owner.cost.model_calls,
        seconds: owner.progress.seconds(),
        warnings: owner.warnings.clone(),
        report: "docs/generation_report.md".to_owned(),
    }
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

fn facts(owner: &Owner, summary: &Summary, import_cycles: Vec<String>, now: String) -> ReportFacts {
    let line = |name: &str, counts: &Counts| SubgraphLine {
        name: name.to_owned(),
        planned: counts.planned,
        passed: counts.passed,
        failed: counts.failed,
        skipped: counts.skipped,
    };
    let node = |(id, reason): (&String, &String)| {
        let ix = owner.shop.work.plan.find(id);
        NodeLine {
            id: id.clone(),
            name: ix
                .map(|ix| owner.shop.work.plan.qualified_name(ix).into_owned())
                .unwrap_or_default(),
            reason: reason.clone(),
            fixes: owner.checkpoint.get(id).map_or(0, |entry| entry.retry_count),
        }
    };
    let total = Counts {
        planned: summary.planned,
        passed: summary.passed,
        failed: summary.failed,
        skipped: summary.skipped,
    };
    let entries = owner.checkpoint.values();
    let (mut kept, mut passing) = (0, 0);
    for entry in entries {
        kept += entry.test_results.passed + entry.test_results.failed;
        passing += entry.test_results.passed;
    }
    ReportFacts {
        generated: now,
        graph: owner.order.graph.display().to_string(),
        repository: summary.out.clone(),
        model: owner.shop.model.name().to_owned(),
        total: line("all", &total),
        subgraphs: summary.subgraphs.iter().map(|(name, counts)| line(name, counts)).collect(),
        failed: summary.failures.iter().map(node).collect(),
        skipped: summary.skips.iter().map(node).collect(),
        by_fixes: summary.passed_by_fixes.clone(),
        tests_planned: kept,
        tests_passing: passing,
        suite: Some(format!(
            "{} ({} passed, {} failed)",
            summary.suite.outcome, summary.suite.passed, summary.suite.failed
        )),
        runs: summary.test_runs,
        model_calls: summary.model_calls,
        seconds: summary.seconds,
        tools: vec![("traceback".to_owned(), owner.cost.searches, owner.cost.search_hits)],
        dependencies: confirmed(owner),
        import_cycles,
        warnings: summary.warnings.clone(),
        git_log: milestones(owner),
    }
}

/// Subjects of the commits that mark progress; the report's own commit is not among them.
fn milestones(owner: &Owner) -> Vec<String> {
    let mut log = owner.git.as_ref().map(|git| git.log()).unwrap_or_default();
    // A crash between a commit and its line in the journal makes the same commit twice.
    let mut seen = BTreeSet::new();
    log.retain(|subject| !subject.starts_with("docs: ") && seen.insert(subject.clone()));
    log
}

/// Planned dependencies between passed nodes that the dependent's text names, and all of them.
fn confirmed(owner: &Owner) -> (usize, usize) {
    let work = &owner.shop.work;
    let (mut used, mut planned) = (0, 0);
    for ix in &work.leaves {
        let Some(accepted) = owner.accepted.get(work.plan.id(*ix)) else { continue };
        let words = code::identifiers(&accepted.implementation).unwrap_or_default();
        for other in work
            .plan
            .depends_on(*ix)
            .iter()
            .filter(|other| work.plan.class_of(*ix) != Some(**other))
        {
            let Some(item) = work.items.get(other) else { continue };
            planned += 1;
            let named = words.contains(item.import_name())
                || accepted.implementation.contains(&format!(".{}", item.name));
            used += usize::from(named);
        }
    }
    (used, planned)
}
