//! An exported plan reads back as the same plan.

use serde_json::json;
use trellis_plan::{Dialect, Plan, export, read};

use super::{at, plan};

const FULL: &str = r#"{
  "nodes": [
    {"id": "p", "name": "pkg", "type": "package", "node_type": "composite", "color": "red"},
    {"id": "a", "name": "mean", "type": "function", "node_type": "leaf", "file_path": "src/a.py",
     "docstring": "Mean \u00e9 \"q\"\n", "dependencies": ["b", "nowhere", "b"], "subgraph_id": "s",
     "signature": "def mean()", "examples": ["x"], "libraries": ["numpy"], "red_gate": "skip",
     "priority": 1.50, "nested": {"z": [1, 2,  3], "a": null}, "empty": null},
    {"id": "b", "name": "b", "type": "function", "docstring": "d", "file_path": "src/b.py", "status": "draft"}
  ],
  "edges": [
    {"source": "a", "target": "b", "type": "function_call", "weight": 0.10},
    {"source": "p", "target": "a", "type": "contains"},
    {"source": "a", "target": "gone", "type": "data_flow", "label": "x"}
  ],
  "metadata": {"z": 1, "project_name": "P", "generation": {"old": true}, "a": [2]},
  "schema_version": 7,
  "annotations": {"k": "v"}
}"#;

#[test]
fn a_round_trip_changes_nothing() {
    let first = plan(FULL);
    let text = export(&first, |_| None, &json!({"tool": "trellis"}));
    let second = plan(&text);
    assert_eq!(first, second, "{text}");
    let third = plan(&export(&second, |_| Some("passed"), &json!(null)));
    assert_eq!(first, third);
    assert_eq!(export(&second, |_| None, &json!({"tool": "trellis"})), text, "and is stable");
}

#[test]
fn unknown_fields_are_kept_byte_for_byte() {
    let text = export(&plan(FULL), |_| None, &json!({}));
    for kept in [
        r#""priority": 1.50"#,
        r#""nested": {"z": [1, 2,  3], "a": null}"#,
        r#""empty": null"#,
        r#""color": "red""#,
        r#""weight": 0.10"#,
        r#""label": "x""#,
        r#""schema_version": 7"#,
        r#""annotations": {"k": "v"}"#,
        r#""status": "draft""#,
        r#""nowhere""#,
        r#""gone""#,
    ] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
    let places =
        ["\"z\": 1", "\"project_name\"", "\"a\": [2]"].map(|field| text.rfind(field).expect(field));
    assert!(places.is_sorted(), "metadata keeps its order");
}

#[test]
fn status_and_provenance_replace_those_of_an_earlier_run() {
    let first = plan(FULL);
    let b = at(&first, "b");
    let text =
        export(&first, |ix| Some(if ix == b { "failed" } else { "passed" }), &json!({"run": 2}));
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["nodes"][0].get("status"), None, "composites have none");
    assert_eq!(value["nodes"][1]["status"], "passed");
    assert_eq!(value["nodes"][2]["status"], "failed");
    assert_eq!(text.matches("\"status\"").count(), 2);
    assert_eq!(value["metadata"]["generation"], json!({"run": 2}));
    assert_eq!(text.matches("\"generation\"").count(), 1);
}

#[test]
fn plans_that_differ_are_not_equal() {
    let other = [
        ("Mean", "mean"),
        ("\"weight\": 0.10", "\"weight\": 0.1"),
        ("function_call", "call"),
        ("\"b\", \"no", "\"no"),
        ("gone", "lost"),
        ("\"z\": 1", "\"z\": 2"),
        (": 7", ": 8"),
        ("1.50", "1.5"),
        ("\"skip\"", "\"required\""),
    ];
    for (from, to) in other {
        let changed = FULL.replacen(from, to, 1);
        assert_ne!(changed, FULL);
        assert_ne!(plan(FULL), plan(&changed), "{from} to {to}");
    }
}

#[test]
fn every_dialect_is_written_as_appendix_a() {
    let others = [
        r#"{"repo_name": "r", "meta": 1, "root": {"id": "r", "name": "r", "node_type": "repo", "docstring": 5, "children": [
            {"id": "f", "name": "do it", "type": 3, "level": 5, "meta": {"type_name": "function", "path": "a.py::go"}}]},
            "edges": [{"src": "f", "dst": "r", "relation": "invokes", "meta": {"generator": "x"}}]}"#,
        r#"{"repo_name": "r", "repo_node_id": "f", "nodes": [
            {"id": "f", "name": "do it", "meta": {"type_name": "method", "path": "a.py:K.go"}}],
            "edges": [], "data_flow": [{"source": "f", "target": "gone", "data_id": "d"}]}"#,
        r#"{"version": "2.1.0", "hierarchy": {"A": {"id": "h:A", "name": "A", "entities": ["e"], "semantic_features": ["x"]}},
            "entities": {"e": {"id": "e", "kind": "function", "name": "e", "file": "a.py", "parent_class": null,
            "deps": {"imports": []}, "signature": {"parameters": []}}}, "edges": [], "file_index": {}}"#,
    ];
    for text in others {
        let first = plan(text);
        let written = export(&first, |_| None, &json!({}));
        let second =
            read(written.as_bytes(), None).unwrap_or_else(|error| panic!("{error}: {written}"));
        assert_eq!(second.dialect(), Dialect::Rpg, "{written}");
        let again = export(&second, |_| None, &json!({}));
        assert_eq!(written, again);
        assert_eq!(first, second, "{written}");
    }
}

/// Fields of other dialects that have the names of fields of an export.
const SAME_NAMES: [(Dialect, &str); 4] = [
    (
        Dialect::CoderMind,
        r#"{"repo_name": "r", "nodes": [{"id": "theirs"}], "metadata": [1],
        "root": {"id": "a", "name": "a", "type": 1, "docstring": 2, "dependencies": 3, "red_gate": 4,
                 "children": [{"id": "b", "name": "b", "signature": [], "libraries": {}}]},
        "edges": [{"src": "a", "dst": "b", "relation": "references", "source": "x", "type": 5,
                   "meta": {"generator": "build_data_flow"}},
                  {"src": "b", "dst": "a", "relation": "invokes", "target": "y"}]}"#,
    ),
    (
        Dialect::ZeroRepo,
        r#"{"repo_name": "r", "repo_info": "", "metadata": [1], "data_flow": [],
        "nodes": [{"id": "a", "name": "a", "file_path": 1, "examples": 2, "subgraph_id": 3}],
        "edges": [{"src": "a", "dst": "a", "relation": "composes", "source": "x", "type": 5}]}"#,
    ),
    (
        Dialect::RpgEncoder,
        r#"{"version": 1, "hierarchy": {"h": {"id": "h", "name": "h", "node_type": "area", "type": 1}},
        "entities": {"e": {"id": "e", "name": "e", "kind": "function", "file": "e.py", "node_type": 2}},
        "edges": [{"source": "e", "target": "h", "kind": "composes", "type": "z"}],
        "nodes": [{"id": "theirs"}], "metadata": {}}"#,
    ),
    (
        Dialect::Tasks,
        r#"{"tasks": [{"id": "t", "description": "d", "name": 1, "node_type": 2, "docstring": 3}],
        "nodes": [{"id": "theirs"}], "edges": 4, "metadata": {}}"#,
    ),
];

#[test]
fn fields_that_an_export_has_for_something_else_are_kept_under_other_names() {
    for (dialect, text) in SAME_NAMES {
        let first = read(text.as_bytes(), Some(dialect)).expect("a plan");
        let written = export(&first, |_| None, &json!({}));
        let again = plan(&written);
        assert_eq!(again.dialect(), Dialect::Rpg, "{written}");
        assert_eq!(export(&again, |_| None, &json!({})), written);
        assert_eq!(again.nodes().len(), first.nodes().len(), "{written}");
        let names = |plan: &Plan| {
            let fields = plan.nodes().iter().flat_map(|it| it.extra.iter());
            let all = fields.chain(plan.extra().iter());
            all.map(|(name, raw)| format!("{name} {}", raw.get())).collect::<Vec<_>>()
        };
        assert_eq!(names(&again), names(&first), "{written}");
        assert!(names(&first).iter().any(|it| it.starts_with("original_")), "{written}");
    }
    let written = export(
        &read(SAME_NAMES[0].1.as_bytes(), Some(Dialect::CoderMind)).expect("a plan"),
        |_| None,
        &json!({}),
    );
    for kept in [r#""original_source": "x""#, r#""original_type": 5"#, r#""original_target": "y""#]
    {
        assert!(written.contains(kept), "{kept} is not in {written}");
    }
}
