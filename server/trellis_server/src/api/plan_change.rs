//! `editPlan`: the operations that change a planning graph.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use trellis_plan::PlanEdit;
use trellis_workflows::fault::Fault;

use super::plan_edit::{self, EditTarget, PlanEditResult};
use super::plan_trace::read_spec;

/// Changes a node of a planning graph; dependencies, edges and methods follow, and the rest of the file stays byte for
/// byte. An edit that makes a new problem is refused.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditPlanParams {
    /// The planning graph, a JSON file in the format `rpg`.
    pub graph: PathBuf,
    /// The change.
    pub edit: PlanChange,
    /// A new file for the result; default: the graph itself.
    #[serde(default)]
    pub out: Option<PathBuf>,
    /// Edit even if that makes new problems.
    #[serde(default)]
    pub force: bool,
    /// Only show what would change.
    #[serde(default)]
    pub dry_run: bool,
}

/// One operation on a planning graph.
#[derive(Clone, Debug, clap::Subcommand, Deserialize, JsonSchema)]
#[serde(
    tag = "operation",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum PlanChange {
    /// Add a node.
    Add {
        /// Id of the new node.
        #[arg(value_name = "ID")]
        node: String,
        /// Name, or Class.method [default: the end of the id].
        #[arg(long)]
        #[serde(default)]
        name: Option<String>,
        /// Type: function, class, method or module.
        #[arg(long = "type", value_name = "TYPE", default_value = "function")]
        #[serde(default = "function")]
        kind: String,
        /// File, relative to the project.
        #[arg(long, value_name = "PATH")]
        #[serde(default)]
        file: Option<String>,
        /// Subgraph.
        #[arg(long, value_name = "ID")]
        #[serde(default)]
        subgraph: Option<String>,
        /// Node that it needs; may be repeated.
        #[arg(long, value_name = "ID")]
        #[serde(default)]
        needs: Vec<String>,
        #[command(flatten)]
        #[serde(default)]
        fields: NodeFields,
    },
    /// Remove a node, and every reference to it.
    Remove {
        /// Id of the node.
        #[arg(value_name = "ID")]
        node: String,
        /// Remove methods of the class and nodes of the group too.
        #[arg(long)]
        #[serde(default)]
        with_parts: bool,
    },
    /// Rename a definition or a group; its id, its methods and its examples follow.
    Rename {
        /// Id of the node.
        #[arg(value_name = "ID")]
        node: String,
        /// New name.
        name: String,
        /// New id [default: the old one with the new name at its end].
        #[arg(long, value_name = "ID")]
        #[serde(default)]
        new_id: Option<String>,
    },
    /// Move a node to another file or subgraph; methods follow their class.
    Move {
        /// Id of the node.
        #[arg(value_name = "ID")]
        node: String,
        /// File, relative to the project.
        #[arg(long, value_name = "PATH", required_unless_present = "subgraph")]
        #[serde(default)]
        file: Option<String>,
        /// Subgraph.
        #[arg(long, value_name = "ID")]
        #[serde(default)]
        subgraph: Option<String>,
    },
    /// Set fields of a node.
    Set {
        /// Id of the node.
        #[arg(value_name = "ID")]
        node: String,
        #[command(flatten)]
        #[serde(default)]
        fields: NodeFields,
        /// Remove this field; may be repeated.
        #[arg(long, value_name = "FIELD")]
        #[serde(default)]
        remove: Vec<FieldName>,
    },
    /// Replace a node by several; each has its docstring and its edges.
    Split {
        /// Id of the node.
        #[arg(value_name = "ID")]
        node: String,
        /// Ids of the parts; the old id may be one of them.
        #[arg(required = true, num_args = 2.., value_name = "PART")]
        parts: Vec<String>,
    },
    /// Merge nodes into the first one.
    Merge {
        /// Ids of the nodes.
        #[arg(required = true, num_args = 2.., value_name = "ID")]
        nodes: Vec<String>,
    },
    /// Keep the sentences of a specification in the graph; what nodes serve follows them.
    Spec {
        /// Specification in Markdown or text.
        #[arg(value_name = "SPEC")]
        spec: PathBuf,
        /// Numbers of sentences that describe nothing to build, such as 1,4.
        #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
        #[serde(default)]
        background: Vec<usize>,
    },
    /// Make a node depend on another one.
    Link {
        /// Id of the node.
        #[arg(value_name = "ID")]
        node: String,
        /// Id of the node that it needs.
        needed: String,
    },
    /// Remove a dependency.
    Unlink {
        /// Id of the node.
        #[arg(value_name = "ID")]
        node: String,
        /// Id of the node that it needs no more.
        needed: String,
    },
}

/// Fields of a node.
#[derive(Clone, Debug, Default, clap::Args, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NodeFields {
    /// Signature, such as `def total(values: list[float]) -> float`.
    #[arg(long)]
    signature: Option<String>,
    /// Docstring; tests are written from it.
    #[arg(long)]
    docstring: Option<String>,
    /// Example; may be repeated.
    #[arg(long = "example", value_name = "CODE")]
    examples: Option<Vec<String>>,
    /// Third-party requirement; may be repeated.
    #[arg(long = "library", value_name = "NAME")]
    libraries: Option<Vec<String>>,
    /// Numbers of the sentences that it serves, such as 1,4.
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    serves: Option<Vec<u32>>,
}

/// Name of a field of a node.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum FieldName {
    Signature,
    Docstring,
    Examples,
    Libraries,
    Serves,
}

fn function() -> String {
    "function".to_owned()
}

/// Edits a graph as the parameters say.
pub fn edit_plan(params: &EditPlanParams) -> Result<PlanEditResult, Fault> {
    let wanted = params.edit.clone().wanted(&params.graph)?;
    let (out, force, dry_run) = (params.out.clone(), params.force, params.dry_run);
    plan_edit::plan_edit(&params.graph, &wanted, &EditTarget { out, force, dry_run })
}

impl PlanChange {
    fn wanted(self, graph: &Path) -> Result<PlanEdit, Fault> {
        Ok(match self {
            PlanChange::Add { node, name, kind, file, subgraph, needs, fields } => {
                PlanEdit::Add { fields: added(node, name, kind, (file, subgraph), needs, fields) }
            }
            PlanChange::Remove { node: id, with_parts } => PlanEdit::Remove { id, with_parts },
            PlanChange::Rename { node: id, name, new_id } => PlanEdit::Rename { id, name, new_id },
            PlanChange::Move { node: id, file, subgraph } => PlanEdit::Move { id, file, subgraph },
            PlanChange::Set { node: id, fields, remove } => {
                let mut fields = fields.map();
                fields.extend(remove.into_iter().map(|it| (it.as_str().to_owned(), Value::Null)));
                PlanEdit::Set { id, fields }
            }
            PlanChange::Split { node: id, parts } => PlanEdit::Split { id, parts },
            PlanChange::Merge { nodes: ids } => PlanEdit::Merge { ids },
            PlanChange::Link { node: id, needed } => PlanEdit::Link { id, needed },
            PlanChange::Unlink { node: id, needed } => PlanEdit::Unlink { id, needed },
            PlanChange::Spec { spec, background } => {
                PlanEdit::Describe { spec: read_spec(graph, &spec, background)? }
            }
        })
    }
}

impl NodeFields {
    /// Returns the fields that were given.
    fn map(self) -> Map<String, Value> {
        let fields = [
            ("signature", self.signature.map(Value::from)),
            ("docstring", self.docstring.map(Value::from)),
            ("examples", self.examples.map(Value::from)),
            ("libraries", self.libraries.map(Value::from)),
            ("serves", self.serves.map(Value::from)),
        ];
        fields.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?))).collect()
    }
}

impl FieldName {
    fn as_str(self) -> &'static str {
        match self {
            FieldName::Signature => "signature",
            FieldName::Docstring => "docstring",
            FieldName::Examples => "examples",
            FieldName::Libraries => "libraries",
            FieldName::Serves => "serves",
        }
    }
}

fn added(
    id: String,
    name: Option<String>,
    kind: String,
    (file, subgraph): (Option<String>, Option<String>),
    needs: Vec<String>,
    more: NodeFields,
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
