//! The files under test on this machine.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use tempfile::TempDir;

use crate::{
    error::{FileAction, FileError, SandboxError},
    request::Tree,
};

type Texts = BTreeMap<String, Arc<str>>;

/// A folder that a sandbox shows.
#[derive(Debug)]
pub(crate) struct VisibleFolder {
    root: PathBuf,
    /// For texts and copies: the scratch folder and the texts written there.
    written: Option<(TempDir, Texts)>,
    /// The folder that was copied, below the texts.
    base: Option<PathBuf>,
    /// True if a copy needs [`PACKAGES`].
    packages: bool,
    /// The path inside the sandbox, if it is another one.
    shown: Option<&'static str>,
}

/// The path, on an engine to which files are sent, of a folder that was made for runs: one for all,
/// so that any worker there can show any of them.
const SENT: &str = "/run/tree";

/// The folder in which programs of Node.js look for packages.
const PACKAGES: &str = "node_modules";

/// Folders that no test reads and that can be large: version control, environments, caches.
/// [`PACKAGES`] are left out, too, unless a program of Node.js runs the tests.
const LEFT_OUT: [&str; 11] = [
    ".git",
    ".hg",
    ".svn",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".trellis",
];

/// Returns whether an entry is left out of copies. `packages`: a program of Node.js runs the tests.
pub(crate) fn is_left_out(name: &OsStr, is_folder: bool, packages: bool) -> bool {
    let is_packages = name == PACKAGES && !packages;
    is_packages || is_folder && LEFT_OUT.iter().any(|it| name == *it)
}

impl VisibleFolder {
    /// Prepares the folder of `tree`. `packages`: a program of Node.js runs the tests.
    pub(crate) fn new(
        parent: &Path,
        tree: &Tree,
        packages: bool,
    ) -> Result<VisibleFolder, SandboxError> {
        match tree {
            Tree::Folder(path) => {
                let failed = FileError::of(FileAction::OpenTested, path);
                let root = path.canonicalize().map_err(failed)?;
                Ok(VisibleFolder { root, written: None, base: None, packages, shown: None })
            }
            Tree::Files(files) => VisibleFolder::written(parent, None, files, packages),
            Tree::Copy { folder, changed } => {
                VisibleFolder::written(parent, Some(folder), changed, packages)
            }
        }
    }

    fn written(
        parent: &Path,
        base: Option<&PathBuf>,
        files: &Texts,
        packages: bool,
    ) -> Result<VisibleFolder, SandboxError> {
        let failed = FileError::of(FileAction::CreateScratchIn, parent);
        let (folder, root) = make(parent).map_err(failed)?;
        let written = Some((folder, Texts::new()));
        let mut visible =
            VisibleFolder { root, written, base: base.cloned(), packages, shown: None };
        visible.lay_base()?;
        visible.renew(files, true)?;
        Ok(visible)
    }

    fn lay_base(&self) -> Result<(), FileError> {
        let Some(base) = &self.base else { return Ok(()) };
        copy(base, &self.root, self.packages).map_err(FileError::of(FileAction::Copy, base))
    }

    /// Returns the canonical root.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path inside the sandbox.
    pub(crate) fn shown(&self) -> &Path {
        self.shown.map_or(&self.root, Path::new)
    }

    /// Returns the folder as an engine shows it to which it is sent.
    pub(crate) fn sent(self) -> VisibleFolder {
        VisibleFolder { shown: self.is_made().then_some(SENT), ..self }
    }

    /// Returns whether the folder was made for runs, so that its path means nothing to people.
    pub(crate) fn is_made(&self) -> bool {
        self.written.is_some()
    }

    /// Returns the user's folder that is shown or was copied.
    pub(crate) fn origin(&self) -> &Path {
        self.base.as_deref().unwrap_or(&self.root)
    }

    /// Makes the folder hold `files` and otherwise only the copied files. `trusted`: only Trellis
    /// has changed the folder.
    pub(crate) fn renew(&mut self, files: &Texts, trusted: bool) -> Result<(), SandboxError> {
        if self.written.is_some() && !trusted {
            remove(self.root.clone())?;
            fs::create_dir(&self.root).map_err(failed(&self.root))?;
            self.lay_base()?;
        }
        let Some((_, written)) = &mut self.written else { return Ok(()) };
        if !trusted {
            written.clear();
        }
        for name in written.keys().filter(|it| !files.contains_key(*it)) {
            let path = self.root.join(name);
            let original = self.base.as_ref().map(|it| it.join(name)).filter(|it| it.is_file());
            if let Some(original) = original {
                fs::copy(original, &path).map_err(failed(&path))?;
                continue;
            }
            fs::remove_file(&path).map_err(failed(&path))?;
            remove_empty(path.parent(), &self.root);
        }
        for (name, text) in files {
            if written.get(name).is_some_and(|it| Arc::ptr_eq(it, text) || it == text) {
                continue;
            }
            let path = self.root.join(inner_path(name)?);
            let folder = path.parent().unwrap_or(&self.root);
            fs::create_dir_all(folder).map_err(failed(folder))?;
            fs::write(&path, text.as_bytes()).map_err(failed(&path))?;
        }
        written.clone_from(files);
        Ok(())
    }

    /// Removes the scratch folder.
    pub(crate) fn remove(self) -> Result<(), FileError> {
        self.written.map_or(Ok(()), |(folder, _)| remove(folder.keep()))
    }
}

fn make(parent: &Path) -> io::Result<(TempDir, PathBuf)> {
    let folder = tempfile::Builder::new().prefix("tree-").tempdir_in(parent.canonicalize()?)?;
    // pytest looks for its ini file in parent folders. An empty one here keeps it from finding an
    // unrelated one, say in `/tmp`.
    fs::write(folder.path().join("pytest.ini"), "[pytest]\n")?;
    let root = folder.path().join("tree");
    fs::create_dir(&root)?;
    Ok((folder, root))
}

/// Copies the content of a folder into another one. Links stay links, except a link to packages,
/// which is followed since the packages lie elsewhere.
fn copy(from: &Path, to: &Path, packages: bool) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let target = to.join(&name);
        if name == PACKAGES {
            let there = entry.path().canonicalize().ok().filter(|it| packages && it.is_dir());
            if let Some(there) = there {
                fs::create_dir(&target)?;
                copy(&there, &target, true)?;
            }
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
        } else if kind.is_dir() && !LEFT_OUT.iter().any(|it| name == *it) {
            fs::create_dir(&target)?;
            copy(&entry.path(), &target, packages)?;
        }
    }
    Ok(())
}

fn remove_empty(folder: Option<&Path>, root: &Path) {
    let above = folder.into_iter().flat_map(Path::ancestors);
    for folder in above.take_while(|it| *it != root) {
        if fs::remove_dir(folder).is_err() {
            return; // not empty
        }
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> FileError {
    FileError::of(FileAction::Write, path)
}

fn inner_path(name: &str) -> Result<&Path, SandboxError> {
    let path = Path::new(name);
    let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    if plain && !name.is_empty() {
        return Ok(path);
    }
    Err(SandboxError::OutsideRoot { name: name.to_owned() })
}

/// Removes a folder, whatever tests have done to it.
pub(crate) fn remove(path: PathBuf) -> Result<(), FileError> {
    let mut removed = fs::remove_dir_all(&path);
    if removed.is_err() {
        make_writable(&path);
        removed = fs::remove_dir_all(&path);
    }
    removed.map_err(FileError::of(FileAction::RemoveScratch, &path))
}

/// Makes folders writable, since tests may leave some that their owner cannot change. An error
/// shows in the removal that follows.
fn make_writable(folder: &Path) {
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}
