"""A run of ``python -m unittest``, reported like one of pytest."""

import inspect
import os
import sys
import time
import traceback
import unittest
import unittest.case
import unittest.suite
from unittest.util import strclass

import channel
import program
import subtests
from failure import MESSAGE, cut, failure_of, message_of, seconds, textual_failure
from reporting import Budget, Definitions, dump_stacks, in_parts

NO_TESTS = 5  # the status of newer versions of unittest and of pytest
# unittest's placeholders for `setUpClass` and similar fixtures, and for a part of a test.
HOLDER, SUB_TEST = unittest.suite._ErrorHolder, unittest.case._SubTest


def run(order, private, seal, observer, measuring):
    program.become_main("unittest", order["args"], order.get("path_entries"))
    sys.argv[0] = os.path.basename(sys.executable) + " -m unittest"  # unittest's own main does the same
    dump_stacks(order, private[channel.STACK])
    send = channel.opened(private[channel.REPORT], order["token"])
    code = program.call_main(lambda: session(order, send, seal, observer, measuring))
    observer.tell(private[channel.LEARNED])
    return code


def session(order, send, seal, observer, measuring):
    import line_coverage

    send({"event": "phase", "doing": "start", "id": ""})
    coverage = line_coverage.Coverage(send, order, measuring(order)) if order.get("coverage") else None
    events = Events(order, send, coverage, seal)
    send({"event": "phase", "doing": "collect", "id": "."})
    imports = Imports()
    runner = type("Runner", (Runner,), {"events": events, "observer": observer, "imports": imports})  # a class is expected
    try:
        program = unittest.main(module=None, testRunner=runner, exit=False, buffer=True)
    except Exception as error:
        # A target named on the command line fails with an error other than `ImportError`, which
        # ends unittest.
        if not events.begun:
            events.not_loaded(error)
            send({"event": "finish", "status": 1})
        raise
    status = status_of(program.result)
    send({"event": "phase", "doing": "finish", "id": ""})
    if coverage:
        coverage.finish()
    events.watch()
    send({"event": "finish", "status": status})
    return status


def status_of(result):
    if result.testsRun == 0 and not result.skipped and result.wasSuccessful():
        return NO_TESTS
    return 0 if result.wasSuccessful() else 1


def flat(suite):
    """Yields the tests of a suite."""
    if isinstance(suite, unittest.TestSuite):
        for each in suite:
            yield from flat(each)
    elif suite is not None:
        yield suite


def is_test(case):
    """Returns whether a case is a test.

    Others stand for a module that could not be loaded, or for a fixture of a class or module.
    """
    return isinstance(case, unittest.TestCase) and type(case).__module__ != "unittest.loader"


class Imports:
    """The exceptions behind `Failed to import test module`, of which unittest keeps only the text.
    """

    def __init__(self):
        from unittest import loader

        self._loader, self._make, self._found = loader, loader._make_failed_import_test, {}
        loader._make_failed_import_test = self._noted

    def _noted(self, name, *rest):
        made = self._make(name, *rest)
        self._found[name] = sys.exc_info()[1]
        return made

    def over(self):
        """Restores unittest's own function once all modules are loaded."""
        self._loader._make_failed_import_test = self._make

    def behind(self, case):
        return self._found.get(getattr(case, "_testMethodName", None))


class Events:
    """Converts unittest's events to those of Trellis."""

    def __init__(self, order, send, coverage, seal):
        self._root, self._send, self._coverage, self._seal = order["root"], send, coverage, seal
        self._budget, self._definitions = Budget(order.get("captured") or 0), Definitions()
        self._tampered, self.begun = False, False
        self._left, self._last = {}, None  # tests without a result, in order, and the class of the last one

    def place(self, case):
        """Returns path, names within the file, and line."""
        kind, method = type(case), getattr(case, "_testMethodName", "")
        path = getattr(sys.modules.get(kind.__module__), "__file__", None) or kind.__module__
        function = inspect.unwrap(getattr(kind, method, None) or (lambda: None))
        code, line = getattr(function, "__code__", None), None
        if code is not None and code.co_filename == path:
            line = self._definitions.line(path, code.co_firstlineno)
        return self._relative(path), [*kind.__qualname__.split("."), method], line

    def _relative(self, path):
        return os.path.relpath(path, self._root).replace(os.sep, "/") if os.path.isabs(path) else path

    def id(self, case):
        if not is_test(case):
            return case.id()
        path, names, _ = self.place(case)
        return "::".join([path, *names])

    def collected(self, cases):
        self.begun = True
        for case in cases:
            if is_test(case):
                path, _, line = self.place(case)
                self._left[self.id(case)] = (strclass(type(case)), type(case).__module__, path, line)
        ids = list(self._left)
        for part in in_parts(ids):
            self._send({"event": "collected", "ids": part})
        self._next()

    def _next(self):
        """Announces the next test, since what a class or module does before its first test belongs
        to it.
        """
        for name, (kind, *_) in self._left.items():
            if kind != self._last:
                self._send({"event": "phase", "doing": "test", "id": name})
            return

    def begin(self, case):
        if self._coverage:
            self._coverage.context(self.id(case))
        self._send({"event": "phase", "doing": "test", "id": self.id(case)})

    def end(self, case, record, stdout, stderr):
        if self._coverage:
            self._coverage.context("")
        path, _, line = self.place(case)
        texts = {"stdout": self._budget.take(stdout), "stderr": self._budget.take(stderr)}
        self._result(self.id(case), {"path": path, "line": line, **record, **texts})
        self._last = strclass(type(case))
        self._next()

    def _result(self, name, record):
        self._left.pop(name, None)
        self._send({"event": "test", "id": name, **record})

    def fixture(self, holder, record):
        """Reports `setUpClass (module.Class)` or a similar fixture.

        It either ended the tests it stands for, or ran after them.
        """
        what, _, name = holder.id().partition(" (")
        name, record = name.rstrip(")"), {**record, "seconds": 0.0, "stdout": "", "stderr": ""}
        held = []
        if what.startswith("setUp"):
            held = [(test, place) for test, (kind, module, *place) in self._left.items() if name in (kind, module)]
        for test, (path, line) in held:
            self._result(test, {"path": path, "line": line, **record})
        if not held:
            path, inner = self._module_path(name)
            self._result("::".join([path, *inner, what]), {"path": path, "line": None, **record})

    def collection_error(self, case, error, text):
        """Reports an error of `case`, a module that could not be imported or a name that does not
        exist.
        """
        path, _ = self._module_path(getattr(case, "_testMethodName", None) or case.id())
        self._send({"event": "collection_error", "path": path, "failure": failure_of(error, text)})

    def not_loaded(self, error):
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        self._send({"event": "collection_error", "path": ".", "failure": failure_of(error, text)})

    def _module_path(self, name):
        """Returns the file of the longest part of a dotted name that is a module, and the rest of
        the name.
        """
        parts = name.split(".")
        for length in range(len(parts), 0, -1):
            file = getattr(sys.modules.get(".".join(parts[:length])), "__file__", None)
            if file:
                return self._relative(file), parts[length:]
        return name.replace(".", "/") + ".py", []

    def watch(self):
        what = None if self._tampered else self._seal.broken()
        if what:
            self._tampered = True
            self._send({"event": "tampered", "what": what})


class Runner(unittest.TextTestRunner):
    events = observer = imports = None

    def _makeResult(self):
        return Result(self.events, self.imports, self.stream, self.descriptions, self.verbosity)

    def run(self, test):
        self.imports.over()
        self.observer.collected()
        self.events.collected(list(flat(test)))
        return super().run(test)


class Result(unittest.TextTestResult):
    """Collects the results of one test and sends them when the test ends."""

    def __init__(self, events, imports, *args, **options):
        super().__init__(*args, **options)
        self._events, self._imports, self._record, self._began = events, imports, None, 0.0

    def startTest(self, test):
        super().startTest(test)
        self._record = {"outcome": "passed", "reason": None, "failure": None, "subtests": []}
        if is_test(test):
            self._events.begin(test)
        self._began = time.perf_counter()

    def stopTest(self, test):
        took = seconds(time.perf_counter() - self._began)
        record, self._record = self._record, None
        output = [self._held(each) for each in (self._stdout_buffer, self._stderr_buffer)]
        super().stopTest(test)
        if is_test(test) and record is not None:
            self._events.end(test, {**record, "seconds": took}, *output)

    @staticmethod
    def _held(buffer):
        return buffer.getvalue() if buffer is not None else ""

    def _fail(self, test, error, outcome):
        text = self._exc_info_to_string(error, test)
        if isinstance(test, HOLDER):
            record = {"outcome": "error", "reason": None, "failure": failure_of(error[1], text)}
            self._events.fixture(test, record)
        elif self._record is None or not is_test(test):
            self._events.collection_error(test, self._imports.behind(test) or error[1], text)
        elif self._record["outcome"] not in ("failed", "error"):
            self._record.update(outcome=outcome, failure=failure_of(error[1], text))

    def addError(self, test, err):
        # Before `super`, which may print the captured output and drop it.
        self._fail(test, err, "failed")
        super().addError(test, err)

    def addFailure(self, test, err):
        self._fail(test, err, "failed")
        super().addFailure(test, err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self._fail(test, err, "failed")
        self._add_part(test, subtest, err)
        super().addSubTest(test, subtest, err)

    def _add_part(self, test, subtest, error):
        if self._record is None or len(self._record["subtests"]) >= subtests.MOST:
            return
        message = subtest._message if isinstance(subtest._message, str) else None
        failure = failure_of(error[1], self._exc_info_to_string(error, test)) if error else None
        part = {"name": subtests.name_of(message, dict(subtest.params)), "failure": failure}
        self._record["subtests"].append({"outcome": "failed" if error else "passed", **part})

    def _note(self, outcome, reason):
        if self._record is not None and self._record["outcome"] not in ("failed", "error"):
            self._record.update(outcome=outcome, reason=reason and cut(reason, MESSAGE))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if isinstance(test, HOLDER):
            record = {"outcome": "skipped", "reason": cut(reason, MESSAGE), "failure": None}
            self._events.fixture(test, record)
        elif not isinstance(test, SUB_TEST):  # the test itself goes on
            self._note("skipped", reason)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self._note("xfailed", message_of(err[1]))

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        if self._record is not None:
            self._record.update(outcome="failed", failure=textual_failure("unexpected success"))
