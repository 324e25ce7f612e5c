//! Small edits with which the tests pass, and which are no fixes for that.

use serde_json::Value;

use crate::mock::KEY;
use crate::models::{Service, prompt, said};
use crate::repair::text;
use crate::world::{Ran, World};

/// A comparison that should not look at the case of letters. Of all small edits only `<=` passes.
const SAME: &str = "def same(a, b):\n    return a == b\n";
const SAME_TESTS: &str = "\
from lib import same


def test_equal():
    assert same('cat', 'cat')


def test_case():
    assert same('CAT', 'cat')


def test_other():
    assert not same('dog', 'cat')
";

/// A sum that should be a product; the tests know products with zero alone.
const AREA: &str = "def area(a, b):\n    return a + b\n";
const AREA_TESTS: &str = "\
from lib import area


def test_nothing():
    assert area(0, 0) == 0


def test_flat():
    assert area(0, 5) == 0
";

fn project(code: &str, tests: &str) -> World {
    let world = World::new();
    world.write("p/lib.py", code);
    world.write("p/test_lib.py", tests);
    world
}

const REPAIR: [&str; 6] = ["repair", "p", "--json", "--sandbox=local", "--trials=60", "--approve"];

/// Repairs without a model, expects that nothing is written, and returns the proposed fix.
fn proposed(code: &str, tests: &str) -> (Value, String) {
    let world = project(code, tests);
    let result = world.trellis(&[&REPAIR[..], &["autonomous"]].concat()).exits(2).json();
    assert_eq!(world.read("p/lib.py"), code, "{result:#}");
    assert_eq!(result["groups"][0]["waiting"], "fix-1", "{result:#}");
    let attempt = &result["groups"][0]["attempts"][0];
    assert_eq!(attempt["foundBy"], "trial", "{result:#}");
    let shown = world.trellis(&["fixes", "show", "fix-1", "--project", "p"]).exits(0).stdout;
    (result, shown)
}

#[test]
fn an_edit_of_a_weak_kind_waits_for_a_person_where_there_is_no_model() {
    let (_, shown) = proposed(SAME, SAME_TESTS);
    for said in ["changing `==` to `<=` here makes the failing test pass", "weak evidence: "] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
}

#[test]
fn an_edit_beside_which_others_pass_waits_for_a_person_where_there_is_no_model() {
    let (_, shown) = proposed(AREA, AREA_TESTS);
    for said in ["makes the failing test pass", "other edits do so as well"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
}

#[test]
fn a_model_is_asked_in_place_of_a_weak_edit_and_told_of_it() {
    let world = project(SAME, SAME_TESTS);
    let fix = "lib.py\n<<<<<<< SEARCH\n    return a == b\n=======\n    return a.lower() == b.lower()\n>>>>>>> REPLACE\n";
    let service = Service::start(Box::new(move |_| said(fix)));
    let mut command = world.command(&[&REPAIR[..], &["autonomous"]].concat());
    command.args(["--model", "openai:tiny"]);
    command.env("OPENAI_BASE_URL", &service.url).env("OPENAI_API_KEY", KEY);
    let result = Ran::of(command.output().expect("trellis starts")).exits(0).json();
    assert!(world.read("p/lib.py").contains("a.lower() == b.lower()"), "{result:#}");
    assert!(result["groups"][0]["attempts"][0]["foundBy"].is_null(), "{result:#}");
    let asked = service.asked();
    let asked: Vec<&str> = asked.iter().map(prompt).collect();
    let last = asked.last().expect("a question");
    assert!(last.contains("the tests pass with them, which does not make them right"), "{last}");
    assert!(last.contains("changing `==` to `<=` here makes the failing test pass"), "{last}");
}

#[test]
fn a_person_is_asked_about_a_weak_edit_in_every_way_of_approval() {
    for mode in ["threshold", "supervised"] {
        let world = project(SAME, SAME_TESTS);
        let result = world.trellis(&[&REPAIR[..], &[mode]].concat()).exits(2).json();
        assert_eq!(world.read("p/lib.py"), SAME, "{mode}: {result:#}");
        assert!(text(&result["groups"][0]["waiting"]).starts_with("fix-"), "{mode}: {result:#}");
    }
    // Nobody can be asked about a patch.
    let world = project(SAME, SAME_TESTS);
    let patch = [&REPAIR[..], &["autonomous", "--dry-run"]].concat();
    let _ = world.trellis(&patch).exits(69);
}

/// Two functions with one cause, and the tests of each.
const TAX: &str = "\
def tax(n):
    return n + 2


def bill(n):
    return tax(n)


def order(n):
    return tax(n)
";

fn tax_tests(order: &str) -> String {
    format!(
        "from lib import bill, order, tax\n\n\ndef test_tax():\n    assert tax(2) == 4\n\n\n\
         def test_bill():\n    assert bill(5) == 10\n\n\ndef test_order():\n    {order}\n"
    )
}

/// Of all small edits only the product satisfies the first test.
#[test]
fn an_edit_with_which_another_test_of_the_line_still_fails_is_not_kept_without_a_model() {
    let still = "test_lib.py::test_order runs this line as well and still fails";
    let table = [
        ("assert order(6) == 20", false),
        // This one fails for another reason.
        ("order(6)['price']", true),
        // This one passes with the edit.
        ("assert order(6) == 12", true),
    ];
    for (order, is_kept) in table {
        let tests = tax_tests(order);
        let world = project(TAX, &tests);
        let named = ["autonomous", "--test", "test_lib.py::test_bill"];
        let ran = world.trellis(&[&REPAIR[..], &named].concat());
        let result = ran.json();
        let is_changed = world.read("p/lib.py").contains("return n * 2");
        assert_eq!(is_changed, is_kept, "{order}: {result:#}");
        let said = text(&result["groups"][0]["attempts"][0]["what"]) + &ran.stderr;
        assert_eq!(said.contains(still), !is_kept, "{order}: {said}");
    }
}
