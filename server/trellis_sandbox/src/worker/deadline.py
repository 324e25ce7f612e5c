"""Interrupts a test that takes too long and makes it fail where it is.

The executed lines are then known, and later tests still run, each with all of its time. This uses a
signal of the process, which does not reach code that blocks it or never returns from a library: the
deadline from outside ends such code.
"""

import signal
import time

import pytest
from reporting import own_time_out

NAME = "_trellis_deadline"
AGAIN = 0.05  # seconds after which the exception is raised again, should code under test catch it
LEAST = 0.001  # seconds; zero would switch the timer off


class TestTookTooLong(BaseException):
    """The timeout of a test. Not an Exception, which code under test may catch."""

    __test__ = False


def waited():
    """Returns the seconds that this process was ready to run without a processor.

    On a busy machine the test is not to blame for them.
    """
    try:
        with open("/proc/self/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


class Deadline:
    def __init__(self, seconds, limit):
        self.seconds = seconds  # may change from test to test
        self._limit = limit

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        own = own_time_out(item)
        allowed = max(self.seconds, own)
        limit = "the timeout that the test sets itself" if own > self.seconds else self._limit
        start = time.perf_counter() - waited()

        def late(number, frame):
            left = allowed - (time.perf_counter() - waited() - start)
            signal.setitimer(signal.ITIMER_REAL, max(left, LEAST) if left > 0 else AGAIN)
            if left <= 0:
                raise TestTookTooLong(f"still running after {allowed:g} s ({limit})")

        before = signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, allowed)
        yield
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
