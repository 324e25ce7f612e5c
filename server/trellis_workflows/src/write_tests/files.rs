//! The files around generated tests, which make the project's modules importable.

use std::fs;
use std::io;
use std::path::Path;

use super::locate::Target;
use crate::fault::Fault;
use trellis_engine::write_tests::Style;
use trellis_store::disk;
use trellis_store::error::StoreError;

/// Returns the support files that are missing. `__init__.py` makes the tests' folder a package, so
/// that pytest finds modules from the root and test files with the same name in two folders do not
/// collide. If modules are in `src`, the files also add that folder to the path.
pub(super) fn missing(target: &Target, tests_dir: &str, framework: Style) -> Vec<(String, String)> {
    let init = format!("{tests_dir}/__init__.py");
    let conftest = format!("{tests_dir}/conftest.py");
    let lines = path_lines(target, tests_dir);
    let files = match framework {
        Style::Pytest if lines.is_empty() => vec![(init, lines)],
        Style::Pytest => vec![(init, String::new()), (conftest, lines)],
        // unittest does not read conftest.py, and imports the package first.
        Style::Unittest => vec![(init, lines)],
    };
    let is_missing = |path: &str| fs::symlink_metadata(target.root.join(path)).is_err();
    files.into_iter().filter(|(path, _)| is_missing(path)).collect()
}

/// Returns Python code that adds the folders with the modules to the path.
fn path_lines(target: &Target, tests_dir: &str) -> String {
    let says_so = ["pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg"].iter().any(|it| {
        trellis_os::files::read_text(target.root.join(it))
            .is_ok_and(|text| text.contains("pythonpath"))
    });
    if target.source_folders.is_empty() || says_so {
        return String::new();
    }
    let up = tests_dir.split('/').count();
    let mut out = "\"\"\"Makes the project's modules importable where it is not installed.\"\"\"\n\nimport sys\nfrom pathlib import Path\n\n".to_owned();
    for folder in &target.source_folders {
        let folder = folder.display();
        out += &format!(
            "sys.path.insert(0, str(Path(__file__).resolve().parents[{up}] / \"{folder}\"))\n"
        );
    }
    out
}

/// Returns the path of a file relative to the project, with `/`.
pub(super) fn relative(root: &Path, path: &Path) -> Option<String> {
    path.strip_prefix(root).ok()?.to_str().map(str::to_owned)
}

/// Reads a file; empty if it does not exist.
pub(super) fn existing(root: &Path, path: &str) -> Result<String, Fault> {
    if let Some(link) = disk::symlink_on_the_way(root, path) {
        return Err(StoreError::SymbolicLink { path: path.to_owned(), link }.into());
    }
    match trellis_os::files::read(root.join(path)).map(String::from_utf8) {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(_)) => Err(Fault::input(format!("{path} is not UTF-8; it was not touched"))
            .hint("convert it, or choose another --tests-dir")),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(e) => {
            Err(Fault::input(trellis_os::wording::cannot_read(path, &e)).hint("make it readable"))
        }
    }
}

/// Writes a whole file.
pub(super) fn write(root: &Path, path: &str, text: &str) -> Result<(), Fault> {
    disk::write(root, path, text).map_err(|e| {
        let fault = Fault::internal(format!("cannot write {path}: {e}"));
        match disk::is_full(&e) {
            true => fault.hint("the disk is full: free some space and run again"),
            false => fault.hint("make the folder writable, or choose another --tests-dir"),
        }
    })
}
