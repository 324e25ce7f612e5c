//! Links that lead out of a project: their targets do not exist in a sandbox.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Folders in which pytest looks for tests only on request, besides those whose name begins with a
/// dot.
const PASSED_OVER: [&str; 7] =
    ["_darcs", "build", "CVS", "dist", "node_modules", "venv", "__pycache__"];

/// Folders of the machine that every sandbox shows.
const SHOWN: [&str; 3] = ["/usr", "/opt", "/lib"];

/// Maximum number of entries examined behind one link.
const LOOKED_AT: usize = 2_000;

/// Returns a sentence for each link below `root` that hides Python files from the test run.
pub(crate) fn unseen(root: &Path) -> Vec<String> {
    let root = &root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let mut links = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && !is_passed_over(&entry.file_name().to_string_lossy()) {
                waiting.push(entry.path());
            } else if kind.is_symlink() {
                links.extend(outside(root, &entry.path()).map(|to| (entry.path(), to)));
            }
        }
    }
    links.sort();
    let reported = |(link, to): &(PathBuf, PathBuf)| {
        format!(
            "{} links out of the project, to {}: tests cannot see files there, and tests there \
             do not run; run them by their own path, or copy them into the project",
            link.strip_prefix(root).unwrap_or(link).display(),
            to.display()
        )
    };
    links.iter().map(reported).collect()
}

fn is_passed_over(name: &str) -> bool {
    name.starts_with('.') || name.ends_with(".egg") || PASSED_OVER.contains(&name)
}

/// Returns the target of a link if it holds Python files that sandboxes do not show.
fn outside(root: &Path, link: &Path) -> Option<PathBuf> {
    let name = link.file_name()?.to_string_lossy().into_owned();
    let to = link.canonicalize().ok().filter(|it| !it.starts_with(root))?;
    let is_shown = SHOWN.iter().any(|it| to.starts_with(it));
    (!is_shown && !is_passed_over(&name) && holds_python(&to)).then_some(to)
}

fn holds_python(place: &Path) -> bool {
    let is_python = |path: &Path| path.extension().is_some_and(|it| it == "py");
    if !place.is_dir() {
        return is_python(place);
    }
    let mut waiting = vec![place.to_owned()];
    let mut left = LOOKED_AT;
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            left -= 1;
            let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
            if !is_folder && is_python(&entry.path()) {
                return true;
            }
            if left == 0 {
                return false;
            }
            if is_folder && !is_passed_over(&entry.file_name().to_string_lossy()) {
                waiting.push(entry.path());
            }
        }
    }
    false
}
