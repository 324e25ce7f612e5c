//! The methods offered to a model, and their descriptions.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::path_policy;
use crate::rpc::{ApiDescription, Effect, Entry, Table, inlined};

/// Methods for decisions of a person, or for running code without a sandbox; not offered to models.
const FOR_PEOPLE: [&str; 4] =
    ["trellis/decideFix", "trellis/environment", "trellis/keepTests", "trellis/undoFix"];
/// Methods that change nothing on the disk but are not read-only.
const HOLD_JOBS: [&str; 3] = ["trellis/cancelJob", "trellis/pauseJob", "trellis/resumeJob"];

/// A method as a tool.
pub(super) struct McpTool {
    pub(super) method: &'static str,
    pub(super) waits: Blocking,
    pub(super) tool: Tool,
}

/// Handling of long work by a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocking {
    /// The method starts no long work.
    Never,
    /// The call waits unless `background` is true.
    Mostly,
    /// The call waits if `wait` is true, a parameter that only MCP has.
    IfAsked,
}

/// Returns all tools, in the order of the table.
pub(super) fn offered(table: &Table) -> Vec<McpTool> {
    let table = &table.described();
    let for_models = table.entries.iter().filter(|it| !FOR_PEOPLE.contains(&it.name));
    for_models.map(|entry| offer(entry, table)).collect()
}

fn offer(entry: &Entry, table: &ApiDescription) -> McpTool {
    let mut schema = input(entry, table);
    let waits = match () {
        () if schema["properties"].get("background").is_some() => Blocking::Mostly,
        () if starts_job(entry) => Blocking::IfAsked,
        () => Blocking::Never,
    };
    if waits == Blocking::IfAsked {
        let about = "Wait for the end of the job and return its result. Default false.";
        schema["properties"]["wait"] =
            json!({ "description": about, "type": "boolean", "default": false });
    }
    let schema = schema.as_object().cloned().unwrap_or_default();
    let tool = Tool::new(snake(entry.short()), entry.about.clone(), Arc::new(schema));
    McpTool { method: entry.name, waits, tool: tool.with_annotations(annotations(entry)) }
}

/// Returns whether the result is only the id of a job.
fn starts_job(entry: &Entry) -> bool {
    entry.result.as_value()["$ref"].as_str().is_some_and(|it| it.ends_with("/Started"))
}

/// Returns the self-contained schema of the arguments, without the tool's description.
fn input(entry: &Entry, table: &ApiDescription) -> Value {
    let schema = inlined(entry.params.as_value(), table);
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    schema.retain(|key, _| !["$schema", "title", "description"].contains(&key.as_str()));
    schema.insert("type".to_owned(), json!("object"));
    let properties = schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    if let Some(properties) = properties.as_object_mut() {
        properties.retain(|name, _| !path_policy::FOR_PEOPLE.contains(&name.as_str()));
    }
    Value::Object(schema)
}

fn annotations(entry: &Entry) -> ToolAnnotations {
    let reads = entry.effect == Effect::Reads && !HOLD_JOBS.contains(&entry.name);
    ToolAnnotations::new()
        .read_only(reads)
        .destructive(entry.effect == Effect::Writes)
        .open_world(entry.effect == Effect::Runs)
}

/// Converts `planOrder` to `plan_order`.
fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(character.to_ascii_lowercase());
    }
    out
}
