//! Tells files of the tree from others.

use std::path::{Component, Path};

/// Folders of installed packages.
const INSTALLED: [&str; 2] = ["node_modules", "vendor"];

/// Returns `path` relative to `root`, with `/`, if it is a file of the tree; `file://` addresses
/// are paths too.
pub(super) fn relative(root: &Path, path: &str) -> Option<String> {
    let path = path.strip_prefix("file://").unwrap_or(path);
    if path.is_empty() || path.starts_with('<') || path.contains("://") || path.starts_with("node:")
    {
        return None;
    }
    let joined = root.join(path);
    let mut parts = Vec::new();
    for part in joined.strip_prefix(root).ok()?.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_string_lossy()),
            Component::CurDir => {}
            _ => return None,
        }
    }
    let installed = parts.iter().any(|part| INSTALLED.contains(&part.as_ref()));
    (!installed && !parts.is_empty()).then(|| parts.join("/"))
}

/// Returns the result of [`relative`], or `path` unchanged.
pub(super) fn shown(root: &Path, path: &str) -> String {
    relative(root, path).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installed_and_foreign_files_are_outside() {
        for (path, expected) in [
            ("/t/src/a.js", Some("src/a.js")),
            ("file:///t/src/a.js", Some("src/a.js")),
            ("./src/a.js", Some("src/a.js")),
            ("/t/node_modules/jest/a.js", None),
            ("/t/../etc/a.js", None),
            ("/tt/a.js", None),
            ("node:internal/a", None),
            ("webpack://x/a.js", None),
            ("<anonymous>", None),
            ("", None),
        ] {
            assert_eq!(relative(Path::new("/t"), path).as_deref(), expected, "{path}");
        }
    }
}
