"""Reports a pytest session to Trellis, as events on the run's report pipe.

The reporter neither prints nor starts threads: a project that turns warnings into errors, counts
its threads or forks must behave as under plain pytest. ``events.rs`` describes the events. Every
text is cut here, so that no line can grow without bound.
"""

import os
import sys
import time

import pytest
from _pytest import runner

import option_paths
import recording
import reporting
import subtests
from failure import MESSAGE, cut, failure_of, message_of, seconds, textual_failure, whole, words, wrapped

OPERAND = 4_000  # characters of either side of a failed comparison
LOOK = 0.2  # seconds between two full checks of whether pytest is unchanged; one takes a millisecond
NAME = "_trellis_reporter"
_clock = time.perf_counter


# The original classes: a class that a project puts in their place does not excuse a failure.
EXCUSES = (pytest.skip.Exception, pytest.xfail.Exception)
CALL = runner.pytest_runtest_call.__code__


def is_failure(error):
    """Returns whether an exception is neither a way to skip nor one to expect failure."""
    if error is None:
        return False
    kind = type(error)  # its `__class__` may differ
    skip = getattr(sys.modules.get("unittest"), "SkipTest", None)  # not imported only for this check
    genuine = skip is not None and skip.__module__ == "unittest.case"
    return not (issubclass(kind, EXCUSES) or genuine and issubclass(kind, skip))


def raised(item, call):
    """Returns the exception that a phase of a test raised.

    pytest stores it for debuggers, where it remains even if a hook has hidden it.
    """
    if call.excinfo is not None:
        return call.excinfo.value
    error = getattr(sys, "last_value", None) if call.when == "call" else None
    trace = getattr(error, "__traceback__", None)
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_code is CALL and frame.f_locals.get("item") is item:
            return error
        trace = trace.tb_next
    return None


class Test:
    """One test while it runs: the reports of setup, call and teardown, joined."""

    def __init__(self):
        self.outcome, self.failure, self.reason = "passed", None, None
        self.seconds, self.stdout, self.stderr, self.log = {}, "", "", ""
        self.subtests = []

    def add(self, report, excinfo, compared):
        self.seconds[report.when] = report.duration
        self.stdout, self.stderr, self.log = report.capstdout, report.capstderr, report.caplog
        if self.outcome in ("failed", "error"):
            return  # the first failure is the relevant one
        if report.failed:
            self.outcome = "failed" if report.when == "call" else "error"
            text = report.longreprtext
            self.failure = failure_of(excinfo.value, text, compared) if excinfo else textual_failure(text)
        elif report.skipped:
            self.outcome = "xfailed" if hasattr(report, "wasxfail") else "skipped"
            self.reason = self._reason(report)
        elif report.when == "call":
            self.outcome = "xpassed" if hasattr(report, "wasxfail") else "passed"
            self.reason = words(getattr(report, "wasxfail", None))

    def ended(self):
        return self.outcome != "passed" or "call" in self.seconds

    @staticmethod
    def _reason(report):
        if hasattr(report, "wasxfail"):
            return words(report.wasxfail)
        text = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
        return cut(text[len("Skipped: ") :] if text.startswith("Skipped: ") else text, MESSAGE)


class Loaded:
    """A plugin that is called once all plugins are loaded, but no ``conftest.py``.

    One of pytest's own plugins changes classes at that point.
    """

    def __init__(self, seal, loaded):
        self._seal, self._loaded = seal, loaded

    def pytest_load_initial_conftests(self):
        self._loaded()
        self._seal.renew()


class Reporter:
    """The hooks. Wrappers run outermost, so that they see a report as all other plugins left it."""

    def __init__(self, send, coverage, budget, observer):
        self._send, self._coverage, self._budget, self._observer = send, coverage, budget, observer
        self._test, self._compared, self._found = Test(), None, []
        self._called = None  # the last call that was reported, with the comparison that failed in it
        self._announced, self._looked, self._tampered = None, _clock(), False
        self._limits = None  # of what the measurement of lines records
        self._definitions = reporting.Definitions()

    def attach(self, config, seal, loaded):
        """Call this before any plugin but pytest's own is loaded."""
        self._seal = seal
        if self._coverage:
            self._limits = recording.Limits(self._coverage.pause)
        config.pluginmanager.register(self, NAME)
        config.pluginmanager.register(Loaded(seal, loaded), NAME + "_loaded")
        hooks = ("pytest_runtest_protocol", "pytest_runtest_makereport", "pytest_sessionfinish")
        self._implementations = [
            (getattr(config.hook, name), implementation)
            for name in hooks
            for implementation in getattr(config.hook, name).get_hookimpls()
            if implementation.plugin is self
        ]

    def _phase(self, doing, id="", item=None):
        self._send(self._begins(doing, id, item))

    @staticmethod
    def _begins(doing, id, item):
        return {"event": "phase", "doing": doing, "id": id, "seconds": reporting.own_time_out(item) if item else 0}

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config):
        self._without_rival_tracer(early_config)
        outcome = yield
        if outcome.excinfo:
            error = outcome.excinfo[1]
            if type(error).__name__ == "ConftestImportFailure":
                self._collection_error(str(error.path), failure_of(error, message_of(error)))

    def _without_rival_tracer(self, early_config):
        # Python has room for one tracer: with that of pytest-cov beside ours, both would miss
        # lines.
        if self._coverage:
            self._drop_rival_tracer(early_config)

    @staticmethod
    def _drop_rival_tracer(early_config):
        known = early_config.known_args_namespace
        if getattr(known, "cov_source", None):
            known.cov_source, known.no_cov = [], True

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config):
        # Tests in worker processes of pytest-xdist would be invisible. The hook of pytest-xdist has
        # run by now.
        if getattr(config.option, "dist", "no") != "no":
            config.option.dist, config.option.tx, config.option.numprocesses = "no", [], None

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector):
        if not isinstance(collector, pytest.Session):  # the session's own report spans all others
            self._phase("collect", collector.nodeid)
        outcome = yield
        if outcome.excinfo:
            return  # pluggy raises the exception; raising it here would make pluggy warn
        report = outcome.get_result()
        if report.failed:
            # pytest leaves the exception here for its own use, one call later.
            excinfo = getattr(getattr(report, "call", None), "excinfo", None)
            text = report.longreprtext
            failure = failure_of(excinfo.value, text) if excinfo else textual_failure(text)
            self._collection_error(collector.nodeid, failure)

    def _collection_error(self, path, failure):
        self._send({"event": "collection_error", "path": path, "failure": failure})

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        self._found = list(items)
        yield

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session):
        ids = [item.nodeid for item in session.items]
        kept = set(ids)
        self._tell("deselected", [item.nodeid for item in self._found if item.nodeid not in kept])
        self._tell_limits(session.config)
        self._observer.collected()
        if self._limits:
            self._limits.extend()
        self._tell("collected", ids)

    def _tell_limits(self, config):
        paths = option_paths.limiting(config)
        if paths:
            self._send({"event": "limited", "paths": [cut(each, MESSAGE) for each in paths]})

    def _tell(self, event, ids):
        for part in reporting.in_parts(ids):
            self._send({"event": event, "ids": part})

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        self._test = Test()
        self._stay_outermost()
        if self._announced != item.nodeid:
            self._phase("test", item.nodeid, item)
        if self._coverage:
            self._coverage.context(item.nodeid)
        outcome = yield
        if self._coverage:
            self._coverage.context("")
        if outcome.excinfo:
            return  # interrupted: the test has not ended
        self._after(item, nextitem)

    def _after(self, item, nextitem):
        """Sends the end of a test and the start of the next in one write.

        Each write wakes the reader, which costs time on both sides.
        """
        # Reports that were made up elsewhere prove nothing: without a call there is no result.
        events, self._announced = [self._event(item, self._test)] if self._test.ended() else [], None
        session = item.session
        self._watch()
        if nextitem is not None and not session.shouldstop and not session.shouldfail:
            self._announced = nextitem.nodeid
            events.append(self._begins("test", nextitem.nodeid, nextitem))
        self._send(*events)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        if self._coverage:
            self._coverage.context(item.nodeid)  # once more, as a plugin may repeat a failed test

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        before = raised(item, call)
        if self._coverage and is_failure(before):
            self._coverage.pause()  # what runs after a failure did not cause it
        outcome = yield
        if outcome.excinfo:
            return
        report = outcome.get_result()
        if report.when == "setup":
            self._test = Test()  # set again, as a plugin may repeat a failed test
        if not report.failed and not hasattr(report, "wasxfail") and (is_failure(before) or is_failure(raised(item, call))):
            self._tamper(f"the outcome of {item.nodeid} was changed from failed to {report.outcome}")
        self._test.add(report, call.excinfo, self._compared)
        self._called, self._compared = (call.excinfo, self._compared), None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        subtest = subtests.described_report(report, *(self._called or (None, None)))
        if subtest is not None and len(self._test.subtests) < subtests.MOST:
            self._test.subtests.append(subtest)

    def _event(self, item, test):
        path, line, _ = item.location
        line = whole(line)
        line = None if line is None else self._definitions.line(str(item.path), line + 1)
        return {
            "event": "test",
            "id": item.nodeid,
            "outcome": test.outcome,
            "seconds": sum(map(seconds, test.seconds.values())),
            "path": str(path).replace(os.sep, "/"),
            "line": line,
            "reason": test.reason,
            "failure": test.failure,
            "stdout": self._budget.take(test.stdout),
            "stderr": self._budget.take(test.stderr),
            "log": self._budget.take(test.log),
            "subtests": test.subtests,
        }

    def _watch(self):
        """Makes a short check after each test and a full one now and then."""
        what, now = self._seal.broken_soon(), _clock()
        if what is None and now - self._looked > LOOK:
            what, self._looked = self._seal.broken(), now
        what = what or self._unhooked()
        if what:
            self._tamper(what)

    def _stay_outermost(self):
        """Keeps our wrappers outermost.

        A wrapper around them, such as that of a ``conftest.py``, could hide a failure.
        """
        for caller, implementation in self._implementations:
            order = getattr(caller, "_hookimpls", None)
            if order and order[-1] is not implementation and implementation in order:
                order.remove(implementation)
                order.append(implementation)

    def _unhooked(self):
        for caller, implementation in self._implementations:
            if implementation not in caller.get_hookimpls():
                return f"the reporter's {caller.name}"
        return None

    def _tamper(self, what):
        if not self._tampered:
            self._tampered = True
            self._send({"event": "tampered", "what": what})

    def pytest_assertrepr_compare(self, op, left, right):
        # Kept only if the exception that ends the phase comes from this very line: a test may catch
        # others.
        frame = sys._getframe()
        while frame is not None and self._is_machinery(frame.f_globals.get("__name__", "")):
            frame = frame.f_back
        if frame is not None:
            at = [frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name]
            sides = {"left": wrapped(left, OPERAND), "right": wrapped(right, OPERAND)}
            self._compared = {"at": at, "operator": op, **sides}

    @staticmethod
    def _is_machinery(module):
        return module in (__name__, recording.__name__) or module.split(".")[0] in ("_pytest", "pluggy")

    def pytest_keyboard_interrupt(self, excinfo):
        message = f"{type(excinfo.value).__name__}: {message_of(excinfo.value)}"
        self._send({"event": "interrupted", "message": message})

    def pytest_internalerror(self, excrepr, excinfo):
        self._send({"event": "internal_error", "failure": failure_of(excinfo.value, str(excrepr))})

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session):
        self._phase("finish")
        yield
        if self._coverage:
            self._coverage.finish()
        what = self._seal.broken() or self._unhooked()
        if what:
            self._tamper(what)
        # Other plugins change the status in this hook, so ours comes after them.
        self._send({"event": "finish", "status": int(session.exitstatus)})
