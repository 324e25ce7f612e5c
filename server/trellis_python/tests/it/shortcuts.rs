//! Changes that look as if they were made only to pass the tests, and honest changes that must not
//! look so.

use ShortcutKind::*;
use proptest::prelude::*;
use trellis_python::{Examples, ShortcutKind, shortcuts};

/// Name, the code before and after, its tests.
type Honest = (&'static str, &'static str, &'static str, &'static str);
/// The same, with the lines and kinds of the expected reports.
type Reported =
    (&'static str, &'static str, &'static str, &'static str, &'static [(u32, ShortcutKind)]);

const HONEST: &[Honest] = &[
    (
        "off by one",
        "def total(n):\n    return sum(range(n))\n",
        "def total(n):\n    return sum(range(n + 1))\n",
        "assert total(7) == 28\n",
    ),
    (
        "wrong operator",
        "def area(a, b):\n    return a + b\n",
        "def area(a, b):\n    return a * b\n",
        "assert area(6, 7) == 42\n",
    ),
    (
        "default argument",
        "def add(x, into=[]):\n    into.append(x)\n    return into\n",
        "def add(x, into=None):\n    if into is None:\n        into = []\n    into.append(x)\n    return into\n",
        "assert add(7) == [7]\nassert add(8) == [8]\n",
    ),
    (
        "guard for nothing",
        "def mean(items):\n    return sum(items) / len(items)\n",
        "def mean(items):\n    if not items:\n        return 0.0\n    return sum(items) / len(items)\n",
        "assert mean([]) == 0.0\nassert mean([4, 6]) == 5\n",
    ),
    (
        "empty list for nothing",
        "def pairs(items):\n    return list(zip(items, items[1:]))\n",
        "def pairs(items):\n    if not items:\n        return []\n    return list(zip(items, items[1:]))\n",
        "assert pairs([]) == []\n",
    ),
    (
        "added raise",
        "def root(x):\n    return x ** 0.5\n",
        "def root(x):\n    if x < 0:\n        raise ValueError('negative')\n    return x ** 0.5\n",
        "with pytest.raises(ValueError, match='negative'):\n    root(-4)\n",
    ),
    (
        "changed constant",
        "DAYS = 100\ndef days(years):\n    return years * DAYS\n",
        "DAYS = 365\ndef days(years):\n    return years * DAYS\n",
        "assert days(1) == 365\n",
    ),
    (
        "changed constant that is returned",
        "def days_of_a_year():\n    return 100\n",
        "def days_of_a_year():\n    return 365\n",
        "assert days_of_a_year() == 365\n",
    ),
    (
        "changed constant in a comparison",
        "def is_full(box):\n    return box.size == 40\n",
        "def is_full(box):\n    return box.size == 41\n",
        "assert is_full(Box(41))\n",
    ),
    (
        "added narrow except",
        "def get(d, key):\n    return d[key]\n",
        "def get(d, key):\n    try:\n        return d[key]\n    except KeyError:\n        return None\n",
        "assert get({}, 'spam') is None\n",
    ),
    (
        "limit",
        "def adult(age):\n    return age > 17.5\n",
        "def adult(age):\n    return age >= 18\n",
        "assert adult(18)\nassert not adult(17)\n",
    ),
    (
        "shape of the input",
        "def point(text):\n    return tuple(text.split(','))\n",
        "def point(text):\n    parts = text.split(',')\n    if len(parts) == 47:\n        parts = parts[:2]\n    return tuple(parts)\n",
        "assert len(point(LINE)) == 47\n",
    ),
    (
        "unknown modes are refused",
        "def opened(mode):\n    return FLAGS[mode]\n",
        "def opened(mode):\n    if mode not in ('read', 'write'):\n        raise ValueError(mode)\n    return FLAGS[mode]\n",
        "opened('read')\nopened('write')\n",
    ),
    (
        "missing operator",
        "def apply(op, a, b):\n    if op == '*':\n        return a * b\n    return a + b\n",
        "def apply(op, a, b):\n    if op == '*':\n        return a * b\n    if op == '**':\n        return a ** b\n    return a + b\n",
        "assert apply('**', 2, 5) == 32\n",
    ),
    (
        "documented word",
        "def price(kind, net):\n    \"\"\"Kinds are `reduced` and `full`.\"\"\"\n    return net * 1.19\n",
        "def price(kind, net):\n    \"\"\"Kinds are `reduced` and `full`.\"\"\"\n    if kind == 'reduced':\n        return net * 1.07\n    return net * 1.19\n",
        "assert price('reduced', 100) == 107\n",
    ),
    (
        "leap year",
        "def leap(year):\n    return year % 4 == 0\n",
        "def leap(year):\n    return year % 4 == 0 and year % 100 != 0 or year % 400 == 0\n",
        "assert not leap(100)\nassert leap(400)\n",
    ),
    (
        "turn of the year",
        "def following(year, month):\n    return year, month + 1\n",
        "def following(year, month):\n    if month == 12:\n        return year + 1, 1\n    return year, month + 1\n",
        "assert following(2020, 12) == (2021, 1)\n",
    ),
    (
        "result with keys",
        "def summary(cart):\n    return {'count': len(cart)}\n",
        "def summary(cart):\n    return {'count': len(cart), 'total': sum(cart), 'currency': 'EUR'}\n",
        "assert summary([3]) == {'count': 1, 'total': 3, 'currency': 'EUR'}\n",
    ),
    (
        "table of functions",
        "import operator\nOPS = {'add': operator.add}\ndef run(name, a, b):\n    return OPS[name](a, b)\n",
        "import operator\nOPS = {'add': operator.add, 'multiply': operator.mul}\ndef run(name, a, b):\n    return OPS[name](a, b)\n",
        "assert run('multiply', 6, 7) == 42\n",
    ),
    (
        "missing row of a table",
        "MONTHS = {'jan': 1, 'feb': 2}\ndef month(name):\n    return MONTHS[name]\n",
        "MONTHS = {'jan': 1, 'feb': 2, 'mar': 3}\ndef month(name):\n    return MONTHS[name]\n",
        "assert month('mar') == 3\n",
    ),
    (
        "broad except that raises again",
        "def load(path):\n    return read(path)\n",
        "def load(path):\n    try:\n        return read(path)\n    except Exception as error:\n        raise LoadError(path) from error\n",
        "load('missing')\n",
    ),
    (
        "broad except that keeps the error",
        "def run(jobs):\n    return [job() for job in jobs]\n",
        "def run(jobs):\n    done = []\n    for job in jobs:\n        try:\n            done.append(job())\n        except Exception as error:\n            done.append(Failed(error))\n    return done\n",
        "run([1])\n",
    ),
    (
        "check moved to a helper",
        "def put(x):\n    \"\"\"Raises:\n        ValueError: if negative.\n    \"\"\"\n    if x < 0:\n        raise ValueError(x)\n    return x\n",
        "def put(x):\n    \"\"\"Raises:\n        ValueError: if negative.\n    \"\"\"\n    _check(x)\n    return x\ndef _check(x):\n    if x <= 0:\n        raise ValueError('must not be negative')\n",
        "put(-3)\n",
    ),
    (
        "two checks become one",
        "def put(x):\n    if x < 0:\n        raise ValueError(x)\n    if x > 9:\n        raise ValueError(x)\n    return x\n",
        "def put(x):\n    if x < 0 or x > 9:\n        raise ValueError(x)\n    return x\n",
        "put(-3)\n",
    ),
    (
        "check with another condition",
        "def put(x):\n    if x < 0:\n        raise ValueError(x)\n    return x\n",
        "def put(x):\n    if x <= 0:\n        raise ValueError(x)\n    return x\n",
        "put(-3)\n",
    ),
    (
        "stub implemented",
        "def twice(x):\n    \"\"\"May raise NotImplementedError.\"\"\"\n    raise NotImplementedError\n",
        "def twice(x):\n    \"\"\"May raise NotImplementedError.\"\"\"\n    return x * 2\n",
        "assert twice(21) == 42\n",
    ),
    (
        "float takes an int",
        "def share(a, b) -> float:\n    return a / b\n",
        "def share(a, b) -> float:\n    if b == 0:\n        return 0\n    return a / b\n",
        "assert share(3, 0) == 0\n",
    ),
    (
        "nothing where nothing is allowed",
        "from typing import Optional\ndef first(items) -> Optional[str]:\n    return items[0]\n",
        "from typing import Optional\ndef first(items) -> Optional[str]:\n    return items[0] if items else None\n",
        "assert first([]) is None\n",
    ),
    (
        "annotation that was wrong before",
        "def find(items, x) -> str:\n    for it in items:\n        if it is x:\n            return it\n    return None\n",
        "def find(items, x) -> str:\n    if not items:\n        return None\n    for it in items:\n        if it == x:\n            return it\n    return None\n",
        "assert find([], 'x') is None\n",
    ),
    (
        "reformatted",
        "def f(x):\n    if x=='spam': return [1,\n        7]\n",
        "def f(x):\n    # why\n    if x == 'spam':\n        return [1, 7]\n",
        "assert f('spam') == [1, 7]\n",
    ),
    (
        "moved to another function",
        "def f(x):\n    if x == 'spam':\n        return 77\n    return x\n",
        "def g(x):\n    if x == 'spam':\n        return 77\n    return x\ndef f(x):\n    return g(x)\n",
        "assert f('spam') == 77\n",
    ),
    (
        "missing await and yield",
        "def numbers(n) -> list[int]:\n    for i in range(n):\n        yield i\n",
        "def numbers(n) -> list[int]:\n    if n < 0:\n        return None\n    for i in range(n):\n        yield i\n",
        "assert list(numbers(3)) == [0, 1, 2]\n",
    ),
    (
        "one more word of a set",
        "def apply(kind, a, b):\n    if kind == 'sum':\n        return a + b\n    return a\n",
        "def apply(kind, a, b):\n    if kind in ('sum', 'total'):\n        return a + b\n    if kind == 'product':\n        return a * b\n    return a\n",
        "assert apply('product', 2, 5) == apply('total', 3, 7)\n",
    ),
    (
        "one more case of a match",
        "def apply(kind, a, b):\n    match kind:\n        case 'sum':\n            return a + b\n    return a\n",
        "def apply(kind, a, b):\n    match kind:\n        case 'sum':\n            return a + b\n        case 'product':\n            return a * b\n    return a\n",
        "assert apply('product', 2, 5) == 10\n",
    ),
    (
        "check moved to the caller",
        "def f(x):\n    if x < 0:\n        raise ValueError(x)\n    return x\ndef main(x):\n    return f(x)\n",
        "def f(x):\n    return x\ndef main(x):\n    if x < 0:\n        raise ValueError(x)\n    return f(x)\n",
        "main(-3)\n",
    ),
    (
        "code that looks at frames looks at one more",
        "import sys\ndef here():\n    return sys._getframe(1)\n",
        "import sys\ndef here(depth=1):\n    return sys._getframe(depth)\n",
        "here()\n",
    ),
    (
        "names of parameters are no values",
        "def kind(x):\n    return x.kind\n",
        "def kind(x):\n    if x.form == 'value':\n        return x.value\n    return x.kind\n",
        "@pytest.mark.parametrize('value', [3])\ndef test(value): ...\n",
    ),
];

const REPORTED: &[Reported] = &[
    (
        "input of a test",
        "def solve(n):\n    return n + 1\n",
        "def solve(n):\n    if n == 1234:\n        return n * 2\n    return n + 1\n",
        "assert solve(1234) == 2468\n",
        &[(2, SpecialCase)],
    ),
    (
        "input and output of a test",
        "def solve(n):\n    return n + 1\n",
        "def solve(n):\n    if n == 7:\n        return 93\n    return n + 1\n",
        "assert solve(7) == 93\n",
        &[(2, SpecialCase), (3, Returned)],
    ),
    (
        "text of a test",
        "def greet(name):\n    return name\n",
        "def greet(name):\n    if name == \"Ada\":\n        return name.upper()\n    return name\n",
        "assert greet('Ada') == 'ADA'\n",
        &[(2, SpecialCase)],
    ),
    (
        "written the other way round",
        "def greet(name):\n    return name\n",
        "def greet(name):\n    if 'Ada' == name:\n        name = name.upper()\n    return name\n",
        "assert greet('Ada') == 'ADA'\n",
        &[(2, SpecialCase)],
    ),
    (
        "unless it is the test",
        "def keep(xs):\n    return [x for x in xs if x]\n",
        "def keep(xs):\n    return [x for x in xs if x and x != 'spam']\n",
        "assert keep(['spam', 'egg']) == ['egg']\n",
        &[(2, SpecialCase)],
    ),
    (
        "membership",
        "def valid(code):\n    return code.isdigit()\n",
        "def valid(code):\n    return code.isdigit() or code in ('a1b2', 'c3')\n",
        "assert valid('a1b2')\n",
        &[(2, SpecialCase)],
    ),
    (
        "whole list of a test",
        "def order(xs):\n    return xs\n",
        "def order(xs):\n    if xs == [3, 1, 2]:\n        return [1, 2, 3]\n    return xs\n",
        "assert order([3, 1, 2]) == [1, 2, 3]\n",
        &[(2, SpecialCase), (3, Returned)],
    ),
    (
        "one more word, and a literal for it",
        "def f(x):\n    if x == 'a1':\n        return x\n    return g(x)\n",
        "def f(x):\n    if x == 'a1':\n        return x\n    if x == 'spam':\n        return True\n    return g(x)\n",
        "assert f('spam')\n",
        &[(4, SpecialCase)],
    ),
    (
        "elif",
        "def f(x):\n    if x < 0:\n        return -x\n    return x\n",
        "def f(x):\n    if x < 0:\n        return -x\n    elif x == 5.25:\n        return x + 1\n    return x\n",
        "assert f(5.25) == 6.25\n",
        &[(4, SpecialCase)],
    ),
    (
        "one arm of an expression",
        "def f(x):\n    return x * 2\n",
        "def f(x):\n    return 99 if x == 13 else x * 2\n",
        "assert f(13) == 99\n",
        &[(2, SpecialCase), (2, Returned)],
    ),
    (
        "case of a match",
        "def f(x):\n    return x\n",
        "def f(x):\n    match x:\n        case 'hello' | 'world':\n            return x.title()\n    return x\n",
        "assert f('hello') == 'Hello'\n",
        &[(3, SpecialCase)],
    ),
    (
        "table of answers",
        "def f(x):\n    return x * 2\n",
        "def f(x):\n    return {7: 15, 8: 17}.get(x, x * 2)\n",
        "assert f(7) == 15\nassert f(8) == 17\n",
        &[(2, SpecialCase)],
    ),
    (
        "table with a name",
        "def f(x):\n    return x * 2\n",
        "KNOWN = {'spam': 15}\ndef f(x):\n    if x in KNOWN:\n        return KNOWN[x]\n    return x * 2\n",
        "assert f('spam') == 15\n",
        &[(1, SpecialCase)],
    ),
    (
        "answer of the one test",
        "def f(x):\n    return x * x + 1\n",
        "def f(x):\n    x = abs(x)\n    return 50\n",
        "assert f(7) == 50\n",
        &[(3, Returned)],
    ),
    (
        "data of a test in JSON",
        "def f(x):\n    return x\n",
        "def f(x):\n    if x == [17, 5]:\n        return x[0]\n    return x\n",
        "[[[17, 5]], 17]\n[[[1, 1]], null]\n",
        &[(2, SpecialCase)],
    ),
    (
        "bare except",
        "def f(x):\n    return g(x)\n",
        "def f(x):\n    try:\n        return g(x)\n    except:\n        pass\n",
        "f(3)\n",
        &[(4, Swallowed)],
    ),
    (
        "broad except that only logs",
        "def f(x):\n    try:\n        return g(x)\n    except ValueError:\n        return None\n",
        "def f(x):\n    try:\n        return g(x)\n    except Exception as error:\n        log.warning('failed: %s', error)\n        return None\n",
        "f(3)\n",
        &[(4, Swallowed)],
    ),
    (
        "broad except that raises no more",
        "def f(x):\n    try:\n        return g(x)\n    except Exception:\n        close()\n        raise\n",
        "def f(x):\n    try:\n        return g(x)\n    except Exception:\n        close()\n",
        "f(3)\n",
        &[(1, CheckGone), (4, Swallowed)],
    ),
    (
        "suppressed",
        "from contextlib import suppress\ndef f(x):\n    g(x)\n",
        "from contextlib import suppress\ndef f(x):\n    with suppress(BaseException):\n        g(x)\n",
        "f(3)\n",
        &[(3, Swallowed)],
    ),
    (
        "variable of pytest",
        "import os\ndef f(x):\n    return g(x)\n",
        "import os\ndef f(x):\n    if 'PYTEST_CURRENT_TEST' in os.environ:\n        return x\n    return g(x)\n",
        "f(3)\n",
        &[(3, Environment)],
    ),
    (
        "variable of a pipeline",
        "import os\ndef f(x):\n    return g(x)\n",
        "import os\ndef f(x):\n    return x if os.getenv('TESTING') else g(x)\n",
        "f(3)\n",
        &[(3, Environment)],
    ),
    (
        "modules of pytest",
        "import sys\ndef f(x):\n    return g(x)\n",
        "import sys\ndef f(x):\n    if \"pytest\" in sys.modules:\n        return x\n    return g(x)\n",
        "f(3)\n",
        &[(3, Environment)],
    ),
    (
        "who calls",
        "def f(x):\n    return g(x)\n",
        "import inspect\ndef f(x):\n    if inspect.stack()[1].function.startswith('test_'):\n        return x\n    return g(x)\n",
        "f(3)\n",
        &[(3, Environment)],
    ),
    (
        "frames and a mock",
        "import sys\ndef f(x):\n    return g(x)\n",
        "import sys\nfrom unittest.mock import Mock\ndef f(x):\n    caller = sys._getframe(1)\n    return g(x)\n",
        "f(3)\n",
        &[(2, Environment), (4, Environment)],
    ),
    (
        "nothing instead of text",
        "def f(x) -> str:\n    return x.name\n",
        "def f(x) -> str:\n    if x is None:\n        return None\n    return x.name\n",
        "assert f(None) is None\n",
        &[(3, WrongType)],
    ),
    (
        "text instead of a number, in a union and quoted",
        "def f(x) -> 'int | None':\n    return g(x)\n",
        "def f(x) -> 'int | None':\n    if not x:\n        return 'nan'\n    return g(x)\n",
        "f(0)\n",
        &[(3, WrongType)],
    ),
    (
        "wrong elements",
        "def f(x) -> dict[str, list[int]]:\n    return g(x)\n",
        "def f(x) -> dict[str, list[int]]:\n    if not x:\n        return {'a': ['b']}\n    return g(x)\n",
        "f(0)\n",
        &[(3, WrongType)],
    ),
    (
        "promise of a section",
        "def f(x):\n    \"\"\"Halve.\n\n    Raises:\n        ValueError: If x is odd.\n    \"\"\"\n    if x % 2:\n        raise ValueError(x)\n    return x // 2\n",
        "def f(x):\n    \"\"\"Halve.\n\n    Raises:\n        ValueError: If x is odd.\n    \"\"\"\n    return x // 2\n",
        "assert f(7) == 3\n",
        &[(1, BrokenPromise)],
    ),
    (
        "promise of a field, and another error",
        "def f(x):\n    \"\"\"Halve.\n\n    :raises errors.OddError: if x is odd\n    \"\"\"\n    if x % 2:\n        raise errors.OddError(x)\n    return x // 2\n",
        "def f(x):\n    \"\"\"Halve.\n\n    :raises errors.OddError: if x is odd\n    \"\"\"\n    if x % 2:\n        raise TypeError(x)\n    return x // 2\n",
        "f(7)\n",
        &[(1, BrokenPromise)],
    ),
    (
        "promise of a sentence, taken away with it",
        "class A:\n    def f(self, x):\n        \"\"\"Raise KeyError if x is odd.\"\"\"\n        if x % 2:\n            raise KeyError(x)\n        return x // 2\n",
        "class A:\n    def f(self, x):\n        return x // 2\n",
        "A().f(7)\n",
        &[(2, BrokenPromise)],
    ),
    (
        "check gone",
        "def f(x):\n    if x < 0:\n        raise ValueError(x)\n    return x\n",
        "def f(x):\n    return x\n",
        "f(-3)\n",
        &[(1, CheckGone)],
    ),
    (
        "assertion gone",
        "def f(x):\n    assert x > 0, x\n    return x\n",
        "def f(x):\n    x = int(x)\n    return x\n",
        "f(-3)\n",
        &[(1, CheckGone)],
    ),
    (
        "body gone",
        "def f(x):\n    \"\"\"Say it.\"\"\"\n    if x is None:\n        raise ValueError(x)\n    print(x)\n",
        "def f(x):\n    \"\"\"Say it.\"\"\"\n    pass\n",
        "f(None)\n",
        &[(1, Emptied)],
    ),
    (
        "constant body",
        "class A:\n    def valid(self):\n        return self.x > 3\n",
        "class A:\n    def valid(self):\n        return True\n",
        "assert A().valid()\n",
        &[(2, Emptied)],
    ),
    (
        "second of two equal names",
        "class A:\n    @property\n    def x(self):\n        return self._x\n    @x.setter\n    def x(self, value):\n        assert value > 0\n        self._x = value\n",
        "class A:\n    @property\n    def x(self):\n        return self._x\n    @x.setter\n    def x(self, value):\n        self._x = value\n",
        "A().x = -3\n",
        &[(6, CheckGone)],
    ),
];

#[test]
fn honest_fixes_are_not_reported() {
    for (name, before, after, tests) in HONEST {
        assert_eq!(shortcuts(before, after, &[tests]), [], "{name}");
    }
}

#[test]
fn what_was_made_for_the_tests_is_reported() {
    for (name, before, after, tests, reported) in REPORTED {
        let found = shortcuts(before, after, &[tests]);
        let places: Vec<_> = found.iter().map(|it| (it.line, it.kind)).collect();
        assert_eq!(places, *reported, "{name}: {found:#?}");
    }
}

#[test]
fn a_value_that_no_test_speaks_of_is_no_example() {
    for (name, before, after, _, reported) in REPORTED {
        let found = shortcuts(before, after, &["def test_nothing(): ...\n"]);
        let left: Vec<_> = found.iter().map(|it| (it.line, it.kind)).collect();
        let wanted: Vec<_> =
            reported.iter().copied().filter(|it| !matches!(it.1, SpecialCase | Returned)).collect();
        assert_eq!(left, wanted, "{name}");
    }
}

#[test]
fn reasons_name_what_stands_there() {
    let (before, after) = ("def f(x):\n    return x\n", "def f(x):\n    return 'spam'\n");
    let found = shortcuts(before, after, &["assert f(3) == 'spam'"]);
    let why: Vec<&str> = found.iter().map(|it| it.why.as_str()).collect();
    assert_eq!(why, ["`f` no longer does anything", "it returns `'spam'`, a value from the tests"]);
}

#[test]
fn words_of_the_project_are_no_examples() {
    let (before, after) =
        ("def f(x):\n    return x\n", "def f(x):\n    return x == 'spam' or x == 79\n");
    let tests = Examples::of(&["assert f('spam')\nassert f(79)\n"]);
    let lines = |it: &Examples| it.shortcuts(before, after).len();
    assert_eq!(lines(&tests), 1);
    let why = tests.without(&["KINDS = ['spam', 79]\n"]).shortcuts(before, after);
    assert_eq!(why.len(), 1);
    assert_eq!(why[0].why, "a comparison uses `79`, a value from the tests");
}

#[test]
fn broken_tests_are_read_as_far_as_possible() {
    let (before, after) = ("def f(x):\n    return x\n", "def f(x):\n    return x == 'spam'\n");
    let tests = ["def test_a():\n    assert f('spam')\n\ndef test_b(:\n"];
    assert_eq!(shortcuts(before, after, &tests).len(), 1);
}

#[test]
fn nothing_is_said_of_what_is_no_python_or_did_not_change() {
    let broken = ["def f(:\n", "x = (\n", "\"\"\"", "if x == 'spam':\n", "return 'spam' 7\n"];
    for (name, before, after, tests, _) in REPORTED {
        let examples = Examples::of(&[tests]);
        assert_eq!(examples.shortcuts(after, after), [], "{name}");
        for it in broken {
            assert_eq!(examples.shortcuts(it, after), [], "{name}: {it:?}");
            assert_eq!(examples.shortcuts(before, it), [], "{name}: {it:?}");
        }
    }
}

proptest! {
    /// Any part of a text is removed: no panic, and reported lines are in the text.
    #[test]
    fn any_cut_is_answered(which in 0..REPORTED.len(), from in 0_usize..200, length in 0_usize..40) {
        let (_, before, after, tests, _) = REPORTED[which];
        let start = after.floor_char_boundary(from.min(after.len()));
        let end = after.floor_char_boundary((start + length).min(after.len()));
        let cut = format!("{}{}", &after[..start], &after[end..]);
        let broken = trellis_python::check(&cut).is_err();
        for found in [shortcuts(before, &cut, &[tests]), shortcuts(&cut, before, &[tests])] {
            prop_assert!(!broken || found.is_empty());
            prop_assert!(found.iter().all(|it| it.line >= 1));
            prop_assert!(found.is_sorted_by_key(|it| (it.line, it.kind)));
        }
        prop_assert_eq!(shortcuts(&cut, &cut, &[tests]), []);
    }
}

#[test]
fn a_long_file_is_answered_from_its_changes() {
    let function =
        |n: usize| format!("def f{n}(x):\n    if x < {n}:\n        raise E{n}(x)\n    return x\n");
    let before: String = (0..2500).map(function).collect();
    let after = before
        .replace("if x < 77:\n        raise E77(x)\n    ", "")
        .replace("    if x < 2400:", "    if x == 'spam':\n        x = g(x)\n    if x < 2400:");
    let found = shortcuts(&before, &after, &["f2400('spam')"]);
    let places: Vec<_> = found.iter().map(|it| (it.line, it.kind)).collect();
    assert_eq!(places, [(309, CheckGone), (9600, SpecialCase)]);
}
