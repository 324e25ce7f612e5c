from typing import AbstractSet as Set
from typing import Awaitable as Awaitable, Coroutine as Coroutine, AsyncIterable as AsyncIterable, AsyncIterator as AsyncIterator, AsyncGenerator as AsyncGenerator, Hashable as Hashable, Iterable as Iterable, Iterator as Iterator
from typing import Generator as Generator, Reversible as Reversible, Sized as Sized, Container as Container, Callable as Callable, Collection as Collection, MutableSet as MutableSet, Mapping as Mapping
from typing import MutableMapping as MutableMapping, MappingView as MappingView, KeysView as KeysView, ItemsView as ItemsView, ValuesView as ValuesView, Sequence as Sequence, MutableSequence as MutableSequence, ByteString as ByteString

class Buffer:
    def __buffer__(self, flags: int, /) -> memoryview: ...
