//! Snapshots of the questions about failing tests, as they are sent.

use std::collections::BTreeSet;

use trellis_engine::repair::{
    Excerpt, FailedFix, RepairFacts, ask_repair, ask_report, failure_text,
};
use trellis_engine::{
    ComparedValues, Failure, FixWith, Frame, LibraryFrames, ModelRequest, Stage, Suspect, Tier,
};

const CART: &str =
    "import os\n\n\ndef shipping(total):\n    if total > 100:\n        return 0\n    return 5\n";
const TEST: &str = "\
import pytest

from shop.cart import shipping


@pytest.fixture
def total():
    return 100


def test_other():
    assert True


def test_a(total):
    assert shipping(total) == 0
";
const ID: &str = "tests/test_cart.py::test_a";

/// Number of tokens of a usual request.
const TOKENS: usize = 12_000;

fn text(ask: &ModelRequest, tokens: usize) -> String {
    let all = ask.prompt.messages(tokens).into_iter().map(|it| it.text);
    all.collect::<Vec<_>>().join("\n")
}

fn frame(path: &str, line: u32, function: &str, source: &str) -> Frame {
    let (path, function) = (path.to_owned(), function.to_owned());
    Frame { path, line, function, source: source.to_owned() }
}

fn lines(numbers: &[u32]) -> BTreeSet<u32> {
    numbers.iter().copied().collect()
}

fn suspect(path: &str, symbol: &str, line: u32) -> Suspect {
    let (path, symbol) = (path.to_owned(), symbol.to_owned());
    Suspect { path, symbol, line, ..Suspect::default() }
}

/// Returns the question about a test that uses a fixture, and fails in a short file.
fn with_fixture() -> RepairFacts {
    let failure = Failure {
        exception: "AssertionError".to_owned(),
        message: "assert 5 == 0\n +  where 5 = shipping(100)".to_owned(),
        frames: vec![frame("tests/test_cart.py", 16, "test_a", "assert shipping(total) == 0")],
        compared: Some(ComparedValues {
            operator: "==".to_owned(),
            left: "5".to_owned(),
            right: "0".to_owned(),
        }),
        traceback: "total = 100\n\n>   assert shipping(total) == 0\nE   assert 5 == 0\n\n\
                    total      = 100\nclient     = <C object at 0x7f00>\n\n\
                    tests/test_cart.py:16: AssertionError"
            .to_owned(),
        ..Failure::default()
    };
    let shown = lines(&[1, 3, 6, 7, 8, 15, 16]);
    let conftest = "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef quiet():\n    yield\n";
    RepairFacts {
        tests: vec![ID.to_owned()],
        test_sources: vec![
            Excerpt::of("tests/test_cart.py", TEST, &shown).marking([16]),
            Excerpt::whole("tests/conftest.py", conftest),
        ],
        failure: failure_text(ID, &failure, &[]),
        suspects: vec![suspect("shop/cart.py", "shipping", 5)],
        sources: vec![Excerpt::whole("shop/cart.py", CART).marking([5])],
        callers: vec![(
            "shipping".to_owned(),
            vec!["shop/order.py:31: costs += shipping(self.total)".to_owned()],
        )],
        ..RepairFacts::default()
    }
}

/// Returns the failure of a comparison of long values.
fn long_values() -> RepairFacts {
    let list = |odd: u32| {
        format!("{:?}", (0..900).map(|it| if it == 700 { odd } else { it }).collect::<Vec<_>>())
    };
    let failure = Failure {
        exception: "AssertionError".to_owned(),
        message: "assert [0, 1, 2, 3, 4, 5, ...] == [0, 1, 2, 3, 4, 5, ...]\n  \n  \
                  At index 700 diff: 1 != 700\n  Use -v to get more diff"
            .to_owned(),
        frames: vec![frame("tests/test_cart.py", 16, "test_a", "assert numbers() == expected")],
        compared: Some(ComparedValues {
            operator: "==".to_owned(),
            left: list(1),
            right: list(700),
        }),
        ..Failure::default()
    };
    let also = Failure {
        exception: "KeyError".to_owned(),
        message: "'x'".to_owned(),
        ..Failure::default()
    };
    let others: Vec<(&str, &Failure)> = vec![("tests/test_cart.py::test_b", &also); 12];
    RepairFacts { failure: failure_text(ID, &failure, &others), ..with_fixture() }
}

/// Returns the failure of an exception that a library raises, deep below the project.
fn in_library() -> RepairFacts {
    let call = |number: u32| frame("shop/tree.py", 20, "walk", &format!("self.walk({number})"));
    let first = frame("tests/test_cart.py", 16, "test_a", "client.get('/cart')");
    let frames = std::iter::once(first).chain((0..14).map(call)).collect();
    let library = |after: usize, count: usize, names: &[&str], deepest: &str| LibraryFrames {
        after,
        count,
        names: names.iter().map(|it| (*it).to_owned()).collect(),
        deepest: deepest.to_owned(),
    };
    let failure = Failure {
        exception: "JSONDecodeError".to_owned(),
        message: "Expecting value: line 1 column 1 (char 0)".to_owned(),
        frames,
        libraries: vec![
            library(1, 12, &["werkzeug", "flask"], "flask/app.py:1501 in dispatch_request"),
            library(15, 1, &["json"], "json/decoder.py:355 in raw_decode"),
        ],
        ..Failure::default()
    };
    let used = ("`shop/const.py`, line 3:".to_owned(), "DEPTH = 14".to_owned());
    RepairFacts {
        failure: failure_text(ID, &failure, &[]),
        used: vec![used],
        issue: Some("the cart page is broken".to_owned()),
        ..with_fixture()
    }
}

/// Returns several suspects in several files, the third of which is long.
fn several() -> RepairFacts {
    let long = "def f():\n".to_owned() + &"    x = 'something long enough to count'\n".repeat(300);
    RepairFacts {
        suspects: vec![
            suspect("shop/cart.py", "shipping", 5),
            suspect("shop/a.py", "", 1),
            Suspect {
                why: "changing `x` to `y` makes 1 of 2 failing tests pass".to_owned(),
                ..suspect("shop/long.py", "f", 9)
            },
            suspect("shop/last.py", "Last.one", 2),
        ],
        sources: vec![
            Excerpt::of("shop/cart.py", CART, &lines(&[1, 4, 5, 6, 7])).marking([5]),
            Excerpt::whole("shop/a.py", "x = 1\n").marking([1]),
            Excerpt::whole("shop/long.py", &long).marking([9]),
            Excerpt::whole("shop/last.py", "class Last:\n    one = 1\n"),
        ],
        ..with_fixture()
    }
}

/// Returns the facts of a second question.
fn after_a_fix() -> RepairFacts {
    RepairFacts {
        cause: Some("the boundary is left out".to_owned()),
        hypotheses: vec!["the total is rounded before".to_owned()],
        earlier: vec![FailedFix {
            why: "tests/test_cart.py::test_b passed before and fails with it (AssertionError: assert 0 == 5)"
                .to_owned(),
            diff: "-    if total > 100:\n+    if total > 99:\n".to_owned(),
        }],
        caller_sources: vec![Excerpt::of(
            "shop/order.py",
            "def costs(self):\n    return shipping(self.total)\n",
            &lines(&[1, 2]),
        )],
        ..with_fixture()
    }
}

#[test]
fn questions_as_they_are_sent() {
    let table = [
        ("fixture", with_fixture(), TOKENS),
        ("long_values", long_values(), TOKENS),
        ("in_library", in_library(), TOKENS),
        ("several_suspects", several(), 2_500),
        ("after_a_fix", after_a_fix(), TOKENS),
    ];
    for (name, it, tokens) in table {
        crate::snapshot::check(&format!("report_{name}"), &text(&ask_report(&it), tokens));
        let ask = ask_repair(&it, 0, FixWith::OneReply);
        crate::snapshot::check(&format!("repair_{name}"), &text(&ask, tokens));
    }
    let tools = ask_repair(&after_a_fix(), 0, FixWith::Tools);
    crate::snapshot::check("repair_with_tools_after_a_fix", &text(&tools, TOKENS));
}

#[test]
fn the_third_question_goes_to_a_strong_model_and_complaints_are_repeated() {
    let facts = RepairFacts {
        complaint: Some("it changes nothing".to_owned()),
        others: vec!["a larger fix".to_owned()],
        ..after_a_fix()
    };
    let ask = ask_repair(&facts, 0, FixWith::OneReply);
    let shown = text(&ask, TOKENS);
    assert!(shown.contains("It could not be used: it changes nothing"), "{shown}");
    assert!(shown.contains("a larger fix"), "{shown}");
    assert_eq!((ask.stage, ask.tier), (Stage::Repair, Tier::Simple));
    assert_eq!(ask_repair(&facts, 2, FixWith::OneReply).tier, Tier::Strong);
    assert_eq!(ask_report(&facts).stage, Stage::Report);
}

#[test]
fn equal_failures_have_equal_texts_and_no_sections_are_torn() {
    let failure = |address: &str| Failure {
        exception: "TypeError".to_owned(),
        message: format!("<shop.Cart object at 0x7f{address}> is no 0x10"),
        ..Failure::default()
    };
    let [one, other] = ["12345678", "abcdef01"].map(|it| failure_text(ID, &failure(it), &[]));
    assert_eq!(one, other);
    assert!(one.contains("is no 0x10"), "a number is none: {one}");
    let shown = text(&ask_report(&several()), 2_500);
    assert!(!shown.contains("bytes left out"), "{shown}");
    assert!(
        shown.contains("Cut or left out for want of room: `shop/long.py`, the whole file"),
        "{shown}"
    );
    assert!(shown.contains("one = 1"), "a short part finds room behind a long one: {shown}");
}

#[test]
fn the_interpreter_of_the_tests_is_named_if_it_is_known() {
    let asked = |python: Option<&str>| {
        let python = python.map(str::to_owned);
        text(&ask_report(&RepairFacts { python, ..with_fixture() }), TOKENS)
    };
    assert!(asked(Some("3.11.7")).contains("\nThe tests ran with Python 3.11.\n"));
    assert!(!asked(None).contains("The tests ran with"));
}
