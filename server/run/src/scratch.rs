//! The folder of one run: the tree if it came as texts, a home, a place for temporary files, and
//! the plugin.

use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use tempfile::TempDir;

use crate::request::Tree;

/// The plugin's modules. Their names are unlikely ones: they share a name space with the project's.
const PLUGIN: [(&str, &str); 2] = [
    ("_trellis_report.py", include_str!("plugin/_trellis_report.py")),
    ("_trellis_failure.py", include_str!("plugin/_trellis_failure.py")),
];

/// Name of the module that pytest loads.
pub(crate) const PLUGIN_NAME: &str = "_trellis_report";

/// Removed when dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: TempDir,
    root: PathBuf,
}

impl Scratch {
    /// Makes the folder inside `parent` and writes the tree if need be. The error is a sentence for
    /// people.
    pub(crate) fn new(parent: &Path, tree: &Tree) -> Result<Scratch, String> {
        let folder = make(parent).map_err(|error| {
            format!(
                "no scratch folder could be made in {}: {error}; name another one",
                parent.display()
            )
        })?;
        let root = match tree {
            Tree::Folder(path) => path.canonicalize().map_err(|error| {
                format!("the folder under test, {}, cannot be opened: {error}", path.display())
            })?,
            Tree::Files(files) => write_tree(folder.path(), files)?,
        };
        Ok(Scratch { folder, root })
    }

    /// The tree's root, canonical.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The scratch folder, which marks the run's processes.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn inner(&self, name: Inner) -> PathBuf {
        self.folder.path().join(name.as_str())
    }

    /// Removes the folder. The error is a sentence for people.
    pub(crate) fn remove(self) -> Result<(), String> {
        let path = self.folder.keep();
        let mut removed = fs::remove_dir_all(&path);
        if removed.is_err() {
            make_writable(&path);
            removed = fs::remove_dir_all(&path);
        }
        removed.map_err(|error| {
            let path = path.display();
            format!("the scratch folder {path} could not be removed: {error}; remove it by hand")
        })
    }
}

/// Tests may leave folders that their owner cannot change. Whether it worked shows when they are
/// removed.
fn make_writable(folder: &Path) {
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            make_writable(&entry.path());
        }
    }
}

/// Folders inside a scratch folder.
#[derive(Clone, Copy)]
pub(crate) enum Inner {
    Home,
    Temporary,
    Plugin,
    Cache,
}

impl Inner {
    const ALL: [Inner; 4] = [Inner::Home, Inner::Temporary, Inner::Plugin, Inner::Cache];

    fn as_str(self) -> &'static str {
        match self {
            Inner::Home => "home",
            Inner::Temporary => "tmp",
            Inner::Plugin => "plugin",
            Inner::Cache => "cache",
        }
    }
}

fn make(parent: &Path) -> io::Result<TempDir> {
    let parent = parent.canonicalize()?;
    let folder = tempfile::Builder::new().prefix("trellis-run-").tempdir_in(parent)?;
    for inner in Inner::ALL {
        fs::create_dir(folder.path().join(inner.as_str()))?;
    }
    let plugin = folder.path().join(Inner::Plugin.as_str());
    for (name, text) in PLUGIN {
        fs::write(plugin.join(name), text)?;
    }
    Ok(folder)
}

fn write_tree(folder: &Path, files: &BTreeMap<String, Arc<str>>) -> Result<PathBuf, String> {
    // pytest looks for its ini file upwards. An empty one here keeps it from finding a stranger's,
    // say in /tmp.
    let guard = folder.join("pytest.ini");
    fs::write(&guard, "[pytest]\n").map_err(|error| unwritten(&guard, &error))?;
    let root = folder.join("tree");
    fs::create_dir(&root).map_err(|error| unwritten(&root, &error))?;
    for (name, text) in files {
        let path = root.join(inner_path(name)?);
        let parent = path.parent().unwrap_or(&root);
        fs::create_dir_all(parent).map_err(|error| unwritten(parent, &error))?;
        fs::write(&path, text.as_bytes()).map_err(|error| unwritten(&path, &error))?;
    }
    Ok(root)
}

fn unwritten(path: &Path, error: &io::Error) -> String {
    format!("{} could not be written: {error}", path.display())
}

fn inner_path(name: &str) -> Result<&Path, String> {
    let path = Path::new(name);
    let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    if plain && !name.is_empty() {
        return Ok(path);
    }
    Err(format!(
        "the tree's file {name:?} would lie outside its root: give a relative path without `..`"
    ))
}
