//! `trellis plan diff`: compares two planning graphs.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use serde_json::Value;
use trellis_os::wording::counted;
use trellis_plan::Dialect;

use crate::output::Output;
use trellis_server::api::plan_diff::{
    ChangedEdge, ChangedField, ChangedNode, DiffNode, NodeChangeKind, PlanDiffParams,
    PlanDiffResult, PlanEdgeChangeKind, PlanRegeneration, plan_diff,
};
use trellis_workflows::fault::{Exit, Fault};

/// Compare two graphs, and show what a new run would generate again.
#[derive(Args)]
pub(super) struct DiffArgs {
    /// Planning graph or task list before the change, a JSON file.
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// Planning graph or task list after the change.
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Read both as rpg, zerorepo, codermind, rpg-encoder or tasks.
    #[arg(long)]
    dialect: Option<Dialect>,
    /// Exit with 1 if the graphs differ.
    #[arg(long)]
    exit_code: bool,
}

pub(super) fn run(args: &DiffArgs, output: &mut Output) -> Result<Exit, Fault> {
    let (old, new) = (args.old.clone(), args.new.clone());
    let result = plan_diff(&PlanDiffParams { old, new, dialect: args.dialect.map(Into::into) })?;
    if output.is_json() {
        output.json(&result)?;
    } else {
        output.text(text(&result).trim_end())?;
    }
    Ok(if args.exit_code && !result.same { Exit::TestsFailed } else { Exit::Done })
}

/// Returns the differences in words.
pub(super) fn text(it: &PlanDiffResult) -> String {
    if it.same {
        return "no differences".to_owned();
    }
    let mut out = String::new();
    it.added.iter().for_each(|node| out += &one_sided("added", node));
    it.removed.iter().for_each(|node| out += &one_sided("removed", node));
    it.changed.iter().for_each(|node| out += &changed(node));
    out += &edges(it);
    it.metadata.iter().for_each(|field| out += &format!("metadata {}\n", values(field)));
    it.regeneration.iter().for_each(|it| out += &regeneration(it));
    out
}

fn one_sided(word: &str, it: &DiffNode) -> String {
    let file = it.file_path.as_ref().map(|file| format!("  {file}")).unwrap_or_default();
    format!("{word} {} {}{file}  ({})\n", it.kind, it.name, it.id)
}

fn changed(it: &ChangedNode) -> String {
    let word = match it.change {
        NodeChangeKind::Renamed => "renamed",
        NodeChangeKind::Moved => "moved",
        NodeChangeKind::Changed => "changed",
    };
    let mut out = format!("{word} {}\n", it.id);
    it.fields.iter().for_each(|field| out += &format!("  {}\n", values(field)));
    out
}

/// Returns a field with its values, if both fit into a line.
fn values(it: &ChangedField) -> String {
    let value = |value: &Option<Value>| match value {
        None => Some("none".to_owned()),
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Object(_)) => None,
        Some(other) => Some(other.to_string()),
    };
    let fits = |text: &String| text.len() <= 60 && !text.contains('\n');
    match (value(&it.old).filter(fits), value(&it.new).filter(fits)) {
        (Some(old), Some(new)) => format!("{}: {old} -> {new}", it.field),
        _ => it.field.clone(),
    }
}

/// Returns edges between nodes of both graphs; those of other nodes are counted.
fn edges(it: &PlanDiffResult) -> String {
    let one_sided: HashSet<&str> =
        it.added.iter().chain(&it.removed).map(|node| node.id.as_str()).collect();
    let is_between = |edge: &&ChangedEdge| {
        [&edge.source, &edge.target].iter().all(|id| !one_sided.contains(id.as_str()))
    };
    let (between, others): (Vec<_>, Vec<_>) = it.edges.iter().partition(is_between);
    let mut out: String = between.into_iter().map(edge).collect();
    if !others.is_empty() {
        let count = counted(others.len(), "edge", "edges");
        let _ = writeln!(out, "{count} of added and removed nodes");
    }
    out
}

fn edge(it: &ChangedEdge) -> String {
    let word = match it.change {
        PlanEdgeChangeKind::Added => "added",
        PlanEdgeChangeKind::Removed => "removed",
        PlanEdgeChangeKind::Changed => "changed",
    };
    let types = |it: &[String]| match it {
        [] => "dependencies".to_owned(),
        _ => it.join(", "),
    };
    let types = match it.change {
        PlanEdgeChangeKind::Added => types(&it.new_types),
        PlanEdgeChangeKind::Removed => types(&it.old_types),
        PlanEdgeChangeKind::Changed if it.old_types == it.new_types => "other fields".to_owned(),
        PlanEdgeChangeKind::Changed => {
            format!("{} -> {}", types(&it.old_types), types(&it.new_types))
        }
    };
    format!("{word} edge {} -> {}  {} ({types})\n", it.source, it.target, it.role)
}

fn regeneration(it: &PlanRegeneration) -> String {
    let mut out = String::new();
    let mut list = |title: &str, ids: &[String]| {
        if !ids.is_empty() {
            let _ = writeln!(out, "{title} ({}): {}", ids.len(), ids.join(", "));
        }
    };
    list("generate again", &it.again);
    list("test again, and generate again if that fails", &it.dependents);
    list("remove with --drop-removed", &it.removed);
    if out.is_empty() { "nothing to generate again\n".to_owned() } else { out }
}
