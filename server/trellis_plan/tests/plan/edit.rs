//! Edits of a plan's text: references follow, and the rest of the text stays.

use serde_json::{Map, Value, json};
use trellis_plan::{EditError, Edited, PlanEdit, Spec, SpecFeature, edit, sentences};

use super::{at, functions, ids};

const PLAN: &str = include_str!("../../../../fixtures/examples/generate/plan.json");

/// Files that people and programs write, with the same nodes.
fn layouts() -> Vec<String> {
    let value: Value = serde_json::from_str(PLAN).expect("JSON");
    let by_hand = r#"{"nodes": [
  {"id": "a", "name": "a", "type": "function",   "file_path": "src/a.py",
   "signature": "def a(x)", "docstring": "Caf\u00e9.", "examples": ["a(1) == 1.0e2"], "dependencies": [], "x": {"y" : 1}},

  {"id": "b", "name": "b", "type": "function", "file_path": "src/b.py", "docstring": "B.",
   "dependencies": ["a"]} ,
  {"id": "c", "name": "c", "file_path": "src/b.py", "docstring": "C.", "dependencies": ["a","b"]}],
 "edges": [{"source": "b", "target": "a", "type": "function_call", "why": 1}],
 "metadata": {"n": 12345678901234567890123, "z": 1.50}}
"#;
    vec![
        PLAN.to_owned(),
        serde_json::to_string_pretty(&value).expect("JSON"),
        value.to_string(),
        format!("\u{feff}{}", PLAN.replace('\n', "\r\n")),
        by_hand.to_owned(),
    ]
}

fn first_ids(text: &str) -> [String; 2] {
    let plan = super::plan(text);
    let mut leaves = plan.nodes().iter().filter(|it| it.is_leaf() && it.kind.name() == "function");
    [(); 2].map(|()| leaves.next().expect("a function").id.to_string())
}

#[track_caller]
fn edited(text: &str, wanted: &PlanEdit) -> Edited {
    edit(text, wanted).unwrap_or_else(|error| panic!("{error}: {wanted:?}"))
}

fn fields(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

fn rename(id: &str, name: &str) -> PlanEdit {
    PlanEdit::Rename { id: id.into(), name: name.into(), new_id: None }
}

/// Returns the lines that only one of the texts has.
fn different(old: &str, new: &str) -> (Vec<String>, Vec<String>) {
    let only = |a: &str, b: &str| -> Vec<String> {
        let lines: Vec<&str> = b.lines().collect();
        a.lines().filter(|it| !lines.contains(it)).map(|it| it.trim().to_owned()).collect()
    };
    (only(old, new), only(new, old))
}

#[test]
fn an_edit_and_its_reverse_leave_every_byte_as_it_was() {
    for text in layouts() {
        let [a, b] = first_ids(&text);
        let set = |value: Value| PlanEdit::Set { id: a.clone(), fields: fields(value) };
        let new = fields(
            json!({"id": "new", "name": "new", "type": "function", "file_path": "src/new.py", "docstring": "New.", "dependencies": [a, b], "meta": {"k": [1, {"l": []}]}}),
        );
        let (there, back) = (rename(&a, "other"), edited(&text, &rename(&a, "other")));
        let id = back.after.nodes().iter().map(|it| it.id.to_string());
        let id = id.into_iter().find(|it| it.ends_with("other")).expect("the new id");
        let old = a.rsplit('.').next().expect("a name");
        let table = [
            (there, rename(&id, old)),
            (
                PlanEdit::Add { fields: new },
                PlanEdit::Remove { id: "new".into(), with_parts: false },
            ),
            (
                set(json!({"libraries": ["x", "y"], "own": {"k": 1}})),
                set(json!({"libraries": null, "own": null})),
            ),
            (
                PlanEdit::Link { id: a.clone(), needed: b.clone() },
                PlanEdit::Unlink { id: a.clone(), needed: b.clone() },
            ),
        ];
        for (there, back) in &table {
            let changed = edited(&text, there);
            assert_ne!(changed.text, text, "{there:?}");
            let again = edited(&changed.text, back).text;
            assert_eq!(again, text, "{there:?}");
        }
        assert_eq!(edited(&text, &set(json!({}))).text, text);
    }
}

#[test]
fn fields_that_a_file_repeats_stay_where_they_are() {
    let text = r#"{"nodes": [{"id": "a", "name": "a", "own": 1, "x": 2, "own": 3}],
 "note": "first", "edges": [], "note": "second"}"#;
    let node = json!({ "id": "b", "name": "b", "type": "function" });
    let added = edited(text, &PlanEdit::Add { fields: fields(node) });
    for kept in
        [r#""note": "first", "edges": [], "note": "second""#, r#""own": 1, "x": 2, "own": 3"#]
    {
        assert!(added.text.contains(kept), "{}", added.text);
    }
    let remove = PlanEdit::Remove { id: "b".to_owned(), with_parts: false };
    assert_eq!(edited(&added.text, &remove).text, text);
    let set = PlanEdit::Set { id: "a".to_owned(), fields: fields(json!({ "x": 4 })) };
    assert_eq!(edited(text, &set).text, text.replace("\"x\": 2", "\"x\": 4"));
}

#[test]
fn a_renamed_function_takes_references_and_examples_along() {
    let found = edited(PLAN, &rename("units.parse_amount", "read_amount"));
    let plan = &found.after;
    let node = plan.node(at(plan, "units.read_amount"));
    assert_eq!(node.signature.as_deref(), Some("def read_amount(text: str) -> Fraction"));
    assert_eq!(node.examples[0], "read_amount(\"2\") == Fraction(2)");
    assert_eq!(plan.find("units.parse_amount"), None);
    assert_eq!(plan.unknown_edges(), []);
    let before = found.before.dependents(at(&found.before, "units.parse_amount")).len();
    assert_eq!(plan.dependents(at(plan, "units.read_amount")).len(), before);
    assert_eq!(found.new_problems, []);
    let (old, new) = different(PLAN, &found.text);
    assert_eq!(old.len(), new.len());
    assert!(new.iter().all(|it| it.contains("read_amount")), "{new:?}");
}

#[test]
fn methods_follow_their_class() {
    let found = edited(PLAN, &rename("recipes.Recipe", "Dish"));
    let plan = &found.after;
    let add = plan.node(at(plan, "recipes.Dish.add"));
    assert_eq!(&*add.name, "Dish.add");
    assert_eq!(plan.class_of(at(plan, "recipes.Dish.add")), plan.find("recipes.Dish"));
    assert_eq!(found.new_problems, []);
    let wanted = PlanEdit::Move {
        id: "recipes.Recipe".into(),
        file: Some("src/pantry/dish.py".into()),
        subgraph: None,
    };
    let found = edited(PLAN, &wanted);
    let plan = &found.after;
    for id in ["recipes.Recipe", "recipes.Recipe.add", "recipes.Recipe.lines"] {
        assert_eq!(plan.node(at(plan, id)).file_path.as_deref(), Some("src/pantry/dish.py"));
    }
    assert_eq!(found.new_problems, []);
    let wanted =
        PlanEdit::Rename { id: "recipes.Recipe.add".into(), name: "plus".into(), new_id: None };
    let plan = edited(PLAN, &wanted).after;
    assert_eq!(&*plan.node(at(&plan, "recipes.Recipe.plus")).name, "Recipe.plus");
}

/// Two groups, of which the first holds two functions.
const GROUPS: &str = r#"{"nodes": [
  {"id": "g", "name": "g", "type": "module", "node_type": "composite"},
  {"id": "h", "name": "h", "type": "module", "node_type": "composite"},
  {"id": "g.a", "name": "a", "type": "function", "file_path": "a.py", "docstring": "A.", "subgraph_id": "g"},
  {"id": "g.b", "name": "b", "type": "function", "file_path": "a.py", "docstring": "B."}],
 "edges": [
  {"source": "g", "target": "g.a", "type": "contains"},
  {"source": "g", "target": "g.b", "type": "contains"}]}"#;

#[test]
fn a_renamed_group_keeps_its_nodes() {
    let found = edited(GROUPS, &rename("g", "measures"));
    let plan = &found.after;
    assert_eq!(ids(plan, plan.children(at(plan, "measures"))), "g.a g.b");
    assert!(
        ["g.a", "g.b"]
            .iter()
            .all(|id| plan.node(at(plan, id)).subgraph.as_deref() == Some("measures"))
    );
    assert_eq!((found.new_problems, plan.unknown_edges()), (vec![], &[][..]));
}

#[test]
fn a_node_moves_between_groups() {
    let to = |id: &str, subgraph: &str| PlanEdit::Move {
        id: id.into(),
        file: None,
        subgraph: Some(subgraph.into()),
    };
    let plan = edited(GROUPS, &to("g.b", "h")).after;
    assert_eq!(ids(&plan, plan.parents(at(&plan, "g.b"))), "h");
    assert_eq!(plan.node(at(&plan, "g.b")).subgraph.as_deref(), Some("h"));
    // A subgraph without a group: the node leaves the old one.
    let plan = edited(GROUPS, &to("g.a", "other")).after;
    assert_eq!(ids(&plan, plan.children(at(&plan, "g"))), "g.b");
    let new = json!({"id": "g.c", "name": "c", "file_path": "a.py", "docstring": "C.", "subgraph_id": "g"});
    let plan = edited(GROUPS, &PlanEdit::Add { fields: fields(new) }).after;
    assert_eq!(ids(&plan, plan.children(at(&plan, "g"))), "g.a g.b g.c");
}

#[test]
fn a_new_node_stands_beside_its_file_and_in_its_group() {
    let new = json!({"id": "units.scale", "name": "scale", "type": "function", "file_path": "src/pantry/units/amounts.py", "docstring": "Scale.", "dependencies": ["units.parse_amount"], "subgraph_id": "units"});
    let found = edited(PLAN, &PlanEdit::Add { fields: fields(new) });
    let plan = &found.after;
    let it = at(plan, "units.scale");
    assert_eq!(it.index(), at(plan, "units.format_amount").index() + 1);
    assert_eq!(found.new_problems, []);
    let (old, new) = different(PLAN, &found.text);
    assert_eq!(old, Vec::<String>::new(), "{new:?}");
    let twice = PlanEdit::Add { fields: fields(json!({"id": "units.scale"})) };
    assert_eq!(
        edit(&found.text, &twice).expect_err("twice"),
        EditError::Exists("units.scale".into())
    );
    let bare = edited(PLAN, &PlanEdit::Add { fields: fields(json!({"id": "bare"})) });
    let kinds: Vec<&str> = bare.new_problems.iter().map(|it| it.kind.code()).collect();
    assert_eq!(kinds, ["missing-docstring", "missing-file-path"]);
}

#[test]
fn a_removed_node_leaves_no_reference() {
    let remove = |id: &str, with_parts| PlanEdit::Remove { id: id.into(), with_parts };
    let found = edited(PLAN, &remove("units.parse_amount", false));
    assert_eq!(found.after.unknown_edges(), []);
    assert!(!found.text.contains("\"units.parse_amount\""));
    assert!(
        found.notes.iter().any(|it| it.contains("`recipes.Recipe.add` does not depend on")),
        "{:?}",
        found.notes
    );
    let refused = edit(PLAN, &remove("recipes.Recipe", false)).expect_err("parts");
    assert!(refused.to_string().contains("recipes.Recipe.add"), "{refused}");
    let found = edited(PLAN, &remove("recipes", true));
    assert_eq!(found.after.nodes().iter().filter(|it| it.id.starts_with("recipes")).count(), 0);
    assert_eq!((found.after.unknown_edges(), found.new_problems), (&[][..], vec![]));
}

fn json_of(text: &str) -> String {
    let plan = functions(text);
    trellis_plan::export(&plan, |_| None, &json!({}))
}

#[test]
fn who_needs_a_split_node_needs_its_parts() {
    let text = json_of("a:\nb: a\nc: b\nd: b a");
    let wanted =
        PlanEdit::Split { id: "b".into(), parts: vec!["b".into(), "b2".into(), "p.b3".into()] };
    let found = edited(&text, &wanted);
    let plan = &found.after;
    assert_eq!(ids(plan, plan.depends_on(at(plan, "c"))), "b b2 p.b3");
    assert_eq!(ids(plan, plan.depends_on(at(plan, "d"))), "a b b2 p.b3");
    assert_eq!(ids(plan, plan.depends_on(at(plan, "p.b3"))), "a");
    assert_eq!(&*plan.node(at(plan, "p.b3")).name, "b3");
    assert_eq!(found.new_problems, []);
    assert!(found.notes[0].contains("docstring"));
    let same = PlanEdit::Split { id: "b".into(), parts: vec!["b".into()] };
    assert!(edit(&text, &same).is_err());
    let taken = PlanEdit::Split { id: "b".into(), parts: vec!["x".into(), "a".into()] };
    assert_eq!(edit(&text, &taken).expect_err("taken"), EditError::Exists("a".into()));
}

#[test]
fn merged_nodes_are_one_with_all_that_they_had() {
    let text = json_of("a:\nb: a\nc: b x\nd: b c\nx: b");
    let found = edited(&text, &PlanEdit::Merge { ids: vec!["b".into(), "c".into(), "x".into()] });
    let plan = &found.after;
    assert_eq!(ids(plan, plan.depends_on(at(plan, "b"))), "a");
    assert_eq!(ids(plan, plan.depends_on(at(plan, "d"))), "b");
    assert_eq!(plan.node(at(plan, "b")).docstring.as_deref(), Some("d\n\nd\n\nd"));
    assert_eq!(plan.nodes().len(), 3);
    let class = PlanEdit::Merge { ids: vec!["units.convert".into(), "recipes.Recipe".into()] };
    assert!(matches!(edit(PLAN, &class), Err(EditError::HasParts { .. })));
    for ids in [vec!["b"], vec!["b", "b"], vec![]] {
        let ids = ids.into_iter().map(str::to_owned).collect();
        assert!(edit(&text, &PlanEdit::Merge { ids }).is_err());
    }
}

/// `b` before `x` needs `b` is a cycle that the merge makes.
#[test]
fn new_problems_are_named_and_old_ones_are_not() {
    let text = json_of("a: a\nb:\nc: b\nd: c");
    let harmless = edited(&text, &rename("c", "other"));
    assert_eq!(harmless.new_problems, []);
    let found = edited(&text, &PlanEdit::Link { id: "b".into(), needed: "d".into() });
    let codes: Vec<String> = found.new_problems.iter().map(ToString::to_string).collect();
    assert_eq!(codes.len(), 1);
    assert!(codes[0].starts_with("[cycle] b"), "{codes:?}");
    let named = edited(&text, &rename("c", "class"));
    assert_eq!(named.new_problems[0].kind.code(), "invalid-name");
    let moved = PlanEdit::Move { id: "b".into(), file: Some("../x.py".into()), subgraph: None };
    assert_eq!(edited(&text, &moved).new_problems[0].kind.code(), "unsafe-file-path");
}

#[test]
fn links_are_made_and_removed_wherever_they_stand() {
    let found = edited(
        PLAN,
        &PlanEdit::Unlink { id: "recipes.Recipe.add".into(), needed: "units.parse_amount".into() },
    );
    let plan = &found.after;
    let add = at(plan, "recipes.Recipe.add");
    assert!(!plan.depends_on(add).contains(&at(plan, "units.parse_amount")));
    let again =
        PlanEdit::Unlink { id: "recipes.Recipe.add".into(), needed: "units.parse_amount".into() };
    assert!(matches!(edit(&found.text, &again), Err(EditError::NotLinked { .. })));
    let there =
        PlanEdit::Link { id: "recipes.Recipe.add".into(), needed: "units.parse_amount".into() };
    let there = edited(PLAN, &there);
    assert_eq!((there.text.as_str(), there.notes.len()), (PLAN, 1));
}

#[test]
fn impossible_edits_say_why() {
    let unknown = rename("ghost", "x");
    assert_eq!(edit(PLAN, &unknown).expect_err("unknown"), EditError::UnknownNode("ghost".into()));
    let taken = PlanEdit::Rename {
        id: "units.convert".into(),
        name: "x".into(),
        new_id: Some("recipes".into()),
    };
    assert_eq!(edit(PLAN, &taken).expect_err("taken"), EditError::Exists("recipes".into()));
    let tasks = r#"{"tasks":[{"id":"a","description":"A"}]}"#;
    assert!(matches!(edit(tasks, &rename("a", "b")), Err(EditError::Dialect(_))));
    assert!(matches!(edit("{", &rename("a", "b")), Err(EditError::Unreadable(_))));
}

#[test]
fn a_file_without_edges_or_lists_gets_them_where_they_are_needed() {
    let text = "{\"nodes\":[{\"id\":\"a\",\"name\":\"a\"},{\"id\":\"b\",\"name\":\"b\"}]}";
    let found = edited(text, &PlanEdit::Link { id: "a".into(), needed: "b".into() });
    assert_eq!(found.text, text.replacen("\"a\"}", "\"a\",\"dependencies\":[\"b\"]}", 1));
    let one = "{\n\t\"nodes\": [\n\t\t{\n\t\t\t\"id\": \"a\"\n\t\t}\n\t]\n}\n";
    let found = edited(one, &PlanEdit::Add { fields: fields(json!({"id": "b", "name": "b"})) });
    let expected = "{\n\t\"nodes\": [\n\t\t{\n\t\t\t\"id\": \"a\"\n\t\t},\n\t\t{\n\t\t\t\"id\": \"b\",\n\t\t\t\"name\": \"b\"\n\t\t}\n\t]\n}\n";
    assert_eq!(found.text, expected);
}

fn describe(text: &str, background: &[usize]) -> PlanEdit {
    let (sentences, background) = (sentences(text), background.to_vec());
    let path = Some("SPEC.md".to_owned());
    PlanEdit::Describe { spec: Spec { path, sentences, background, ..Spec::default() } }
}

#[test]
fn what_a_node_serves_follows_its_sentences() {
    let text = json_of("a:\nb: a");
    let first = edited(&text, &describe("One. Two. Three. Four.", &[4]));
    let serve = |id: &str, numbers: Value| PlanEdit::Set {
        id: id.into(),
        fields: fields(json!({ "serves": numbers })),
    };
    let traced = edited(&first.text, &serve("a", json!([1, 2]))).text;
    let traced = edited(&traced, &serve("b", json!([3]))).text;
    let traced = traced.replacen("\"spec\": {", r#""spec": {"features": [{"name": "F", "sentences": [2, 4]}, {"name": "G", "sentences": [3]}],"#, 1);
    // A new first sentence, a changed second one, and the third is gone.
    let found = edited(&traced, &describe("Zero. One. Two and more. Four. Five.", &[5]));
    let plan = &found.after;
    assert_eq!(plan.node(at(plan, "a")).serves(), Ok(vec![2, 3]));
    assert_eq!(plan.node(at(plan, "b")).serves(), Ok(vec![]));
    let spec = plan.spec().expect("read").expect("kept");
    assert_eq!(spec.background, [4, 5]);
    assert_eq!(spec.features, [SpecFeature { name: "F".into(), sentences: vec![3, 4] }]);
    assert_eq!(found.notes, ["`b` does not serve sentence 3 any more"]);
    let same = edited(&traced, &describe("One. Two. Three. Four.", &[]));
    assert_eq!(same.text, traced);
    let broken = edited(&traced, &serve("a", json!("one"))).text;
    assert!(matches!(edit(&broken, &describe("One.", &[])), Err(EditError::Spec(_))));
}
