//! Subgraphs of existing code: by folder, or by what uses each other.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::communities::{Link, communities};
use crate::from_code::{DerivedEdge, DerivedNode};

/// Rule by which definitions form subgraphs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// A folder is a subgraph.
    #[default]
    Package,
    /// Definitions that use each other are a subgraph, wherever they are.
    Cohesion,
}

/// Weights of links. A certain use counts more than being in the same file, and that more than
/// being in the same folder; a possible use, of which code has many for one name, counts least.
const CERTAIN: u64 = 4;
const SAME_FILE: u64 = 2;
const POSSIBLE: u64 = 1;
const SAME_FOLDER: u64 = 1;

/// Id of the composite above all packages.
pub(crate) const ROOT: &str = ".";

/// Returns the folder of a path.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or(ROOT, |(folder, _)| folder)
}

/// Subgraphs of definitions and files.
pub(crate) struct Subgraphs {
    of_node: Vec<String>,
    of_file: FxHashMap<String, String>,
}

impl Subgraphs {
    pub(crate) fn new(
        grouping: Grouping,
        nodes: &[DerivedNode<'_>],
        edges: &[DerivedEdge<'_>],
    ) -> Subgraphs {
        let of_node: Vec<String> = match grouping {
            Grouping::Package => nodes.iter().map(|it| folder(it.path).to_owned()).collect(),
            Grouping::Cohesion => Units::of(nodes).cohesive(nodes, edges),
        };
        let mut counts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
        for (node, group) in nodes.iter().zip(&of_node) {
            *counts.entry(node.path).or_default().entry(group).or_default() += 1;
        }
        let most = |(path, counts): (&str, BTreeMap<&str, usize>)| {
            let (group, _) = counts.into_iter().rev().max_by_key(|it| it.1)?;
            Some((path.to_owned(), group.to_owned()))
        };
        let of_file = counts.into_iter().filter_map(most).collect();
        Subgraphs { of_node, of_file }
    }

    /// Returns the subgraph of a definition.
    pub(crate) fn of_node(&self, node: usize) -> &str {
        &self.of_node[node]
    }

    /// Returns the subgraph with most of a file's definitions, or its folder if it has none.
    pub(crate) fn of_file<'a>(&'a self, path: &'a str) -> &'a str {
        self.of_file.get(path).map_or(folder(path), String::as_str)
    }
}

/// Definitions that stay together: a function, or a class with everything inside it.
struct Units<'a> {
    /// Path and name of each unit.
    names: Vec<(&'a str, &'a str)>,
    /// Unit of each definition.
    of_node: Vec<usize>,
}

impl<'a> Units<'a> {
    fn of(nodes: &[DerivedNode<'a>]) -> Units<'a> {
        let mut places: FxHashMap<(&str, &str), usize> = FxHashMap::default();
        let mut units = Units { names: Vec::new(), of_node: Vec::new() };
        for it in nodes {
            let key = (it.path, it.name.split('.').next().unwrap_or(it.name));
            let place = *places.entry(key).or_insert(units.names.len());
            if place == units.names.len() {
                units.names.push(key);
            }
            units.of_node.push(place);
        }
        units
    }

    /// Returns the name of each definition's subgraph.
    fn cohesive(&self, nodes: &[DerivedNode<'_>], edges: &[DerivedEdge<'_>]) -> Vec<String> {
        let uses = self.uses(edges);
        let mut links = uses.clone();
        let count = self.places(&mut links);
        let community = communities(count, &links);
        let names = self.named(nodes, &community, &uses);
        self.of_node.iter().map(|unit| names[&community[*unit]].clone()).collect()
    }

    /// Returns the uses between units.
    fn uses(&self, edges: &[DerivedEdge<'_>]) -> Vec<Link> {
        let link = |it: &DerivedEdge<'_>| Link {
            ends: (self.of_node[it.caller], self.of_node[it.callee]),
            weight: if it.uncertainty.is_some() { POSSIBLE } else { CERTAIN },
        };
        edges.iter().map(link).filter(|it| it.ends.0 != it.ends.1).collect()
    }

    /// Links units to a node for their file, and files to one for their folder; returns the number
    /// of nodes.
    fn places(&self, links: &mut Vec<Link>) -> usize {
        let mut places: FxHashMap<&str, usize> = FxHashMap::default();
        let mut count = self.names.len();
        for (unit, &(path, _)) in self.names.iter().enumerate() {
            if !places.contains_key(path) {
                for place in [folder(path), path] {
                    places.entry(place).or_insert_with(|| {
                        count += 1;
                        count - 1
                    });
                }
                links
                    .push(Link { ends: (places[path], places[folder(path)]), weight: SAME_FOLDER });
            }
            links.push(Link { ends: (unit, places[path]), weight: SAME_FILE });
        }
        count
    }

    /// Names communities: by the module with most of the definitions. Of several with the same
    /// module, all but the largest add the unit with the most uses inside.
    fn named(
        &self,
        nodes: &[DerivedNode<'_>],
        community: &[usize],
        uses: &[Link],
    ) -> FxHashMap<usize, String> {
        let mut inside = vec![0; self.names.len()];
        for it in uses.iter().filter(|it| community[it.ends.0] == community[it.ends.1]) {
            inside[it.ends.0] += it.weight;
            inside[it.ends.1] += it.weight;
        }
        let mut groups: BTreeMap<usize, Group<'_>> = BTreeMap::new();
        for (it, &unit) in nodes.iter().zip(&self.of_node) {
            let group = groups.entry(community[unit]).or_default();
            group.size += 1;
            *group.files.entry(it.path).or_default() += 1;
            group.units.insert(unit);
        }
        let mut all: Vec<(usize, Group<'_>)> = groups.into_iter().collect();
        all.sort_by_key(|(number, it)| (std::cmp::Reverse(it.size), *number));
        let mut names: FxHashMap<usize, String> = FxHashMap::default();
        let mut taken: BTreeSet<String> = BTreeSet::new();
        for (number, group) in &all {
            let module = module(group.main());
            let central = group.units.iter().rev().max_by_key(|unit| inside[**unit]);
            let central = central.map_or("", |unit| self.names[*unit].1);
            let numbered = (2..).map(|it| format!("{module}.{central}-{it}"));
            let mut choices =
                [module.clone(), format!("{module}.{central}")].into_iter().chain(numbered);
            let name = choices.find(|it| !taken.contains(it)).unwrap_or(module);
            taken.insert(name.clone());
            names.insert(*number, name);
        }
        names
    }
}

/// A community of units.
#[derive(Default)]
struct Group<'a> {
    /// Number of its definitions.
    size: usize,
    /// Number of definitions by file.
    files: BTreeMap<&'a str, usize>,
    units: BTreeSet<usize>,
}

impl Group<'_> {
    /// Returns the file with most of the definitions.
    fn main(&self) -> &str {
        self.files.iter().rev().max_by_key(|it| it.1).map_or("", |it| it.0)
    }
}

/// Returns the dotted name of a file's module: `shop.cart` for `src/shop/cart.py`.
fn module(path: &str) -> String {
    let path = path.strip_suffix(".py").unwrap_or(path);
    let path = path.strip_prefix("src/").unwrap_or(path);
    let path = path.strip_suffix("/__init__").unwrap_or(path);
    path.replace('/', ".")
}
