//! Edits of a planning graph: pure functions from one text to the next.

use serde_json::{Map, Value};

use crate::check::{Problem, ProblemKind, check};
use crate::dialect::Dialect;
use crate::plan::Plan;
use crate::read::{ReadError, read};
use crate::spec::{Spec, SpecError};

mod document;
mod layout;
mod operations;
mod patch;

/// A change of a plan that a person or a program asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanEdit {
    /// Adds a node with these fields; `id` is one of them.
    Add { fields: Map<String, Value> },
    /// Removes a node, and every reference to it. `with_parts` removes the methods of a class and
    /// the nodes of a group too; otherwise they are an error.
    Remove { id: String, with_parts: bool },
    /// Renames a definition or a group. The id follows, unless `new_id` sets it.
    Rename { id: String, name: String, new_id: Option<String> },
    /// Moves a node to another file or another subgraph; methods follow their class.
    Move { id: String, file: Option<String>, subgraph: Option<String> },
    /// Sets fields of a node; `null` removes one.
    Set { id: String, fields: Map<String, Value> },
    /// Replaces a node by several. Each has the description and the dependencies of the node, and
    /// takes part in every edge of it.
    Split { id: String, parts: Vec<String> },
    /// Merges nodes into the first one.
    Merge { ids: Vec<String> },
    /// Makes a node depend on another one.
    Link { id: String, needed: String },
    /// Keeps the sentences of a specification in `metadata.spec`. Numbers that nodes serve follow
    /// the sentences of an earlier version.
    Describe { spec: Spec },
    /// Removes the dependency of a node on another one.
    Unlink { id: String, needed: String },
}

/// The reason why an edit is impossible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("{0}")]
    Unreadable(ReadError),
    #[error("the graph is in the format {0}; only graphs in the format rpg can be edited")]
    Dialect(Dialect),
    #[error("the plan has no node `{0}`")]
    UnknownNode(String),
    #[error("the plan already has a node `{0}`")]
    Exists(String),
    #[error("`{id}` has parts: {}", parts.join(", "))]
    HasParts { id: String, parts: Vec<String> },
    #[error("`{id}` does not depend on `{needed}`")]
    NotLinked { id: String, needed: String },
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error("{0}")]
    Incomplete(&'static str),
}

/// An edited plan.
#[derive(Clone, Debug)]
pub struct Edited {
    /// The text of the file; parts that did not change are the same, byte for byte.
    pub text: String,
    pub before: Plan,
    pub after: Plan,
    /// Problems of the new plan that the old one does not have.
    pub new_problems: Vec<Problem>,
    /// Consequences for a person to look at.
    pub notes: Vec<String>,
}

/// Edits the text of a plan.
pub fn edit(text: &str, edit: &PlanEdit) -> Result<Edited, EditError> {
    let before = read(text.as_bytes(), None).map_err(EditError::Unreadable)?;
    if before.dialect() != Dialect::Rpg {
        return Err(EditError::Dialect(before.dialect()));
    }
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let (mark, body) = text.split_at(mark);
    let old: Value = serde_json::from_str(body).map_err(|e| EditError::Unreadable(broken(&e)))?;
    let mut document = document::Document { root: old.clone(), notes: Vec::new() };
    operations::apply(&mut document, &before, edit)?;
    let body = patch::patch(body, &old, &document.root);
    debug_assert_eq!(serde_json::from_str::<Value>(&body).ok().as_ref(), Some(&document.root));
    let text = format!("{mark}{body}");
    let after = read(text.as_bytes(), None).map_err(EditError::Unreadable)?;
    let new_problems = new_problems(&before, &after);
    Ok(Edited { text, before, after, new_problems, notes: document.notes })
}

fn broken(error: &serde_json::Error) -> ReadError {
    let (line, column) = (error.line(), error.column());
    ReadError { line, column, message: error.to_string(), hint: None }
}

/// Returns the problems of kinds that became more. The ids in the text of a problem may change with
/// an edit, so that the text alone does not tell a new problem.
fn new_problems(before: &Plan, after: &Plan) -> Vec<Problem> {
    let old = check(before);
    let new = check(after);
    let count =
        |list: &[Problem], kind: ProblemKind| list.iter().filter(|it| it.kind == kind).count();
    let is_new = |it: &Problem| {
        count(&new, it.kind) > count(&old, it.kind)
            && old.iter().all(|old| old.to_string() != it.to_string())
    };
    new.iter().filter(|it| is_new(it)).cloned().collect()
}
