//! `trellis localize` on failures whose cause is not where they show.

use serde_json::Value;

use crate::world::World;

/// Localizes the failures of one module and one test file, without trials.
pub(crate) fn located(code: &str, tests: &str) -> Value {
    located_with("--trials=0", code, tests)
}

fn located_with(trials: &str, code: &str, tests: &str) -> Value {
    let world = World::new();
    world.write("p/stock.py", code);
    world.write("p/test_stock.py", tests);
    let arguments = ["localize", "p", "--json", "--sandbox=local", trials];
    world.trellis(&arguments).exits(0).json()
}

fn symbols(found: &Value) -> Vec<&str> {
    let suspects = found["suspects"].as_array().expect("a list");
    suspects.iter().map(|it| it["symbol"].as_str().unwrap_or_default()).collect()
}

const SERVICE: &str = "\
import logging


def amount(text):
    number, unit = text.split(' ')
    return int(number), unit


def describe(error, text):
    logging.getLogger('stock').warning('%s: %s', text, error)


def refused(text):
    return {'status': 400, 'text': text}


def order(text):
    try:
        number, unit = amount(text)
    except ValueError as error:
        describe(error, text)
        return refused(text)
    return {'status': 200, 'number': number}
";

const ORDERS: &str = "\
import stock


def test_boxes():
    assert stock.order('3 boxes')['status'] == 200


def test_bags():
    assert stock.order('4 bags')['status'] == 200


def test_large_boxes():
    assert stock.order('3 large boxes')['status'] == 200
";

#[test]
fn a_caught_exception_leads_to_its_place_and_not_to_its_handling() {
    let found = located(SERVICE, ORDERS);
    let symbols = symbols(&found);
    assert_eq!(symbols[0], "amount", "{found:#}");
    let handling = symbols.iter().position(|it| ["describe", "refused"].contains(it));
    assert!(handling.is_none_or(|it| it > 1), "{found:#}");
}

#[test]
fn an_edit_that_avoids_a_caught_exception_is_no_repair() {
    // The handler of everything returns just a number, so the dodge is one edit away: any call that
    // does not raise makes the failing test pass.
    let code = "\
def amount(text):
    number, unit = text.split(' ')
    return {number: unit}


def page(text):
    return 'ok ' + str(amount(text))


def order(text):
    try:
        return {'status': 200, 'page': page(text)}
    except ValueError:
        return {'status': 400}
";
    let found = located_with("--trials=60", code, ORDERS);
    assert_eq!(symbols(&found)[0], "amount", "{found:#}");
    let suspects = found["suspects"].as_array().expect("a list");
    let dodges: Vec<_> = suspects.iter().filter(|it| !it["repair"].is_null()).collect();
    assert!(!dodges.is_empty(), "{found:#}");
    assert!(dodges.iter().all(|it| it["isProven"] == false), "{found:#}");
}

#[test]
fn a_constant_that_says_more_than_its_reader_comes_before_it() {
    let code = "\
import re

WORD = re.compile(r'([a-z]+)(?:-[a-z]*)?')
LIMIT = 3


def words(text):
    return WORD.findall(text)


def shown(text):
    found = words(text)
    return ', '.join(found[:LIMIT])
";
    let tests = "\
from stock import shown


def test_one():
    assert shown('tea') == 'tea'


def test_with_a_number():
    assert shown('tea-2') == 'tea-2'
";
    let found = located(code, tests);
    let symbols = symbols(&found);
    let place = |name: &str| symbols.iter().position(|it| *it == name);
    assert!(place("").is_some_and(|it| Some(it) < place("words")), "{found:#}");
}

#[test]
fn a_missing_attribute_leads_to_the_method_that_should_set_it() {
    let code = "\
class Shelf:
    def __init__(self, goods=None):
        if goods is None:
            self.goods = []
            return
        self.goods = list(goods)
        self.limit = len(self.goods) + 10

    def put(self, item):
        self.goods.append(item)
        return len(self.goods)

    def room(self):
        return self.limit - len(self.goods)
";
    let tests = "\
from stock import Shelf


def test_put():
    assert Shelf().put('tea') == 1


def test_room():
    assert Shelf(['tea']).room() == 10


def test_room_of_an_empty_shelf():
    assert Shelf().room() == 10
";
    let found = located(code, tests);
    assert_eq!(symbols(&found)[0], "Shelf.__init__", "{found:#}");
}

#[test]
fn a_none_leads_to_the_function_that_returned_it() {
    let code = "\
PRICES = {'tea': 3, 'salt': 1}


def price(name):
    if name in PRICES:
        return PRICES[name]


def total(names):
    result = 0
    for name in names:
        result = result + price(name.lower())
    return result
";
    let tests = "\
from stock import total


def test_tea():
    assert total(['tea', 'salt']) == 4


def test_unknown_goods_cost_nothing():
    assert total(['tea', 'gold']) == 3
";
    let found = located(code, tests);
    assert_eq!(symbols(&found)[0], "price", "{found:#}");
}

const LABEL: &str = "\
class Label:
    def __init__(self, text, size):
        self.text = text
        self.size = size

    def __eq__(self, other):
        return (self.text, self.size) == (other.text, other.size)

    def __repr__(self):
        return 'Label(%s, %s)' % (shown(self.text), self.size)


def shown(text):
    return repr(text)


def cut(label, size):
    if len(label.text) >= size:
        return Label(label.text[:size - 1], label.size)
    return label
";

#[test]
fn what_shows_or_follows_a_failure_is_no_suspect() {
    let plain = "\
from stock import Label, cut


def test_short():
    assert cut(Label('tea', 1), 5) == Label('tea', 1)


def test_long():
    assert cut(Label('green tea', 1), 6) == Label('green', 1)


def test_exact():
    assert cut(Label('salt', 1), 4) == Label('salt', 1)
";
    let unittest = "\
import unittest

from stock import Label, cut, shown


class Cut(unittest.TestCase):
    def tearDown(self):
        if self._outcome.success is False:
            shown('what is left')

    def test_short(self):
        self.assertEqual(cut(Label('tea', 1), 5), Label('tea', 1))

    def test_exact(self):
        self.assertEqual(cut(Label('salt', 1), 4), Label('salt', 1))
";
    for tests in [plain, unittest] {
        let found = located(LABEL, tests);
        assert_eq!(symbols(&found)[0], "cut", "{found:#}");
        for shows in ["Label.__repr__", "shown"] {
            assert!(!symbols(&found).contains(&shows), "{found:#}");
        }
    }
}

#[test]
fn what_a_helper_calls_to_report_a_difference_is_no_suspect() {
    let code = "\
def difference(left, right):
    return [pair for pair in zip(left, right) if pair[0] != pair[1]]


def joined(words):
    return '-'.join(word.strip() for word in words if word)


def title(words):
    return joined(words[1:]).title()
";
    let tests = "\
from stock import difference, title


def same(actual, expected):
    if actual != expected:
        raise AssertionError(difference(actual, expected))


def test_one():
    same(title(['', 'tea']), 'Tea')


def test_two():
    same(title(['green', 'tea']), 'Green-Tea')
";
    let found = located(code, tests);
    assert_eq!(symbols(&found)[0], "title", "{found:#}");
    assert!(!symbols(&found).contains(&"difference"), "{found:#}");
}
