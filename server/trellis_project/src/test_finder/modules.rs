//! Modules of a project, read on demand and kept while their files do not change.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use trellis_python::{ModuleName, Modules, TestModule};

use super::Search;
use super::settings::Settings;

/// Largest module that is read, in bytes.
const LARGEST_MODULE: u64 = 4 << 20;

/// Identity of a text: the size and time of its file, or the address of an editor's text, which is
/// kept with it.
#[derive(Clone, Debug)]
enum Version {
    Disk(u64, Option<SystemTime>),
    Open(Arc<str>),
}

/// A module; `None` if its text is not valid Python.
type Known = Option<Arc<TestModule>>;

/// Modules by path. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct ModuleCache(Arc<Mutex<HashMap<PathBuf, (Version, Known)>>>);

impl ModuleCache {
    fn get(&self, file: &Path, version: &Version) -> Option<Known> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(file).filter(|(it, _)| it.is(version)).map(|(_, it)| it.clone())
    }

    fn put(&self, file: &Path, version: Version, module: Known) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(file.to_owned(), (version, module));
    }
}

impl Version {
    fn is(&self, other: &Version) -> bool {
        match (self, other) {
            (Version::Disk(a, b), Version::Disk(c, d)) => (a, b) == (c, d),
            (Version::Open(a), Version::Open(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// The modules of one project.
pub(super) struct ProjectModules<'a> {
    search: &'a Search<'a>,
    cache: &'a ModuleCache,
    /// Folders of importable modules.
    folders: Vec<PathBuf>,
}

impl<'a> ProjectModules<'a> {
    pub(super) fn new(
        search: &'a Search<'a>,
        settings: &Settings,
        cache: &'a ModuleCache,
    ) -> ProjectModules<'a> {
        let root = search.root;
        let named = settings.python_path.iter().map(|it| root.join(it));
        let folders = named.chain([root.to_owned(), root.join("src")]).collect();
        ProjectModules { search, cache, folders }
    }

    /// Returns the module in a file; `None` if there is none, or it is not valid Python.
    pub(super) fn read(&self, file: &Path) -> Known {
        let open = (self.search.open_text)(file);
        let version = match &open {
            Some(text) => Version::Open(text.clone()),
            None => {
                let found = fs::metadata(file).ok()?;
                if !found.is_file() || found.len() > LARGEST_MODULE {
                    return None;
                }
                Version::Disk(found.len(), found.modified().ok())
            }
        };
        if let Some(known) = self.cache.get(file, &version) {
            return known;
        }
        let text = match open {
            Some(text) => text,
            None => trellis_os::files::read_text(file).ok()?.into(),
        };
        let module = TestModule::of(&text).ok().map(Arc::new);
        self.cache.put(file, version, module.clone());
        module
    }

    fn in_folder(&self, folder: &Path, name: &str) -> Option<(String, Arc<TestModule>)> {
        let place = folder.join(name.replace('.', "/"));
        let files = match name {
            "" => vec![folder.join("__init__.py")],
            _ => vec![place.with_extension("py"), place.join("__init__.py")],
        };
        files.into_iter().find_map(|file| {
            let path = file.strip_prefix(self.search.root).ok()?.to_str()?.to_owned();
            Some((path, self.read(&file)?))
        })
    }
}

impl Modules for ProjectModules<'_> {
    fn find(&self, from: &str, module: &ModuleName) -> Option<(String, Arc<TestModule>)> {
        let from = self.search.root.join(from);
        let own = from.parent()?;
        if module.level > 0 {
            let folder = own.ancestors().nth(module.level as usize - 1)?;
            return self.in_folder(folder, &module.name);
        }
        if trellis_python::standard_library::is_stdlib(&module.name) {
            return None;
        }
        // pytest puts the folder of the outermost package, and those of each `conftest.py`, on the
        // path.
        let is_package = |it: &&Path| it.join("__init__.py").is_file();
        let packages = own.ancestors().take_while(is_package).count();
        let base = own.ancestors().nth(packages)?;
        let above = base.ancestors().take_while(|it| it.starts_with(self.search.root));
        let with_conftest = above.filter(|it| *it == base || it.join("conftest.py").is_file());
        let folders = with_conftest.chain(self.folders.iter().map(PathBuf::as_path));
        let mut found = folders.filter_map(|it| self.in_folder(it, &module.name));
        found.next()
    }
}
