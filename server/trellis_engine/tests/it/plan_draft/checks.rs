//! Problems of each part, as the model gets them back.

use serde_json::{Value, json};
use trellis_engine::plan_draft::{
    Action, DraftOptions, Features, Interface, Layout, Part, Surroundings,
};

use super::{
    EXAMPLE, asked, basket, features, fenced, finished, function, good, layout, play, prices,
    review, sentences,
};

/// Returns the problems of a file whose text this is; it may use `lists/prices.py`.
fn problems(path: &str, text: &str, libraries: &[&str]) -> Vec<String> {
    let libraries: Vec<String> = libraries.iter().map(|it| (*it).to_owned()).collect();
    let header = "def read_prices(lines: list[str]) -> dict[str, int]";
    let text_of_prices =
        format!("LIMIT = 3\n\n\n{}", function(header, &["read_prices([]) == {}"], "2", ""));
    let prices = Interface::read("lists/prices.py", &text_of_prices).expect("Python");
    let interface = Interface::read(path, text).expect("Python");
    interface.problems(&Surroundings {
        package: "shopping",
        sentences: &sentences(),
        libraries: &libraries,
        others: &[&prices],
    })
}

fn total(uses: &str) -> String {
    function("def total(articles: list[str]) -> int", &["total([]) == 0"], "3", uses)
}

fn only(found: &[String], why: &str) {
    assert_eq!(found.len(), 1, "{why}: {found:?}");
    assert!(found[0].contains(why), "{why}: {found:?}");
}

#[test]
fn imports_lead_to_files_of_the_layout_libraries_and_python() {
    for fitting in [
        "from shopping.lists.prices import LIMIT, read_prices",
        "from shopping.lists import prices",
        "import shopping.lists.prices",
        "from .lists.prices import read_prices",
        "from __future__ import annotations\nfrom typing import Any\nimport datetime as dt",
        "import yaml",
    ] {
        let text = format!("{fitting}\n\n\n{}", total(""));
        assert_eq!(problems("basket.py", &text, &["PyYAML"]), Vec::<String>::new(), "{fitting}");
    }
    for (wrong, why) in [
        ("from shopping.stock import load", "the layout does not let this file use that module"),
        ("import shopping.stock", "the layout does not let this file use that module"),
        ("from shopping.basket import other", "the layout does not let this file use that module"),
        ("from shopping.lists.prices import load", "lists/prices.py has no `load`"),
        ("from shopping.lists.prices import *", "import each name by itself"),
        ("from ...prices import load", "it leads out of the package"),
        ("from typing import Basket", "`typing` has no `Basket`"),
        ("import yaml", "neither in Python's standard library nor in the layout's libraries"),
    ] {
        only(&problems("basket.py", &format!("{wrong}\n\n\n{}", total("")), &[]), why);
    }
}

#[test]
fn types_exist_also_in_quotes() {
    for known in ["list[int]", "\"list[int]\"", "list[\"Basket\"]", "typing.Literal[\"a\"]"] {
        let header = format!("def total(articles: {known}) -> int");
        let class = "import typing\n\n\nclass Basket:\n    \"\"\"Articles.\n\n    Serves: 3\n    \"\"\"\n\n\n";
        let text = format!("{class}{}", function(&header, &["total(*[]) == 0"], "3", ""));
        assert_eq!(problems("a.py", &text, &[]), Vec::<String>::new(), "{known}");
    }
    for unknown in ["Stock", "\"Stock\"", "list[\"Stock | None\"]"] {
        let text =
            function(&format!("def total(it: {unknown}) -> int"), &["total(*[]) == 0"], "3", "");
        only(&problems("a.py", &text, &[]), "`Stock` is neither defined nor imported");
    }
}

#[test]
fn names_are_defined_once() {
    let class = "class total:\n    \"\"\"A total.\n\n    Serves: 3\n    \"\"\"\n\n\n";
    for first in [class, &total("")] {
        only(&problems("a.py", &format!("{first}{}", total("")), &[]), "`total` is defined twice");
    }
    // A setter completes its property.
    let property = "class Basket:\n    \"\"\"Articles.\n\n    Serves: 3\n    \"\"\"\n\n    @property\n    def size(self) -> int:\n        \"\"\"Return it.\n\n        Serves: 3\n        \"\"\"\n        ...\n\n    @size.setter\n    def size(self, value: int) -> None:\n        ...\n";
    assert_eq!(problems("a.py", property, &[]), Vec::<String>::new());
}

#[test]
fn definitions_of_a_file_do_not_need_each_other_in_a_circle() {
    let one = function("def one(x: int) -> int", &["one(1) == 1"], "3", "two");
    let two = |uses| function("def two(x: int) -> int", &["two(1) == 1"], "3", uses);
    let circle = "these use each other in a circle: `one`, `two`";
    only(&problems("a.py", &format!("{one}\n\n{}", two("one")), &[]), circle);
    only(&problems("a.py", &format!("{one}\n\n{}", two("a.one")), &[]), circle);
    // A recursive function is none.
    assert_eq!(problems("a.py", &format!("{one}\n\n{}", two("two")), &[]), Vec::<String>::new());
    // Special methods are written together with their class.
    let class = "class Basket:\n    \"\"\"Articles.\n\n    Serves: 3\n    \"\"\"\n\n    def __init__(self) -> None:\n        \"\"\"Begin.\n\n        Serves: 3\n        Uses: two\n        \"\"\"\n        ...\n\n\n";
    let circle = "these use each other in a circle: `Basket`, `two`";
    only(&problems("a.py", &format!("{class}{}", two("Basket")), &[]), circle);
}

#[test]
fn sizes_have_limits_that_are_stated() {
    let functions = |count: usize| -> String {
        let one = |at| {
            function(&format!("def f{at}(x: int) -> int"), &[&format!("f{at}(1) == 1")], "3", "")
        };
        (0..count).map(one).collect()
    };
    assert_eq!(problems("a.py", &functions(60), &[]), Vec::<String>::new());
    only(&problems("a.py", &functions(61), &[]), "it has 61 definitions; 60 are the most");
    let header = "def total(articles: list[str]) -> int";
    let nine = function(header, &["total([]) == 0"; 9], "3", "");
    only(&problems("a.py", &nine, &[]), "it has 9 examples; 8 are the most");
    let long = format!("total(['{}']) == 0", "a".repeat(600));
    only(
        &problems("a.py", &function(header, &[&long], "3", ""), &[]),
        "it is longer than 500 bytes",
    );
    only(&problems("a.py", "LIMIT = 3\n", &[]), "it has no function and no class");
}

fn layout_of(paths: &[&str], libraries: &[&str]) -> String {
    let files: Vec<Value> =
        paths.iter().map(|it| json!({ "path": it, "features": ["1.1", "2"] })).collect();
    json!({ "files": files, "libraries": libraries }).to_string()
}

/// A part that no plan can be made of ends the draft, however often the model repeats it.
#[test]
fn names_and_paths_that_cannot_be_used_are_refused_with_the_reason() {
    let packages = [
        ("json", "a name of Python's standard library"),
        ("pytest", "the name of a package that others install"),
        ("yaml", "the name of a package that others install"),
        ("tests", "the name of a folder of every project"),
        ("../evil", "not a Python name in lower case"),
        ("Basket", "not a Python name in lower case"),
        ("class", "not a Python name in lower case"),
    ];
    for (package, why) in packages {
        let replies = vec![features(package, &[1]); 3];
        refused(&replies, &Part::Features, why);
    }
    let paths = [
        ("../x.py", "leads upwards with `..`"),
        ("/etc/x.py", "is absolute"),
        ("C:/x.py", "starts with a drive letter"),
        ("a\\b.py", "has a backslash"),
        (".git/x.py", "is in git's own folder"),
        ("x.txt", "does not end with .py"),
        ("my-file.py", "not Python names in lower case"),
        ("json.py", "`json` is a module of Python's standard library"),
        ("io/prices.py", "`io` is a module of Python's standard library"),
        ("a/__init__.py", "leave out `__init__.py`"),
        ("test_a.py", "would be taken for a test"),
        ("", "does not end with .py"),
    ];
    for (path, why) in paths {
        let reply = fenced("json", &layout_of(&[path], &[]));
        let replies = [vec![features("shopping", &[1])], vec![reply; 3]].concat();
        refused(&replies, &Part::Layout, why);
    }
    for (library, why) in [("--index-url=x", "is not the name of"), ("json", "belongs to Python")] {
        let reply = fenced("json", &layout_of(&["a.py"], &[library]));
        let replies = [vec![features("shopping", &[1])], vec![reply; 3]].concat();
        refused(&replies, &Part::Layout, why);
    }
}

/// Asserts that a part went back twice with its problem, and that the draft then ended with it.
#[track_caller]
fn refused(replies: &[String], part: &Part, why: &str) {
    let actions = play(DraftOptions::default(), replies);
    let requests = asked(&actions, part);
    assert_eq!(requests.len(), 3, "{why}");
    assert!(requests[1].contains(why), "{why}: {}", requests[1]);
    match actions.last() {
        Some(Action::GaveUp { part: last, why: shown }) => {
            assert_eq!(last, part);
            assert!(shown.contains(why), "{why}: {shown}");
        }
        other => panic!("{why}: {other:?}"),
    }
}

#[test]
fn replies_of_any_size_are_refused_with_the_limit() {
    let leaf = |at: usize| json!({ "name": format!("f{at}"), "sentences": [2] });
    let all: Vec<Value> = (0..10_000).map(leaf).collect();
    let many = json!({ "package": "shopping", "features": all, "background": [1] }).to_string();
    refused(
        &vec![fenced("json", &many); 3],
        &Part::Features,
        "there are 10000 features; 400 are the most",
    );
    let names: Vec<String> = (0..10_000).map(|it| format!("f{it}.py")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let many = fenced("json", &layout_of(&names, &[]));
    let replies = [vec![features("shopping", &[1])], vec![many; 3]].concat();
    refused(&replies, &Part::Layout, "there are 10000 files; 300 are the most");
    let many: String = (0..1_000).map(|it| format!("def f{it}() -> None: ...\n")).collect();
    let begin = vec![features("shopping", &[1]), layout(&[], &["2"])];
    let replies = [begin, vec![fenced("python", &many); 3]].concat();
    let file = Part::Interface("lists/prices.py".to_owned());
    refused(&replies, &file, "it has 1000 definitions; 60 are the most");
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    refused(&vec![fenced("json", &deep); 3], &Part::Features, "cannot be read");
}

#[test]
fn a_question_lists_the_first_problems_and_counts_the_others() {
    let header = |at| format!("def f{at}(x: int) -> int");
    let wrong: String = (0..50).map(|at| function(&header(at), &["1 +"], "2", "")).collect();
    let mut replies = good().to_vec();
    replies.insert(2, fenced("python", &wrong));
    let actions = play(DraftOptions::default(), &replies);
    let requests = asked(&actions, &Part::Interface("lists/prices.py".to_owned()));
    assert!(requests[1].contains("- and 10 more\n"), "{}", requests[1]);
}

#[test]
fn the_list_of_libraries_does_not_have_the_package_itself() {
    let text = layout_of(&["a.py"], &["Shopping"]);
    let layout: Layout = serde_json::from_str(&text).expect("a layout");
    let features: Features = serde_json::from_value(json!({
        "package": "shopping",
        "features": [{ "name": "a", "features": [{ "name": "b" }] }, { "name": "c" }],
    }))
    .expect("features");
    only(&layout.problems(&features), "has the name of the package");
}

/// The review makes the model rename a function that another file uses.
#[test]
fn a_file_is_asked_for_again_if_the_review_changed_what_it_uses() {
    let finding = json!([{ "file": "lists/prices.py", "problem": "Name it load_prices." }]);
    let renamed = prices().replace("read_prices", "load_prices");
    let mut replies = good().to_vec();
    replies[4] = review(&finding);
    replies.push(renamed);
    replies.push(basket("lists.prices.load_prices", EXAMPLE).replace("read_prices", "load_prices"));
    let actions = play(DraftOptions::default(), &replies);
    let requests = asked(&actions, &Part::Interface("basket.py".to_owned()));
    assert!(requests[1].contains("lists/prices.py has no `read_prices`"), "{}", requests[1]);
    assert_eq!(finished(&actions).problems, []);
}
