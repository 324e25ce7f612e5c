//! Eighteen tasks in five levels, with recorded replies of a slow model.

use serde_json::{Value, json};

use crate::models::bound::Plan;
use crate::models::latency::Random;

/// Bounds of the latency in milliseconds.
const SHORTEST: f64 = 800.0;
const LONGEST: f64 = 4000.0;
const SEED: u64 = 20_261_123;

/// A task: its id, its dependencies, and whether its first code is wrong.
type Task = (&'static str, &'static [&'static str], bool);

const TASKS: [Task; 18] = [
    ("units", &[], false),
    ("people", &[], false),
    ("goods", &[], true),
    ("clock", &[], false),
    ("weights", &["units"], false),
    ("prices", &["units", "goods"], false),
    ("accounts", &["people"], true),
    ("stock", &["goods", "clock"], false),
    ("carts", &["accounts", "prices"], false),
    ("discounts", &["prices", "clock"], false),
    ("parcels", &["weights", "stock"], true),
    ("alerts", &["stock"], false),
    ("orders", &["carts", "discounts"], false),
    ("routes", &["parcels"], false),
    ("returns", &["carts", "stock"], false),
    ("invoices", &["orders"], true),
    ("deliveries", &["orders", "routes"], false),
    ("ledger", &["returns", "alerts"], false),
];

/// Returns the dependencies of each task.
pub(super) fn plan() -> Plan {
    let needs = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect();
    TASKS.iter().map(|(id, all, _)| ((*id).to_owned(), needs(all))).collect()
}

pub(super) fn tasks() -> Value {
    let task = |(id, needs, _): &Task| json!({ "id": id, "description": format!("Do {id}"), "implementation_details": format!("`app/{id}.py`"), "depends_on": needs, "story_points": 1 });
    json!({ "tasks": TASKS.iter().map(task).collect::<Vec<_>>() })
}

/// Returns the replies with a `latency_ms` each, the same in every run.
pub(super) fn recording() -> String {
    let mut random = Random(SEED);
    let mut lines: Vec<Value> = TASKS.iter().flat_map(replies).collect();
    for line in &mut lines {
        let latency = SHORTEST + (LONGEST - SHORTEST) * random.unit();
        line["latency_ms"] = json!(latency.round() as u64);
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Returns the replies of a task, whose function returns the number of all its dependencies, plus
/// one.
fn replies((id, needs, is_wrong): &Task) -> Vec<Value> {
    let imports: String = needs.iter().map(|it| format!("from app.{it} import {it}\n")).collect();
    let calls: String = needs.iter().map(|it| format!(" + {it}()")).collect();
    let code = |one: u8| format!("{imports}\n\ndef {id}():\n    return {one}{calls}\n");
    let tests = format!(
        "{imports}from app.{id} import {id}\n\n\ndef test_{id}():\n    assert {id}() == 1{calls}\n"
    );
    let line = |stage: &str, path: String, text: String| json!({ "node": id, "stage": stage, "attempt": 0, "reply": format!("{path}\n```python\n{text}```\n") });
    let module = format!("app/{id}.py");
    let mut out = vec![
        line("scaffold", format!("tests/test_{id}.py"), tests),
        line("implementation", module.clone(), code(1 + u8::from(*is_wrong))),
    ];
    if *is_wrong {
        out.push(line("fix", module, code(1)));
    }
    out
}
