//! Locations of a project's environment: in its folder, where its tool keeps it, or further up in a
//! repository of many projects.
//!
//! Poetry, Pipenv, pyenv and conda are not started for this: the names of their folders follow from
//! the project. The rules are in `poetry/utils/env/env_manager.py` (`generate_env_name`),
//! `pipenv/project.py` (`_get_virtualenv_hash`), the plugin pyenv-virtualenv (`.python-version`)
//! and conda's documentation ("Managing environments", `~/.conda/environments.txt`).

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

/// A function that looks up environment variables.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// Names of environments inside a project, the most common first.
const OWN: [&str; 4] = [".venv", "venv", "env", ".conda"];

/// Maximum number of characters of the project's name in the name of an environment.
const NAME: usize = 42;

/// Returns folders of environments that the project in `root` may have, the likeliest first; they
/// may not exist.
pub fn environments(root: &Path, variables: Variables<'_>) -> Vec<PathBuf> {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let mut all: Vec<PathBuf> = uv(&root, variables).into_iter().collect();
    all.extend(OWN.map(|name| root.join(name)));
    all.extend(pipenv(&root, variables));
    all.extend(poetry(&root, variables));
    all.extend(pyenv(&root, variables));
    all.extend(conda(&root, variables));
    all.extend(above(&root).flat_map(|it| OWN.map(|name| it.join(name))));
    all
}

/// Returns the folders above a project up to the top of its repository; none if there is no
/// repository.
fn above(root: &Path) -> impl Iterator<Item = &Path> {
    let is_top = |it: &Path| it.join(".git").exists();
    let depth = root.ancestors().position(is_top).unwrap_or_default();
    root.ancestors().skip(1).take(depth)
}

fn folder(variables: Variables<'_>, name: &str) -> Option<PathBuf> {
    variables(name).filter(|it| !it.is_empty()).map(PathBuf::from)
}

fn home(variables: Variables<'_>) -> Option<PathBuf> {
    folder(variables, "HOME")
}

/// Returns `UV_PROJECT_ENVIRONMENT` for a project of uv.
fn uv(root: &Path, variables: Variables<'_>) -> Option<PathBuf> {
    let is_its = root.join("uv.lock").is_file();
    folder(variables, "UV_PROJECT_ENVIRONMENT").filter(|_| is_its).map(|it| root.join(it))
}

fn pipenv(root: &Path, variables: Variables<'_>) -> Option<PathBuf> {
    let pipfile = root.join("Pipfile");
    if !pipfile.is_file() {
        return None;
    }
    let data = || {
        folder(variables, "XDG_DATA_HOME").or_else(|| Some(home(variables)?.join(".local/share")))
    };
    let all = folder(variables, "WORKON_HOME").or_else(|| Some(data()?.join("virtualenvs")))?;
    // If `.venv` is a file, it names the folder.
    if let Ok(named) = trellis_os::files::read_text(root.join(".venv")) {
        return Some(all.join(named.trim()));
    }
    let name = root.file_name()?.to_string_lossy().into_owned();
    let hash = Sha256::digest(pipfile.to_string_lossy().as_bytes());
    Some(all.join(format!(
        "{}-{}",
        cleaned(&name, " &$`!*@\"()[]\\\r\n\t"),
        URL_SAFE.encode(&hash[..6])
    )))
}

fn poetry(root: &Path, variables: Variables<'_>) -> Vec<PathBuf> {
    let Some(name) = poetry_name(root) else { return Vec::new() };
    let cache = || {
        let general = folder(variables, "XDG_CACHE_HOME");
        let general = general.or_else(|| Some(home(variables)?.join(".cache")))?;
        Some(folder(variables, "POETRY_CACHE_DIR").unwrap_or(general.join("pypoetry")))
    };
    let all =
        folder(variables, "POETRY_VIRTUALENVS_PATH").or_else(|| Some(cache()?.join("virtualenvs")));
    let Some(all) = all else { return Vec::new() };
    let hash = Sha256::digest(root.to_string_lossy().as_bytes());
    let name = cleaned(&name.to_lowercase(), " $`!*@\"\\\r\n\t");
    let begin = format!("{name}-{}-py", &URL_SAFE.encode(hash)[..8]);
    let is_its =
        |it: &PathBuf| it.file_name().is_some_and(|it| it.to_string_lossy().starts_with(&begin));
    let entries = fs::read_dir(all).into_iter().flatten().flatten().map(|it| it.path());
    let mut found: Vec<PathBuf> = entries.filter(is_its).collect();
    // The newest Python comes first.
    found.sort_by_key(|it| std::cmp::Reverse(minor(it)));
    found
}

/// Returns the number after the last dot of a name such as `shop-abcdefgh-py3.12`.
fn minor(path: &Path) -> u32 {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.rsplit('.').next().and_then(|it| it.parse().ok()).unwrap_or_default()
}

#[derive(Deserialize)]
struct PyProject {
    project: Option<NamedEnvironment>,
    tool: Option<Tool>,
}

#[derive(Deserialize)]
struct NamedEnvironment {
    name: Option<String>,
}

#[derive(Deserialize)]
struct Tool {
    poetry: Option<NamedEnvironment>,
}

/// Returns the name by which Poetry knows a project; `None` if Poetry does not manage it.
fn poetry_name(root: &Path) -> Option<String> {
    let text = trellis_os::files::read_text(root.join("pyproject.toml")).ok()?;
    let read: PyProject = toml::from_str(&text).ok()?;
    let own = read.tool.and_then(|it| it.poetry);
    if own.is_none() && !root.join("poetry.lock").is_file() {
        return None;
    }
    own.and_then(|it| it.name).or(read.project.and_then(|it| it.name))
}

/// Returns the environment that `.python-version` names, here or further up, among those of pyenv.
fn pyenv(root: &Path, variables: Variables<'_>) -> Option<PathBuf> {
    let all = folder(variables, "PYENV_ROOT").or_else(|| Some(home(variables)?.join(".pyenv")))?;
    let places = std::iter::once(root).chain(above(root));
    let mut texts =
        places.filter_map(|it| trellis_os::files::read_text(it.join(".python-version")).ok());
    let text = texts.next()?;
    let name = text.lines().map(str::trim).find(|it| !it.is_empty() && !it.starts_with('#'))?;
    let is_plain =
        Path::new(name).components().all(|it| matches!(it, std::path::Component::Normal(_)));
    let found = all.join("versions").join(name);
    // A mere version of Python is not an environment of the project.
    let is_version = name.starts_with(|it: char| it.is_ascii_digit()) && !name.contains('/');
    (is_plain && !is_version).then_some(found)
}

/// Returns the environment that the project's `environment.yml` names, among those that conda
/// knows.
fn conda(root: &Path, variables: Variables<'_>) -> Option<PathBuf> {
    let files = ["environment.yml", "environment.yaml"].map(|it| root.join(it));
    let text = files.iter().find_map(|it| trellis_os::files::read_text(it).ok())?;
    let value = |line: &str| Some(line.strip_prefix("name:")?.split('#').next()?.trim().to_owned());
    let name = text.lines().find_map(value)?;
    let name = name.trim_matches(['"', '\'']);
    let listed =
        trellis_os::files::read_text(home(variables)?.join(".conda/environments.txt")).ok()?;
    let paths = listed.lines().map(|it| PathBuf::from(it.trim()));
    paths.into_iter().find(|it| it.file_name().is_some_and(|it| it == name))
}

/// Returns a name as these tools shorten it: `bad` characters become `_`.
fn cleaned(name: &str, bad: &str) -> String {
    let letter = |it: char| if bad.contains(it) { '_' } else { it };
    name.chars().map(letter).take(NAME).collect()
}
