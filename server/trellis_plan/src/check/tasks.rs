//! Checks that a task has everything needed to work on it.

use super::{Problem, ProblemKind, problem};
use crate::plan::Plan;
use crate::task;

pub(super) fn check(plan: &Plan, found: &mut Vec<Problem>) {
    for ix in plan.indices() {
        let node = plan.node(ix);
        if node.docstring.is_none() {
            let message = "has no description".to_owned();
            let hint = "describe in `description` what the task should do, in a sentence or two";
            found.push(problem(plan, ProblemKind::MissingDescription, ix, message, hint));
        }
        if let Err(message) = task::points(node) {
            let hint = "estimate the task from 1 (trivial) to 8, and split larger tasks";
            found.push(problem(plan, ProblemKind::InvalidPoints, ix, message, hint));
        }
    }
}
