//! `trellis/findTests` and lenses in other languages: the tests in the sources are those that vitest and go run.

use std::collections::BTreeSet;

use ::lsp::Client;
use serde_json::{Value, json};

use crate::runs::{call, editor};
use crate::stacks::has_go;
use crate::world::World;

/// Returns the names of the tests of a project, by path.
fn names(client: &mut Client, params: Value) -> Vec<(String, Vec<String>)> {
    let found = call(client, "findTests", params);
    let text = |it: &Value| it.as_str().expect("a text").to_owned();
    let list = |it: &Value| it.as_array().expect("a list").clone();
    let file = |it: &Value| {
        let tests = list(&it["tests"]);
        (text(&it["path"]), tests.iter().map(|it| text(&it["name"])).collect())
    };
    list(&found["files"]).iter().map(file).collect()
}

fn tests(path: &str, names: &[&str]) -> (String, Vec<String>) {
    (path.to_owned(), names.iter().map(|it| (*it).to_owned()).collect())
}

#[test]
fn tests_of_vitest_are_found_by_the_names_of_their_files() {
    let world = World::new();
    let root = world.root();
    world.write("package.json", r#"{ "devDependencies": { "vitest": "3" } }"#);
    world.write("src/a.test.ts", "describe('sum', () => {\n  it('adds', () => {})\n})\n");
    world.write("src/b.spec.jsx", "test.each([1])('is %i', it => {})\n");
    world.write("src/__tests__/c.js", "test('c', () => {})\n");
    world.write("src/d.js", "test('no test file', () => {})\n");
    world.write("node_modules/x/x.test.js", "test('of others', () => {})\n");
    let mut client = editor(&world, json!({ "trusted": false }));
    let all = [
        tests("src/__tests__/c.js", &["c"]),
        tests("src/a.test.ts", &["sum", "sum::adds"]),
        tests("src/b.spec.jsx", &[]),
    ];
    assert_eq!(names(&mut client, json!({ "root": root })), all);
    let one = json!({ "root": root, "paths": ["src/a.test.ts"] });
    let found = call(&mut client, "findTests", one);
    let expected = json!([
        { "name": "sum", "isGroup": true, "line": 1, "endLine": 3 },
        { "name": "sum::adds", "line": 2, "endLine": 2 },
    ]);
    assert_eq!(found["files"][0]["tests"], expected);
    assert_eq!(found["framework"], "vitest");
}

#[test]
fn tests_of_go_are_those_of_their_package() {
    let world = World::new();
    world.write("go.mod", "module example.com/shop\n\ngo 1.22\n");
    world.write("a_test.go", "package shop\n\nfunc TestA(t *testing.T) {}\n");
    world.write("b_test.go", "package shop\n\nfunc TestB(t *testing.T) {}\n");
    world.write("cart/cart_test.go", "package cart\n\nfunc TestCart(t *testing.T) {}\n");
    world.write("cart/testdata/x_test.go", "package x\n\nfunc TestX(t *testing.T) {}\n");
    let mut client = editor(&world, json!({ "trusted": false }));
    let of_root = tests(".", &["TestA", "TestB"]);
    let all = [of_root.clone(), tests("cart", &["TestCart"])];
    assert_eq!(names(&mut client, json!({})), all);
    // The other files of the package have tests of the same ids' path.
    assert_eq!(names(&mut client, json!({ "paths": ["b_test.go"] })), [of_root]);
    let found = call(&mut client, "findTests", json!({ "paths": ["cart"] }));
    assert_eq!(found["files"][0]["tests"][0]["path"], json!("cart/cart_test.go"));
}

#[test]
fn the_tests_in_the_sources_are_those_that_go_runs() {
    if !has_go() {
        return;
    }
    let world = World::new();
    let root = world.root();
    world.write("go.mod", "module example.com/shop\n\ngo 1.18\n");
    let cart = r#"package cart

import ("fmt"; "testing")

func TestCart(t *testing.T) {
	t.Run("of two", func(t *testing.T) { t.Run("[3]", func(t *testing.T) {}) })
}

func Testing(t *testing.T) {}

func FuzzCart(f *testing.F) { f.Fuzz(func(t *testing.T, number int) {}) }

func ExampleCart() {
	fmt.Println("cart")
	// Output: cart
}
"#;
    world.write("internal/cart/cart.go", "package cart\n\ntype Cart struct{}\n");
    world.write("internal/cart/cart_test.go", cart);
    let mut client = editor(&world, Value::Null);
    let known = ["TestCart", "TestCart/of_two", "TestCart/of_two/[3]", "FuzzCart", "ExampleCart"];
    assert_eq!(names(&mut client, json!({})), [tests("internal/cart", &known)]);
    let ran = |client: &mut Client, target: &str| -> BTreeSet<String> {
        let params = json!({ "root": root, "paths": [target], "sandbox": "local" });
        let result = call(client, "runTests", params);
        let list = result["tests"].as_array().expect("a list").iter();
        list.map(|it| it["id"].as_str().expect("an id").to_owned()).collect()
    };
    let all = known.iter().map(|it| format!("internal/cart::{it}")).collect();
    assert_eq!(ran(&mut client, "internal"), all, "a folder that is no package");
    let one = "internal/cart::TestCart/of_two/[3]";
    assert!(ran(&mut client, one).contains(one));
}
