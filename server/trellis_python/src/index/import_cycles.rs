//! Finds modules that import each other in a cycle.

use std::ops::Range;

use super::runtime_imports::{RuntimeImport, runtime_imports};
use super::{FileId, Index};
use crate::import_cycles::{ImportGraph, cycles};

/// One cycle: each import leads to the file of the next, and the last one to the first file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportCycle {
    /// At least one import; the first is in the file whose path sorts first.
    pub imports: Vec<CycleImport>,
}

/// An import on a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleImport {
    /// The importing file.
    pub from: FileId,
    /// The imported file.
    pub to: FileId,
    /// Range of the import statement.
    pub range: Range<usize>,
}

impl Index {
    /// Returns the shortest cycle through each module that is on one, each cycle once, by path.
    /// Only imports executed when a module is loaded count. `from package import module` also loads
    /// the package, but needs nothing from it that a cycle could withhold, so it counts for the
    /// module alone.
    pub fn import_cycles(&self) -> Vec<ImportCycle> {
        let mut imports: ImportGraph<&str, (FileId, FileId, Range<usize>)> = ImportGraph::new();
        for file in self.files().filter(|it| self.path(*it).ends_with(".py")) {
            let at_load = self.loads(file).iter().filter(|it| it.at_load);
            let imported = at_load.filter_map(|load| {
                let to = self.loaded(file, load).filter(|to| *to != file)?;
                Some((self.path(to), (file, to, load.range.clone())))
            });
            // The first statement wins, because later ones find the module already loaded.
            let imported: Vec<_> = imported.collect();
            imports.insert(self.path(file), imported.into_iter().rev().collect());
        }
        let import = |(from, to): (&&str, &&str)| {
            let (from, to, range) = imports[from][to].clone();
            CycleImport { from, to, range }
        };
        let circle = |files: Vec<&str>| {
            let next = files.iter().cycle().skip(1);
            ImportCycle { imports: files.iter().zip(next).map(import).collect() }
        };
        cycles(&imports).into_iter().map(circle).collect()
    }

    /// Returns the file of the workspace that an import loads.
    pub(super) fn loaded(&self, from: FileId, load: &RuntimeImport) -> Option<FileId> {
        let module = self.resolve(from, load.path)?;
        let inner = load.member.and_then(|it| self.submodule(module, it));
        let inner = inner.and_then(|it| self.module_files(it).source);
        inner.or_else(|| self.module_files(module).source)
    }

    /// Returns the imports of a file, computed once for each text. The text is not kept for this.
    pub(super) fn loads(&self, file: FileId) -> &[RuntimeImport] {
        let Some(it) = self.get(file) else { return &[] };
        it.loads.get_or_init(|| {
            let kept = it.text.get().cloned().flatten();
            let text = kept.or_else(|| self.texts.read(&it.path));
            runtime_imports(text.as_deref().unwrap_or_default()).into()
        })
    }
}
