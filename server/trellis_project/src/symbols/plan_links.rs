//! Finds the leaves of a planning graph in Python sources, and the actual uses between them.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use trellis_plan::{NodeIx, Plan};
use trellis_python::{Caller, Index, Located, NamePath, Place, SymbolKind, belongs_to_tests};

use super::unique::name;

/// Definition of a leaf in the sources.
pub struct GeneratedNode {
    pub ix: NodeIx,
    pub symbol: Located,
    /// Other definitions of the name in the file: overloads, setters, branches.
    others: Vec<Located>,
    /// True if the definition is not in the file named by the plan.
    pub moved: bool,
}

impl GeneratedNode {
    fn symbols(&self) -> impl Iterator<Item = Located> + '_ {
        std::iter::once(self.symbol).chain(self.others.iter().copied())
    }
}

/// The first use behind a link.
pub struct Link {
    pub place: Place,
    /// True if the use is only possible, not certain.
    pub possible: bool,
}

/// Links between the leaves of a plan, as found in the sources.
pub struct Links {
    /// Leaves found, in the order of the plan.
    pub generated: Vec<GeneratedNode>,
    pub absent: Vec<NodeIx>,
    /// Links by user and used leaf.
    pub links: BTreeMap<(NodeIx, NodeIx), Link>,
    /// Links to classes through uses of their members, as of an object returned by a function.
    pub through_members: BTreeMap<(NodeIx, NodeIx), Link>,
    /// Leaves used outside of themselves, except by tests; the user may be code without a plan.
    pub used: Vec<NodeIx>,
}

impl Links {
    /// Finds the leaves of a plan and their links.
    pub fn of(plan: &Plan, index: &Index) -> Links {
        let leaves = plan.indices().filter(|ix| plan.node(*ix).is_leaf());
        let mut found = Links {
            generated: Vec::new(),
            absent: Vec::new(),
            links: BTreeMap::new(),
            through_members: BTreeMap::new(),
            used: Vec::new(),
        };
        for ix in leaves {
            match generated(plan, index, ix) {
                Some(it) => found.generated.push(it),
                None => found.absent.push(ix),
            }
        }
        let nodes: FxHashMap<Located, NodeIx> =
            found.generated.iter().flat_map(|it| it.symbols().map(|at| (at, it.ix))).collect();
        for it in &found.generated {
            let is_outside =
                |caller: &Caller| !it.symbols().any(|symbol| is_inside(index, caller, symbol));
            let callers = it.symbols().flat_map(|symbol| callers(index, symbol));
            for caller in &callers.filter(is_outside).collect::<Vec<_>>() {
                if !belongs_to_tests(index.path(caller.file)) {
                    found.used.push(it.ix);
                }
                let Some(from) = around(index, caller, &nodes) else { continue };
                add(&mut found.links, (from, it.ix), caller);
            }
            for caller in it.symbols().flat_map(|symbol| users_of_members(index, symbol)) {
                let Some(from) = around(index, &caller, &nodes) else { continue };
                add(&mut found.through_members, (from, it.ix), &caller);
            }
        }
        found.used.dedup();
        found
    }
}

fn callers(index: &Index, symbol: Located) -> Vec<Caller> {
    let at = name(index, symbol);
    index.callers(at.file, at.range.start).unwrap_or_default()
}

/// Returns the callers of a class's members, outside of the class.
fn users_of_members(index: &Index, class: Located) -> Vec<Caller> {
    let outline = index.outline(class.file);
    if outline.symbols[class.symbol].kind != SymbolKind::Class {
        return Vec::new();
    }
    let is_member = |symbol: &usize| outline.symbols[*symbol].parent == Some(class.symbol);
    let members = (0..outline.symbols.len()).filter(is_member);
    let users = members.flat_map(|symbol| callers(index, Located { file: class.file, symbol }));
    users.filter(|caller| !is_inside(index, caller, class)).collect()
}

/// Adds a link; a certain use takes precedence over possible ones, whatever their order in the
/// text.
fn add(links: &mut BTreeMap<(NodeIx, NodeIx), Link>, key: (NodeIx, NodeIx), caller: &Caller) {
    let certain = caller.uses.iter().find(|(_, uncertainty)| uncertainty.is_none());
    let Some((place, uncertainty)) = certain.or(caller.uses.first()) else { return };
    let link = Link { place: place.clone(), possible: uncertainty.is_some() };
    match links.get(&key) {
        Some(known) if !known.possible || link.possible => {}
        _ => {
            links.insert(key, link);
        }
    }
}

/// Returns the definition of a leaf: in its planned file, else the only one of its name path
/// anywhere.
fn generated(plan: &Plan, index: &Index, ix: NodeIx) -> Option<GeneratedNode> {
    let pattern = NamePath::parse(&format!("/{}", plan.qualified_name(ix))).ok()?;
    let kinds = [SymbolKind::Class, SymbolKind::Function, SymbolKind::Method, SymbolKind::Property];
    let all = index.find(&pattern, false, &kinds);
    let planned = plan.node(ix).file_path.as_deref().unwrap_or_default();
    let there = all.iter().find(|it| index.path(it.file) == planned);
    let mut files: Vec<_> = all.iter().map(|it| it.file).collect();
    files.dedup();
    let only = all.first().filter(|_| files.len() == 1);
    let symbol = *there.or(only)?;
    let is_other = |it: &Located| it.file == symbol.file && *it != symbol;
    let others = all.iter().copied().filter(is_other).collect();
    Some(GeneratedNode { ix, symbol, others, moved: there.is_none() })
}

/// Returns whether uses are inside a definition, or inside a symbol in it.
fn is_inside(index: &Index, caller: &Caller, symbol: Located) -> bool {
    outwards(index, caller).any(|it| it == symbol)
}

/// Returns the innermost leaf that contains the uses.
fn around(index: &Index, caller: &Caller, nodes: &FxHashMap<Located, NodeIx>) -> Option<NodeIx> {
    outwards(index, caller).find_map(|it| nodes.get(&it).copied())
}

/// Returns the functions and classes around uses, innermost first.
fn outwards(index: &Index, caller: &Caller) -> impl Iterator<Item = Located> + use<> {
    let (file, outline) = (caller.file, index.outline(caller.file));
    let first = caller.symbol.map(|it| it.symbol);
    let all = std::iter::successors(first, move |it| outline.symbols[*it].parent);
    all.map(move |symbol| Located { file, symbol })
}
