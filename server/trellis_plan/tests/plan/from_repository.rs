//! Plans of whole repositories can be read, checked, ordered and compared.

use trellis_plan::{
    DerivedEdge, DerivedNode, DerivedPart, Dialect, Grouping, Kind, Plan, check, diff, export,
    order, repository_plan,
};

use super::{Random, at, ids};

fn node<'a>(path: &'a str, name: &'a str, kind: Kind) -> DerivedNode<'a> {
    DerivedNode {
        path,
        name,
        kind,
        signature: "def f(x)",
        docstring: "D.",
        lines: (1, 2),
        definitions: Vec::new(),
        inner: Vec::new(),
    }
}

fn edge(caller: usize, callee: usize) -> DerivedEdge<'static> {
    DerivedEdge { caller, callee, uncertainty: None }
}

fn read(files: &[&str], nodes: &[DerivedNode<'_>], edges: &[DerivedEdge<'_>]) -> Plan {
    let made = repository_plan("shop", files, nodes, edges, Grouping::Package).to_string();
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
fn parts_of_a_definition_and_their_lines_are_fields_of_its_node() {
    let part =
        |name, lines| DerivedPart { name, kind: Kind::Function, signature: "def g()", lines };
    let mut outer = node("a.py", "f", Kind::Function);
    outer.inner = vec![part("f.g", (2, 3))];
    outer.definitions = vec![part("f", (1, 4)), part("f", (6, 9))];
    let old = read(&["a.py"], &[outer.clone()], &[]);
    let field = |plan: &Plan, name: &str| {
        let raw = plan.node(at(plan, "a.py:f")).extra.get(name).expect("a field");
        raw.get().to_owned()
    };
    let expected = r#"[{"name":"f.g","type":"function","signature":"def g()","lines":[2,3]}]"#;
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&field(&old, "inner")).expect("JSON"),
        serde_json::from_str::<serde_json::Value>(expected).expect("JSON")
    );
    outer.inner[0].lines = (4, 5);
    assert!(diff(&old, &read(&["a.py"], &[outer.clone()], &[])).is_empty(), "lines are no change");
    outer.inner[0].signature = "def g(x)";
    assert_eq!(diff(&old, &read(&["a.py"], &[outer], &[])).changed.len(), 1);
}

/// Names of subgraphs by cohesion, as `path:name subgraph`.
fn cohesive(nodes: &[DerivedNode<'_>], edges: &[DerivedEdge<'_>]) -> Vec<String> {
    let made = repository_plan("shop", &[], nodes, edges, Grouping::Cohesion).to_string();
    let plan = trellis_plan::read(made.as_bytes(), None).expect("a plan");
    let leaves = plan.indices().filter(|ix| plan.node(*ix).is_leaf());
    let shown = leaves.map(|ix| {
        format!("{} {}", plan.id(ix), plan.node(ix).subgraph.as_deref().unwrap_or_default())
    });
    shown.collect()
}

#[test]
fn definitions_that_use_each_other_are_one_subgraph_in_any_folder() {
    let nodes = [
        node("shop/prices.py", "Price", Kind::Class),
        node("shop/prices.py", "Price.add", Kind::Method),
        node("shop/prices.py", "tax", Kind::Function),
        node("shop/prices.py", "mail", Kind::Function),
        node("post/letters.py", "Letter", Kind::Class),
        node("post/letters.py", "Letter.send", Kind::Method),
        node("post/letters.py", "stamp", Kind::Function),
        node("post/alone.py", "alone", Kind::Function),
    ];
    let edges =
        [edge(2, 0), edge(2, 1), edge(3, 4), edge(3, 5), edge(3, 6), edge(5, 6), edge(6, 3)];
    let expected = [
        "shop/prices.py:Price shop.prices",
        "shop/prices.py:Price.add shop.prices",
        "shop/prices.py:tax shop.prices",
        "shop/prices.py:mail post.letters",
        "post/letters.py:Letter post.letters",
        "post/letters.py:Letter.send post.letters",
        "post/letters.py:stamp post.letters",
        "post/alone.py:alone post.alone",
    ];
    assert_eq!(cohesive(&nodes, &edges), expected);
}

#[test]
fn cohesion_does_not_depend_on_the_order_of_edges_and_has_a_name_for_each_group() {
    let names: Vec<String> = (0..3000).map(|it| format!("f{it}")).collect();
    let paths: Vec<String> = (0..3000).map(|it| format!("p/m{}.py", it / 600)).collect();
    let nodes: Vec<DerivedNode<'_>> =
        names.iter().zip(&paths).map(|(name, path)| node(path, name, Kind::Function)).collect();
    let mut random = Random(11);
    let mut edges: Vec<DerivedEdge<'_>> = (0..12_000)
        .map(|_| {
            // Groups of 100, with some links to anywhere.
            let from = random.below(3000);
            let near = from / 100 * 100 + random.below(100);
            edge(from, if random.below(10) == 0 { random.below(3000) } else { near })
        })
        .collect();
    let first = cohesive(&nodes, &edges);
    edges.reverse();
    assert_eq!(cohesive(&nodes, &edges), first);
    let group = |line: &String| line.split_once(' ').map(|it| it.1.to_owned()).unwrap_or_default();
    let groups: std::collections::BTreeSet<String> = first.iter().map(group).collect();
    assert!((5..60).contains(&groups.len()), "{groups:?}");
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

/// The plan of [`published`].
fn small() -> Plan {
    let mut nodes = [
        node("shop/cart.py", "Cart", Kind::Class),
        node("shop/cart.py", "Cart.total", Kind::Method),
        node("shop/cart.py", "price", Kind::Function),
    ];
    nodes[2].docstring = "";
    let doubtful = DerivedEdge { caller: 1, callee: 2, uncertainty: Some("why") };
    read(&["shop/cart.py"], &nodes, &[edge(2, 0), doubtful])
}

/// The same plan in the dialects of others, as far as they can say it.
fn published() -> [(Dialect, String); 3] {
    let feature = |id: &str, name: &str, kind: &str, path: &str, more: &str| {
        format!(
            r#"{{"id":"{id}","name":"{name}","meta":{{"type_name":"{kind}","path":"{path}"{more}}}"#
        )
    };
    let described = r#","description":"D.""#;
    let [root, folder, file, class, method, function] = [
        feature(".", "shop", "package", ".", ""),
        feature("shop", "shop", "folder", "shop", ""),
        feature("shop/cart.py", "shop/cart.py", "module", "shop/cart.py", ""),
        feature("shop/cart.py:Cart", "Cart", "class", "shop/cart.py:Cart", described),
        feature(
            "shop/cart.py:Cart.total",
            "Cart.total",
            "method",
            "shop/cart.py:Cart.total",
            described,
        ),
        feature("shop/cart.py:price", "price", "function", "shop/cart.py:price", ""),
    ];
    let uses = r#"{"src":"shop/cart.py:price","dst":"shop/cart.py:Cart","relation":"uses"},
        {"src":"shop/cart.py:Cart.total","dst":"shop/cart.py:price","relation":"function_call"}"#;
    let about = r#""repo_name":"shop","repo_info":"Derived from the code of shop.""#;
    let below = [
        (".", "shop"),
        ("shop", "shop/cart.py"),
        ("shop/cart.py", "shop/cart.py:Cart"),
        ("shop/cart.py:Cart", "shop/cart.py:Cart.total"),
        ("shop/cart.py", "shop/cart.py:price"),
    ];
    let links = below.map(|(parent, child)| format!(r#"{{"src":"{parent}","dst":"{child}"}}"#));
    let flat = [&root, &folder, &file, &class, &method, &function].map(|it| format!("{it}}}"));
    let zerorepo =
        format!(r#"{{{about},"nodes":[{}],"edges":[{},{uses}]}}"#, flat.join(","), links.join(","));
    let codermind = format!(
        r#"{{{about},"root":{root},"children":[{folder},"children":[{file},"children":[{class},"children":[{method}}}]}},{function}}}]}}]}}]}},"edges":[{uses}]}}"#,
    );
    let encoder = r#"{"hierarchy":{".":{"id":".","name":"shop","children":{"shop":{"id":"shop","name":"shop","entities":["shop/cart.py"]}}}},
        "entities":{
        "1":{"id":"shop/cart.py","name":"shop/cart.py","kind":"module","file":"shop/cart.py"},
        "2":{"id":"shop/cart.py:Cart","name":"Cart","kind":"class","file":"shop/cart.py","semantic_features":["D."]},
        "3":{"id":"shop/cart.py:Cart.total","name":"total","parent_class":"Cart","kind":"method","file":"shop/cart.py","semantic_features":["D."]},
        "4":{"id":"shop/cart.py:price","name":"price","kind":"function","file":"shop/cart.py"}},
        "edges":[{"source":"shop/cart.py","target":"shop/cart.py:Cart","kind":"contains"},
        {"source":"shop/cart.py:Cart","target":"shop/cart.py:Cart.total","kind":"contains"},
        {"source":"shop/cart.py","target":"shop/cart.py:price","kind":"contains"},
        {"source":"shop/cart.py:price","target":"shop/cart.py:Cart","kind":"uses"},
        {"source":"shop/cart.py:Cart.total","target":"shop/cart.py:price","kind":"function_call"}],
        "metadata":{"project_name":"shop","description":"Derived from the code of shop."}}"#;
    [
        (Dialect::ZeroRepo, zerorepo),
        (Dialect::CoderMind, codermind),
        (Dialect::RpgEncoder, encoder.to_owned()),
    ]
}

#[test]
fn a_derived_plan_is_the_same_in_every_dialect_that_can_hold_it() {
    let plan = small();
    let written = export(&plan, |_| None, &serde_json::Value::Null);
    let again = trellis_plan::read(written.as_bytes(), None).expect("a plan");
    assert!(diff(&plan, &again).is_empty());
    for (dialect, text) in published() {
        let theirs = trellis_plan::read(text.as_bytes(), None);
        let theirs = theirs.unwrap_or_else(|error| panic!("{dialect}: {error}"));
        assert_eq!(theirs.dialect(), dialect);
        for found in [diff(&plan, &theirs), diff(&theirs, &plan)] {
            let nodes = (found.added.len(), found.removed.len(), &found.changed);
            assert_eq!(nodes, (0, 0, &Vec::new()), "{dialect}");
            assert_eq!(found.metadata.len() + found.edges.len(), 0, "{dialect}: {found:?}");
        }
    }
}
