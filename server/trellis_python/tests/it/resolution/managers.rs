//! Values that context managers enter with.

use super::check_each;

#[test]
fn an_exit_stack_enters_what_it_is_given() {
    check_each(&[
        "from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing, contextmanager, nullcontext, suppress
class CM:
    def __enter__(self): return A()
    def __exit__(self, *a): ...
class Async:
    async def __aenter__(self): return A()
    async def __aexit__(self, *a): ...
@contextmanager
def opened(): yield A()
@asynccontextmanager
async def aopened(): yield A()
with ExitStack() as stack:
    stack.enter_context(CM()).«x»
    a = stack.enter_context(opened())
    a.«x»
    stack.enter_context(closing(A())).«x»
    all = [stack.enter_context(it) for it in [CM()]]
    all[0].«x»",
        "from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing, contextmanager, nullcontext, suppress
class CM:
    def __enter__(self): return A()
    def __exit__(self, *a): ...
class Async:
    async def __aenter__(self): return A()
    async def __aexit__(self, *a): ...
@contextmanager
def opened(): yield A()
@asynccontextmanager
async def aopened(): yield A()
async def use():
    async with AsyncExitStack() as stack:
        (await stack.enter_async_context(Async())).«x»
        (await stack.enter_async_context(aopened())).«x»
        stack.enter_context(CM()).«x»",
        "from contextlib import ExitStack
class Own:
    def __enter__(self): return self
    def __exit__(self, *a): ...
    def make(self): return A()
with ExitStack() as stack: stack.enter_context(Own()).make().«x»",
    ]);
}

#[test]
fn wrappers_enter_with_what_they_wrap() {
    check_each(&[
        "from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing, contextmanager, nullcontext, suppress
class CM:
    def __enter__(self): return A()
    def __exit__(self, *a): ...
class Async:
    async def __aenter__(self): return A()
    async def __aexit__(self, *a): ...
@contextmanager
def opened(): yield A()
@asynccontextmanager
async def aopened(): yield A()
with closing(A()) as a, nullcontext(A()) as b:
    a.«x»
    b.«x»
with suppress(ValueError): A().«x»
with (CM() as c, opened() as d):
    c.«x»
    d.«x»",
    ]);
}

#[test]
fn a_protocol_learns_its_parameter_from_a_method() {
    check_each(&["from typing import Protocol, TypeVar
T = TypeVar('T', covariant=True)
class Maker(Protocol[T]):
    def make(self) -> T: ...
class Own:
    def make(self): return A()
def made(maker: Maker[T]) -> T: return maker.make()
made(Own()).«x»"]);
}
