//! Prints a plan as an ASCII tree, by hierarchy and subgraph.

use std::fmt;

use rustc_hash::FxHashMap;

use crate::explore::last_of_siblings;
use crate::node::NodeIx;
use crate::plan::Plan;

/// Largest printed depth. Deeper lines are printed at this depth, so that a chain of a million
/// nodes does not print a million blanks per line.
const DEEPEST: usize = 40;

/// A printable plan; it is written piece by piece, so that huge plans can be streamed.
#[derive(Clone, Debug)]
pub struct Tree<'a> {
    plan: &'a Plan,
    lines: Vec<Line<'a>>,
}

/// Arranges a plan as a tree of composites, subgraphs and leaves: kind, name, file path and id of
/// each, in file order.
///
/// A leaf is below its parent, else below the composite that its subgraph names, else below its
/// subgraph. Each node appears once.
pub fn tree(plan: &Plan) -> Tree<'_> {
    let mut placed = vec![false; plan.nodes().len()];
    let mut lines = Vec::with_capacity(placed.len());
    let rows = ChildrenByParent::new(plan);
    let mut open: Vec<Line<'_>> = Vec::new();
    for &top in rows.top.iter() {
        open.push(top);
        walk(&rows, &mut open, &mut placed, &mut lines);
    }
    // A ring of parents has no top; the walk enters it at its first node.
    for ix in plan.indices() {
        if !placed[ix.index()] {
            open.push(Line { depth: 0, entry: Entry::Node(ix) });
            walk(&rows, &mut open, &mut placed, &mut lines);
        }
    }
    Tree { plan, lines }
}

#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    depth: usize,
    entry: Entry<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Entry<'a> {
    Node(NodeIx),
    Subgraph(&'a str),
}

/// Children by parent node or subgraph.
struct ChildrenByParent<'a> {
    top: Vec<Line<'a>>,
    below: FxHashMap<Entry<'a>, Vec<NodeIx>>,
}

impl<'a> ChildrenByParent<'a> {
    fn new(plan: &'a Plan) -> Self {
        let by_name: FxHashMap<&str, NodeIx> = {
            let composites = plan.indices().rev().filter(|&ix| !plan.node(ix).is_leaf());
            composites.map(|ix| (&*plan.node(ix).name, ix)).collect()
        };
        let mut rows = ChildrenByParent { top: Vec::new(), below: FxHashMap::default() };
        for ix in plan.indices() {
            let node = plan.node(ix);
            let group =
                |subgraph| match plan.find(subgraph).or_else(|| by_name.get(subgraph).copied()) {
                    Some(composite) if !plan.node(composite).is_leaf() => Entry::Node(composite),
                    _ => Entry::Subgraph(subgraph),
                };
            let by_subgraph = || node.subgraph.as_deref().filter(|_| node.is_leaf()).map(group);
            let parent =
                plan.parents(ix).first().copied().or_else(|| plan.class_of(ix)).map(Entry::Node);
            match parent.or_else(by_subgraph).filter(|&parent| parent != Entry::Node(ix)) {
                Some(parent) => rows.add(parent, ix),
                None => rows.top.push(Line { depth: 0, entry: Entry::Node(ix) }),
            }
        }
        rows
    }

    fn add(&mut self, parent: Entry<'a>, ix: NodeIx) {
        if matches!(parent, Entry::Subgraph(_)) && !self.below.contains_key(&parent) {
            self.top.push(Line { depth: 0, entry: parent });
        }
        self.below.entry(parent).or_default().push(ix);
    }
}

fn walk<'a>(
    rows: &ChildrenByParent<'a>,
    open: &mut Vec<Line<'a>>,
    placed: &mut [bool],
    lines: &mut Vec<Line<'a>>,
) {
    while let Some(line) = open.pop() {
        if let Entry::Node(ix) = line.entry
            && std::mem::replace(&mut placed[ix.index()], true)
        {
            continue;
        }
        lines.push(line);
        let below = rows.below.get(&line.entry).into_iter().flatten().rev();
        open.extend(below.map(|&ix| Line { depth: line.depth + 1, entry: Entry::Node(ix) }));
    }
}

impl fmt::Display for Tree<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let depths: Vec<usize> = self.lines.iter().map(|line| line.depth.min(DEEPEST)).collect();
        let last = last_of_siblings(&depths);
        let mut prefix: Vec<&str> = Vec::new();
        for (i, line) in self.lines.iter().enumerate() {
            if depths[i] > 0 {
                prefix.truncate(depths[i] - 1);
                prefix.iter().try_for_each(|part| f.write_str(part))?;
                f.write_str(if last[i] { "`-- " } else { "|-- " })?;
                prefix.push(if last[i] { "    " } else { "|   " });
            }
            if line.depth > DEEPEST {
                write!(f, "(level {}) ", line.depth)?;
            }
            self.entry(f, line.entry)?;
        }
        Ok(())
    }
}

impl Tree<'_> {
    fn entry(&self, f: &mut fmt::Formatter<'_>, entry: Entry<'_>) -> fmt::Result {
        let ix = match entry {
            Entry::Subgraph(name) => return writeln!(f, "subgraph {name}"),
            Entry::Node(ix) => ix,
        };
        let node = self.plan.node(ix);
        write!(f, "{} {}", node.kind, node.name)?;
        if let Some(path) = &node.file_path {
            write!(f, "  {path}")?;
        }
        if node.id != node.name {
            write!(f, "  ({})", node.id)?;
        }
        writeln!(f)
    }
}
