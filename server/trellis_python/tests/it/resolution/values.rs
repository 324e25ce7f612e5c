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

#[test]
fn a_key_of_a_display_has_the_value_beside_it() {
    check_each(&[
        "m = {'a': A(), 'b': B()}
m['a'].«x»
m['b'].x",
        "KINDS = {'a': A, 1: B}
def use():
    KINDS['a']().«x»
    KINDS[1]().x",
    ]);
}

#[test]
fn a_name_that_an_inner_function_assigns_may_hold_its_value() {
    check_each(&[
        "a = None
def init():
    global a
    a = A()
init()
a.«x»
def use(): a.«x»",
        "def use():
    a = None
    def init():
        nonlocal a
        a = A()
    init()
    a.«x»",
    ]);
}

#[test]
fn unpacked_arguments_are_those_of_a_function_that_takes_any_number() {
    check_each(&["import asyncio, itertools
async def f(): return A()
async def use():
    for it in await asyncio.gather(*[f() for _ in 'ab']): it.«x»
for it in itertools.chain(*[[A()]]): it.«x»
for a, b in zip(*[[A()], [A()]]): a.«x»
tuple([A()])[0].«x»"]);
}

#[test]
fn a_group_of_exceptions_holds_the_caught_ones() {
    check_each(&["class E(Exception):
    a = A()
try: ...
except* E as group:
    for it in group.exceptions: it.a.«x»"]);
}

#[test]
fn a_generic_class_knows_its_elements_without_annotations() {
    check_each(&["from typing import Generic, TypeVar
T = TypeVar('T')
class Stack(Generic[T]):
    def __init__(self) -> None:
        self.items: list[T] = []
    def top(self): return self.items[-1]
    def all(self): return [it for it in self.items]
s = Stack[A]()
s.top().«x»
s.all()[0].«x»"]);
}

#[test]
fn parts_of_what_was_given_keep_their_types() {
    check_each(&[
        "def swap(a, b): return b, a
q, w = swap(1, A())
q.«x»",
        "def chunks(items, n):
    for i in range(0, len(items), n):
        yield items[i:i + n]
for c in chunks([A()], 2): c[0].«x»",
        "def pipe(v, *fs):
    for f in fs:
        v = f(v)
    return v
pipe(A(), lambda it: it).«x»",
        "def coalesce(*vs):
    for v in vs:
        if v is not None:
            return v
coalesce(None, A()).«x»",
        "def build(kind, **kw):
    classes = {'a': A}
    return classes[kind](**kw)
build('a').«x»",
    ]);
}
