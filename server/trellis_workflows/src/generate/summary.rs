//! The figures of a run, for the command line and for the report.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use trellis_engine::Tool;
use trellis_engine::assembly::{
    AcceptanceLine, CostLine, IntegrationLine, ReportFacts, SentenceLine, SubgraphLine,
    UnconfirmedLine,
};
use trellis_plan::Status;

use crate::generate::dispatcher::Dispatcher;
use crate::generate::failure_lines::node_line;
use crate::generate::failure_reasons::failures;
use crate::generate::findings::Findings;
use crate::generate::sentences::sentence_lines;
use crate::generate::test_function_counts::by_stage;
use trellis_project::symbols::plan_comparison::MissingDependency;
use trellis_store::cost::{StageCost, TOOLS};
use trellis_store::journal::{Accepted, IntegrationResult};

/// Number of nodes that the report lists with their cost.
const DEAREST: usize = 10;

/// Counts of one subgraph or of the whole plan.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    pub planned: usize,
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
}

/// Output of `generate --json`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub out: String,
    #[serde(rename = "planned")]
    pub planned: usize,
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
    /// Passed nodes by number of fixes, from 0.
    pub passed_by_fixes: Vec<usize>,
    /// Passed nodes that kept their text of an earlier start after a dependency changed.
    pub kept: usize,
    pub subgraphs: BTreeMap<String, Counts>,
    pub failures: BTreeMap<String, String>,
    pub skips: BTreeMap<String, String>,
    pub suite: Suite,
    /// Sentences of the specification that describe something to build; null if the plan has none.
    pub specification: Option<ProvedSentences>,
    /// Acceptance tests of the specification's features.
    pub acceptance: Vec<AcceptedFeature>,
    /// Integration tests by subgraph, for subgraphs that passed as a whole.
    pub integration: BTreeMap<String, Flows>,
    pub test_runs: usize,
    pub model_calls: usize,
    /// Everything paid for models, including earlier starts of the run and unused replies.
    pub spent: SpentLine,
    pub seconds: u64,
    pub warnings: Vec<String>,
    pub report: String,
}

/// Number of sentences that tests proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProvedSentences {
    pub sentences: usize,
    /// Sentences with nodes, all of which passed.
    pub proved: usize,
}

fn proved(lines: &[SentenceLine]) -> Option<ProvedSentences> {
    let proved = lines.iter().filter(|it| it.is_proved).count();
    (!lines.is_empty()).then_some(ProvedSentences { sentences: lines.len(), proved })
}

/// Result of the acceptance tests of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AcceptanceOutcome {
    /// All tests passed on the finished files.
    Holds,
    /// A test failed there.
    Fails,
    /// A person edited the tests; the whole suite says whether they pass.
    Edited,
    /// There are no tests.
    Untested,
}

/// A feature of the specification with the result of its acceptance tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedFeature {
    pub feature: String,
    /// Numbers of its sentences.
    pub sentences: Vec<usize>,
    pub outcome: AcceptanceOutcome,
    /// The reason, unless it holds.
    pub reason: Option<String>,
    /// Path of the tests in the repository; null unless they hold or were edited.
    pub path: Option<String>,
}

impl AcceptedFeature {
    fn of(line: AcceptanceLine) -> AcceptedFeature {
        let outcome = match line.holds() {
            true => AcceptanceOutcome::Holds,
            false if line.is_edited => AcceptanceOutcome::Edited,
            false if line.has_tests => AcceptanceOutcome::Fails,
            false => AcceptanceOutcome::Untested,
        };
        let AcceptanceLine { feature, sentences, reason, path, .. } = line;
        let path = match outcome {
            AcceptanceOutcome::Holds | AcceptanceOutcome::Edited => Some(path),
            AcceptanceOutcome::Fails | AcceptanceOutcome::Untested => None,
        };
        AcceptedFeature { feature, sentences, outcome, reason, path }
    }
}

/// Tokens and their cost.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SpentLine {
    pub tokens: u64,
    /// US dollars.
    pub usd: f64,
}

/// Result of the whole suite on the finished tree.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Suite {
    pub outcome: String,
    pub passed: usize,
    pub failed: usize,
    /// Test functions that failed, each counted once however many of its cases failed.
    #[serde(skip)]
    pub failing: usize,
}

/// Integration tests of one subgraph.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Flows {
    /// `passed`, `failed`, or the reason for having none.
    pub outcome: String,
    pub passed: usize,
    pub failed: usize,
    /// Tests that failed and were left out, with the reason.
    pub left_out: Vec<String>,
}

fn integration(owner: &Dispatcher) -> BTreeMap<String, Flows> {
    let flows = |it: &IntegrationResult| Flows {
        outcome: it.outcome.clone(),
        passed: it.passed,
        failed: it.failed,
        left_out: it.left_out.clone(),
    };
    owner.integrated.iter().map(|(name, it)| (name.clone(), flows(it))).collect()
}

/// Returns the figures of a run that came to its end.
pub(super) fn summary(owner: &Dispatcher, suite: Suite) -> Summary {
    let counts = owner.schedule.counts();
    let broken = owner.broken.len();
    let of = |status: Status| -> BTreeMap<String, String> {
        let leaves = owner
            .run_context
            .work
            .leaves
            .iter()
            .filter(|ix| owner.schedule.status(**ix) == Some(status));
        leaves
            .map(|ix| {
                let reason = owner.schedule.reason(*ix).unwrap_or_default().to_owned();
                (owner.run_context.work.plan.id(*ix).to_owned(), reason)
            })
            .collect()
    };
    let mut passed_by_fixes = Vec::new();
    let stands = |it: &&Accepted| !owner.broken.contains_key(&it.node);
    for accepted in owner.accepted.values().filter(stands) {
        let fixes = accepted.fixes as usize;
        if passed_by_fixes.len() <= fixes {
            passed_by_fixes.resize(fixes + 1, 0);
        }
        passed_by_fixes[fixes] += 1;
    }
    let subgraphs = owner.schedule.counts_by_subgraph().into_iter().map(|(name, counts)| {
        let name = name.as_deref().unwrap_or("main").to_owned();
        let broken = owner.broken.keys().filter(|id| subgraph_of(owner, id) == name).count();
        let (passed, failed) = (counts.passed - broken, counts.failed + broken);
        (name, Counts { planned: counts.total, passed, failed, skipped: counts.skipped })
    });
    let spent = owner.run_context.llm.budget.spent();
    Summary {
        out: owner.root.display().to_string(),
        planned: counts.total,
        passed: counts.passed - broken,
        failed: counts.failed + broken,
        skipped: counts.skipped,
        passed_by_fixes,
        kept: owner.kept,
        subgraphs: subgraphs.collect(),
        failures: of(Status::Failed).into_iter().chain(owner.broken.clone()).collect(),
        skips: of(Status::Skipped),
        suite,
        specification: proved(&sentence_lines(owner)),
        acceptance: owner.acceptance.lines().into_iter().map(AcceptedFeature::of).collect(),
        integration: integration(owner),
        test_runs: owner.cost.runs,
        model_calls: owner.cost.model_calls,
        spent: SpentLine { tokens: spent.tokens, usd: spent.usd },
        seconds: owner.progress.seconds(),
        warnings: owner.warnings.clone(),
        report: "docs/generation_report.md".to_owned(),
    }
}

fn subgraph_of<'o>(owner: &'o Dispatcher, id: &str) -> &'o str {
    let plan = &owner.run_context.work.plan;
    plan.find(id).and_then(|ix| plan.node(ix).subgraph.as_deref()).unwrap_or("main")
}

/// Collects the facts for the report.
pub(super) fn facts(
    owner: &Dispatcher,
    summary: &Summary,
    found: &Findings,
    now: String,
) -> ReportFacts {
    let line = |name: &str, counts: &Counts| SubgraphLine {
        name: name.to_owned(),
        planned: counts.planned,
        passed: counts.passed,
        failed: counts.failed,
        skipped: counts.skipped,
    };
    let known = match summary.failures.is_empty() && summary.skips.is_empty() {
        true => BTreeMap::new(),
        false => failures(&owner.root),
    };
    let node = |(id, reason): (&String, &String)| {
        node_line(owner, known.get(id).map(|it| &it.facts), id, reason)
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
        sentences: sentence_lines(owner),
        acceptance: owner.acceptance.lines(),
        generated: now,
        graph: owner.order.graph.display().to_string(),
        repository: summary.out.clone(),
        model: owner.run_context.llm.models.name(),
        total: line("all", &total),
        subgraphs: summary.subgraphs.iter().map(|(name, counts)| line(name, counts)).collect(),
        failed: summary.failures.iter().map(node).collect(),
        skipped: summary.skips.iter().map(node).collect(),
        by_fixes: summary.passed_by_fixes.clone(),
        tests_planned: kept,
        tests_passing: passing,
        functions: by_stage(owner, &known).to_vec(),
        functions_failing: summary.suite.failing,
        suite: Some(format!(
            "{} ({} passed, {} failed)",
            summary.suite.outcome, summary.suite.passed, summary.suite.failed
        )),
        integration: (summary.integration.iter())
            .map(|(name, it)| IntegrationLine {
                subgraph: name.clone(),
                outcome: it.outcome.clone(),
                passed: it.passed,
                failed: it.failed,
                left_out: it.left_out.clone(),
            })
            .collect(),
        regressions: (owner.cost.regressions_passed, owner.cost.regressions),
        coverage: covered(owner),
        flaky: owner.accepted.values().flat_map(|it| &it.flaky).cloned().collect(),
        runs: summary.test_runs,
        model_calls: summary.model_calls,
        seconds: summary.seconds,
        stages: owner.cost.stages.iter().map(|(name, it)| line_of(name, it)).collect(),
        dearest: dearest(owner),
        tools: tools(owner),
        dependencies: (found.planned.confirmed.len(), found.planned.planned),
        unconfirmed: found.planned.missing.iter().map(unconfirmed).collect(),
        import_cycles: found.import_cycles.clone(),
        unrequired: found.unrequired.clone(),
        validation: found.validation.clone(),
        warnings: summary.warnings.clone(),
        git_log: milestones(owner),
    }
}

fn line_of(name: &str, cost: &StageCost) -> CostLine {
    CostLine {
        name: name.to_owned(),
        calls: cost.calls,
        input_tokens: cost.input_tokens,
        output_tokens: cost.output_tokens,
        usd: cost.usd(),
    }
}

/// Returns the nodes whose requests used the most tokens. The checkpoint lists all nodes.
fn dearest(owner: &Dispatcher) -> Vec<CostLine> {
    let costs = owner.checkpoint.iter().filter_map(|(id, entry)| {
        let it = entry.model?;
        Some(CostLine {
            name: id.clone(),
            calls: it.calls,
            input_tokens: it.input_tokens,
            output_tokens: it.output_tokens,
            usd: it.usd,
        })
    });
    let mut costs: Vec<CostLine> = costs.collect();
    // The sort is stable: equal nodes stay in the order of their ids.
    costs.sort_by_key(|it| std::cmp::Reverse(it.input_tokens + it.output_tokens));
    costs.truncate(DEAREST);
    costs
}

/// Returns the localization tools that were used, with their tries and hits.
fn tools(owner: &Dispatcher) -> Vec<(String, usize, usize)> {
    const { assert!(Tool::ALL.len() == TOOLS) };
    let all = Tool::ALL.into_iter().zip(owner.cost.tools);
    let used = all.filter(|(_, [tries, _])| *tries > 0);
    used.map(|(tool, [tries, hits])| (tool.as_str().to_owned(), tries, hits)).collect()
}

/// Returns the mean coverage of the measured nodes, in percent.
fn covered(owner: &Dispatcher) -> Option<usize> {
    let measured: Vec<usize> =
        owner.checkpoint.values().filter_map(|it| it.coverage).map(|it| it as usize).collect();
    measured.iter().sum::<usize>().checked_div(measured.len())
}

/// Returns the subjects of the commits that mark progress, without the report's own commit.
fn milestones(owner: &Dispatcher) -> Vec<String> {
    let mut log = owner.git.as_ref().map(|git| git.log()).unwrap_or_default();
    // A crash between a commit and its journal line makes the same commit twice.
    let mut seen = BTreeSet::new();
    log.retain(|subject| !subject.starts_with("docs: ") && seen.insert(subject.clone()));
    log
}

fn unconfirmed(it: &MissingDependency) -> UnconfirmedLine {
    UnconfirmedLine { from: it.from.clone(), to: it.to.clone(), is_possible: it.possible }
}
