"""Tells Trellis what a pytest session does, as JSON lines on a private pipe.

Loaded with ``-p _trellis_report`` from a folder that only the test process sees. It neither prints nor starts threads:
a project that turns warnings into errors, counts its threads or forks must behave as it does under plain pytest.
What it sends is described in ``events.rs``; every text is cut here, so that no line can grow without bound.

PYTEST_DONT_REWRITE (there is nothing to rewrite, and rewriting costs start-up time)
"""

import faulthandler
import json
import os
import signal
import sys

import pytest

from _trellis_failure import MESSAGE, cut, described, failure_of, message_of, textual_failure

CAPTURED = 32_000  # characters of one stream of one test
OPERAND = 4_000  # characters of either side of a failed comparison
IDS = 500  # test ids in one line


class Channel:
    """The pipe to Trellis. Keeps its own references: tests may well replace ``os.write`` or ``os.getpid``."""

    def __init__(self, descriptor):
        os.set_inheritable(descriptor, False)
        self._descriptor = descriptor
        self._write, self._getpid, self._pid = os.write, os.getpid, os.getpid()
        self._encode = json.JSONEncoder(ensure_ascii=False).encode

    def send(self, event, **fields):
        # A child forked by a test carries on with this very session when the test forgot to end it.
        if self._getpid() != self._pid:
            return
        line = self._encode({"event": event, **fields}) + "\n"
        rest = memoryview(line.encode("utf-8", "replace"))
        while rest:
            rest = rest[self._write(self._descriptor, rest) :]


def definition_line(path, line):
    """The line of ``def``, where ``line`` is that of the first decorator."""
    import linecache

    for number in range(line, line + 100):
        text = linecache.getline(path, number)
        if text.lstrip().startswith(("def ", "async def ", "class ")):
            return number
        if not text:
            break
    return line


class Budget:
    """Captured output of all tests together; without it a large suite could fill the memory of Trellis."""

    def __init__(self, characters):
        self._left = characters

    def take(self, text):
        if not text:
            return ""
        text = cut(text, CAPTURED)
        if len(text) > self._left:
            return f"[{len(text)} characters of output left out: the run's output limit is reached]"
        self._left -= len(text)
        return text


class Test:
    """One test while it runs: the reports of setup, call and teardown, joined."""

    def __init__(self):
        self.outcome, self.failure, self.reason = "passed", None, None
        self.seconds, self.stdout, self.stderr = {}, "", ""

    def add(self, report, excinfo, compared):
        self.seconds[report.when] = report.duration
        self.stdout, self.stderr = report.capstdout, report.capstderr
        if self.outcome in ("failed", "error"):
            return  # the first failure is the one to look at
        if report.failed:
            self.outcome = "failed" if report.when == "call" else "error"
            text = report.longreprtext
            self.failure = failure_of(excinfo.value, text, compared) if excinfo else textual_failure(text)
        elif report.skipped:
            self.outcome = "xfailed" if hasattr(report, "wasxfail") else "skipped"
            self.reason = self._reason(report)
        elif report.when == "call":
            self.outcome = "xpassed" if hasattr(report, "wasxfail") else "passed"
            self.reason = getattr(report, "wasxfail", None)

    @staticmethod
    def _reason(report):
        if hasattr(report, "wasxfail"):
            return cut(report.wasxfail, MESSAGE)
        text = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
        return cut(text[len("Skipped: ") :] if text.startswith("Skipped: ") else text, MESSAGE)


class Coverage:
    """Line coverage of the tree, with the test as context. Does nothing where coverage.py is not installed."""

    def __init__(self, channel, root):
        self._channel, self._coverage = channel, None
        try:
            import coverage
        except ImportError as error:
            channel.send("coverage_missing", message=message_of(error))
            return
        # The tracer that knows contexts; newer versions of Python would get another by default.
        os.environ["COVERAGE_CORE"] = "ctrace"
        omit = [os.path.join(sys.prefix, "*"), "*/site-packages/*"]
        self._coverage = coverage.Coverage(
            data_file=None, config_file=False, source=[root], omit=omit, messages=False
        )
        self._coverage.start()
        del os.environ["COVERAGE_CORE"]

    def context(self, name):
        if self._coverage:
            self._coverage.switch_context(name)

    def finish(self):
        if not self._coverage:
            return
        self._coverage.stop()
        data = self._coverage.get_data()
        for path in sorted(data.measured_files()):
            try:
                _, statements, _, missing, _ = self._coverage.analysis2(path)
            except Exception as error:  # such as a file that a test wrote, imported and removed
                self._channel.send("coverage_failed", path=path, message=message_of(error))
                continue
            executed = sorted(set(statements) - set(missing))
            tests = {}
            for line, names in sorted(data.contexts_by_lineno(path).items()):
                for name in names:
                    if name and line in statements:
                        tests.setdefault(name, []).append(line)
            self._channel.send("coverage", path=path, executed=executed, missing=sorted(missing), tests=tests)


class Reporter:
    """The hooks. Wrappers run outermost, so that they see what every other plugin made of a report."""

    def __init__(self, channel, coverage, budget):
        self._channel, self._coverage, self._budget = channel, coverage, budget
        self._test, self._compared = Test(), None

    def _phase(self, doing, id=""):
        self._channel.send("phase", doing=doing, id=id)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config):
        self._without_rival_tracer(early_config)
        outcome = yield
        if outcome.excinfo:
            error = outcome.excinfo[1]
            if type(error).__name__ == "ConftestImportFailure":
                self._collection_error(str(error.path), failure_of(error, message_of(error)))

    def _without_rival_tracer(self, early_config):
        # Python has room for one tracer: with pytest-cov's beside ours, both would see half.
        known = early_config.known_args_namespace
        if self._coverage and getattr(known, "cov_source", None):
            known.cov_source, known.no_cov = [], True

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config):
        # Tests in worker processes of pytest-xdist would be out of sight. Its own hook has run by now.
        if getattr(config.option, "dist", "no") != "no":
            config.option.dist, config.option.tx, config.option.numprocesses = "no", [], None

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector):
        if not isinstance(collector, pytest.Session):  # the session's own report spans all others
            self._phase("collect", collector.nodeid)
        outcome = yield
        report = outcome.get_result()
        if report.failed:
            # pytest leaves the exception here for its own use, one call further on.
            excinfo = getattr(getattr(report, "call", None), "excinfo", None)
            text = report.longreprtext
            failure = failure_of(excinfo.value, text) if excinfo else textual_failure(text)
            self._collection_error(collector.nodeid, failure)

    def _collection_error(self, path, failure):
        self._channel.send("collection_error", path=path, failure=failure)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session):
        ids = [item.nodeid for item in session.items]
        for start in range(0, len(ids), IDS):
            self._channel.send("collected", ids=ids[start : start + IDS])

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        self._test = Test()
        self._phase("test", item.nodeid)
        if self._coverage:
            self._coverage.context(item.nodeid)
        yield
        if self._coverage:
            self._coverage.context("")
        self._send_test(item, self._test)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        if report.when == "setup":
            self._test = Test()  # again, when a plugin repeats a failed test
        self._test.add(report, call.excinfo, self._compared)
        self._compared = None

    def _send_test(self, item, test):
        path, line, _ = item.location
        line = None if line is None else definition_line(str(item.path), line + 1)
        self._channel.send(
            "test",
            id=item.nodeid,
            outcome=test.outcome,
            seconds=sum(test.seconds.values()),
            path=path.replace(os.sep, "/"),
            line=line,
            reason=test.reason,
            failure=test.failure,
            stdout=self._budget.take(test.stdout),
            stderr=self._budget.take(test.stderr),
        )

    def pytest_assertrepr_compare(self, op, left, right):
        # Kept only when the exception that ends the phase comes from this very line: a test may swallow others.
        frame = sys._getframe()
        while frame is not None and self._is_machinery(frame.f_globals.get("__name__", "")):
            frame = frame.f_back
        if frame is not None:
            at = [frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name]
            sides = {"left": described(left, OPERAND), "right": described(right, OPERAND)}
            self._compared = {"at": at, "operator": op, **sides}

    @staticmethod
    def _is_machinery(module):
        return module == __name__ or module.split(".")[0] in ("_pytest", "pluggy")

    def pytest_keyboard_interrupt(self, excinfo):
        self._channel.send("interrupted", message=f"{type(excinfo.value).__name__}: {message_of(excinfo.value)}")

    def pytest_internalerror(self, excrepr, excinfo):
        self._channel.send("internal_error", failure=failure_of(excinfo.value, str(excrepr)))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session):
        self._phase("finish")
        yield
        if self._coverage:
            self._coverage.finish()
        # Other plugins change the status in this hook, hence after them.
        self._channel.send("finish", status=int(session.exitstatus))


def start():
    """Takes the settings out of the environment and hides every trace of this plugin from the tests."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if entry != here]
    os.environ.pop("PYTHONPATH", None)  # it held nothing but this folder
    settings = json.loads(os.environ.pop("_TRELLIS_REPORT"))
    os.set_inheritable(settings["stack_fd"], False)
    # At a deadline Trellis sends this signal; the answer comes from C and needs no interpreter lock.
    faulthandler.register(settings["stack_signal"], file=settings["stack_fd"], all_threads=False)
    faulthandler.register(signal.SIGXCPU, file=settings["stack_fd"], all_threads=False, chain=True)
    channel = Channel(settings["event_fd"])
    channel.send("phase", doing="start", id="")
    coverage = Coverage(channel, settings["root"]) if settings["coverage"] else None
    return Reporter(channel, coverage, Budget(settings["output"]))


_reporter = start()


def pytest_addoption(pluginmanager):
    """The first hook that is handed the plugin manager: the reporter must be there before any ``conftest.py``."""
    pluginmanager.register(_reporter, "_trellis_reporter")
