"""Replaces code that is already loaded, as if its source had been edited before the import.

Only the outermost function around an edit is compiled, at its own lines. The new code takes the
place of the old one in every function object that has it. ``import_level`` handles edits outside
of functions; whatever needs a new import is `Unsupported`.
"""

import functools
import gc
import os
import sys
from functools import partial
from types import CodeType, FunctionType

import import_level
from source_units import Source, Unsupported

Cache = type(functools.lru_cache(maxsize=1)(len))


def shape(code):
    """Returns all that distinguishes a code object, without instructions, positions and nested
    code.

    Instructions depend on the imports of the module, which are not compiled with a function.
    """
    constants = [it.co_name if isinstance(it, CodeType) else repr(it) for it in code.co_consts]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    return constants, names, counts


def own(code):
    """Returns all that distinguishes a code object, without positions and nested code."""
    return code.co_code, getattr(code, "co_exceptiontable", b""), shape(code)


def same(old, new):
    """Returns whether two code objects do the same, at whatever positions in the source."""
    inner = nested(old), nested(new)
    return own(old) == own(new) and len(inner[0]) == len(inner[1]) and all(map(same, *inner))


def nested(code):
    return [it for it in code.co_consts if isinstance(it, CodeType)]


def pairs(old, new):
    """Yields the code objects that differ, old and new: nested ones of equal names, in order."""
    if old == new:
        return
    yield old, new
    waiting = nested(new)
    for inner in nested(old):
        match = next((it for it in waiting if it.co_name == inner.co_name), None)
        if match is not None:
            waiting.remove(match)
            yield from pairs(inner, match)


class Effect:
    """The changes by which an edit comes into effect.

    ``replaced``: functions and their code, which marks that it ran; empty if the edit changes more.
    """

    def __init__(self, changes, replaced=()):
        self._changes, self.replaced = changes, replaced

    def bring(self):
        for change in self._changes:
            change()


class LoadedCode:
    """The functions and modules of the files that are to be edited, as found in memory once."""

    def __init__(self, root, files):
        self._sources = [Source(os.path.join(root, it["path"]), it["source"]) for it in files]
        self._paths, self._functions, self._root, self._names = {}, {}, root, None
        wanted = {os.path.realpath(it.path): it for it in self._sources}
        for module in list(sys.modules.values()):
            path = getattr(module, "__file__", None)
            source = wanted.get(os.path.realpath(path)) if isinstance(path, str) else None
            if source is not None:
                source.modules.append(module)
        self._caches = []
        for each in gc.get_objects():
            if type(each) is FunctionType:
                self._add(each, wanted)
            elif type(each) is Cache and getattr(each, "__module__", None) in self._own_modules():
                self._caches.append(each)

    def _own_modules(self):
        """Returns the names of the modules below the root."""
        if self._names is None:
            inner = os.path.join(os.path.realpath(self._root), "")
            paths = {name: getattr(it, "__file__", None) or "" for name, it in list(sys.modules.items())}
            self._names = {name for name, path in paths.items() if os.path.realpath(path).startswith(inner)}
        return self._names

    def _add(self, function, wanted):
        code = function.__code__
        if code.co_filename not in self._paths:
            path = os.path.realpath(os.path.join(self._root, code.co_filename))
            self._paths[code.co_filename] = wanted.get(path)
        source = self._paths[code.co_filename]
        if source is not None:
            source.filename = code.co_filename
            self._functions.setdefault(self._key(code), []).append(function)

    @staticmethod
    def _key(code):
        return code.co_filename, code.co_firstlineno, code.co_name

    def _having(self, code):
        """Returns the functions that have the given code."""
        found = self._functions.get(self._key(code), ())
        found = [it for it in found if shape(it.__code__) == shape(code)]
        if len({it.__code__ for it in found}) > 1:  # two lambdas on one line
            found = [it for it in found if it.__code__.co_code == code.co_code]
        return found

    def prepared(self, edit):
        """Returns the effect of an edit; None if it changes nothing.

        Raises `SyntaxError` for text that is not Python.
        """
        source = self._sources[edit["file"]]
        later = partial(self._edit_later_imports, source, edit)
        if not source.modules:
            source.compiled(edit)
            return Effect([later])
        unit = source.unit(edit["start"], edit["end"])
        text = unit.edited(edit)
        if not unit.is_function:
            changes = import_level.assigned(source, unit, text)
            return Effect([later, *changes]) if changes else None
        before, after = unit.original, unit.compiled(text)
        replaced = self._replaced(before[-1], after[-1])
        changes = [partial(setattr, function, "__code__", code) for function, code in replaced]
        if any(own(a) != own(b) for a, b in zip(before[:-1], after[:-1])):
            changes.append(import_level.new_defaults(source, unit, text, self._having(before[-1])))
        elif replaced:
            marked = unit.compiled(text, marked=True)[-1]
            return Effect([later, *changes], self._replaced(before[-1], marked))
        return Effect([later, *changes]) if changes else None

    def empty_caches(self):
        """Empties the caches of the project's functions."""
        for cache in self._caches:
            cache.cache_clear()

    @staticmethod
    def _edit_later_imports(source, edit):
        """Makes imports that are still to come, and repeated ones, see the edited source."""
        from importlib.machinery import SourceFileLoader

        original, path = SourceFileLoader.get_code, os.path.realpath(source.path)
        name = os.path.basename(path)

        def get_code(self, fullname):
            if os.path.basename(self.path) == name and os.path.realpath(self.path) == path:
                return source.compiled(edit)
            return original(self, fullname)

        SourceFileLoader.get_code = get_code

    def _replaced(self, old, new):
        """Returns the functions that get other code, with that code."""
        if not self._having(old):
            raise Unsupported("no function with this code is loaded")
        replaced = []
        for old, new in () if same(old, new) else pairs(old, new):
            if old.co_freevars != new.co_freevars:
                raise Unsupported("the edit uses other variables of the scope around it")
            replaced += [(it, new) for it in self._having(old)]
        return replaced
