//! Projects of the package index, downloaded once, each with an environment that runs its tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::setup;

/// A project of the package index: additional requirements, and the location of its tests.
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) requirements: &'static [&'static str],
    pub(crate) tests: &'static [&'static str],
}

pub(crate) const fn known(
    name: &'static str,
    version: &'static str,
    requirements: &'static [&'static str],
    tests: &'static [&'static str],
) -> Known {
    Known { name, version, requirements, tests }
}

/// The pytest version for which all of the suites were written.
const PYTEST: &str = "pytest>=8,<9";

/// A project ready to run.
pub(crate) struct Project {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) environment: PathBuf,
    pub(crate) tests: Vec<String>,
}

impl Project {
    /// Returns a project in a folder with an environment in `.venv`.
    pub(crate) fn here(folder: &Path) -> Result<Project, String> {
        let folder = folder.canonicalize().map_err(|e| format!("{}: {e}", folder.display()))?;
        let environment = folder.join(".venv");
        if !environment.join("bin/python").exists() {
            let shown = environment.display();
            return Err(format!(
                "{shown} has no Python: create an environment there that runs the project's tests"
            ));
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Project { name, folder, environment, tests: Vec::new() })
    }
}

/// Downloads a project and creates its environment, unless both exist.
pub(crate) fn fetched(it: &Known) -> Result<Project, String> {
    let place = setup::target().join("fidelity").join(format!("{}-{}", it.name, it.version));
    let environment = place.join("env");
    let project = |folder| Project {
        name: format!("{} {}", it.name, it.version),
        folder,
        environment: environment.clone(),
        tests: it.tests.iter().map(|it| (*it).to_owned()).collect(),
    };
    let ready = place.join("ready");
    if let Ok(folder) = fs::read_to_string(&ready) {
        return Ok(project(folder.into()));
    }
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).map_err(|e| format!("{}: {e}", place.display()))?;
    let python = environment.join("bin/python");
    let pip = |arguments: &[&str]| {
        let mut command = Command::new(&python);
        command.args(["-m", "pip", "--disable-pip-version-check", "--quiet"]).args(arguments);
        setup::silent(command.current_dir(&place))
    };
    setup::silent(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let wanted = format!("{}=={}", it.name, it.version);
    pip(&["download", "--no-deps", "--no-binary", ":all:", &wanted])?;
    let archive = entries(&place).into_iter().find(|it| it.to_string_lossy().ends_with(".tar.gz"));
    let archive = archive.ok_or_else(|| format!("{wanted} has no source distribution"))?;
    setup::silent(Command::new("tar").arg("xzf").arg(&archive).current_dir(&place))?;
    let folder = entries(&place).into_iter().find(|it| it.is_dir() && *it != environment);
    let folder = folder.ok_or_else(|| format!("{wanted} is an empty archive"))?;
    let shown = folder.to_string_lossy().into_owned();
    pip(&[&["install", PYTEST, "-e", &shown], it.requirements].concat())?;
    fs::write(&ready, &shown).map_err(|e| format!("{}: {e}", ready.display()))?;
    Ok(project(folder))
}

pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path()).collect()
}
