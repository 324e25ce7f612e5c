//! Failures of go packages that ended before their tests.

use std::{collections::HashMap, path::Path};

use super::{
    cut,
    go::{Package, package_of},
    go_output,
    tree_path::shown,
};
use crate::report::{Failure, MissingName};

/// Adds the compiler's messages that versions before 1.24 write to standard error under `# package`
/// headings.
pub(super) fn add(stderr: &str, builds: &mut HashMap<String, String>) {
    let mut package = None;
    for line in stderr.lines() {
        if let Some(name) = line.strip_prefix("# ") {
            package = Some(package_of(name));
        } else if let Some(package) = package {
            *builds.entry(package.to_owned()).or_default() += &format!("{line}\n");
        }
    }
}

/// Returns the failure of a package that ended before its first test, as when an `init` panics.
pub(super) fn start_failure(root: &Path, package: &Package, folder: &str) -> Failure {
    let failure = match package.output.contains("panic: ") {
        true => go_output::panicked(root, &package.output),
        false => Failure {
            exception: "Failed".to_owned(),
            message: package.output.trim().to_owned(),
            ..Failure::default()
        },
    };
    Failure { path: failure.path.or(Some(folder.to_owned())), ..failure }
}

pub(super) fn failure(
    root: &Path,
    package: &Package,
    folder: &str,
    builds: &HashMap<String, String>,
) -> Failure {
    let about = builds.get(&package.name).map(String::as_str);
    // The message on a missing package has the name of that package.
    let elsewhere = || builds.values().find(|text| text.contains(&format!("# {}\n", package.name)));
    let text = about.or_else(|| elsewhere().map(String::as_str)).unwrap_or(&package.output);
    let mut places = text.lines().filter_map(|line| compiler_line(root, line));
    let (path, line, message) = match places.next() {
        Some((path, line, message)) => (path, Some(line), message),
        None => (folder.to_owned(), None, text.trim().to_owned()),
    };
    Failure {
        exception: "BuildFailed".to_owned(),
        missing: missing(&message).map(|name| MissingName::Name { name: name.to_owned() }),
        message,
        path: Some(path),
        line,
        traceback: cut(text),
        ..Failure::default()
    }
}

/// Returns the name, field or method that the compiler did not find.
fn missing(message: &str) -> Option<&str> {
    let behind = |words: &str| message.split_once(words).map(|it| it.1);
    let name = (message.strip_prefix("undefined: "))
        .or_else(|| behind(" has no field or method "))
        .or_else(|| message.strip_prefix("unknown field ").filter(|it| it.contains(" in struct ")));
    // The compiler may add similar names, and quotes.
    name?.split([' ', ',', ')']).next().map(|it| it.trim_matches('\''))
}

/// Parses a line such as `sub/a_test.go:5:32: undefined: nothing`.
fn compiler_line(root: &Path, line: &str) -> Option<(String, u32, String)> {
    let (place, message) = line.split_once(": ")?;
    let mut parts = place.rsplitn(3, ':');
    let (_column, line, path) = (parts.next()?, parts.next()?, parts.next()?);
    Some((shown(root, path), line.parse().ok()?, message.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::missing;

    #[test]
    fn names_fields_and_methods_are_missing_and_all_else_is_wrong() {
        let table = [
            ("undefined: Total", Some("Total")),
            ("undefined: cart.Total", Some("cart.Total")),
            ("s.Visit undefined (type *Store has no field or method Visit)", Some("Visit")),
            (
                "s.Visit undefined (type *Store has no field or method Visit, but does have method visit)",
                Some("Visit"),
            ),
            ("unknown field Name in struct literal of type Link", Some("Name")),
            ("unknown field 'Name' in struct literal of type Link", Some("Name")),
            ("not enough arguments in call to Total", None),
            ("cannot use 1 (untyped int constant) as string value in assignment", None),
        ];
        for (message, wanted) in table {
            assert_eq!(missing(message), wanted, "{message}");
        }
    }
}
