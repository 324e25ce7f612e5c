//! `trellis/findTests` and lenses in other languages: the tests in the sources are those that vitest and go run.

use std::collections::BTreeSet;
use std::path::Path;

use ::lsp::{Client, Encoding, patience, uri_of};
use serde_json::{Value, json};

use crate::runs::{call, editor};
use crate::stacks::has_go;
use crate::world::World;

/// Returns the names of the tests of a project, by path.
fn names(client: &mut Client, params: Value) -> Vec<(String, Vec<String>)> {
    let found = call(client, "findTests", params);
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

#[test]
fn tests_of_other_languages_have_lenses_while_they_are_wanted() {
    let world = World::new();
    world.write("package.json", r#"{ "devDependencies": { "vitest": "3" } }"#);
    let file =
        world.write("src/a.test.ts", "describe('sum', () => {\n  it('adds', () => {})\n})\n");
    let other = world.write("src/b.ts", "test('no test file', () => {})\n");
    let python = world.write("a.py", "def f(): ...\n");
    let later = json!({ "dynamicRegistration": true });
    let abilities = json!({ "textDocument": { "codeLens": later, "synchronization": later } });
    let mut client = Client::start(world.command(&["lsp"]), world.root()).expect("a server");
    client.can(abilities);
    client.reserve("client/registerCapability");
    client.reserve("client/unregisterCapability");
    let _ = client.initialize(&[Encoding::Utf16], &Value::Null, patience()).expect("a handshake");
    let all =
        ["didOpen", "didChange", "didClose", "codeLens"].map(|it| format!("textDocument/{it}"));
    // Others register too: watched files.
    let registrations = loop {
        let question =
            client.question("client/registerCapability", patience()).expect("a registration");
        client.answer(&question, Ok(Value::Null));
        let list = question.params["registrations"].as_array().expect("a list").clone();
        if list[0]["method"] == "textDocument/didOpen" {
            break list;
        }
    };
    assert_eq!(registrations.iter().map(|it| text(&it["method"])).collect::<Vec<_>>(), all);
    let selector = registrations[3]["registerOptions"]["documentSelector"].to_string();
    assert!(selector.contains("typescriptreact") && !selector.contains("python"), "{selector}");

    for it in [&file, &other, &python] {
        client.open(it).expect("a file");
    }
    let group = "src/a.test.ts::sum".to_owned();
    let before = [(0, 0, group.clone()), (1, 2, format!("{group}::adds"))];
    assert_eq!(lenses(&mut client, &file), before);
    assert_eq!(lenses(&mut client, &other), []);
    // Positions count in units of the encoding, and edits follow each other.
    client.insert(&file, (1, 0), "  it('\u{1f600}', () => {}); it('b', () => {})\n");
    client.insert(&file, (0, 0), "\n");
    let after = [
        (1, 0, group.clone()),
        (2, 2, format!("{group}::\u{1f600}")),
        (2, 22, format!("{group}::b")),
        (3, 2, format!("{group}::adds")),
    ];
    assert_eq!(lenses(&mut client, &file), after);
    let unsaved = tests("src/a.test.ts", &["sum", "sum::\u{1f600}", "sum::b", "sum::adds"]);
    assert_eq!(names(&mut client, json!({})), [unsaved]);
    client.close(&file);
    assert_eq!(lenses(&mut client, &file), []);

    let off = json!({ "settings": { "trellis": { "testLenses": false } } });
    client.notify("workspace/didChangeConfiguration", off);
    let question = client.question("client/unregisterCapability", patience()).expect("taken back");
    let gone = question.params["unregisterations"].as_array().expect("a list").len();
    assert_eq!(gone, all.len());
    client.answer(&question, Ok(Value::Null));
}

#[test]
fn lenses_of_go_run_tests_of_the_package() {
    let world = World::new();
    world.write("go.mod", "module example.com/shop\n\ngo 1.18\n");
    let test = "package cart\n\nfunc TestCart(t *testing.T) {\n\tt.Run(\"of two\", func(t *testing.T) {})\n}\n";
    let file = world.write("cart/cart_test.go", test);
    let mut client = editor(&world, Value::Null);
    client.open(&file).expect("a file");
    let cart = "cart::TestCart".to_owned();
    assert_eq!(
        lenses(&mut client, &file),
        [(2, 0, cart.clone()), (3, 1, format!("{cart}/of_two"))]
    );
}

/// Returns the lenses of a file: line and column, and the test that each runs.
fn lenses(client: &mut Client, file: &Path) -> Vec<(u64, u64, String)> {
    let params = json!({ "textDocument": { "uri": uri_of(file) } });
    let all = client.request("textDocument/codeLens", params, patience()).expect("lenses");
    let lens = |it: &Value| {
        assert_eq!(
            (&it["command"]["title"], &it["command"]["command"]),
            (&"Run".into(), &"trellis.runTests".into())
        );
        let start = &it["range"]["start"];
        let number = |it: &Value| it.as_u64().expect("a number");
        (
            number(&start["line"]),
            number(&start["character"]),
            text(&it["command"]["arguments"][0]["paths"][0]),
        )
    };
    all.as_array().into_iter().flatten().map(lens).collect()
}

fn text(it: &Value) -> String {
    it.as_str().expect("a text").to_owned()
}
