//! One small file in each dialect, and the resulting plan.

use trellis_plan::{Dialect, Kind, Plan, RedGate, Role};

use super::{at, ids, plan};

fn facts(plan: &Plan, id: &str) -> String {
    let node = plan.node(at(plan, id));
    format!(
        "{} {} {} {} | {}",
        if node.is_leaf() { "leaf" } else { "composite" },
        node.kind,
        plan.qualified_name(at(plan, id)),
        node.file_path.as_deref().unwrap_or("-"),
        node.docstring.as_deref().unwrap_or("-"),
    )
}

#[test]
fn rpg() {
    let plan = plan(
        r#"{"nodes": [
        {"id": "m", "name": "stats", "type": "module", "node_type": "composite"},
        {"id": "a", "name": "mean", "type": "function", "node_type": "leaf", "file_path": "src/s.py",
         "docstring": "Mean.\n\"quoted\" \u00e9", "dependencies": ["b", "b"], "subgraph_id": "stats",
         "signature": "def mean(xs)", "examples": ["mean([1])", {"in": 1}], "libraries": ["numpy"],
         "red_gate": "skip", "owner": {"team": 1}},
        {"id": "b", "name": "Total", "type": "class", "file_path": "src/s.py", "docstring": null,
         "dependencies": null},
        {"id": "c", "name": "Total.add", "type": "method", "file_path": "src/s.py", "docstring": "Add."}],
        "edges": [{"source": "a", "target": "b", "type": "function_call", "weight": 2},
                  {"source": "m", "target": "b", "type": "hierarchy"},
                  {"source": "b", "target": "a", "type": "teleports"}],
        "metadata": {"project_name": "Stats", "author": 3, "nl_spec_path": "docs/nl_spec.md"},
        "schema": "v2"}"#,
    );
    assert_eq!(plan.dialect(), Dialect::Rpg);
    assert_eq!(facts(&plan, "a"), "leaf function mean src/s.py | Mean.\n\"quoted\" é");
    assert_eq!(facts(&plan, "b"), "leaf class Total src/s.py | -");
    assert_eq!(facts(&plan, "m"), "composite module stats - | -");
    let a = plan.node(at(&plan, "a"));
    assert_eq!(a.signature.as_deref(), Some("def mean(xs)"));
    assert_eq!(a.examples, ["mean([1])", r#"{"in": 1}"#]);
    assert_eq!(a.libraries, ["numpy"]);
    assert_eq!(a.red_gate, RedGate::Skip);
    assert_eq!(a.extra.get("owner").map(|raw| raw.get()), Some(r#"{"team": 1}"#));
    assert_eq!(plan.node(at(&plan, "b")).subgraph.as_deref(), Some("m"), "from its parent");
    assert_eq!(plan.node(at(&plan, "c")).subgraph.as_deref(), Some("m"), "from its class");
    assert_eq!(ids(&plan, plan.depends_on(at(&plan, "a"))), "b", "list and edge are one");
    assert_eq!(ids(&plan, plan.depends_on(at(&plan, "c"))), "b", "a method needs its class");
    assert_eq!(ids(&plan, plan.dependents(at(&plan, "b"))), "a c");
    assert_eq!(plan.edge_count(), 3, "the dependency is the edge again");
    assert_eq!(plan.warnings().len(), 1, "{:?}", plan.warnings());
    assert!(plan.warnings()[0].contains("teleports"));
    assert_eq!(ids(&plan, plan.depends_on(at(&plan, "b"))), "a", "unknown kinds are dependencies");
    assert_eq!(plan.project_name().as_deref(), Some("Stats"));
    assert_eq!(plan.nl_spec_path().as_deref(), Some("docs/nl_spec.md"));
    assert_eq!(plan.author(), None, "not a string");
    assert_eq!(plan.extra().text("schema").as_deref(), Some("v2"));
}

#[test]
fn direction_of_each_role() {
    let needs = |kind: &str| {
        let plan = super::graph(
            &[super::leaf("a", r#""x":0"#), super::leaf("b", r#""x":0"#)],
            &[("a", "b", kind)],
        );
        let a = ids(&plan, plan.needs(at(&plan, "a")));
        let b = ids(&plan, plan.needs(at(&plan, "b")));
        (a, b, plan.edge_kind(&plan.edges()[0]).role)
    };
    for kind in ["function_call", "calls", "import", "Imports", "inherits", "depends-on", "uses"] {
        assert_eq!(needs(kind), ("b".into(), String::new(), Role::Dependency), "{kind}");
    }
    for kind in ["data_flow", "DATA-FLOW"] {
        assert_eq!(needs(kind), (String::new(), "a".into(), Role::DataFlow), "{kind}");
    }
    for kind in ["hierarchy", "contains", "parent_child", "composes"] {
        assert_eq!(needs(kind), (String::new(), "a".into(), Role::Hierarchy), "{kind}");
    }
    assert_eq!(needs("same_unit"), (String::new(), String::new(), Role::Related));
}

#[test]
fn zerorepo() {
    let plan = plan(
        r#"{"repo_name": "shop", "repo_info": "A shop.", "excluded_files": ["x"],
        "data_flow": [{"source": "Intake", "target": "Output", "data_id": "rows", "data_type": "list",
                       "transformation": "cleaned"}],
        "nodes": [
        {"id": "shop_L0", "name": "shop", "node_type": "repo", "level": 0, "meta": {"type_name": "directory", "path": "."}},
        {"id": "in_1", "name": "Intake", "node_type": "functional_area", "level": 1, "meta": null},
        {"id": "out_1", "name": "Output", "node_type": "functional_area", "level": 1,
         "meta": {"type_name": null, "path": ["src/out", "src/print"]}},
        {"id": "f_1", "name": "read rows of orders", "node_type": "feature", "level": 5,
         "meta": {"type_name": "function", "path": "src/intake.py:read_rows", "content": "def …", "description": "Read."}},
        {"id": "k_1", "name": "keep a cart", "level": 5, "meta": {"type_name": "class", "path": "src/cart.py:Cart"}},
        {"id": "k_2", "name": "sum a cart", "level": 5, "meta": {"type_name": "method", "path": "src/cart.py:Cart.total"}}],
        "edges": [{"src": "shop_L0", "dst": "in_1", "relation": "composes", "meta": null},
                  {"src": "in_1", "dst": "f_1", "relation": "composes", "meta": null},
                  {"src": "k_2", "dst": "f_1", "relation": "invokes", "meta": {"src_dep": "q"}}]}"#,
    );
    assert_eq!(plan.dialect(), Dialect::ZeroRepo);
    assert_eq!(facts(&plan, "shop_L0"), "composite directory shop - | shop");
    assert_eq!(facts(&plan, "f_1"), "leaf function read_rows src/intake.py | Read.");
    assert_eq!(facts(&plan, "k_1"), "leaf class Cart src/cart.py | keep a cart");
    assert_eq!(facts(&plan, "k_2"), "leaf method Cart.total src/cart.py | sum a cart");
    let f = plan.node(at(&plan, "f_1"));
    assert_eq!(f.extra.text("feature").as_deref(), Some("read rows of orders"));
    assert_eq!(f.extra.text("feature_type").as_deref(), Some("feature"));
    assert_eq!(f.subgraph.as_deref(), Some("in_1"));
    assert_eq!(ids(&plan, plan.depends_on(at(&plan, "k_2"))), "f_1 k_1");
    assert_eq!(ids(&plan, plan.needs(at(&plan, "out_1"))), "in_1", "areas by name");
    assert!(plan.unknown_edges().is_empty());
    assert_eq!(plan.project_name().as_deref(), Some("shop"));
    assert_eq!(plan.description().as_deref(), Some("A shop."));
    assert_eq!(plan.extra().iter().map(|(name, _)| name).collect::<Vec<_>>(), ["excluded_files"]);
}

#[test]
fn codermind() {
    let plan = plan(
        r#"{"repo_name": "blog", "meta": {"git": {}}, "root":
        {"id": "blog_L0", "name": "blog", "node_type": "repo", "level": 0, "meta": {"path": "."}, "children": [
          {"id": "models", "name": "Models", "node_type": "functional_area", "children": [
            {"id": "user", "name": "keep users", "node_type": "feature",
             "meta": {"type_name": "class", "path": "src/models.py::class User", "description": "A user."}, "children": [
               {"id": "login", "name": "log in", "node_type": "feature", "meta": {"path": "src/models.py::User::login"}}]},
            {"id": "open", "name": "unmapped", "node_type": "feature", "meta": null, "children": []}]},
          {"id": "web", "name": "Web", "node_type": "functional_area"}]},
        "edges": [{"src": "models", "dst": "web", "relation": "references", "meta": {"generator": "build_data_flow"}},
                  {"src": "web", "dst": "user", "relation": "references", "meta": {"generator": "dep_graph"}}]}"#,
    );
    assert_eq!(plan.dialect(), Dialect::CoderMind);
    assert_eq!(facts(&plan, "user"), "leaf class User src/models.py | A user.");
    assert_eq!(facts(&plan, "login"), "leaf method User.login src/models.py | log in");
    assert_eq!(facts(&plan, "open"), "leaf feature unmapped - | unmapped");
    assert_eq!(facts(&plan, "models"), "composite functional_area Models - | Models");
    assert_eq!(ids(&plan, plan.children(at(&plan, "models"))), "user open");
    assert_eq!(plan.class_of(at(&plan, "login")), plan.find("user"));
    assert_eq!(plan.node(at(&plan, "login")).subgraph.as_deref(), Some("models"));
    assert_eq!(ids(&plan, plan.needs(at(&plan, "web"))), "blog_L0 models user");
    assert_eq!(ids(&plan, plan.depends_on(at(&plan, "web"))), "user");
    let order: Vec<&str> = plan.nodes().iter().map(|node| &*node.id).collect();
    assert_eq!(order, ["blog_L0", "models", "user", "login", "open", "web"]);
}

#[test]
fn rpg_encoder() {
    let plan = plan(
        r#"{"version": "2.1.0", "metadata": {"language": "python"}, "hierarchy": {"Core": {
          "id": "h:Core", "name": "Core", "grounded_paths": ["src"], "semantic_features": ["do the core"],
          "children": {"deep": {"id": "h:Core/deep", "name": "deep", "children": {}, "entities": ["s.py:K.run", "s.py:gone"]}},
          "entities": ["s.py"]}},
        "entities": {
          "s.py": {"id": "s.py", "kind": "module", "name": "s", "file": "s.py", "parent_class": null},
          "s.py:K": {"id": "s.py:K", "kind": "class", "name": "K", "file": "s.py", "semantic_features": ["keep", "hold"]},
          "s.py:K.run": {"id": "s.py:K.run", "kind": "method", "name": "run", "file": "s.py", "parent_class": "K",
            "line_start": 3, "semantic_features": [], "signature":
            {"parameters": [{"name": "self"}, {"name": "n", "type_annotation": "int"}], "return_type": "str"}}},
        "edges": [{"source": "h:Core", "target": "h:Core/deep", "kind": "contains"},
                  {"source": "s.py:K", "target": "s.py:K.run", "kind": "composes"},
                  {"source": "s.py:K", "target": "s.py:K.run", "kind": "data_flow"},
                  {"source": "s.py:K.run", "target": "s.py:K", "kind": "data_flow"}]}"#,
    );
    assert_eq!(plan.dialect(), Dialect::RpgEncoder);
    assert_eq!(facts(&plan, "s.py"), "composite module s s.py | -");
    assert_eq!(facts(&plan, "s.py:K"), "leaf class K s.py | keep\nhold");
    assert_eq!(facts(&plan, "h:Core"), "composite feature Core - | do the core");
    let run = plan.node(at(&plan, "s.py:K.run"));
    assert_eq!(run.kind, Kind::Method);
    assert_eq!((&*run.name, run.definition_name()), ("K.run", "run"));
    assert_eq!(run.signature.as_deref(), Some("def run(self, n: int) -> str"));
    assert_eq!(run.extra.get("line_start").map(|raw| raw.get()), Some("3"));
    assert_eq!(run.subgraph.as_deref(), Some("h:Core/deep"));
    // The hierarchy adds s.py and K.run, which no edge repeats; a name in it without a node is an
    // unknown id.
    assert_eq!(ids(&plan, plan.children(at(&plan, "h:Core"))), "h:Core/deep s.py");
    assert_eq!(ids(&plan, plan.children(at(&plan, "h:Core/deep"))), "s.py:K.run");
    assert_eq!(&*plan.unknown_edges()[0].target, "s.py:gone");
    assert_eq!(plan.edges().len(), 6);
    assert_eq!(ids(&plan, plan.depends_on(at(&plan, "s.py:K"))), "s.py:K.run", "composition");
    let order = trellis_plan::order(&plan);
    assert_eq!(order.sequence.len(), 5, "a cyclic graph can still be read");
    assert_eq!(order.set_aside.len(), 2);
}

#[test]
fn methods_find_their_class_by_name_or_by_edge() {
    let nodes = [
        r#"{"id":"k","name":"K","type":"class","file_path":"src/k.py","docstring":"d"}"#,
        r#"{"id":"m1","name":"K.one","type":"method","file_path":"src/k.py","docstring":"d"}"#,
        r#"{"id":"m2","name":"two","type":"method","file_path":"src/k.py","docstring":"d"}"#,
        r#"{"id":"m3","name":"K.three","type":"method","file_path":"src/other.py","docstring":"d"}"#,
    ]
    .map(str::to_owned);
    let plan = super::graph(&nodes, &[("k", "m2", "hierarchy")]);
    let class = |id| plan.class_of(at(&plan, id));
    assert_eq!(class("m1"), plan.find("k"));
    assert_eq!(class("m2"), plan.find("k"));
    assert_eq!(class("m3"), None, "no such class in that file");
    assert_eq!(class("k"), None);
    assert_eq!(plan.qualified_name(at(&plan, "m2")), "K.two");
    assert_eq!(plan.qualified_name(at(&plan, "m1")), "K.one");
    assert_eq!(ids(&plan, plan.depends_on(at(&plan, "m2"))), "k");
}
