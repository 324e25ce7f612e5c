//! Plans in each dialect.

use serde_json::{Value, json};
use trellis_plan::{Dialect, Plan, PlanEdit, check, edit, export, order, read};

use crate::memory;

/// A plan that can be read is written and read again as an equal plan in every dialect; an error
/// names a place inside the text; an edit changes nothing but its node.
pub(super) fn run(input: &[u8]) {
    for dialect in [None].into_iter().chain(Dialect::ALL.map(Some)) {
        let plan = memory::bounded(input, 4 << 20, 4000, || read(input, dialect));
        match plan {
            Ok(plan) => holds(&plan),
            Err(error) => {
                let lines = input.iter().filter(|it| **it == b'\n').count() + 1;
                assert!((1..=lines).contains(&error.line), "{error:?} of {lines} lines");
                assert!(error.column >= 1 && error.column <= input.len() + 1, "{error:?}");
                assert!(!error.message.is_empty() && !error.message.contains('\n'), "{error:?}");
            }
        }
    }
    if let Ok(text) = std::str::from_utf8(input) {
        edits(text);
    }
}

fn written(plan: &Plan) -> String {
    export(plan, |_| None, &json!({}))
}

fn holds(plan: &Plan) {
    let problems = check(plan);
    let text = written(plan);
    let again = read(text.as_bytes(), None).expect("a plan that was written can be read");
    assert_eq!(written(&again), text, "a written plan is written again as it is");
    assert_eq!(again.nodes().len(), plan.nodes().len());
    let ids = |plan: &Plan| plan.nodes().iter().map(|it| it.id.to_string()).collect::<Vec<_>>();
    assert_eq!(ids(&again), ids(plan));
    let needs = |plan: &Plan| plan.indices().map(|ix| plan.needs(ix).to_vec()).collect::<Vec<_>>();
    assert_eq!(needs(&again), needs(plan), "the same nodes come first");
    if problems.is_empty() {
        let order = format!("{:?}", order(plan));
        assert_eq!(order, format!("{:?}", self::order(&again)), "and in the same order");
    }
}

/// Adds a node and removes it again.
fn edits(text: &str) {
    let id = "fuzz_node_of_its_own";
    let Value::Object(fields) = json!({ "id": id, "name": id, "type": "function" }) else { return };
    let Ok(added) = edit(text, &PlanEdit::Add { fields }) else { return };
    if added.before.find(id).is_some() {
        return;
    }
    assert_eq!(added.after.nodes().len(), added.before.nodes().len() + 1);
    let remove = PlanEdit::Remove { id: id.to_owned(), with_parts: false };
    let removed = edit(&added.text, &remove).expect("a node that was added can be removed");
    assert_eq!(written(&removed.after), written(&added.before), "the plan is as before");
}
