//! Symbols renamed, deleted and queried on the command line: complete files before and after.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};

use crate::world::{Plot, World};

const SHOP: &str = "\u{feff}class Cart:\r\n    def total(self):\r\n        return 0\r\n\r\n\r\ndef start():\r\n    return Cart().total()\r\n";
const APP: &str = "from shop import Cart, start as begin\n__all__ = [\"begin\", \"Cart\"]\n\n\ndef show(it):\n    it.total()  # é\n    return 'é', begin, Cart().total()\n\n\ndef lonely(n):\n    return lonely(n - 1)\n";

fn shop() -> World {
    let world = World::new();
    world.write("lib/shop.py", SHOP);
    world.write("lib/app.py", APP);
    fs::write(world.root().join("lib/latin.py"), b"caf\xe9 = total\n").expect("a file");
    world
}

fn symbols(world: &World, arguments: &[&str]) -> Value {
    world.trellis(&[&["symbols"], arguments, &["--in=lib", "--json"]].concat()).exits(0).json()
}

fn texts(world: &World) -> [String; 2] {
    ["lib/shop.py", "lib/app.py"].map(|it| world.read(it))
}

/// Returns places as `file:line:column enclosing`.
fn places(of: &Value) -> Vec<String> {
    let place = |it: &Value| {
        let start = &it["range"]["start"];
        let text = |it: &Value| it.as_str().unwrap_or("-").to_owned();
        let (file, around) = (text(&it["file"]), text(&it["enclosing"]));
        format!("{file}:{}:{} {around}", start["line"], start["column"])
    };
    of.as_array().expect("a list").iter().map(place).collect()
}

#[test]
fn a_rename_changes_every_file_and_is_undone_to_the_byte() {
    let world = shop();
    let table = [
        (&["Cart/total", "sum"][..], "total(self)", "sum(self)", "Cart().total", "Cart().sum"),
        (&["start", "launch"], "def start", "def launch", "start as", "launch as"),
        (&["--at=app.py:7:24", "Basket"], "Cart", "Basket", "Cart", "Basket"),
    ];
    for (arguments, from, to, also, then) in table {
        let wanted = [SHOP, APP].map(|it| it.replace(from, to).replace(also, then));
        let dry = symbols(&world, &[&["rename", "--dry-run"], arguments].concat());
        assert_eq!(texts(&world), [SHOP, APP], "a dry run changes nothing");
        let done = symbols(&world, &[&["rename"], arguments].concat());
        assert_eq!(texts(&world), wanted);
        assert_eq!((&dry["diff"], &dry["edits"]), (&done["diff"], &done["edits"]));
        assert_eq!((dry["undo"].is_null(), done["undo"].is_u64()), (true, true));
        assert_eq!(done["complete"], false, "a file could not be read");
        assert!(done["reasons"].to_string().contains("latin.py: it is not UTF-8"), "{done}");
        let _ = world.trellis(&["symbols", "undo", "--in=lib"]).exits(0);
        assert_eq!(texts(&world), [SHOP, APP]);
    }
    let latin = fs::read(world.root().join("lib/latin.py")).expect("a file");
    assert_eq!(latin, b"caf\xe9 = total\n");
}

#[test]
fn what_may_be_meant_is_listed_and_not_renamed() {
    let world = shop();
    let done = symbols(&world, &["rename", "Cart/total", "sum"]);
    assert_eq!(places(&done["possible"]), ["app.py:6:8 show"]);
    assert_eq!(done["possible"][0]["line"], "it.total()  # é");
    let place = |line: u32, from: u32| json!({ "start": { "line": line, "column": from }, "end": { "line": line, "column": from + 5 } });
    let edits = json!([
        { "file": "app.py", "places": [place(7, 31)] },
        { "file": "shop.py", "places": [place(2, 9), place(7, 19)] },
    ]);
    assert_eq!(
        (&done["edits"], &done["from"], &done["to"]),
        (&edits, &json!("total"), &json!("sum"))
    );
    // A file selects the symbol, but does not limit the search for references.
    let twin = world.write("lib/twin.py", "def sum(): ...\n");
    world.write("lib/pyproject.toml", "");
    let by_file = ["symbols", "rename", "sum", "other", "--in=lib/shop.py", "--json", "--dry-run"];
    let edits = world.trellis(&by_file).exits(0).json()["edits"].clone();
    assert_eq!(edits.as_array().map(Vec::len), Some(2), "{edits}");
    let both = ["symbols", "rename", "sum", "total", "--in=lib"];
    let _ = world.trellis(&both).exits(65).says("2 symbols match");
    fs::remove_file(twin).expect("a file");
    let said = world.trellis(&["symbols", "rename", "sum", "total", "--in=lib"]).exits(0);
    let _ = said.says("`trellis symbols undo 2 --project lib` undoes it");
    assert_eq!(texts(&world), [SHOP, APP], "there and back");
}

#[test]
fn a_refused_change_names_its_reason_and_leaves_every_file() {
    let world = shop();
    let fixed = world.root().join("lib/shop.py");
    let table: [(&[&str], i32, &str); 9] = [
        (&["rename", "start", "Cart"], 65, "shop.py:1:7: `Cart` would clash: shop.py binds it"),
        (&["rename", "--at=app.py:1:33", "show"], 65, "app.py:5:5: `show` would clash"),
        (&["rename", "start", "print"], 65, "is a builtin"),
        (&["rename", "start", "class"], 64, "is a Python keyword"),
        (&["rename", "start", ""], 64, "not a Python identifier"),
        (&["rename", "start"], 64, "NAME_PATH NEW_NAME"),
        (&["rename", "nothing", "some"], 65, "there is no symbol nothing"),
        (&["delete", "start"], 65, "app.py:1:24  import"),
        (&["delete", "total"], 65, "app.py:6:8  use, possibly (the type"),
    ];
    for (arguments, code, words) in table {
        let arguments = [&["symbols"], arguments, &["--in=lib"]].concat();
        let _ = world.trellis(&arguments).exits(code).says(words);
    }
    fs::set_permissions(&fixed, fs::Permissions::from_mode(0o444)).expect("a mode");
    let rename = ["symbols", "rename", "start", "launch", "--in=lib"];
    let _ = world.trellis(&rename).exits(65).says("shop.py is read-only; nothing was changed");
    assert_eq!(texts(&world), [SHOP, APP]);
}

#[test]
fn only_what_nothing_uses_is_deleted_unless_forced() {
    let world = shop();
    let gone = symbols(&world, &["delete", "lonely"]);
    assert_eq!(gone["deleted"], json!([{ "file": "app.py", "namePath": "lonely" }]));
    assert_eq!(
        world.read("lib/app.py"),
        APP.split("\n\n\ndef lonely").next().expect("text").to_owned() + "\n"
    );
    let delete = ["symbols", "delete", "start", "--in=lib", "--json"];
    let refused = world.trellis(&delete).exits(65).json();
    let uses = ["app.py:1:24 -"];
    assert_eq!(
        (places(&refused["references"]), &refused["deleted"]),
        (uses.map(str::to_owned).to_vec(), &json!([]))
    );
    let forced = symbols(&world, &["delete", "start", "--force"]);
    assert_eq!(forced["references"], refused["references"]);
    assert_eq!(
        world.read("lib/shop.py"),
        SHOP.split("\r\n\r\n\r\ndef").next().expect("text").to_owned() + "\r\n"
    );
    // Files outside of the folder were not searched, which is reported.
    world.write("pyproject.toml", "");
    world.write("tests/t.py", "from shop import Cart\n");
    let forced = symbols(&world, &["delete", "Cart", "--force"]);
    assert!(
        forced["reasons"].to_string().contains("tests/t.py first, and Trellis did not check them"),
        "{forced}"
    );
}

#[test]
fn references_in_one_file_name_the_files_that_were_not_asked() {
    let world = World::new();
    world.write("shop.py", "class Cart: ...\n");
    world.write("app.py", "from shop import Cart\n");
    world.write("pyproject.toml", "");
    let one = world.trellis(&["symbols", "refs", "Cart", "--in=shop.py"]).exits(0);
    let one = one.says(
        "not complete: `Cart` is also in 1 file of the project outside shop.py, app.py first",
    );
    let _ = one.says("includes them");
    let all = world.trellis(&["symbols", "refs", "Cart", "--json"]).exits(0).json();
    assert_eq!((&all["complete"], &all["reasons"]), (&json!(true), &json!([])));
}

#[test]
fn a_name_that_something_looks_for_is_renamed_only_by_force() {
    let world = World::new();
    let code = "from enum import Enum\nclass Unit(Enum):\n    DAYS = 1\ndef unit(name): return Unit[name.upper()]\nUnit.DAYS\n";
    world.write("unit.py", code);
    let rename = ["symbols", "rename", "Unit/DAYS", "DAY"];
    let why = "unit.py looks up members of `Unit` by names that only a run knows";
    let _ = world.trellis(&rename).exits(65).says(why).says("rename it anyway with --force");
    let forced = world.trellis(&[&rename[..], &["--force", "--json"]].concat()).exits(0).json();
    assert_eq!(forced["complete"], false, "{forced}");
    assert!(forced["reasons"].to_string().contains(why), "{forced}");
    assert!(world.read("unit.py").contains("Unit.DAY\n"));
}

#[test]
fn what_others_may_call_is_deleted_only_by_force() {
    let world = World::new();
    let code = "import atexit, functools\nimport pytest\n@app.route('/')\ndef index(): ...\n@atexit.register\ndef bye(): ...\n@functools.cache\ndef kept(): ...\nclass A:\n    def __len__(self): ...\n    @property\n    def size(self): ...\n@pytest.fixture\ndef wanted(): ...\n";
    world.write("web.py", code);
    let tests = "import pytest\n@pytest.fixture(autouse=True)\ndef always(): ...\n@pytest.fixture\ndef nobody(): ...\ndef setup_module(): ...\n@pytest.mark.slow\ndef test_old(): ...\n";
    world.write("test_web.py", tests);
    for (name, why) in [
        ("index", "the decorator `app.route` may use it elsewhere"),
        ("bye", "the decorator `atexit.register` may use it elsewhere"),
        ("A/__len__", "Python itself looks for the name `__len__`"),
        ("wanted", "tests of other projects may ask for this fixture"),
        ("always", "pytest runs it for every test (`autouse`)"),
        ("setup_module", "pytest looks for `setup_module`"),
    ] {
        let refused = world.trellis(&["symbols", "delete", name, "--dry-run"]).exits(65);
        let _ = refused.says(why);
        let _ = world.trellis(&["symbols", "delete", name, "--force", "--dry-run"]).exits(0);
    }
    for name in ["kept", "A/size", "nobody", "test_old"] {
        let _ = world.trellis(&["symbols", "delete", name, "--dry-run"]).exits(0);
    }
}

#[test]
fn callers_stand_under_the_function_around_them() {
    let world = shop();
    let callers = |path: &str| {
        let ran = symbols(&world, &["callers", path]);
        let line = |it: &Value| {
            let uses = it["uses"].as_array().expect("uses");
            let uses = uses.iter().map(|it| format!("{}={}", it["line"], it["certain"]));
            let uses = uses.collect::<Vec<_>>().join(" ");
            format!("{} {} {uses}", it["file"], it["symbol"]).replace('"', "")
        };
        ran["callers"].as_array().expect("callers").iter().map(line).collect::<Vec<_>>()
    };
    let total = [
        "app.py show it.total()  # é=false return 'é', begin, Cart().total()=true",
        "shop.py start return Cart().total()=true",
    ];
    assert_eq!(callers("Cart/total"), total);
    assert_eq!(callers("lonely"), ["app.py lonely return lonely(n - 1)=true"]);
}

#[test]
fn what_nothing_uses_is_listed_with_its_doubts() {
    let world = shop();
    world.write("lib/more.py", "class Till:\n    def total(self): ...\n    def __len__(self): ...\n\ndef test_it(): ...\n\n@staticmethod\ndef kept(): ...\n\nimport shop\nshop.start()\n");
    let unused = symbols(&world, &["unused"]);
    let line = |it: &Value| {
        let possibly = if it["possiblyUsed"] == true { " possibly" } else { "" };
        format!("{} {}{possibly}", it["place"], it["namePath"]).replace('"', "")
    };
    let lines: Vec<String> =
        unused["unused"].as_array().expect("a list").iter().map(line).collect();
    let wanted = [
        "app.py:5:5 show",
        "app.py:10:5 lonely",
        "more.py:1:7 Till",
        "more.py:2:9 Till/total possibly",
    ];
    assert_eq!(lines, wanted);
    assert!(unused["leftOut"].to_string().contains("decorator"), "{unused}");
    assert_eq!(unused["complete"], false, "a file could not be read");
}

#[test]
fn outlines_show_what_is_in_what() {
    let world = World::new();
    world.write(
        "lib/a.py",
        "class A:\n    class B:\n        x = 1\n    def f(self,\n          n): ...\ndef g(:\n",
    );
    let ran = world.trellis(&["symbols", "document", "lib/a.py"]).exits(0).says("lib/a.py: line 6");
    let tree = "1:7  class A\n    2:11  class A/B\n        3:9  attribute A/B/x  x = 1\n    4:9  method A/f  def f(self, n)\n";
    assert!(ran.stdout.starts_with(tree), "{}", ran.stdout);
    let flat =
        world.trellis(&["symbols", "document", "lib/a.py", "--depth=1", "--json"]).exits(0).json();
    assert_eq!(
        (&flat["symbols"][0]["name"], &flat["symbols"][0]["children"]),
        (&json!("A"), &json!([]))
    );
    let found = symbols(&world, &["find", "A", "--depth=1"]);
    let names: Vec<&str> = (found["symbols"][0]["children"].as_array().expect("children").iter())
        .map(|it| it["namePath"].as_str().expect("a path"))
        .collect();
    assert_eq!(names, ["A/B", "A/f"]);
    assert_eq!(found["symbols"][0]["children"][0]["children"], json!([]));
}

#[test]
fn a_plan_is_held_against_the_code() {
    let world = World::new();
    world.write("rpg.json", &Plot::garden().graph().to_string());
    world.write(
        "lib/src/lib/basic.py",
        "def double(x): return 2 * x\n\ndef square(x): return x * x\n",
    );
    world.write(
        "lib/src/lib/middle.py",
        "from lib.basic import double\n\ndef summed(x): return double(x)\n",
    );
    // In another file than planned, and with a use that the plan does not have.
    world.write("lib/src/lib/other.py", "from lib.basic import square\n\ndef shifted(x):\n    return square(x)\n\ndef tenfold(x): return x\n");
    world.write(
        "lib/tests/test_it.py",
        "from lib.other import tenfold\n\ndef test_it(): tenfold(1)\n",
    );
    let it = symbols(&world, &["planned", "rpg.json"]);
    let pair = |from: &str, to: &str| json!({ "from": from, "to": to });
    let missing = |from: &str, to: &str| json!({ "from": from, "to": to, "possible": false });
    let wanted = json!({
        "confirmedShare": 1.0 / 3.0, "planned": 3,
        "confirmed": [pair("summed", "double")],
        "missing": [missing("shifted", "double"), missing("summed", "square")],
        "unplanned": [{ "from": "shifted", "to": "square", "file": "src/lib/other.py", "line": 4 }],
        "unused": ["shifted", "tenfold"], "absent": ["negated"],
        "moved": [
            { "id": "shifted", "file": "src/lib/other.py" }, { "id": "tenfold", "file": "src/lib/other.py" },
        ],
        "unchecked": 1, "complete": true, "reasons": [],
    });
    assert_eq!(it, wanted);
}

/// Nothing in `show` names the class of the object from `make`, but it calls the class's method.
#[test]
fn who_uses_an_object_uses_its_class() {
    let world = World::new();
    let mut graph = Plot::default()
        .function("Box", "box", &[], &[], "")
        .function("make", "box", &["Box"], &[], "")
        .function("show", "show", &["Box", "make"], &[], "")
        .function("count", "show", &["Box"], &[], "")
        .graph();
    graph["nodes"][0]["type"] = "class".into();
    world.write("rpg.json", &graph.to_string());
    world.write("lib/src/lib/box.py", "class Box:\n    def double(self):\n        return 2\n\n\ndef make() -> Box:\n    return Box()\n");
    world.write("lib/src/lib/show.py", "from lib.box import make\n\n\ndef show():\n    return make().double()\n\n\ndef count(Box):\n    return Box + 1\n");
    let it = symbols(&world, &["planned", "rpg.json"]);
    let missing = json!([{ "from": "count", "to": "Box", "possible": false }]);
    assert_eq!((&it["planned"], &it["missing"]), (&4.into(), &missing), "{it}");
}

/// A type checker that supports the needed part of the protocol, sends a request before it answers,
/// and finds the places in `ANSWER`.
const CHECKER: &str = r#"#!/usr/bin/env python3
import json, os, sys, time

def read():
    length = 0
    while (line := sys.stdin.buffer.readline().strip()):
        length = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(length))

def send(message):
    body = json.dumps(message).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()

assert sys.argv[1:] == ["server"]
first = read()
root = first["params"]["rootUri"]
send({"jsonrpc": "2.0", "id": "own", "method": "workspace/configuration", "params": {"items": [{}, {}]}})
assert read()["result"] == [None, None]
send({"jsonrpc": "2.0", "id": first["id"], "result": {"capabilities": {}}})
assert read()["method"] == "initialized"
opened, asked = read()["params"]["textDocument"], read()
print("asked at", asked["params"]["position"], file=sys.stderr)
if os.path.exists("dies"):
    sys.exit("no such luck")
assert opened["text"].startswith("\ufeffclass") and opened["uri"] == root + "/shop.py"
assert asked["params"]["position"] == {"line": 1, "character": 8}
at = lambda file, line, column: {"uri": root + "/" + file, "range": {
    "start": {"line": line, "character": column}, "end": {"line": line, "character": column + 5}}}
send({"jsonrpc": "2.0", "id": asked["id"], "result": [at("app.py", 5, 7), at("app.py", 6, 30), at("app.py", 10, 0)]})
time.sleep(60)
"#;

#[test]
fn a_type_checker_confirms_what_is_possible() {
    let world = World::new().with_only(&["python3"]);
    world.write("lib/shop.py", SHOP);
    world.write("lib/app.py", APP);
    let refs = ["symbols", "refs", "Cart/total", "--in=lib", "--json", "--confirm=ty"];
    // A program of the project would run outside of the sandbox.
    for own in ["lib/.venv/bin/ty", ".venv/bin/ty"] {
        let own = world.write(own, CHECKER);
        fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    let _ = world.trellis(&refs).exits(69).says("is not on PATH").says("uv tool install ty");
    let checker = world.write("bin/ty", CHECKER);
    fs::set_permissions(&checker, fs::Permissions::from_mode(0o755)).expect("a mode");
    let it = world.trellis(&refs).exits(0).json();
    let line = |it: &Value| format!("{}={}", it["certain"], it["confirmedBy"]);
    let lines: Vec<String> =
        it["references"].as_array().expect("a list").iter().map(line).collect();
    assert_eq!(lines, ["false=\"ty\"", "true=null", "true=null", "true=null"], "{it}");
    let reasons = it["reasons"].to_string();
    assert!(reasons.contains("ty also refers to it at app.py:11"), "{reasons}");
    assert_eq!(it["complete"], false);
    world.write("lib/dies", "");
    let _ = world.trellis(&refs).exits(69).says("it ended too early; it printed: no such luck");
}

/// Checks the resolver's truth against Python: every marked rename is applied and run, and breaks
/// if one of its places is left out.
#[test]
fn the_marked_cases_are_proven_by_running_them() {
    let checker = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/python/check_truth.py");
    let proof = Command::new("python3").arg(checker).output().expect("Python");
    let said = String::from_utf8_lossy(&proof.stdout);
    assert!(proof.status.success() && said.contains(", 0 problems"), "{said}");
}
