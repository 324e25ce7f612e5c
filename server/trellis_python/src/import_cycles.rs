//! Finds cycles in a graph of imports, for any type of file identifier.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The imported files by importing file, each with data on that link.
pub type ImportGraph<File, Link> = BTreeMap<File, BTreeMap<File, Link>>;

/// Returns the shortest cycle through each file that is on one, each cycle once. A cycle starts
/// with its smallest file; each file imports the next, the last imports the first. Cycles are in
/// the order of the files from which they were found.
pub fn cycles<File: Ord + Clone, Link>(imports: &ImportGraph<File, Link>) -> Vec<Vec<File>> {
    let graph = trimmed(imports);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for start in graph.keys() {
        let Some(mut files) = shortest(&graph, start) else { continue };
        if seen.insert(files.iter().copied().collect::<BTreeSet<_>>()) {
            let first = (0..files.len()).min_by_key(|it| files[*it]).unwrap_or_default();
            files.rotate_left(first);
            found.push(files.into_iter().cloned().collect());
        }
    }
    found
}

/// Returns the graph without files that cannot be on a cycle: those that import no remaining file,
/// or that no remaining file imports. The number of rounds is the length of the longest chain of
/// imports.
fn trimmed<File: Ord, Link>(imports: &ImportGraph<File, Link>) -> BTreeMap<&File, BTreeSet<&File>> {
    let mut graph: BTreeMap<&File, BTreeSet<&File>> =
        imports.iter().map(|(file, targets)| (file, targets.keys().collect())).collect();
    loop {
        let before = graph.len();
        let imported: BTreeSet<&File> = graph.values().flatten().copied().collect();
        graph.retain(|file, targets| imported.contains(file) && !targets.is_empty());
        let left: BTreeSet<&File> = graph.keys().copied().collect();
        graph.values_mut().for_each(|targets| targets.retain(|to| left.contains(to)));
        if graph.len() == before {
            return graph;
        }
    }
}

/// Returns the files of the shortest cycle through `start`, beginning with `start`.
fn shortest<'a, File: Ord>(
    graph: &BTreeMap<&'a File, BTreeSet<&'a File>>,
    start: &'a File,
) -> Option<Vec<&'a File>> {
    let mut came_from: BTreeMap<&File, &'a File> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(file) = queue.pop_front() {
        for to in graph.get(file).into_iter().flatten().copied() {
            if to == start {
                let before = |it: &&'a File| came_from.get(*it).copied();
                let mut path: Vec<&File> = std::iter::successors(Some(file), before).collect();
                path.reverse();
                return Some(path);
            }
            if !came_from.contains_key(to) {
                came_from.insert(to, file);
                queue.push_back(to);
            }
        }
    }
    None
}
