//! Plans of whole repositories can be read, checked, ordered and compared.

use trellis_plan::{
    DerivedEdge, DerivedNode, Dialect, Kind, Plan, check, diff, order, repository_plan,
};

use super::{at, ids};

fn node<'a>(path: &'a str, name: &'a str, kind: Kind) -> DerivedNode<'a> {
    DerivedNode { path, name, kind, signature: "def f(x)", docstring: "D.", lines: (1, 2) }
}

fn edge(caller: usize, callee: usize) -> DerivedEdge<'static> {
    DerivedEdge { caller, callee, uncertainty: None }
}

fn read(files: &[&str], nodes: &[DerivedNode<'_>], edges: &[DerivedEdge<'_>]) -> Plan {
    let made = repository_plan("shop", files, nodes, edges).to_string();
    trellis_plan::read(made.as_bytes(), None).unwrap_or_else(|error| panic!("{error}: {made}"))
}

#[test]
fn folders_files_classes_and_methods_are_one_tree() {
    let files = ["main.py", "shop/__init__.py", "shop/cart/items.py", "shop/empty.py"];
    let nodes = [
        node("main.py", "run", Kind::Function),
        node("shop/cart/items.py", "Cart", Kind::Class),
        node("shop/cart/items.py", "Cart.total", Kind::Method),
        node("shop/cart/items.py", "Base", Kind::Class),
    ];
    let doubtful = DerivedEdge { caller: 2, callee: 0, uncertainty: Some("why") };
    let plan = read(&files, &nodes, &[edge(0, 1), edge(1, 3), doubtful]);
    assert_eq!((plan.dialect(), plan.warnings().len()), (Dialect::Rpg, 0));
    assert_eq!(ids(&plan, plan.children(at(&plan, "."))), "main.py shop");
    assert_eq!(plan.node(at(&plan, "shop")).kind.name(), "package");
    assert_eq!(plan.node(at(&plan, "shop/cart")).kind.name(), "folder");
    let inside = ids(&plan, plan.children(at(&plan, "shop")));
    assert_eq!(inside, "shop/__init__.py shop/cart shop/empty.py");
    let total = at(&plan, "shop/cart/items.py:Cart.total");
    assert_eq!(plan.class_of(total), plan.find("shop/cart/items.py:Cart"));
    assert_eq!(plan.node(total).subgraph.as_deref(), Some("shop/cart"));
    assert_eq!(plan.node(at(&plan, "main.py:run")).subgraph.as_deref(), Some("."));
    let kinds: Vec<&str> = plan.edges().iter().map(|it| &*plan.edge_kind(it).name).collect();
    assert_eq!(kinds.iter().filter(|it| **it == "hierarchy").count(), 10);
    assert_eq!(kinds[10..], ["uses", "uses", "function_call"]);
}

#[test]
fn recursion_and_a_class_with_its_methods_need_nothing() {
    let nodes = [
        node("a.py", "C", Kind::Class),
        node("a.py", "C.m", Kind::Method),
        node("a.py", "f", Kind::Function),
    ];
    let plan = read(&["a.py"], &nodes, &[edge(0, 1), edge(1, 0), edge(2, 2), edge(2, 1)]);
    assert_eq!(check(&plan), []);
    assert_eq!(ids(&plan, plan.depends_on(at(&plan, "a.py:f"))), "a.py:C.m");
    assert_eq!(order(&plan).set_aside.len(), 0);
}

#[test]
fn an_unchanged_repository_has_no_differences() {
    let nodes = [node("a.py", "f", Kind::Function), node("a.py", "g", Kind::Function)];
    let old = read(&["a.py"], &nodes, &[edge(0, 1)]);
    let mut moved = nodes.clone();
    moved[1].lines = (5, 9);
    assert!(diff(&old, &read(&["a.py"], &moved, &[edge(0, 1)])).is_empty());
    assert_eq!(read(&[], &[], &[]).nodes().len(), 1);
}
