//! Results of functions without annotations, which follow from the arguments.

use trellis_python::Index;

use super::{Project, check_each, project};
use crate::marked::check;

#[test]
fn a_function_returns_what_it_was_given() {
    check_each(&[
        "def ident(v): return v
ident(A()).«x»
ident(B()).x",
        "def ident(n, v): return v
ident(v=A(), n=1).«x»",
        "def local(v):
    w = v
    return w
local(A()).«x»",
        "class C:
    def ident(self, v): return v
    @staticmethod
    def same(v): return v
    @classmethod
    def other(cls, v): return v
C().ident(A()).«x»
C.same(A()).«x»
C().other(A()).«x»",
        "ident = lambda v: v
ident(A()).«x»",
        "async def ident(v): return v
async def use():
    (await ident(A())).«x»",
    ]);
}

#[test]
fn a_function_returns_a_part_of_what_it_was_given() {
    check_each(&[
        "def first(items): return items[0]
first([A()]).«x»
first((B(), A())).x",
        "def first(*items): return items[0]
first(A(), B()).«x»",
        "def found(items):
    for it in items:
        return it
found([A()]).«x»",
        "def child(v): return v.child
child(A()).«x»",
        "def ordered(items): return sorted(items, key=lambda it: it.child)
ordered([A()])[0].«x»",
        "def table(items): return {k: v for k, v in items}
table([(1, A())])[1].«x»",
    ]);
}

#[test]
fn a_function_creates_what_its_argument_says() {
    check_each(&[
        "def make(cls): return cls()
make(A).«x»
make(B).x",
        "def apply(f, v): return f(v)
apply(lambda it: it, A()).«x»",
    ]);
}

#[test]
fn a_generator_yields_what_it_was_given() {
    check_each(&[
        "def each(items):
    for it in items:
        yield it
for it in each([A()]): it.«x»",
        "from contextlib import contextmanager
@contextmanager
def open_(v): yield v
with open_(A()) as it: it.«x»",
    ]);
}

#[test]
fn a_default_counts_where_nothing_is_given() {
    check_each(&[
        "def some(v=None): return v or A()
some().«x»",
        "def some(v=1): return v
some(A()).«x»",
        "def some(v=None):
    if v is None:
        v = A()
    return v
some().«x»",
    ]);
}

#[test]
fn calls_inside_calls_are_followed() {
    check_each(&[
        "def ident(v): return v
def again(v): return ident(v)
again(A()).«x»
ident(ident(A())).«x»",
        "def last(v):
    if v.child:
        return last(v.child)
    return v
last(A()).«x»",
        "def deeper(v): return deeper([v])
deeper(1)
A().«x»",
        "def odd(v): return even(v) if v else v
def even(v): return odd(v) if v else v
odd(A()).«x»",
    ]);
}

#[test]
fn closures_keep_what_the_function_around_was_given() {
    check_each(&[
        "def outer(v):
    def inner(): return v
    return inner
outer(A())().«x»
outer(B())().x",
        "def adder(v): return lambda w: (w, v)
adder(A())(B())[1].«x»
adder(A())(B())[0].x",
        "def compose(f, g): return lambda v: f(g(v))
compose(lambda it: it, lambda it: it)(A()).«x»",
        "def logged(f):
    def wrapper(n): return f(n)
    return wrapper
@logged
def make(n): return A()
make(1).«x»
@logged
def other(n): return B()
other(1).x",
        "def nested(v):
    def one(w):
        def two(): return w, v
        return two
    return one
nested(A())(B())()[1].«x»
nested(A())(B())()[0].x",
        "def fact(v, n): return v if not n else fact(v, n - 1)
fact(A(), 3).«x»",
    ]);
}

#[test]
fn the_function_and_its_call_may_be_in_different_files() {
    check_each(&["## other.py
from main import A, B
from util import ident
ident(A()).«x»
ident(B()).x
## util.py
def ident(v): return v"]);
}

#[test]
fn a_function_given_as_a_callback_returns_what_it_receives() {
    check_each(&[
        "def ident(v): return v
for it in map(ident, [A()]): it.«x»",
        "def ident(v): return v
for it in map(lambda v: ident(v), [A()]): it.«x»",
    ]);
}

#[test]
fn a_method_of_a_base_sees_the_class_it_is_called_on() {
    check_each(&[
        "class Mixin:
    def first(self): return self.item
class C(Mixin):
    def __init__(self):
        self.item = A()
C().first().«x»",
        "class Base:
    kind = None
    def make(self): raise NotImplementedError
    def get(self): return self.make()
    def new(self): return self.kind()
class C(Base):
    kind = A
    def make(self): return A()
C().get().«x»
C().new().«x»",
    ]);
}

/// Functions that call each other in circles, with results that depend on their arguments.
const CIRCLES: &str = "\
class A:
    x = 1

class B:
    x = 2

def one(v): return two(v) if v else three([v])
def two(v): return three(v) or one(v)
def three(v): return v if v else one(v) or four(v, A())
def four(v, w): return two(w) if v else (three(v), w)
def five(*vs): return [one(v) for v in vs] + [four(v, five(v)) for v in vs]

one(A()).x
two(B()).x
three(A()).x
four(1, B()).x
five(A())[0].x
five(B(), A())[0].x
";

#[test]
fn no_answer_depends_on_the_order_of_the_questions() {
    let Project { index, .. } = project(CIRCLES);
    let file = index.file("main.py").unwrap();
    let ask = |index: &Index, at: usize| format!("{:?}", index.references(file, at));
    let places: Vec<usize> = CIRCLES.match_indices("x").map(|(at, _)| at).collect();
    let there: Vec<String> = {
        let index = index.clone();
        places.iter().map(|it| ask(&index, *it)).collect()
    };
    let mut back: Vec<String> = {
        let index = index.clone();
        places.iter().rev().map(|it| ask(&index, *it)).collect()
    };
    back.reverse();
    assert_eq!(there, back);
    let alone: Vec<String> = places.iter().map(|it| ask(&index.clone(), *it)).collect();
    assert_eq!(there, alone);
}

#[test]
fn fields_are_keywords_of_constructors_that_others_write() {
    check(
        "from dataclasses import dataclass\n@dataclass\nclass I:\n    x: int\n    «base»: int = 0\nclass J(I):\n    def __init__(self, b): super().__init__(1, «base»=b)\nclass K(I):\n    def __init__(self, b): I.__init__(self, x=1, «base»=b)\n",
    );
    check(
        "from typing import dataclass_transform\n@dataclass_transform()\nclass Base:\n    def __init__(self, **kw): self.__dict__.update(kw)\nclass Item(Base):\n    «qty»: int\nItem(‹qty›=2).«qty»\n",
    );
    check(
        "from pydantic import BaseModel\nclass Item(BaseModel):\n    «qty»: int\n    def show(self, qty): return qty\nItem(‹qty›=2).«qty»\nItem().show(qty=1)\n",
    );
}

#[test]
fn decorators_of_the_workspace_may_make_dataclasses() {
    check(
        "import dataclasses, functools\nfrozen = functools.partial(dataclasses.dataclass, frozen=True)\n@frozen\nclass Item:\n    «qty»: int\nItem(«qty»=2)\n",
    );
    check(
        "from dataclasses import dataclass\ndef model(cls): return dataclass(frozen=True)(cls)\n@model\nclass Item:\n    «qty»: int\nItem(«qty»=2)\n",
    );
}
