//! Plans derived from code can be read, ordered and explored.

use trellis_plan::{
    DerivedEdge, DerivedNode, Dialect, Direction, Kind, Plan, ProblemKind, check, derived, explore,
    order,
};

use super::{at, ids};

fn node<'a>(path: &'a str, name: &'a str, docstring: &'a str) -> DerivedNode<'a> {
    let kind = if name.contains('.') { Kind::Method } else { Kind::Function };
    DerivedNode {
        path,
        name,
        kind,
        signature: "def f(x)",
        docstring,
        lines: (3, 7),
        definitions: Vec::new(),
        inner: Vec::new(),
    }
}

fn edge(caller: usize, callee: usize) -> DerivedEdge<'static> {
    DerivedEdge { caller, callee, uncertainty: None }
}

fn read(nodes: &[DerivedNode<'_>], edges: &[DerivedEdge<'_>]) -> Plan {
    let made = derived("shop", nodes.iter().cloned(), edges.iter().copied()).to_string();
    trellis_plan::read(made.as_bytes(), None).unwrap_or_else(|error| panic!("{error}: {made}"))
}

#[test]
fn functions_and_calls_become_nodes_and_edges() {
    let nodes = [
        node("a.py", "sell", "Sell."),
        node("p/b.py", "Cart.total", "Add up."),
        node("p/b.py", "helper", "Help."),
    ];
    let unsure = DerivedEdge { caller: 1, callee: 2, uncertainty: Some("why") };
    let plan = read(&nodes, &[edge(0, 1), unsure]);
    assert_eq!(plan.dialect(), Dialect::Rpg);
    assert_eq!(plan.project_name().as_deref(), Some("shop"));
    assert_eq!(plan.warnings(), Vec::<String>::new());
    assert_eq!(check(&plan), []);

    let total = at(&plan, "p/b.py:Cart.total");
    let it = plan.node(total);
    assert_eq!((&*it.name, &it.kind, it.is_leaf()), ("Cart.total", &Kind::Method, true));
    assert_eq!(it.file_path.as_deref(), Some("p/b.py"));
    assert_eq!(
        (it.signature.as_deref(), it.docstring.as_deref()),
        (Some("def f(x)"), Some("Add up."))
    );
    assert_eq!(ids(&plan, plan.children(at(&plan, "p/b.py"))), "p/b.py:Cart.total p/b.py:helper");
    assert_eq!(ids(&plan, plan.depends_on(total)), "p/b.py:helper");
    assert_eq!(ids(&plan, plan.dependents(total)), "a.py:sell");
    let found = explore(&plan, at(&plan, "a.py:sell"), 2, Direction::Outgoing);
    let reached: Vec<_> = found.steps.iter().map(|it| it.node).collect();
    assert_eq!(ids(&plan, &reached), "p/b.py:Cart.total p/b.py:helper");
    let sequence = order(&plan).sequence;
    assert_eq!(ids(&plan, &sequence), "a.py p/b.py p/b.py:helper p/b.py:Cart.total a.py:sell");
}

/// Code has cycles of calls, functions without docstrings, and repeated definitions.
#[test]
fn what_no_plan_would_hold_is_read_all_the_same() {
    let nodes = [
        node("a.py", "f", ""),
        node("a.py", "g", "G."),
        node("a.py", "g", "G again."),
        node("a.py", "A.m.inner", "Deep."),
    ];
    let plan = read(&nodes, &[edge(0, 0), edge(0, 1), edge(1, 0), edge(2, 3)]);
    assert_eq!(plan.nodes().len(), 5);
    let order = order(&plan);
    assert_eq!(order.sequence.len(), 5);
    let aside: Vec<String> =
        order.set_aside.iter().map(|it| ids(&plan, &[it.node, it.needs])).collect();
    assert_eq!(aside, ["a.py:f a.py:f", "a.py:f a.py:g", "a.py:g a.py:f"]);
    at(&plan, "a.py:g[1]");
    let mut kinds: Vec<ProblemKind> = check(&plan).into_iter().map(|it| it.kind).collect();
    kinds.dedup();
    assert_eq!(
        kinds,
        [
            ProblemKind::Cycle,
            ProblemKind::MissingDocstring,
            ProblemKind::InvalidName,
            ProblemKind::DuplicateDefinition
        ]
    );
}

#[test]
fn no_functions_make_an_empty_plan() {
    assert_eq!(read(&[], &[]).nodes().len(), 0);
}
