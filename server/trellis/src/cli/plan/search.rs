//! `trellis plan search`: finds nodes by a typed query.

use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use trellis_plan::{NodeHit, Plan};

use super::Graph;
use crate::output::{Output, color};
use trellis_server::api::plan_search::{By, PlanSearchParams, Searched};
use trellis_workflows::fault::{Exit, Fault};

/// Find nodes by name or by what they do.
///
/// Names may be misspelled; descriptions may use other words.
#[derive(Args)]
pub(super) struct SearchArgs {
    #[command(flatten)]
    graph: Graph,
    /// A name, a description or an error message.
    #[arg(required_unless_present = "queries", conflicts_with = "queries")]
    query: Option<String>,
    /// Answer every line of this file, each with its time.
    #[arg(long, value_name = "FILE")]
    queries: Option<PathBuf>,
    /// Show at most this many nodes, and any that score like the last one.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    top: u32,
    /// Only nodes of this subgraph.
    #[arg(long, value_name = "ID", conflicts_with = "all")]
    subgraph: Option<String>,
    /// Search all subgraphs (the default).
    #[arg(long)]
    all: bool,
    /// Embedding model: builtin, openai:MODEL or ollama:MODEL.
    #[arg(long, value_name = "MODEL", env = "TRELLIS_EMBEDDINGS", default_value = "builtin")]
    embeddings: String,
    /// Search by names, by meaning, or both.
    #[arg(long, value_name = "WHAT", default_value = "both")]
    by: By,
}

pub(super) async fn run(args: &SearchArgs, output: &mut Output) -> Result<Exit, Fault> {
    let params = PlanSearchParams {
        graph: args.graph.rpg.clone(),
        dialect: args.graph.dialect.map(Into::into),
        query: args.query.clone().unwrap_or_default(),
        top: args.top,
        subgraph: args.subgraph.clone(),
        embeddings: args.embeddings.clone(),
        by: args.by,
    };
    let plan = super::load(&params.graph, params.dialect, output)?;
    let queries = queries(args, &params)?;
    let mut since = Instant::now();
    let mut searched = Searched::of(&plan, &params).await?;
    for query in &queries {
        let hits = searched.find(query).await?;
        let mut result = searched.result(query, &hits);
        if args.queries.is_some() {
            result.milliseconds = Some(since.elapsed().as_secs_f64() * 1000.0);
        }
        if output.is_json() {
            output.json(&result)?;
        } else {
            show(&plan, query, &hits, args, output)?;
        }
        since = Instant::now();
    }
    Ok(Exit::Done)
}

/// Returns the queries; the time of the first query in a file includes the preparation.
fn queries(args: &SearchArgs, params: &PlanSearchParams) -> Result<Vec<String>, Fault> {
    let Some(path) = &args.queries else { return Ok(vec![params.query.clone()]) };
    let text = fs::read_to_string(path).map_err(|e| {
        Fault::input(format!("cannot read the queries {}: {e}", path.display()))
            .hint("give a file of text with one query a line")
    })?;
    Ok(text.lines().filter(|it| !it.trim().is_empty()).map(str::to_owned).collect())
}

fn show(
    plan: &Plan,
    query: &str,
    hits: &[NodeHit],
    args: &SearchArgs,
    output: &mut Output,
) -> Result<(), Fault> {
    if args.queries.is_some() {
        output.text(query)?;
    }
    if hits.is_empty() {
        let inside = args.subgraph.as_ref().map(|it| format!(" in the subgraph {it}"));
        let inside = inside.unwrap_or_default();
        return output.text(format_args!("no node{inside} matches {query:?}; try other words"));
    }
    let marks = if color::is_on() { ("\x1b[1m", "\x1b[0m") } else { ("*", "*") };
    output.stream(|out| hits.iter().try_for_each(|hit| line(plan, hit, marks, out)))
}

/// Writes score, name, path and id, and the first line of the docstring below.
fn line(plan: &Plan, hit: &NodeHit, marks: (&str, &str), out: &mut impl Write) -> io::Result<()> {
    let node = plan.node(hit.node);
    let name = marked(&plan.qualified_name(hit.node), &hit.in_name, marks);
    let path = node.file_path.as_deref().unwrap_or("-");
    writeln!(out, "{:.4}  {name}  {path}  ({})", hit.score, node.id)?;
    let docstring = node.docstring.as_deref().unwrap_or_default();
    let first = docstring.split('\n').next().unwrap_or_default().trim_end();
    let inside: Vec<_> =
        hit.in_docstring.iter().filter(|it| it.end <= first.len()).cloned().collect();
    if first.is_empty() {
        Ok(())
    } else {
        writeln!(out, "        {}", marked(first, &inside, marks))
    }
}

/// Returns a text with its matched words between marks.
fn marked(text: &str, ranges: &[Range<usize>], (before, after): (&str, &str)) -> String {
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for range in ranges {
        out.push_str(&text[end..range.start]);
        out.push_str(before);
        out.push_str(&text[range.clone()]);
        out.push_str(after);
        end = range.end;
    }
    out + &text[end..]
}
