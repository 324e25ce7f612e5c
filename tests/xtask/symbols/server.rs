//! The measured servers: Trellis, and others from the package index in an environment of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::corpus::shelf;
use crate::setup;

/// Variable with the folder in which Trellis keeps caches.
const TRELLIS_CACHE: &str = "TRELLIS_CACHE";
/// Other servers: name, version in the package index, argument that starts the server.
const PEERS: [(&str, &str, &str); 2] = [("ty", "0.0.105", "server"), ("pyrefly", "1.4.1", "lsp")];
/// Variables that would change where a server looks for packages.
pub(crate) const UNWANTED: [&str; 4] = ["VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME"];

/// One column of the table.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) name: String,
    /// Version reported by the program, or the reason why it cannot be started.
    pub(crate) version: Result<String, String>,
    program: PathBuf,
    argument: &'static str,
    pub(crate) cache: Cache,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cache {
    /// The server has no cache.
    None,
    /// The cache is removed before every start.
    Removed,
    /// The cache stays as the preceding column left it; only measures that it affects are taken.
    Kept,
}

impl Server {
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(self.argument);
        command.env(TRELLIS_CACHE, cache());
        UNWANTED.iter().for_each(|name| {
            command.env_remove(name);
        });
        command
    }

    /// Removes the cache if this server starts without one.
    pub(crate) fn forget(&self) {
        if self.cache == Cache::Removed {
            let _ = fs::remove_dir_all(cache());
        }
    }
}

/// Returns all server names.
pub(crate) fn names() -> Vec<&'static str> {
    ["trellis"].into_iter().chain(PEERS.map(|it| it.0)).collect()
}

/// Returns the columns for the selected names, in a fixed order; Trellis is built unless a binary
/// is given.
pub(crate) fn columns(only: &[String], binary: Option<&Path>) -> Vec<Server> {
    let chosen = |name: &str| only.is_empty() || only.iter().any(|it| it == name);
    let mut out = Vec::new();
    if chosen("trellis") {
        let found = binary.map_or_else(setup::released, |it| Ok(it.to_owned()));
        out.push(column("trellis", found.clone(), "lsp", Cache::Removed));
        out.push(column("trellis, cached", found, "lsp", Cache::Kept));
    }
    for (name, version, argument) in PEERS.into_iter().filter(|it| chosen(it.0)) {
        out.push(column(name, peer(name, version), argument, Cache::None));
    }
    out
}

fn column(
    name: &str,
    found: Result<PathBuf, String>,
    argument: &'static str,
    cache: Cache,
) -> Server {
    let version = found.clone().and_then(|it| says(&it));
    let program = found.unwrap_or_default();
    Server { name: name.to_owned(), version, program, argument, cache }
}

/// Returns the output of `--version`.
pub(crate) fn says(program: &Path) -> Result<String, String> {
    let shown = program.display();
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{shown} could not be started: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let first = text.lines().next().unwrap_or_default().trim().to_owned();
    if output.status.success() { Ok(first) } else { Err(format!("`{shown} --version` failed")) }
}

/// Returns a server's program in the environment, and installs this version if needed.
fn peer(name: &str, version: &str) -> Result<PathBuf, String> {
    let program = environment().join("bin").join(name);
    if says(&program).is_ok_and(|it| it == format!("{name} {version}")) {
        return Ok(program);
    }
    eprintln!("installing {name} {version} (once, into {})", environment().display());
    let mut pip = Command::new(python()?);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    setup::run(pip.arg(format!("{name}=={version}")))?;
    Ok(program)
}

/// Returns the folder of Trellis' caches, which no other run uses.
fn cache() -> PathBuf {
    shelf().join("cache")
}

fn environment() -> PathBuf {
    shelf().join("peers")
}

/// Returns the interpreter of the environment, which is created if needed.
pub(crate) fn python() -> Result<PathBuf, String> {
    let python = environment().join("bin/python");
    if says(&python).is_err() {
        let mut command = Command::new("python3");
        setup::run(command.args(["-m", "venv", "--clear"]).arg(environment()))?;
    }
    Ok(python)
}
