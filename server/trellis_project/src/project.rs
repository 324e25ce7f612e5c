//! Finds the project that paths on the command line belong to.

use std::path::{Path, PathBuf};

use crate::error::{LocateError, ProjectError};

/// A project, and the tests named in it.
#[derive(Debug)]
pub struct Project {
    /// Canonical path.
    pub root: PathBuf,
    /// Test files, folders or ids, relative to the root.
    pub targets: Vec<String>,
}

/// Files that mark a project's root; `conftest.py` marks one too, but also occurs in subfolders.
const MARKS: [&str; 9] = [
    "pyproject.toml",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "setup.cfg",
    "setup.py",
    "package.json",
    "go.mod",
    ".git",
];

/// Another mark, except in a folder of tests below other marks: there it lists requirements of the
/// tests.
const LIST: &str = "requirements.txt";

/// Names of environments within a project. An environment is a mark as [`LIST`] is.
const ENVIRONMENTS: [&str; 4] = [".venv", "venv", "env", ".conda"];

/// Returns whether a folder is a test folder within a project, by its name or as a package.
pub fn holds_tests(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|it| it.to_str()).unwrap_or_default();
    ["test", "tests", "testing"].contains(&name) || folder.join("__init__.py").is_file()
}

/// Returns the project of `paths` (files, folders or test ids): the nearest folder above all of
/// them with a mark, else the outermost with a `conftest.py`, else the only folder named, else the
/// current one.
pub fn of(paths: &[String]) -> Result<Project, ProjectError> {
    located(paths).map_err(ProjectError::Targets)
}

fn located(paths: &[String]) -> Result<Project, LocateError> {
    let here = std::env::current_dir().and_then(|it| it.canonicalize());
    let here = here.map_err(LocateError::CurrentFolder)?;
    let named: Vec<(PathBuf, &str)> = paths.iter().map(|it| real(it)).collect::<Result<_, _>>()?;
    let above = |path: &PathBuf| if path.is_dir() { path.clone() } else { parent(path) };
    let base = named.iter().map(|(path, _)| above(path)).reduce(|a, b| common(&a, &b));
    let base = base.unwrap_or_else(|| here.clone());
    let home = std::env::var_os("HOME").and_then(|it| PathBuf::from(it).canonicalize().ok());
    let shared = std::env::temp_dir();
    let is_root = |folder: &&Path| {
        folder.parent().is_some() && Some(*folder) != home.as_deref() && *folder != shared
    };
    let folders: Vec<&Path> = base.ancestors().take_while(is_root).collect();
    let is_marked = |it: &&&Path| MARKS.iter().any(|mark| it.join(mark).exists());
    let has_packages = |it: &&&Path| it.join(LIST).is_file() || has_environment(it);
    let marked = folders.iter().find(|it| is_marked(it) || (has_packages(it) && !holds_tests(it)));
    let marked = marked.or_else(|| folders.iter().find(has_packages));
    let tested = folders.iter().rfind(|it| it.join("conftest.py").exists());
    let unmarked = if base.starts_with(&here) && named.iter().any(|(it, _)| *it != base) {
        here.as_path()
    } else {
        base.as_path()
    };
    let root = marked.or(tested).copied().unwrap_or(unmarked).to_owned();
    let target = |(path, rest): &(PathBuf, &str)| {
        let inner = path.strip_prefix(&root).unwrap_or(path);
        let inner = if inner.as_os_str().is_empty() { Path::new(".") } else { inner };
        format!("{}{rest}", inner.display())
    };
    let targets: Vec<String> = named.iter().map(target).filter(|it| it != ".").collect();
    Ok(Project { root, targets })
}

/// Returns whether a folder holds an environment; `.venv` may be a file that names one. A folder of
/// code may have the name of an environment.
fn has_environment(folder: &Path) -> bool {
    let signs = ["pyvenv.cfg", "conda-meta"];
    let is_one = |it: &&str| signs.iter().any(|sign| folder.join(it).join(sign).exists());
    ENVIRONMENTS.iter().any(is_one) || folder.join(ENVIRONMENTS[0]).is_file()
}

/// Returns the root of the project that a file or folder belongs to.
pub fn root_of(path: &Path) -> Result<PathBuf, ProjectError> {
    let found = located(&[path.to_string_lossy().into_owned()]);
    Ok(found.map_err(ProjectError::Root)?.root)
}

/// Returns the module folders of a packaged project that is not installed: `src`, as an editable
/// install would put it on the path.
pub fn source_folders(root: &Path) -> Vec<PathBuf> {
    let packaged =
        ["pyproject.toml", "setup.py", "setup.cfg"].iter().any(|it| root.join(it).is_file());
    if packaged && root.join("src").is_dir() { vec!["src".into()] } else { Vec::new() }
}

/// Splits a test id into its file or folder and the rest.
fn real(named: &str) -> Result<(PathBuf, &str), LocateError> {
    let (path, rest) = named.split_at(named.find("::").unwrap_or(named.len()));
    let real = Path::new(path)
        .canonicalize()
        .map_err(|source| LocateError::Unreadable { named: named.to_owned(), source })?;
    Ok((real, rest))
}

fn parent(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_owned()
}

fn common(a: &Path, b: &Path) -> PathBuf {
    let same = a.components().zip(b.components()).take_while(|(a, b)| a == b);
    same.map(|(part, _)| part).collect()
}
