//! Generated tests that a person looks at before they are written, and models to choose from.

use ::lsp::patience;
use serde_json::{Value, json};

use crate::runs::{call, editor};
use crate::world::World;

#[test]
fn tests_that_a_person_has_looked_at_first_are_written_as_shown_or_not_at_all() {
    let world = World::new();
    world.write("pytest.ini", "[pytest]\n");
    world.write("shop/__init__.py", "");
    world.write("shop/cart.py", "def add(a: int, b: int) -> int:\n    return a + b\n");
    let reply = "```python\nfrom shop.cart import add\n\n\ndef test_add_one():\n    assert add(1, 1) == 2\n\n\ndef test_add_two():\n    assert add(2, 2) == 4\n\n\ndef test_add_none():\n    assert add(0, 0) == 0\n```\n";
    let reply = json!({ "node": "shop/cart.py::add", "stage": "write_tests", "attempt": 0, "reply": reply });
    let replies = world.write("replies.jsonl", &format!("{reply}\n"));
    let mut client = editor(&world, Value::Null);
    let params = json!({
        "function": { "filePath": "shop/cart.py", "name": "add" }, "projectRoot": ".", "preview": true,
        "sandbox": "local", "model": format!("recorded:{}", replies.display()),
    });
    let shown = call(&mut client, "generateTests", params);
    assert_eq!((&shown["outcome"], &shown["written"]), (&"passed".into(), &false.into()));
    assert!(!world.root().join("trellis_tests").exists(), "nothing is written");
    let keep = json!({
        "root": shown["root"], "function": shown["function"], "path": shown["path"],
        "source": shown["source"], "testNames": ["test_add_one", "test_add_two", "test_add_none"],
        "draft": shown["draft"],
    });
    let kept = call(&mut client, "keepTests", keep.clone());
    assert_eq!(kept["warnings"], json!([]), "{kept}");
    assert_eq!(world.read("trellis_tests/test_cart.py"), shown["source"].as_str().expect("a text"));
    let listed = call(&mut client, "listTests", json!({}));
    assert_eq!(listed["functions"][0]["lastStatus"], "passed", "{listed}");
    let edited = world.write("trellis_tests/test_cart.py", "# mine\n");
    let answer = client.request("trellis/keepTests", keep, patience());
    let refused = answer.expect_err("a refusal").to_string();
    assert!(refused.contains("has changed since the tests were generated"), "{refused}");
    assert_eq!(std::fs::read_to_string(edited).expect("a file"), "# mine\n");
}

#[test]
fn models_to_choose_have_prices_although_no_service_can_be_asked() {
    let world = World::new();
    let mut client = editor(&world, Value::Null);
    let listed = call(&mut client, "listModels", json!({ "provider": "anthropic" }));
    let provider = &listed["providers"][0];
    assert_eq!(provider["unlisted"]["kind"], "noKey", "{listed}");
    let models = provider["models"].as_array().expect("models");
    assert!(
        models.iter().all(|it| it["model"].as_str().is_some_and(|it| it.starts_with("anthropic:")))
    );
    assert!(models.iter().any(|it| it["inputUsd"].as_f64() > Some(0.0)), "{listed}");
}
