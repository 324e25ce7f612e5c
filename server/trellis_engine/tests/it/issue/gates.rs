//! Tests of the gates of an issue.

use trellis_engine::issue::{GateResult, ProjectBaseline, green, red};
use trellis_engine::{Failure, RunOutcome, TestCase, TestRun};

fn run(ending: RunOutcome, cases: &[(&str, bool)], collection: Vec<Failure>) -> TestRun {
    let case = |(id, passed): &(&str, bool)| {
        let failure = (!passed).then(|| failure("AssertionError", "1 != 2", None, None));
        TestCase { id: (*id).to_owned(), passed: *passed, set_aside: false, failure }
    };
    let cases = cases.iter().map(case).collect();
    TestRun { ending, stack: Vec::new(), cases, collection, output: String::new() }
}

fn failure(exception: &str, message: &str, module: Option<&str>, name: Option<&str>) -> Failure {
    Failure {
        exception: exception.to_owned(),
        message: message.to_owned(),
        missing_module: module.map(str::to_owned),
        missing_attribute: name.map(str::to_owned),
        traceback: format!("Traceback of {message}"),
        ..Failure::default()
    }
}

/// A project with `shop.cart`, and a specification that mentions `discounted`.
struct Shop;

impl ProjectBaseline for Shop {
    fn is_project_module(&self, module: &str) -> bool {
        module.starts_with("shop")
    }

    fn names(&self, module: &str) -> Option<Vec<String>> {
        (module == "shop.cart").then(|| vec!["Cart".to_owned(), "total".to_owned()])
    }

    fn introduces(&self, name: &str) -> bool {
        name == "discounted"
    }
}

#[test]
fn the_red_gate_wants_failures_for_the_right_reason() {
    let missing = |module, name| failure("ImportError", "not there", module, name);
    let collection = |failure| run(RunOutcome::CollectionError, &[], vec![failure]);
    let node = |message: &str| failure("Error", message, None, None);
    let go = |name: Option<&str>| Failure {
        path: "tax_test.go".to_owned(),
        missing_name: name.map(str::to_owned),
        ..failure("Error", "a compile error", None, None)
    };
    let table = [
        (run(RunOutcome::Failed, &[("a", false)], vec![]), ""),
        (run(RunOutcome::Failed, &[("a", true), ("b", false)], vec![]), ""),
        (collection(missing(Some("shop.tax"), None)), ""),
        (collection(missing(None, Some("vat"))), ""),
        // A name from the specification, in an existing module or a new one; an existing name that
        // is imported too late.
        (collection(missing(Some("shop.cart"), Some("discounted"))), ""),
        (collection(missing(Some("shop.tax"), Some("vat"))), ""),
        (collection(missing(Some("shop.cart"), Some("total"))), ""),
        (
            collection(missing(Some("shop.cart"), Some("sum_up"))),
            "they import `sum_up` from `shop.cart`, which exists and has no such name, nor does the specification introduce it; it has `Cart`, `total`",
        ),
        (collection(failure("NotImplementedError", "", None, None)), ""),
        (collection(node("Cannot find module '../src/tax' from 'tests/tax.test.js'")), ""),
        (collection(node("Failed to load url ../src/tax (resolved id: ../src/tax)")), ""),
        (collection(go(Some("Vat"))), ""),
        (
            collection(node("Cannot find module '@hapi/joi' from 'tests/tax.test.js'")),
            "they cannot be collected: Error: Cannot find module '@hapi/joi'",
        ),
        (collection(go(None)), "they cannot be collected: Error: a compile error"),
        (
            run(RunOutcome::Passed, &[("a", true), ("b", true)], vec![]),
            "tests must fail before the implementation, and all 2 pass",
        ),
        (run(RunOutcome::NoTests, &[], vec![]), "no test was collected"),
        (
            collection(missing(Some("numpy"), None)),
            "they cannot be collected: ImportError: not there",
        ),
        (
            collection(failure("SyntaxError", "invalid syntax", None, None)),
            "they cannot be collected: SyntaxError",
        ),
        (
            run(RunOutcome::TimedOut { why: None }, &[], vec![]),
            "they do not fail as tests do: timed out",
        ),
        (
            run(RunOutcome::Crashed { how: "exit 3".into(), signal: None }, &[], vec![]),
            "they do not fail as tests do",
        ),
    ];
    for (it, wanted) in table {
        let found = match red(&it, &Shop) {
            GateResult::Open => String::new(),
            GateResult::Shut(why) => why,
        };
        assert!(
            found.starts_with(wanted) && found.is_empty() == wanted.is_empty(),
            "{found}: {wanted}"
        );
    }
}

#[test]
fn the_green_gate_wants_the_new_tests_and_those_that_passed_before() {
    let good = run(RunOutcome::Passed, &[("new", true)], vec![]);
    let all = |old: bool| {
        run(RunOutcome::Failed, &[("new", true), ("old", old), ("sick", false)], vec![])
    };
    let before = ["old".to_owned()];
    assert_eq!(green(&good, Some(&all(true)), &before), GateResult::Open);
    assert_eq!(green(&good, None, &before), GateResult::Open);
    let GateResult::Shut(why) = green(&good, Some(&all(false)), &before) else { panic!("open") };
    assert!(why.contains("tests that passed before do not pass any more: old"), "{why}");
    let gone = run(RunOutcome::Passed, &[("new", true)], vec![]);
    assert_ne!(green(&good, Some(&gone), &before), GateResult::Open);
    let GateResult::Shut(why) =
        green(&run(RunOutcome::Failed, &[("new", false)], vec![]), None, &[])
    else {
        panic!("open")
    };
    assert!(why.starts_with("the new tests do not pass: AssertionError: 1 != 2"), "{why}");
    assert!(why.contains("\nTraceback of 1 != 2"), "{why}");
}
