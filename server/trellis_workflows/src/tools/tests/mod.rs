//! Tools on small projects, called as a model calls them.

mod any_calls;
mod conversations;
mod each_tool;
mod limits;
mod refusals;

use std::future::Future;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::tool_set::ToolInvocation;
use super::{Limits, ToolSet};
use crate::convert::Files;

const PROJECT: &str = "\"\"\"A shop.\"\"\"\n\nRATE = 2\n\n\ndef total(items):\n    \"\"\"Adds up.\"\"\"\n    return sum(items) * RATE\n\n\nclass Cart:\n    def __init__(self):\n        self.items = []\n\n    def add(self, item):\n        self.items.append(item)\n\n    def sum(self):\n        return total(self.items)\n\n\ndef unused():\n    return 1\n";
const MAIN: &str = "from shop import Cart, total\n\n\ndef main():\n    cart = Cart()\n    cart.add(1)\n    print(total([1]))\n";
const TEST: &str = "from shop import Cart\n\n\ndef test_sum():\n    assert Cart().sum() == 0\n";

fn files(texts: &[(&str, &str)]) -> Files {
    texts.iter().map(|(path, text)| ((*path).to_owned(), Arc::from(*text))).collect()
}

/// Returns four files; the test is read-only.
fn project() -> Files {
    let readme = "# Shop\n\nSells things.\n";
    files(&[
        ("README.md", readme),
        ("src/main.py", MAIN),
        ("src/shop.py", PROJECT),
        ("tests/test_shop.py", TEST),
    ])
}

fn read_only(path: &str) -> Option<&'static str> {
    path.starts_with("tests/").then_some("tests say what is wanted")
}

fn toolbox_with(limits: Limits) -> ToolSet {
    ToolSet::new(&project(), read_only, limits)
}

fn toolbox() -> ToolSet {
    toolbox_with(Limits::default())
}

/// Runs a future with the stack size of the binary, since tools need a deep stack.
fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .thread_stack_size(trellis_os::STACK_BYTES)
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(future)
}

fn arguments(value: Value) -> Map<String, Value> {
    let Value::Object(map) = value else { panic!("{value} is no object") };
    map
}

fn call(toolbox: &mut ToolSet, name: &str, given: Value) -> ToolInvocation {
    wait(toolbox.call(name, &arguments(given)))
}

/// Returns the answer of a call that must succeed.
fn done(toolbox: &mut ToolSet, name: &str, given: Value) -> String {
    let shown = given.to_string();
    let called = call(toolbox, name, given);
    assert!(!called.is_error, "{name} {shown}: {}", called.text);
    called.text
}

/// Returns the error of a call that must be refused without a change.
fn refused(toolbox: &mut ToolSet, name: &str, given: Value) -> String {
    let (before, shown) = (toolbox.files().clone(), given.to_string());
    let called = call(toolbox, name, given);
    assert!(called.is_error, "{name} {shown}: {}", called.text);
    assert_eq!(*toolbox.files(), before, "{name} {shown}");
    called.text
}

fn text_of(toolbox: &ToolSet, path: &str) -> String {
    toolbox.files().get(path).unwrap_or_else(|| panic!("{path} is not there")).to_string()
}

fn holds(text: &str, words: &[&str]) {
    words.iter().for_each(|it| assert!(text.contains(it), "{it:?} is missing in:\n{text}"));
}

#[test]
fn a_tool_has_a_name_a_description_and_a_strict_schema() {
    let search = Arc::new(|_: &str| Ok(Vec::new()));
    let all = toolbox().with_suspects(Vec::new()).with_plan(search).tools();
    let names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
    let expected = [
        "suspects",
        "search_plan",
        "list_files",
        "read_file",
        "grep",
        "find_symbol",
        "find_references",
        "callers",
        "edit_file",
        "write_file",
        "delete_file",
        "replace_symbol_body",
        "insert_before_symbol",
        "insert_after_symbol",
        "rename_symbol",
        "safe_delete_symbol",
        "done",
    ];
    assert_eq!(names, expected);
    for tool in all.iter() {
        assert!(tool.description.ends_with('.'), "{}", tool.name);
        assert_eq!(tool.parameters["type"], "object", "{}", tool.name);
        assert_eq!(tool.parameters["additionalProperties"], false, "{}", tool.name);
        let properties = tool.parameters["properties"].as_object().expect("properties");
        assert!(properties.values().all(|it| it["description"].is_string()), "{}", tool.name);
        let required = tool.parameters["required"].as_array().expect("a list");
        assert!(required.iter().all(|it| properties.contains_key(it.as_str().expect("a name"))));
    }
    let edit = all.iter().find(|it| it.name == "edit_file").expect("edit_file");
    assert_eq!(edit.parameters["required"], json!(["path", "search", "replace"]));
    let occurrence = &edit.parameters["properties"]["occurrence"];
    assert_eq!((&occurrence["type"], &occurrence["minimum"]), (&json!("integer"), &json!(0)));
}

#[test]
fn what_the_caller_does_not_know_is_not_offered() {
    let mut toolbox = toolbox();
    let tools = toolbox.tools();
    assert!(tools.iter().all(|it| it.name != "suspects" && it.name != "search_plan"));
    let said = refused(&mut toolbox, "suspects", json!({}));
    holds(&said, &["there is no tool `suspects`", "read_file", "done"]);
}
