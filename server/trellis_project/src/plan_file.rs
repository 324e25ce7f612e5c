//! Reads planning graphs from disk and reports their problems.

use std::path::Path;

use trellis_plan::{Dialect, Plan};

use crate::error::PlanFileError;

/// Reads a plan from a file; an unreadable plan is bad input, with line and column.
pub fn read(path: &Path, dialect: Option<Dialect>) -> Result<Plan, PlanFileError> {
    let bytes = trellis_os::files::read(path).map_err(|source| PlanFileError::Unreadable {
        path: path.to_owned(),
        is_task_list: dialect == Some(Dialect::Tasks),
        source,
    })?;
    trellis_plan::read(&bytes, dialect)
        .map_err(|source| PlanFileError::Malformed { path: path.to_owned(), source })
}

/// Reads a planning graph for generation; fails with the list of all problems, if any.
pub fn read_sound(path: &Path, dialect: Option<Dialect>) -> Result<Plan, PlanFileError> {
    let plan = read(path, dialect)?;
    if plan.dialect() == Dialect::Tasks {
        return Err(PlanFileError::TaskList { path: path.to_owned() });
    }
    sound(path, plan)
}

fn sound(path: &Path, plan: Plan) -> Result<Plan, PlanFileError> {
    let problems = trellis_plan::check(&plan);
    if problems.is_empty() {
        return Ok(plan);
    }
    Err(PlanFileError::Problems { path: path.to_owned(), problems })
}

/// Reads a list of tasks; fails with the list of all problems, if any.
pub fn read_tasks(path: &Path) -> Result<Plan, PlanFileError> {
    let plan = read(path, Some(Dialect::Tasks))?;
    sound(path, plan)
}
