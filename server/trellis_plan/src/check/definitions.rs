//! Finds conflicting definitions, and methods whose class is ambiguous.

use rustc_hash::FxHashMap;

use super::{Problem, ProblemKind, problem};
use crate::method_owners::parent_classes;
use crate::node::{Node, NodeIx};
use crate::plan::Plan;

pub(super) fn check(plan: &Plan, found: &mut Vec<Problem>) {
    duplicates(plan, found);
    for ix in plan.indices() {
        if let Some(message) = mismatch(plan, ix) {
            let hint = "make the name, the hierarchy edge and the file refer to the same class";
            found.push(problem(plan, ProblemKind::ClassMismatch, ix, message, hint));
        }
    }
}

fn duplicates(plan: &Plan, found: &mut Vec<Problem>) {
    // Keyed by file, class (empty for top-level names) and name.
    let mut first: FxHashMap<(&str, &str, &str), NodeIx> = FxHashMap::default();
    for ix in plan.indices() {
        let node = plan.node(ix);
        let (true, Some(file)) = (node.is_leaf(), &node.file_path) else { continue };
        let earlier =
            *first.entry((file, class_name(plan, ix), node.definition_name())).or_insert(ix);
        if earlier == ix {
            continue;
        }
        let message = format!(
            "defines `{}` in {file}, which `{}` also defines",
            plan.qualified_name(ix),
            plan.id(earlier)
        );
        let hint = "rename one of the two or move it to another file";
        let related = vec![earlier, ix];
        found.push(Problem {
            related,
            ..problem(plan, ProblemKind::DuplicateDefinition, ix, message, hint)
        });
    }
}

fn class_name(plan: &Plan, ix: NodeIx) -> &str {
    let by_edge = || plan.class_of(ix).map(|class| &*plan.node(class).name);
    plan.node(ix).class_part().or_else(by_edge).unwrap_or("")
}

/// Returns the contradiction about a method's class, if there is one.
fn mismatch(plan: &Plan, ix: NodeIx) -> Option<String> {
    let node = plan.node(ix);
    let mut classes = parent_classes(&plan.nodes, &plan.graph.parents, ix);
    let class = classes.next()?;
    if let Some(second) = classes.next() {
        return Some(format!(
            "belongs to two classes, `{}` and `{}`",
            plan.id(class),
            plan.id(second)
        ));
    }
    contradiction(node, plan.node(class))
}

fn contradiction(method: &Node, class: &Node) -> Option<String> {
    if let Some(named) = method.class_part().filter(|named| *named != &*class.name) {
        return Some(format!("its name says class `{named}`, the hierarchy says `{}`", class.name));
    }
    match (&method.file_path, &class.file_path) {
        (Some(its), Some(the_class)) if its != the_class => {
            Some(format!("is planned in {its}, its class `{}` in {the_class}", class.name))
        }
        _ => None,
    }
}
