//! Values that come out of the language itself and its library.

use super::check_each;

#[test]
fn a_starred_tuple_keeps_the_types_of_its_parts() {
    check_each(&[
        "t = (*(A(), B()), A())
t[0].«x»
t[1].x
t[2].«x»
a, *rest = (A(), A(), A())
a.«x»
rest[0].«x»
*init, last = [A()]
last.«x»",
        "def f(*items): return items
f(*(B(),), A())
[*[A()]][0].«x»",
    ]);
}

#[test]
fn yield_from_gives_what_the_generator_returned() {
    check_each(&[
        "def inner():
    yield B()
    return A()
def outer():
    result = yield from inner()
    result.«x»
for it in outer(): it.x",
        "class C:
    def __iter__(self): yield A()
def outer():
    yield from C()
for it in outer(): it.«x»",
    ]);
}

#[test]
fn dicts_are_made_in_many_ways() {
    check_each(&[
        "d = {k: A() for k in 'ab'}
dict(a=A())['a'].«x»
{**d}['a'].«x»
(d | d)['a'].«x»
dict(d, b=A())['b'].«x»
dict(zip('ab', [A()]))['a'].«x»
dict([(1, A())])[1].«x»
for k, v in {**d}.items(): v.«x»",
        "from collections import ChainMap, OrderedDict, defaultdict
d = defaultdict(lambda: A())
d[1].«x»
e = defaultdict(lambda: defaultdict(A))
e[1][2].«x»
OrderedDict([(1, A())])[1].«x»",
    ]);
}

#[test]
fn the_largest_and_the_smallest_are_of_the_same_class() {
    check_each(&[
        "max(A(), A(), A(), key=lambda it: it.«x»).«x»
min([A()], key=lambda it: it.«x»).«x»
max({1: A()}.values(), key=lambda it: it.«x»).«x»
min([A()], default=A()).«x»
sorted({1: A()}.items(), key=lambda it: it[1].«x»)[0][1].«x»",
        "from functools import reduce
reduce(lambda a, b: a if a.«x» else b, [A()]).«x»",
    ]);
}
