"""Detects changes by code under test to pytest or unittest.

The functions and classes of their modules are compared: the object behind each name, and the code
of each function. Code that restores everything before the check is not detected.
"""

import sys
from itertools import starmap
from operator import attrgetter, is_
from types import FunctionType, MappingProxyType

PYTEST, UNITTEST = ("_pytest", "pluggy", "pytest"), ("unittest",)
# Checked after every test; checking the rest takes longer and is done now and then.
CRITICAL = {
    ("_pytest.runner", "call_and_report"),
    ("_pytest.runner", "call_runtest_hook"),
    ("_pytest.runner", "runtestprotocol"),
    ("_pytest.runner", "pytest_runtest_protocol"),
    ("_pytest.runner", "pytest_runtest_makereport"),
    ("_pytest.runner", "pytest_runtest_setup"),
    ("_pytest.runner", "pytest_runtest_call"),
    ("_pytest.runner", "pytest_runtest_teardown"),
    ("_pytest.runner", "check_interactive_exception"),
    ("_pytest.runner.CallInfo", "from_call"),
    ("_pytest.reports.TestReport", "from_item_and_call"),
    ("_pytest.python", "pytest_pyfunc_call"),
    ("_pytest.python.Function", "runtest"),
    ("_pytest.skipping", "pytest_runtest_makereport"),
    ("_pytest.main", "pytest_runtestloop"),
    ("_pytest.main.Session", "pytest_runtest_logreport"),
    # The location of these in pluggy depends on the version.
    ("pluggy._callers", "_multicall"),
    ("pluggy._execution", "_multicall"),
    ("pluggy._hooks.HookCaller", "__call__"),
    ("pluggy._hooks._HookCaller", "__call__"),
    ("pluggy._caller.HookCaller", "__call__"),
    ("pluggy._manager.PluginManager", "_hookexec"),
}
_code, _get = attrgetter("__code__"), MappingProxyType.get


def plain(value):
    """Returns the function behind a method of any kind."""
    value = getattr(value, "__func__", value)
    value = getattr(value, "fget", value) if isinstance(value, property) else value
    return value if type(value) is FunctionType else None


def watched(owner, is_module):
    """Yields the names whose objects do not change in an honest run."""
    for name, value in vars(owner).items():
        ordinary = isinstance(value, (FunctionType, type, staticmethod, classmethod, property))
        if ordinary and not (is_module and name.startswith("__")):
            yield name


class Seal:
    """The recorded state. The worker makes it; the run renews it once its plugins are loaded.

    Flat lists make the comparison a loop in C. Objects are compared by identity, since the result
    of `==` could be forged.
    """

    def __init__(self, packages):
        self._owners, self._pairs, self._values = [], [], []
        self._functions, self._codes, self._known = [], [], {}
        for name, module in sorted(sys.modules.items()):
            if name.split(".")[0] in packages and module is not None:
                self._add(name, MappingProxyType(vars(module)), watched(module, True))
                self._add_classes(name, module)
        self._critical = list(self._critical_entries())

    def _add_classes(self, name, module):
        for each, value in list(vars(module).items()):
            if isinstance(value, type) and value.__module__ == name:
                self._add(f"{name}.{each}", vars(value), watched(value, False))

    def _add(self, owner, space, names):
        for name in list(names):
            self._owners.append(owner)
            self._pairs.append((space, name))
            self._values.append(space[name])
            self._add_function(f"{owner}.{name}", space[name])

    def _add_function(self, label, value):
        function = plain(value)
        if function is not None and id(function) not in self._known:
            self._known[id(function)] = label
            self._functions.append(function)
            self._codes.append(function.__code__)

    def _critical_entries(self):
        for owner, (space, name), value in zip(self._owners, self._pairs, self._values):
            if (owner, name) in CRITICAL:
                function = plain(value)
                yield owner, space, name, value, function, function and function.__code__

    def renew(self):
        """Accepts the changes that pytest and third-party plugins made while they were loaded."""
        now = list(starmap(_get, self._pairs))
        for index, (new, old) in enumerate(zip(now, self._values)):
            if new is not old:
                self._add_function(f"{self._owners[index]}.{self._pairs[index][1]}", new)
        self._values, self._codes = now, list(map(_code, self._functions))
        self._critical = [self._renewed(entry) for entry in self._critical]

    @staticmethod
    def _renewed(entry):
        owner, space, name = entry[:3]
        function = plain(space.get(name))
        return owner, space, name, space.get(name), function, function and function.__code__

    def broken(self):
        """Returns the name of the first difference, or None."""
        if not all(map(is_, starmap(_get, self._pairs), self._values)):
            now = enumerate(zip(starmap(_get, self._pairs), self._values))
            index = next(index for index, (new, old) in now if new is not old)
            return f"{self._owners[index]}.{self._pairs[index][1]}"
        if not all(map(is_, map(_code, self._functions), self._codes)):
            now = zip(self._functions, self._codes)
            return self._known[id(next(function for function, code in now if function.__code__ is not code))]
        return None

    def broken_soon(self):
        """Returns the first difference in the few functions that every test uses, or None."""
        for owner, space, name, value, function, code in self._critical:
            if space.get(name) is not value or (function is not None and function.__code__ is not code):
                return f"{owner}.{name}"
        return None
