"""Records what each test executes and reads: lines, files, folders, other processes.

Lines come from coverage.py, without an analysis of the files, which would take longer than most
tests. Files and processes come from audit events. Work that tests share, such as imports and
fixtures of a module, is recorded for the empty id.
"""

import importlib
import opcode
import os
import sys

import line_coverage
import pytest

NAME = "_trellis_execution"
DEEPEST = 60  # frames between code of the tree and an event
MOST = 2_000  # files or folders of one test

# Modules that read sources for Python and pytest, not for the code under test.
IMPORT_SYSTEM = {"_frozen_importlib", "_frozen_importlib_external", "importlib._bootstrap", "importlib._bootstrap_external"}
MACHINERY = {"_pytest", "pluggy", "coverage", "linecache", "traceback", "runpy"}
PROCESSES = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system", "os.spawn"}
FOLDERS = {"os.listdir", "os.scandir"}
FILES = {"open", "sqlite3.connect"}
CHANGES = {"os.mkdir", "os.rmdir", "os.remove", "os.rename", "os.link", "os.symlink", "os.truncate"}
EVENTS = PROCESSES | FOLDERS | FILES | CHANGES | {"socket.connect"}
# Folders whose files count for no test; the extension does not send their changes either.
LEFT_OUT = {
    ".git", ".hypothesis", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache", ".tox", ".trellis", ".venv",
    "__pycache__", "node_modules", "site-packages", "venv",
}  # fmt: skip

# pytest loads test modules by name.
LOADS_TESTS = {"_pytest.pathlib", "_pytest.assertion.rewrite", "_pytest.python"}
# With the name of a file of the import system, so that Python leaves these frames out of tracebacks too.
WRAPPERS = """
def _load_unlocked(spec):
    leave = enter(spec)
    try:
        return load(spec)
    finally:
        leave()

def exec_module(self, module):
    leave = enter(module.__spec__)
    try:
        return execute(self, module)
    finally:
        leave()

def _gcd_import(name, package=None, level=0):
    module = gcd_import(name, package, level)
    asked(module)
    return module
"""


class Resources:
    """What one test has used besides code."""

    def __init__(self):
        self.files, self.folders, self.written, self.named_modules = set(), set(), set(), set()
        self.processes = False


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
        self._test, self._shared, self._loading = "", 0, set()
        sys.addaudithook(self._audit)
        self._watch_imports()
        self._watch_processes()

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

    def context(self, name):
        self._test = name
        self._turn()

    def apart(self):
        self._shared += 1
        self._turn()
        return self._rejoin

    def _rejoin(self):
        self._shared -= 1
        self._turn()

    def _turn(self):
        super().context("" if self._shared else self._test)

    def _watch_imports(self):
        """Takes what modules execute while they are loaded as work that tests share."""
        system, files = importlib._bootstrap, importlib._bootstrap_external._LoaderBasics
        names = {"__name__": system.__name__, "enter": self._enter, "asked": self._asked}
        names.update(load=system._load_unlocked, execute=files.exec_module, gcd_import=system._gcd_import)
        exec(compile(WRAPPERS, "<frozen importlib._bootstrap>", "exec"), names)
        system._load_unlocked, system._gcd_import = names["_load_unlocked"], names["_gcd_import"]
        files.exec_module = names["exec_module"]

    def _watch_processes(self):
        """Notes the processes of multiprocessing, which raise no audit event."""
        import _posixsubprocess

        original = _posixsubprocess.fork_exec

        def fork_exec(*arguments):
            self._audit("os.exec", ())
            return original(*arguments)

        _posixsubprocess.fork_exec = fork_exec

    def _enter(self, spec):
        path = None if self._ended else self._module(getattr(spec, "origin", None))
        if path is None or path in self._loading:
            return lambda: None
        if not is_statement(asker(sys._getframe(1))):
            self._add_named(path)
        self._loading.add(path)
        rejoin = self.apart()

        def leave():
            self._loading.discard(path)
            rejoin()

        return leave

    def _asked(self, module):
        path = None if self._ended else self._module(getattr(module, "__dict__", {}).get("__file__"))
        if path is not None:
            self._add_named(path)

    def _add_named(self, path):
        frame = asker(sys._getframe(1))
        if frame is None or frame.f_globals.get("__name__") not in LOADS_TESTS:
            self._of_test().named_modules.add(path)

    def _module(self, path):
        return self._inside(path) if isinstance(path, str) and os.path.isabs(path) else None

    def _audit(self, event, arguments):
        if self._ended or event not in EVENTS:
            return
        try:
            self._note(event, arguments)
        except Exception:  # an audit hook that raises would stop the code under test
            self._of_test().processes = True

    def _of_test(self):
        return self._used.setdefault(self._context, Resources())

    def _note(self, event, arguments):
        if event == "socket.connect" and not isinstance(arguments[1], (str, bytes)):
            return  # the network is not observed; behind a path there is a process of this machine
        if event in PROCESSES or event == "socket.connect":
            if self._context or self._is_asked(sys._getframe(2), False):
                self._of_test().processes = True
        elif event in CHANGES:
            self._of_test().written.update(filter(None, map(self._inside, texts(arguments[:2]))))
        else:
            self._note_read(event, arguments)

    def _note_read(self, event, arguments):
        path = self._inside(arguments[0])
        if path is None:
            return
        if event == "open" and not reads(arguments):
            self._of_test().written.add(path)
            return
        is_code = path.endswith((".py", ".pyc"))
        may_be_for_python = event != "open" or is_code or not self._context
        if may_be_for_python and not self._is_asked(sys._getframe(3), event == "open" and not is_code):
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

    def _is_asked(self, frame, is_data):
        """Returns whether code of the tree, and not Python or pytest, causes an event.

        The import system reads data only for others, as `pkgutil.get_data` does.
        """
        for _ in range(DEEPEST):
            if frame is None:
                return False
            name = frame.f_globals.get("__name__") or ""
            if name.split(".")[0] in MACHINERY or name in IMPORT_SYSTEM and not is_data:
                return False
            file = frame.f_code.co_filename
            if os.path.isabs(file) and self._inside(file) is not None:
                return True
            frame = frame.f_back
        return True  # in doubt

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
            found["named_modules"] = used.named_modules
            paths = {kind: sorted(names) for kind, names in found.items()}
            self._send({"event": "used_by_test", "test": name, "processes": used.processes, **paths})
        self._send({"event": "execution_recorded"})

    def _by_file(self):
        files = {}
        for name, of_test in self._lines.found.items():
            for path, lines in of_test.items():
                files.setdefault(path, {})[name] = sorted(lines)
        return files


def asker(frame):
    """Returns the frame of the code that imports something."""
    while frame is not None and frame.f_globals.get("__name__") in IMPORT_SYSTEM | {"importlib", __name__}:
        frame = frame.f_back
    return frame


def is_statement(frame):
    """Returns whether a frame executes an import statement, which the source shows."""
    return frame is not None and frame.f_code.co_code[frame.f_lasti] == opcode.opmap["IMPORT_NAME"]


def texts(values):
    return [it for it in values if isinstance(it, (str, bytes, os.PathLike))]


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
