//! Sentences of a specification, and the nodes that serve them.

use serde_json::json;
use trellis_plan::{
    Dialect, Plan, Sentence, SentenceChange, SentenceKind, Spec, SpecError, SpecFeature, Trace,
    export, sentence_changes, sentences, trace,
};

use super::{graph, ids, leaf, plan};

fn numbered(text: &str) -> Vec<Sentence> {
    sentences(text)
}

fn serving(id: &str, numbers: &str) -> String {
    leaf(id, &format!(r#""dependencies":[],"serves":{numbers}"#))
}

fn problems(found: &Trace, plan: &Plan) -> Vec<String> {
    let shown = |it: &trellis_plan::TraceProblem| {
        let number = it.sentence.map(|it| format!(" {it}")).unwrap_or_default();
        format!("{}{number} [{}]", it.kind, ids(plan, &it.nodes))
    };
    found.problems.iter().map(shown).collect()
}

#[test]
fn sentences_lead_to_the_leaves_that_serve_them() {
    let text = numbered("# Title\n\nOne. Two. Three.");
    let group = r#"{"id":"g","name":"g","type":"module","node_type":"composite","serves":[4]}"#;
    let nodes = [serving("a", "[2]"), serving("b", "[3, 2, 2]"), group.to_owned()];
    let plan = graph(&nodes, &[]);
    let found = trace(&plan, &text, &[], &[]);
    let nodes: Vec<String> = found.nodes.iter().map(|it| ids(&plan, it)).collect();
    assert_eq!(nodes, ["", "a b", "b", ""]);
    // Nothing serves the title, which is none of the problems; a group is no code.
    assert_eq!(problems(&found, &plan), ["unserved-sentence 4 []"]);
    assert!(found.problems[0].message.contains("\"Three.\""), "{found:?}");
    assert_eq!(trace(&plan, &text, &[4], &[]).problems, []);
}

#[test]
fn each_gap_is_a_problem_of_its_own() {
    let text = numbered("One. Two.");
    let nodes = [
        serving("a", "[1, 9]"),
        serving("b", "\"two\""),
        leaf("c", r#""dependencies":[]"#),
        serving("d", "null"),
        serving("e", "[-1]"),
    ];
    let plan = graph(&nodes, &[]);
    let expected = [
        "unserved-sentence 2 []",
        "untraced-node [c]",
        "untraced-node [d]",
        "unknown-sentence 9 [a]",
        "malformed-serves [b]",
        "malformed-serves [e]",
    ];
    assert_eq!(problems(&trace(&plan, &text, &[], &[]), &plan), expected);
}

/// A plan that was made without a specification has one problem, not one for each node.
#[test]
fn a_plan_without_any_trace_is_one_problem() {
    let text = numbered("One. Two. Three.");
    let plain = |id: &str| leaf(id, r#""dependencies":[]"#);
    let plan = graph(&[plain("a"), plain("b")], &[]);
    let found = trace(&plan, &text, &[1], &[]);
    assert_eq!(problems(&found, &plan), ["untraced-node [a b]"]);
    assert_eq!(found.problems[0].message, "none of the 2 nodes serves one of the 2 sentences");
}

#[test]
fn sentences_whose_text_changed_are_named_with_their_nodes() {
    let old = numbered("One. Two. Three. Four.");
    let new = numbered("Zero. One. Two and more. Four. Five.");
    let changes = sentence_changes(&old, &new);
    let plan = graph(&[serving("a", "[1,2]"), serving("b", "[3,4]")], &[]);
    let expected = [
        "changed-sentence 2 [a]",
        "added-sentence []",
        "added-sentence []",
        "removed-sentence 3 [b]",
    ];
    assert_eq!(problems(&trace(&plan, &old, &[], &changes), &plan), expected);
    let SentenceChange::Changed { old, new } = &changes[1] else { panic!("{changes:?}") };
    assert_eq!((&*old.text, &*new.text), ("Two.", "Two and more."));
}

#[test]
fn sentences_that_move_or_are_wrapped_anew_did_not_change() {
    let old = numbered("# A\n\nOne thing. Two things.\n\nOne thing.");
    let new = numbered("Two\nthings.\n\n# A\n\n- **One** thing.\n- One thing.");
    assert_eq!(sentence_changes(&old, &new), []);
    let other = numbered("## B\n\nOne thing. Two things.\n\nOne thing.");
    let found = sentence_changes(&old, &other);
    assert!(matches!(&found[..], [SentenceChange::Changed { .. }]), "{found:?}");
    let many = |word: &str| {
        numbered(&(0..20_000).map(|at| format!("{word} {at}.\n\n")).collect::<String>())
    };
    assert_eq!(sentence_changes(&many("Old"), &many("New")).len(), 20_000);
}

fn spec() -> Spec {
    let sentences = numbered("# Title\n\nOne. Two.");
    Spec {
        path: Some("SPEC.md".into()),
        sha256: Some("ab".into()),
        sentences,
        background: vec![3],
        features: vec![SpecFeature { name: "All".into(), sentences: vec![2] }],
    }
}

/// Returns a plan of each dialect with a specification and one node that serves the sentences 2 and 3.
fn in_every_dialect() -> Vec<(Dialect, String)> {
    let spec = spec().to_json();
    let texts = [
        json!({"nodes": [{"id": "a", "name": "a", "file_path": "a.py", "docstring": "d", "serves": [2, 3]}], "metadata": {"spec": spec}}),
        json!({"repo_name": "r", "spec": spec, "nodes": [{"id": "a", "name": "a", "meta": {"path": "a.py:a"}, "serves": [2, 3]}]}),
        json!({"repo_name": "r", "spec": spec, "root": {"id": "r", "name": "r", "node_type": "repo", "children": [
            {"id": "a", "name": "a", "meta": {"path": "a.py:a"}, "serves": [2, 3]}]}, "edges": []}),
        json!({"hierarchy": {}, "entities": {"a": {"id": "a", "name": "a", "kind": "function", "file": "a.py", "serves": [2, 3]}}, "edges": [], "metadata": {"spec": spec}}),
        json!({"tasks": [{"id": "a", "description": "d", "serves": [2, 3]}], "metadata": {"spec": spec}}),
    ];
    Dialect::ALL.into_iter().zip(texts.map(|it| it.to_string())).collect()
}

#[test]
fn every_dialect_keeps_the_description_and_what_serves_it() {
    for (dialect, text) in in_every_dialect() {
        let read = plan(&text);
        assert_eq!(read.dialect(), dialect);
        let again = plan(&export(&read, |_| Some("passed"), &json!({})));
        for it in [&read, &again] {
            assert_eq!(it.spec(), Ok(Some(spec())), "{dialect}");
            let a = it.node(super::at(it, "a"));
            assert_eq!(a.serves(), Ok(vec![2, 3]), "{dialect}");
        }
    }
}

#[test]
fn a_description_that_cannot_be_read_says_why() {
    let of = |spec: &str| plan(&format!(r#"{{"nodes":[],"metadata":{{"spec":{spec}}}}}"#)).spec();
    assert_eq!(of("null"), Ok(None));
    assert_eq!(plan(r#"{"nodes":[]}"#).spec(), Ok(None));
    assert_eq!(of("{}"), Ok(Some(Spec::default())));
    assert!(matches!(of("[]"), Err(SpecError::Malformed(_))));
    assert!(matches!(of(r#"{"sentences":["One."]}"#), Err(SpecError::Malformed(_))));
    let twice = r#"{"sentences":[{"number":1,"text":"a"},{"number":1,"text":"b"}]}"#;
    assert_eq!(of(twice), Err(SpecError::RepeatedNumber(1)));
    let one = of(r#"{"sentences":[{"number":7,"text":"a","kind":"table"}]}"#).expect("a spec");
    assert_eq!(one.expect("a spec").sentences[0].kind, SentenceKind::Table);
}
