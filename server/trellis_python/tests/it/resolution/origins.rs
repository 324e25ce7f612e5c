//! Values that reach a place through attributes, containers and the calls of a function.

use super::{check, check_each, check_rename, doubtful};

#[test]
fn a_container_holds_what_is_put_into_it() {
    check_each(&[
        "class C:
    def __init__(self):
        self.links = {}
        self.order = []
    def add(self, key):
        self.links[key] = A()
        self.order.append(self.links[key])
    def use(self, key):
        self.links[key].«x»
        self.links.pop(key).«x»
        for it in self.order:
            it.«x»
        for key, it in self.links.items():
            it.«x»
        for it in sorted(self.links.values()):
            it.«x»
        self.order[0].«x»
        one = self.order[-1]
        one.«x»
        links = self.links
        links[key].«x»",
        "import heapq
class C:
    def __init__(self):
        self.__order = []
    def add(self):
        heapq.heappush(self.__order, A())
    def use(self):
        heapq.heappop(self.__order).«x»
        return [it for it in self.__order if it.«x»]",
        "def collect():
    found = []
    found.append(A())
    return found
for it in collect(): it.«x»",
        "class C:
    def __init__(self): self.items = {}
    def put(self, key): self.items[key] = A()
    def __getitem(self, key):
        value = self.items[key]
        return value
    def use(self, key): self.__getitem(key).«x»",
    ]);
}

#[test]
fn a_container_of_another_class_holds_other_values() {
    let text = "class A:
    x = 1
class B:
    x = 2
class C:
    def __init__(self): self.items = {}
    def put(self): self.items[0] = B()
    def use(self): self.items[0].x
";
    assert_eq!(doubtful(text, "x = 1"), 1);
    assert_eq!(doubtful(text, "x = 2"), 0);
}

#[test]
fn an_attribute_holds_what_is_assigned_from_outside() {
    check_each(&[
        "class Link:
    __slots__ = ('next',)
class C:
    def __init__(self):
        root = Link()
        root.next = A()
        self.root = root
    def use(self): self.root.next.«x»",
        "class Base: pass
class Node(Base):
    def __init__(self): self.y = A()
class C:
    def __init__(self, base: Base = None):
        if base is None:
            base = Node()
        self.base: Base = base
def use(c: C): c.base.y.«x»",
    ]);
}

#[test]
fn a_parameter_has_what_calls_in_the_file_give() {
    check_each(&[
        "def _use(it): it.«x»
_use(A())",
        "def _use(n, it=None): it.«x»
_use(1, it=A())",
        "def _use(items):
    for it in items: it.«x»
_use([A()])",
        "class C:
    def __init__(self, it): self.it = it
    def use(self): self.it.«x»
C(A()).use()",
        "class C:
    def use(self, it): it.«x»
    def call(self): self.use(A())",
        "def outer():
    def use(it): return it.«x»
    return use(A())",
    ]);
}

#[test]
fn a_test_excludes_values() {
    let text = "class A:
    x = 1
def _use(it):
    if isinstance(it, A):
        return
    it.x
_use(A())
";
    assert_eq!(doubtful(text, "x = 1"), 1);
}

#[test]
fn a_later_value_hides_an_earlier_one() {
    let text = "class A:
    x = 1
def _use(it):
    it = unknown()
    it.x
_use(A())
";
    assert_eq!(doubtful(text, "x = 1"), 1);
}

#[test]
fn a_public_function_takes_values_of_any_type() {
    let text = "class A:
    x = 1
def use(it): it.x
use(A())
";
    assert_eq!(doubtful(text, "x = 1"), 1);
}

#[test]
fn a_metaclass_sees_the_attributes_of_its_classes() {
    check_rename(
        "class Meta(type):
    «options»: type
    def __init__(cls, name, bases, attrs):
        cls.«options»()
class C(metaclass=Meta):
    «options» = dict
C.«options»
",
    );
    for base in ["type", "abc.ABCMeta"] {
        check_rename(&format!(
            "import abc
class Meta({base}):
    «options»: type
    def __new__(mcs, name, bases, attrs):
        klass = super().__new__(mcs, name, bases, attrs)
        klass.«options»()
        return klass
class C(metaclass=Meta):
    «options» = dict
"
        ));
    }
}

#[test]
fn a_fixture_passes_its_parameters() {
    check(
        "## conftest.py
## test_main.py
import pytest
from functools import partial
class A:
    def __init__(self, «key»=1): ...
    def other(self): ...
class T:
    @pytest.fixture(params=[A, partial(A, 1), pytest.param(A, id='a')])
    def make(self, request): return request.param
    @pytest.fixture
    def half(self, make): return partial(make, «key»=2)
    def test_make(self, make, half):
        make(«key»=3)
        half(«key»=3)
",
    );
}

#[test]
fn a_module_may_be_imported_by_a_call() {
    check(
        "import importlib
i = importlib.import_module('app.cli')
i.«go»()
importlib.import_module('app.cli').«go»()
## app/__init__.py
## app/cli.py
def «go»(): ...
def import_module(name): return name
import_module('app.cli').go()
",
    );
}

#[test]
fn a_callee_is_followed_like_any_value() {
    check(
        "class Store:
    def put(self, message, «index»=None): return «index»
class C:
    def load(self):
        store = Store()
        self._step(1, store=store)
    @staticmethod
    def _step(data, *, store):
        store.put(data, «index»=1)
Store().put(1, «index»=2)
",
    );
}

#[test]
fn a_declared_base_holds_an_object_of_the_class_that_is_called() {
    check(
        "class Provider:
    def dumps(self): ...
class Default(Provider):
    «sort» = True
class App:
    provider_class: type[Provider] = Default
    def __init__(self):
        self.json: Provider = self.provider_class()
def make(): return App()
def test_sort():
    app = make()
    assert app.json.«sort»
",
    );
}

#[test]
fn an_indirect_value_goes_to_the_fixture() {
    check(
        "## test_main.py
import pytest
class A:
    def «go»(self): ...
@pytest.fixture
def made(request): return A()
@pytest.mark.parametrize('made', ('1', '2'), indirect=True)
def test_made(made): made.«go»()
",
    );
}

#[test]
fn a_mapping_that_is_unpacked_later_names_parameters() {
    check(
        "## test_main.py
import pytest
def make(«size»=0): return «size»
def test_loop():
    for kwargs in [{}, {'«size»': 1}]:
        make(**kwargs)
@pytest.mark.parametrize('given', [{'«size»': 1}, {'other': 2}])
def test_make(given): make(**given)
",
    );
    check_rename(
        "from typing import cast
def one(«size»=0): return «size»
def two(«size»=0): return «size»
for kwargs in [{}, {'«size»': 1}]:
    kwargs = cast(dict, kwargs)
    one(**kwargs)
    two(**kwargs)
",
    );
}

#[test]
fn objects_of_ones_own_give_out_what_they_like() {
    let classes = "class A:
    x = 1
class Field:
    x = 2
    def __get__(self, instance, owner): return unknown()
class Registry:
    def add(self, it): ...
    def get(self): return unknown()
    def next(self, items): return unknown()
";
    for text in [
        "class C:
    field = Field()
C().field.x
",
        "class C:
    def __init__(self): self.all = Registry()
    def put(self): self.all.add(A())
    def use(self): self.all.get().x
",
        "def use(all):
    all.add(A())
    all.get().x
",
        "Registry().next([A()]).x
",
    ] {
        let text = format!("{classes}{text}");
        assert_eq!(doubtful(&text, "x = 1") + doubtful(&text, "x = 2"), 2, "{text}");
    }
}
