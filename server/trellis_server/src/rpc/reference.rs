//! Renders the OpenRPC document as a Markdown page.

use std::fmt::Write as _;

use serde_json::Value;

/// Writes a table of all methods, then each method with its parameters and result, then the events.
pub fn reference(document: &Value) -> String {
    let mut out = "# Methods\n\n\
        This page is generated from the program; `trellis serve --describe` prints the same as an OpenRPC document, with every type. \
        See [Protocol](protocol.md) for how to connect.\n\n\
        | Method | Does |\n|---|---|\n"
        .to_owned();
    let methods = document["methods"].as_array().map(Vec::as_slice).unwrap_or_default();
    for it in methods {
        let name = text(it, "name");
        let anchor = name.to_lowercase().replace('/', "");
        let _ = writeln!(out, "| [`{name}`](#{anchor}) | {} |", cell(&first(text(it, "summary"))));
    }
    for it in methods {
        method(it, document, &mut out);
    }
    out.push_str("\n## Notifications\n\n| Notification | Sent |\n|---|---|\n");
    for it in document["x-notifications"].as_array().into_iter().flatten() {
        let _ = writeln!(out, "| `{}` | {} |", text(it, "name"), cell(text(it, "summary")));
    }
    out
}

fn method(method: &Value, document: &Value, out: &mut String) {
    let effect = match text(method, "x-effect") {
        "reads" => "Changes nothing.",
        "writes" => "Writes files.",
        "runs" => {
            "Runs code of the project or asks a model; refused in a folder that is not trusted."
        }
        other => other,
    };
    let _ =
        writeln!(out, "\n## {}\n\n{} {effect}", text(method, "name"), text(method, "description"));
    let params = method["params"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !params.is_empty() {
        out.push_str("\n| Parameter | Type | |\n|---|---|---|\n");
    }
    for it in params {
        let needed = if it["required"] == true { "Required. " } else { "" };
        let _ = writeln!(
            out,
            "| `{}` | {} | {needed}{} |",
            text(it, "name"),
            type_of(&it["schema"]),
            cell(text(&it["schema"], "description"))
        );
    }
    result(&method["result"]["schema"], document, out);
}

/// Writes the fields of a result, one level deep.
fn result(schema: &Value, document: &Value, out: &mut String) {
    let name = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next());
    let shape = name.map_or(schema, |name| &document["components"]["schemas"][name]);
    let Some(fields) = shape["properties"].as_object().filter(|it| !it.is_empty()) else {
        let _ = writeln!(out, "\nResult: {}.", type_of(schema));
        return;
    };
    out.push_str("\n| Result | Type | |\n|---|---|---|\n");
    for (field, schema) in fields {
        let (shown, about) = (type_of(schema), cell(text(schema, "description")));
        let _ = writeln!(out, "| `{field}` | {shown} | {about} |");
    }
}

/// Returns a short form of a type.
fn type_of(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next()) {
        return name.to_owned();
    }
    for several in ["anyOf", "oneOf"] {
        if let Some(all) = schema[several].as_array() {
            return joined(all.iter().map(type_of));
        }
    }
    if let Some(values) = schema["enum"].as_array() {
        return joined(values.iter().map(|it| format!("`{}`", it.as_str().unwrap_or("null"))));
    }
    if let Some(value) = schema["const"].as_str() {
        return format!("`{value}`");
    }
    match &schema["type"] {
        Value::Array(all) => {
            joined(all.iter().map(|it| one(it.as_str().unwrap_or_default(), schema)))
        }
        Value::String(name) => one(name, schema),
        _ => "any".to_owned(),
    }
}

fn one(name: &str, schema: &Value) -> String {
    match name {
        "array" => format!("list of {}", type_of(&schema["items"])),
        "object" if schema["additionalProperties"].is_object() => {
            format!("map to {}", type_of(&schema["additionalProperties"]))
        }
        name => name.to_owned(),
    }
}

fn joined(all: impl Iterator<Item = String>) -> String {
    all.filter(|it| it != "null").collect::<Vec<_>>().join(" or ")
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

fn first(text: &str) -> String {
    let end = text.find(". ").map_or(text.len(), |at| at + 1);
    text[..end].to_owned()
}

/// Escapes a text for a table cell.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
