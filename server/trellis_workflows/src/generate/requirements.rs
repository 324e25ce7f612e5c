//! Requirement lines of the plan and the project, and imports that no line covers.

use std::collections::BTreeMap;
use std::sync::Arc;

use trellis_engine::assembly::{self, UnrequiredLine};

use crate::generate::dispatcher::Dispatcher;

/// Returns third-party modules of the finished tree that no requirement covers.
pub(super) fn unrequired(
    owner: &Dispatcher,
    sources: &BTreeMap<String, String>,
) -> Vec<UnrequiredLine> {
    let work = &owner.run_context.work;
    let planned = work.items.values().flat_map(|item| item.libraries.iter().cloned());
    let own = owner.run_context.user_files.iter().flat_map(|(path, text)| lines(path, text));
    let lines: Vec<String> = planned.chain(own).collect();
    let nodes = owner.accepted.values().map(|it| (it.node.as_str(), it.implementation.as_str()));
    assembly::unrequired(&work.layout, sources, nodes, &lines)
}

/// Returns the requirement lines in one of the user's files at the root of the project.
fn lines(path: &str, text: &Arc<str>) -> Vec<String> {
    match path {
        "pyproject.toml" => of_pyproject(text),
        _ if path.starts_with("requirements") && path.ends_with(".txt") => {
            text.lines().map(|line| line.trim().to_owned()).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the project's dependencies, extras included.
fn of_pyproject(text: &str) -> Vec<String> {
    let table: toml::Table = text.parse().unwrap_or_default();
    let project = table.get("project").and_then(toml::Value::as_table);
    let main = project.and_then(|it| it.get("dependencies"));
    let extras = project.and_then(|it| it.get("optional-dependencies")?.as_table());
    let lists = main.into_iter().chain(extras.into_iter().flat_map(|it| it.values()));
    let lines = lists.filter_map(toml::Value::as_array).flatten();
    lines.filter_map(|it| it.as_str().map(str::to_owned)).collect()
}
