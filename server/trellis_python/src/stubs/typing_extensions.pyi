from collections.abc import Buffer as Buffer
from typing import AbstractSet as AbstractSet, Annotated as Annotated, Any as Any, AnyStr as AnyStr, AsyncContextManager as AsyncContextManager, AsyncGenerator as AsyncGenerator, AsyncIterable as AsyncIterable, AsyncIterator as AsyncIterator
from typing import Awaitable as Awaitable, BinaryIO as BinaryIO, Callable as Callable, ChainMap as ChainMap, ClassVar as ClassVar, Collection as Collection, Concatenate as Concatenate, Container as Container
from typing import ContextManager as ContextManager, Coroutine as Coroutine, Counter as Counter, DefaultDict as DefaultDict, Deque as Deque, Dict as Dict, Final as Final, ForwardRef as ForwardRef
from typing import FrozenSet as FrozenSet, Generator as Generator, Generic as Generic, Hashable as Hashable, IO as IO, ItemsView as ItemsView, Iterable as Iterable, Iterator as Iterator
from typing import KeysView as KeysView, List as List, Literal as Literal, LiteralString as LiteralString, Mapping as Mapping, MappingView as MappingView, Match as Match, MutableMapping as MutableMapping
from typing import MutableSequence as MutableSequence, MutableSet as MutableSet, NamedTuple as NamedTuple, Never as Never, NewType as NewType, NoReturn as NoReturn, NotRequired as NotRequired, Optional as Optional
from typing import OrderedDict as OrderedDict, ParamSpec as ParamSpec, ParamSpecArgs as ParamSpecArgs, ParamSpecKwargs as ParamSpecKwargs, Pattern as Pattern, Protocol as Protocol, ReadOnly as ReadOnly, Required as Required
from typing import Reversible as Reversible, Self as Self, Sequence as Sequence, Set as Set, Sized as Sized, SupportsAbs as SupportsAbs, SupportsBytes as SupportsBytes, SupportsComplex as SupportsComplex
from typing import SupportsFloat as SupportsFloat, SupportsIndex as SupportsIndex, SupportsInt as SupportsInt, SupportsRound as SupportsRound, TYPE_CHECKING as TYPE_CHECKING, TextIO as TextIO, Tuple as Tuple, Type as Type
from typing import TypeAlias as TypeAlias, TypeAliasType as TypeAliasType, TypeGuard as TypeGuard, TypeIs as TypeIs, TypeVar as TypeVar, TypeVarTuple as TypeVarTuple, TypedDict as TypedDict, Union as Union
from typing import Unpack as Unpack, ValuesView as ValuesView, assert_never as assert_never, assert_type as assert_type, cast as cast, clear_overloads as clear_overloads, dataclass_transform as dataclass_transform, final as final
from typing import get_args as get_args, get_origin as get_origin, get_overloads as get_overloads, get_protocol_members as get_protocol_members, get_type_hints as get_type_hints, is_protocol as is_protocol, is_typeddict as is_typeddict, no_type_check as no_type_check
from typing import no_type_check_decorator as no_type_check_decorator, overload as overload, override as override, reveal_type as reveal_type, runtime_checkable as runtime_checkable
from typing import Text as Text

_T = TypeVar("_T")
runtime = runtime_checkable
NoDefault: Any; TypeForm: Any

def deprecated(message: str, /, *, category: type[Warning] | None = ..., stacklevel: int = 1) -> Callable[[_T], _T]: ...
def get_original_bases(cls: type, /) -> tuple[Any, ...]: ...
def get_annotations(obj: Any, *, globals: dict[str, Any] | None = None, locals: dict[str, Any] | None = None, eval_str: bool = False) -> dict[str, Any]: ...
def evaluate_forward_ref(forward_ref: ForwardRef, **kwargs: Any) -> Any: ...
class Doc:
    documentation: str
    def __init__(self, documentation: str, /) -> None: ...
