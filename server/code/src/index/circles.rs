//! Modules that import each other in a circle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use super::loads::{Load, loads};
use super::{FileId, Index};

/// One circle: each import leads to the file of the next, and the last, which closes it, to the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportCircle {
    /// At least one; the first is in the file whose path comes first.
    pub imports: Vec<CircleImport>,
}

/// An import on a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircleImport {
    /// The file that imports.
    pub from: FileId,
    /// The imported one.
    pub to: FileId,
    /// The statement.
    pub range: Range<usize>,
}

/// By file, the files it imports, each with the first statement that does.
type Graph = BTreeMap<FileId, BTreeMap<FileId, Range<usize>>>;

impl Index {
    /// The shortest circle through each module that is on one, each circle once, by path. Counted are imports that are
    /// executed when a module is loaded. `from package import module` loads the package as well, but needs nothing of
    /// it that a circle could be short of, so it counts for the module alone.
    pub fn import_circles(&self) -> Vec<ImportCircle> {
        let mut graph = Graph::new();
        for file in self.files().filter(|it| self.path(*it).ends_with(".py")) {
            let imported = self.loads(file).iter().filter_map(|load| {
                let to = self.loaded(file, load).filter(|to| *to != file)?;
                Some((to, load.range.clone()))
            });
            // The first statement wins: whoever comes later finds the module loaded.
            let imported: Vec<_> = imported.collect();
            graph.insert(file, imported.into_iter().rev().collect());
        }
        trim(&mut graph);
        let mut starts: Vec<FileId> = graph.keys().copied().collect();
        starts.sort_by_key(|it| self.path(*it));
        let mut seen = BTreeSet::new();
        let circles = starts.into_iter().filter_map(|start| shortest(&graph, start));
        let new =
            circles.filter(|files| seen.insert(files.iter().copied().collect::<BTreeSet<_>>()));
        new.map(|files| self.circle(&graph, files)).collect()
    }

    fn circle(&self, graph: &Graph, mut files: Vec<FileId>) -> ImportCircle {
        let first = (0..files.len()).min_by_key(|it| self.path(files[*it])).unwrap_or_default();
        files.rotate_left(first);
        let next = files.iter().cycle().skip(1);
        let import = |(from, to): (&FileId, &FileId)| CircleImport {
            from: *from,
            to: *to,
            range: graph[from][to].clone(),
        };
        ImportCircle { imports: files.iter().zip(next).map(import).collect() }
    }

    /// The file of the workspace that an import loads.
    fn loaded(&self, from: FileId, load: &Load) -> Option<FileId> {
        let module = self.resolve(from, load.path)?;
        let inner = load.member.and_then(|it| self.submodule(module, it));
        let inner = inner.and_then(|it| self.module_files(it).source);
        inner.or_else(|| self.module_files(module).source)
    }

    /// The imports of a file, read once for each text. The text is not kept for it.
    fn loads(&self, file: FileId) -> &[Load] {
        let Some(it) = self.get(file) else { return &[] };
        it.loads.get_or_init(|| {
            let kept = it.text.get().cloned().flatten();
            let text = kept.or_else(|| self.texts.read(&it.path));
            loads(text.as_deref().unwrap_or_default()).into()
        })
    }
}

/// Takes out what cannot be on a circle: files that import nothing that is left, or that nothing left imports. There are
/// as many rounds as the longest chain of imports has links.
fn trim(graph: &mut Graph) {
    loop {
        let before = graph.len();
        let imported: BTreeSet<FileId> = graph.values().flat_map(|it| it.keys().copied()).collect();
        graph.retain(|file, targets| imported.contains(file) && !targets.is_empty());
        let left: BTreeSet<FileId> = graph.keys().copied().collect();
        graph.values_mut().for_each(|targets| targets.retain(|to, _| left.contains(to)));
        if graph.len() == before {
            return;
        }
    }
}

/// The files of the shortest circle through a file, from it on.
fn shortest(graph: &Graph, start: FileId) -> Option<Vec<FileId>> {
    let mut came_from: BTreeMap<FileId, FileId> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(file) = queue.pop_front() {
        for to in graph.get(&file).into_iter().flat_map(BTreeMap::keys) {
            if *to == start {
                let before = |it: &FileId| came_from.get(it).copied();
                let mut path: Vec<FileId> = std::iter::successors(Some(file), before).collect();
                path.reverse();
                return Some(path);
            }
            if !came_from.contains_key(to) {
                came_from.insert(*to, file);
                queue.push_back(*to);
            }
        }
    }
    None
}
