//! Finds all problems of a plan at once, always in the same order.

use std::fmt;

use crate::dialect::Dialect;
use crate::did_you_mean::did_you_mean;
use crate::edge::UnknownEdge;
use crate::node::{Node, NodeIx};
use crate::plan::Plan;

mod cycles;
mod definitions;
mod paths;
mod tasks;

pub use paths::unsafe_path;

/// Kind of a problem; its code is stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemKind {
    /// Several nodes have the same id.
    DuplicateId,
    /// An edge or a dependency names an unknown node.
    UnknownId,
    /// Nodes need each other, or one needs itself.
    Cycle,
    /// A leaf has no description to generate from.
    MissingDocstring,
    /// A leaf has no file path.
    MissingFilePath,
    /// A path leaves the repository, or is not that of a Python module.
    UnsafeFilePath,
    /// A leaf's name is not a Python name.
    InvalidName,
    /// Two leaves define the same name in one file.
    DuplicateDefinition,
    /// Two statements on a method's class disagree.
    ClassMismatch,
    /// Two paths are equal on file systems that ignore case.
    PathCaseClash,
    /// A module and a package share a name, so that one hides the other.
    ModulePackageClash,
    /// A task has no description.
    MissingDescription,
    /// The story points of a task are not a whole number from 1 to 8.
    InvalidPoints,
}

impl ProblemKind {
    /// Returns the stable code, in kebab-case.
    pub fn code(self) -> &'static str {
        match self {
            ProblemKind::DuplicateId => "duplicate-id",
            ProblemKind::UnknownId => "unknown-id",
            ProblemKind::Cycle => "cycle",
            ProblemKind::MissingDocstring => "missing-docstring",
            ProblemKind::MissingFilePath => "missing-file-path",
            ProblemKind::UnsafeFilePath => "unsafe-file-path",
            ProblemKind::InvalidName => "invalid-name",
            ProblemKind::DuplicateDefinition => "duplicate-definition",
            ProblemKind::ClassMismatch => "class-mismatch",
            ProblemKind::PathCaseClash => "path-case-clash",
            ProblemKind::ModulePackageClash => "module-package-clash",
            ProblemKind::MissingDescription => "missing-description",
            ProblemKind::InvalidPoints => "invalid-points",
        }
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

/// One problem of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub kind: ProblemKind,
    /// Id of the node to look at first.
    pub node: String,
    /// Description, as a lowercase fragment naming the ids and values involved.
    pub message: String,
    /// Instruction for fixing the problem.
    pub hint: String,
    /// Id that the plan does not have, if the problem is one.
    pub unknown: Option<String>,
    /// All nodes involved that the plan has; for a cycle its nodes in order, each needing the next.
    pub related: Vec<NodeIx>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}: {}", self.kind, self.node, self.message)
    }
}

/// Returns all problems, sorted by kind (in the order of [`ProblemKind`]) and then by position in
/// the file; cycles by their smallest id. An empty list means that the plan can be worked on. Tasks
/// do not plan files, so their names and paths are not checked.
pub fn check(plan: &Plan) -> Vec<Problem> {
    let mut found = Vec::new();
    duplicate_ids(plan, &mut found);
    unknown_ids(plan, &mut found);
    cycles::check(plan, &mut found);
    if plan.dialect() == Dialect::Tasks {
        tasks::check(plan, &mut found);
    } else {
        definitions_planned(plan, &mut found);
    }
    // The sort is stable, so each check's own order remains.
    found.sort_by_key(|problem| problem.kind);
    found
}

/// Checks leaves, paths and definitions.
fn definitions_planned(plan: &Plan, found: &mut Vec<Problem>) {
    for ix in plan.indices() {
        leaf(plan, ix, found);
    }
    paths::check(plan, found);
    definitions::check(plan, found);
}

fn problem(plan: &Plan, kind: ProblemKind, ix: NodeIx, message: String, hint: &str) -> Problem {
    Problem {
        kind,
        node: plan.id(ix).to_owned(),
        message,
        hint: hint.to_owned(),
        unknown: None,
        related: vec![ix],
    }
}

fn duplicate_ids(plan: &Plan, found: &mut Vec<Problem>) {
    for ix in plan.indices() {
        let Some(first) = plan.find(plan.id(ix)).filter(|&first| first != ix) else { continue };
        let message =
            format!("nodes {} and {} both have this id", first.index() + 1, ix.index() + 1);
        let hint = "give one of the two another id; edges and dependencies refer to the first";
        let related = vec![first, ix];
        found.push(Problem {
            related,
            ..problem(plan, ProblemKind::DuplicateId, ix, message, hint)
        });
    }
}

fn unknown_ids(plan: &Plan, found: &mut Vec<Problem>) {
    // Suggestions compare every id; in a huge plan full of unknown ids they are not worth the time.
    let suggest = plan.unknown_edges().len().saturating_mul(plan.nodes().len()) <= 2_000_000;
    for edge in plan.unknown_edges() {
        let ends = [&edge.source, &edge.target].map(|id| plan.find(id));
        for (id, _) in
            [&edge.source, &edge.target].into_iter().zip(ends).filter(|(_, end)| end.is_none())
        {
            found.push(unknown_id(plan, edge, id, ends, suggest));
        }
    }
}

fn unknown_id(
    plan: &Plan,
    edge: &UnknownEdge,
    id: &str,
    ends: [Option<NodeIx>; 2],
    suggest: bool,
) -> Problem {
    let message = match edge.kind {
        None => format!("depends on `{id}`, which is not in the plan"),
        Some(kind) => {
            let kind = &plan.kinds[kind as usize].name;
            format!(
                "the {kind} edge from `{}` to `{}` names `{id}`, which is not in the plan",
                edge.source, edge.target
            )
        }
    };
    let near = if suggest { plan.near(id, 1) } else { Vec::new() };
    let near: Vec<&str> = near.into_iter().map(|it| plan.id(it)).collect();
    let hint = match did_you_mean(&near) {
        Some(it) => format!("{it} Otherwise add the node or remove the reference"),
        None => "add the node or remove the reference".to_owned(),
    };
    // The existing end is where the reference can be fixed.
    let node = if ends[0].is_none() && ends[1].is_some() { &edge.target } else { &edge.source };
    let related = ends.into_iter().flatten().collect();
    let (kind, unknown) = (ProblemKind::UnknownId, Some(id.to_owned()));
    Problem { kind, node: node.to_string(), message, hint, unknown, related }
}

/// Checks that a leaf has everything needed to generate it.
fn leaf(plan: &Plan, ix: NodeIx, found: &mut Vec<Problem>) {
    let node = plan.node(ix);
    if !node.is_leaf() {
        return;
    }
    if node.docstring.as_deref().is_none_or(|text| text.trim().is_empty()) {
        let message = "has no docstring".to_owned();
        let hint = "describe what it does, its arguments, result and errors in `docstring`";
        found.push(problem(plan, ProblemKind::MissingDocstring, ix, message, hint));
    }
    if node.file_path.is_none() {
        let message = "has no file_path".to_owned();
        let hint = "name the file it belongs in, e.g. `src/package/module.py`";
        found.push(problem(plan, ProblemKind::MissingFilePath, ix, message, hint));
    }
    if let Some(message) = bad_name(node) {
        let hint = "use a Python identifier that is not a keyword, or `Class.method` for a method";
        found.push(problem(plan, ProblemKind::InvalidName, ix, message, hint));
    }
}

fn bad_name(node: &Node) -> Option<String> {
    let name = &node.name;
    let parts: Vec<&str> = name.split('.').collect();
    if let Some(keyword) = parts.iter().find(|part| crate::python::is_keyword(part)) {
        return Some(format!("its name `{name}` uses the Python keyword `{keyword}`"));
    }
    if !parts.iter().all(|part| crate::is_identifier(part)) {
        return Some(format!("its name `{name}` is not a Python identifier"));
    }
    match (parts.len(), &node.kind) {
        (1, _) => None,
        (2, crate::Kind::Class) => {
            Some(format!("its name `{name}` nests a class, which is not supported"))
        }
        (2, _) => None,
        _ => Some(format!("its name `{name}` has more than one dot")),
    }
}
