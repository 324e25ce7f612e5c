//! A project's own test settings, in work where every test is evidence.

use std::slice::from_ref;

use serde_json::{Value, json};

use crate::implement::{ALONE, file, in_p, shop};
use crate::repair::{repair, text};
use crate::world::World;

const NUMBERS: &str =
    "def one():\n    return 2\n\n\ndef two():\n    return 3\n\n\ndef three():\n    return 3\n";

const TESTS: &str = "\
import pytest

from numbers_of import one, three, two


def test_one():
    assert one() == 1


def test_two():
    assert two() == 2


@pytest.mark.slow
def test_three():
    assert three() == 3


@pytest.mark.slow
def test_four():
    assert three() == 4
";

fn changed(name: &str, from: u8, to: u8) -> String {
    format!(
        "numbers_of.py\n<<<<<<< SEARCH\ndef {name}():\n    return {from}\n=======\ndef {name}():\n    return {to}\n>>>>>>> REPLACE\n"
    )
}

/// Creates functions of which one, two and four are wrong, tested with `addopts`, and a model's
/// reply about one.
fn numbers(addopts: &str, reply: &str) -> World {
    let world = World::new();
    world.write("p/numbers_of.py", NUMBERS);
    world.write("p/test_numbers.py", TESTS);
    world.write("p/pytest.ini", &format!("[pytest]\nmarkers = slow\naddopts = {addopts}\n"));
    let line = json!({ "node": "test_numbers.py::test_one", "stage": "repair", "attempt": 0, "reply": reply });
    world.write("replies.jsonl", &format!("{line}\n"));
    world
}

#[test]
fn a_fix_that_breaks_what_settings_hide_is_not_kept() {
    let breaks = changed("one", 2, 1) + "\n" + &changed("three", 3, 5);
    for (addopts, failing) in [
        ("-x", 3),
        ("--stepwise --last-failed", 3),
        ("-m 'not slow'", 2),
        ("-x -k 'not three and not four'", 2),
        ("--deselect=test_numbers.py::test_three --deselect=test_numbers.py::test_four", 2),
    ] {
        let world = numbers(addopts, &breaks);
        let options = ["--approve", "autonomous", "--max-iterations", "1"];
        let result = repair(&world, &options).json();
        assert_eq!(world.read("p/numbers_of.py"), NUMBERS, "{addopts}: {result:#}");
        assert_eq!(result["before"]["failing"], failing, "{addopts}: {result:#}");
        // A fix that breaks nothing is kept.
        if !addopts.starts_with("-x") {
            continue;
        }
        let world = numbers(addopts, &changed("one", 2, 1));
        let result = repair(&world, &options).json();
        assert_eq!(world.read("p/numbers_of.py"), NUMBERS.replacen('2', "1", 1), "{addopts}");
        assert_eq!(result["after"]["failing"], failing - 1, "{addopts}: {result:#}");
    }
}

#[test]
fn what_the_project_leaves_out_is_named_and_mended_for_who_names_it() {
    let world = numbers("-m 'not slow'", &changed("three", 3, 4));
    let options = ["--json", "--sandbox", "local", "--trials", "5"];
    let localize = |more: &[&str]| world.trellis(&[&["localize"], more, &options[..]].concat());
    let ids = |result: &Value| -> Vec<String> {
        let failures = result["failures"].as_array().expect("failures");
        failures.iter().map(|it| text(&it["id"])).collect()
    };
    let result = localize(&["p"]).json();
    assert_eq!(ids(&result), ["test_numbers.py::test_one", "test_numbers.py::test_two"]);
    let notes = result["notes"].as_array().expect("notes").iter().map(text);
    let notes: Vec<String> = notes.filter(|it| it.contains("leave out")).collect();
    assert!(
        notes[0].ends_with("passed, failed or skipped: test_numbers.py::test_four"),
        "{result:#}"
    );
    let result = localize(&["p", "--test", "test_numbers.py::test_four"]).json();
    assert_eq!(ids(&result), ["test_numbers.py::test_four"], "{result:#}");
}

#[test]
fn work_that_breaks_what_settings_hide_is_not_merged() {
    let tests = file(
        "tests/test_discount.py",
        "from shop.discount import half\n\n\ndef test_half():\n    assert half([10, 10]) == 10\n",
    );
    let breaks = file(
        "shop/discount.py",
        "from shop.cart import total\n\n\ndef half(prices):\n    return total(prices)\n",
    ) + &file("shop/cart.py", "def total(prices):\n    return sum(prices) / 2\n");
    for addopts in ["-x", "-k 'not test_total'", "--maxfail=1 --deselect tests/test_cart.py"] {
        let world = shop(&[("scaffold", from_ref(&tests)), ("implementation", from_ref(&breaks))]);
        world.write("p/pytest.ini", &format!("[pytest]\npythonpath = .\naddopts = {addopts}\n"));
        world.write("p/tests/test_aaa.py", "def test_known_to_fail():\n    assert False\n");
        in_p(&world, &["add", "."]);
        in_p(&world, &["commit", "--quiet", "-m", "settings"]);
        let before = in_p(&world, &["rev-parse", "main"]);
        let ran = world
            .trellis(&[&crate::implement::ARGUMENTS, &ALONE[..], &["--max-retries", "0"]].concat());
        assert_eq!(in_p(&world, &["rev-parse", "main"]), before, "{addopts}: {}", ran.stdout);
        assert!(ran.stdout.contains("tests/test_cart.py::test_total"), "{addopts}: {}", ran.stdout);
    }
}
