"""Traces how a test runs through the code of the tree: calls, branches, exceptions, values.

Python's own tracing is far slower than coverage.py, so only a few tests are traced. Nothing of the
code under test is called: values are described by their exact built-in types.
"""

import ast
import os
import sys
import threading

import pytest
import recording

NAME = "_trellis_trace"
MOST = 1_500_000  # events of one test; the rest of a longer one is not traced
OF_CODE = 5_000  # events of one function in one test; its later ones are not traced
MESSAGE = 200  # characters of an exception's message
HITS = 20  # recorded visits of one line with values
ENDS = (StopIteration, StopAsyncIteration, GeneratorExit)  # by which iterators and awaits end
SIZED = (str, bytes, list, tuple, dict, set, frozenset)


def kind_of(value):
    """Returns a word for a value, such as ``None``, ``empty str`` or ``negative``."""
    if value is None or value is True or value is False:
        return str(value)
    kind = type(value)
    if kind is int or kind is float:
        return "zero" if value == 0 else "positive" if value > 0 else "negative"
    if kind in SIZED:
        return f"{'some' if value else 'empty'} {kind.__name__}"
    return kind.__name__ if isinstance(kind.__name__, str) else "?"


def message_of(error):
    """Returns the message, without calling code under test."""
    first = error.args[0] if type(getattr(error, "args", None)) is tuple and error.args else ""
    return first[:MESSAGE] if type(first) is str else ""


def names_of_conditions(source):
    """Returns the names that comparisons, conditions and returned values read, by line."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            part = node.test
        elif isinstance(node, (ast.Compare, ast.BoolOp)):
            part = node
        elif isinstance(node, ast.Return) and node.value is not None:
            part = node.value
        else:
            continue
        names = {each.id for each in ast.walk(part) if isinstance(each, ast.Name)}
        if names:
            found.setdefault(node.lineno, set()).update(names)
    return found


class Files:
    """Finds out which code belongs to the tree."""

    def __init__(self, root):
        self._root, self._known, self._names = os.path.join(root, ""), {}, {}

    def path(self, code):
        """Returns the file of code in the tree, else None."""
        file = code.co_filename
        if file not in self._known:
            self._known[file] = file if self._inside(file) else None
        return self._known[file]

    def _inside(self, file):
        rest = file[len(self._root) :] if file.startswith(self._root) else ""
        parts = rest.split(os.sep)
        # An environment below the root is not the project's code.
        return rest.endswith(".py") and not {"site-packages", ".trellis", ".venv", "venv", ".tox"}.intersection(parts)

    def names(self, path):
        if path not in self._names:
            try:
                with open(path, "rb") as file:
                    self._names[path] = names_of_conditions(file.read())
            except (OSError, ValueError, SyntaxError, RecursionError):
                self._names[path] = {}
        return self._names[path]


class Trace:
    """The trace of one test."""

    def __init__(self, files):
        self._files, self._left = files, MOST
        self._codes, self._of_code, self.calls = {}, {}, []
        self.branches, self.values, self.raised, self.handlers = {}, {}, {}, set()
        self._raised_at, self._hits, self._first, self._ends = {}, {}, {}, {}
        self._decided, self._last = None, 0

    def enter(self, frame, event, argument):
        """The tracer of new frames."""
        code = frame.f_code
        path = self._files.path(code)
        if path is None or self._left <= 0:
            return None
        if code not in self._codes:
            self._codes[code] = len(self.calls)
            self.calls.append([path, code.co_firstlineno, *self._caller(frame)])
            self._of_code[code] = OF_CODE
        return self._local(path, code, self._files.names(path)) if self._of_code[code] > 0 else None

    def _caller(self, frame):
        """Returns the number of the nearest caller in the tree and the calling line, else None."""
        while frame.f_back is not None:
            frame = frame.f_back
            if frame.f_code in self._codes:
                return self._codes[frame.f_code], frame.f_lineno
        return None, None

    def _local(self, path, code, names):
        branches = self.branches.setdefault(path, set())
        before, failing, of_code = -code.co_firstlineno, False, self._of_code
        ending = False

        def trace(frame, event, argument):
            nonlocal before, failing, ending
            self._left -= 1
            of_code[code] -= 1
            if self._left <= 0 or of_code[code] <= 0:
                return None
            line = frame.f_lineno
            if event == "line":
                branches.add((before, line))
                # A handler that looks at an exception counts as run before it.
                self._first.setdefault((path, line), self._last if failing else MOST - self._left)
                if failing:
                    self.handlers.add((path, line))
                failing = ending = False
                before = line
                if line in names:
                    self._read(path, line, names[line], frame)
            elif event == "exception" and issubclass(argument[0], ENDS):
                ending = True
                self._end(path, line, argument[1], argument[0])
            elif event == "exception":
                failing = True
                self._raise(path, line, argument[1], argument[0])
            elif event == "return" and not failing and not (ending and argument is None):
                self._value(path, line, "return", argument)
            return trace

        return trace

    def _read(self, path, line, names, frame):
        hits = self._hits[path, line] = self._hits.get((path, line), 0) + 1
        if hits <= HITS:
            local = frame.f_locals
            for name in names:
                if name in local:
                    self._value(path, line, name, local[name])

    def _value(self, path, line, name, value):
        self.values.setdefault(path, set()).add((line, name, kind_of(value)))

    def _raise(self, path, line, error, kind):
        # Seen first where it enters code of the tree; the object is kept, so that its id stays its own.
        if id(error) not in self._raised_at and len(self._raised_at) < MOST // 100:
            self._raised_at[id(error)] = error, MOST - self._left
            entry = path, line, kind.__name__, message_of(error)
            self.raised.setdefault(entry, MOST - self._left)
        self._last = self._raised_at.get(id(error), (None, self._last))[1]

    def _end(self, path, line, error, kind):
        """Keeps an end of an iterator or an await, which is nothing unless the test fails by it."""
        if id(error) not in self._ends and len(self._ends) < MOST // 100:
            self._ends[id(error)] = error, (path, line, kind.__name__, message_of(error)), MOST - self._left

    def _take_end(self, error):
        _, entry, at = self._ends.get(id(error), (None, None, None))
        if entry is not None:
            self.raised.setdefault(entry, at)
            self._raised_at.setdefault(id(error), (error, at))

    def decide(self, error):
        """Notes the exception that makes the test fail, or the one that it names as its cause."""
        while error is not None:
            self._take_end(error)
            _, at = self._raised_at.get(id(error), (None, None))
            if at is not None:
                self._decided = min(at, self._decided or MOST)
            error = error.__cause__

    def _first_runs(self):
        found = {}
        for (path, line), at in self._first.items():
            found.setdefault(path, []).append((line, at))
        return found

    def record(self, name):
        return {
            "event": "trace",
            "id": name,
            "calls": self.calls,
            "raised": [[*entry, at] for entry, at in self.raised.items()],
            "handlers": sorted(self.handlers),
            "branches": {path: sorted(pairs) for path, pairs in self.branches.items() if pairs},
            "values": {path: sorted(facts) for path, facts in self.values.items() if facts},
            "first": self._first_runs(),
            "decided": self._decided,
        }


class Tracing:
    """The plugin that traces each test from its setup to its failure."""

    def __init__(self, send, root):
        self._send, self._files, self._trace = send, Files(root), None
        self._limits = recording.Limits(self._pause)

    def _pause(self):
        before = sys.gettrace()
        sys.settrace(None)
        return lambda: sys.settrace(before)

    def _start(self):
        sys.settrace(self._trace.enter)
        threading.settrace(self._trace.enter)

    @staticmethod
    def _stop():
        sys.settrace(None)
        threading.settrace(None)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self):
        self._limits.extend()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        self._trace = Trace(self._files)
        yield
        self._stop()
        self._send(self._trace.record(item.nodeid))
        self._trace = None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, call):
        yield
        if call.excinfo is not None and call.when != "teardown":
            self._trace.decide(call.excinfo.value)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self):
        self._start()
        yield
        self._stop()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self):
        self._start()
        yield
        self._stop()
