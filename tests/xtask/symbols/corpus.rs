//! The measured folder. Servers work in a copy, so that nothing is written to the folder itself, no
//! older cache helps, and no `.gitignore` of a parent folder hides it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::setup;

/// Version of the source distribution that is measured by default: 2,818 files, one of them in a
/// hidden folder.
const DJANGO: &str = "5.2.12";
/// Extensions of copied files: sources and configuration of servers.
const KEPT: [&str; 6] = ["py", "pyi", "toml", "cfg", "ini", "typed"];

pub(crate) struct Corpus {
    /// The original folder.
    pub(crate) source: PathBuf,
    /// The copy.
    pub(crate) root: PathBuf,
    /// All `.py` files in UTF-8 with their texts, by path.
    pub(crate) files: Vec<(PathBuf, String)>,
    /// Number of `.py` and `.pyi` files.
    pub(crate) count: usize,
    /// Their size in bytes.
    pub(crate) bytes: u64,
}

/// Returns the folder of this benchmark's data.
pub(crate) fn shelf() -> PathBuf {
    setup::target().join("bench/symbols")
}

/// Copies the given folder, or Django's, and reads it.
pub(crate) fn prepare(folder: Option<&Path>) -> Result<Corpus, String> {
    let source = folder.map_or_else(django, |it| Ok(it.to_owned()))?;
    let source = source.canonicalize().map_err(|error| format!("{}: {error}", source.display()))?;
    let root = shelf().join("work");
    let failed = |error| format!("copying {}: {error}", source.display());
    if root.exists() {
        fs::remove_dir_all(&root).map_err(failed)?;
    }
    let mut copied = Vec::new();
    copy(&source, &root, &mut copied).map_err(failed)?;
    setup::run(Command::new("git").args(["init", "--quiet"]).arg(&root))?;
    let root = root.canonicalize().map_err(failed)?;
    copied.sort();
    let python = |it: &&PathBuf| it.extension().is_some_and(|it| it == "py" || it == "pyi");
    let python: Vec<&PathBuf> = copied.iter().filter(python).collect();
    if python.is_empty() {
        return Err(format!("there is no Python file in {}", source.display()));
    }
    let size = |path: &&PathBuf| fs::metadata(path).map_or(0, |it| it.len());
    let (count, bytes) = (python.len(), python.iter().map(size).sum());
    let stubs = |it: &&PathBuf| it.extension().is_some_and(|it| it == "pyi");
    let files = (python.into_iter().filter(|it| !stubs(it)))
        .filter_map(|path| Some((path.canonicalize().ok()?, fs::read_to_string(path).ok()?)))
        .collect();
    Ok(Corpus { source, root, files, count, bytes })
}

/// Copies relevant files, without hidden folders, environments and installed packages.
fn copy(from: &Path, to: &Path, copied: &mut Vec<PathBuf>) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() && !left_out(&path) {
            copy(&path, &target, copied)?;
        } else if kind.is_file()
            && path.extension().is_some_and(|it| KEPT.iter().any(|kept| it == *kept))
        {
            fs::copy(&path, &target)?;
            copied.push(target);
        }
    }
    Ok(())
}

fn left_out(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.')
        || matches!(&*name, "__pycache__" | "node_modules" | "site-packages" | "target")
        || folder.join("pyvenv.cfg").exists()
}

/// Returns Django's source distribution, downloaded and unpacked once.
fn django() -> Result<PathBuf, String> {
    let name = format!("django-{DJANGO}");
    let folder = shelf().join(&name);
    if folder.exists() {
        return Ok(folder);
    }
    eprintln!("downloading {name} (once, into {})", shelf().display());
    let failed = |error| format!("{}: {error}", shelf().display());
    fs::create_dir_all(shelf()).map_err(failed)?;
    let unfinished = tempfile::tempdir_in(shelf()).map_err(failed)?;
    let mut pip = Command::new(super::server::python()?);
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    pip.args(["--no-binary", ":all:", &format!("django=={DJANGO}")]);
    let why = |error| format!("{error}; without a package index, name a FOLDER to measure on");
    setup::run(pip.current_dir(unfinished.path())).map_err(why)?;
    let archive = format!("{name}.tar.gz");
    setup::run(Command::new("tar").args(["xzf", &archive]).current_dir(unfinished.path()))?;
    fs::rename(unfinished.path().join(&name), &folder).map_err(failed)?;
    Ok(folder)
}
