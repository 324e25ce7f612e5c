//! Reads planning graphs from disk and reports their problems.

use std::path::Path;

use trellis_os::wording::counted;
use trellis_plan::{Dialect, Plan, Problem};

use trellis_store::fault::Fault;

/// Reads a plan from a file; an unreadable plan is bad input, with line and column.
pub fn read(path: &Path, dialect: Option<Dialect>) -> Result<Plan, Fault> {
    let shown = path.display();
    let bytes = trellis_os::files::read(path).map_err(|e| {
        let kind = match dialect {
            Some(Dialect::Tasks) => "list of tasks",
            _ => "planning graph",
        };
        Fault::input(trellis_os::wording::cannot_read(path.display(), &e))
            .hint(format_args!("give the path of a {kind}, which is a JSON file"))
    })?;
    trellis_plan::read(&bytes, dialect).map_err(|error| {
        let hint = error.hint.as_deref().unwrap_or("fix the file; nothing was started");
        Fault::input(format_args!("{shown}: {error}")).hint(hint)
    })
}

/// Reads a planning graph for generation; fails with the list of all problems, if any.
pub fn read_sound(path: &Path, dialect: Option<Dialect>) -> Result<Plan, Fault> {
    let plan = read(path, dialect)?;
    if plan.dialect() == Dialect::Tasks {
        let message = format!("{} is a list of tasks, not a planning graph", path.display());
        return Err(Fault::input(message)
            .hint("give a graph of functions and classes; `trellis plan levels` shows the tasks"));
    }
    sound(path, plan)
}

fn sound(path: &Path, plan: Plan) -> Result<Plan, Fault> {
    let problems = trellis_plan::check(&plan);
    if problems.is_empty() {
        return Ok(plan);
    }
    let lines: Vec<String> = problems.iter().map(described).collect();
    let count = counted(problems.len(), "problem", "problems");
    let message = format!("{} has {count}:\n{}", path.display(), lines.join("\n"));
    Err(Fault::input(message).hint("fix the file; nothing was started"))
}

/// Reads a list of tasks; fails with the list of all problems, if any.
pub fn read_tasks(path: &Path) -> Result<Plan, Fault> {
    let plan = read(path, Some(Dialect::Tasks))?;
    sound(path, plan)
}

fn described(problem: &Problem) -> String {
    format!("  {problem}\n    {}", problem.hint)
}
