//! `trellis plan edit`: changes nodes of a planning graph, with all that refers to them.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Map, Value};
use trellis_plan::PlanEdit;

use super::diff;
use crate::output::Output;
use trellis_server::api::plan_edit::{EditTarget, plan_edit};
use trellis_server::api::plan_trace::read_spec;
use trellis_workflows::fault::{Exit, Fault};

/// Change nodes of a graph; dependencies, edges and methods follow.
///
/// The rest of the file stays as it is, byte for byte. An edit that makes a new problem is refused.
#[derive(Args)]
pub(super) struct EditArgs {
    /// Planning graph, a JSON file in the format rpg.
    #[arg(value_name = "GRAPH")]
    rpg: PathBuf,
    /// Write a new file; the graph stays.
    #[arg(long, value_name = "FILE", global = true)]
    out: Option<PathBuf>,
    /// Edit even if that makes new problems.
    #[arg(long, global = true)]
    force: bool,
    /// Show the changes; write nothing.
    #[arg(long, global = true)]
    dry_run: bool,
    #[command(subcommand)]
    edit: EditCommand,
}

#[derive(Subcommand)]
enum EditCommand {
    /// Add a node.
    Add {
        /// Id of the new node.
        id: String,
        /// Name, or Class.method [default: the end of the id].
        #[arg(long)]
        name: Option<String>,
        /// Type: function, class, method or module.
        #[arg(long = "type", value_name = "TYPE", default_value = "function")]
        kind: String,
        /// File, relative to the project.
        #[arg(long, value_name = "PATH")]
        file: Option<String>,
        /// Subgraph.
        #[arg(long, value_name = "ID")]
        subgraph: Option<String>,
        /// Node that it needs; may be repeated.
        #[arg(long, value_name = "ID")]
        needs: Vec<String>,
        #[command(flatten)]
        fields: Fields,
    },
    /// Remove a node, and every reference to it.
    Remove {
        /// Id of the node.
        id: String,
        /// Remove methods of the class and nodes of the group too.
        #[arg(long)]
        with_parts: bool,
    },
    /// Rename a definition or a group; its id, its methods and its examples follow.
    Rename {
        /// Id of the node.
        id: String,
        /// New name.
        name: String,
        /// New id [default: the old one with the new name at its end].
        #[arg(long, value_name = "ID")]
        new_id: Option<String>,
    },
    /// Move a node to another file or subgraph; methods follow their class.
    Move {
        /// Id of the node.
        id: String,
        /// File, relative to the project.
        #[arg(long, value_name = "PATH", required_unless_present = "subgraph")]
        file: Option<String>,
        /// Subgraph.
        #[arg(long, value_name = "ID")]
        subgraph: Option<String>,
    },
    /// Set fields of a node.
    Set {
        /// Id of the node.
        id: String,
        #[command(flatten)]
        fields: Fields,
        /// Remove this field; may be repeated.
        #[arg(long, value_name = "FIELD", value_parser = ["signature", "docstring", "examples", "libraries", "serves"])]
        remove: Vec<String>,
    },
    /// Replace a node by several; each has its docstring and its edges.
    Split {
        /// Id of the node.
        id: String,
        /// Ids of the parts; the old id may be one of them.
        #[arg(required = true, num_args = 2.., value_name = "PART")]
        parts: Vec<String>,
    },
    /// Merge nodes into the first one.
    Merge {
        /// Ids of the nodes.
        #[arg(required = true, num_args = 2.., value_name = "ID")]
        ids: Vec<String>,
    },
    /// Keep the sentences of a specification in the graph; what nodes serve follows them.
    Spec {
        /// Specification in Markdown or text.
        #[arg(value_name = "SPEC")]
        file: PathBuf,
        /// Numbers of sentences that describe nothing to build, such as 1,4.
        #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
        background: Vec<usize>,
    },
    /// Make a node depend on another one.
    Link {
        /// Id of the node.
        id: String,
        /// Id of the node that it needs.
        needed: String,
    },
    /// Remove a dependency.
    Unlink {
        /// Id of the node.
        id: String,
        /// Id of the node that it needs no more.
        needed: String,
    },
}

#[derive(Args)]
struct Fields {
    /// Signature, such as `def total(values: list[float]) -> float`.
    #[arg(long)]
    signature: Option<String>,
    /// Docstring; tests are written from it.
    #[arg(long)]
    docstring: Option<String>,
    /// Example; may be repeated.
    #[arg(long = "example", value_name = "CODE")]
    examples: Vec<String>,
    /// Third-party requirement; may be repeated.
    #[arg(long = "library", value_name = "NAME")]
    libraries: Vec<String>,
    /// Numbers of the sentences that it serves, such as 1,4.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    serves: Vec<u32>,
}

pub(super) fn run(args: EditArgs, output: &mut Output) -> Result<Exit, Fault> {
    let EditArgs { rpg, out, force, dry_run, edit } = args;
    let result = plan_edit(&rpg, &edit.wanted(&rpg)?, &EditTarget { out, force, dry_run })?;
    result.notes.iter().for_each(|it| output.note(format_args!("note: {it}")));
    if output.is_json() {
        output.json(&result)?;
    } else {
        super::problems::list(&result.new_problems, output);
        output.text(diff::text(&result.diff).trim_end())?;
    }
    Ok(Exit::Done)
}

impl EditCommand {
    fn wanted(self, graph: &Path) -> Result<PlanEdit, Fault> {
        Ok(match self {
            EditCommand::Add { id, name, kind, file, subgraph, needs, fields } => {
                PlanEdit::Add { fields: added(id, name, kind, (file, subgraph), needs, fields) }
            }
            EditCommand::Remove { id, with_parts } => PlanEdit::Remove { id, with_parts },
            EditCommand::Rename { id, name, new_id } => PlanEdit::Rename { id, name, new_id },
            EditCommand::Move { id, file, subgraph } => PlanEdit::Move { id, file, subgraph },
            EditCommand::Set { id, fields, remove } => {
                let mut fields = fields.map();
                fields.extend(remove.into_iter().map(|field| (field, Value::Null)));
                PlanEdit::Set { id, fields }
            }
            EditCommand::Split { id, parts } => PlanEdit::Split { id, parts },
            EditCommand::Merge { ids } => PlanEdit::Merge { ids },
            EditCommand::Link { id, needed } => PlanEdit::Link { id, needed },
            EditCommand::Unlink { id, needed } => PlanEdit::Unlink { id, needed },
            EditCommand::Spec { file, background } => {
                PlanEdit::Describe { spec: read_spec(graph, &file, background)? }
            }
        })
    }
}

impl Fields {
    /// Returns the fields that were given.
    fn map(self) -> Map<String, Value> {
        let list = |it: Vec<String>| (!it.is_empty()).then(|| Value::from(it));
        let fields = [
            ("signature", self.signature.map(Value::from)),
            ("docstring", self.docstring.map(Value::from)),
            ("examples", list(self.examples)),
            ("libraries", list(self.libraries)),
            ("serves", (!self.serves.is_empty()).then(|| Value::from(self.serves))),
        ];
        fields.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?))).collect()
    }
}

fn added(
    id: String,
    name: Option<String>,
    kind: String,
    (file, subgraph): (Option<String>, Option<String>),
    needs: Vec<String>,
    more: Fields,
) -> Map<String, Value> {
    let end = id.rsplit(['.', ':', '/']).next().unwrap_or(&id).to_owned();
    let level = if kind == "module" { "composite" } else { "leaf" };
    let head = [
        ("id", Some(Value::from(id))),
        ("name", Some(name.unwrap_or(end).into())),
        ("type", Some(kind.into())),
        ("node_type", Some(level.into())),
        ("file_path", file.map(Value::from)),
    ];
    let tail =
        [("dependencies", Some(Value::from(needs))), ("subgraph_id", subgraph.map(Value::from))];
    let named = |(name, it): (&str, Option<Value>)| Some((name.to_owned(), it?));
    let mut out: Map<String, Value> = head.into_iter().filter_map(named).collect();
    out.extend(more.map());
    out.extend(tail.into_iter().filter_map(named));
    out
}
