//! Circles in a graph of imports, whatever stands for its files.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// By file, the files that it imports, each with what is known of that link.
pub type ImportGraph<File, Link> = BTreeMap<File, BTreeMap<File, Link>>;

/// The shortest circle through each file that is on one, each circle once: its smallest file first, each importing the
/// next and the last one the first. In the order of the files that led to them.
pub fn circles<File: Ord + Clone, Link>(imports: &ImportGraph<File, Link>) -> Vec<Vec<File>> {
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

/// Without what cannot be on a circle: files that import nothing that is left, or that nothing left imports. There are
/// as many rounds as the longest chain of imports has links.
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

/// The files of the shortest circle through a file, from it on.
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
