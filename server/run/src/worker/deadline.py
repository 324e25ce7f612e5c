"""Ends a test that takes too long where it stands, as a failure of its own.

So the lines it executed are known, and the tests after it still run. It takes a signal of the process, and code that
blocks it or never returns from a library is not reached: the deadline from outside is for that.
"""

import signal
import time

import pytest

NAME = "_trellis_deadline"
AFTERWARDS = 0.2  # share of the time for tests after one that took too long: those that hang often hang in one place
AGAIN = 0.05  # seconds after which it is raised again, should code under test catch it


class TestTookTooLong(BaseException):
    """Not an Exception, which code under test may catch."""

    __test__ = False


class Deadline:
    def __init__(self, seconds):
        self._allowed, self._longest = seconds, 0.0
        self._least = seconds * AFTERWARDS

    def _late(self, number, frame):
        signal.setitimer(signal.ITIMER_REAL, AGAIN)
        raise TestTookTooLong("still running after its time")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        before, started = signal.signal(signal.SIGALRM, self._late), time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, self._allowed)
        outcome = yield
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if outcome.excinfo is not None and outcome.excinfo[0] is TestTookTooLong:
            self._allowed = min(self._allowed, max(self._least, 5 * self._longest))
        else:
            self._longest = max(self._longest, time.perf_counter() - started)
