//! Keeps paths from a model inside the workspace, for reading and for writing.

use std::path::{Path, PathBuf};

use rmcp::model::JsonObject;
use serde_json::Value;

use crate::rpc::outside;
use trellis_store::disk::is_inside;
use trellis_workflows::fault::{Fault, FaultKind};

/// Parameters that name a project's folder, relative to the first folder of the workspace.
const ROOTS: [&str; 3] = ["root", "projectRoot", "out"];

/// Parameters that name a file or folder, or begin with one (`a.py::test`), relative to the
/// project's folder.
const PLACES: [&str; 22] = [
    "context", "file", "filePath", "graph", "leaveOut", "lld", "new", "old", "patch", "path",
    "paths", "plan", "record", "run", "spec", "status", "suite", "test", "testPath", "tests",
    "testsDir", "what",
];

/// Parameters that only a person may set: where work is pushed, what tests may access, and which
/// program runs them. They are hidden from models.
pub(super) const FOR_PEOPLE: [&str; 3] = ["allow", "interpreter", "push"];

/// Parameters that name no file, or lead to a path that is checked elsewhere.
#[cfg(test)]
const OTHERS: [&str; 51] = [
    "along",
    "answer",
    "answers",
    "approve",
    "arguments",
    "by",
    "className",
    "code",
    "critical",
    "dialect",
    "docstring",
    "edited",
    "embeddings",
    "examples",
    "fix",
    "image",
    "issue",
    "job",
    "kind",
    "kinds",
    "libraries",
    "model",
    "name",
    "namePath",
    "needed",
    "needs",
    "newId",
    "newName",
    "node",
    "nodes",
    "parts",
    "projectName",
    "provider",
    "query",
    "replace",
    "revise",
    "sandbox",
    "search",
    "sendBack",
    "signature",
    "simpleModel",
    "stack",
    "startFromNode",
    "state",
    "strongModel",
    "subgraph",
    "symbol",
    "text",
    "tip",
    "to",
    "words",
];

/// Refuses a call that names a path outside these folders, or sets a parameter reserved for people.
pub(super) fn confine(folders: &[PathBuf], arguments: &JsonObject) -> Result<(), Fault> {
    let is_said = |it: &&&str| arguments.get(**it).is_some_and(|it| !it.is_null());
    if let Some(name) = FOR_PEOPLE.iter().find(is_said) {
        return Err(Fault::input(format!("a model cannot set `{name}`"))
            .kind(FaultKind::Outside)
            .hint(match *name {
                "push" => "leave it out; the user can push with `trellis implement … --push REMOTE`",
                _ => "leave it out; the user can set it under `[sandbox]` in your own trellis.toml, or with \
                     flags",
            }));
    }
    let Some(first) = folders.first() else { return Ok(()) };
    let mut bases = vec![first.clone()];
    for root in ROOTS.iter().filter_map(|it| arguments.get(*it)?.as_str()) {
        bases.push(first.join(root));
    }
    let mut named = Vec::new();
    arguments.iter().for_each(|(name, value)| gather(name, value, &mut named));
    for base in &bases {
        let places = named.iter().map(|it| base.join(it));
        let mut places = std::iter::once(base.clone()).chain(places);
        if let Some(place) = places.find(|it| !is_inside(folders, it)) {
            return Err(outside(&place));
        }
    }
    Ok(())
}

/// Collects all texts below a value that stand for paths.
fn gather<'a>(name: &str, value: &'a Value, places: &mut Vec<&'a Path>) {
    match value {
        Value::String(text) if PLACES.contains(&name) => {
            places.push(Path::new(text.split("::").next().unwrap_or(text)));
        }
        Value::Array(items) => items.iter().for_each(|it| gather(name, it, places)),
        Value::Object(fields) => fields.iter().for_each(|(name, it)| gather(name, it, places)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use super::super::tools::offered;
    use super::*;
    use crate::rpc::{Context, table};

    #[test]
    fn a_model_names_no_place_outside_the_workspace() {
        let world = tempfile::tempdir().expect("a folder");
        let own = world.path().join("own");
        fs::create_dir_all(own.join("inner")).expect("a folder");
        fs::write(world.path().join("secret.py"), "").expect("a file");
        symlink(world.path(), own.join("out")).expect("a link");
        symlink("/nowhere/at/all", own.join("dangling")).expect("a link");
        let secret = world.path().join("secret.py");
        let table = [
            (json!({}), true),
            (json!({ "filePath": "a.py" }), true),
            (json!({ "filePath": "inner/../a.py" }), true),
            (json!({ "root": "inner", "path": "../a.py" }), false),
            (json!({ "out": "new/deep", "graph": "g.json" }), true),
            (json!({ "root": own, "tests": ["tests/test_a.py::test_b[../..]"] }), true),
            (json!({ "what": "Class.method" }), true),
            (json!({ "query": "/etc/passwd" }), true),
            (json!({ "push": null }), true),
            (json!({ "push": "origin" }), false),
            (json!({ "push": ["."] }), false),
            (json!({ "allow": { "network": true } }), false),
            (json!({ "allow": {} }), false),
            (json!({ "filePath": "../secret.py" }), false),
            (json!({ "filePath": secret }), false),
            (json!({ "filePath": "out/secret.py" }), false),
            (json!({ "record": "dangling" }), false),
            (json!({ "out": "../new" }), false),
            (json!({ "out": "new/../../new" }), false),
            (json!({ "root": ".." }), false),
            (json!({ "root": "/" }), false),
            (json!({ "context": ["a.md", "/etc/passwd"] }), false),
            (json!({ "at": { "file": "../secret.py", "line": 1 } }), false),
            (json!({ "function": { "filePath": "../secret.py" } }), false),
        ];
        for (arguments, expected) in table {
            let given = arguments.as_object().expect("an object");
            let outcome = confine(std::slice::from_ref(&own), given);
            assert_eq!(outcome.is_ok(), expected, "{arguments}");
        }
    }

    #[tokio::test]
    async fn every_text_that_a_tool_takes_is_known_to_name_a_place_or_none() {
        let context = Context::of_folders(Vec::new()).expect("a context");
        for tool in offered(&table(context.clone())) {
            let schema = Value::Object(tool.tool.input_schema.as_ref().clone());
            let mut names = Vec::new();
            texts("", &schema, &mut names);
            for name in names {
                let all = ROOTS.iter().chain(&PLACES).chain(&OTHERS);
                let known = all.filter(|it| **it == name).count();
                assert_eq!(known, 1, "`{name}` of {}: add it to one of the tables", tool.method);
            }
        }
        context.owner.stop().await;
    }

    /// Collects names of the properties below a schema that hold text.
    fn texts(name: &str, schema: &Value, found: &mut Vec<String>) {
        let is_text = schema["type"] == "string"
            || schema["type"].as_array().is_some_and(|it| it.contains(&json!("string")));
        let is_one_of = schema.get("enum").or(schema.get("const")).is_some();
        if is_text && !is_one_of {
            found.push(name.to_owned());
        }
        for list in ["anyOf", "oneOf", "allOf"] {
            let parts = schema[list].as_array();
            parts.into_iter().flatten().for_each(|it| texts(name, it, found));
        }
        texts_of_items(name, schema, found);
        let fields = schema["properties"].as_object().into_iter().flatten();
        fields.for_each(|(name, it)| texts(name, it, found));
    }

    fn texts_of_items(name: &str, schema: &Value, found: &mut Vec<String>) {
        if schema["items"].is_object() {
            texts(name, &schema["items"], found);
        }
    }
}
