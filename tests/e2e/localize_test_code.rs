//! `trellis localize`: whether a failing test or the code that it runs comes first.

use serde_json::Value;

use crate::localize_causes::located;

/// Returns the position of a symbol among the suspects, from 1.
fn rank(found: &Value, symbol: &str) -> usize {
    let suspects = found["suspects"].as_array().expect("a list");
    let position = suspects.iter().position(|it| it["symbol"] == symbol);
    position.unwrap_or_else(|| panic!("no {symbol:?}: {found:#}")) + 1
}

#[test]
fn a_test_comes_after_code_that_few_passing_tests_run() {
    let code = "\
STORE = {}


def key(fn, args, kwargs):
    return (fn.__name__, args)


def memo(fn):
    def call(*args, **kwargs):
        k = key(fn, args, kwargs)
        if k not in STORE:
            STORE[k] = fn(*args, **kwargs)
        return STORE[k]
    return call


@memo
def power(base, exponent=2):
    return base ** exponent
";
    let tests = "\
from stock import power


def test_square():
    assert power(3) == 9


def test_again():
    assert power(3) == 9


def test_more():
    assert power(4) == 16


def test_cube():
    assert power(5) == 25
    assert power(5, exponent=3) == 125
";
    let found = located(code, tests);
    assert!(rank(&found, "key") < rank(&found, "test_cube"), "{found:#}");
}

#[test]
fn a_test_comes_after_a_constant_that_misleads_a_function_far_from_it() {
    let code = "\
import re

NUMBER = re.compile(r'\\d+')
WORD = re.compile(r'[a-z]+')


def tokens(text):
    at = 0
    while at < len(text):
        for pattern in (NUMBER, WORD):
            found = pattern.match(text, at)
            if found:
                break
        else:
            raise ValueError(text[at])
        at = found.end()
        yield found.group()


def words(text):
    return [it for it in tokens(text) if it.isalpha()]


def numbers(text):
    return [float(it) for it in tokens(text) if not it.isalpha()]
";
    let tests = "\
from stock import numbers, words


def test_words():
    assert words('a1b') == ['a', 'b']


def test_numbers():
    assert numbers('1a22') == [1, 22]


def test_float():
    assert numbers('1.5') == [1.5]
";
    let found = located(code, tests);
    assert!(rank(&found, "") < rank(&found, "test_float"), "{found:#}");
}

#[test]
fn a_test_that_contradicts_many_others_comes_first() {
    let code = "def double(x):\n    return x * 2\n";
    let right = |x: i64| format!("def test_{x}():\n    assert double({x}) == {}\n", x * 2);
    let right: String = (0..8).map(right).collect();
    let tests = format!(
        "from stock import double\n\n{right}\ndef test_wrong():\n    assert double(9) == 19\n"
    );
    let found = located(code, &tests);
    assert_eq!(rank(&found, "test_wrong"), 1, "{found:#}");
}
