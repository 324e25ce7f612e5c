//! Planned files that would import one another in a circle, though their definitions need each other in none.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use crate::node::NodeIx;
use crate::plan::Plan;

/// Files of which each imports from the next, and the last from the first: at least one import of such a circle finds a
/// module that is not ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportCircle {
    /// Paths as planned, the smallest first.
    pub files: Vec<String>,
    /// For each file a definition in it and what that needs of the next file, both by id.
    pub links: Vec<(String, String)>,
}

impl fmt::Display for ImportCircle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.files.join(" -> "), self.files[0])?;
        for (number, (from, to)) in self.links.iter().enumerate() {
            write!(f, "{} `{from}` needs `{to}`", if number == 0 { ":" } else { "," })?;
        }
        let (from, to) = &self.links[self.links.len() - 1];
        write!(f, "; plan `{from}` and `{to}` in one file, or import within the function")
    }
}

/// For each file its imports, with the first link that asks for each.
type Imports<'a> = BTreeMap<&'a str, BTreeMap<&'a str, (NodeIx, NodeIx)>>;

/// The shortest circle through each file that is on one, each circle once; in order of the files' paths.
pub fn import_circles(plan: &Plan) -> Vec<ImportCircle> {
    let mut imports = imports(plan);
    prune(&mut imports);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for start in imports.keys() {
        let Some(mut files) = shortest(&imports, start) else { continue };
        let smallest = (0..files.len()).min_by_key(|at| files[*at]).unwrap_or(0);
        files.rotate_left(smallest);
        if seen.insert(files.clone()) {
            found.push(circle(plan, &imports, &files));
        }
    }
    found
}

fn circle(plan: &Plan, imports: &Imports<'_>, files: &[&str]) -> ImportCircle {
    let next = |at: usize| files[(at + 1) % files.len()];
    let link = |at: usize| {
        let (from, to) = imports[files[at]][next(at)];
        (plan.id(from).to_owned(), plan.id(to).to_owned())
    };
    ImportCircle {
        files: files.iter().map(|it| (*it).to_owned()).collect(),
        links: (0..files.len()).map(link).collect(),
    }
}

/// Of leaves alone: a module imports for what stands in it.
fn imports(plan: &Plan) -> Imports<'_> {
    let file = |ix: NodeIx| {
        let node = plan.node(ix);
        node.file_path.as_deref().filter(|_| node.is_leaf())
    };
    let mut imports = Imports::new();
    for from in plan.indices() {
        let Some(here) = file(from) else { continue };
        for to in plan.depends_on(from) {
            let Some(there) = file(*to).filter(|it| *it != here) else { continue };
            imports.entry(here).or_default().entry(there).or_insert((from, *to));
        }
    }
    imports
}

/// Takes files away that are on no circle: those that import none that is left, again and again.
fn prune(imports: &mut Imports<'_>) {
    loop {
        let left: BTreeSet<&str> = imports.keys().copied().collect();
        let before: usize = imports.values().map(BTreeMap::len).sum();
        for targets in imports.values_mut() {
            targets.retain(|it, _| left.contains(it));
        }
        imports.retain(|_, targets| !targets.is_empty());
        let after: usize = imports.values().map(BTreeMap::len).sum();
        if before == after {
            return;
        }
    }
}

fn shortest<'a>(imports: &Imports<'a>, start: &'a str) -> Option<Vec<&'a str>> {
    let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(file) = queue.pop_front() {
        for target in imports.get(file).into_iter().flat_map(BTreeMap::keys).copied() {
            if target == start {
                let mut path = vec![file];
                while let Some(before) = came_from.get(path[path.len() - 1]) {
                    path.push(before);
                }
                path.reverse();
                return Some(path);
            }
            if !came_from.contains_key(target) {
                came_from.insert(target, file);
                queue.push_back(target);
            }
        }
    }
    None
}
