//! Functions behind partial calls, caches, dispatch and attributes that wrap them.

use super::{check, check_each};

#[test]
fn a_partial_call_returns_what_the_function_returns() {
    check_each(&[
        "from functools import cache, cached_property, lru_cache, partial, partialmethod, singledispatch, singledispatchmethod
def f(n, v): return A()
partial(f, 1)(2).«x»
g = partial(f, v=2)
g(1).«x»
partial(g, 1)().«x»
g.func(1, 2).«x»",
        "from functools import cache, cached_property, lru_cache, partial, partialmethod, singledispatch, singledispatchmethod
def f(n, v): return v
partial(f, 1)(A()).«x»
partial(f, v=A())(1).«x»
partial(f, v=B())(1, v=A()).«x»
partial(partial(f, 1), A())().«x»",
        "from functools import cache, cached_property, lru_cache, partial, partialmethod, singledispatch, singledispatchmethod
from typing import TypeVar
T = TypeVar('T')
def f(n: int, v: T) -> list[T]: return [v]
partial(f, 1)(A())[0].«x»
partial(f, v=A())(1)[0].«x»
partial(A)().«x»",
        "from functools import cache, cached_property, lru_cache, partial, partialmethod, singledispatch, singledispatchmethod
class C:
    def f(self, n, v): return v
partial(C().f, 1)(A()).«x»
for it in map(partial(C().f, 1), [A()]): it.«x»",
    ]);
}

#[test]
fn keywords_go_through_partial_calls() {
    check(
        "from functools import cache, cached_property, lru_cache, partial, partialmethod, singledispatch, singledispatchmethod
def f(n, «size»): return «size»
partial(f, 1)(«size»=2)
g = partial(f, «size»=2)
g(1, «size»=3)
h = partial(g, 1)
h(«size»=3)",
    );
    check(
        "from functools import cache, cached_property, lru_cache, partial, partialmethod, singledispatch, singledispatchmethod
class C:
    def f(self, n, «size»): return C()
    g = partialmethod(f, 1)
    h = partialmethod(f, «size»=1)
C().g(«size»=2)
C().h(1).g(«size»=1)",
    );
}

#[test]
fn a_cached_function_keeps_its_signature_and_result() {
    check(
        "from functools import cache, cached_property, lru_cache, partial, partialmethod, singledispatch, singledispatchmethod
class A:
    «x» = 1
@lru_cache
def f(n): return A()
@lru_cache(maxsize=None)
def g(n): return A()
@cache
def h(n): return A()
f(1).«x»
g(1).«x»
h(1).«x»
f.cache_clear()
lru_cache(maxsize=1)(f)(1).«x»
cache(f)(1).«x»
lru_cache(f)(1).«x»",
    );
    check(
        "from functools import cache, cached_property, lru_cache, partial, partialmethod, singledispatch, singledispatchmethod
@lru_cache(maxsize=None)
def f(«size»): return 1
f(«size»=1)
g = cache(f)
g(«size»=1)
h = lru_cache(maxsize=1)(f)
h(«size»=2)",
    );
    check(
        "from functools import cache, cached_property, lru_cache, partial, partialmethod, singledispatch, singledispatchmethod
class C:
    @lru_cache(maxsize=None)
    def f(self, «size»): return C()
    @cached_property
    def p(self): return C()
C().f(«size»=1).f(«size»=2)
C().p.f(«size»=3)",
    );
}

#[test]
fn a_call_of_staticmethod_or_classmethod_wraps_a_function() {
    check(
        "def f(«size»): return 1
class C:
    g = staticmethod(f)
C.g(«size»=1)
C().g(«size»=1)",
    );
    check(
        "def f(cls, «size»): return cls
class C:
    g = classmethod(f)
C.g(«size»=1)
C().g(«size»=1).g(«size»=2)",
    );
    check(
        "class A:
    «x» = 1
def f(n): return n
class C:
    g = staticmethod(f)
    def _make(cls, n): return n
    make = classmethod(_make)
    @staticmethod
    def h(n): return n
C.g(A()).«x»
C().g(A()).«x»
C.make(A()).«x»
C().make(A()).«x»
C().h(A()).«x»",
    );
}

#[test]
fn a_call_of_property_makes_an_attribute() {
    check(
        "class A:
    «x» = 1
class C:
    def get_a(self): return A()
    a = property(get_a)
    b = property(lambda self: self.a)
    c = property(fget=get_a, doc='')
C().a.«x»
C().b.«x»
C().c.«x»",
    );
}

#[test]
fn a_dispatching_function_calls_what_is_registered_for_it() {
    check(
        "from functools import cache, cached_property, lru_cache, partial, partialmethod, singledispatch, singledispatchmethod
@singledispatch
def f(v, «size»=1): return None
f(1, «size»=2)",
    );
    check(
        "from functools import cache, cached_property, lru_cache, partial, partialmethod, singledispatch, singledispatchmethod
@singledispatch
def f(v): return None
@f.register
def _(v: int, «size»=1): return None
@f.register(str)
def _(v, other=1): return None
f(1, «size»=2)",
    );
    check(
        "from functools import cache, cached_property, lru_cache, partial, partialmethod, singledispatch, singledispatchmethod
@singledispatch
def f(v): return None
def impl(v, «size»=1): return None
f.register(int)(impl)
f(1, «size»=2)",
    );
    check(
        "from functools import cache, cached_property, lru_cache, partial, partialmethod, singledispatch, singledispatchmethod
@singledispatch
def f(v): return None
def impl(v, «size»=1): return None
f.register(int, impl)
f(1, «size»=2)
impl(2, «size»=2)",
    );
    check(
        "from functools import cache, cached_property, lru_cache, partial, partialmethod, singledispatch, singledispatchmethod
class C:
    @singledispatchmethod
    def f(self, v): return C()
    @f.register
    def _(self, v: int, «size»=1): return C()
C().f('a', «size»=2).f(1, «size»=2)",
    );
    check(
        "from functools import cache, cached_property, lru_cache, partial, partialmethod, singledispatch, singledispatchmethod
class A:
    «x» = 1
@singledispatch
def f(v): return None
@f.register
def g(v: int): return A()
f(1).«x»
g(1).«x»",
    );
    check(
        "from functools import cache, cached_property, lru_cache, partial, partialmethod, singledispatch, singledispatchmethod
@singledispatch
def «f»(v): return None
@«f».register
def _(v: int): return None
«f».register(str)(lambda v: v)
«f».dispatch(int)
class Other:
    def register(self): ...",
    );
}

#[test]
fn a_decorator_may_declare_another_result() {
    check(
        "from typing import Callable, ParamSpec, TypeVar
P = ParamSpec('P')
R = TypeVar('R')
class A:
    «x» = 1
def listed(f: Callable[P, R]) -> Callable[P, list[R]]: ...
@listed
def g(n): return A()
g(1)[0].«x»
class C:
    @listed
    def m(self): return A()
C().m()[0].«x»",
    );
    check(
        "from typing import Callable, ParamSpec, TypeVar
P = ParamSpec('P')
R = TypeVar('R')
def listed(f: Callable[P, R]) -> Callable[P, list[R]]: ...
def again(n) -> Callable[[Callable[P, R]], Callable[P, list[R]]]: ...
@listed
def g(«size»): return 1
g(«size»=1)
class C:
    @again(2)
    def m(self, size): return 1
C().m(size=1)",
    );
}

#[test]
fn a_cached_property_of_a_lambda_is_its_result() {
    check(
        "from functools import cache, cached_property, lru_cache, partial, partialmethod, singledispatch, singledispatchmethod
class A:
    «x» = 1
class C:
    a = cached_property(lambda self: A())
C().a.«x»",
    );
}
