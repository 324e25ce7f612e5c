"""A run of ``python -m unittest``, reported like one of pytest."""

import inspect
import os
import sys
import time
import unittest

import channel
import child
from failure import MESSAGE, cut, failure_of, message_of, textual_failure
from reporting import Budget, Definitions, IDS, dump_stacks

NO_TESTS = 5  # as newer versions of unittest and pytest say it


def run(order, private, seal, observer):
    child.become_main("unittest", order["args"], order.get("path_entries"))
    sys.argv[0] = os.path.basename(sys.executable) + " -m unittest"  # its own main does that
    dump_stacks(order, private[child.STACK])
    send = channel.opened(private[child.REPORT], order["token"])
    code = child.call_main(lambda: session(order, send, seal, observer))
    observer.tell(private[child.LEARNED])
    return code


def session(order, send, seal, observer):
    import line_coverage

    send({"event": "phase", "doing": "start", "id": ""})
    coverage = line_coverage.Coverage(send, order["root"]) if order.get("coverage") else None
    events = Events(order, send, coverage, seal)
    send({"event": "phase", "doing": "collect", "id": "."})
    runner = type("Runner", (Runner,), {"events": events, "observer": observer})  # unittest wants a class
    program = unittest.main(module=None, testRunner=runner, exit=False, buffer=True)
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
    """The tests of a suite."""
    if isinstance(suite, unittest.TestSuite):
        for each in suite:
            yield from flat(each)
    elif suite is not None:
        yield suite


def is_test(case):
    """Not a stand-in for a module that could not be loaded, or for a fixture of a class or module."""
    return isinstance(case, unittest.TestCase) and type(case).__module__ != "unittest.loader"


class Events:
    """From unittest's words to Trellis's."""

    def __init__(self, order, send, coverage, seal):
        self._root, self._send, self._coverage, self._seal = order["root"], send, coverage, seal
        self._budget, self._definitions = Budget(order.get("captured") or 0), Definitions()
        self._tampered, self._announced = False, set()

    def place(self, case):
        """Path, names within the file, and line."""
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
        ids = [self.id(case) for case in cases if is_test(case)]
        for start in range(0, len(ids), IDS):
            self._send({"event": "collected", "ids": ids[start : start + IDS]})

    def begin(self, case):
        if self._coverage:
            self._coverage.context(self.id(case))
        self._send({"event": "phase", "doing": "test", "id": self.id(case)})

    def end(self, case, record, stdout, stderr):
        if self._coverage:
            self._coverage.context("")
        path, _, line = self.place(case)
        texts = {"stdout": self._budget.take(stdout), "stderr": self._budget.take(stderr)}
        self._send({"event": "test", "id": self.id(case), "path": path, "line": line, **record, **texts})

    def collection_error(self, case, error, text):
        # `setUpClass (module.Class)`, or the name of a module that could not be imported
        name = getattr(case, "_testMethodName", None) or case.id().partition("(")[2].rstrip(")") or case.id()
        self._send({"event": "collection_error", "path": self._module_path(name), "failure": failure_of(error, text)})

    def _module_path(self, name):
        parts = name.split(".")
        for length in range(len(parts), 0, -1):
            file = getattr(sys.modules.get(".".join(parts[:length])), "__file__", None)
            if file:
                return self._relative(file)
        return name.replace(".", "/") + ".py"

    def watch(self):
        what = None if self._tampered else self._seal.broken()
        if what:
            self._tampered = True
            self._send({"event": "tampered", "what": what})


class Runner(unittest.TextTestRunner):
    events = observer = None

    def _makeResult(self):
        return Result(self.events, self.stream, self.descriptions, self.verbosity)

    def run(self, test):
        self.observer.collected()
        self.events.collected(list(flat(test)))
        return super().run(test)


class Result(unittest.TextTestResult):
    """Collects what happens to one test and sends it when the test ends."""

    def __init__(self, events, *args, **options):
        super().__init__(*args, **options)
        self._events, self._record, self._began = events, None, 0.0

    def startTest(self, test):
        super().startTest(test)
        self._record = {"outcome": "passed", "reason": None, "failure": None}
        if is_test(test):
            self._events.begin(test)
        self._began = time.perf_counter()

    def stopTest(self, test):
        seconds = time.perf_counter() - self._began
        record, self._record = self._record, None
        output = [self._held(each) for each in (self._stdout_buffer, self._stderr_buffer)]
        super().stopTest(test)
        if is_test(test) and record is not None:
            self._events.end(test, {**record, "seconds": seconds}, *output)

    @staticmethod
    def _held(buffer):
        return buffer.getvalue() if buffer is not None else ""

    def _fail(self, test, error, outcome):
        text = self._exc_info_to_string(error, test)
        if self._record is None or not is_test(test):
            real = error[1]
            self._events.collection_error(test, real.__cause__ or real, text)
        elif self._record["outcome"] not in ("failed", "error"):
            self._record.update(outcome=outcome, failure=failure_of(error[1], text))

    def addError(self, test, err):
        # Before `super`, which may print what was captured and forget it.
        self._fail(test, err, "failed")
        super().addError(test, err)

    def addFailure(self, test, err):
        self._fail(test, err, "failed")
        super().addFailure(test, err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self._fail(test, err, "failed")
        super().addSubTest(test, subtest, err)

    def _note(self, outcome, reason):
        if self._record is not None and self._record["outcome"] not in ("failed", "error"):
            self._record.update(outcome=outcome, reason=reason and cut(reason, MESSAGE))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._note("skipped", reason)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self._note("xfailed", message_of(err[1]))

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        if self._record is not None:
            self._record.update(outcome="failed", failure=textual_failure("unexpected success"))
