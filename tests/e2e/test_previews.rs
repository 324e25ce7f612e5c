//! Previews of generated tests: nothing is written before they are kept.

use serde_json::{Value, json};

use ::lsp::{Client, patience};

use crate::runs::{call, editor};
use crate::world::World;

const REPLY: &str = "```python\nfrom shop.cart import add\n\n\ndef test_add_one():\n    assert add(1, 1) == 2\n\n\ndef test_add_two():\n    assert add(2, 2) == 4\n\n\ndef test_add_three():\n    assert add(1, 2) == 3\n```\n";
const TEST_FILE: &str = "trellis_tests/test_cart.py";

fn world() -> World {
    let world = World::new();
    world.write("pytest.ini", "[pytest]\n");
    world.write("shop/__init__.py", "");
    world.write("shop/cart.py", "def add(a: int, b: int) -> int:\n    return a + b\n");
    let reply = json!({ "node": "shop/cart.py::add", "stage": "write_tests", "attempt": 0, "reply": REPLY });
    world.write("replies.jsonl", &format!("{reply}\n"));
    world
}

/// Generates tests without writing them.
fn preview(world: &World, client: &mut Client) -> Value {
    let replies = world.root().join("replies.jsonl");
    let params = json!({
        "function": { "filePath": "shop/cart.py", "name": "add" }, "projectRoot": ".", "sandbox": "local",
        "framework": "pytest", "preview": true, "model": format!("recorded:{}", replies.display()),
    });
    call(client, "generateTests", params)
}

/// Returns the parameters that keep a preview.
fn kept(preview: &Value) -> Value {
    let names = ["root", "function", "path", "source", "testNames", "draft"];
    names.iter().map(|it| ((*it).to_owned(), preview[*it].clone())).collect()
}

#[test]
fn a_preview_is_written_when_it_is_kept() {
    let world = world();
    let mut client = editor(&world, Value::Null);
    let preview = preview(&world, &mut client);
    assert_eq!((&preview["written"], &preview["outcome"]), (&false.into(), &"passed".into()));
    let file = world.root().join(TEST_FILE);
    assert!(!file.exists(), "{preview}");
    assert_eq!(call(&mut client, "listTests", json!({}))["functions"], json!([]));
    let kept = call(&mut client, "keepTests", kept(&preview));
    assert_eq!(kept["warnings"], json!([]));
    let text = std::fs::read_to_string(&file).expect("a file");
    assert_eq!(preview["source"], text);
    let listed = call(&mut client, "listTests", json!({}));
    let function = &listed["functions"][0];
    assert_eq!(
        (&function["function"], &function["lastStatus"]),
        (&"shop/cart.py::add".into(), &"passed".into()),
        "{listed}"
    );
    let run = json!({ "testPath": TEST_FILE, "sandbox": "local" });
    assert_eq!(call(&mut client, "runTests", run)["outcome"], "passed");
}

#[test]
fn a_preview_is_refused_once_its_file_has_changed() {
    let world = world();
    let mut client = editor(&world, Value::Null);
    let preview = preview(&world, &mut client);
    world.write(TEST_FILE, "# mine\n");
    let answer = client.request("trellis/keepTests", kept(&preview), patience());
    let refusal = answer.expect_err("a refusal").to_string();
    assert!(refusal.contains("has changed since the tests were generated"), "{refusal}");
    let text = std::fs::read_to_string(world.root().join(TEST_FILE)).expect("a file");
    assert_eq!(text, "# mine\n");
}
