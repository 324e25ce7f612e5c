//! Rendering of `docs/generation_report.md` (appendix C, A5).

use std::fmt::Write as _;

use crate::assembly::acceptance::{AcceptanceLine, acceptance};
use crate::assembly::recommendations::recommendations;
use crate::assembly::specification::{SentenceLine, specification};
use crate::assembly::test_results::tests;
use crate::assembly::unrequired::UnrequiredLine;
use crate::assembly::validation::{ValidationLine, validation};
use crate::integration::NO_FLOWS;

/// A node with an explanation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeLine {
    pub id: String,
    pub name: String,
    pub reason: String,
    pub fixes: u32,
    pub root_cause: Option<String>,
    pub recommendation: Option<String>,
}

/// One row of the breakdown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubgraphLine {
    pub name: String,
    pub planned: usize,
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
}

/// Integration tests of one subgraph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntegrationLine {
    pub subgraph: String,
    /// `passed`, `failed`, or the reason why there are no tests.
    pub outcome: String,
    pub passed: usize,
    pub failed: usize,
    pub left_out: Vec<String>,
}

impl IntegrationLine {
    /// Returns the reason why there are no tests although data flows exist: none of the model's
    /// tests could be run.
    pub(crate) fn missing(&self) -> Option<&str> {
        let is_run = matches!(self.outcome.as_str(), "passed" | "failed" | NO_FLOWS);
        (!is_run).then(|| self.outcome.lines().next().unwrap_or_default())
    }
}

/// A planned dependency without a certain use in the code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnconfirmedLine {
    pub from: String,
    pub to: String,
    /// True if a use of unknown type may be the planned one.
    pub is_possible: bool,
}

/// Test functions of one stage; each counts once, whatever its number of cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionsLine {
    /// `unit`, `integration` or `acceptance`.
    pub stage: &'static str,
    pub written: usize,
    /// Functions in the repository; the others were left out.
    pub kept: usize,
}

/// Cost of the requests of one stage or one node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CostLine {
    pub name: String,
    pub calls: usize,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Price in US dollars.
    pub usd: f64,
}

/// All facts of the report. Times are text, because the caller has the clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportFacts {
    pub generated: String,
    pub graph: String,
    pub repository: String,
    pub model: String,
    pub total: SubgraphLine,
    pub subgraphs: Vec<SubgraphLine>,
    /// Sentences of the specification that describe something to build.
    pub sentences: Vec<SentenceLine>,
    pub failed: Vec<NodeLine>,
    pub skipped: Vec<NodeLine>,
    /// Passed nodes by number of fixes; index 0 counts those without a fix.
    pub by_fixes: Vec<usize>,
    /// Number of cases of unit tests, and of those that pass: a parametrized function has one case
    /// for each row.
    pub tests_planned: usize,
    pub tests_passing: usize,
    /// Test functions by stage.
    pub functions: Vec<FunctionsLine>,
    /// Number of kept test functions that fail in the whole suite.
    pub functions_failing: usize,
    /// Last run of the whole suite, in one line; `None` if it did not run.
    pub suite: Option<String>,
    pub runs: usize,
    pub model_calls: usize,
    pub seconds: u64,
    /// Cost by stage, as far as tokens were counted.
    pub stages: Vec<CostLine>,
    /// The nodes whose requests took the most tokens.
    pub dearest: Vec<CostLine>,
    /// Acceptance tests of the specification's features.
    pub acceptance: Vec<AcceptanceLine>,
    /// Integration tests of subgraphs that passed as a whole.
    pub integration: Vec<IntegrationLine>,
    /// Number of passed regression runs, and of all.
    pub regressions: (usize, usize),
    /// Mean coverage of the measured nodes, in percent.
    pub coverage: Option<usize>,
    /// Tests that failed and then passed unchanged.
    pub flaky: Vec<String>,
    /// Localization tools: name, tries, hits.
    pub tools: Vec<(String, usize, usize)>,
    /// Number of planned dependencies that the code uses, and of all planned ones between existing
    /// nodes.
    pub dependencies: (usize, usize),
    /// The planned dependencies without a certain use.
    pub unconfirmed: Vec<UnconfirmedLine>,
    pub import_cycles: Vec<String>,
    /// Third-party modules that no requirement of plan or project names.
    pub unrequired: Vec<UnrequiredLine>,
    /// Checks of the repository.
    pub validation: Vec<ValidationLine>,
    pub warnings: Vec<String>,
    pub git_log: Vec<String>,
}

/// Renders the report as markdown.
pub fn report(facts: &ReportFacts) -> String {
    let mut out = String::from("# Code Generation Report\n\n");
    let _ = write!(
        out,
        "**Generated**: {}  \n**RPG Input**: {}  \n**Repository Output**: {}  \n**Model**: {}\n\n",
        facts.generated, facts.graph, facts.repository, facts.model
    );
    summary(&mut out, facts);
    breakdown(&mut out, facts);
    specification(&mut out, &facts.sentences);
    acceptance(&mut out, &facts.acceptance);
    nodes(&mut out, "Failed nodes", &facts.failed);
    nodes(&mut out, "Skipped nodes", &facts.skipped);
    tests(&mut out, facts);
    performance(&mut out, facts);
    costs(&mut out, facts);
    validation(&mut out, &facts.validation, &facts.total);
    bullets(&mut out, "Circular imports", &facts.import_cycles);
    bullets(&mut out, "Imports that nothing requires", &unrequired(&facts.unrequired));
    bullets(&mut out, "Warnings", &facts.warnings);
    bullets(&mut out, "Git log", &facts.git_log);
    bullets(&mut out, "Recommendations", &recommendations(facts));
    out
}

pub(crate) fn percent(part: usize, whole: usize) -> String {
    let rounded = (part * 100 + whole / 2).checked_div(whole);
    rounded.map_or_else(|| "N/A".to_owned(), |rounded| format!("{rounded}%"))
}

fn summary(out: &mut String, facts: &ReportFacts) {
    let total = &facts.total;
    let share = |part| percent(part, total.planned);
    let _ = write!(
        out,
        "## Summary\n\n- **Total Nodes Planned**: {}\n- **Nodes Passed**: {} ({})\n- **Nodes Failed**: {} ({})\n- **Nodes Skipped**: {} ({})\n\n",
        total.planned,
        total.passed,
        share(total.passed),
        total.failed,
        share(total.failed),
        total.skipped,
        share(total.skipped)
    );
}

fn breakdown(out: &mut String, facts: &ReportFacts) {
    out.push_str("## Breakdown by Subgraph\n\n| Subgraph | Nodes | Passed | Failed | Skipped | Pass Rate |\n|---|---|---|---|---|---|\n");
    for line in &facts.subgraphs {
        let rate = match line.skipped == line.planned {
            true => "N/A (skipped)".to_owned(),
            false => percent(line.passed, line.planned),
        };
        let name = line.name.replace('|', "\\|");
        let _ = writeln!(
            out,
            "| {name} | {} | {} | {} | {} | {rate} |",
            line.planned, line.passed, line.failed, line.skipped
        );
    }
    out.push('\n');
}

fn nodes(out: &mut String, title: &str, nodes: &[NodeLine]) {
    if nodes.is_empty() {
        return;
    }
    let _ = write!(out, "## {title}\n\n");
    for node in nodes {
        let _ = write!(out, "### {}: {}\n- **Reason**: {}\n", node.id, node.name, node.reason);
        if node.fixes > 0 {
            let _ = writeln!(out, "- **Debug Iterations**: {}", node.fixes);
        }
        let reported = [("Root Cause", &node.root_cause), ("Recommendation", &node.recommendation)];
        for (title, text) in
            reported.into_iter().filter_map(|(title, it)| Some((title, it.as_ref()?)))
        {
            let _ = writeln!(out, "- **{title}**: {text}");
        }
        out.push('\n');
    }
}

fn performance(out: &mut String, facts: &ReportFacts) {
    let (minutes, seconds) = (facts.seconds / 60, facts.seconds % 60);
    let nodes = (facts.total.passed + facts.total.failed).max(1) as u64;
    let (used, planned) = facts.dependencies;
    let _ = write!(
        out,
        "## Performance\n\n- **Generation Time**: {minutes} min {seconds} s\n- **Average Time per Node**: {} s\n- **Test Runs**: {}\n- **Model Calls**: {}\n- **Planned dependencies used**: {used}/{planned} ({})\n",
        facts.seconds / nodes,
        facts.runs,
        facts.model_calls,
        percent(used, planned)
    );
    unconfirmed(out, &facts.unconfirmed);
    for (tool, tries, hits) in &facts.tools {
        let _ = writeln!(
            out,
            "- **Localization by {tool}**: {hits}/{tries} ({})",
            percent(*hits, *tries)
        );
    }
    out.push('\n');
}

/// Maximum number of unconfirmed dependencies that are listed.
const UNCONFIRMED: usize = 10;

fn unconfirmed(out: &mut String, lines: &[UnconfirmedLine]) {
    for it in lines.iter().take(UNCONFIRMED) {
        let how = match it.is_possible {
            true => "may use",
            false => "does not use",
        };
        let _ = writeln!(out, "  - `{}` {how} `{}`", it.from, it.to);
    }
    if lines.len() > UNCONFIRMED {
        let _ = writeln!(out, "  - and {} more", lines.len() - UNCONFIRMED);
    }
}

/// Renders the costs; nothing if no tokens were counted, as in a recording without them.
fn costs(out: &mut String, facts: &ReportFacts) {
    if facts.stages.iter().all(|it| it.input_tokens + it.output_tokens == 0) {
        return;
    }
    out.push_str(
        "## Cost\n\n| | Prompts | Input tokens | Output tokens | US dollars \
         |\n|---|---|---|---|---|\n",
    );
    let mut all = CostLine { name: "**all**".to_owned(), ..CostLine::default() };
    for it in &facts.stages {
        cost(out, it, &format!("stage `{}`", it.name));
        all.calls += it.calls;
        all.input_tokens += it.input_tokens;
        all.output_tokens += it.output_tokens;
        all.usd += it.usd;
    }
    cost(out, &all, &all.name);
    for it in &facts.dearest {
        cost(out, it, &format!("node `{}`", it.name.replace('|', "\\|")));
    }
    out.push('\n');
}

fn cost(out: &mut String, it: &CostLine, name: &str) {
    let (calls, input, output, usd) = (it.calls, it.input_tokens, it.output_tokens, it.usd);
    let price = match usd == 0.0 && input + output > 0 {
        true => "unknown".to_owned(),
        false => format!("{usd:.4}"),
    };
    let _ = writeln!(out, "| {name} | {calls} | {input} | {output} | {price} |");
}

fn bullets(out: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() {
        let _ = write!(out, "## {title}\n\n");
        lines.iter().for_each(|line| {
            let _ = writeln!(out, "- {line}");
        });
        out.push('\n');
    }
}

fn unrequired(lines: &[UnrequiredLine]) -> Vec<String> {
    let list =
        |all: &[String]| all.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
    let line = |it: &UnrequiredLine| {
        let nodes = match it.nodes.is_empty() {
            true => String::new(),
            false => format!(" (nodes {})", list(&it.nodes)),
        };
        let (module, distribution) = (&it.module, &it.distribution);
        format!(
            "`{module}` in {}{nodes}: assumed to be part of the distribution `{distribution}`",
            list(&it.files)
        )
    };
    lines.iter().map(line).collect()
}
