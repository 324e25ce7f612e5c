//! Maps imports to files, in the workspace or in the bundle of stubs.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::bundle;
use super::ir::{Module, ModulePath};
use super::lower::{lower, lower_document, lower_notebook};
use super::names::Name;
use crate::index::{DocumentKind, FileId, Index};
use crate::standard_library;

/// The stub file and the source file of a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ModuleFiles {
    pub(crate) stub: Option<FileId>,
    pub(crate) source: Option<FileId>,
}

impl ModuleFiles {
    /// Returns the files, the stub first, because it has more types.
    pub(crate) fn iter(self) -> impl Iterator<Item = FileId> {
        self.stub.into_iter().chain(self.source)
    }
}

/// Package layout derived from the paths of a workspace.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    folders: FxHashSet<String>,
    /// Folders from which absolute imports resolve: the workspace, its `src`, then others.
    roots: Vec<String>,
}

impl Layout {
    pub(crate) fn of<'a>(paths: impl Iterator<Item = &'a str>) -> Layout {
        let mut folders = FxHashSet::default();
        let mut packages = FxHashSet::default();
        for path in paths {
            let folder = parent(path);
            if matches!(last(path), "__init__.py" | "__init__.pyi") {
                packages.insert(folder.to_owned());
            }
            let mut folder = folder;
            while !folder.is_empty() && folders.insert(folder.to_owned()) {
                folder = parent(folder);
            }
        }
        let starts = packages.iter().map(|it| parent(it)).filter(|it| !packages.contains(*it));
        let others: BTreeSet<String> =
            starts.filter(|it| !it.is_empty() && *it != "src").map(str::to_owned).collect();
        let roots = [String::new(), "src".to_owned()].into_iter().chain(others).collect();
        Layout { folders, roots }
    }
}

/// Returns the folder of a path; empty at the top.
pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn last(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Joins a folder, the root if empty, and a path.
pub(crate) fn join(folder: &str, rest: &str) -> String {
    match (folder, rest) {
        ("", rest) => rest.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, rest) => format!("{folder}/{rest}"),
    }
}

/// Returns the module of a file: the path without its extension, or a package's folder.
pub(crate) fn module_of(path: &str) -> Name {
    let bare = path.strip_suffix(".pyi").or_else(|| path.strip_suffix(".py")).unwrap_or(path);
    Name::of(match bare.strip_suffix("__init__") {
        Some(folder) if folder.is_empty() || folder.ends_with('/') => folder.trim_end_matches('/'),
        _ => bare,
    })
}

/// Path prefix of bundled modules, which separates them from those of the workspace.
const BUNDLE: &str = "<bundle>";

impl Index {
    /// Returns the tables of a file.
    pub(crate) fn module(&self, file: FileId) -> &Module {
        static NONE: OnceLock<Module> = OnceLock::new();
        if let Some(number) = bundle::number(file) {
            return bundle::module(number);
        }
        let text = || self.text(file).unwrap_or_default();
        match (self.get(file), self.document(file)) {
            (Some(it), None) => it.module.get_or_init(|| Box::new(lower(&text()))),
            (Some(it), Some(DocumentKind::Prose)) => {
                it.module.get_or_init(|| Box::new(lower_document(&text())))
            }
            (Some(it), Some(DocumentKind::Notebook)) => {
                it.module.get_or_init(|| Box::new(lower_notebook(&text())))
            }
            _ => NONE.get_or_init(Module::default),
        }
    }

    /// Returns the path of a file, including files of the bundle.
    pub(crate) fn any_path(&self, file: FileId) -> String {
        match bundle::number(file) {
            Some(number) => format!("{BUNDLE}/{}", bundle::path(number)),
            None => self.path(file).to_owned(),
        }
    }

    /// Returns the files of a module.
    pub(crate) fn module_files(&self, module: Name) -> ModuleFiles {
        let path = module.text();
        if let Some(path) = path.strip_prefix(BUNDLE) {
            return ModuleFiles { stub: bundle::file(path.trim_start_matches('/')), source: None };
        }
        let find = |ending: &str| {
            let package = self.file(&join(path, &format!("__init__{ending}")));
            package.or_else(|| self.file(&format!("{path}{ending}")))
        };
        ModuleFiles { stub: find(".pyi"), source: find(".py") }
    }

    /// Returns whether a module exists: as a file, or as a folder of a namespace package.
    pub(crate) fn has_module(&self, module: Name) -> bool {
        self.module_files(module).iter().next().is_some()
            || self.layout().folders.contains(module.text())
    }

    /// Returns a module inside a package.
    pub(crate) fn submodule(&self, package: Name, name: Name) -> Option<Name> {
        let path = join(package.text(), name.text());
        let known = Name::known(&path).filter(|it| self.has_module(*it));
        known.or_else(|| {
            let endings = [".py", ".pyi", "/__init__.py", "/__init__.pyi"];
            let is_file = endings.iter().any(|it| self.file(&format!("{path}{it}")).is_some());
            let in_bundle = path
                .strip_prefix(BUNDLE)
                .is_some_and(|it| bundle::file(it.trim_start_matches('/')).is_some());
            (is_file || in_bundle || self.layout().folders.contains(&path)).then(|| Name::of(&path))
        })
    }

    /// Returns the module that an import in a file refers to; `None` if it is neither in the
    /// workspace nor in the bundle.
    pub(crate) fn resolve(&self, from: FileId, path: ModulePath) -> Option<Name> {
        let rest = path.name.text().replace('.', "/");
        let importer = self.any_path(from);
        if path.level > 0 {
            let mut folder = parent(&importer);
            for _ in 1..path.level {
                folder = parent(folder);
            }
            let module = Name::of(&join(folder, &rest));
            return self.has_module(module).then_some(module);
        }
        if bundle::number(from).is_some() {
            return bundle::file(&rest).map(|_| Name::of(&format!("{BUNDLE}/{rest}")));
        }
        self.absolute(&importer, &rest)
    }

    fn absolute(&self, importer: &str, rest: &str) -> Option<Name> {
        let layout = self.layout();
        let (first, others) = layout.roots.split_at(layout.roots.len().min(2));
        let own = self.import_root(importer);
        let present = |root: &str| {
            let module = Name::of(&join(root, rest));
            self.has_module(module).then_some(module)
        };
        let near = first.iter().map(String::as_str);
        if let Some(found) = std::iter::once(own).chain(near).find_map(present) {
            return Some(found);
        }
        if bundle::file(rest).is_some() {
            return Some(Name::of(&format!("{BUNDLE}/{rest}")));
        }
        if standard_library::is_stdlib(rest.split('/').next().unwrap_or_default()) {
            return None;
        }
        others.iter().map(String::as_str).chain([parent(importer)]).find_map(present)
    }

    /// Returns the dotted name by which another file can import this one, such as `package.module`;
    /// `None` if it cannot.
    pub fn import_name(&self, file: FileId, from: FileId) -> Option<String> {
        let path = self.path(file);
        let wanted = module_of(path);
        let below = |root: &str| {
            let rest =
                if root.is_empty() { wanted.text() } else { wanted.text().strip_prefix(root)? };
            let rest = rest.trim_start_matches('/');
            let name = (!rest.is_empty()).then(|| rest.replace('/', "."))?;
            let module = ModulePath { level: 0, name: Name::of(&name) };
            (self.resolve(from, module) == Some(wanted)).then_some(name)
        };
        [self.import_root(path), "src", ""].into_iter().find_map(below)
    }

    /// Returns the folder that contains the outermost package around a file.
    fn import_root<'a>(&self, path: &'a str) -> &'a str {
        let mut folder = parent(path);
        let is_package = |folder: &str| {
            ["__init__.py", "__init__.pyi"].iter().any(|it| self.file(&join(folder, it)).is_some())
        };
        while !folder.is_empty() && is_package(folder) {
            folder = parent(folder);
        }
        folder
    }
}

/// Answers of [`Index::resolve`], valid for one state of the workspace.
pub(crate) type Resolved = FxHashMap<(FileId, ModulePath), Option<Name>>;
