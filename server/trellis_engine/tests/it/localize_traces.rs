//! Tests of localization with traces: exceptions, values and the order of lines.

use std::collections::{BTreeMap, BTreeSet};

use trellis_engine::localize::{
    Evidence, FileEvidence, RaisedException, Ranking, TestEvidence, TestTrace, TracedCall, rank,
};
use trellis_engine::{Failure, Frame};
use trellis_python::FileFacts;

const ORDER: &str = "\
class Order:
    def __init__(self, text):
        self.text = text
        if not text:
            return
        self.size = len(text)

    def parse(self):
        return int(self.text)

    def find(self, key):
        if key == self.text:
            return self.size

    def double(self, key):
        return self.find(key) * 2

    def refuse(self, error):
        return 'refused', str(error)

    def handle(self):
        try:
            return self.parse()
        except ValueError as error:
            return self.refuse(error)
";

const TESTS: &str = "\
def check(value):
    if value != 1:
        Order('').refuse(value)
        assert value == 1

def test_one():
    check(Order('1').handle())

def test_two():
    check(Order('x').handle())
";

fn test(id: &str, failure: Option<Failure>, code: &[u32], own: &[u32]) -> TestEvidence {
    let lines = |lines: &[u32]| lines.iter().copied().collect::<BTreeSet<u32>>();
    TestEvidence {
        id: format!("test_order.py::{id}"),
        failed: failure.is_some(),
        failure,
        lines: BTreeMap::from([(0, lines(code)), (1, lines(own))]),
        measured: true,
        reached: Vec::new(),
        trace: Some(TestTrace::default()),
    }
}

fn ranked(tests: Vec<TestEvidence>) -> Ranking {
    let file = |path: &str, text: &str, is_test| FileEvidence {
        path: path.to_owned(),
        is_test,
        facts: FileFacts::of(text).expect("Python"),
        ..FileEvidence::default()
    };
    let files = vec![file("order.py", ORDER, false), file("test_order.py", TESTS, true)];
    rank(&Evidence { tests, files }, &[])
}

fn failure(exception: &str, message: &str, place: (&str, u32)) -> Option<Failure> {
    let frame = |(path, line): (&str, u32)| Frame {
        path: path.to_owned(),
        line,
        function: String::new(),
        source: String::new(),
    };
    Some(Failure {
        exception: exception.to_owned(),
        message: message.to_owned(),
        path: place.0.to_owned(),
        line: place.1,
        frames: vec![frame(("test_order.py", 10)), frame(place)],
        ..Failure::default()
    })
}

fn raised(line: u32, exception: &str, moment: u32) -> BTreeSet<RaisedException> {
    let at = (0, line);
    let message = String::new();
    BTreeSet::from([RaisedException { at, exception: exception.to_owned(), message, moment }])
}

fn at(ranking: &Ranking, symbol: &str) -> usize {
    let position = ranking.suspects.iter().position(|it| it.symbol == symbol);
    position.unwrap_or_else(|| panic!("{symbol} is not listed: {ranking:#?}"))
}

#[test]
fn a_caught_exception_that_only_failing_tests_raise_leads_to_its_place() {
    let wrong = failure("AssertionError", "", ("test_order.py", 4));
    let mut failing = test("test_two", wrong, &[3, 4, 6, 9, 19, 22, 23, 24, 25], &[10, 2, 4]);
    let passing = test("test_one", None, &[3, 4, 6, 9, 22, 23], &[7, 2]);
    let before = ranked(vec![failing.clone(), passing.clone()]);
    assert!(at(&before, "Order.refuse") < at(&before, "Order.parse"));
    let trace = failing.trace.as_mut().expect("a trace");
    trace.raised = raised(9, "ValueError", 20);
    trace.first = BTreeMap::from([(0, BTreeMap::from([(9, 19), (19, 23), (24, 20), (25, 22)]))]);
    let after = ranked(vec![failing, passing]);
    assert!(at(&after, "Order.parse") < at(&after, "Order.refuse"), "{after:#?}");
    let line = after.lines.iter().find(|it| it.line == 9).expect("line 9");
    assert!(line.why.contains("ValueError is raised here in failing tests"), "{}", line.why);
    // The exception was caught, so there is no traceback with it.
    assert!(after.suspects.iter().all(|it| !it.why.contains("traceback")), "{after:#?}");
}

#[test]
fn lines_that_ran_after_the_deciding_exception_are_no_suspects() {
    let wrong = failure("ValueError", "", ("order.py", 9));
    let mut failing = test("test_two", wrong, &[3, 4, 6, 9, 19], &[10]);
    let trace = failing.trace.as_mut().expect("a trace");
    trace.decided = Some(20);
    trace.first = BTreeMap::from([(0, BTreeMap::from([(9, 19), (19, 23)]))]);
    let ranking = ranked(vec![failing]);
    assert_eq!(at(&ranking, "Order.parse"), 0, "{ranking:#?}");
    assert!(!ranking.suspects.iter().any(|it| it.symbol == "Order.refuse"), "{ranking:#?}");
}

#[test]
fn what_a_helper_calls_when_it_has_found_a_difference_is_no_suspect() {
    let wrong = failure("AssertionError", "", ("test_order.py", 4));
    let mut failing = test("test_two", wrong, &[3, 4, 6, 9, 19, 22, 23], &[10, 2, 3, 4]);
    let passing = test("test_one", None, &[3, 4, 6, 9, 22, 23], &[7, 2]);
    let call = |file, function, caller, line| TracedCall { file, function, caller, line };
    failing.trace.as_mut().expect("a trace").calls = vec![
        call(1, Some(2), None, None),
        call(0, Some(5), Some(0), Some(10)),
        call(1, Some(0), Some(0), Some(10)),
        call(0, Some(4), Some(2), Some(3)),
    ];
    let ranking = ranked(vec![failing, passing]);
    assert!(!ranking.suspects.iter().any(|it| it.symbol == "Order.refuse"), "{ranking:#?}");
}

#[test]
fn a_missing_attribute_leads_to_where_it_is_set_and_to_what_leaves_before() {
    let message = "'Order' object has no attribute 'size'";
    let wrong = failure("AttributeError", message, ("order.py", 13));
    let failing = test("test_two", wrong, &[3, 4, 5, 12, 13], &[10]);
    let passing = test("test_one", None, &[3, 4, 6, 12, 13], &[7]);
    let ranking = ranked(vec![failing, passing]);
    assert_eq!(at(&ranking, "Order.__init__"), 0, "{ranking:#?}");
    let why = &ranking.suspects[0].why;
    assert!(why.contains("what the exception misses should come from here"), "{why}");
}

#[test]
fn a_none_leads_to_the_function_that_returned_it() {
    let message = "unsupported operand type(s) for *: 'NoneType' and 'int'";
    let wrong = failure("TypeError", message, ("order.py", 16));
    let mut failing = test("test_two", wrong, &[3, 4, 6, 12, 16], &[10]);
    let trace = failing.trace.as_mut().expect("a trace");
    trace.values = BTreeSet::from([((0, 12), "return".to_owned(), "None".to_owned())]);
    let passing = test("test_one", None, &[3, 4, 6, 12, 13, 16], &[7]);
    let ranking = ranked(vec![failing, passing]);
    assert_eq!(at(&ranking, "Order.find"), 0, "{ranking:#?}");
}

#[test]
fn a_value_that_only_failing_tests_read_raises_a_line_that_all_tests_run() {
    let wrong = || failure("AssertionError", "", ("test_order.py", 4));
    let mut failing = test("test_two", wrong(), &[12, 16, 9], &[10]);
    let mut passing = test("test_one", None, &[12, 16, 9], &[7]);
    let value = |line, kind: &str| ((0, line), "key".to_owned(), kind.to_owned());
    let both = ranked(vec![failing.clone(), passing.clone()]);
    let of = |it: &Ranking| it.lines.iter().find(|it| it.line == 12).expect("line 12").score;
    failing.trace.as_mut().expect("a trace").values = BTreeSet::from([value(12, "empty str")]);
    passing.trace.as_mut().expect("a trace").values = BTreeSet::from([value(12, "some str")]);
    let traced = ranked(vec![failing, passing]);
    assert!(of(&traced) > of(&both), "{traced:#?}");
    let line = traced.lines.iter().find(|it| it.line == 12).expect("line 12");
    assert!(line.why.contains("`key` is empty str here in failing tests"), "{}", line.why);
}
