//! Reads requirements from `pyproject.toml`.

use std::path::Path;

use toml::{Table, Value};

use super::{FOR_TESTS, Requirements, RequirementsError, is_local, name_of, poetry};

/// Adds the requirements of the file, if it exists.
pub(super) fn add(root: &Path, found: &mut Requirements) -> Result<(), RequirementsError> {
    let path = root.join("pyproject.toml");
    if !path.is_file() {
        return Ok(());
    }
    let text = match trellis_os::files::read_text(&path) {
        Ok(text) => text,
        Err(source) => return Err(RequirementsError::Unreadable { path, source }),
    };
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let detail = error.to_string().trim().replace('\n', " ");
        RequirementsError::NotToml { path, detail }
    })?;
    let own = table.get("project").and_then(|it| it.get("name")).and_then(Value::as_str);
    let own = own.map(name_of);
    for line in standard(&table) {
        let itself = own.as_ref().is_some_and(|own| *own == name_of(&line));
        if itself || is_local(&line) {
            let note =
                format!("{line} in pyproject.toml is not installed: it is part of the project");
            found.notes.push(note);
        } else {
            found.add(line);
        }
    }
    poetry::add(&table, found);
    Ok(())
}

/// Returns the requirements of the project, its extras and its groups.
fn standard(table: &Table) -> Vec<String> {
    let mut lines = Vec::new();
    let project = table.get("project");
    strings(project.and_then(|it| it.get("dependencies")), &mut lines);
    let extras = project.and_then(|it| it.get("optional-dependencies"));
    for name in FOR_TESTS {
        strings(extras.and_then(|it| it.get(name)), &mut lines);
    }
    if let Some(groups) = table.get("dependency-groups").and_then(Value::as_table) {
        let mut seen = Vec::new();
        FOR_TESTS.iter().for_each(|name| group(groups, name, &mut seen, &mut lines));
    }
    lines
}

fn strings(list: Option<&Value>, lines: &mut Vec<String>) {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    lines.extend(items.filter_map(Value::as_str).map(|it| it.trim().to_owned()));
}

/// Adds a group and those that it includes; each once, so that cycles end.
fn group(groups: &Table, name: &str, seen: &mut Vec<String>, lines: &mut Vec<String>) {
    let wanted = name_of(name);
    if seen.contains(&wanted) {
        return;
    }
    seen.push(wanted.clone());
    let Some((_, list)) = groups.iter().find(|(name, _)| name_of(name) == wanted) else { return };
    strings(Some(list), lines);
    for item in list.as_array().into_iter().flatten() {
        if let Some(other) = item.get("include-group").and_then(Value::as_str) {
            group(groups, other, seen, lines);
        }
    }
}
