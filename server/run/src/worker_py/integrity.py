"""Notices when code under test changes pytest, or unittest, under the reporter.

Compared are the functions and classes of its own modules: which object stands under each name, and the code in each
function. Whoever puts everything back before the check stays unseen.
"""

import sys
from operator import attrgetter, is_
from types import FunctionType

PYTEST, UNITTEST = ("_pytest", "pluggy", "pytest"), ("unittest",)
# Checked after every test; the rest takes a while and is checked now and then.
CRITICAL = (
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
    ("pluggy._callers", "_multicall"),
    ("pluggy._hooks.HookCaller", "__call__"),
    ("pluggy._manager.PluginManager", "_hookexec"),
)
_code = attrgetter("__code__")


class Holder:
    """A module or a class, and what it held."""

    def __init__(self, name, owner, names):
        self.name, self.space, self.names = name, vars(owner), names
        self.values = [self.space[each] for each in names]

    def unchanged(self):
        return all(map(is_, map(self.space.get, self.names), self.values))

    def differences(self):
        return [f"{self.name}.{each}" for each, old in zip(self.names, self.values) if self.space.get(each) is not old]


def plain(value):
    """The function behind a method of any kind."""
    value = getattr(value, "__func__", value)
    value = getattr(value, "fget", value) if isinstance(value, property) else value
    return value if type(value) is FunctionType else None


def watched(owner, is_module):
    """Names whose objects do not change in an honest run."""
    for name, value in vars(owner).items():
        ordinary = isinstance(value, (FunctionType, type, staticmethod, classmethod, property))
        if ordinary and not (is_module and name.startswith("__")):
            yield name


class Seal:
    """Everything as it was found. Made in the worker; renewed in the run once its plugins are loaded."""

    def __init__(self, packages):
        self._holders, self._functions, self._list, self._codes = [], {}, [], []
        for name, module in sorted(sys.modules.items()):
            if name.split(".")[0] in packages and module is not None:
                self._add_module(name, module)
        self._by_name = {holder.name: holder for holder in self._holders}
        for holder in self._holders:
            self._add_functions(holder)
        self._settle()

    def _add_module(self, name, module):
        names = list(watched(module, True))
        self._holders.append(Holder(name, module, names))
        for each in names:
            value = vars(module)[each]
            if isinstance(value, type) and value.__module__ == name:
                self._holders.append(Holder(f"{name}.{each}", value, list(watched(value, False))))

    def _add_functions(self, holder):
        for each, value in zip(holder.names, holder.values):
            function = plain(value)
            if function is not None and id(function) not in self._functions:
                self._functions[id(function)] = (function, f"{holder.name}.{each}")
                self._list.append(function)
                self._codes.append(function.__code__)

    def _settle(self):
        self._critical = []
        for owner, name in CRITICAL:
            value = owner in self._by_name and self._by_name[owner].space.get(name)
            if value:
                function = plain(value)
                self._critical.append((self._by_name[owner], name, value, function, function and function.__code__))

    def renew(self):
        """What pytest and third-party plugins changed while they were loaded is theirs to change."""
        for holder in self._holders:
            if not holder.unchanged():
                holder.values = [holder.space.get(each) for each in holder.names]
                self._add_functions(holder)
        if not all(map(is_, map(_code, self._list), self._codes)):
            self._codes = list(map(_code, self._list))
        self._settle()

    def broken(self):
        """The first thing that differs, or None."""
        for holder in self._holders:
            if not holder.unchanged():
                return holder.differences()[0]
        if all(map(is_, map(_code, self._list), self._codes)):
            return None
        changed = next(each for each, code in zip(self._list, self._codes) if each.__code__ is not code)
        return self._functions[id(changed)][1]

    def broken_soon(self):
        """The same for the few functions through which every test goes."""
        for holder, name, value, function, code in self._critical:
            if holder.space.get(name) is not value or (function is not None and function.__code__ is not code):
                return f"{holder.name}.{name}"
        return None
