//! Checks that file paths are safe, importable, and distinct on every file system.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Problem, ProblemKind, problem};
use crate::node::NodeIx;
use crate::plan::Plan;
use crate::python::{is_identifier, is_keyword};

/// Longest name, in bytes, that common file systems accept.
const LONGEST_SEGMENT: usize = 255;

pub(super) fn check(plan: &Plan, found: &mut Vec<Problem>) {
    let mut seen: FxHashMap<(&str, bool), Option<&'static str>> = FxHashMap::default();
    let mut files = Vec::new();
    for ix in plan.indices() {
        let node = plan.node(ix);
        let Some(path) = node.file_path.as_deref() else { continue };
        let mut first = false;
        let why = *seen.entry((path, node.is_leaf())).or_insert_with(|| {
            first = true;
            if node.is_leaf() { unfit_module(path) } else { unsafe_path(path) }
        });
        if let Some(why) = why {
            let message = format!("its file_path `{}` {why}", path.escape_debug());
            let hint = "use a relative path such as `src/package/module.py`, each part a Python identifier";
            found.push(problem(plan, ProblemKind::UnsafeFilePath, ix, message, hint));
        } else if first && node.is_leaf() {
            files.push((path, ix));
        }
    }
    case_clashes(plan, &files, found);
    package_clashes(plan, &files, found);
    root_clashes(plan, &files, found);
}

/// Returns the reason why a path could reach outside the repository or into Trellis's and git's
/// folders, as a predicate to put after the path; `None` if the path is safe.
pub fn unsafe_path(path: &str) -> Option<&'static str> {
    if path.contains('\0') {
        return Some("has a NUL character");
    }
    if path.contains('\\') {
        return Some("has a backslash");
    }
    if path.starts_with('/') {
        return Some("is absolute");
    }
    if path.as_bytes().get(1) == Some(&b':') {
        return Some("starts with a drive letter");
    }
    path.split('/').find_map(|segment| match segment {
        ".." => Some("leads upwards with `..`"),
        _ if segment.eq_ignore_ascii_case(".git") => Some("is in git's own folder"),
        _ if segment.eq_ignore_ascii_case(".trellis") => Some("is in Trellis's own folder"),
        _ if segment.len() > LONGEST_SEGMENT => Some("has a part longer than 255 bytes"),
        _ => None,
    })
}

/// Returns the reason why a path cannot be that of a module.
fn unfit_module(path: &str) -> Option<&'static str> {
    if path.starts_with("tests/") {
        return Some("is in the folder for generated tests");
    }
    if matches!(path, "setup.py" | "conftest.py" | "src/conftest.py") {
        return Some("is a file that packaging tools or pytest run automatically");
    }
    if path.is_empty() {
        return Some("is empty");
    }
    if let Some(why) = unsafe_path(path) {
        return Some(why);
    }
    let Some(module) = path.strip_suffix(".py") else { return Some("does not end in .py") };
    module.split('/').find_map(|segment| match segment {
        "" => Some("has an empty part"),
        _ if segment.starts_with('.') => Some("has a part that starts with a dot"),
        _ if is_keyword(segment) => {
            Some("has a part that is a Python keyword and cannot be imported")
        }
        _ if !is_identifier(segment) => Some("has a part that is not a Python identifier"),
        _ => None,
    })
}

/// Returns `path` and every folder above it, longest first.
fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once('/').map(|(folder, _)| folder))
}

fn case_clashes(plan: &Plan, files: &[(&str, NodeIx)], found: &mut Vec<Problem>) {
    let mut spelling: FxHashMap<String, (&str, NodeIx)> = FxHashMap::default();
    let mut done: FxHashSet<&str> = FxHashSet::default();
    for &(path, ix) in files {
        for prefix in prefixes(path) {
            if !done.insert(prefix) {
                // The folders above were checked together with this prefix.
                break;
            }
            let (other, earlier) = *spelling.entry(prefix.to_lowercase()).or_insert((prefix, ix));
            if other == prefix {
                continue;
            }
            let message = format!(
                "its path `{prefix}` and `{other}` of `{}` differ only by case",
                plan.id(earlier)
            );
            let hint = "use the same spelling for both or rename one; many file systems treat them as \
                 one file";
            let related = vec![earlier, ix];
            found.push(Problem {
                related,
                ..problem(plan, ProblemKind::PathCaseClash, ix, message, hint)
            });
        }
    }
}

fn package_clashes(plan: &Plan, files: &[(&str, NodeIx)], found: &mut Vec<Problem>) {
    let mut packages: FxHashMap<&str, NodeIx> = FxHashMap::default();
    for &(path, ix) in files {
        for folder in prefixes(path).skip(1) {
            if packages.contains_key(folder) {
                break;
            }
            packages.insert(folder, ix);
        }
    }
    for &(path, ix) in files {
        let Some((&folder, &inside)) =
            path.strip_suffix(".py").and_then(|module| packages.get_key_value(module))
        else {
            continue;
        };
        let message = format!(
            "its module {path} and the package {folder}/ of `{}` have the same name",
            plan.id(inside)
        );
        let hint = "rename one of them; Python imports only the package";
        let related = vec![ix, inside];
        found.push(Problem {
            related,
            ..problem(plan, ProblemKind::ModulePackageClash, ix, message, hint)
        });
    }
}

/// Reports modules imported under the same top-level name: `src/lib/a.py` and `lib/b.py` are both
/// imported as `lib`, and Python finds only one.
fn root_clashes(plan: &Plan, files: &[(&str, NodeIx)], found: &mut Vec<Problem>) {
    let mut roots: FxHashMap<&str, (bool, NodeIx)> = FxHashMap::default();
    for &(path, ix) in files {
        let inside = path.strip_prefix("src/");
        let import = inside.unwrap_or(path);
        let top = import.split('/').next().unwrap_or(import).trim_end_matches(".py");
        let (in_src, earlier) = *roots.entry(top).or_insert((inside.is_some(), ix));
        if in_src == inside.is_some() {
            continue;
        }
        let message = format!(
            "its file_path `{path}` and that of `{}` have the same import name, `{top}`, in two \
             folders",
            plan.id(earlier)
        );
        let hint = "put both into src/, or neither";
        let related = vec![earlier, ix];
        found.push(Problem {
            related,
            ..problem(plan, ProblemKind::ModulePackageClash, ix, message, hint)
        });
    }
}
