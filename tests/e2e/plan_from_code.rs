//! Repositories as planning graphs.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::mock::{KEY, run};
use crate::models::{Service, said};
use crate::world::{Ran, World, eventually};

const CART: &str = r#"
"""Carts."""
from typing import overload

from shop.money import Money, add as plus


class Base:
    """A base."""


class Cart(Base):
    """A cart."""

    tax = Money(1)

    @property
    def total(self):
        """The sum."""
        def inner():
            return plus(self.tax, self.tax)
        return inner()

    @total.setter
    def total(self, value): ...


@overload
def price(it: int) -> int: ...
@overload
def price(it: str) -> str: ...
def price(it):
    """The price."""
    return price(Cart().total)


class Empty(Base):
    def total(self): ...


async def serve(cart: Cart | Empty, *, port: int = 80) -> None:
    cart.total
"#;

fn shop() -> World {
    let world = World::new();
    world.write("shop/shop/__init__.py", "");
    world.write("shop/shop/cart.py", CART);
    world.write(
        "shop/shop/money.py",
        "class Money:\n    def __init__(self, n): self.n = n\n\ndef add(a, b):\n    return Money(a.n + b.n)\n",
    );
    world.write(
        "shop/tests/test_cart.py",
        "from shop.cart import price\n\ndef test_price():\n    assert price(1)\n",
    );
    world
}

fn node<'a>(graph: &'a Value, id: &str) -> &'a Value {
    let nodes = graph["nodes"].as_array().expect("nodes");
    nodes.iter().find(|it| it["id"] == id).unwrap_or_else(|| panic!("{id} is missing in {graph:#}"))
}

fn uses(graph: &Value) -> BTreeSet<String> {
    let edges = graph["edges"].as_array().expect("edges").iter();
    let short =
        |it: &Value| it.as_str().unwrap_or_default().replace("shop/", "").replace(".py", "");
    let shown = |it: &Value| {
        let sign = if it.get("doubt").is_some() { "?" } else { "" };
        format!("{} -> {}{sign}", short(&it["source"]), short(&it["target"]))
    };
    edges.filter(|it| it["type"] != "hierarchy").map(shown).collect()
}

#[test]
fn every_definition_is_there_with_what_it_uses() {
    let world = shop();
    let made = world.trellis(&["plan", "from-code", "shop", "--json"]).exits(0).json();
    let graph = &made["graph"];
    assert_eq!(
        (&made["files"], &made["definitions"], &made["tests"]),
        (&json!(3), &json!(10), &json!(1))
    );
    let serve = node(graph, "shop/cart.py:serve");
    assert_eq!(
        serve["signature"],
        "async def serve(cart: Cart | Empty, *, port: int = 80) -> None"
    );
    assert_eq!(serve["subgraph_id"], "shop");
    let price = node(graph, "shop/cart.py:price");
    assert_eq!(
        (&price["signature"], &price["docstring"]),
        (&json!("def price(it)"), &json!("The price."))
    );
    let total = node(graph, "shop/cart.py:Cart.total");
    assert_eq!((&total["type"], &total["docstring"]), (&json!("method"), &json!("The sum.")));
    let expected = [
        "cart:Cart -> cart:Base",
        "cart:Cart -> money:Money",
        "cart:Cart.total -> money:add",
        "cart:Empty -> cart:Base",
        "cart:price -> cart:Cart",
        "cart:price -> cart:Cart.total",
        "cart:serve -> cart:Cart",
        "cart:serve -> cart:Cart.total?",
        "cart:serve -> cart:Empty",
        "cart:serve -> cart:Empty.total?",
        "money:add -> money:Money",
    ];
    assert_eq!(uses(graph), expected.map(str::to_owned).into(), "{graph:#}");
    assert_eq!(price["definitions"][1]["signature"], "def price(it: str) -> str");
    assert_eq!(total["inner"][0]["name"], "Cart.total.inner");
    let notes = made["notes"].to_string();
    assert!(notes.contains("defined several times") && notes.contains("cart.py:price"), "{notes}");
    let with_tests =
        world.trellis(&["plan", "from-code", "shop", "--tests", "--json"]).exits(0).json();
    let _ = node(&with_tests["graph"], "tests/test_cart.py:test_price");
}

#[test]
fn the_graph_is_written_to_a_new_file_that_other_commands_read() {
    let world = shop();
    let from = ["plan", "from-code", "shop", "--out", "plan.json"];
    let said = world.trellis(&from).exits(0).stdout;
    assert!(
        said.starts_with(
            "3 files, 10 definitions, 11 dependencies (2 only possible)\n1 test file left out\n"
        ),
        "{said}"
    );
    let _ = world.trellis(&from).exits(65).says("already exists");
    let order = world.trellis(&["plan", "order", "plan.json"]).exits(0).stdout;
    assert!(order.contains("shop/cart.py:Cart.total"), "{order}");
    let printed = world.trellis(&["plan", "from-code", "shop"]).exits(0).stdout;
    assert_eq!(printed, world.read("plan.json"));
    // A review: a changed signature, and a function that is gone.
    world.write(
        "shop/shop/money.py",
        "class Money:\n    def __init__(self, n, unit=1): self.n = n\n",
    );
    let _ = world.trellis(&["plan", "from-code", "shop", "--out", "next.json"]).exits(0);
    let found = world.trellis(&["plan", "diff", "plan.json", "next.json"]).exits(0).stdout;
    assert!(found.contains("removed function add"), "{found}");
    assert!(found.contains("changed shop/money.py:Money.__init__\n  signature: "), "{found}");
}

#[test]
fn code_that_cannot_be_read_is_one_line_and_the_rest_stays() {
    let world = World::new();
    fs::create_dir(world.root().join("none")).expect("a folder");
    let _ = world.trellis(&["plan", "from-code", "none"]).exits(65).says("has no Python files");
    let _ = world.trellis(&["plan", "from-code", "nowhere"]).exits(65).says("nowhere");
    world.write("p/tests/test_a.py", "def test(): pass\n");
    let _ = world.trellis(&["plan", "from-code", "p"]).exits(65).says("no Python files but tests");
    world.write(
        "p/a.py",
        "import b\n\ndef f():\n    return b.g()\n\ndef broken(:\n    pass\n\ndef last(): ...\n",
    );
    world.write("p/b.py", "import a\n\ndef g():\n    return a.f()\n");
    fs::write(world.root().join("p/raw.py"), [0xff, 0xfe]).expect("a file");
    let ran = world.trellis(&["plan", "from-code", "p", "--out", "plan.json"]).exits(0);
    let ran = ran.says("a.py does not parse").says("raw.py").says("a.py -> b.py -> a.py");
    assert!(ran.stdout.contains("1 cycle"), "{}", ran.stdout);
    let shown = world.trellis(&["plan", "show", "plan.json"]).exits(0).stdout;
    for id in ["(a.py:f)", "(a.py:last)", "(b.py:g)"] {
        assert!(shown.contains(id), "{shown}");
    }
}

#[test]
fn the_dependencies_are_those_of_the_symbol_index() {
    let world = shop();
    let _ = world.trellis(&["plan", "from-code", "shop", "--out", "plan.json"]).exits(0);
    let verify = ["plan", "verify", "plan.json", "--project", "shop", "--json"];
    let found = world.trellis(&verify).exits(0).json();
    assert_eq!(found["unplanned"], json!([]), "{found}");
    let missing: Vec<&Value> = found["missing"].as_array().expect("a list").iter().collect();
    assert!(missing.iter().all(|it| it["possible"] == true), "{found}");
    assert_eq!(found["absent"], json!([]));
}

#[test]
fn what_holds_for_many_nodes_is_said_once_and_circles_are_groups() {
    let world = World::new();
    let many: String = (0..40).map(|it| format!("def f{it}(): ...\n")).collect();
    world.write("p/many.py", &many);
    world.write(
        "p/ring.py",
        "def a():\n    b()\n\ndef b():\n    c()\n\ndef c():\n    a()\n\ndef top():\n    a()\n",
    );
    let _ = world.trellis(&["plan", "from-code", "p", "--out", "plan.json"]).exits(0);
    let checked = world.trellis(&["plan", "check", "plan.json"]).exits(65).stdout;
    assert_eq!(checked.matches("missing-docstring").count(), 1, "{checked}");
    assert!(checked.contains("[missing-docstring] 44 nodes, such as many.py:f0"), "{checked}");
    assert!(checked.contains("\n45 problems in "), "{checked}");
    let all = world.trellis(&["plan", "check", "plan.json", "--json"]).exits(65).json();
    assert_eq!(all["problems"].as_array().map(Vec::len), Some(45));
    let order = world.trellis(&["plan", "order", "plan.json"]).exits(0).stdout;
    let lines: Vec<&str> = order.lines().collect();
    let circle = "circle of 3: ring.py:a, ring.py:b, ring.py:c";
    let place = |line: &str| lines.iter().position(|it| *it == line).expect(line);
    assert!(place(circle) < place("ring.py:top"), "{order}");
    let order = world.trellis(&["plan", "order", "plan.json", "--json"]).exits(0).json();
    assert_eq!(order["circles"], json!([["ring.py:a", "ring.py:b", "ring.py:c"]]));
}

#[test]
fn subgraphs_are_folders_or_what_belongs_together() {
    let world = World::new();
    world.write("p/post/letters.py", "def stamp():\n    send()\n\ndef send():\n    pass\n");
    world.write(
        "p/shop/prices.py",
        "from post.letters import send, stamp\n\ndef tax(): ...\n\ndef price():\n    return tax()\n\n\
         def mail():\n    stamp()\n    send()\n",
    );
    let subgraph = |rule: &[&str]| {
        let command = [&["plan", "from-code", "p", "--json"], rule].concat();
        let made = world.trellis(&command).exits(0).json();
        node(&made["graph"], "shop/prices.py:mail")["subgraph_id"].clone()
    };
    assert_eq!(subgraph(&[]), "shop");
    assert_eq!(subgraph(&["--subgraphs", "package"]), "shop");
    assert_eq!(subgraph(&["--subgraphs", "cohesion"]), "post.letters");
    let _ = world.trellis(&["plan", "from-code", "p", "--subgraphs", "colour"]).exits(64);
}

#[test]
fn odd_files_and_names_made_at_run_time_are_one_line_each() {
    let world = World::new();
    world.write("p/a.py", "globals()['made'] = 1\n\ndef f(): ...\n");
    world.write("p/latin.py", "");
    fs::write(world.root().join("p/latin.py"), b"# coding: latin-1\n# \xe9\n").expect("a file");
    world.write("p/deep.py", &format!("x = {}1{}\n", "(".repeat(20_000), ")".repeat(20_000)));
    // A module that helps people who test is part of a library.
    world.write("p/test.py", "class Client: ...\n");
    let link = |to: &str, from: &str| {
        std::os::unix::fs::symlink(to, world.root().join(from)).expect("a link");
    };
    link("..", "p/loop");
    link("gone.py", "p/dangling.py");
    let ran = world.trellis(&["plan", "from-code", "p", "--json"]).exits(0).json();
    let notes: Vec<&str> =
        ran["notes"].as_array().expect("notes").iter().filter_map(Value::as_str).collect();
    assert_eq!(notes.len(), 3, "{notes:?}");
    for words in [
        "deep.py does not parse",
        "latin.py: it is not UTF-8: skipped",
        "names that are made at run time are not in the graph: a.py:1",
    ] {
        assert!(notes.iter().any(|it| it.contains(words)), "{words}: {notes:?}");
    }
    assert_eq!((&ran["definitions"], &ran["tests"]), (&json!(2), &json!(0)));
}

/// A line of a recording.
fn described(path: &str, attempt: u32, docstrings: &Value) -> String {
    let reply = format!("```json\n{}\n```", json!({ "docstrings": docstrings }));
    let line = json!({ "node": path, "stage": "describe", "attempt": attempt, "reply": reply });
    format!("{line}\n")
}

const DESCRIBE: [&str; 8] = [
    "plan",
    "from-code",
    "shop",
    "--out",
    "plan.json",
    "--describe",
    "--model",
    "recorded:replies.jsonl",
];

#[test]
fn a_model_describes_what_has_no_docstring_and_nothing_else() {
    let world = shop();
    let money = json!({
        "Money": "An amount of money.", "Money.__init__": "Set the number.", "add": "Return the sum.",
    });
    let cart =
        json!({ "Empty": "An empty cart.", "Empty.total": "total", "serve": "Show the total." });
    let again = json!({ "Empty.total": "Return nothing.", "Cart.total": "Other words." });
    let lines = [
        described("shop/cart.py", 0, &cart),
        described("shop/cart.py", 1, &again),
        described("shop/money.py", 0, &money),
    ];
    world.write("replies.jsonl", &lines[..2].concat());
    let _ = world.trellis(&["plan", "from-code", "shop", "--describe"]).exits(64);
    let _ = world.trellis(&DESCRIBE).exits(69).says("shop/money.py");
    assert!(!world.root().join("plan.json").exists());
    world.write("replies.jsonl", &lines.concat());
    let ran = world.trellis(&DESCRIBE);
    let ran = ran.exits(0).says("`Empty.total`: its docstring says nothing");
    assert!(ran.stdout.contains("6 docstrings of a model, 3 requests"), "{}", ran.stdout);
    let plan: Value = serde_json::from_str(&world.read("plan.json")).expect("JSON");
    let shown = |id: &str| {
        let node = node(&plan, id);
        let text = |field: &str| node[field].as_str().unwrap_or("-").to_owned();
        format!("{} {}", text("described"), text("docstring"))
    };
    assert_eq!(shown("shop/money.py:add"), "model Return the sum.");
    assert_eq!(shown("shop/cart.py:Empty.total"), "model Return nothing.");
    assert_eq!(shown("shop/cart.py:Cart.total"), "- The sum.");
    let _ = world.trellis(&DESCRIBE).exits(65).says("already exists");
    let _ = world.trellis(&["plan", "check", "plan.json"]).exits(0);
}

#[test]
fn a_docstring_that_stays_wrong_stays_missing_and_is_named() {
    let world = World::new();
    world.write("shop/a.py", "def f(): ...\n\ndef g(): ...\n");
    let replies = described("*", 0, &json!({ "f": "Do nothing." }))
        + &described("*", 1, &json!({ "h": "Do nothing." }));
    world.write("replies.jsonl", &replies);
    let ran = world.trellis(&DESCRIBE).exits(2);
    assert!(
        ran.stdout.contains("problem: a.py:g: it has no docstring; no one asked for `h`"),
        "{}",
        ran.stdout
    );
    let plan: Value = serde_json::from_str(&world.read("plan.json")).expect("JSON");
    assert_eq!(node(&plan, "a.py:f")["described"], "model");
    assert_eq!(node(&plan, "a.py:g").get("docstring"), None);
}

#[test]
fn a_stopped_description_resumes_without_paying_twice() {
    let world = World::new();
    world.write("shop/a.py", "def f(): ...\n");
    world.write("shop/b.py", "def g(): ...\n");
    let start = |service: &Service| {
        let arguments = [
            "plan",
            "from-code",
            "shop",
            "--out",
            "plan.json",
            "--describe",
            "--model",
            "openai:tiny",
        ];
        let mut command = world.command(&arguments);
        command.env("OPENAI_BASE_URL", &service.url).env("OPENAI_API_KEY", KEY);
        run(&mut command)
    };
    let answer =
        |name: &str| said(&json!({ "docstrings": { name: "Return nothing at all." } }).to_string());
    let is_first = |question: &Value| question.to_string().contains("`a.py`");
    let broken = Service::start(Box::new(move |question| match is_first(question) {
        true => answer("f"),
        false => (400, json!({ "error": { "message": "no" } })),
    }));
    let _ = start(&broken).exits(69).says("b.py");
    let whole = Service::start(Box::new(move |_| answer("g")));
    let ran = start(&whole).exits(0);
    assert!(ran.stdout.contains("2 docstrings of a model, 2 requests"), "{}", ran.stdout);
    assert_eq!(whole.asked().len(), 1);
}

#[test]
fn an_interrupt_ends_a_description_and_the_next_start_goes_on() {
    let world = World::new();
    world.write("shop/a.py", "def f(): ...\n");
    world.write("shop/b.py", "def g(): ...\n");
    let first = described("a.py", 0, &json!({ "f": "Return nothing at all." }));
    let second = described("b.py", 0, &json!({ "g": "Return nothing at all." }));
    let mut slow: Value = serde_json::from_str(&second).expect("JSON");
    slow["latency_ms"] = 600_000.into();
    world.write("replies.jsonl", &format!("{first}{slow}\n"));
    let mut command = world.command(&DESCRIBE);
    command.arg("--replay-latency").stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("it starts");
    let is_answered = || {
        let journal = world.root().join(".trellis/journal.jsonl");
        fs::read_to_string(journal).is_ok_and(|it| it.contains("a.py"))
    };
    eventually(is_answered, || "the first docstring is there");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    let ran = Ran::of(child.wait_with_output().expect("an end"));
    let _ = ran.exits(130).says("run the same command again");
    assert!(!world.root().join("plan.json").exists());
    world.write("replies.jsonl", &(first + &second));
    let ran = world.trellis(&DESCRIBE).exits(0);
    assert!(ran.stdout.contains("2 docstrings of a model"), "{}", ran.stdout);
}
