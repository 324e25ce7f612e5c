//! `trellis plan trace`: follows the sentences of a specification to nodes and tests.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use trellis_os::wording::counted;

use super::Graph;
use crate::output::Output;
use trellis_server::api::plan_trace::{
    PlanTraceParams, PlanTraceResult, ServingNode, TraceGap, TracedSentence, plan_trace,
};
use trellis_workflows::fault::{Exit, Fault};

/// Length of a sentence in the table, in characters.
const WIDTH: usize = 90;

/// Show which nodes and tests serve each sentence of a specification.
///
/// Sentences that no node serves, nodes that serve no sentence, and sentences that changed are
/// problems.
#[derive(Args)]
pub(super) struct TraceArgs {
    #[command(flatten)]
    graph: Graph,
    /// Specification in Markdown or text [default: the file that the graph names].
    #[arg(long, value_name = "SPEC")]
    spec: Option<PathBuf>,
    /// Show tests and states of the run in this folder [default: DIR, if GRAPH is in DIR/docs].
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
}

pub(super) fn run(args: &TraceArgs, output: &mut Output) -> Result<Exit, Fault> {
    let Graph { rpg, dialect } = &args.graph;
    let params = PlanTraceParams {
        graph: rpg.clone(),
        dialect: dialect.map(Into::into),
        spec: args.spec.clone(),
        run: args.run.clone(),
    };
    let result = plan_trace(&params)?;
    result.notes.iter().for_each(|it| output.note(it));
    if output.is_json() {
        output.json(&result)?;
    } else {
        output.text(text(&result).trim_end())?;
    }
    Ok(if result.problems.is_empty() { Exit::Done } else { Exit::BadInput })
}

fn text(it: &PlanTraceResult) -> String {
    let mut out: String = it.sentences.iter().map(sentence).collect();
    out += &it.problems.iter().map(problem).collect::<String>();
    let served = it.sentences.iter().filter(|it| !it.nodes.is_empty()).count();
    let count = match it.problems.len() {
        0 => "no problems".to_owned(),
        count => counted(count, "problem", "problems"),
    };
    let all = counted(it.sentences.len(), "sentence", "sentences");
    out + &format!("{count}; nodes serve {served} of {all}")
}

fn sentence(it: &TracedSentence) -> String {
    let mark = match it.kind {
        "heading" => "# ",
        "code" | "table" => &format!("({}) ", it.kind),
        _ => "",
    };
    let background = if it.background { "  (background)" } else { "" };
    let mut out = format!("{:>3}  {mark}{}{background}\n", it.number, shortened(&it.text));
    it.nodes.iter().for_each(|it| {
        let _ = writeln!(out, "       {}{}", it.id, state(it));
    });
    out
}

/// Returns the state of a node, with the counts of its tests.
fn state(it: &ServingNode) -> String {
    let mut parts: Vec<String> = it.status.iter().cloned().collect();
    if it.passed > 0 {
        parts.push(counted(it.passed, "test passed", "tests passed"));
    }
    if it.failed > 0 {
        parts.push(counted(it.failed, "test failed", "tests failed"));
    }
    if parts.is_empty() { String::new() } else { format!("  {}", parts.join(", ")) }
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(WIDTH).collect();
    if short.len() < line.len() { format!("{short}…") } else { short }
}

fn problem(it: &TraceGap) -> String {
    format!("problem: [{}] {}\n  hint: {}\n", it.kind, it.message, it.hint)
}
