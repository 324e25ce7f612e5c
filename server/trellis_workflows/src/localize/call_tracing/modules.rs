//! Resolves a file's imports to files of the project, by their paths.

use trellis_engine::localize::FileEvidence;
use trellis_python::{Import, Index, all_imports};

/// Returns the indices of the code files that `file` imports, in ascending order.
pub(super) fn imported(index: &Index, files: &[FileEvidence], file: usize) -> Vec<usize> {
    let text = index.file(&files[file].path).and_then(|id| index.text(id));
    // A file that is not Python has no readable imports.
    let imports = text.and_then(|it| all_imports(&it).ok()).unwrap_or_default();
    let own = module(&files[file].path);
    let package = own.rsplit_once('.').map_or("", |(package, _)| package);
    let mut found: Vec<usize> = imports
        .iter()
        .filter_map(|it| it.absolute(package))
        .filter_map(|it| meant(&it, files))
        .filter(|it| !files[*it].is_test)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the imported module's file, or that of the module that contains the name.
fn meant(import: &Import, files: &[FileEvidence]) -> Option<usize> {
    let inner = import.name.as_ref().map(|name| format!("{}.{name}", import.module));
    let is = |wanted: &str| {
        let ends = |it: &FileEvidence| {
            let module = module(&it.path);
            let before = module.strip_suffix(wanted);
            before.is_some_and(|it| it.is_empty() || it.ends_with('.'))
        };
        files.iter().position(ends)
    };
    inner.and_then(|it| is(&it)).or_else(|| is(&import.module))
}

/// Returns a file's module name, relative to the root.
fn module(path: &str) -> String {
    let bare = path.strip_suffix(".py").unwrap_or(path);
    bare.strip_suffix("/__init__").unwrap_or(bare).replace('/', ".")
}
