//! Repositories as planning graphs.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use crate::world::World;

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
