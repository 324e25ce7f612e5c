//! The leaves of a planning graph found in Python sources, and what really uses what among them.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use trellis_plan::{NodeIx, Plan};
use trellis_python::{Caller, Index, Located, NamePath, Place, SymbolKind};

use super::unique::name;

/// The definition of a leaf.
pub(crate) struct GeneratedNode {
    pub(crate) ix: NodeIx,
    pub(crate) symbol: Located,
    /// It is not in the file that the plan says.
    pub(crate) moved: bool,
}

/// The first use that makes a link.
pub(crate) struct Link {
    pub(crate) place: Place,
    /// It is merely possible.
    pub(crate) possible: bool,
}

/// What was found.
pub(crate) struct Links {
    /// By place in the plan.
    pub(crate) generated: Vec<GeneratedNode>,
    pub(crate) absent: Vec<NodeIx>,
    /// Who uses, and what is used.
    pub(crate) links: BTreeMap<(NodeIx, NodeIx), Link>,
    /// The same for classes, by uses of what stands in their bodies: of an object that a function gave, say.
    pub(crate) through_members: BTreeMap<(NodeIx, NodeIx), Link>,
    /// What is used at all outside itself, tests aside; also by code that is in no plan.
    pub(crate) used: Vec<NodeIx>,
}

impl Links {
    /// Looks for the leaves of a plan and for their links.
    pub(crate) fn of(plan: &Plan, index: &Index) -> Links {
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
            found.generated.iter().map(|it| (it.symbol, it.ix)).collect();
        for it in &found.generated {
            let at = name(index, it.symbol);
            let callers = index.callers(at.file, at.range.start).unwrap_or_default();
            let outside = callers.iter().filter(|caller| !is_inside(index, caller, it.symbol));
            for caller in outside {
                if !is_test(index.path(caller.file)) {
                    found.used.push(it.ix);
                }
                let Some(from) = around(index, caller, &nodes) else { continue };
                add(&mut found.links, (from, it.ix), caller);
            }
            for caller in users_of_members(index, it.symbol) {
                let Some(from) = around(index, &caller, &nodes) else { continue };
                add(&mut found.through_members, (from, it.ix), &caller);
            }
        }
        found.used.dedup();
        found
    }
}

/// Who uses what stands in the body of a class, outside of the class.
fn users_of_members(index: &Index, class: Located) -> Vec<Caller> {
    let outline = index.outline(class.file);
    if outline.symbols[class.symbol].kind != SymbolKind::Class {
        return Vec::new();
    }
    let is_member = |symbol: &usize| outline.symbols[*symbol].parent == Some(class.symbol);
    let members = (0..outline.symbols.len()).filter(is_member);
    let users = members.flat_map(|symbol| {
        let at = name(index, Located { file: class.file, symbol });
        index.callers(at.file, at.range.start).unwrap_or_default()
    });
    users.filter(|caller| !is_inside(index, caller, class)).collect()
}

/// A certain use stands before possible ones, whatever their order in the text.
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

/// The definition of a leaf: in its file, else the only one of its name path anywhere.
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
    Some(GeneratedNode { ix, symbol, moved: there.is_none() })
}

/// Whether uses stand in a definition's own text, or in that of a symbol in it.
fn is_inside(index: &Index, caller: &Caller, symbol: Located) -> bool {
    outwards(index, caller).any(|it| it == symbol)
}

/// The leaf in whose text uses stand: the innermost.
fn around(index: &Index, caller: &Caller, nodes: &FxHashMap<Located, NodeIx>) -> Option<NodeIx> {
    outwards(index, caller).find_map(|it| nodes.get(&it).copied())
}

/// The functions and classes around uses, from the innermost on.
fn outwards(index: &Index, caller: &Caller) -> impl Iterator<Item = Located> + use<> {
    let (file, outline) = (caller.file, index.outline(caller.file));
    let first = caller.symbol.map(|it| it.symbol);
    let all = std::iter::successors(first, move |it| outline.symbols[*it].parent);
    all.map(move |symbol| Located { file, symbol })
}

/// Whether pytest would look for tests in a file, or a test needs it.
fn is_test(path: &str) -> bool {
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.split('.').next().unwrap_or(file);
    folders.split('/').any(|it| it == "tests" || it == "test")
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem == "conftest"
}
