//! Tests that a change affects, by what they executed when they ran last.

mod loaded_code;
mod records;
mod used_files;

use std::fs;

use ::lsp::Client;
use serde_json::{Value, json};

use crate::runs::{call, editor, ended, result, start};
use crate::world::World;

const CART: &str = "\
from shop.tax import rate

FREE_FROM = 100


def total(prices):
    return sum(prices)


def shipping(prices):
    return 0 if total(prices) >= FREE_FROM else rate(5)
";

const TAX: &str = "\
import functools


def base():
    return 1


@functools.cache
def rate(price):
    return price + base()
";

const TESTS: &str = "\
import subprocess
import sys

import pytest

from shop.cart import shipping, total


@pytest.fixture(scope='module')
def prices():
    return made(3)


def made(count):
    return [1] * count


def test_total(prices):
    assert total(prices) == 3


def test_shipping():
    assert shipping([1]) == 6


def test_free():
    assert shipping([100]) == 0


@pytest.mark.parametrize('case', [1, 2])
def test_case(case):
    assert case
";

/// A project below `p`, and an editor that asks for its tests.
pub(crate) struct Project {
    pub(crate) world: World,
    pub(crate) client: Client,
}

impl Project {
    pub(crate) fn shop() -> Project {
        Project::of(&[
            ("pytest.ini", "[pytest]\n"),
            ("shop/__init__.py", ""),
            ("shop/cart.py", CART),
            ("shop/tax.py", TAX),
            ("shop/alone.py", "X = 1\n"),
            ("tests/test_cart.py", TESTS),
            ("tests/test_data.py", "def test_data():\n    assert open('data.csv').read() == '1'\n"),
            ("data.csv", "1"),
            ("README.md", "A shop.\n"),
        ])
    }

    fn of(files: &[(&str, &str)]) -> Project {
        let world = World::new();
        for (path, text) in files {
            world.write(&format!("p/{path}"), text);
        }
        Project::in_world(world)
    }

    pub(crate) fn in_world(world: World) -> Project {
        let client = editor(&world, Value::Null);
        Project { world, client }
    }

    fn write(&self, path: &str, text: &str) {
        self.world.write(&format!("p/{path}"), text);
    }

    /// Replaces a part of a file.
    pub(crate) fn edit(&self, path: &str, from: &str, to: &str) {
        let text = self.world.read(&format!("p/{path}"));
        assert!(text.contains(from), "{text}");
        self.write(path, &text.replacen(from, to, 1));
    }

    fn answer(&mut self, paths: &[&str]) -> Value {
        call(&mut self.client, "affectedTests", json!({ "root": "p", "paths": paths }))
    }

    pub(crate) fn affected(&mut self, paths: &[&str]) -> Vec<String> {
        texts(&self.answer(paths)["tests"])
    }

    /// Runs the tests, all if none are named, and records what they execute.
    pub(crate) fn run(&mut self, paths: &[String]) -> Value {
        self.run_with(paths, &[])
    }

    fn run_with(&mut self, paths: &[String], arguments: &[&str]) -> Value {
        let job = self.begin(paths, arguments);
        ended(&mut self.client, &job);
        result(&mut self.client, &job)
    }

    fn begin(&mut self, paths: &[String], arguments: &[&str]) -> String {
        let params = json!({
            "root": "p", "paths": paths, "arguments": arguments, "recordExecution": true,
            "sandbox": "local", "background": true,
        });
        start(&mut self.client, "runTests", params)
    }

    /// Runs the affected tests until none are left, and returns those of the first run.
    fn settle(&mut self, paths: &[&str]) -> Vec<String> {
        let affected = self.affected(paths);
        self.run(&affected);
        assert_eq!(self.affected(paths), Vec::<String>::new(), "after a run");
        affected
    }
}

fn texts(all: &Value) -> Vec<String> {
    let all = all.as_array().expect("texts").iter();
    all.map(|it| it.as_str().expect("a text").to_owned()).collect()
}

const CART_TESTS: &str = "tests/test_cart.py";
const DATA_TESTS: &str = "tests/test_data.py";
pub(crate) const TOTAL: &str = "tests/test_cart.py::test_total";
pub(crate) const SHIPPING: &str = "tests/test_cart.py::test_shipping";
pub(crate) const FREE: &str = "tests/test_cart.py::test_free";

#[test]
fn a_change_affects_the_tests_that_met_what_changed() {
    let mut project = Project::shop();
    assert_eq!(project.affected(&["shop/cart.py"]), [CART_TESTS], "by imports");
    assert_eq!(project.settle(&[]), [CART_TESTS, DATA_TESTS], "everything, before the first run");

    project.edit("shop/cart.py", "return sum(prices)", "return sum(list(prices))");
    assert_eq!(project.settle(&["shop/cart.py"]), [FREE, SHIPPING, TOTAL]);
    project.edit("shop/cart.py", "return 0 if", "return 0.0 if");
    let answer = project.answer(&["shop/cart.py"]);
    assert_eq!(answer["changed"], json!([{ "path": "shop/cart.py", "function": "shipping" }]));
    assert_eq!(project.settle(&["shop/cart.py"]), [FREE, SHIPPING]);
    project.edit("tests/test_cart.py", "assert total(prices) == 3", "assert 3 == total(prices)");
    assert_eq!(project.settle(&["tests/test_cart.py"]), [TOTAL]);

    // Comments, documents and modules that nothing loads affect no test.
    project.edit("shop/cart.py", "FREE_FROM = 100", "FREE_FROM = 100  # euros");
    project.edit("README.md", "shop", "store");
    project.edit("shop/alone.py", "1", "2");
    let paths = ["shop/cart.py", "README.md", "shop/alone.py"];
    assert_eq!(project.affected(&paths), Vec::<String>::new());

    // Code that runs when a module is loaded concerns all that load it.
    project.edit("shop/tax.py", "import functools", "import functools\nLIMIT = 1");
    assert_eq!(project.settle(&["shop/tax.py"]), [CART_TESTS]);
    // What a fixture of a module does concerns all tests of the module.
    project.edit("tests/test_cart.py", "[1] * count", "[1 for _ in range(count)]");
    assert_eq!(project.settle(&["tests/test_cart.py"]), [CART_TESTS]);
    project.edit("data.csv", "1", "2");
    assert_eq!(project.affected(&["data.csv"]), [format!("{DATA_TESTS}::test_data")]);
    project.write("tests/conftest.py", "import pytest\n");
    assert_eq!(project.affected(&["tests/conftest.py"]), [CART_TESTS, DATA_TESTS]);
}

#[test]
fn a_function_that_a_cached_one_calls_concerns_all_that_may_have_taken_the_result() {
    let mut project = Project::shop();
    project.run(&[]);
    project.edit("shop/tax.py", "return 1", "return 2");
    assert_eq!(project.affected(&["shop/tax.py"]), [CART_TESTS]);
}

#[test]
fn new_renamed_and_deleted_files_are_met() {
    let mut project = Project::shop();
    project.settle(&[]);
    project.write(
        "tests/test_new.py",
        "from shop import alone\n\ndef test_new():\n    assert alone.X == 1\n",
    );
    assert_eq!(project.settle(&["tests/test_new.py"]), ["tests/test_new.py"]);
    project.edit("shop/alone.py", "1", "2");
    assert_eq!(project.affected(&["shop/alone.py"]), ["tests/test_new.py"]);

    let root = project.world.root().join("p");
    fs::rename(root.join(DATA_TESTS), root.join("tests/test_other.py")).expect("renamed");
    let paths = [DATA_TESTS, "tests/test_other.py"];
    assert_eq!(project.affected(&paths), ["tests/test_other.py"]);
    fs::remove_file(root.join("shop/alone.py")).expect("removed");
    assert_eq!(project.affected(&["shop/alone.py"]), ["tests/test_new.py", "tests/test_other.py"]);
    // Tests that fail have met what they executed as well.
    let report = project.run(&[]);
    assert_eq!(report["outcome"], "collectionError", "{report:#}");
    project.edit("shop/cart.py", "return sum(prices)", "return sum(list(prices))");
    let affected = project.affected(&["shop/cart.py"]);
    assert_eq!(affected, [FREE, SHIPPING, TOTAL]);
    assert_eq!(project.affected(&[]), ["tests/test_new.py", FREE, SHIPPING, TOTAL]);
}

#[test]
fn a_new_test_runs_with_its_file() {
    let mut project = Project::shop();
    project.settle(&[]);
    project.edit(
        "tests/test_data.py",
        "def test_data",
        "def test_more():\n    assert 1\n\ndef test_data",
    );
    assert_eq!(project.settle(&[DATA_TESTS]), [DATA_TESTS]);
    project.edit("tests/test_data.py", "assert 1", "assert 2");
    assert_eq!(project.affected(&[DATA_TESTS]), [format!("{DATA_TESTS}::test_more")]);
}

#[test]
fn tests_that_need_a_module_with_a_syntax_error_wait_for_it() {
    let mut project = Project::shop();
    project.settle(&[]);
    project.edit("shop/cart.py", "return sum(prices)", "return sum(prices");
    project.edit("data.csv", "1", "2");
    let answer = project.answer(&["shop/cart.py", "data.csv"]);
    assert_eq!(texts(&answer["tests"]), [format!("{DATA_TESTS}::test_data")]);
    assert_eq!(answer["broken"][0]["path"], "shop/cart.py");
    assert_eq!(answer["broken"][0]["line"], 7, "{answer:#}");
    assert_eq!(texts(&answer["held"]).len(), 5);
    project.edit("shop/cart.py", "return sum(prices", "return sum([*prices])");
    assert_eq!(project.affected(&["shop/cart.py"]), [FREE, SHIPPING, TOTAL]);
}

#[test]
fn a_result_of_a_run_without_a_record_is_not_taken_for_one_of_the_present_code() {
    let mut project = Project::shop();
    project.settle(&[]);
    project.edit("data.csv", "1", "2");
    let params = json!({ "root": "p", "sandbox": "local", "background": true });
    let run = |project: &mut Project| {
        let job = start(&mut project.client, "runTests", params.clone());
        ended(&mut project.client, &job);
    };
    run(&mut project);
    project.edit("data.csv", "2", "1");
    let data = format!("{DATA_TESTS}::test_data");
    assert_eq!(project.settle(&["data.csv"]), [data]);
    // The same code once more: the records hold.
    run(&mut project);
    assert_eq!(project.affected(&[]), Vec::<String>::new());
}

#[test]
fn examples_in_documents_and_docstrings_are_tests_of_their_files() {
    let mut project = Project::shop();
    project.write("pytest.ini", "[pytest]\naddopts = --doctest-glob=*.md --doctest-modules\n");
    project.write("guide.md", ">>> 1 + 1\n2\n");
    project.write("shop/alone.py", "def f():\n    \"\"\"\n    >>> 1 + 1\n    2\n    \"\"\"\n");
    project.run(&[]);
    project.edit("guide.md", "1 + 1", "2 + 0");
    assert_eq!(project.settle(&["guide.md"]), ["guide.md"]);
    project.edit("shop/alone.py", "1 + 1", "2 + 0");
    // Examples in a document may import anything.
    assert_eq!(project.affected(&["shop/alone.py"]), ["guide.md", "shop/alone.py"]);
}

#[test]
fn a_test_that_starts_processes_depends_on_all_code() {
    let mut project = Project::shop();
    let test = "import subprocess, sys\n\ndef test_main():\n    subprocess.run([sys.executable, '-m', 'shop.alone'], check=True)\n";
    project.write("tests/test_main.py", test);
    project.settle(&[]);
    project.edit("shop/alone.py", "1", "2");
    assert_eq!(project.affected(&["shop/alone.py"]), ["tests/test_main.py::test_main"]);
}

#[test]
fn what_tests_execute_is_known_after_a_restart() {
    let mut project = Project::shop();
    project.settle(&[]);
    let Project { world, client } = project;
    drop(client);
    let client = editor(&world, Value::Null);
    let mut project = Project { world, client };
    assert_eq!(project.affected(&[]), Vec::<String>::new());
    project.edit("shop/cart.py", "return 0 if", "return 0.0 if");
    assert_eq!(project.affected(&["shop/cart.py"]), [FREE, SHIPPING]);
}
