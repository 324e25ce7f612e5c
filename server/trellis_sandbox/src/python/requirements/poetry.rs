//! Reads poetry's tables in `pyproject.toml`, whose versions have a syntax of their own.

use toml::{Table, Value};

use super::{FOR_TESTS, Requirements};

/// Adds the requirements of `[tool.poetry]`.
pub(super) fn add(table: &Table, found: &mut Requirements) {
    let Some(poetry) = table.get("tool").and_then(|it| it.get("poetry")) else { return };
    let groups =
        FOR_TESTS.iter().filter_map(|name| poetry.get("group")?.get(name)?.get("dependencies"));
    let tables = [poetry.get("dependencies"), poetry.get("dev-dependencies")];
    for dependencies in tables.into_iter().flatten().chain(groups).filter_map(Value::as_table) {
        for (name, value) in dependencies.iter().filter(|(name, _)| *name != "python") {
            match requirement(name, value) {
                Ok(Some(line)) => found.add(line),
                Ok(None) => {}
                Err(why) => found.notes.push(format!("poetry's {name} is not installed: {why}")),
            }
        }
    }
}

/// The reason an entry is not installed.
#[derive(Debug, thiserror::Error)]
enum LeftOut {
    #[error(
        "Trellis does not read several alternatives for one package; list it in requirements.txt"
    )]
    Alternatives,
    #[error("it is part of the project")]
    PartOfProject,
    #[error("{version:?} gives alternatives; list the package in requirements.txt")]
    VersionAlternatives { version: String },
    #[error("Trellis does not read the version {version:?}; list the package in requirements.txt")]
    UnknownVersion { version: String },
}

/// Converts an entry to a requirement; `None` if it is optional.
fn requirement(name: &str, value: &Value) -> Result<Option<String>, LeftOut> {
    if let Some(version) = value.as_str() {
        return Ok(Some(format!("{name}{}", versions(version)?)));
    }
    let Some(table) = value.as_table() else {
        return Err(LeftOut::Alternatives);
    };
    if table.get("optional").and_then(Value::as_bool) == Some(true) {
        return Ok(None);
    }
    let text = |key: &str| table.get(key).and_then(Value::as_str);
    if text("path").is_some() {
        return Err(LeftOut::PartOfProject);
    }
    let extras: Vec<&str> = (table.get("extras").and_then(Value::as_array).into_iter().flatten())
        .filter_map(Value::as_str)
        .collect();
    let name =
        if extras.is_empty() { name.to_owned() } else { format!("{name}[{}]", extras.join(",")) };
    let what = match (text("git"), text("url")) {
        (Some(git), _) => {
            let at = ["rev", "tag", "branch"].iter().find_map(|key| text(key));
            format!("{name} @ git+{git}{}", at.map(|at| format!("@{at}")).unwrap_or_default())
        }
        (None, Some(url)) => format!("{name} @ {url}"),
        (None, None) => format!("{name}{}", versions(text("version").unwrap_or("*"))?),
    };
    Ok(Some(text("markers").map_or(what.clone(), |markers| format!("{what} ; {markers}"))))
}

/// Converts a version: `^1.2` to `>=1.2,<2`, `~1.2` to `>=1.2,<1.3`, a bare version to itself, `*`
/// to any.
fn versions(text: &str) -> Result<String, LeftOut> {
    if text.contains('|') {
        return Err(LeftOut::VersionAlternatives { version: text.to_owned() });
    }
    let parts: Result<Vec<String>, LeftOut> = text
        .split(',')
        .map(str::trim)
        .filter(|part| !matches!(*part, "" | "*"))
        .map(part)
        .collect();
    Ok(parts?.join(","))
}

fn part(text: &str) -> Result<String, LeftOut> {
    if let Some(version) = text.strip_prefix('^') {
        return Ok(format!(">={},<{}", version.trim(), after(version.trim(), caret)?));
    }
    if let Some(version) = text.strip_prefix('~').filter(|rest| !rest.starts_with('=')) {
        let keep = |numbers: &[u64]| usize::from(numbers.len() > 1);
        return Ok(format!(">={},<{}", version.trim(), after(version.trim(), keep)?));
    }
    Ok(if text.starts_with(|it: char| it.is_ascii_digit()) {
        format!("=={text}")
    } else {
        text.to_owned()
    })
}

/// Returns the index of the first number that is not zero, or of the last.
fn caret(numbers: &[u64]) -> usize {
    numbers.iter().position(|number| *number > 0).unwrap_or(numbers.len() - 1)
}

/// Returns the first version that differs in the number at the index that `place` returns.
fn after(version: &str, place: impl Fn(&[u64]) -> usize) -> Result<String, LeftOut> {
    let numbers: Result<Vec<u64>, _> = version.split('.').map(str::parse).collect();
    let unknown = |_| LeftOut::UnknownVersion { version: version.to_owned() };
    let mut numbers = numbers.map_err(unknown)?;
    let at = place(&numbers);
    numbers.truncate(at + 1);
    numbers[at] += 1;
    Ok(numbers.iter().map(u64::to_string).collect::<Vec<_>>().join("."))
}
