"""Records what each test executes and reads: lines, files, folders, other processes.

Lines come from coverage.py, without an analysis of the files, which would take longer than most
tests. Files and processes come from audit events. Work that tests share, such as imports and
fixtures of a module, is recorded for the empty id.
"""

import os
import sys

import line_coverage
import pytest

NAME = "_trellis_execution"
DEEPEST = 60  # frames between code of the tree and an event
MOST = 2_000  # files or folders of one test

# Modules that read sources for Python and pytest, not for the code under test.
MACHINERY = ("importlib", "_frozen_importlib", "_pytest", "pluggy", "coverage", "linecache", "traceback", "runpy")
PROCESSES = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system", "os.spawn")
FOLDERS = ("os.listdir", "os.scandir")
FILES = ("open", "sqlite3.connect")
LEFT_OUT = {".git", ".trellis", ".venv", "__pycache__", "site-packages", "venv"}


class Resources:
    """What one test has used besides code."""

    def __init__(self):
        self.files, self.folders, self.written, self.processes = set(), set(), set(), False


class Lines:
    """Executed lines by context and file, in place of the database of coverage.py.

    Its database takes a millisecond for each test, several times as long as most of them.
    """

    def __init__(self):
        self.found, self._context = {"": {}}, ""

    def set_context(self, context):
        before, self._context = self._context, context or ""
        return before

    def add_lines(self, lines):
        files = self.found.setdefault(self._context, {})
        for path, numbers in lines.items():
            files.setdefault(path, set()).update(numbers)

    def add_file_tracers(self, tracers):
        """Does nothing: no plugin is loaded."""

    def touch_file(self, path, plugin_name=""):
        """Does nothing: only executed files matter."""


class Execution(line_coverage.Coverage):
    """Line coverage of tests, and the audit events meanwhile."""

    def _prepare(self, order):
        self._root, self._used, self._ended = os.path.join(order["root"], ""), {}, False
        self._lines, self._collector = Lines(), None
        sys.addaudithook(self._audit)

    def _begin(self):
        self._collector = self._coverage._collector
        self._collector.flush_data()
        self._collector.use_data(self._lines, None)

    def _scope(self, root):
        is_plain = not set(root).intersection("*?[]")
        # A search for files that nothing executes would take longer than most tests.
        return {"include": [os.path.join(root, "*")]} if is_plain else {"source": [root]}

    def pause(self):
        return lambda: None  # what runs after a failure may change as well

    def apart(self):
        name = self._context
        self.context("")
        return lambda: self.context(name)

    def _audit(self, event, arguments):
        if self._ended or not (event in FILES or event in FOLDERS or event in PROCESSES):
            return
        try:
            self._note(event, arguments)
        except Exception:  # an audit hook that raises would stop the code under test
            self._of_test().processes = True

    def _of_test(self):
        return self._used.setdefault(self._context, Resources())

    def _note(self, event, arguments):
        if event in PROCESSES:
            if self._context or self._is_asked(sys._getframe(2)):
                self._of_test().processes = True
            return
        path = self._inside(arguments[0])
        if path is None:
            return
        if event == "open" and not reads(arguments):
            self._of_test().written.add(path)
            return
        may_be_for_python = event != "open" or path.endswith((".py", ".pyc")) or not self._context
        if may_be_for_python and not self._is_asked(sys._getframe(2)):
            return
        used = self._of_test()
        names = used.folders if event in FOLDERS else used.files
        if len(names) < MOST:
            names.add(path)
        else:
            used.processes = True

    def _inside(self, path):
        """Returns a path below the root, without links, else None."""
        if path is None:
            path = "."
        if not isinstance(path, (str, bytes, os.PathLike)):
            return None  # an open file has a number
        path = os.path.abspath(os.fsdecode(path))
        if os.path.join(path, "") != self._root and not path.startswith(self._root):
            return None
        rest = path[len(self._root) :]
        return None if LEFT_OUT.intersection(rest.split(os.sep)) else rest

    def _is_asked(self, frame):
        """Returns whether code of the tree, and not Python or pytest, causes an event."""
        for _ in range(DEEPEST):
            if frame is None:
                return False
            name = frame.f_globals.get("__name__") or ""
            if name.split(".")[0] in MACHINERY:
                return False
            file = frame.f_code.co_filename
            if os.path.isabs(file) and self._inside(file) is not None:
                return True
            frame = frame.f_back
        return False

    def _tell(self):
        self._ended = True
        try:
            self._coverage.stop()
            self._collector.flush_data()
        except Exception as error:
            self._give_up(line_coverage.message_of(error))
            return
        for path, tests in sorted(self._by_file().items()):
            for part in line_coverage.in_parts(tests):
                self._send({"event": "executed_by_tests", "path": path, "tests": part})
        for name, used in self._used.items():
            found = {"files": used.files, "folders": used.folders, "written": used.written}
            paths = {kind: sorted(names) for kind, names in found.items()}
            self._send({"event": "used_by_test", "test": name, "processes": used.processes, **paths})
        self._send({"event": "execution_recorded"})

    def _by_file(self):
        files = {}
        for name, of_test in self._lines.found.items():
            for path, lines in of_test.items():
                files.setdefault(path, {})[name] = sorted(lines)
        return files


def reads(arguments):
    mode = arguments[1] if len(arguments) > 1 else None
    if isinstance(mode, str):
        return "r" in mode or "+" in mode
    flags = arguments[2] if len(arguments) > 2 else 0
    return not isinstance(flags, int) or flags & os.O_ACCMODE != os.O_WRONLY


class Fixtures:
    """Takes what fixtures of a class, module or session do as work that tests share."""

    def __init__(self, execution):
        self._execution = execution

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef):
        resume = self._execution.apart() if fixturedef.scope != "function" else lambda: None
        yield
        resume()
