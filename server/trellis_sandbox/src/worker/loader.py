"""Imports the bundle's own modules, which are neither on disk nor in ``sys.modules``.

A project may have modules of the same names, and code under test may replace builtins. So the
bundle's modules have a private copy of the builtins, whose ``__import__`` looks in the bundle
first.
"""

import binascii
import builtins
import functools
import marshal
import sys
import types


def start(bundle):
    """Calls ``main`` of the bundle's main module."""
    if bundle.get("added"):
        sys.path.append(bundle["added"])
    modules = Bundle(bundle["modules"], bundle.get("compiled") or {})
    if bundle["main"] == "worker":  # others start from a fresh interpreter in order to import little
        modules.tell_linecache()
    modules.load(bundle["main"]).main({**bundle, "codes": modules.codes})


class Bundle:
    def __init__(self, sources, compiled):
        self._sources, self._compiled, self._loaded = sources, compiled, {}
        self.codes = {}  # code objects of the loaded modules by name
        self._builtins = dict(vars(builtins))
        self._builtins["__import__"] = self._import
        self._others = builtins.__import__

    def load(self, name):
        if name not in self._loaded:
            self._loaded[name] = module = types.ModuleType("_trellis." + name)
            source, file = self._sources[name], f"<trellis>/{name}.py"
            module.__file__, module.__builtins__ = file, self._builtins
            self.codes[name] = self._code(name) or compile(source, file, "exec", dont_inherit=True)
            exec(self.codes[name], vars(module))
        return self._loaded[name]

    def _code(self, name):
        """Returns what an interpreter of the same executable has compiled; None if it has not."""
        text = self._compiled.get(name)
        return text and marshal.loads(binascii.a2b_base64(text))

    def tell_linecache(self):
        """Registers the sources for tracebacks.

        An entry with a function is never checked against the disk.
        """
        import linecache

        for name, source in self._sources.items():
            file = f"<trellis>/{name}.py"
            linecache.cache[file] = (functools.partial(str, source),)  # split once a traceback needs it

    def _import(self, name, globals=None, locals=None, fromlist=(), level=0):
        if name in self._sources:
            return self.load(name)
        return self._others(name, globals, locals, fromlist, level)
