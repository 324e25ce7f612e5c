//! Code lenses of tests in JavaScript, TypeScript and Go. Their marks are those of the Testing view.

use std::path::{Path, PathBuf};

use tower_lsp::ls_types::CodeLens;
use trellis_project::test_finder::{OtherFramework, id_path};
use trellis_python::{Lines, Unit};
use trellis_sandbox::frameworks::{Framework, detect};

use super::commands::RunTests;
use crate::session::{GeneratedProjects, OutlinedDocument, positions};

/// Returns a lens for each test and group of a document, if a framework of the project runs the
/// file.
pub(super) fn of(
    mut open: OutlinedDocument,
    folders: &[PathBuf],
    grounds: &GeneratedProjects,
    unit: Unit,
) -> Vec<CodeLens> {
    let Some((root, path)) = place(&open.path, folders, grounds) else { return Vec::new() };
    if !framework(&root).is_some_and(|it| it.is_test_file(&open.path)) {
        return Vec::new();
    }
    let tests = open.tests().tests;
    let lines = Lines::of(open.text());
    let lens = |test: trellis_outline::OutlinedTest| {
        let paths = vec![format!("{}::{}", id_path(&path), test.name)];
        let command = Some(RunTests { root: root.clone(), paths }.command());
        let start = test.range.start;
        CodeLens { range: positions::range(&lines, &(start..start), unit), command, data: None }
    };
    tests.into_iter().map(lens).collect()
}

/// Returns the project of a file, and the file's path in it.
fn place(
    file: &Path,
    folders: &[PathBuf],
    grounds: &GeneratedProjects,
) -> Option<(PathBuf, String)> {
    if let Some((generated, path)) = grounds.around(file) {
        return Some((generated.root.clone(), path));
    }
    let around = folders.iter().filter(|it| file.starts_with(it));
    let root = around.max_by_key(|it| it.as_os_str().len())?;
    Some((root.clone(), file.strip_prefix(root).ok()?.to_str()?.to_owned()))
}

fn framework(root: &Path) -> Option<OtherFramework> {
    match detect(root)?.framework {
        Framework::Jest | Framework::Vitest => Some(OtherFramework::JavaScript),
        Framework::Go => Some(OtherFramework::Go),
        Framework::Pytest | Framework::Unittest => None,
    }
}
