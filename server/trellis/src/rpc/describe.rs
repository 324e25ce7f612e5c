//! The methods as an OpenRPC document (open-rpc.org, 1.3.2).

use serde_json::{Map, Value, json};

use super::error::CODES;
use super::table::{Entry, Table};

/// The document; made from the very types that are read and written.
pub(crate) fn describe(table: &Table) -> Value {
    let methods: Vec<Value> = table.entries.iter().map(|it| method(it, table)).collect();
    let errors = CODES.iter().map(|it| {
        let error = json!({ "code": it.code, "message": it.meaning, "data": { "kind": it.kind } });
        (it.kind.to_owned(), error)
    });
    json!({
        "openrpc": "1.3.2",
        "info": { "title": "Trellis", "version": env!("CARGO_PKG_VERSION") },
        "methods": methods,
        "components": {
            "schemas": moved(Value::Object(table.definitions().clone())),
            "errors": errors.collect::<Map<String, Value>>(),
        },
    })
}

/// One method: its parameters are the properties of one object.
fn method(entry: &Entry, table: &Table) -> Value {
    let schema = resolved(entry.params.as_value(), table);
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let params = schema["properties"].as_object().cloned().unwrap_or_default();
    let params: Vec<Value> = (params.into_iter())
        .map(|(name, schema)| {
            let required = required.contains(&json!(name));
            json!({ "name": name, "required": required, "schema": moved(schema) })
        })
        .collect();
    let mut words = entry.about.split("\n\n");
    let summary = words.next().unwrap_or_default().replace('\n', " ");
    json!({
        "name": entry.name,
        "summary": summary,
        "description": entry.about,
        "x-effect": entry.effect(),
        "paramStructure": "by-name",
        "params": params,
        "result": { "name": "result", "schema": moved(entry.result.as_value().clone()) },
        "errors": CODES.iter().map(|it| json!({ "$ref": format!("#/components/errors/{}", it.kind) })).collect::<Vec<_>>(),
    })
}

/// A schema in place of a reference to it.
pub(super) fn resolved(schema: &Value, table: &Table) -> Value {
    let name = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next());
    let named = name.and_then(|name| table.definitions().get(name));
    named.unwrap_or(schema).clone()
}

/// References as this document has them.
fn moved(value: Value) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix("#/definitions/") {
            Some(name) => Value::String(format!("#/components/schemas/{name}")),
            None => Value::String(text),
        },
        Value::Array(all) => all.into_iter().map(moved).collect(),
        Value::Object(all) => all.into_iter().map(|(key, it)| (key, moved(it))).collect(),
        other => other,
    }
}
