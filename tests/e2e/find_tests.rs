//! `trellis/findTests`: the tests in the sources are those that pytest and unittest collect.

use std::collections::BTreeSet;
use std::fs;

use ::lsp::{Client, patience};
use serde_json::{Value, json};

use crate::runs::{call, editor};
use crate::world::World;

/// A small project: its files, by path.
type Layout = (&'static str, &'static [(&'static str, &'static str)]);

const PYTEST: [Layout; 12] = [
    (
        "kinds",
        &[(
            "test_a.py",
            "import pytest\nimport unittest\n\ndef test_a(): pass\nasync def test_b(): pass\ndef helper(): pass\ntest_c = test_a\ntest_d = lambda: None\ntest_e = 3\n\n@pytest.fixture\ndef test_data(): pass\n\n@pytest.mark.parametrize('x', [1, 2])\ndef test_f(x): pass\n\nclass TestA:\n    def test_a(self): pass\n    @staticmethod\n    def test_s(): pass\n    @property\n    def test_p(self): return 1\n    class TestInner:\n        def test_i(self): pass\n    class Other:\n        def test_o(self): pass\n\nclass TestEmpty: pass\nclass TestInit:\n    def __init__(self): pass\n    def test_a(self): pass\nclass TestOff:\n    __test__ = False\n    def test_a(self): pass\nclass Case(unittest.TestCase):\n    def test_u(self): pass\n    test_none = None\n    def other(self): pass\nclass Single(unittest.TestCase):\n    def runTest(self): pass\n\nif True:\n    def test_if(): pass\ntry:\n    import nothing_here\nexcept ImportError:\n    def test_except(): pass\ndef test_gone(): pass\ndel test_gone\nif __name__ == '__main__':\n    def test_main(): pass\n",
        )],
    ),
    (
        "inherited",
        &[
            ("tests/__init__.py", ""),
            (
                "tests/base.py",
                "import unittest\n\nclass Mixin:\n    def test_mixin(self): pass\n\nclass Base(unittest.TestCase):\n    def test_base(self): pass\n    def test_over(self): pass\n\nclass Quiet(Base):\n    __test__ = False\n",
            ),
            (
                "tests/test_a.py",
                "from tests.base import Mixin\nfrom . import base\nimport tests.base as b\n\nclass TestM(Mixin):\n    def test_own(self): pass\n\nclass Case(base.Base):\n    test_over = None\n\nclass Deep(Case):\n    def test_deep(self): pass\n\nclass Named(b.Base): pass\nclass Hushed(base.Quiet): pass\nclass Loud(base.Quiet):\n    __test__ = True\n",
            ),
            ("tests/test_b.py", "from .base import *\nfrom .test_a import TestM as TestN\n"),
            (
                "tests/test_c.py",
                "from tests.base import Base\nimport tests.base\n\nclass X(tests.base.Base, tests.base.Mixin): pass\n",
            ),
        ],
    ),
    (
        "settings",
        &[
            (
                "pyproject.toml",
                "[tool.pytest.ini_options]\ntestpaths = [\"checks\", \"more/*\"]\npython_files = [\"check_*.py\", \"*_spec.py\"]\npython_classes = [\"Check\", \"*Suite\"]\npython_functions = \"check_* it_?\"\nnorecursedirs = [\"old\", \"deep/data\"]\n",
            ),
            (
                "checks/check_a.py",
                "def check_a(): pass\ndef it_x(): pass\ndef it_xy(): pass\ndef test_a(): pass\nclass CheckA:\n    def check_b(self): pass\nclass MySuite:\n    def check_c(self): pass\nclass TestB:\n    def check_d(self): pass\n",
            ),
            ("checks/b_spec.py", "def check_b(): pass\n"),
            ("checks/test_c.py", "def check_c(): pass\n"),
            ("checks/old/check_d.py", "def check_d(): pass\n"),
            ("checks/deep/data/check_e.py", "def check_e(): pass\n"),
            ("more/a/check_f.py", "def check_f(): pass\n"),
            ("more/b/check_g.py", "def check_g(): pass\n"),
            ("elsewhere/check_h.py", "def check_h(): pass\n"),
        ],
    ),
    (
        "ini",
        &[
            (
                "pytest.ini",
                "[pytest]\ntestpaths =\n    unit\n    # a note\n    single.py\naddopts = -q --ignore=unit/left --ignore-glob=*_slow.py\n",
            ),
            ("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = [\"nowhere\"]\n"),
            ("unit/test_a.py", "def test_a(): pass\n"),
            ("unit/left/test_b.py", "def test_b(): pass\n"),
            ("unit/test_c_slow.py", "def test_c(): pass\n"),
            ("single.py", "def test_single(): pass\n"),
            ("test_d.py", "def test_d(): pass\n"),
        ],
    ),
    (
        "empty_ini",
        &[
            ("pytest.ini", ""),
            ("tox.ini", "[pytest]\ntestpaths = none\n"),
            ("a/test_a.py", "def test_a(): pass\n"),
        ],
    ),
    (
        "tox",
        &[
            ("tox.ini", "[tox]\nx = 1\n\n[pytest]\npython_files = t_*.py\n"),
            ("t_a.py", "def test_a(): pass\n"),
            ("test_b.py", "def test_b(): pass\n"),
        ],
    ),
    (
        "cfg",
        &[
            ("setup.cfg", "[metadata]\nname = x\n\n[tool:pytest]\ntestpaths = a b\n"),
            ("a/test_a.py", "def test_a(): pass\n"),
            ("b/test_b.py", "def test_b(): pass\n"),
            ("c/test_c.py", "def test_c(): pass\n"),
        ],
    ),
    (
        "no_such_path",
        &[("pytest.ini", "[pytest]\ntestpaths = gone\n"), ("a/test_a.py", "def test_a(): pass\n")],
    ),
    (
        "ignored",
        &[
            (
                "conftest.py",
                "import sys\n\ncollect_ignore = [\"setup_test.py\", \"skipped\"]\ncollect_ignore_glob = [\"*_py2.py\"]\nif sys.version_info < (2, 0):\n    collect_ignore.append(\"test_a.py\")\n",
            ),
            ("setup_test.py", "def test_s(): pass\n"),
            ("skipped/test_b.py", "def test_b(): pass\n"),
            ("a/test_c_py2.py", "def test_c(): pass\n"),
            ("a/test_d.py", "def test_d(): pass\n"),
            ("test_a.py", "def test_a(): pass\n"),
        ],
    ),
    (
        "left_out",
        &[
            ("test_a.py", "def test_a(): pass\n"),
            (".hidden/test_b.py", "def test_b(): pass\n"),
            ("build/test_c.py", "def test_c(): pass\n"),
            ("node_modules/x/test_d.py", "def test_d(): pass\n"),
            ("myenv/pyvenv.cfg", "home = /usr\n"),
            ("myenv/test_e.py", "def test_e(): pass\n"),
            ("a.egg/test_f.py", "def test_f(): pass\n"),
            ("notes/test_g.txt", "def test_g(): pass\n"),
        ],
    ),
    (
        "path",
        &[
            ("pyproject.toml", "[tool.pytest.ini_options]\npythonpath = [\"lib\"]\n"),
            (
                "lib/cases.py",
                "import unittest\nclass Shared(unittest.TestCase):\n    def test_shared(self): pass\n",
            ),
            ("tests/helpers.py", "class Common:\n    def test_common(self): pass\n"),
            (
                "tests/test_a.py",
                "import cases\nfrom helpers import Common\n\nclass TestA(Common): pass\nclass B(cases.Shared): pass\n",
            ),
        ],
    ),
    (
        "module_off",
        &[
            ("test_a.py", "__test__ = False\n\ndef test_a(): pass\n"),
            (
                "test_b.py",
                "class TestB:\n    def setup_method(self): pass\n    def test_b(self): pass\n",
            ),
        ],
    ),
];

fn ids(found: &Value) -> BTreeSet<String> {
    let files = found["files"].as_array().expect("files").iter();
    let of_file = |file: &Value| -> Vec<String> {
        let path = file["path"].as_str().expect("a path").to_owned();
        let tests = file["tests"].as_array().expect("tests").iter();
        let tests = tests.filter(|it| it["isGroup"] != true);
        tests.map(|it| format!("{path}::{}", it["name"].as_str().expect("a name"))).collect()
    };
    files.flat_map(of_file).collect()
}

fn found(client: &mut Client, params: Value) -> BTreeSet<String> {
    ids(&call(client, "findTests", params))
}

/// Returns ids without the parameters of cases.
fn functions(ids: &Value) -> BTreeSet<String> {
    let ids = ids.as_array().expect("ids").iter();
    let text = ids.map(|it| it["id"].as_str().or(it.as_str()).expect("an id"));
    text.map(|it| it.split('[').next().unwrap_or(it).to_owned()).collect()
}

fn written(world: &World, (name, files): &Layout) {
    for (path, text) in *files {
        world.write(&format!("{name}/{path}"), text);
    }
    // Marks the folder as a project; without a section for pytest.
    if !files.iter().any(|(path, _)| ["pytest.ini", "pyproject.toml"].contains(path)) {
        world.write(&format!("{name}/setup.py"), "");
    }
}

#[test]
fn the_tests_in_the_sources_are_those_that_pytest_collects() {
    let world = World::new();
    PYTEST.iter().for_each(|it| written(&world, it));
    let mut client = editor(&world, Value::Null);
    for (name, _) in PYTEST {
        let params = json!({ "root": name, "sandbox": "local", "arguments": ["--collect-only"] });
        let run = call(&mut client, "runTests", params);
        let collected = functions(&run["notRun"]);
        assert!(!collected.is_empty(), "{name}: {run}");
        assert_eq!(found(&mut client, json!({ "root": name })), collected, "{name}");
    }
}

#[test]
fn the_tests_in_the_sources_are_those_that_unittest_runs() {
    let world = World::new();
    let case = "import unittest\n\nclass Case(unittest.TestCase):\n    def test_a(self): pass\n";
    let layout: Layout = (
        "plain",
        &[
            (
                "test_top.py",
                "import unittest\n\ndef test_f(): pass\nclass TestA:\n    def test_a(self): pass\nclass Case(unittest.IsolatedAsyncioTestCase):\n    async def test_c(self): pass\n",
            ),
            ("pack/__init__.py", ""),
            ("pack/testing.py", "from test_top import Case\n"),
        ],
    );
    written(&world, &layout);
    world.write("plain/loose/test_loose.py", case);
    world.write("plain/pack/test_in.py", case);
    let mut client = editor(&world, Value::Null);
    let params = json!({ "root": "plain", "framework": "unittest" });
    let there = found(&mut client, params.clone());
    let run = json!({ "root": "plain", "framework": "unittest", "sandbox": "local" });
    let ran = call(&mut client, "runTests", run);
    // An imported class runs once more, under the file that defines it.
    let expected = functions(&ran["tests"]);
    let defined: BTreeSet<String> =
        there.iter().filter(|it| !it.starts_with("pack/testing.py")).cloned().collect();
    assert_eq!(defined, expected, "{ran}");
}

#[test]
fn places_are_those_of_definitions_and_unsaved_texts_count() {
    let world = World::new();
    world.write("setup.py", "");
    world.write("base.py", "class Base:\n\n    def test_b(self):\n        pass\n");
    let text = "from base import Base\n\nclass TestA(Base):\n    @mark.parametrize('x', [1])\n    def test_a(self):\n        pass\n";
    let file = world.write("test_a.py", text);
    let mut client = editor(&world, Value::Null);
    let expected = json!([
        { "name": "TestA", "isGroup": true, "line": 3, "endLine": 6 },
        { "name": "TestA::test_a", "hasCases": true, "line": 5, "endLine": 6 },
        { "name": "TestA::test_b", "path": "base.py", "line": 3, "endLine": 4 },
    ]);
    assert_eq!(call(&mut client, "findTests", json!({}))["files"][0]["tests"], expected);
    let uri = format!("file://{}", file.canonicalize().expect("a file").display());
    let document = json!({ "uri": uri, "languageId": "python", "version": 1, "text": "def test_new(): ...\n" });
    client.notify("textDocument/didOpen", json!({ "textDocument": document }));
    let only = json!({ "paths": ["test_a.py"] });
    assert_eq!(found(&mut client, only), BTreeSet::from(["test_a.py::test_new".to_owned()]));
    let gone = found(&mut client, json!({ "paths": ["gone.py"] }));
    assert_eq!(gone, BTreeSet::new());
}

#[test]
fn nothing_is_executed_and_broken_files_have_no_tests() {
    let world = World::new();
    world.write("setup.py", "raise SystemExit\n");
    world.write("conftest.py", "open('executed', 'w')\n");
    world.write("test_a.py", "open('executed', 'w')\n\ndef test_a(): pass\n");
    world.write("test_b.py", "def test_b(:\n");
    let mut client = editor(&world, json!({ "trusted": false }));
    assert_eq!(found(&mut client, json!({})), BTreeSet::from(["test_a.py::test_a".to_owned()]));
    assert_eq!(call(&mut client, "findTests", json!({}))["invalid"], json!(["test_b.py"]));
    assert!(fs::metadata(world.root().join("executed")).is_err());
    let refused = client.request("trellis/runTests", json!({}), patience());
    assert!(refused.is_err());
}
