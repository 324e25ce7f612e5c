//! Tests of traces, and of what recordings leave out.

use trellis_sandbox::{Report, Request, TestTrace};

use crate::support::run_with;

const STOCK: &str = "\
def parse(text):
    return int(text)


def count(text):
    try:
        return parse(text)
    except ValueError:
        return None


class Box:
    def __init__(self, size):
        self.size = size

    def __repr__(self):
        return shown(self.size)

    def __eq__(self, other):
        return self.size == other.size


def shown(size):
    return 'Box(%s)' % size
";

async fn traced(test: &str) -> (Report, TestTrace) {
    let tree = [("stock.py", STOCK), ("test_a.py", test)];
    let report = run_with(&tree, |request| request.trace = true).await;
    let trace = report.traces.values().next().cloned();
    let trace = trace.unwrap_or_else(|| panic!("{report:#?}"));
    (report, trace)
}

#[tokio::test]
async fn calls_exceptions_and_values_of_a_test() {
    let (report, trace) =
        traced("from stock import count\ndef test_a():\n    assert count('x') is None\n").await;
    assert!(report.traces.contains_key("test_a.py::test_a"), "{report:#?}");
    let calls: Vec<_> =
        (trace.calls.iter()).map(|it| (it.path.as_str(), it.first, it.caller, it.line)).collect();
    let expected = [
        ("test_a.py", 2, None, None),
        ("stock.py", 5, Some(0), Some(3)),
        ("stock.py", 1, Some(1), Some(7)),
    ];
    assert_eq!(calls, expected);
    let raised: Vec<_> =
        trace.raised.iter().map(|it| (it.path.as_str(), it.line, it.exception.as_str())).collect();
    assert_eq!(raised, [("stock.py", 2, "ValueError")]);
    assert!(trace.raised[0].message.starts_with("invalid literal"), "{trace:#?}");
    assert_eq!(trace.handlers, [("stock.py".to_owned(), 8)]);
    let values: Vec<_> = (trace.values["stock.py"].iter())
        .map(|it| (it.line, it.name.as_str(), it.kind.as_str()))
        .collect();
    assert!(values.contains(&(9, "return", "None")), "{values:?}");
    assert!(values.contains(&(7, "text", "some str")), "{values:?}");
    assert_eq!(trace.decided, None, "the test passes");
}

#[tokio::test]
async fn the_moment_of_the_exception_that_decides() {
    let test = "\
import stock


def test_a():
    try:
        stock.parse('x')
    finally:
        stock.shown(1)
";
    let (_, trace) = traced(test).await;
    let decided = trace.decided.expect("a moment");
    let first = |line| trace.first["stock.py"].iter().find(|it| it.0 == line).expect("it ran").1;
    assert!(first(2) <= decided && decided < first(24), "{trace:#?}");
}

/// Code whose iterators and awaits end as they should.
const ENDS: &str = "\
import asyncio


class Count:
    def __init__(self, most):
        self.left = iter(range(most))

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.left) + 1

    def __aiter__(self):
        return self

    async def __anext__(self):
        for it in self.left:
            return it
        raise StopAsyncIteration


def numbers():
    try:
        yield 1
        yield 2
    finally:
        pass


async def one():
    await asyncio.sleep(0)


async def total():
    await one()
    return sum([it async for it in Count(3)])


def first():
    for it in numbers():
        return it + len(list(Count(2))) + sum(numbers())


def second(values):
    return next(iter(values))
";

async fn raised(test: &str) -> (Vec<(String, u32, String)>, TestTrace) {
    let test = format!("import asyncio\nimport ends\n\ndef test_a():\n    {test}\n");
    let tree = [("ends.py", ENDS), ("test_a.py", &test)];
    let report = run_with(&tree, |request| request.trace = true).await;
    let trace = report.traces.values().next().cloned();
    let trace = trace.unwrap_or_else(|| panic!("{report:#?}"));
    let raised = trace.raised.iter().map(|it| (it.path.clone(), it.line, it.exception.clone()));
    (raised.collect(), trace)
}

#[tokio::test]
async fn the_ends_of_iterators_and_awaits_are_no_exceptions_of_the_code() {
    for test in ["assert asyncio.run(ends.total()) == 3", "assert ends.first() == 6"] {
        let (raised, trace) = raised(test).await;
        assert_eq!(raised, [], "{test}");
        assert_eq!(trace.handlers, [], "{test}");
        let nothing = trace.values["ends.py"].iter().filter(|it| it.name == "return");
        let nothing: Vec<u32> = nothing.filter(|it| it.kind == "None").map(|it| it.line).collect();
        assert!(!nothing.contains(&12), "`__next__` returns no `None`: {nothing:?}");
    }
}

#[tokio::test]
async fn an_end_by_which_the_test_fails_is_an_exception_of_the_code() {
    let (raised, trace) = raised("ends.second([])").await;
    assert_eq!(raised, [("ends.py".to_owned(), 46, "StopIteration".to_owned())]);
    assert!(trace.decided.is_some(), "{trace:#?}");
    // Inside a generator, Python makes another exception of it.
    let (raised, _) = self::raised("list(ends.second([]) for _ in '1')").await;
    let classes: Vec<&str> = raised.iter().map(|it| it.2.as_str()).collect();
    assert!(classes.contains(&"RuntimeError"), "{raised:?}");
    assert!(raised.contains(&("ends.py".to_owned(), 46, "StopIteration".to_owned())), "{raised:?}");
}

/// Rendering the values of a failed assertion happens in failing tests alone and is no cause.
#[tokio::test]
async fn rendering_and_cleaning_up_after_a_failure_are_not_recorded() {
    let plain = "\
import pytest
from stock import Box, count


@pytest.fixture
def box():
    yield Box(1)
    count('3')


def test_a(box):
    assert box == Box(2)
";
    let unittest = "\
import unittest
from stock import Box, count


class A(unittest.TestCase):
    def tearDown(self):
        count('3')

    def test_a(self):
        self.assertEqual(Box(1), Box(2))
";
    let asynchronous = "\
import unittest
from stock import Box, count


class A(unittest.IsolatedAsyncioTestCase):
    async def asyncTearDown(self):
        count('3')

    async def test_a(self):
        self.assertEqual(Box(1), Box(2))
";
    for test in [plain, unittest, asynchronous] {
        let tree = [("stock.py", STOCK), ("test_a.py", test)];
        let report = run_with(&tree, |request| request.coverage = true).await;
        let coverage = report.coverage.as_ref().unwrap_or_else(|| panic!("{report:#?}"));
        let lines: Vec<_> = coverage.files["stock.py"].tests.values().flatten().collect();
        assert_eq!(lines, [&14, &20], "{report:#?}");
        assert!(report.tests[0].failure.as_ref().is_some_and(|it| it.message.contains("Box(2)")));
        let (_, trace) = traced(test).await;
        let called: Vec<u32> =
            trace.calls.iter().filter(|it| it.path == "stock.py").map(|it| it.first).collect();
        assert_eq!(called, [13, 19], "{trace:#?}");
    }
}

/// A project whose code imports a module by mistake must not pass for that.
#[tokio::test]
async fn a_recording_imports_nothing_that_the_tests_do_not_import() {
    let test = "\
import sys


def test_a():
    assert not {'asyncio', 'unittest.async_case', 'unittest.mock'} & set(sys.modules)
";
    for cold in [false, true] {
        let measured = |request: &mut Request| (request.coverage, request.cold) = (true, cold);
        let report = run_with(&[("test_a.py", test)], measured).await;
        assert!(report.coverage.is_some() && report.tests[0].failure.is_none(), "{report:#?}");
        let (report, _) = traced(test).await;
        assert!(report.tests[0].failure.is_none(), "{report:#?}");
    }
}

/// Cleaning up belongs to a passing test.
#[tokio::test]
async fn cleaning_up_after_a_passing_test_is_recorded() {
    let test = "\
import pytest
from stock import count


@pytest.fixture
def clean():
    yield
    count('3')


def test_a(clean):
    pass
";
    let tree = [("stock.py", STOCK), ("test_a.py", test)];
    let report = run_with(&tree, |request| request.coverage = true).await;
    let coverage = report.coverage.as_ref().unwrap_or_else(|| panic!("{report:#?}"));
    assert_eq!(coverage.files["stock.py"].tests["test_a.py::test_a"], [2, 6, 7], "{report:#?}");
}
