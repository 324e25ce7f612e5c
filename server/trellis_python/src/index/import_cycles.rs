//! Modules that import each other in a circle.

use std::ops::Range;

use super::runtime_imports::{RuntimeImport, loads};
use super::{FileId, Index};
use crate::import_cycles::{ImportGraph, circles};

/// One circle: each import leads to the file of the next, and the last, which closes it, to the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportCycle {
    /// At least one; the first is in the file whose path comes first.
    pub imports: Vec<CycleImport>,
}

/// An import on a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleImport {
    /// The file that imports.
    pub from: FileId,
    /// The imported one.
    pub to: FileId,
    /// The statement.
    pub range: Range<usize>,
}

impl Index {
    /// The shortest circle through each module that is on one, each circle once, by path. Counted are imports that are
    /// executed when a module is loaded. `from package import module` loads the package as well, but needs nothing of
    /// it that a circle could be short of, so it counts for the module alone.
    pub fn import_circles(&self) -> Vec<ImportCycle> {
        let mut imports: ImportGraph<&str, (FileId, FileId, Range<usize>)> = ImportGraph::new();
        for file in self.files().filter(|it| self.path(*it).ends_with(".py")) {
            let imported = self.loads(file).iter().filter_map(|load| {
                let to = self.loaded(file, load).filter(|to| *to != file)?;
                Some((self.path(to), (file, to, load.range.clone())))
            });
            // The first statement wins: whoever comes later finds the module loaded.
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
        circles(&imports).into_iter().map(circle).collect()
    }

    /// The file of the workspace that an import loads.
    fn loaded(&self, from: FileId, load: &RuntimeImport) -> Option<FileId> {
        let module = self.resolve(from, load.path)?;
        let inner = load.member.and_then(|it| self.submodule(module, it));
        let inner = inner.and_then(|it| self.module_files(it).source);
        inner.or_else(|| self.module_files(module).source)
    }

    /// The imports of a file, read once for each text. The text is not kept for it.
    fn loads(&self, file: FileId) -> &[RuntimeImport] {
        let Some(it) = self.get(file) else { return &[] };
        it.loads.get_or_init(|| {
            let kept = it.text.get().cloned().flatten();
            let text = kept.or_else(|| self.texts.read(&it.path));
            loads(text.as_deref().unwrap_or_default()).into()
        })
    }
}
