//! Tests for existing functions: generated, run, and kept beside those of people.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::mock::KEY;
use crate::models::{Service, prompt, said};
use crate::world::{Ran, World, tree};

const CART: &str = "\
import asyncio


def add(a: int, b: int) -> int:
    \"\"\"Return the sum of two numbers.\"\"\"
    return a + b


def half(x: int) -> float:
    \"\"\"Return half of x.\"\"\"
    return x // 2


class Cart:
    def __init__(self):
        self.items = []

    async def total(self) -> int:
        \"\"\"Return the sum of all items.\"\"\"
        await asyncio.sleep(0)
        return sum(self.items)
";

/// Returns tests with one assertion each: `(name, assertion)`.
fn module(import: &str, tests: &[(&str, &str)]) -> String {
    let tests = tests.iter().map(|(name, line)| format!("\n\ndef {name}():\n    {line}\n"));
    format!("```python\n{import}\n{}```\n", tests.collect::<String>())
}

fn adds(names: [&str; 3]) -> String {
    let lines = ["assert add(1, 2) == 3", "assert add(-1, 1) == 0", "assert add(0, 0) == 0"];
    let tests: Vec<(&str, &str)> = names.into_iter().zip(lines).collect();
    module("from shop.cart import add", &tests)
}

/// Creates a project in `app`, and replies in this order for one function.
fn plant(replies: &[(&str, usize, String)]) -> World {
    let world = World::new();
    world.write("app/pytest.ini", "[pytest]\n");
    world.write("app/shop/cart.py", CART);
    world.write("app/shop/__init__.py", "");
    record(&world, replies);
    world
}

fn record(world: &World, replies: &[(&str, usize, String)]) {
    let line = |(function, attempt, reply): &(&str, usize, String)| {
        let node = format!("shop/cart.py::{function}");
        json!({"node": node, "stage": "write_tests", "attempt": attempt, "reply": reply})
    };
    let lines = replies.iter().map(|it| format!("{}\n", line(it)));
    world.write("replies.jsonl", &lines.collect::<String>());
}

/// Arguments that write tests for a function of [`added_to`].
pub(crate) const ARGUMENTS: [&str; 6] = [
    "write-tests",
    "app/shop/cart.py::add",
    "--json",
    "--sandbox=local",
    "--model",
    "recorded:replies.jsonl",
];

/// Creates a project with a function whose tests are right in the second reply.
pub(crate) fn added_to() -> World {
    let broken = "```python\ndef test_add(:\n    assert add(1, 2)\n```".to_owned();
    plant(&[("add", 0, broken), ("add", 1, adds(["test_small", "test_signs", "test_zero"]))])
}

/// Returns the registry's entry of the function, without times.
pub(crate) fn registered(world: &World) -> Option<Value> {
    let text = std::fs::read_to_string(world.root().join("app/.trellis/registry.json")).ok()?;
    let registry: Value = serde_json::from_str(&text).ok()?;
    let entry = &registry["mappings"]["shop/cart.py::add"];
    Some(json!([entry["testFile"], entry["testNames"], entry["lastRun"]["status"]]))
}

fn write_tests(world: &World, function: &str, more: &[&str]) -> Ran {
    let function = format!("app/shop/cart.py::{function}");
    let mut arguments = vec!["write-tests", &function, "--json", "--sandbox=local"];
    arguments.extend(["--model", "recorded:replies.jsonl"]);
    arguments.extend(more);
    world.trellis(&arguments)
}

fn registry(world: &World) -> Value {
    serde_json::from_str(&world.read("app/.trellis/registry.json")).expect("JSON")
}

fn outcomes(ran: &Ran) -> BTreeMap<String, String> {
    let text = |it: &Value| it.as_str().expect("text").to_owned();
    let tests = ran.json()["tests"].as_array().expect("tests").clone();
    tests.iter().map(|it| (text(&it["id"]), text(&it["outcome"]))).collect()
}

#[test]
fn tests_are_written_run_and_registered() {
    let world = plant(&[("add", 0, adds(["test_add_small", "test_add_signs", "test_add_zero"]))]);
    let ran = write_tests(&world, "add", &[]).exits(0);
    let result = ran.json();
    assert_eq!(result["function"], "shop/cart.py::add");
    assert_eq!(result["path"], "trellis_tests/test_cart.py");
    assert_eq!(result["outcome"], "passed");
    assert_eq!(result["written"], true);
    assert_eq!(result["warnings"], json!([]));
    let text = world.read("app/trellis_tests/test_cart.py");
    assert_eq!(result["source"], text);
    assert!(text.starts_with("from shop.cart import add\n\n\ndef test_add_small"), "{text}");
    assert_eq!(world.read("app/trellis_tests/__init__.py"), "");
    let entry = registry(&world)["mappings"]["shop/cart.py::add"].clone();
    assert_eq!(entry["testFile"], "trellis_tests/test_cart.py");
    assert_eq!(entry["testNames"], json!(["test_add_small", "test_add_signs", "test_add_zero"]));
    assert_eq!(entry["lastRun"]["status"], "passed");
    assert!(entry["generatedAt"].as_str().is_some_and(|it| it.ends_with('Z')), "{entry}");
    // Plain pytest runs the tests, whoever wrote them.
    let run = world.trellis(&["test", "app/trellis_tests", "--json", "--sandbox=local"]).exits(0);
    assert_eq!(outcomes(&run), outcomes(&ran));
}

/// Code in a generated or nested project belongs to other authors.
#[test]
fn style_is_taken_from_the_project_alone() {
    let world = plant(&[]);
    let test = |name: &str| {
        format!("from shop.cart import total\n\n\ndef {name}():\n    assert total([1]) == 1\n")
    };
    world.write("app/demo/.trellis/journal.jsonl", "");
    world.write("app/packages/other/pyproject.toml", "[project]\nname = 'other'\n");
    world.write("app/tests/setup.cfg", "[flake8]\n");
    for (path, name) in [
        ("app/demo/tests/test_cart.py", "test_of_the_demo"),
        ("app/packages/other/tests/test_cart.py", "test_of_another"),
        ("app/tests/test_cart.py", "test_of_our_own"),
    ] {
        world.write(path, &test(name));
    }
    let service = Service::start(Box::new(|_| said("I do not know.")));
    let mut command = world.command(&[&ARGUMENTS[..5], &["openai:tiny", "--dry-run"]].concat());
    command.env("OPENAI_BASE_URL", &service.url).env("OPENAI_API_KEY", KEY);
    let _ = Ran::of(command.output().expect("trellis starts"));
    let questions = service.asked();
    let question = prompt(questions.first().expect("a question"));
    assert!(question.contains("test_of_our_own"), "{question}");
    for foreign in ["test_of_the_demo", "test_of_another"] {
        assert!(!question.contains(foreign), "{foreign} is in {question}");
    }
}

#[test]
fn a_reply_that_is_no_python_is_sent_back_twice_and_no_more() {
    let broken = "```python\ndef test_add(:\n    assert add(1, 2)\n```".to_owned();
    let good = adds(["test_a", "test_b", "test_c"]);
    let replies = [("add", 0, broken.clone()), ("add", 1, "No.".to_owned()), ("add", 2, good)];
    let world = plant(&replies);
    let _ = write_tests(&world, "add", &[]).exits(0);
    let journal = world.read("app/.trellis/journal.jsonl");
    assert_eq!(journal.matches("\"stage\":\"write_tests\"").count(), 3);
    assert_eq!(journal.matches("tests_written").count(), 1);
    let hopeless = plant(&[0, 1, 2, 3].map(|at| ("add", at, broken.clone())));
    let ran = write_tests(&hopeless, "add", &[]).exits(69);
    let _ =
        ran.says("wrote no usable tests").says("syntax error: line 1").says("nothing was written");
    assert!(!hopeless.root().join("app/trellis_tests").exists());
}

#[test]
fn tests_that_cannot_be_collected_are_sent_back_and_never_written() {
    let missing = |at: usize| {
        let tests = [("test_a", "assert add(1, 2) == 3")];
        ("add", at, module("import nowhere\nfrom shop.cart import add", &tests))
    };
    let world = plant(&[missing(0), ("add", 1, adds(["test_a", "test_b", "test_c"]))]);
    let _ = write_tests(&world, "add", &[]).exits(0);
    let hopeless = plant(&[missing(0), missing(1), missing(2)]);
    let ran = write_tests(&hopeless, "add", &[]).exits(1);
    assert_eq!(ran.json()["outcome"], "collectionError");
    assert_eq!(ran.json()["written"], false);
    assert_eq!(ran.json()["errors"][0]["exception"], "ModuleNotFoundError");
    assert!(!hopeless.root().join("app/trellis_tests").exists());
}

#[test]
fn what_people_wrote_stays_and_only_the_functions_own_tests_are_replaced() {
    let world = plant(&[("add", 0, adds(["test_mine", "test_add_b", "test_add_c"]))]);
    let mine = "# mine\nimport os\n\nX = [1,2]  # odd spacing\n\n\ndef test_mine( ):\n    assert os and X\n";
    world.write("app/trellis_tests/test_cart.py", mine);
    world.write("app/trellis_tests/conftest.py", "# mine too\n");
    let _ = write_tests(&world, "add", &[]).exits(0);
    record(
        &world,
        &[(
            "half",
            0,
            module(
                "from shop.cart import half",
                &[
                    ("test_half_even", "assert half(2) == 1"),
                    ("test_half_zero", "assert half(0) == 0"),
                    ("test_half_four", "assert half(4) == 2"),
                ],
            ),
        )],
    );
    let _ = write_tests(&world, "half", &[]).exits(0);
    record(&world, &[("add", 0, adds(["test_add_x", "test_add_y", "test_add_z"]))]);
    let ran = write_tests(&world, "add", &[]).exits(0);
    assert_eq!(ran.json()["testNames"], json!(["test_add_x", "test_add_y", "test_add_z"]));
    let text = world.read("app/trellis_tests/test_cart.py");
    let (head, body) = mine.split_at(mine.find("\nX").expect("X"));
    assert!(text.starts_with(head) && text.contains(body), "{text}");
    assert!(text.contains("test_half_even") && !text.contains("test_add_b"), "{text}");
    assert_eq!(world.read("app/trellis_tests/conftest.py"), "# mine too\n");
    assert_eq!(registry(&world)["mappings"].as_object().map(|it| it.len()), Some(2));
    // An edited test belongs to the person, unless an option says otherwise.
    world.write("app/trellis_tests/test_cart.py", &text.replace("add(0, 0) == 0", "add(0, 0) < 1"));
    let ran = write_tests(&world, "add", &[]).exits(0);
    assert!(
        ran.json()["warnings"][0].as_str().is_some_and(|it| it.contains("`test_add_z` was edited"))
    );
    assert!(world.read("app/trellis_tests/test_cart.py").contains("add(0, 0) < 1"));
    let _ = write_tests(&world, "add", &["--replace-edited"]).exits(0);
    let text = world.read("app/trellis_tests/test_cart.py");
    assert!(!text.contains("add(0, 0) < 1") && text.matches("def test_add_z").count() == 1);
    world.write("app/trellis_tests/test_cart.py", "def test_broken(:\n");
    let _ = write_tests(&world, "add", &[]).exits(65).says("test_cart.py has a syntax error");
    assert_eq!(world.read("app/trellis_tests/test_cart.py"), "def test_broken(:\n");
}

#[test]
fn a_failing_test_is_kept_and_said_to_fail() {
    let world = plant(&[(
        "half",
        0,
        module(
            "from shop.cart import half",
            &[
                ("test_half_even", "assert half(2) == 1"),
                ("test_half_odd", "assert half(3) == 1.5"),
                ("test_half_zero", "assert half(0) == 0"),
            ],
        ),
    )]);
    let ran = write_tests(&world, "half", &[]).exits(1);
    let result = ran.json();
    assert_eq!((&result["outcome"], &result["written"]), (&json!("failed"), &json!(true)));
    let failed: Vec<&Value> = (result["tests"].as_array().expect("tests").iter())
        .filter(|it| it["outcome"] == "failed")
        .collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0]["id"], "trellis_tests/test_cart.py::test_half_odd");
    assert!(failed[0]["failure"]["message"].as_str().is_some_and(|it| it.contains("1.5")));
    assert_eq!(failed[0]["failure"]["path"], "trellis_tests/test_cart.py");
    assert!(world.read("app/trellis_tests/test_cart.py").contains("test_half_odd"));
    let entry = registry(&world)["mappings"]["shop/cart.py::half"].clone();
    assert_eq!(entry["lastRun"]["status"], "failed");
}

/// Whatever marks a test as expected to fail, its failure is not a success.
#[test]
fn a_test_that_fails_as_a_hook_expects_has_failed() {
    let hook = "import pytest\n\n\ndef pytest_collection_modifyitems(items):\n    for it in items:\n        it.add_marker(pytest.mark.xfail)\n";
    let fixture = "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef expected(request):\n    request.node.add_marker(pytest.mark.xfail(reason='later'))\n";
    let tests = [
        ("test_half_even", "assert half(2) == 1"),
        ("test_half_odd", "assert half(3) == 1.5"),
        ("test_half_zero", "assert half(0) == 0"),
    ];
    let wrong = tests.map(|(name, _)| (name, "assert half(4) == 3"));
    for (conftest, tests, count) in [
        (hook, tests, "1 test fails"),
        (fixture, tests, "1 test fails"),
        (hook, wrong, "3 tests fail"),
    ] {
        let world = plant(&[("half", 0, module("from shop.cart import half", &tests))]);
        world.write("app/conftest.py", conftest);
        let result = write_tests(&world, "half", &[]).exits(1).json();
        assert_eq!((&result["outcome"], &result["written"]), (&json!("failed"), &json!(true)));
        assert!(result["reason"].as_str().is_some_and(|it| it.starts_with(count)), "{result}");
        let entry = registry(&world)["mappings"]["shop/cart.py::half"].clone();
        assert_eq!(entry["lastRun"]["status"], "failed");
    }
}

#[test]
fn an_asynchronous_method_is_tested_as_the_project_can() {
    let tests = [
        ("test_total_empty", "assert asyncio.run(Cart().total()) == 0"),
        (
            "test_total_one",
            "cart = Cart(); cart.items = [2]; assert asyncio.run(cart.total()) == 2",
        ),
        (
            "test_total_two",
            "cart = Cart(); cart.items = [2, 3]; assert asyncio.run(cart.total()) == 5",
        ),
    ];
    let reply = module("import asyncio\nfrom shop.cart import Cart", &tests);
    let world = plant(&[("Cart.total", 0, reply)]);
    let ran = write_tests(&world, "Cart/total", &[]).exits(0);
    assert_eq!(ran.json()["function"], "shop/cart.py::Cart.total");
}

#[test]
fn a_project_with_unittest_and_modules_in_src_gets_its_kind_of_tests() {
    let world = World::new();
    world.write("app/pyproject.toml", "[project]\nname = \"shop\"\nversion = \"1\"\n");
    world.write("app/src/shop/cart.py", CART);
    let other = "import unittest\n\n\nclass TestX(unittest.TestCase):\n    def test_x(self):\n        self.assertTrue(1)\n";
    world.write("app/checks/test_other.py", other);
    let methods = ["a", "b", "c"].map(|it| {
        format!("    def test_add_{it}(self):\n        self.assertEqual(add(1, 2), 3)\n")
    });
    let good = format!(
        "```python\nimport unittest\nfrom shop.cart import add\n\n\nclass TestAdd(unittest.TestCase):\n{}```",
        methods.join("\n")
    );
    let node = "src/shop/cart.py::add";
    let replies = [adds(["test_a", "test_b", "test_c"]), good];
    let lines = replies.iter().enumerate().map(|(at, reply)| {
        format!(
            "{}\n",
            json!({"node": node, "stage": "write_tests", "attempt": at, "reply": reply})
        )
    });
    world.write("replies.jsonl", &lines.collect::<String>());
    let arguments = [
        "write-tests",
        "app/src/shop/cart.py::add",
        "--json",
        "--sandbox=local",
        "--model=recorded:replies.jsonl",
        "--tests-dir=gen/deep",
    ];
    let ran = world.trellis(&arguments).exits(0);
    assert_eq!(ran.json()["framework"], "unittest");
    assert_eq!(
        ran.json()["testNames"],
        json!(["TestAdd::test_add_a", "TestAdd::test_add_b", "TestAdd::test_add_c"])
    );
    let python = crate::world::real_python();
    let output = std::process::Command::new(python)
        .args(["-m", "unittest", "gen.deep.test_cart"])
        .current_dir(world.root().join("app"))
        .output()
        .expect("python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_preview_leaves_no_trace() {
    let world = plant(&[("add", 0, adds(["test_a", "test_b", "test_c"]))]);
    let before = tree(&world.root().join("app"));
    let ran = write_tests(&world, "add", &["--dry-run"]).exits(0);
    assert_eq!(ran.json()["written"], false);
    assert_eq!(ran.json()["outcome"], "passed");
    assert!(ran.json()["diff"].as_str().is_some_and(|it| it.contains("+def test_a():")));
    assert_eq!(tree(&world.root().join("app")), before);
    assert!(!world.root().join("app/.trellis").exists());
}

#[test]
fn what_cannot_be_tested_is_refused_before_a_model_is_asked() {
    let world = plant(&[]);
    world.write(
        "app/shop/cart.py",
        &format!("{CART}\n\ndef outer():\n    def inner():\n        pass\n"),
    );
    for (function, words) in [
        ("ad", "did you mean `add`"),
        ("inner", "is inside another function"),
        ("Cart.totl", "did you mean `Cart.total`"),
        ("a b", "is not a name path"),
    ] {
        let _ = write_tests(&world, function, &[]).exits(65).says(words);
    }
    let _ = write_tests(&world, "add", &["--tests-dir=../out"]).exits(65).says("not below");
    let _ = world.trellis(&["write-tests", "app/shop/cart.py"]).exits(64).says("FILE::FUNCTION");
    let _ = world.trellis(&["write-tests", "app/shop/cart.py::add"]).exits(69).says("no model");
    world.write("app/shop/cart.py", &format!("{CART}\ndef broken(:\n"));
    let _ = write_tests(&world, "add", &[]).exits(65).says("fix it first");
    assert!(!world.root().join("app/trellis_tests").exists());
}

#[test]
fn tests_that_plain_pytest_would_not_run_are_said_to_be_and_added_with_one_call() {
    let world = plant(&[("add", 0, adds(["test_small", "test_signs", "test_zero"]))]);
    world.write("app/pytest.ini", "[pytest]\ntestpaths = tests\n");
    let result = write_tests(&world, "add", &[]).exits(0).json();
    assert_eq!(result["leftOutBy"], "pytest.ini");
    let path = result["path"].as_str().expect("a path").to_owned();
    let warning = result["warnings"].to_string();
    assert!(
        warning.contains("plain `pytest` does not run") && warning.contains(&path),
        "{warning}"
    );
    let mut client = crate::runs::editor(&world, Value::Null);
    let params = json!({ "root": "app", "path": path });
    let added = crate::runs::call(&mut client, "addTestPath", params.clone());
    let (folder, _) = path.rsplit_once('/').expect("a folder");
    assert_eq!((&added["file"], &added["folder"]), (&json!("pytest.ini"), &json!(folder)));
    let wanted = format!("[pytest]\ntestpaths = tests {folder}\n");
    assert_eq!(world.read("app/pytest.ini"), wanted);
    assert_eq!(crate::runs::call(&mut client, "addTestPath", params)["folder"], Value::Null);
}
