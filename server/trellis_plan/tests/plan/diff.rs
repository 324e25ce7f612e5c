//! Differences between two plans, and what they mean for the next run.

use std::collections::BTreeMap;

use serde_json::json;
use trellis_plan::{
    DerivedEdge, DerivedNode, EdgeChangeKind, Kind, NodeIx, Plan, PlanDiff, derived, diff,
};

use super::{Random, functions, graph, ids, leaf, plan};

/// Returns a function with a name, a file, a signature and a docstring of its own.
fn node(id: &str, name: &str, file: &str, docstring: &str, more: &str) -> String {
    format!(
        r#"{{"id":"{id}","name":"{name}","type":"function","file_path":"{file}","signature":"def {name}(x)","docstring":"{docstring}"{more}}}"#
    )
}

fn plan_of(nodes: &[String]) -> Plan {
    graph(nodes, &[])
}

fn changed(found: &PlanDiff, new: &Plan) -> BTreeMap<String, String> {
    let entry = |it: &trellis_plan::NodeChange| {
        let fields: Vec<&str> = it.fields.iter().map(|it| it.name.as_str()).collect();
        (new.id(it.new).to_owned(), fields.join(" "))
    };
    found.changed.iter().map(entry).collect()
}

/// Returns what is done again, and what depends on that.
fn work(found: &PlanDiff, new: &Plan) -> (String, String) {
    let it = found.regeneration.as_ref().expect("a graph");
    (ids(new, &it.again), ids(new, &it.dependents))
}

fn edges(found: &PlanDiff) -> Vec<String> {
    let shown = |it: &trellis_plan::EdgeChange| {
        let sign = match it.kind {
            EdgeChangeKind::Added => '+',
            EdgeChangeKind::Removed => '-',
            EdgeChangeKind::Changed => '~',
        };
        format!("{sign} {} {} {}", it.source, it.target, it.role.name())
    };
    found.edges.iter().map(shown).collect()
}

#[test]
fn a_plan_differs_from_itself_in_nothing() {
    let it = functions("a:\nb: a\nc: b a");
    let found = diff(&it, &it);
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(work(&found, &it), (String::new(), String::new()));
}

#[test]
fn every_field_that_differs_is_named_with_both_values() {
    let text = |fields: &str| format!(r#"{{"nodes":[{{"id":"a","name":"a"{fields}}}]}}"#);
    let old = plan(&text(
        r#","file_path":"a.py","examples":["a() == 1"],"serves":[1],"lines":[1,2],"status":"passed""#,
    ));
    let new = plan(&text(
        r#","type":"class","file_path":"b.py","signature":"class a","docstring":"d","libraries":["x"],"subgraph_id":"s","red_gate":"skip","serves":[ 1, 2 ],"lines":[5,6]"#,
    ));
    let found = diff(&old, &new);
    let expected =
        "type file_path signature docstring subgraph_id red_gate examples libraries serves";
    assert_eq!(changed(&found, &new)["a"], expected);
    let value = |name: &str| {
        let fields = &found.changed[0].fields;
        let it = fields.iter().find(|it| it.name == name).expect("the field");
        json!([it.old, it.new])
    };
    assert_eq!(value("type"), json!(["function", "class"]));
    assert_eq!(value("examples"), json!([["a() == 1"], null]));
    assert_eq!(value("serves"), json!([[1], [1, 2]]));
    assert_eq!(diff(&new, &plan(&text(r#","type":"class""#))).changed[0].fields.len(), 7);
}

#[test]
fn nodes_that_come_and_go_are_named() {
    let old = functions("a:\nb:");
    let new = functions("b:\nc: b");
    let found = diff(&old, &new);
    assert_eq!((ids(&new, &found.added), ids(&old, &found.removed)), ("c".into(), "a".into()));
    assert_eq!(edges(&found), ["+ c b dependency"]);
    assert_eq!(work(&found, &new), ("c".into(), String::new()));
}

#[test]
fn a_node_with_another_id_is_found_by_what_is_left_of_it() {
    let old = plan_of(&[
        node("1", "mean", "m.py", "Mean.", ""),
        node("2", "total", "t.py", "Total.", ""),
        node("3", "median", "q.py", "Median.", ""),
        node("4", "same", "s.py", "", ""),
        node("5", "same", "t.py", "", ""),
    ]);
    let new = plan_of(&[
        // The same name in the same file, everything in another file, and another name.
        node("one", "mean", "m.py", "Arithmetic mean.", ""),
        node("two", "total", "sums.py", "Total.", ""),
        node("three", "middle", "q.py", "Median.", ""),
        // Two of the same name: neither is certain.
        node("four", "same", "u.py", "", ""),
        node("five", "same", "v.py", "", ""),
    ]);
    let found = diff(&old, &new);
    let expected =
        [("one", "id docstring"), ("three", "id name signature"), ("two", "id file_path")];
    let expected = expected.map(|(id, fields)| (id.to_owned(), fields.to_owned()));
    assert_eq!(changed(&found, &new), expected.into());
    assert_eq!(
        (ids(&new, &found.added), ids(&old, &found.removed)),
        ("four five".into(), "4 5".into())
    );
}

#[test]
fn edges_follow_renamed_nodes_and_say_what_they_are() {
    let one = |id: &str, name: &str| node(id, name, &format!("{name}.py"), name, "");
    let old = graph(
        &[one("a", "f"), one("b", "g"), one("c", "h")],
        &[("a", "b", "function_call"), ("b", "c", "data_flow"), ("a", "c", "import")],
    );
    let new = graph(
        &[one("a", "f"), one("B", "g"), one("c", "h")],
        &[("a", "B", "uses"), ("c", "B", "data_flow"), ("a", "c", "import")],
    );
    let found = diff(&old, &new);
    let expected = ["+ c B data_flow", "- B c data_flow", "~ a B dependency"];
    assert_eq!(edges(&found), expected);
    assert_eq!(found.edges[2].old_types, ["function_call"]);
    assert_eq!(found.edges[2].new_types, ["uses"]);
    let unknown = graph(&[one("a", "f")], &[("a", "ghost", "uses")]);
    assert!(edges(&diff(&old, &unknown)).contains(&"+ a ghost dependency".to_owned()));
}

#[test]
fn a_dependency_is_the_same_in_a_list_and_among_the_edges() {
    let nodes = |list: &str| [leaf("a", r#""dependencies":[]"#), leaf("b", list)];
    let listed = graph(&nodes(r#""dependencies":["a"]"#), &[]);
    let stated = graph(&nodes(r#""dependencies":[]"#), &[("b", "a", "uses")]);
    assert_eq!(edges(&diff(&listed, &stated)), ["~ b a dependency"]);
    assert_eq!(work(&diff(&listed, &stated), &stated), (String::new(), String::new()));
}

#[test]
fn metadata_is_compared_by_value() {
    let of = |metadata: &str, more: &str| {
        plan(&format!(r#"{{"nodes":[],"metadata":{{{metadata}}}{more}}}"#))
    };
    let old = of(r#""project_name":"a","n":1.0,"generation":{"a":1},"spec":{"x":[1, 2]}"#, "");
    let new = of(r#""spec":{"x":[1,2]},"project_name":"b","generation":{},"n":1.0"#, r#","own":1"#);
    let found = diff(&old, &new).metadata;
    let found: Vec<_> =
        found.iter().map(|it| (it.name.as_str(), json!([it.old, it.new]))).collect();
    assert_eq!(found, [("project_name", json!(["a", "b"])), ("own", json!([null, 1]))]);
}

#[test]
fn dependents_are_those_that_build_on_what_changed() {
    let lines = "a:\nb: a\nc: b\nd:\ne: d";
    let old = functions(lines);
    let mut new = functions(lines);
    assert!(diff(&old, &new).is_empty());
    new = functions("a:\nb: a\nc: b\nd: a\ne: d");
    // `d` has another dependency; `e` builds on it.
    assert_eq!(work(&diff(&old, &new), &new), ("d".into(), "e".into()));
}

#[test]
fn what_does_not_specify_a_node_does_not_do_it_again() {
    let of = |more: &str| plan_of(&[leaf("a", &format!(r#""dependencies":[]{more}"#))]);
    let new = of(r#","libraries":["numpy"],"subgraph_id":"s","serves":[3]"#);
    let found = diff(&of(""), &new);
    assert_eq!(changed(&found, &new)["a"], "subgraph_id libraries serves");
    assert_eq!(work(&found, &new), (String::new(), String::new()));
}

#[test]
fn a_dependency_on_a_group_is_one_on_everything_in_it() {
    let group = r#"{"id":"g","name":"g","type":"module","node_type":"composite"}"#.to_owned();
    let of = |nodes: &[&str]| {
        let user = leaf("user", r#""dependencies":["g"]"#);
        let below = nodes.iter().map(|id| leaf(id, r#""dependencies":[]"#));
        let edges: Vec<_> = nodes.iter().map(|&id| ("g", id, "hierarchy")).collect();
        graph(&[group.clone(), user].into_iter().chain(below).collect::<Vec<_>>(), &edges)
    };
    let (one, two) = (of(&["x"]), of(&["x", "y"]));
    assert_eq!(work(&diff(&one, &two), &two), ("y".into(), "user".into()));
    assert_eq!(work(&diff(&two, &one), &one), (String::new(), "user".into()));
}

#[test]
fn a_method_follows_its_class() {
    let of = |class: &str, method: &str| {
        plan(&format!(
            r#"{{"nodes":[
                {{"id":"c","name":"{class}","type":"class","file_path":"a.py","docstring":"d"}},
                {{"id":"m","name":"{method}","type":"method","file_path":"a.py","docstring":"d"}}],
              "edges":[{{"source":"c","target":"m","type":"hierarchy"}}]}}"#
        ))
    };
    let new = of("Basket", "total");
    let found = diff(&of("Cart", "total"), &new);
    assert_eq!(found.changed.len(), 2, "{found:?}");
    assert_eq!(work(&found, &new), ("c m".into(), String::new()));
    let bare = plan(&graph_without_edges());
    let found = diff(&bare, &new);
    assert_eq!(edges(&found), ["+ c m hierarchy"]);
    assert_eq!(work(&found, &new), ("m".into(), String::new()));
}

fn graph_without_edges() -> String {
    r#"{"nodes":[
        {"id":"c","name":"Basket","type":"class","file_path":"a.py","docstring":"d"},
        {"id":"m","name":"Basket.total","type":"method","file_path":"a.py","docstring":"d"}]}"#
        .to_owned()
}

/// A plan against the code that was made of it.
#[test]
fn plans_of_two_dialects_are_compared_by_what_both_know() {
    let planned = graph(
        &[
            node("mean", "mean", "a.py", "Mean.", r#","serves":[1]"#),
            node("total", "total", "a.py", "Total.", ""),
        ],
        &[("mean", "total", "function_call")],
    );
    let code = |name| DerivedNode {
        path: "a.py",
        name,
        kind: Kind::Function,
        signature: if name == "mean" { "def mean(x)" } else { "def total(y)" },
        docstring: if name == "mean" { "Mean." } else { "Total." },
        lines: (1, 2),
        definitions: Vec::new(),
        inner: Vec::new(),
    };
    let call = DerivedEdge { caller: 0, callee: 1, uncertainty: None };
    let made = derived("p", [code("mean"), code("total"), code("extra")], [call]).to_string();
    let made = plan(&made);
    let found = diff(&planned, &made);
    assert_eq!(ids(&made, &found.added), "a.py a.py:extra");
    assert_eq!(found.removed, Vec::<NodeIx>::new());
    let names = changed(&found, &made);
    assert_eq!(names["a.py:total"], "id signature subgraph_id");

    let encoder = plan(
        r#"{"hierarchy":{},"entities":{"x":{"id":"x","name":"mean","kind":"function","file":"a.py","semantic_features":["Mean."],"line_start":3}},"edges":[]}"#,
    );
    let found = diff(&planned, &encoder);
    assert_eq!(changed(&found, &encoder)["x"], "id");
    assert_eq!(ids(&planned, &found.removed), "total");
    assert_eq!(found.metadata, []);
}

#[test]
fn lists_of_tasks_are_compared_without_a_run() {
    let old = plan(r#"{"tasks":[{"id":"a","description":"A"}]}"#);
    let new = plan(r#"{"tasks":[{"id":"a","description":"B","story_points":3}]}"#);
    let found = diff(&old, &new);
    assert_eq!(changed(&found, &new)["a"], "name docstring story_points");
    assert_eq!(found.regeneration, None);
}

#[test]
fn broken_plans_are_compared_too() {
    let old = functions("a: b\nb: a\na: ghost");
    let new = functions("a: b\nb: a c\nc: b\na:");
    let found = diff(&old, &new);
    assert_eq!(ids(&new, &found.added), "c");
    assert_eq!(work(&found, &new), ("a b c".into(), String::new()));
}

/// The work grows with the size of the plan, not with its square.
#[test]
fn ten_thousand_nodes_are_compared_at_once() {
    let mut random = Random(7);
    let mut line = |at: usize| {
        let needs: Vec<String> = (0..3)
            .map(|_| random.below(at + 1))
            .filter(|it| *it < at)
            .map(|it| format!("n{it}"))
            .collect();
        (format!("n{at}"), needs)
    };
    let lines: Vec<(String, Vec<String>)> = (0..10_000).map(&mut line).collect();
    let of = |name: &dyn Fn(&str) -> String| {
        let text = |(id, needs): &(String, Vec<String>)| {
            let needs: Vec<String> = needs.iter().map(|it| name(it)).collect();
            format!("{}: {}\n", name(id), needs.join(" "))
        };
        functions(&lines.iter().map(text).collect::<String>())
    };
    let old = of(&str::to_owned);
    assert!(diff(&old, &of(&str::to_owned)).is_empty());
    // Every node has another id, name and file: nothing but the shared docstring is left.
    let new = of(&|id| format!("x{id}"));
    let found = diff(&old, &new);
    assert_eq!((found.added.len(), found.removed.len()), (10_000, 10_000));
}
