//! Types of items: narrowed by tests and assignments, and declared by `TypedDict`.

use super::check_each;

#[test]
fn a_key_of_a_typed_dict_has_its_declared_type() {
    check_each(&[
        "from typing import NotRequired, TypedDict
class M(TypedDict):
    a: A
    b: NotRequired[B]
class N(M, total=False):
    c: A
def use(m: M, n: N):
    m['a'].«x»
    m['b'].x
    n['a'].«x»
    n['c'].«x»",
        "from typing import NotRequired, TypedDict
class M(TypedDict):
    a: A
    b: NotRequired[B]
class N(M, total=False):
    c: A
m: M = {'a': A(), 'b': B()}
m['a'].«x»
M(a=A(), b=B())['a'].«x»",
        "from typing import NotRequired, TypedDict
class M(TypedDict):
    a: A
    b: NotRequired[B]
class N(M, total=False):
    c: A
def use(all: list[M]):
    for m in all:
        m['a'].«x»
        m['b'].x
    [m['a'].«x» for m in all]",
        "from typing import Generic, TypedDict, TypeVar
T = TypeVar('T')
class Page(TypedDict, Generic[T]):
    item: T
def use(page: Page[A], other: Page[B]):
    page['item'].«x»
    other['item'].x",
    ]);
}

#[test]
fn methods_of_a_typed_dict_return_what_the_key_declares() {
    check_each(&["from typing import NotRequired, TypedDict
class M(TypedDict):
    a: A
    b: NotRequired[B]
class N(M, total=False):
    c: A
def use(m: M):
    m.get('a').«x»
    m.get('b').x
    m.get('a', A()).«x»
    m.pop('a').«x»
    m.setdefault('a', A()).«x»
    if (a := m.get('a')): a.«x»"]);
}

#[test]
fn a_test_narrows_an_item() {
    check_each(&[
        "def use(d):
    if isinstance(d['a'], A):
        d['a'].«x»",
        "def use(d: list[A | None], e: dict[str, A | B]):
    if d[0] is not None:
        d[0].«x»
    if d[-1]: d[-1].«x»
    if isinstance(e['k'], A):
        e['k'].«x»
    else:
        e['k'].x",
        "def use(d, k):
    if isinstance(d[k], A):
        d[k].«x»",
        "def use(self, d):
    if not isinstance(self.items[0].one, A): return
    self.items[0].one.«x»",
        "def use(d):
    assert isinstance(d['a']['b'], A)
    return d['a']['b'].«x»",
    ]);
}

#[test]
fn an_assignment_to_an_item_is_read_back() {
    check_each(&[
        "d = {}
d['a'] = A()
d['a'].«x»
d['b'] = B()
d['b'].x
d['a'].«x»",
        "items = [None, None]
items[0] = A()
items[0].«x»
items[1] = B()
items[1].x",
    ]);
}

#[test]
fn a_mapping_pattern_narrows_its_value() {
    check_each(&["def use(v):
    match v:
        case {'k': A() as it}: it.«x»
        case {'k': B() as it}: it.x"]);
}

#[test]
fn an_item_is_not_narrowed_after_its_key_or_object_changed() {
    let text = "\
class A:
    def __init__(self):
        self.x = 1

def use(d, k, other):
    if isinstance(d[k], A):
        k = other
        d[k].x
    if isinstance(d['a'], A):
        d[k] = other
        d['a'].x
    if isinstance(d['b'], A):
        d = other
        d['b'].x
";
    assert_eq!(super::doubtful(text, "x = 1"), 3);
}

#[test]
fn a_container_of_ones_own_may_store_something_else() {
    let text = "\
class A:
    def __init__(self):
        self.x = 1

class Own(dict):
    def __getitem__(self, key): return object_of(key)

own = Own()
own['a'] = A()
own['a'].x
";
    assert_eq!(super::doubtful(text, "x = 1"), 1);
}
