//! `trellis plan search`: nodes by what somebody types.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use plan::{Evidence, NodeHit, Plan, PlanSearch};
use serde_json::{Value, json};

use super::Graph;
use crate::error::{Exit, Fault};
use crate::output::Output;
use crate::vectors::Space;

/// Find nodes by a name, however it is written, or by what they do, in any words.
#[derive(Args)]
pub(super) struct SearchArgs {
    #[command(flatten)]
    graph: Graph,
    /// What is looked for: a name, a description, an error message.
    #[arg(required_unless_present = "queries", conflicts_with = "queries")]
    query: Option<String>,
    /// A file of queries, one a line, answered one after the other, each with its time.
    #[arg(long, value_name = "FILE")]
    queries: Option<PathBuf>,
    /// How many nodes to show; those as good as the last one are shown too.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    top: u32,
    /// Only nodes of this subgraph.
    #[arg(long, value_name = "ID", conflicts_with = "all")]
    subgraph: Option<String>,
    /// Nodes of all subgraphs, as without --subgraph.
    #[arg(long)]
    all: bool,
    /// Whose vectors say what texts mean: builtin, openai:MODEL or ollama:MODEL.
    #[arg(long, value_name = "MODEL", env = "TRELLIS_EMBEDDINGS", default_value = "builtin")]
    embeddings: String,
    /// What to go by.
    #[arg(long, value_name = "WHAT", default_value = "both")]
    by: By,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// Meaning, words and names.
    Both,
    /// Words and names; no model is asked.
    Words,
    /// Meaning alone.
    Meaning,
}

/// A plan, ready for any number of queries.
struct Searched<'a> {
    plan: &'a Plan,
    search: PlanSearch,
    by: By,
    /// `None` where meaning does not count.
    space: Option<Space>,
    subgraph: Option<&'a str>,
    top: usize,
}

pub(super) async fn run(args: &SearchArgs, output: &mut Output) -> Result<Exit, Fault> {
    let plan = super::load(&args.graph, output)?;
    known_subgraph(&plan, args.subgraph.as_deref())?;
    let queries = queries(args)?;
    let mut since = Instant::now();
    let mut searched = Searched::of(&plan, args).await?;
    for query in &queries {
        let hits = searched.find(query).await?;
        let mut shape = shape(&plan, query, &hits);
        if args.queries.is_some() {
            shape["milliseconds"] = json!(since.elapsed().as_secs_f64() * 1000.0);
        }
        if output.is_json() {
            output.json(&shape)?;
        } else {
            show(&plan, query, &hits, args, output)?;
        }
        since = Instant::now();
    }
    Ok(Exit::Done)
}

/// What was asked; the time of the first query in a file includes getting ready.
fn queries(args: &SearchArgs) -> Result<Vec<String>, Fault> {
    let Some(path) = &args.queries else { return Ok(args.query.iter().cloned().collect()) };
    let text = fs::read_to_string(path).map_err(|e| {
        Fault::input(format!("cannot read the queries {}: {e}", path.display()))
            .hint("give a file of text with one query a line")
    })?;
    Ok(text.lines().filter(|it| !it.trim().is_empty()).map(str::to_owned).collect())
}

fn known_subgraph(plan: &Plan, wanted: Option<&str>) -> Result<(), Fault> {
    let leaves = plan.nodes().iter().filter(|it| it.is_leaf());
    let all: BTreeSet<&str> = leaves.filter_map(|it| it.subgraph.as_deref()).collect();
    match wanted {
        Some(wanted) if !all.contains(wanted) => {
            let all: Vec<&str> = all.into_iter().collect();
            Err(Fault::input(format!("the plan has no subgraph `{wanted}`"))
                .hint(format!("it has {}", all.join(", "))))
        }
        _ => Ok(()),
    }
}

impl<'a> Searched<'a> {
    async fn of(plan: &'a Plan, args: &'a SearchArgs) -> Result<Searched<'a>, Fault> {
        let search = PlanSearch::of(plan);
        let space = match args.by {
            By::Words => None,
            By::Both | By::Meaning => Some(Space::open(&args.embeddings, search.facets()).await?),
        };
        let (subgraph, top) = (args.subgraph.as_deref(), args.top as usize);
        Ok(Searched { plan, search, by: args.by, space, subgraph, top })
    }

    async fn find(&mut self, query: &str) -> Result<Vec<NodeHit>, Fault> {
        let similarities = match &mut self.space {
            Some(space) => space.similarities(query).await?,
            None => Vec::new(),
        };
        let evidence = match self.by {
            By::Both => Evidence::Both(&similarities),
            By::Words => Evidence::Words,
            By::Meaning => Evidence::Meaning(&similarities),
        };
        let hits = self.search.find(self.plan, query, evidence, self.subgraph, self.top);
        hits.ok_or_else(|| {
            Fault::new(Exit::Usage, format!("there is no word in the query {query:?}"))
                .hint("give a name, or say what the code does")
        })
    }
}

/// `{query, results: [{id, name, score, matched, path, subgraph}]}`, best first.
fn shape(plan: &Plan, query: &str, hits: &[NodeHit]) -> Value {
    let result = |hit: &NodeHit| {
        let node = plan.node(hit.node);
        let score = (f64::from(hit.score) * 10_000.0).round() / 10_000.0;
        json!({
            "id": node.id, "name": plan.qualified_name(hit.node), "score": score,
            "matched": matched(plan, hit), "path": node.file_path, "subgraph": node.subgraph,
        })
    };
    json!({ "query": query, "results": hits.iter().map(result).collect::<Vec<_>>() })
}

/// The matched words as they stand, each once, those of the name first.
fn matched(plan: &Plan, hit: &NodeHit) -> Vec<String> {
    let name = plan.qualified_name(hit.node);
    let docstring = plan.node(hit.node).docstring.as_deref().unwrap_or_default();
    let in_name = hit.in_name.iter().map(|it| &name[it.clone()]);
    let in_docstring = hit.in_docstring.iter().map(|it| &docstring[it.clone()]);
    let mut words: Vec<String> = Vec::new();
    for word in in_name.chain(in_docstring) {
        if !words.iter().any(|it| it == word) {
            words.push(word.to_owned());
        }
    }
    words
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
    let marks = if io::stdout().is_terminal() { ("\x1b[1m", "\x1b[0m") } else { ("*", "*") };
    output.stream(|out| hits.iter().try_for_each(|hit| line(plan, hit, marks, out)))
}

/// Score, id, name and path, and the first line of the docstring below.
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

/// A text with its matched words between marks.
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
