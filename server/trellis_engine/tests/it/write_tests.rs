//! Tests of writing tests for existing functions: prompts, replies, and files that people edit as
//! well.

use std::collections::BTreeMap;

use trellis_engine::write_tests::{
    MergedTestFile, PreviousTests, Sample, Style, Subject, ask_write_tests, insert_tests, samples,
    written_tests,
};
use trellis_python::{Fragment, Functions};

const CART: &str = "class Cart:\n    class Line:\n        async def total(self): ...\n\n\ndef add(a: int, b: int) -> int:\n    \"\"\"Sum.\"\"\"\n    return a + b\n";

fn subject(name: &str, style: Style) -> Subject {
    let all = Functions::of(CART).functions;
    let function = all.iter().find(|it| it.qualified_name == name).expect("a function");
    Subject {
        item: Subject::item(function, "shop/cart.py", "shop.cart", "trellis_tests/test_cart.py"),
        qualified_name: function.qualified_name.clone(),
        source: function.source.clone(),
        class_source: String::new(),
        is_async: function.is_async,
        style,
        imports: vec!["import time".to_owned()],
        used: vec!["In `shop/cart.py`:\n```python\nRATE = 2\n```\n".to_owned()],
        existing: vec!["def test_add():\n    assert add(1, 2) == 3".to_owned()],
        outside: Vec::new(),
        dependencies: Vec::new(),
        fixtures: vec!["`shop(tmp_path)`: a shop".to_owned()],
        samples: vec!["def test_x():\n    assert True".to_owned()],
        conventions: vec!["Be short.".to_owned()],
    }
}

fn question(subject: &Subject, complaint: Option<(&str, &str)>) -> String {
    ask_write_tests(subject, complaint, 0).prompt.messages(4000)[1].text.clone()
}

#[test]
fn a_question_shows_the_function_and_how_the_project_tests() {
    let asked = question(&subject("add", Style::Pytest), None);
    for words in [
        "return a + b",
        "`import time`",
        "`shop(tmp_path)`: a shop",
        "def test_x():",
        "- Be short.",
        "Write pytest tests for `add`",
        "`from shop.cart import add`",
        "RATE = 2",
        "Tests that exist for it: add what they miss\n```python\ndef test_add():",
        "Write them as the project's tests above are written",
    ] {
        assert!(asked.contains(words), "`{words}` is missing in:\n{asked}");
    }
    assert!(!asked.contains("asynchronous") && !asked.contains("mocks"), "{asked}");
    let alone = Subject { samples: vec![], existing: vec![], ..subject("add", Style::Pytest) };
    let asked = question(&alone, None);
    assert!(
        asked.contains("`test_add_<situation>`") && !asked.contains("above are written"),
        "{asked}"
    );
    let again = question(&subject("add", Style::Pytest), Some(("line 3: no", "old text")));
    assert!(again.contains("sent back\nline 3: no") && again.contains("old text"), "{again}");
}

#[test]
fn asynchronous_code_and_what_reaches_outside_are_tested_as_the_project_can() {
    for (style, dependencies, words) in [
        (Style::Pytest, vec!["pytest-asyncio"], "`@pytest.mark.asyncio`"),
        (Style::Pytest, vec!["anyio"], "`@pytest.mark.anyio`"),
        (Style::Pytest, vec![], "`asyncio.run`"),
        (Style::Unittest, vec!["anyio"], "`unittest.IsolatedAsyncioTestCase`"),
    ] {
        let mut subject = subject("Cart.Line.total", style);
        subject.dependencies = dependencies.into_iter().map(str::to_owned).collect();
        subject.outside = vec!["`time.time` (clock)".to_owned()];
        let asked = question(&subject, None);
        assert!(asked.contains(words), "{words}: {asked}");
        assert!(asked.contains("`from shop.cart import Cart`"), "{asked}");
        assert!(asked.contains("- `time.time` (clock)"), "{asked}");
        assert!(asked.contains("`shop.cart.<name>`"), "{asked}");
    }
}

#[test]
fn replies_hold_tests_or_the_reason_why_not() {
    let fenced = |code: &str| format!("Here:\n```python\n{code}\n```\n");
    let good = "def test_a():\n    assert add(1, 2) == 3";
    for (style, reply, expected) in [
        (Style::Pytest, fenced(good), Ok(1)),
        (Style::Pytest, "I would rather not.".to_owned(), Err("the reply holds no Python code")),
        (Style::Pytest, fenced("def test_a(:\n    add()"), Err("syntax error: line 1")),
        (Style::Pytest, fenced("print(add(1, 2))"), Err("there is no test in it")),
        (Style::Pytest, format!("```python\n{good}"), Err("the code has no end")),
        (Style::Pytest, format!("```\n{good}\n"), Err("the code has no end")),
        (Style::Pytest, format!("{}{}", fenced("def test_a():\n    add()"), fenced(good)), Ok(1)),
        (Style::Pytest, format!("x.py\n<<<<<<< SEARCH\n{good}"), Err("has no end")),
        (Style::Pytest, fenced("def test_a():\n    assert 3"), Err("the tests never use `add`")),
        (Style::Pytest, fenced(&format!("import _pytest\n{good}")), Err("pytest's internals")),
        (Style::Unittest, fenced(good), Err("does not run the function `test_a`")),
        (
            Style::Unittest,
            fenced(
                "import pytest, unittest\nclass TestAdd(unittest.TestCase):\n    def test_a(self): add(1, 2)",
            ),
            Err("pytest cannot be imported"),
        ),
        (
            Style::Unittest,
            fenced(
                "import unittest\nclass TestAdd(unittest.TestCase):\n    def test_a(self): add(1, 2)\n    def test_b(self): add(2, 2)",
            ),
            Ok(2),
        ),
    ] {
        let found = written_tests(&subject("add", style), &reply);
        match (&found, expected) {
            (Ok(found), Ok(cases)) => {
                assert_eq!(found.cases, cases, "{reply}");
                assert!(found.fragment.to_source().contains("from shop.cart import add"));
                assert!(found.too_few().is_some_and(|it| it.contains("at least 3")), "{reply}");
            }
            (Err(why), Err(words)) => assert!(why.contains(words), "{why} for {reply}"),
            _ => panic!("{found:?} for {reply}"),
        }
    }
}

/// Returns the text itself in place of a hash, readable in assertions.
fn hash(text: &str) -> String {
    text.to_owned()
}

fn put(
    existing: &str,
    new: &str,
    earlier: &BTreeMap<String, String>,
    edited: bool,
) -> MergedTestFile {
    let earlier = PreviousTests { items: earlier, hash: &hash, replace_edited: edited };
    let fragment = Fragment::parse(new).expect("Python");
    insert_tests(existing, &fragment, earlier, "add", &|name| name == "shop").expect("it fits")
}

const PERSON: &str = "# by hand\nimport os\nfrom shop.cart import Cart\n\nLIMIT = 3   # odd  spacing\n\n\ndef test_mine( ):\n    x=1\n    assert Cart\n";
const FIRST: &str = "import pytest\nfrom shop.cart import add\n\ndef make():\n    return 1\n\ndef test_add_one():\n    assert add(make(), 1) == 2\n\ndef test_mine():\n    assert add(0, 0) == 0\n";
const SECOND: &str =
    "from shop.cart import add\n\ndef test_add_two():\n    assert add(2, 2) == 4\n";

#[test]
fn what_a_person_wrote_stays_byte_for_byte_and_names_that_are_taken_get_others() {
    let placed = put(PERSON, FIRST, &BTreeMap::new(), false);
    assert_eq!(placed.test_names, ["test_add_one", "test_mine_add"]);
    assert_eq!(placed.items.keys().collect::<Vec<_>>(), ["make", "test_add_one", "test_mine_add"]);
    let (head, tail) = PERSON.split_at(PERSON.find("\nLIMIT").expect("there"));
    assert!(placed.text.starts_with(head), "{}", placed.text);
    assert!(placed.text.contains(tail), "{}", placed.text);
    assert!(placed.text.contains("import pytest\n") && placed.text.contains("import add\n"));
}

#[test]
fn a_second_generation_replaces_only_what_the_first_one_made() {
    let first = put(PERSON, FIRST, &BTreeMap::new(), false);
    let second = put(&first.text, SECOND, &first.items, false);
    assert_eq!(second.test_names, ["test_add_two"]);
    assert!(!second.text.contains("make") && !second.text.contains("test_add_one"));
    let (_, tail) = PERSON.split_at(PERSON.find("\nLIMIT").expect("there"));
    assert!(second.text.contains(tail), "{}", second.text);
    let again = put(&second.text, SECOND, &second.items, false);
    assert_eq!(again, second, "the same reply changes nothing");
    let crlf = put(&second.text.replace('\n', "\r\n"), FIRST, &second.items, false);
    assert!(!crlf.text.replace("\r\n", "").contains('\n'), "{:?}", crlf.text);
}

#[test]
fn what_a_person_has_edited_or_uses_stays_unless_it_is_asked_for() {
    let first = put("", FIRST, &BTreeMap::new(), false);
    assert_eq!(first.test_names, ["test_add_one", "test_mine"]);
    let edited = first.text.replace("== 2", "== 2  # checked by hand");
    for (replace, names, kept) in [
        (false, vec!["test_add_one", "test_mine"], vec!["test_add_one"]),
        (true, vec!["test_add_one", "test_mine"], vec![]),
    ] {
        let again = put(&edited, FIRST, &first.items, replace);
        assert_eq!(again.test_names, names);
        assert_eq!(again.kept, kept);
        assert_eq!(again.text.contains("checked by hand"), !replace, "{}", again.text);
        assert_eq!(again.text.matches("def test_add_one").count(), 1);
        let later = put(&again.text, FIRST, &again.items, false);
        assert_eq!(later.kept, kept, "it is still known to be edited");
        let last = put(&later.text, FIRST, &later.items, true);
        assert!(!last.text.contains("checked by hand"), "{}", last.text);
    }
    let used = first.text.clone() + "\n\ndef test_own():\n    assert make()\n";
    let second = put(&used, SECOND, &first.items, false);
    assert!(second.text.contains("def make") && !second.text.contains("test_add_one"));
}

#[test]
fn methods_of_test_classes_are_named_with_their_class() {
    let new = "import unittest\nclass TestAdd(unittest.TestCase):\n    def setUp(self): pass\n    def test_a(self): pass\n    def helper(self): pass\n    def test_b(self): pass\n";
    assert_eq!(
        put("", new, &BTreeMap::new(), false).test_names,
        ["TestAdd::test_a", "TestAdd::test_b"]
    );
}

#[test]
fn samples_are_short_near_and_from_several_files() {
    let sample = |path: &str, lines: usize, is_near: bool| Sample {
        path: path.to_owned(),
        text: format!("def test_{lines}():{}", "\n    pass".repeat(lines - 1)),
        is_near,
    };
    let all = vec![
        sample("a.py", 2, false),
        sample("a.py", 3, false),
        sample("b.py", 40, true),
        sample("b.py", 5, true),
        sample("b.py", 6, true),
        sample("c.py", 1, true),
    ];
    let shown = |all: Vec<Sample>| -> Vec<(String, usize)> {
        samples(all).into_iter().map(|it| (it.path, it.text.lines().count())).collect()
    };
    let expected = [("b.py".to_owned(), 5), ("a.py".to_owned(), 2), ("b.py".to_owned(), 6)];
    assert_eq!(shown(all.clone()), expected);
    assert_eq!(shown(all.into_iter().rev().collect()), expected);
}

/// Compares every prompt for tests of a function with its snapshot.
#[test]
fn questions_as_they_are_sent() {
    let bare = |it: Subject| Subject { samples: vec![], existing: vec![], used: vec![], ..it };
    let subjects = [
        ("function", subject("add", Style::Pytest)),
        ("nothing_known", bare(subject("add", Style::Unittest))),
        ("asynchronous_method", subject("Cart.Line.total", Style::Pytest)),
    ];
    for (name, it) in subjects {
        crate::snapshot::check(&format!("write_tests_{name}"), &question(&it, None));
    }
}
