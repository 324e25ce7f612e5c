//! Members of enums and their values.

use super::check_each;

#[test]
fn the_value_of_a_member_is_what_it_is_assigned() {
    check_each(&[
        "from enum import Enum, auto, IntEnum, StrEnum
class E(Enum):
    ONE = A()
    TWO = B()
E.ONE.value.«x»
E['ONE'].value.«x»
E.TWO.value.x
E.TWO._value_.x",
        "from enum import Enum, auto, IntEnum, StrEnum
class E(Enum):
    ONE = 1
    TWO = auto()
E.TWO.value.bit_length()
E.ONE.name.upper()
A().«x»",
    ]);
}

#[test]
fn the_value_of_some_member_is_that_of_any() {
    check_each(&[
        "from enum import Enum, auto, IntEnum, StrEnum
class E(Enum):
    ONE = A()
    TWO = A()
    def of(self):
        return self.value.«x»
for e in E: e.value.«x»
E(1).value.«x»
E.ONE.of()",
        "from enum import Enum, auto, IntEnum, StrEnum
class E(Enum):
    ONE = (1, A())
    TWO = (2, A())
def use(e: E):
    n, a = e.value
    a.«x»
    e.value[1].«x»",
        "from enum import Enum, auto, IntEnum, StrEnum
class E(Enum):
    _value_: A
    ONE = 1
def use(e: E): e.value.«x»",
    ]);
}

#[test]
fn every_way_to_a_member_gives_the_enum() {
    check_each(&["from enum import Enum, auto, IntEnum, StrEnum
class E(Enum):
    ONE = 1
    def make(self): return A()
E['ONE'].make().«x»
E(1).make().«x»
for e in E: e.make().«x»
for e in E.__members__.values(): e.make().«x»
list(E)[0].make().«x»
for e in reversed(E): e.make().«x»
{e.name: e for e in E}['ONE'].make().«x»"]);
}

#[test]
fn the_constructor_of_an_enum_receives_the_values() {
    check_each(&[
        "from enum import Enum, auto, IntEnum, StrEnum
class E(Enum):
    ONE = (1, A())
    def __init__(self, n, a):
        self.a = a
E.ONE.a.«x»",
        "from enum import Enum, auto, IntEnum, StrEnum
class E(Enum):
    ONE = A()
    def __init__(self, a):
        self.a = a
E.ONE.a.«x»",
    ]);
}

#[test]
fn a_method_of_a_metaclass_sees_the_class() {
    check_each(&["class Meta(type):
    def make(cls): return cls()
class C(metaclass=Meta):
    a = A()
C.make().a.«x»"]);
}
