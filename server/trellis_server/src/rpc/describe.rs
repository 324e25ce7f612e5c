//! Describes the methods as an OpenRPC document (open-rpc.org, 1.3.2).

use serde_json::{Map, Value, json};

use super::error::{CODES, ErrorData};
use super::table::{ApiDescription, Entry, Table};
use crate::event_bus::Event;

/// Notification that carries an event.
pub const EVENT: &str = "trellis/event";
/// Method that subscribes to events, on transports that do not send them unasked.
pub const SUBSCRIBE: &str = "trellis/subscribe";
/// Method that ends a subscription.
pub const UNSUBSCRIBE: &str = "trellis/unsubscribe";

/// Returns the document, generated from the same types that are read and written.
pub fn describe(table: &Table) -> Value {
    let table = &table.described();
    let methods: Vec<Value> = table.entries.iter().map(|it| method(it, table)).collect();
    let errors = CODES.iter().map(|it| {
        let error = json!({ "code": it.code, "message": it.meaning, "data": { "kind": it.kind } });
        (it.kind.to_owned(), error)
    });
    let (notification, schemas) = event(table);
    json!({
        "openrpc": "1.3.2",
        "info": { "title": "Trellis", "version": env!("CARGO_PKG_VERSION") },
        "methods": methods,
        "x-notifications": [notification],
        "components": {
            "schemas": moved(Value::Object(schemas)),
            "errors": errors.collect::<Map<String, Value>>(),
        },
    })
}

/// Returns the event notification, and all schemas that the methods, errors and events refer to.
fn event(table: &ApiDescription) -> (Value, Map<String, Value>) {
    let mut generator = table.generator();
    let schema = generator.subschema_for::<Event>();
    let _ = generator.subschema_for::<ErrorData>();
    let summary = "Events. The language server sends them without a request, a WebSocket sends them to \
         its subscribers: there `params` is `{subscription, result}`, and `result` has this \
         schema.";
    let event = json!({
        "name": EVENT,
        "summary": summary,
        "x-subscribe": SUBSCRIBE,
        "x-unsubscribe": UNSUBSCRIBE,
        "schema": moved(schema.to_value()),
    });
    (event, generator.definitions().clone())
}

/// Returns one method; its parameters are the properties of one object.
fn method(entry: &Entry, table: &ApiDescription) -> Value {
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

/// Replaces a reference by its schema.
pub(super) fn resolved(schema: &Value, table: &ApiDescription) -> Value {
    let name = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next());
    let named = name.and_then(|name| table.definitions().get(name));
    named.unwrap_or(schema).clone()
}

/// Returns a self-contained schema. A recursive schema is cut off at its second occurrence.
pub fn inlined(schema: &Value, table: &ApiDescription) -> Value {
    inline(schema, table.definitions(), &mut Vec::new())
}

fn inline<'a>(
    schema: &'a Value,
    definitions: &'a Map<String, Value>,
    within: &mut Vec<&'a str>,
) -> Value {
    match schema {
        Value::Array(all) => all.iter().map(|it| inline(it, definitions, within)).collect(),
        Value::Object(all) => {
            let mut out = Map::new();
            for (key, value) in all {
                match reference(key, value, definitions) {
                    Some((name, _)) if within.contains(&name) => {}
                    Some((name, named)) => {
                        within.push(name);
                        let named = inline(named, definitions, within);
                        within.pop();
                        absorb(&mut out, named);
                    }
                    None => drop(out.insert(key.clone(), inline(value, definitions, within))),
                }
            }
            // Draft 7 attaches a comment to a reference through `allOf`.
            if let Some([one]) = out.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
                let one = one.clone();
                out.remove("allOf");
                absorb(&mut out, one);
            }
            Value::Object(out)
        }
        other => other.clone(),
    }
}

/// Adds missing keys.
fn absorb(out: &mut Map<String, Value>, more: Value) {
    let more = if let Value::Object(more) = more { more } else { Map::new() };
    for (key, value) in more {
        out.entry(key).or_insert(value);
    }
}

fn reference<'a>(
    key: &str,
    value: &'a Value,
    definitions: &'a Map<String, Value>,
) -> Option<(&'a str, &'a Value)> {
    let name = value.as_str().filter(|_| key == "$ref")?.strip_prefix("#/definitions/")?;
    definitions.get(name).map(|named| (name, named))
}

/// Rewrites references to their place in this document.
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
