//! Projects whose definitions are renamed, each in a copy.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::RenameArgs;
use crate::fidelity::projects::{Known, Project, fetched, known};
use crate::setup;

/// Small and medium projects of the package index with quick suites. `pluggy` is none of them,
/// since pytest runs on it.
const PROJECTS: [Known; 15] = [
    known("click", "8.1.8", &[], &["tests"]),
    known("jinja2", "3.1.6", &["trio"], &["tests"]),
    known("itsdangerous", "2.2.0", &["freezegun"], &["tests"]),
    known("cachetools", "6.1.0", &[], &["tests"]),
    known("marshmallow", "4.4.0", &["simplejson", "tzdata"], &["tests"]),
    known("h11", "0.16.0", &[], &["h11/tests"]),
    known("boltons", "26.2.0", &[], &["tests"]),
    known("tomlkit", "0.13.3", &["pyyaml"], &["tests"]),
    known("flask", "3.1.3", &["asgiref", "python-dotenv"], &["tests"]),
    known(
        "structlog",
        "26.1.0",
        &["freezegun", "pretend", "pytest-asyncio", "time-machine"],
        &["tests"],
    ),
    known("humanize", "4.17.0", &["freezegun"], &["tests"]),
    known("toolz", "1.2.0", &[], &["toolz"]),
    known("apispec", "6.10.1", &["marshmallow", "pyyaml", "openapi-spec-validator"], &["tests"]),
    // The files that are left out measure times.
    known("mistune", "3.4.0", &[], &["tests", "-knot security and not limits"]),
    known("attrs", "25.3.0", &["hypothesis", "cloudpickle"], &["tests"]),
];

/// Names that no copy needs: an environment, caches, the history.
const LEFT_OUT: [&str; 3] = [".git", "__pycache__", ".trellis"];

/// Empty settings of pyright in each copy. Those of a project often leave its tests out.
const PYRIGHT_SETTINGS: &str = "pyrightconfig.json";

/// A copy of a project; dropping it removes the copy.
pub(crate) struct ProjectCopy {
    pub(crate) project: Project,
    /// Folders in which its packages lie.
    pub(crate) sources: Vec<PathBuf>,
    _folder: TempDir,
}

/// Returns the names of the projects of the package index.
pub(crate) fn names() -> Vec<&'static str> {
    PROJECTS.iter().map(|it| it.name).collect()
}

/// Returns the wanted projects; each is downloaded when its turn comes.
pub(crate) fn wanted(args: &RenameArgs) -> Box<dyn Iterator<Item = Result<Project, String>> + '_> {
    if !args.folders.is_empty() {
        return Box::new(args.folders.iter().map(|it| Project::here(it)));
    }
    let chosen =
        |it: &&Known| args.projects.is_empty() || args.projects.iter().any(|name| name == it.name);
    Box::new(PROJECTS.iter().filter(chosen).map(fetched))
}

/// Copies a project, without environments and caches.
pub(crate) fn copied(project: &Project) -> Result<ProjectCopy, String> {
    let failed = |error| format!("a copy of {}: {error}", project.folder.display());
    let folder = setup::temporary_folder()?;
    let (archive, to) = (folder.path().join("archive.tar"), folder.path().join("work"));
    std::fs::create_dir(&to).map_err(failed)?;
    let mut pack = tar("-cf", &archive, &project.folder);
    pack.arg("--exclude-tag-all=pyvenv.cfg");
    pack.args(LEFT_OUT.iter().map(|it| format!("--exclude={it}"))).arg(".");
    setup::silent(&mut pack)?;
    setup::silent(&mut tar("-xf", &archive, &to))?;
    std::fs::write(to.join(PYRIGHT_SETTINGS), "{}").map_err(failed)?;
    let sources = [to.join("src"), to.clone()].into_iter().filter(|it| it.is_dir()).collect();
    let project = Project {
        name: project.name.clone(),
        folder: to,
        environment: project.environment.clone(),
        tests: project.tests.clone(),
    };
    Ok(ProjectCopy { project, sources, _folder: folder })
}

fn tar(action: &str, archive: &Path, folder: &Path) -> Command {
    let mut command = Command::new("tar");
    command.arg(action).arg(archive).arg("-C").arg(folder);
    command
}
