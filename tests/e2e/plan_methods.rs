//! Methods that make, change and compare planning graphs.

use std::fs;

use ::lsp::{Client, patience};
use serde_json::{Value, json};

use crate::plan_draft::{self, changed, replies};
use crate::runs::{call, editor, ended, start};
use crate::world::{World, repository};

fn refused(client: &mut Client, method: &str, params: Value) -> String {
    let answer = client.request(&format!("trellis/{method}"), params, patience());
    answer.expect_err("a refusal").to_string()
}

/// Returns the example graph in a world of its own.
fn pantry() -> (World, String) {
    let world = World::new();
    let plan = repository().join("fixtures/examples/generate/plan.json");
    let text = fs::read_to_string(plan).expect("the example");
    world.write("plan.json", &text);
    (world, text)
}

fn draft(client: &mut Client, more: Value) -> Value {
    let mut params = json!({
        "spec": "spec.md", "out": "plan.json", "model": "recorded:replies.jsonl", "stepwise": true, "interview": true,
    });
    let more = more.as_object().cloned().expect("an object");
    params.as_object_mut().expect("an object").extend(more);
    call(client, "draftPlan", params)
}

#[test]
fn a_draft_asks_takes_answers_and_decisions_and_writes() {
    let mut asking = replies();
    asking[0] =
        changed("features", "plan", "\"questions\": []", "\"questions\": [\"Which case?\"]");
    for (stage, attempt) in [("features", 1), ("layout", 1)] {
        let mut second = replies().into_iter().find(|it| it["stage"] == stage).expect("a reply");
        second["attempt"] = json!(attempt);
        asking.push(second);
    }
    let world = plan_draft::world(&asking);
    let mut client = editor(&world, Value::Null);
    let asked = draft(&mut client, json!({}));
    assert_eq!(asked, json!({ "state": "questions", "questions": ["Which case?"] }));
    let features = draft(&mut client, json!({ "answers": ["Lower case."] }));
    assert_eq!((&features["state"], &features["part"]), (&json!("part"), &json!("features")));
    let layout = draft(&mut client, json!({ "decision": "accept" }));
    assert_eq!(layout["part"], "layout");
    // With a word, the model writes the part again.
    let again = draft(&mut client, json!({ "decision": { "sendBack": "Fewer files." } }));
    assert_eq!(again["part"], "layout");
    let text = again["text"].as_str().expect("a text").replace("The command line.", "Commands.");
    // Another server, a later day.
    drop(client);
    let mut client = editor(&world, Value::Null);
    let mut part = draft(&mut client, json!({ "decision": { "edited": text } }));
    assert_eq!(part["part"], "interface of words.py");
    while part["state"] == "part" {
        assert!(!world.root().join("plan.json").exists());
        part = draft(&mut client, json!({ "decision": "accept" }));
    }
    assert_eq!((&part["state"], &part["problems"]), (&json!("written"), &json!([])), "{part}");
    assert_eq!(
        part["plan"],
        json!(world.root().canonicalize().expect("a folder").join("plan.json"))
    );
    assert!(world.read("plan.json").contains("\"Commands.\""));
    let traced = call(&mut client, "tracePlan", json!({ "graph": "plan.json" }));
    assert_eq!((&traced["problems"], &traced["notes"]), (&json!([]), &json!([])), "{traced}");
    let sentences = traced["sentences"].as_array().map(Vec::len);
    assert_eq!(part["sentences"], json!(sentences), "{part}");
}

#[test]
fn a_draft_asks_the_editor_s_model_and_can_be_cancelled() {
    const ASK: &str = "trellis/askModel";
    let world = plan_draft::world(&replies());
    let mut client = editor(&world, Value::Null);
    let mut params = json!({ "spec": "spec.md", "out": "plan.json", "model": "editor:any" });
    params["background"] = json!(true);
    let job = start(&mut client, "draftPlan", params.clone());
    let question = client.question(ASK, patience()).expect("a question");
    assert_eq!(question.params["stage"], "features");
    client.answer(&question, Ok(json!({ "text": replies()[0]["reply"], "toolCalls": [] })));
    let question = client.question(ASK, patience()).expect("the next question");
    assert_eq!(question.params["stage"], "layout");
    call(&mut client, "cancelJob", json!({ "job": job }));
    let events = ended(&mut client, &job);
    let last = events.last().expect("an event");
    assert_eq!(
        (&last["state"], &last["title"]),
        (&json!("cancelled"), &json!("a plan from spec.md"))
    );
    let is_note = |it: &&Value| it["type"] == "log" && it["message"] == "layout";
    assert!(events.iter().any(|it| is_note(&it)), "{events:#?}");
    assert!(!world.root().join("plan.json").exists());
    // The reply that came is not asked for again.
    let job = start(&mut client, "draftPlan", params);
    let question = client.question(ASK, patience()).expect("a question");
    assert_eq!(question.params["stage"], "layout");
    call(&mut client, "cancelJob", json!({ "job": job }));
    ended(&mut client, &job);
}

#[test]
fn an_edit_changes_what_it_names_and_nothing_else() {
    let (world, text) = pantry();
    let mut client = editor(&world, Value::Null);
    let edit = |client: &mut Client, edit: Value| {
        call(client, "editPlan", json!({ "graph": "plan.json", "edit": edit }))
    };
    let renamed = edit(
        &mut client,
        json!({ "operation": "rename", "node": "units.convert", "name": "exchange" }),
    );
    assert_eq!(renamed["diff"]["changed"][0]["id"], "units.exchange", "{renamed}");
    assert_eq!(
        renamed["written"],
        json!(world.root().canonicalize().expect("a folder").join("plan.json"))
    );
    edit(
        &mut client,
        json!({ "operation": "rename", "node": "units.exchange", "name": "convert" }),
    );
    assert_eq!(world.read("plan.json"), text, "byte for byte");
    let cycle = json!({ "operation": "link", "node": "units.parse_amount", "needed": "recipes.Recipe.add" });
    let params = json!({ "graph": "plan.json", "edit": cycle });
    let why = refused(&mut client, "editPlan", params.clone());
    assert!(why.contains("the edit would make 1 problem") && why.contains("[cycle]"), "{why}");
    let mut tried = params;
    tried["dryRun"] = json!(true);
    tried["force"] = json!(true);
    let shown = call(&mut client, "editPlan", tried);
    assert_eq!(
        (&shown["newProblems"][0]["kind"], &shown["written"]),
        (&json!("cycle"), &Value::Null)
    );
    assert_eq!(world.read("plan.json"), text);
    for change in [
        json!({ "operation": "add", "node": "units.scale", "file": "src/pantry/units/amounts.py",
            "subgraph": "units", "needs": ["units.parse_amount"], "fields": { "docstring": "Scale." } }),
        json!({ "operation": "set", "node": "units.scale",
            "fields": { "signature": "def scale(it)", "examples": ["scale(1) == 2"] } }),
        json!({ "operation": "set", "node": "units.scale", "remove": ["examples"] }),
        json!({ "operation": "link", "node": "recipes.shopping_list", "needed": "units.scale" }),
        json!({ "operation": "unlink", "node": "recipes.shopping_list", "needed": "units.scale" }),
        json!({ "operation": "split", "node": "units.scale", "parts": ["units.up", "units.down"] }),
        json!({ "operation": "merge", "nodes": ["units.up", "units.down"] }),
        json!({ "operation": "move", "node": "units.up", "file": "src/pantry/units/scale.py" }),
        json!({ "operation": "remove", "node": "units.up" }),
    ] {
        edit(&mut client, change);
        let problems = call(&mut client, "planCheck", json!({ "graph": "plan.json" }));
        assert_eq!(problems["problems"], json!([]), "{problems}");
    }
    world.write("SPEC.md", "It reads amounts.\n");
    edit(&mut client, json!({ "operation": "spec", "spec": "SPEC.md" }));
    assert!(world.read("plan.json").contains("It reads amounts."));
}

#[test]
fn an_edit_that_is_not_understood_changes_nothing() {
    let (world, text) = pantry();
    let mut client = editor(&world, Value::Null);
    for (change, why) in [
        (json!({ "operation": "explode", "node": "units.convert" }), "explode"),
        (json!({ "operation": "remove", "node": "units.convert", "withPart": true }), "withPart"),
        (json!({ "operation": "set", "node": "units.convert", "fields": { "doc": "A." } }), "doc"),
        (json!({ "operation": "remove", "node": "units.convrt" }), "units.convrt"),
    ] {
        let said =
            refused(&mut client, "editPlan", json!({ "graph": "plan.json", "edit": change }));
        assert!(said.contains(why), "{said}");
    }
    assert_eq!(world.read("plan.json"), text);
}

#[test]
fn a_plan_comes_from_code_into_a_new_file() {
    let world = World::new();
    world.write("shop/cart.py", "class Cart:\n    def total(self):\n        return 1\n");
    world.write(
        "shop/till.py",
        "from shop.cart import Cart\n\n\ndef pay(cart: Cart):\n    return cart.total()\n",
    );
    let mut client = editor(&world, Value::Null);
    let shown = call(&mut client, "planFromCode", json!({ "root": "." }));
    assert_eq!((&shown["files"], &shown["written"]), (&json!(2), &Value::Null), "{shown}");
    let params = json!({ "root": ".", "out": "plan.json" });
    let written = call(&mut client, "planFromCode", params.clone());
    assert_eq!(
        (&written["graph"], &written["definitions"]),
        (&Value::Null, &json!(3)),
        "{written}"
    );
    let text = world.read("plan.json");
    assert_eq!(serde_json::from_str::<Value>(&text).ok().as_ref(), Some(&shown["graph"]));
    let why = refused(&mut client, "planFromCode", params);
    assert!(why.contains("plan.json already exists"), "{why}");
    assert_eq!(world.read("plan.json"), text);
    let compared =
        call(&mut client, "diffPlans", json!({ "old": "plan.json", "new": "plan.json" }));
    assert_eq!(compared["same"], true);
}

#[test]
fn no_model_is_asked_for_a_draft_in_a_folder_that_is_not_trusted() {
    let world = plan_draft::world(&replies());
    let mut client = editor(&world, json!({ "trusted": false }));
    let params =
        json!({ "spec": "spec.md", "out": "plan.json", "model": "recorded:replies.jsonl" });
    let why = refused(&mut client, "draftPlan", params);
    assert!(why.contains("not trusted"), "{why}");
    assert!(!world.root().join(".trellis").exists());
}
