//! Determines the class of each method, and finds contradictions in a plan about it.

use rustc_hash::FxHashMap;

use crate::csr::Csr;
use crate::node::{Kind, Node, NodeIx};

/// Returns, for every node, the class it is a method of: the class above it in the hierarchy, or
/// else the class in the same file that its name contains.
pub(crate) fn classes(nodes: &[Node], parents: &Csr) -> Vec<Option<NodeIx>> {
    let mut by_name: FxHashMap<(&str, &str), NodeIx> = FxHashMap::default();
    for (i, node) in nodes.iter().enumerate().filter(|(_, node)| node.kind == Kind::Class) {
        if let Some(file) = &node.file_path {
            by_name.entry((file, &node.name)).or_insert(NodeIx::new(i));
        }
    }
    let class_of = |(i, node): (usize, &Node)| {
        let ix = NodeIx::new(i);
        let above = parent_classes(nodes, parents, ix).next();
        above.or_else(|| {
            let class = node.class_part().filter(|_| may_be_method(node))?;
            by_name.get(&(node.file_path.as_deref()?, class)).copied()
        })
    };
    nodes.iter().enumerate().map(class_of).collect()
}

fn may_be_method(node: &Node) -> bool {
    node.is_leaf() && node.kind != Kind::Class
}

/// Returns the class nodes directly above a method.
pub(crate) fn parent_classes<'a>(
    nodes: &'a [Node],
    parents: &'a Csr,
    method: NodeIx,
) -> impl Iterator<Item = NodeIx> + 'a {
    let is_class = move |parent: &NodeIx| {
        *parent != method
            && may_be_method(&nodes[method.index()])
            && nodes[parent.index()].kind == Kind::Class
    };
    parents.row(method).iter().copied().filter(is_class)
}
